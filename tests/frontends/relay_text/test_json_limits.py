"""Saved modules of any depth are read, or rejected with a location."""

import json
from collections.abc import Callable

import pytest
from helpers.relay.relay_json import Nodes, saved_module
from helpers.relay.relay_programs import context
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.relay_text import RelayTextError, parse_json
from xrelay.passes.support.verifier import verify


def error_in(read: Callable[[], ModuleOp]) -> RelayTextError | None:
    """Return the error of `read`; without one, check that the module is valid and printable."""
    try:
        module = read()
    except RelayTextError as error:
        return error
    verify(module)
    str(module)
    return None


def test_the_saved_module_is_read() -> None:
    text = json.dumps(saved_module())
    assert error_in(lambda: parse_json(context(allow_unregistered=True), text, "t.json")) is None


def chain(nodes: Nodes, variable: int, count: int) -> int:
    """Nested lets of one variable, in the order of the text."""
    exp = nodes.word("exp", "Op")
    body = nodes.call(exp, variable)
    for _ in range(count):
        body = nodes.let(variable, nodes.call(exp, variable), body)
    return body


def module_around(nodes: Nodes, make: Callable[[int], int]) -> str:
    """A module whose `@main` has the body that `make` builds from a parameter."""
    tensor = nodes.add("relay.TensorType", dtype="float32", shape=nodes.array())
    x = nodes.var("x", tensor)
    body = make(x)
    main = nodes.map(nodes.add("GlobalVar", name_hint=nodes.word("main")), nodes.function(body, x))
    return json.dumps(nodes.module(nodes.map(), main))


def message_of(text: str) -> str:
    error = error_in(lambda: parse_json(context(), text, "t.json"))
    return "" if error is None else error.message


def test_a_function_that_is_not_relays_is_refused_at_its_name() -> None:
    nodes = Nodes()
    variable = nodes.add("GlobalVar", name_hint=nodes.word("fused_add"))
    function = nodes.add("tir.PrimFunc", body=0)
    text = json.dumps(nodes.module(nodes.map(), nodes.map(variable, function)))
    error = error_in(lambda: parse_json(context(), text, "t.json"))
    assert error is not None
    message = "@fused_add is a tir.PrimFunc; only functions of Relay are supported"
    assert (error.message, error.location.line.data) == (message, variable)


@pytest.mark.ci
def test_a_saved_chain_of_any_length_is_read() -> None:
    nodes = Nodes()

    def calls(x: int) -> int:
        exp, value = nodes.word("exp", "Op"), x
        for _ in range(5_000):
            value = nodes.call(exp, value)
        return value

    assert message_of(module_around(nodes, calls)) == ""


def test_saved_lets_that_share_their_inside_have_a_limit() -> None:
    """Printed as a tree, the last value would have 2^40 lines."""
    nodes = Nodes()

    def shared(x: int) -> int:
        body = x
        for i in range(40):
            body = nodes.let(nodes.var(f"v{i}"), body, body)
        return body

    assert "is shared too often" in message_of(module_around(nodes, shared))


@pytest.mark.parametrize("field", ["body", "value", "var"])
def test_a_saved_let_that_is_inside_of_itself(field: str) -> None:
    nodes = Nodes()

    def cycle(x: int) -> int:
        let = nodes.let(nodes.var("y"), x, x)
        nodes.list[let]["attrs"][field] = str(let)
        return let

    message = message_of(module_around(nodes, cycle))
    assert "contains itself" in message or "has no field" in message


def test_a_saved_type_of_any_depth() -> None:
    nodes = Nodes()
    type = nodes.add("relay.TensorType", dtype="float32", shape=nodes.array())
    for _ in range(1000):
        type = nodes.add("TupleType", fields=nodes.array(type), span=0)
    text = module_around(nodes, lambda x: nodes.let(nodes.var("y", type), x, x))
    assert message_of(text) == "types are nested more than 200 levels deep"


def doubled(nodes: Nodes, kind: str, first: int) -> int:
    """A node that unfolds to 2 ** 40 of node `first`; types of 40 levels are not too deep."""
    for _ in range(40):
        pair = nodes.array(first, first)
        match kind:
            case "TupleType":
                first = nodes.add("TupleType", fields=pair)
            case "FuncType":
                none = nodes.array()
                first = nodes.add("FuncType", arg_types=pair, ret_type=first, type_params=none)
            case "TypeCall":
                header = nodes.add("GlobalTypeVar", kind=5, name_hint=nodes.word("P"))
                first = nodes.add("TypeCall", func=header, args=pair)
            case "PatternTuple":
                first = nodes.add("relay.PatternTuple", patterns=pair)
            case _:
                first = pair
    return first


@pytest.mark.parametrize("kind", ["TupleType", "FuncType", "TypeCall"])
def test_a_saved_type_that_shares_its_parts_has_a_limit(kind: str) -> None:
    nodes = Nodes()
    tensor = nodes.add("relay.TensorType", dtype="float32", shape=nodes.array())
    type = doubled(nodes, kind, tensor)
    text = module_around(nodes, lambda x: nodes.let(nodes.var("y", type), x, x))
    assert message_of(text).endswith(" has more than 200000 parts")


@pytest.mark.parametrize("owner", ["ReduceAttrs", "DictAttrs"])
def test_a_saved_attribute_that_shares_its_parts_has_a_limit(owner: str) -> None:
    nodes = Nodes()
    value = doubled(nodes, "Array", nodes.add("IntImm", dtype="int32", value=4))

    def body(x: int) -> int:
        if owner == "ReduceAttrs":
            attrs = nodes.add("relay.attrs.ReduceAttrs", axis=value, keepdims=1, exclude=0)
            return nodes.call(nodes.word("sum", "Op"), x, attrs=attrs)
        entries = nodes.array(value, keys=["X"])
        p = nodes.var("p")
        return nodes.call(nodes.function(p, p, attrs=nodes.add("DictAttrs", __dict__=entries)), x)

    assert message_of(module_around(nodes, body)).endswith(" has more than 200000 parts")


def test_a_saved_pattern_that_shares_its_parts_has_a_limit() -> None:
    nodes = Nodes()

    def match(x: int) -> int:
        pattern = doubled(nodes, "PatternTuple", nodes.add("relay.PatternWildcard"))
        clause = nodes.add("relay.Clause", lhs=pattern, rhs=x)
        return nodes.add("relay.Match", data=x, clauses=nodes.array(clause), complete=1)

    assert "is shared too often" in message_of(module_around(nodes, match))


@pytest.mark.parametrize("text", ["[" * 100_000, "{" * 100_000, '{"nodes":' + "[" * 100_000])
def test_json_of_any_depth(text: str) -> None:
    assert message_of(text).startswith("invalid JSON")


@pytest.mark.parametrize("name", ["", " 1", "-1", "a..b", "1a"])
def test_an_unknown_operator_has_a_name(name: str) -> None:
    text = json.dumps(saved_module()).replace('"nn.fancy"', json.dumps(name))
    error = error_in(lambda: parse_json(context(allow_unregistered=True), text, "t.json"))
    assert error is not None
    assert error.message.startswith(f"unknown operator or constructor {name}")
