"""The functional language, evaluated and in the machine, against plain Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import assert_same, results_in_machine
from helpers.programs import programs
from helpers.programs.shallow_stack import LEVELS, shallow_stack
from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.evaluation.evaluated_values import DataValue, Value
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify

SHORTHANDS = {
    "$PAIRS": "!relay.adt<@List, [tuple<$I, $LIST>]>",
    "$LIST": "!relay.adt<@List, [$I]>",
    "$LA": "!relay.adt<@List, [$A]>",
    "$LB": "!relay.adt<@List, [$B]>",
    "$A": "!relay.type_var<A>",
    "$B": "!relay.type_var<B>",
    "$I": "tensor<i32>",
}
DEFINITIONS = """
relay.type_data @List<["A"]> [@Nil(), @Cons($A, $LA)]
relay.type_data @Tree [@Leaf(tensor<i32>), @Node(!relay.adt<@Tree, []>, !relay.adt<@Tree, []>)]
"""


def parse(text: str) -> ModuleOp:
    """A verified module: the data types and `text`, with shorthands expanded."""
    text = DEFINITIONS + text
    for short, long in SHORTHANDS.items():
        text = text.replace(short, long)
    module = programs.parse(text)
    verify(module)
    return module


def run(text: str, *args: Value, function: str = "main") -> Value:
    """Evaluate a function of `text`, by default `@main`; the machine must return the same."""
    (result,) = evaluate(parse(text), args, function=function)
    assert_same(tuple(results_in_machine(parse(text), args, function)), (result,))
    return result


def scalar(value: int) -> Any:
    return np.array(value, np.int32)


def to_list(values: Sequence[int]) -> DataValue:
    """A Python list as a value of `@List`."""
    data = DataValue("Nil", ())
    for value in reversed(values):
        data = DataValue("Cons", (scalar(value), data))
    return data


def from_list(data: Value) -> list[int]:
    """A value of `@List` as a Python list."""
    values: list[int] = []
    while data.constructor == "Cons":
        values.append(int(data.fields[0]))
        data = data.fields[1]
    assert data == DataValue("Nil", ())
    return values


# ------------------------------------------------------------------ closures


def test_closure_captures_values_from_above():
    program = """
      func.func @main(%x: $I, %y: $I) -> $I {
        %f = relay.fn (%a: $I) -> $I {
          %b = relay.multiply %a, %y : ($I, $I) -> $I
          relay.yield %b : $I
        }
        %p = relay.call %f(%x) : ($I) -> $I
        %q = relay.call %f(%p) : ($I) -> $I
        func.return %q : $I
      }"""
    assert run(program, scalar(3), scalar(5)) == 3 * 5 * 5


def test_closures_of_one_function_keep_their_own_captures():
    program = """
      func.func @main(%x: $I, %y: $I) -> $I {
        %adder = relay.fn (%a: $I) -> ($I) -> $I {
          %inner = relay.fn (%b: $I) -> $I {
            %c = relay.subtract %a, %b : ($I, $I) -> $I
            relay.yield %c : $I
          }
          relay.yield %inner : ($I) -> $I
        }
        %f = relay.call %adder(%x) : ($I) -> (($I) -> $I)
        %g = relay.call %adder(%y) : ($I) -> (($I) -> $I)
        %p = relay.call %f(%y) : ($I) -> $I
        %q = relay.call %g(%p) : ($I) -> $I
        func.return %q : $I
      }"""
    assert run(program, scalar(10), scalar(3)) == 3 - (10 - 3)


def test_capture_through_two_functions():
    program = """
      func.func @main(%x: $I) -> $I {
        %f = relay.fn () -> $I {
          %g = relay.fn () -> $I {
            %y = relay.add %x, %x : ($I, $I) -> $I
            relay.yield %y : $I
          }
          %r = relay.call %g() : () -> $I
          relay.yield %r : $I
        }
        %r = relay.call %f() : () -> $I
        func.return %r : $I
      }"""
    assert run(program, scalar(21)) == 42


def test_function_that_takes_a_function():
    program = """
      func.func @twice(%f: ($I) -> $I, %x: $I) -> $I {
        %y = relay.call %f(%x) : ($I) -> $I
        %z = relay.call %f(%y) : ($I) -> $I
        func.return %z : $I
      }
      func.func @negate(%x: $I) -> $I {
        %c = relay.constant dense<7> : $I
        %y = relay.subtract %c, %x : ($I, $I) -> $I
        func.return %y : $I
      }
      func.func @main(%x: $I) -> $I {
        %sq = relay.fn (%a: $I) -> $I {
          %b = relay.multiply %a, %a : ($I, $I) -> $I
          relay.yield %b : $I
        }
        %p = func.call @twice(%sq, %x) : (($I) -> $I, $I) -> $I
        %g = relay.global @negate : ($I) -> $I
        %q = relay.call %g(%p) : ($I) -> $I
        %r = func.call @twice(%g, %q) : (($I) -> $I, $I) -> $I
        func.return %r : $I
      }"""
    assert run(program, scalar(3)) == 7 - 3**4


def test_functions_in_a_tuple():
    program = """
      func.func @half(%x: $I) -> $I {
        %c = relay.constant dense<2> : $I
        %y = relay.divide %x, %c : ($I, $I) -> $I
        func.return %y : $I
      }
      func.func @main(%x: $I) -> $I {
        %f = relay.fn (%a: $I) -> $I {
          %b = relay.add %a, %x : ($I, $I) -> $I
          relay.yield %b : $I
        }
        %g = relay.global @half : ($I) -> $I
        %t = relay.tuple %f, %g : (($I) -> $I, ($I) -> $I) -> tuple<($I) -> $I, ($I) -> $I>
        %f1 = relay.tuple_get_item %t[0] : (tuple<($I) -> $I, ($I) -> $I>) -> (($I) -> $I)
        %g1 = relay.tuple_get_item %t[1] : (tuple<($I) -> $I, ($I) -> $I>) -> (($I) -> $I)
        %p = relay.call %f1(%x) : ($I) -> $I
        %q = relay.call %f1(%p) : ($I) -> $I
        %r = relay.call %g1(%q) : ($I) -> $I
        func.return %r : $I
      }"""
    assert run(program, scalar(9)) == 27 // 2


# ----------------------------------------------------------------- recursion

COUNTDOWN = """
      func.func @main(%n: $I) -> $I {
        %zero = relay.constant dense<0> : $I
        %one = relay.constant dense<1> : $I
        %f = relay.fn rec(%self) (%k: $I, %sum: $I) -> $I {
          %done = relay.equal %k, %zero : ($I, $I) -> tensor<i1>
          %r = relay.if %done : tensor<i1> -> ($I) {
            relay.yield %sum : $I
          } else {
            %k1 = relay.subtract %k, %one : ($I, $I) -> $I
            %s1 = relay.add %sum, %one : ($I, $I) -> $I
            %s = relay.call %self(%k1, %s1) : ($I, $I) -> $I
            relay.yield %s : $I
          }
          relay.yield %r : $I
        }
        %r = relay.call %f(%n, %zero) : ($I, $I) -> $I
        func.return %r : $I
      }"""


def test_recursive_closure():
    assert run(COUNTDOWN, scalar(10)) == 10


@pytest.mark.ci
def test_recursion_far_deeper_than_pythons():
    with shallow_stack():
        assert run(COUNTDOWN, scalar(LEVELS)) == LEVELS


@pytest.mark.ci
def test_recursion_that_is_not_a_tail_call():
    program = """
      func.func @fib(%n: $I) -> $I {
        %one = relay.constant dense<1> : $I
        %two = relay.constant dense<2> : $I
        %small = relay.less %n, %two : ($I, $I) -> tensor<i1>
        %r = relay.if %small : tensor<i1> -> ($I) {
          relay.yield %n : $I
        } else {
          %a = relay.subtract %n, %one : ($I, $I) -> $I
          %b = relay.subtract %n, %two : ($I, $I) -> $I
          %x = func.call @fib(%a) : ($I) -> $I
          %y = func.call @fib(%b) : ($I) -> $I
          %z = relay.add %x, %y : ($I, $I) -> $I
          relay.yield %z : $I
        }
        func.return %r : $I
      }"""
    assert [int(run(program, scalar(n), function="fib")) for n in (0, 1, 9)] == [0, 1, 34]


@pytest.mark.ci
def test_mutual_recursion_of_global_functions():
    def of(name: str, other: str, at_zero: str) -> str:
        return f"""
      func.func @{name}(%n: $I) -> tensor<i1> {{
        %zero = relay.constant dense<0> : $I
        %one = relay.constant dense<1> : $I
        %base = relay.equal %n, %zero : ($I, $I) -> tensor<i1>
        %r = relay.if %base : tensor<i1> -> (tensor<i1>) {{
          %v = relay.constant dense<{at_zero}> : tensor<i1>
          relay.yield %v : tensor<i1>
        }} else {{
          %m = relay.subtract %n, %one : ($I, $I) -> $I
          %v = func.call @{other}(%m) : ($I) -> tensor<i1>
          relay.yield %v : tensor<i1>
        }}
        func.return %r : tensor<i1>
      }}"""

    program = of("even", "odd", "true") + of("odd", "even", "false")
    for n in range(5):
        assert bool(run(program, scalar(n), function="even")) == (n % 2 == 0)


def test_closure_of_a_global_function():
    program = """
      func.func @affine(%k: $I, %b: $I, %x: $I) -> $I {
        %m = relay.multiply %k, %x : ($I, $I) -> $I
        %s = relay.add %m, %b : ($I, $I) -> $I
        func.return %s : $I
      }
      func.func @main(%k: $I, %b: $I, %x: $I) -> $I {
        %f = relay.closure @affine(%k, %b) : ($I, $I) -> (($I) -> $I)
        %g = relay.closure @affine(%b) : ($I) -> (($I, $I) -> $I)
        %y = relay.call %f(%x) : ($I) -> $I
        %r = relay.call %g(%y, %k) : ($I, $I) -> $I
        func.return %r : $I
      }"""
    assert run(program, scalar(2), scalar(5), scalar(7)) == 5 * 2 + (2 * 7 + 5)


# ------------------------------------------------------------ generic functions

GENERIC = """
      func.func @fst(%a: $A, %b: $B) -> $A
          attributes {relay.type_params = ["A", "B"]} {
        func.return %a : $A
      }
