"""
The reference page of a dialect, generated from its definitions.

    dialect_page(Demo)         a page in Markdown

The text comes from docstrings, the tables from the definitions of ops and attributes.
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import IRDLOperation, OptPropertyDef
from xdsl.traits import HasParent, OpTrait

from ...dialects.interfaces import Fusible


def dialect_page(dialect: Dialect) -> str:
    """Describe `dialect`: ops by the module that defines them, then types and attributes."""
    operations = list(dialect.operations)
    families = [(m, list(ops)) for m, ops in groupby(operations, lambda op: op.__module__)]
    types = [a for a in dialect.attributes if issubclass(a, TypeAttribute)]
    others = [a for a in dialect.attributes if not issubclass(a, TypeAttribute)]
    parts = [_module_doc(operations[0]), *_contents(families, types, others)]
    for module, ops in families:
        if len(families) > 1:
            parts += [f"## {_title(module)}", docstring(import_module(module))]
        parts += map(_op_section, ops)
    for title, attributes in (("Types", types), ("Attributes", others)):
        if attributes:
            parts += [f"## {title}", *map(_attribute_section, attributes)]
    return page(f"The `{dialect.name}` dialect", parts)


def _module_doc(op: type[Operation]) -> str:
    """Return the docstring of the module or package of the dialect that `op` is in."""
    room = op.__module__.split(".")[:3]
    return docstring(import_module(".".join(room)))


def _title(module: str) -> str:
    return module.rpartition(".")[2].replace("_", " ").capitalize()


def _contents(
    families: Sequence[tuple[str, Sequence[type[Operation]]]],
    types: Sequence[type[Attribute]],
    others: Sequence[type[Attribute]],
) -> Iterator[str]:
    rows = [[_title(module), _links(op.name for op in ops)] for module, ops in families]
    if len(families) == 1:
        rows[0][0] = "Ops"
    rows += [
        [title, _links(f"{sigil}{cls.name}" for cls in found)]
        for title, sigil, found in (("Types", "!", types), ("Attributes", "#", others))
        if found
    ]
    yield table(("", ""), rows) or ""


def _links(names: Iterable[str]) -> str:
    return " ".join(f"[`{name}`](#{_anchor(name)})" for name in names)


def _anchor(name: str) -> str:
    return "".join(c for c in name if c.isalnum() or c in "_-")


def _op_section(op: type[Operation]) -> str:
    assert issubclass(op, IRDLOperation), "ops are defined by xDSL's decorator"
    definition = op.get_irdl_definition()
    operands = [[code(n), _quantified(d, _words(d.constr))] for n, d in definition.operands]
    results = [[code(n), _quantified(d, _words(d.constr))] for n, d in definition.results]
    regions = [[code(n), _quantified(d, "region")] for n, d in definition.regions]
    return paragraphs(
        f"### {code(op.name)}",
        docstring(op),
        _syntax(op, definition.assembly_format),
        _traits(op),
        table(("operand", "type"), operands),
        table(("attribute", "value", "default"), list(_attributes(definition))),
        table(("result", "type"), results),
        table(("region", ""), regions),
    )


def _syntax(op: type[Operation], assembly_format: str | None) -> str | None:
    written = assembly_format or getattr(op, "SYNTAX", None)
    return None if written is None else f"Syntax:\n\n```\n{op.name} {written.strip()}\n```"


def _traits(op: type[Operation]) -> str | None:
    names = [_trait(t) for t in op.traits if not type(t).__name__.startswith("_")]
    return f"Traits: {', '.join(map(code, sorted(names)))}" if names else None


def _trait(trait: OpTrait) -> str:
    name = type(trait).__name__
    if isinstance(trait, HasParent):
        return f"{name}({', '.join(op.name for op in trait.op_types)})"
    return f"{name}({trait.kind.name})" if isinstance(trait, Fusible) else name


def _quantified(definition: object, what: str) -> str:
    what = "any type" if what == "any" else what
    kind = type(definition).__name__
    return f"variadic of {what}" if kind[:3] == "Var" else what + ", optional" * (kind[:3] == "Opt")


def _attributes(definition: Any) -> Iterator[list[str]]:
    """Yield a row for each property and attribute, under the name that it is printed by."""
    for name, d in (*definition.properties.items(), *definition.attributes.items()):
        if name.endswith("SegmentSizes"):  # which are not written in custom text
            continue
        if d.default_value is not None:
            default = code(d.default_value)
        else:
            default = "absent" if isinstance(d, OptPropertyDef) else "required"
        yield [code(name), _words(d.constr), default]


def _words(constraint: Any) -> str:
    """Describe a constraint as an English noun."""
    if words := getattr(constraint, "words", None):
        return words
    match type(constraint).__name__:
        case "RangeLengthConstraint":
            return _words(constraint.constraint)
        case "RangeOf":
            return _words(constraint.constr)
        case "AnyAttr":
            return "any"
        case "BaseAttr":
            return _class_words(constraint.attr)
        case "EqAttrConstraint":
            return code(constraint.attr)
        case "AnyOf":
            return " or ".join(map(_words, constraint.attr_constrs))
        case "AllOf":
            return _words(constraint.attr_constrs[-1])
        case "ArrayOfConstraint":
            return f"array of {_words(constraint.elem_range_constraint)}"
        case "ParamAttrConstraint" if constraint.base_attr is IntegerAttr:
            type_ = _words(constraint.param_constrs[1])
            return "integer" if type_ == "any" else f"integer of type {type_}"
        case "ParamAttrConstraint":
            return _class_words(constraint.base_attr)
        case name:
            return NAMES[name]


NAMES = {
    "SymbolNameConstraint": "symbol name",
    "NoneAttr": "nothing",
    "DenseIntOrFPElementsAttr": "dense elements",
    "DenseArrayBase": "dense array",
    "SymbolRefAttr": "symbol reference",
    "UnitAttr": "unit",
    "IntAttr": "integer",
    "StringAttr": "string",
    "DictionaryAttr": "dictionary",
    "FunctionType": "function type",
    "TensorType": "tensor",
    "TupleType": "tuple",
    "IntegerType": "integer type",
    "IndexType": "`index`",
    "TypeAttribute": "type",
}
"""Builtin attributes, and constraints without words of their own, in words."""


def _class_words(cls: type[Attribute]) -> str:
    if cls.__module__.startswith("xdsl."):
        return NAMES.get(cls.__name__, cls.__name__)
    return code(f"{'!' if issubclass(cls, TypeAttribute) else '#'}{cls.name}")


def _attribute_section(cls: type[Attribute]) -> str:
    sigil = "!" if issubclass(cls, TypeAttribute) else "#"
    rows: list[list[str]] = []
    if issubclass(cls, ParametrizedAttribute):
        parameters = cls.get_irdl_definition().parameters
        rows = [[code(name), _words(d.constr)] for name, d in parameters]
    return paragraphs(
        f"### {code(f'{sigil}{cls.name}')}", docstring(cls), table(("parameter", "value"), rows)
    )


# ---------------------------------------------------------------------- Markdown


def page(title: str, parts: Iterable[str]) -> str:
    """Return a page in Markdown of `parts`, which are sections or paragraphs."""
    return "\n".join((f"# {title}", *(f"\n{part}" for part in parts))) + "\n"


def paragraphs(*parts: str | None) -> str:
    """Join the parts that are there."""
    return "\n\n".join(part for part in parts if part)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    """Return a table in Markdown; None without rows."""
    if not rows:
        return None
    shown = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in shown
    )


def code(text: object) -> str:
    """Return `text` as code in Markdown."""
    return f"`{text}`"


def docstring(thing: object) -> str:
    """Return the docstring that a class or module has itself."""
    return inspect.cleandoc(vars(thing).get("__doc__") or "")
