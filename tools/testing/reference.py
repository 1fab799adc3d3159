"""
The reference of all dialects, interfaces and passes, generated from their definitions.

    python -m xrelay.tools.testing.reference docs/reference

writes a page for each dialect, one for the interfaces and one for the passes. The text comes from
docstrings, the tables from the definitions of ops, attributes and options. `numbers.md` states the
bounds of rounding errors, and those that were recorded (`numbers`).
"""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    OptPropertyDef,
)
from xdsl.passes import ModulePass
from xdsl.traits import HasParent, OpTrait

from ...dialects import interfaces
from ...dialects.interfaces import Fusible
from ...dialects.relay import OPERATORS
from ...frontends.onnx.operators.rule import Rule
from ...lowering.pipelines import Pipeline
from ..registry import UNIVERSE, PassInfo, named_pipelines, pass_info
from . import api_page, numbers
from .onnx_restrictions import restrictions

HEADING = "<!-- Written by `python -m xrelay.tools.testing.reference docs/reference`. -->\n"


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    return {
        **{f"{name}.md": dialect_page(make()) for name, make in UNIVERSE.all_dialects.items()},
        "interfaces.md": interface_page(),
        "native.md": native_page(),
        "numbers.md": number_page(),
        "onnx.md": onnx_page(),
        "passes.md": pass_page(),
        "python.md": _page("Python API", api_page.parts()),
    }


def _page(title: str, parts: Iterable[str]) -> str:
    return "\n".join((HEADING, f"# {title}", *(f"\n{part}" for part in parts))) + "\n"


def _paragraphs(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str | None:
    if not rows:
        return None
    shown = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in shown
    )


def _code(text: object) -> str:
    return f"`{text}`"


def _doc(thing: object) -> str:
    """Return the docstring that a class or module has itself."""
    return inspect.cleandoc(vars(thing).get("__doc__") or "")


# ---------------------------------------------------------------------- native code


def native_page() -> str:
    """List the operators by how native programs compute them."""
    from ...lowering.linalg.rule_registry import RULES, RUNTIME_ONLY

    rows: list[Sequence[str]] = []
    for op in sorted(OPERATORS, key=lambda op: op.name):
        rule = RULES.get(op.name)
        how = "NumPy kernel" if rule is None else "linalg"
        rows.append((_code(op.name), how, RUNTIME_ONLY.get(op.name, "")))
    text = (
        "Native code computes an operator by `linalg` on tensors, or calls its NumPy kernel. A "
        "kernel of several operators is compiled if all of them have linalg."
    )
    return _page("Operators in native code", [text, _table(("operator", "by", "why"), rows) or ""])


def number_page() -> str:
    """State how exactly each operator computes, at each level."""
    shown = (part if isinstance(part, str) else _table(*part) or "" for part in numbers.parts())
    return _page("Numbers", shown)


# ---------------------------------------------------------------------- ONNX


def onnx_page() -> str:
    """List the ONNX operators that have rules, by domain, and those that have bodies."""
    from onnx import defs

    from ...frontends.onnx.model.onnx_model import OPSETS
    from ...frontends.onnx.operators import RULES

    def row(name: str, rules: Sequence[Rule]) -> Sequence[str]:
        docs = [inspect.getdoc(rule.convert) or "" for rule in rules]
        texts = [" ".join(doc.partition("\n\n")[0].split()) for doc in docs]
        conversion = " ".join(text for text in texts if text)
        supported = restrictions([rule.convert for rule in rules])
        return _code(name), "; ".join(map(str, rules)), conversion, supported

    parts = [
        f"Models of opsets {OPSETS[0]} to {OPSETS[-1]} are read. An operator without a rule is "
        "replaced by its body, if ONNX defines one or the model does. The last column is read from "
        "the code: inputs that must be *constant*, that is, known at compile time; outputs that "
        "are *not computed*; values of attributes; and what errors say is supported, … standing "
        "for what the node has. Element types are those of NumPy."
    ]
    columns = ("operator", "versions", "conversion", "supported")
    for domain, rules in RULES.items():
        rows = [row(name, rules[name]) for name in sorted(rules)]
        parts.append(f"## {domain or 'ai.onnx'}\n\n{_table(columns, rows)}")
    latest: dict[str, Any] = {s.name: s for s in defs.get_all_schemas() if not s.domain}
    bodies = sorted(
        name
        for name, schema in latest.items()
        if name not in RULES[""] and (schema.has_function or schema.has_context_dependent_function)
    )
    parts.append(f"## With a body\n\n{', '.join(map(_code, bodies))}")
    return _page("ONNX operators", parts)


# ---------------------------------------------------------------------- dialects


def dialect_page(dialect: Dialect) -> str:
    """Describe `dialect`: ops by the module that defines them, then types and attributes."""
    operations = list(dialect.operations)
    families = [(m, list(ops)) for m, ops in groupby(operations, lambda op: op.__module__)]
    types = [a for a in dialect.attributes if issubclass(a, TypeAttribute)]
    others = [a for a in dialect.attributes if not issubclass(a, TypeAttribute)]
    parts = [_module_doc(operations[0]), *_contents(families, types, others)]
    for module, ops in families:
        if len(families) > 1:
            parts += [f"## {_title(module)}", _doc(import_module(module))]
        parts += map(_op_section, ops)
    for title, attributes in (("Types", types), ("Attributes", others)):
        if attributes:
            parts += [f"## {title}", *map(_attribute_section, attributes)]
    return _page(f"The `{dialect.name}` dialect", parts)