"""


def test_generic_function_at_two_types():
    program = (
        GENERIC
        + """
      func.func @main(%x: $I, %y: tensor<2xf32>) -> tuple<$I, tensor<2xf32>> {
        %p = relay.invoke @fst<[$I, tensor<2xf32>]>(%x, %y) : ($I, tensor<2xf32>) -> $I
        %g = relay.global @fst<[tensor<2xf32>, $I]> : (tensor<2xf32>, $I) -> tensor<2xf32>
        %q = relay.call %g(%y, %x) : (tensor<2xf32>, $I) -> tensor<2xf32>
        %t = relay.tuple %p, %q : ($I, tensor<2xf32>) -> tuple<$I, tensor<2xf32>>
        func.return %t : tuple<$I, tensor<2xf32>>
      }"""
    )
    p, q = run(program, scalar(4), np.array([1.5, 2.5], np.float32))
    assert p == 4
    np.testing.assert_array_equal(q, [1.5, 2.5])


# ----------------------------------------------------------------- data types

LISTS = """
      func.func @sum(%l: $LIST) -> $I {
        %r = relay.match %l : $LIST -> ($I) {
          case @List::@Nil() {
            %zero = relay.constant dense<0> : $I
            relay.yield %zero : $I
          }
          case @List::@Cons(%h: $I, %t: $LIST) {
            %s = func.call @sum(%t) : ($LIST) -> $I
            %r = relay.add %h, %s : ($I, $I) -> $I
            relay.yield %r : $I
          }
        }
        func.return %r : $I
      }
      func.func @map(%f: ($A) -> $B, %l: $LA)
          -> $LB attributes {relay.type_params = ["A", "B"]} {
        %r = relay.match %l : $LA -> ($LB) {
          case @List::@Nil() {
            %n = relay.construct @Nil() : () -> $LB
            relay.yield %n : $LB
          }
          case @List::@Cons(%h: $A, %t: $LA) {
            %x = relay.call %f(%h) : ($A) -> $B
            %y = func.call @map(%f, %t) : (($A) -> $B, $LA) -> $LB
            %c = relay.construct @Cons(%x, %y) : ($B, $LB) -> $LB
            relay.yield %c : $LB
          }
        }
        func.return %r : $LB
      }
      func.func @onto(%l: $LIST, %done: $LIST) -> $LIST {
        %r = relay.match %l : $LIST -> ($LIST) {
          case @List::@Cons(%h: $I, %t: $LIST) {
            %more = relay.construct @Cons(%h, %done) : ($I, $LIST) -> $LIST
            %r = func.call @onto(%t, %more) : ($LIST, $LIST) -> $LIST
            relay.yield %r : $LIST
          }
          case _ {
            relay.yield %done : $LIST
          }
        }
        func.return %r : $LIST
      }
      func.func @reverse(%l: $LIST) -> $LIST {
        %nil = relay.construct @Nil() : () -> $LIST
        %r = func.call @onto(%l, %nil) : ($LIST, $LIST) -> $LIST
        func.return %r : $LIST
      }
      func.func @squares_plus(%l: $LIST, %n: $I) -> $LIST {
        %f = relay.fn (%x: $I) -> $I {
          %y = relay.multiply %x, %x : ($I, $I) -> $I
          %z = relay.add %y, %n : ($I, $I) -> $I
          relay.yield %z : $I
        }
        %r = relay.invoke @map<[$I, $I]>(%f, %l) : (($I) -> $I, $LIST) -> $LIST
        func.return %r : $LIST
      }
