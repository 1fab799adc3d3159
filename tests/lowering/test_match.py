"""
Random matches: the machine against the evaluator, on all small values.

Also the size of decisions for patterns that make trees large.
"""

from collections import Counter
from itertools import product
from random import Random
from unittest.mock import patch

import pytest
from helpers.machine.in_machine import assert_same, machine_of, tagged
from helpers.programs.programs import parse
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir import Attribute

from xrelay.dialects.relay.language.match_patterns import (
    ConstructorPattern,
    TuplePattern,
    WildcardPattern,
)
from xrelay.lowering.bytecode import decision_trees
from xrelay.lowering.bytecode.decision_trees import (
    MOST,
    Body,
    Constructors,
    Decisions,
    Fail,
    Patterns,
    Switch,
)
from xrelay.passes.evaluation.evaluated_values import DataValue, Value
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.runtime.errors import MachineError
from xrelay.runtime.program.named_results import results_of
from xrelay.tools.api.loaded import compile_program
from xrelay.tools.api.session import Given, Session
from xrelay.tools.messages import Reporter

T = "!relay.adt<@T, [], #relay.device<cpu:0>>"
SCALAR = "tensor<i32, #relay.device<cpu:0>>"
PAIR = f"tuple<{T}, {T}>"
TAGS = {"A": 0, "B": 1, "C": 2, "D": 3}
FIELDS = {"A": (), "B": (T,), "C": (T, T), "D": (PAIR,)}
"""The constructors of @T."""
PLAIN = "!relay.adt<@T, []>"
DEFINITION = (
    f"relay.type_data @T [@A(), @B({PLAIN}), @C({PLAIN}, {PLAIN}), @D(tuple<{PLAIN}, {PLAIN}>)]"
)


