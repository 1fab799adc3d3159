"""
The reference of all dialects, interfaces and passes, generated from their definitions.

`pages` has a page for each dialect, one for the interfaces, one for the passes, and others. The
text comes from docstrings, the tables from the definitions of ops, attributes and options.
`numbers.md` states the bounds of rounding errors, and those that were recorded (`number_bounds`).
"""

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from textwrap import dedent
from typing import Any

from helpers.documentation import api_page, operator_page, pass_structure, pass_table
from helpers.documentation.onnx_restrictions import restrictions
from helpers.numbers import number_bounds
from onnx import defs
from xdsl.passes import ModulePass

from xrelay.dialects import interfaces
from xrelay.dialects.foreign.buffer_interfaces import attach_buffer_interfaces
from xrelay.dialects.relay import OPERATORS
from xrelay.frontends.onnx.model.onnx_model import OPSETS
from xrelay.frontends.onnx.operators import RULES
from xrelay.frontends.onnx.operators.rule import Rule
from xrelay.lowering.linalg import rule_registry
from xrelay.lowering.pipelines import Pipeline
from xrelay.tools.registry import UNIVERSE, PassInfo, named_pipelines, pass_info
from xrelay.tools.testing.reference import code, dialect_page, docstring, page, paragraphs, table

HEADING = "<!-- Written by `python tests/write_documentation.py`. -->\n"


@cache
def pages() -> Mapping[str, str]:
    """Return the text of each page by the name of its file."""
    attach_buffer_interfaces()  # traits of ops that we share with upstream
    texts = {
        **{f"{name}.md": dialect_page(make()) for name, make in UNIVERSE.all_dialects.items()},
        "interfaces.md": interface_page(),
        "native.md": native_page(),
        "numbers.md": number_page(),
        "onnx.md": onnx_page(),
        "operators.md": operators_page(),
        "pass_patterns.md": pass_structure.structure_page(),
        "passes.md": pass_page(),
        "python.md": page("Python API", api_page.parts()),
    }
    return {name: f"{HEADING}\n{text}" for name, text in texts.items()}


# ---------------------------------------------------------------------- native code


def native_page() -> str:
    """List the operators by how native programs compute them."""
    rows: list[Sequence[str]] = []
    for op in sorted(OPERATORS, key=lambda op: op.name):
        rule = rule_registry.RULES.get(op.name)
        how = "NumPy kernel" if rule is None else "linalg"
        rows.append((code(op.name), how, rule_registry.RUNTIME_ONLY.get(op.name, "")))
    text = (
        "Native code computes an operator by `linalg` on tensors, or calls its NumPy kernel. A "
        "kernel of several operators is compiled if all of them have linalg."
    )
    return page("Operators in native code", [text, table(("operator", "by", "why"), rows) or ""])


def operators_page() -> str:
    """State what each operator computes, and where that is said."""
    shown = (
        part if isinstance(part, str) else table(*part) or "" for part in operator_page.parts()
    )
    return page("Operators", shown)


def number_page() -> str:
    """State how exactly each operator computes, at each level."""
    shown = (
        part if isinstance(part, str) else table(*part) or "" for part in number_bounds.parts()
    )
    return page("Numbers", shown)


# ---------------------------------------------------------------------- ONNX


def onnx_page() -> str:
    """List the ONNX operators that have rules, by domain, and those that have bodies."""

    def row(name: str, rules: Sequence[Rule]) -> Sequence[str]:
        docs = [inspect.getdoc(rule.convert) or "" for rule in rules]
        texts = [" ".join(doc.partition("\n\n")[0].split()) for doc in docs]
        conversion = " ".join(text for text in texts if text)
        supported = restrictions([rule.convert for rule in rules])
        return code(name), "; ".join(map(str, rules)), conversion, supported

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
        parts.append(f"## {domain or 'ai.onnx'}\n\n{table(columns, rows)}")
    latest: dict[str, Any] = {s.name: s for s in defs.get_all_schemas() if not s.domain}
    bodies = sorted(
        name
        for name, schema in latest.items()
        if name not in RULES[""] and (schema.has_function or schema.has_context_dependent_function)
    )
    parts.append(f"## With a body\n\n{', '.join(map(code, bodies))}")
    return page("ONNX operators", parts)


# -------------------------------------------------------------------- interfaces


def interface_page() -> str:
    """Describe what passes ask of ops, for authors of dialects."""
    parts = [docstring(interfaces)]
    for name in sorted(vars(interfaces)):
        thing: object = getattr(interfaces, name)
        doc = docstring(thing) if inspect.isclass(thing) or inspect.isfunction(thing) else ""
        if doc:
            parts += [f"## {code(name)}", doc]
    return page("Interfaces", parts)


# ------------------------------------------------------------------------ passes


def pass_page() -> str:
    """Describe our passes in the order of the registry, and the named pipelines."""
    parts = [_pass_section(name, make()) for name, make in UNIVERSE.all_passes.items()]
    pipelines = [_pipeline_section(name, cls) for name, cls in named_pipelines().items()]
    return page("Passes", [pass_table.table(), *parts, "## Pipelines", *pipelines])


def _pass_section(name: str, cls: type[ModulePass]) -> str:
    info = pass_info(name, cls)
    text = docstring(import_module(cls.__module__)).partition("\n\n")[2]
    return paragraphs(
        f"## {code(name)}", info.description, text, _accepted(cls), _option_table(info, cls)
    )


def _accepted(cls: type[ModulePass]) -> str:
    level = getattr(cls, "accepts", "every")
    return f"Accepts {'every level' if level == 'every' else f'level {code(level)} and later'}."


def _pipeline_section(name: str, cls: type[Pipeline]) -> str:
    info, text = pass_info(name, cls), code(cls().text.replace(",", ", "))
    table = _option_table(info, cls)
    return paragraphs(f"### {code(name)}", info.description, f"By default: {text}", table)


def _option_table(info: PassInfo, cls: type) -> str | None:
    docs = _field_docs(cls)
    rows = [
        [
            code(option.name),
            code(option.type),
            "required" if option.default is None else code(option.default or "none"),
            docs.get(option.name.replace("-", "_"), ""),
        ]
        for option in info.options
    ]
    return table(("option", "type", "default", "meaning"), rows)


def _field_docs(cls: type) -> Mapping[str, str]:
    """Return the docstrings below the fields of a class and its base, on one line each."""
    found = dict(_field_docs(cls.__base__)) if is_dataclass(cls.__base__) else {}
    (tree,) = ast.parse(dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef)
    for field, doc in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
                found[field.target.id] = " ".join(str(doc.value.value).split())
    return found