def _module_doc(op: type[Operation]) -> str:
    """Return the docstring of the module or package of the dialect that `op` is in."""
    room = op.__module__.split(".")[:3]
    return _doc(import_module(".".join(room)))


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
    yield _table(("", ""), rows) or ""


def _links(names: Iterable[str]) -> str:
    return " ".join(f"[`{name}`](#{_anchor(name)})" for name in names)


def _anchor(name: str) -> str:
    return "".join(c for c in name if c.isalnum() or c in "_-")


def _op_section(op: type[Operation]) -> str:
    assert issubclass(op, IRDLOperation), "ops are defined by xDSL's decorator"
    definition = op.get_irdl_definition()
    operands = [[_code(n), _quantified(d, _words(d.constr))] for n, d in definition.operands]
    results = [[_code(n), _quantified(d, _words(d.constr))] for n, d in definition.results]
    regions = [[_code(n), _quantified(d, "region")] for n, d in definition.regions]
    return _paragraphs(
        f"### {_code(op.name)}",
        _doc(op),
        _syntax(op, definition.assembly_format),
        _traits(op),
        _table(("operand", "type"), operands),
        _table(("attribute", "value", "default"), list(_attributes(definition))),
        _table(("result", "type"), results),
        _table(("region", ""), regions),
    )


def _syntax(op: type[Operation], assembly_format: str | None) -> str | None:
    written = assembly_format or getattr(op, "SYNTAX", None)
    return None if written is None else f"Syntax:\n\n```\n{op.name} {written.strip()}\n```"


def _traits(op: type[Operation]) -> str | None:
    names = [_trait(t) for t in op.traits if not type(t).__name__.startswith("_")]
    return f"Traits: {', '.join(map(_code, sorted(names)))}" if names else None


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
            default = _code(d.default_value)
        else:
            default = "absent" if isinstance(d, OptPropertyDef) else "required"
        yield [_code(name), _words(d.constr), default]


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
            return _code(constraint.attr)
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
    return _code(f"{'!' if issubclass(cls, TypeAttribute) else '#'}{cls.name}")


def _attribute_section(cls: type[Attribute]) -> str:
    sigil = "!" if issubclass(cls, TypeAttribute) else "#"
    rows: list[list[str]] = []
    if issubclass(cls, ParametrizedAttribute):
        parameters = cls.get_irdl_definition().parameters
        rows = [[_code(name), _words(d.constr)] for name, d in parameters]
    return _paragraphs(
        f"### {_code(f'{sigil}{cls.name}')}", _doc(cls), _table(("parameter", "value"), rows)
    )


# -------------------------------------------------------------------- interfaces


def interface_page() -> str:
    """Describe what passes ask of ops, for authors of dialects."""
    parts = [_doc(interfaces)]
    for name in interfaces.__all__:
        thing: object = getattr(interfaces, name)
        doc = _doc(thing) if inspect.isclass(thing) or inspect.isfunction(thing) else ""
        if doc:
            parts += [f"## {_code(name)}", doc]
    return _page("Interfaces", parts)


# ------------------------------------------------------------------------ passes


def pass_page() -> str:
    """Describe our passes in the order of the registry, and the named pipelines."""
    parts = [_pass_section(name, make()) for name, make in UNIVERSE.all_passes.items()]
    pipelines = [_pipeline_section(name, cls) for name, cls in named_pipelines().items()]
    return _page("Passes", [*parts, "## Pipelines", *pipelines])


def _pass_section(name: str, cls: type[ModulePass]) -> str:
    info = pass_info(name, cls)
    text = _doc(import_module(cls.__module__)).partition("\n\n")[2]
    return _paragraphs(
        f"## {_code(name)}", info.description, text, _accepted(cls), _option_table(info, cls)
    )


def _accepted(cls: type[ModulePass]) -> str:
    level = getattr(cls, "accepts", "every")
    return f"Accepts {'every level' if level == 'every' else f'level {_code(level)} and later'}."


def _pipeline_section(name: str, cls: type[Pipeline]) -> str:
    info, text = pass_info(name, cls), _code(cls().text.replace(",", ", "))
    table = _option_table(info, cls)
    return _paragraphs(f"### {_code(name)}", info.description, f"By default: {text}", table)


def _option_table(info: PassInfo, cls: type) -> str | None:
    docs = _field_docs(cls)
    rows = [
        [
            _code(option.name),
            _code(option.type),
            "required" if option.default is None else _code(option.default or "none"),
            docs.get(option.name.replace("-", "_"), ""),
        ]
        for option in info.options
    ]
    return _table(("option", "type", "default", "meaning"), rows)


def _field_docs(cls: type) -> Mapping[str, str]:
    """Return the docstrings below the fields of a class, on one line each."""
    (tree,) = ast.parse(inspect.cleandoc(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for field, doc in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
                found[field.target.id] = " ".join(str(doc.value.value).split())
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Write all pages into the folder that `argv` names; return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if len(arguments) != 1:
        print("usage: python -m xrelay.tools.testing.reference FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