"""


@pytest.mark.ci
@pytest.mark.parametrize("values", [[], [5], [1, 2, 3, 4, 100]])
def test_lists(values: list[int]):
    data = to_list(values)
    assert run(LISTS, data, function="sum") == sum(values)
    assert from_list(run(LISTS, data, function="reverse")) == values[::-1]
    mapped = run(LISTS, data, scalar(7), function="squares_plus")
    assert from_list(mapped) == [v * v + 7 for v in values]


@pytest.mark.ci
def test_long_lists():
    values = list(range(LEVELS))
    with shallow_stack():
        assert run(LISTS, to_list(values), function="sum") == sum(values)
        reversed_ = run(LISTS, to_list(values), function="reverse")
    assert from_list(reversed_) == values[::-1]


def test_trees():
    program = """
      func.func @leaves(%t: !relay.adt<@Tree, []>) -> $I {
        %r = relay.match %t : !relay.adt<@Tree, []> -> ($I) {
          case @Tree::@Leaf(%v: $I) {
            relay.yield %v : $I
          }
          case @Tree::@Node(%l: !relay.adt<@Tree, []>, %r: !relay.adt<@Tree, []>) {
            %a = func.call @leaves(%l) : (!relay.adt<@Tree, []>) -> $I
            %b = func.call @leaves(%r) : (!relay.adt<@Tree, []>) -> $I
            %s = relay.subtract %a, %b : ($I, $I) -> $I
            relay.yield %s : $I
          }
        }
        func.return %r : $I
      }"""

    def leaf(value: int) -> DataValue:
        return DataValue("Leaf", (scalar(value),))

    tree = DataValue("Node", (DataValue("Node", (leaf(1), leaf(10))), leaf(100)))
    assert run(program, tree, function="leaves") == (1 - 10) - 100


# ------------------------------------------------------------------- patterns

NESTED = """
      func.func @main(%l: $PAIRS) -> $I {
        %r = relay.match partial %l : $PAIRS -> ($I) {
          case @List::@Cons((%a: $I, @List::@Cons(%b: $I, @List::@Nil())), _) {
            %c = relay.constant dense<100> : $I
            %d = relay.multiply %a, %c : ($I, $I) -> $I
            %e = relay.add %d, %b : ($I, $I) -> $I
            relay.yield %e : $I
          }
          case @List::@Cons((%a: $I, _), @List::@Cons(_, %t: $PAIRS)) {
            relay.yield %a : $I
          }
        }
        func.return %r : $I
      }"""


def pairs(*values: tuple[int, list[int]]) -> DataValue:
    data = DataValue("Nil", ())
    for number, numbers in reversed(values):
        data = DataValue("Cons", ((scalar(number), to_list(numbers)), data))
    return data


def test_nested_patterns_take_the_first_case_that_fits():
    assert run(NESTED, pairs((4, [2]))) == 402
    assert run(NESTED, pairs((4, [2]), (5, []))) == 402
    assert run(NESTED, pairs((4, [2, 3]), (5, []))) == 4
    assert run(NESTED, pairs((6, []), (5, []), (1, []))) == 6


@pytest.mark.parametrize("numbers", [[], [1, 2]])
def test_value_that_no_case_fits(numbers: list[int]):
    for data in (pairs(), pairs((4, numbers))):
        with pytest.raises(PassError, match="no case of this match fits the value"):
            run(NESTED, data)


def test_match_on_a_tensor_names_it():
    program = """
      func.func @main(%x: $I) -> $I {
        %r = relay.match %x : $I -> ($I) {
          case %y: $I {
            %z = relay.add %y, %x : ($I, $I) -> $I
            relay.yield %z : $I
          }
        }
        func.return %r : $I
      }"""
    assert run(program, scalar(4)) == 8


# ----------------------------------------------------------------- references


def test_cell_holds_what_was_written_last():
    program = """
      func.func @main(%x: $I, %y: $I) -> tuple<$I, $I, $I> {
        %r = relay.ref_create %x : ($I) -> !relay.ref<$I>
        %a = relay.ref_read %r : (!relay.ref<$I>) -> $I
        %u = relay.ref_write %r, %y : (!relay.ref<$I>, $I) -> tuple<>
        %b = relay.ref_read %r : (!relay.ref<$I>) -> $I
        %s = relay.add %a, %b : ($I, $I) -> $I
        %v = relay.ref_write %r, %s : (!relay.ref<$I>, $I) -> tuple<>
        %c = relay.ref_read %r : (!relay.ref<$I>) -> $I
        %t = relay.tuple %a, %b, %c : ($I, $I, $I) -> tuple<$I, $I, $I>
        func.return %t : tuple<$I, $I, $I>
      }"""
    assert run(program, scalar(3), scalar(4)) == (3, 4, 7)


def test_closure_counts_its_calls_in_a_cell():
    program = """
      func.func @main() -> $I {
        %one = relay.constant dense<1> : $I
        %cell = relay.ref_create %one : ($I) -> !relay.ref<$I>
        %tick = relay.fn () -> tuple<> {
          %n = relay.ref_read %cell : (!relay.ref<$I>) -> $I
          %m = relay.add %n, %n : ($I, $I) -> $I
          %u = relay.ref_write %cell, %m : (!relay.ref<$I>, $I) -> tuple<>
          relay.yield %u : tuple<>
        }
        %a = relay.call %tick() : () -> tuple<>
        %b = relay.call %tick() : () -> tuple<>
        %c = relay.call %tick() : () -> tuple<>
        %r = relay.ref_read %cell : (!relay.ref<$I>) -> $I
        func.return %r : $I
      }"""
    assert run(program) == 8


def test_two_cells_are_different():
    program = """
      func.func @main(%x: $I, %y: $I) -> $I {
        %p = relay.ref_create %x : ($I) -> !relay.ref<$I>
        %q = relay.ref_create %x : ($I) -> !relay.ref<$I>
        %u = relay.ref_write %p, %y : (!relay.ref<$I>, $I) -> tuple<>
        %r = relay.ref_read %q : (!relay.ref<$I>) -> $I
        func.return %r : $I
      }"""
    assert run(program, scalar(3), scalar(4)) == 3


def test_recursion_through_a_cell():
    """Landin's knot: a closure calls the contents of a reference, which is the closure itself."""
    program = """
      func.func @main(%n: $I) -> $I {
        %zero = relay.constant dense<0> : $I
        %one = relay.constant dense<1> : $I
        %id = relay.fn (%x: $I) -> $I {
          relay.yield %x : $I
        }
        %knot = relay.ref_create %id : (($I) -> $I) -> !relay.ref<($I) -> $I>
        %f = relay.fn (%k: $I) -> $I {
          %done = relay.equal %k, %zero : ($I, $I) -> tensor<i1>
          %r = relay.if %done : tensor<i1> -> ($I) {
            relay.yield %one : $I
          } else {
            %k1 = relay.subtract %k, %one : ($I, $I) -> $I
            %g = relay.ref_read %knot : (!relay.ref<($I) -> $I>) -> (($I) -> $I)
            %s = relay.call %g(%k1) : ($I) -> $I
            %t = relay.multiply %s, %k : ($I, $I) -> $I
            relay.yield %t : $I
          }
          relay.yield %r : $I
        }
        %u = relay.ref_write %knot, %f : (!relay.ref<($I) -> $I>, ($I) -> $I) -> tuple<>
        %r = relay.call %f(%n) : ($I) -> $I
        func.return %r : $I
      }"""
    assert run(program, scalar(6)) == 720


