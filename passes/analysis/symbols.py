"""Who calls whom."""

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr

from ...dialects.walking import walk


def called_symbols(module: ModuleOp) -> set[str]:
    """The symbols that some op calls."""
    callees = (op.properties.get("callee") for op in walk(module))
    return {c.string_value() for c in callees if isinstance(c, SymbolRefAttr)}