def values(depth: int) -> list[Value]:
    """All values of @T of at most this depth whose parts beyond the second level are alike."""
    found: list[Value] = [DataValue("A", ())]
    if depth:
        parts = values(depth - 1)
        found += [DataValue("B", (part,)) for part in parts]
        for one, other in product(parts, parts[:: max(1, len(parts) // 4)]):
            found += [DataValue("C", (one, other)), DataValue("D", ((other, one),))]
    return found


VALUES = values(3)[::7] + values(2)


@st.composite
def patterns(draw: st.DrawFn, type: str = T, depth: int = 3) -> tuple[str, list[str]]:
    """A pattern in text, with `%` for each variable, and the types of its variables."""
    kinds = ["wildcard", "variable"] + ["fields"] * 3 * (depth > 0)
    match draw(st.sampled_from(kinds)):
        case "wildcard":
            return "_", []
        case "variable":
            return f"%: {type}", [type]
        case _:
            name = "" if type == PAIR else draw(st.sampled_from(sorted(FIELDS)))
            parts = [draw(patterns(part, depth - 1)) for part in FIELDS.get(name, (T, T))]
            text = f"({', '.join(text for text, _ in parts)})"
            types = [type for _, types in parts for type in types]
            return f"@T::@{name}{text}" if name else text, types


@st.composite
def matches(draw: st.DrawFn) -> str:
    """A function that returns which case applies and one of its variables of type @T."""
    cases: list[str] = []
    for number in range(draw(st.integers(0, 6))):
        text, types = draw(patterns())
        for index in range(len(types)):
            text = text.replace("%:", f"%v{index} :", 1)
        data = [f"%v{index}" for index, type in enumerate(types) if type == T]
        result = draw(st.sampled_from([*data, "%x"]))
        cases.append(
            f"case {text} {{ %n = relay.constant dense<{number}> : tensor<i32> on "
            f"#relay.device<cpu:0>\n relay.yield %n, {result} : {SCALAR}, {T} }}"
        )
    body = "\n".join(cases)
    return f"""
      {DEFINITION}
      func.func @main(%x: {T}) -> ({SCALAR}, {T}) {{
        %r:2 = relay.match partial %x : {T} -> ({SCALAR}, {T}) {{ {body} }}
        func.return %r#0, %r#1 : {SCALAR}, {T}
      }}"""


@pytest.mark.parametrize("most", [MOST, 0], ids=["by_tree", "by_case"])
@exactly(10)
@given(text=matches(), allocate=st.booleans())
def test_random_matches(most: int, text: str, allocate: bool):
    module = parse(text)
    lowered = module.clone()
    with patch.object(decision_trees, "MOST", most):
        passes = "lower-to-bytecode" + ",allocate-registers" * allocate
        program = compile_program(Session(Reporter()), Given(lowered), passes).program
    machine = machine_of(program)
    for value in VALUES[:: 3 if allocate else 5]:
        try:
            expected = evaluate(module, [value])
        except PassError:
            with pytest.raises(MachineError, match="no clause of a match applies"):
                machine.evaluate("main", tagged(value, TAGS))
            continue
        result = machine.evaluate("main", tagged(value, TAGS))
        found = results_of(program.functions[0], program.data, result)
        assert_same(tuple(found), tuple(expected))


ANY = WildcardPattern()


def pattern(name: str, *fields: Attribute) -> ConstructorPattern:
    return ConstructorPattern("U", name, fields)


def decisions_of(*cases: Attribute) -> Decisions:
    """The decisions on a type @U of constructors @P, @Q and @R."""
    tags = {("U", name): tag for tag, name in enumerate("PQR")}
    return Decisions.of(Patterns.of(cases, Constructors(tags, Counter(U=3))))


def is_tested_once(decisions: Decisions) -> bool:
    """Test whether no path from the root switches twice on one place."""
    on_paths: dict[int, set[int]] = {}
    for number in decisions.in_order():
        node, before = decisions.nodes[number], on_paths.get(number, set())
        if isinstance(node, Switch):
            if node.place in before:
                return False
            for target in decisions.targets_of(number):
                on_paths[target] = on_paths.get(target, set()) | before | {node.place}
    return True


def test_rotations_of_a_tree_share_their_tests():
    """Four nested cases with one constructor twice, as in the balancing of red-black trees."""
    red = pattern("Q", ANY, ANY, ANY)
    cases = [
        pattern("P", pattern("Q", red, ANY, ANY), ANY, ANY),
        pattern("P", pattern("Q", ANY, ANY, red), ANY, ANY),
        pattern("P", ANY, ANY, pattern("Q", red, ANY, ANY)),
        pattern("P", ANY, ANY, pattern("Q", ANY, ANY, red)),
        ANY,
    ]
    decisions = decisions_of(*cases)
    switches = [node for node in decisions.nodes if isinstance(node, Switch)]
    assert is_tested_once(decisions)
    assert len(switches) == 7  # one more than if the second subtree were tested in one place
    assert len(decisions.in_order()) == len(switches) + len(cases)


def test_no_case_is_there_twice():
    """Case i tests fields i and i + 1: there are exponentially many paths."""
    width = 12
    cases: list[Attribute] = []
    for number in range(width - 1):
        fields: list[Attribute] = [ANY] * width
        fields[number], fields[number + 1] = pattern("P"), pattern("Q")
        cases.append(TuplePattern(fields))
    decisions = decisions_of(*cases)
    reached = [decisions.nodes[number] for number in decisions.in_order()]
    assert len(reached) <= MOST * 2 * width
    assert sum(isinstance(node, Fail) for node in reached) == 1
    assert len({node.case for node in reached if isinstance(node, Body)}) == len(cases)


def test_a_tree_that_grows_too_large_is_not_made():
    """Cases that test every other place, for constructors without a rule."""
    draw = Random(1)
    cases = [
        TuplePattern(
            [pattern(draw.choice("PQR")) if draw.random() < 0.5 else ANY for _ in "ten places"]
        )
        for _ in range(60)
    ]
    tests = sum(isinstance(field, ConstructorPattern) for case in cases for field in case.fields)
    decisions = decisions_of(*cases)
    assert not is_tested_once(decisions)
    assert len(decisions.in_order()) <= tests + len(cases) + 1


def test_a_complete_match_needs_no_fatal():
    cases = [pattern("P"), pattern("Q", pattern("P")), pattern("Q", ANY), pattern("R")]
    decisions = decisions_of(*cases)
    assert not any(isinstance(node, Fail) for node in decisions.nodes)


@pytest.mark.ci
def test_deep_patterns_take_no_stack():
    deep: Attribute = ANY
    for _ in range(5000):
        deep = pattern("P", deep)
    assert len(decisions_of(deep, ANY).in_order()) == 5002