# --------------------------------------------------------------------- tuples


def test_nested_tuples():
    program = """
      func.func @main(%x: $I, %y: $I) -> tuple<$I, tuple<>> {
        %e = relay.tuple : () -> tuple<>
        %p = relay.tuple %x, %y : ($I, $I) -> tuple<$I, $I>
        %q = relay.tuple %p, %e : (tuple<$I, $I>, tuple<>) -> tuple<tuple<$I, $I>, tuple<>>
        %p1 = relay.tuple_get_item %q[0] : (tuple<tuple<$I, $I>, tuple<>>) -> tuple<$I, $I>
        %y1 = relay.tuple_get_item %p1[1] : (tuple<$I, $I>) -> $I
        %r = relay.tuple %y1, %e : ($I, tuple<>) -> tuple<$I, tuple<>>
        func.return %r : tuple<$I, tuple<>>
      }"""
    assert run(program, scalar(3), scalar(4)) == (4, ())


def test_only_the_branch_taken_is_run():
    program = """
      func.func @main(%c: tensor<i1>) -> $I {
        %one = relay.constant dense<1> : $I
        %two = relay.constant dense<2> : $I
        %cell = relay.ref_create %one : ($I) -> !relay.ref<$I>
        %u = relay.if %c : tensor<i1> -> (tuple<>) {
          %v = relay.ref_write %cell, %two : (!relay.ref<$I>, $I) -> tuple<>
          relay.yield %v : tuple<>
        } else {
          %v = relay.tuple : () -> tuple<>
          relay.yield %v : tuple<>
        }
        %r = relay.ref_read %cell : (!relay.ref<$I>) -> $I
        func.return %r : $I
      }"""
    assert run(program, np.array(True)) == 2
    assert run(program, np.array(False)) == 1
