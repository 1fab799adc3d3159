"""Who calls whom."""

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr


def called_symbols(module: ModuleOp) -> set[str]:
    """The symbols that some op calls."""
    callees = (op.properties.get("callee") for op in module.walk())
    return {c.string_value() for c in callees if isinstance(c, SymbolRefAttr)}
