"""The syntax tree: immutable, the same from text and JSON, and built from as often as one likes."""

from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any, cast

import pytest
from helpers.relay.relay_programs import DATA, VERSION, context
from xdsl.ir import Attribute

from xrelay.frontends.relay_text.errors import SourceMap
from xrelay.frontends.relay_text.json.json_module import module_of
from xrelay.frontends.relay_text.json.node_graph import Metadata, NodeGraph
from xrelay.frontends.relay_text.text import syntax as ast
from xrelay.frontends.relay_text.text.grammar import Grammar
from xrelay.frontends.relay_text.text.lexer import tokenize
from xrelay.frontends.relay_text.text_reader import read_module

LEFT_OUT = {"offset", "end", "number", "attrs"}
"""Fields that are places, and attributes: JSON has those of default values, too."""


def module_of_text(text: str) -> ast.Module:
    source_map = SourceMap("t.relay", text)
    tokens = tokenize(text, source_map)
    graph = None if tokens.metadata is None else NodeGraph(text[tokens.metadata :])
    return Grammar(tokens, source_map, Metadata(graph), text).read_module()


def shape(node: Any, numbers: dict[Any, int]) -> Any:
    """A tree as nested tuples, without places and attributes; a shared node is there once."""
    if isinstance(node, ast.Local | ast.Binding):
        if node in numbers:
            return numbers[node]
        numbers[node] = len(numbers)
    if isinstance(node, tuple):
        return tuple(shape(part, numbers) for part in cast("tuple[Any, ...]", node))
    if isinstance(node, ast.Dense | ast.Scalar):  # JSON has no literals
        return "constant"
    if isinstance(node, type) or not is_dataclass(node) or isinstance(node, Attribute):
        return node
    parts = [getattr(node, f.name) for f in fields(node) if f.name not in LEFT_OUT]
    return (type(node).__name__, *(shape(part, numbers) for part in parts))


def test_text_and_json_give_the_same_tree():
    source = (DATA / "meta_small.relay").read_text()
    last = source.partition("\n}")[0].rpartition("\n")[2].strip()
    text = module_of_text(source.replace(last, f"%99 = {last};\n%99", 1))  # JSON binds every node
    saved = module_of(NodeGraph((DATA / "meta_small.json").read_text()), "meta_small.json")
    ours = [(d.name, shape(d.function, {})) for d in text.functions]
    theirs = [(d.name, shape(d.function, {})) for d in saved.functions]
    assert ours == theirs


def test_nodes_are_immutable():
    module = module_of_text(VERSION + "def @main(%x: int32) { %0 = add(%x, 1); %0 }")
    body = module.functions[0].function.body
    (binding,) = body.statements
    for node in (body, binding, body.result):
        with pytest.raises(FrozenInstanceError):
            node.offset = 0  # pyright: ignore[reportAttributeAccessIssue]


def test_one_tree_can_be_built_from_twice():
    module = module_of_text(
        VERSION
        + """def @main(%x: Tensor[(4), float32], %c: bool) {
          let %f = fn [A](%y: A) { (%y, %x) };
          %0 = nn.relu(%x);
          let %t = %f(if (%c) { %0 } else { %x });
          %t.0
        }"""
    )
    first, second = (read_module(context(), module, separate=False).module for _ in range(2))
    assert str(first) == str(second)
    assert "relay.invoke @main_f" in str(first)
