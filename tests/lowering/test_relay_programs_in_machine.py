"""Programs of Relay's whole language: the machine against the evaluator."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import assert_same, results_in_machine, run_passes
from helpers.programs.programs import parse
from helpers.programs.random_settings import share
from helpers.relay.relay_corpus import PROGRAMS
from helpers.relay.relay_programs import read
from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.evaluation.evaluator import evaluate

GENERATOR = np.random.default_rng(0)


def tensor(*shape: int) -> Any:
    return GENERATOR.standard_normal(shape).astype(np.float32)


def check(module: ModuleOp, args: Sequence[Any]) -> None:
    inferred = module.clone()
    run_passes(inferred, "infer-types")
    assert_same(tuple(results_in_machine(module, args, "main")), tuple(evaluate(inferred, args)))


@pytest.mark.parametrize(
    ("number", "args"),
    [
        (0, [tensor(4), np.array(True)]),
        (0, [tensor(4), np.array(False)]),
        (1, [np.int32(3)]),
        (2, [tensor(2, 3), tensor(4, 3), np.array([0, 1]), np.array(True)]),
        (2, [tensor(2, 3), tensor(4, 3), np.array([0, 1]), np.array(False)]),
        (4, [np.int32(2), tensor(3)]),
    ],
)
def test_programs_that_use_much_of_the_language(number: int, args: Sequence[Any]):
    check(read(PROGRAMS[number]), args)


FUNCTIONS = {
    "a closure from a function": """
def @add(%x: int32) -> fn (int32) -> int32 { fn (%y: int32) -> int32 { %x + %y } }
def @main(%n: int32) -> int32 { @add(%n)(3) }""",
    "closures in data": """
type Fns { More(fn (int32) -> int32, Fns), Done }
def @all(%fs: Fns, %x: int32) -> int32 {
  match (%fs) { More(%f, %rest) => @all(%rest, %f(%x)), Done => %x }
}
def @main(%n: int32) -> int32 {
  @all(More(fn (%a: int32) { %a + %n }, More(fn (%a: int32) { %a * 2 }, Done)), %n)
}""",
    "functions that call each other": """
def @even(%n: int32) -> bool { if (%n == 0) { True } else { @odd(%n - 1) } }
def @odd(%n: int32) -> bool { if (%n == 0) { False } else { @even(%n - 1) } }
def @main(%n: int32) -> bool { @even(%n) }""",
    "local functions that call each other through a reference": """
def @main(%n: int32) -> int32 {
  let %r = ref(fn (%k: int32) -> int32 { %k });
  let %odd = fn (%k: int32) -> int32 { if (%k == 0) { 0 } else { ref_read(%r)(%k - 1) } };
  let %even = fn (%k: int32) -> int32 { if (%k == 0) { 1 } else { %odd(%k - 1) } };
  let %u = ref_write(%r, %even);
  %even(%n)
}""",
    "a tape of derivatives: a reference to a function without tensors": """
def @main(%n: int32) -> (int32, int32, ()) {
  let %tape = ref(fn () -> () { () });
  let %unit = ref(());
  let %dn = ref(0);
  let %square = fn (%x: int32, %tape: ref(fn () -> ())) -> int32 {
    let %rest = ref_read(%tape);
    let %u = ref_write(%tape, fn () -> () {
      let %v = ref_write(%dn, ref_read(%dn) + 2 * %x);
      %rest()
    });
    %x * %x
  };
  let %y = %square(%n, %tape) + %square(%n, %tape);
  let %w = ref_write(%unit, ref_read(%tape)());
  (%y, ref_read(%dn), ref_read(%unit))
}""",
    "a generic function at several types": """
def @id[A](%x: A) -> A { %x }
def @main(%n: int32) { (@id(%n), @id(2f), @id((%n, 2f))) }""",
    "a function chosen by a condition": """
def @double(%x: int32) -> int32 { %x * 2 }
def @main(%n: int32) -> int32 {
  let %f = if (%n > 3) { fn (%a: int32) { %a + %n } } else { @double };
  %f(5)
}""",
    "closures in closures": """
def @main(%n: int32) -> int32 {
  let %add = fn (%a: int32) { fn (%b: int32) { fn (%c: int32) { %a + %b * %c + %n } } };
  %add(1)(2)(3)
}""",
    "a reference in a closure": """
def @main(%n: int32) -> int32 {
  let %r = ref(%n);
  let %more = fn () { ref_write(%r, ref_read(%r) + 1) };
  let %a = %more();
  let %b = %more();
  ref_read(%r)
}""",
    "a constructor and an operator as functions": """
type List[A] { Cons(A, List[A]), Nil }
def @foldr[A, B](%f: fn (A, B) -> B, %z: B, %l: List[A]) -> B {
  match (%l) { Cons(%h, %t) => %f(%h, @foldr(%f, %z, %t)), Nil => %z }
}
def @main(%n: int32) { @foldr(add, 0, @foldr(Cons, Nil, Cons(%n, Cons(2, Nil)))) }""",
    "a match on a tuple with a function": """
type Opt[A] { Some(A), None }
def @main(%n: int32) -> int32 {
  let %t = (fn (%a: int32) { %a + 1 }, Some(%n));
  match (%t) { (%f, Some(%v)) => %f(%v), (_, None) => 0 }
}""",
    "a loop": """
def @main(%n: int32) -> int32 {
  let %loop = fn (%i: int32, %sum: int32) -> int32 {
    if (%i == 0) { %sum } else { %loop(%i - 1, %sum + %n) }
  };
  %loop(100, 0)
}""",
}


@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS.keys())
@pytest.mark.parametrize("n", [2, 7])
def test_functions_are_values(text: str, n: int):
    check(read(text), [np.int32(n)])


TYPES = {"bool": "i1"} | {f"{s}int{w}": f"{s}i{w}" for s in ("", "u") for w in (8, 16, 32, 64)}


@pytest.mark.parametrize(
    ("source", "dtype"), share([*product(["parameter", "kernel", "constant"], TYPES)], 2)
)
def test_a_condition_is_any_integer_but_zero(dtype: str, source: str):
    """The value counts as a whole: 256 is not 0 although its first byte is."""
    type = f"tensor<{TYPES[dtype]}>"
    highest = 1 if dtype == "bool" else int(np.iinfo(dtype).max)
    for value in {0, 1, 2 & highest, 256 & highest, (1 << 32) & highest, highest}:
        made = {
            "parameter": "",
            "kernel": f"%d = relay.multiply %c, %c : ({type}, {type}) -> {type}",
            "constant": f"%d = relay.constant dense<{value}> : {type}",
        }[source]
        condition = "%d" if made else "%c"
        module = parse(f"""
          func.func @main(%c: {type}, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {{
            {made}
            %r = relay.if {condition} : {type} -> (tensor<f32>) {{
              relay.yield %x : tensor<f32>
            }} else {{
              relay.yield %y : tensor<f32>
            }}
            func.return %r : tensor<f32>
          }}""")
        given = np.array(value, dtype)
        with np.errstate(over="ignore"):
            holds = bool(given * given if source == "kernel" else given)
        args = [given, np.float32(1), np.float32(0)]
        (result,) = results_in_machine(module, args, "main")
        assert result == holds, value
