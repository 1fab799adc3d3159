"""
Random programs compute the same as machine code, and free what they allocate, once.

All programs of a test are one library. `XRELAY_RANDOM_PROGRAMS=1000 pytest …` compiles that many
others. The references are the programs' evaluation, op by op, before any pass.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from agreement import Array, Outcome, evaluated, quiet
from dynamic_programs import DynamicProgram, arguments, dynamic_programs, inferred
from hinted_relay_programs import RelayProgram
from hypothesis import given
from native_programs import STACK, NativeBatch
from programs import parse
from programs_with_calls import ProgramWithCalls
from random_settings import OTHER, exactly
from relay_programs import read
from xdsl.dialects.builtin import ModuleOp

from xrelay.lowering.pipelines import AotPipeline
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError

PASSES = (
    AotPipeline()
    .text.split(",plan-memory")[0]
    .replace("plan-devices", "plan-devices{default=cpu:0 repair=true}")
)
MEMORY = (
    "plan-memory",
    "manifest-lifetimes",
    "coalesce-storage,layout-slices,manifest-lifetimes",
    "pass-workspaces,layout-slices,manifest-lifetimes",
)
FIRST_SEED = Random().randrange(1 << 30) if OTHER else 0


class Checked:
    """A batch of programs, the calls of each, and what they return."""

    def __init__(self) -> None:
        self.batch = NativeBatch()
        self.calls: list[tuple[int, str, list[Array], Outcome]] = []

    def add(self, module: ModuleOp, calls: Sequence[Sequence[Array]], what: str) -> None:
        wanted = [evaluated(module, args) for args in calls]
        memory = MEMORY[len(self.batch.entries) % len(MEMORY)]
        number = self.batch.add(module, f"{PASSES},{memory},verify-stage{{stage=memory-planned}}")
        if number is not None:
            self.calls += [
                (number, what, list(args), outcome)
                for args, outcome in zip(calls, wanted, strict=True)
            ]

    def check(self, folder: Path) -> None:
        self.batch.build(folder)
        for number, what, args, wanted in self.calls:
            compare(self.batch.run(number, args), wanted, what)


def compare(found: Outcome, wanted: Outcome, what: str) -> None:
    """Check that results are equal but for rounding, or that both are errors."""
    if isinstance(wanted, str) or isinstance(found, str):
        # What is not used may be removed, with its error.
        assert isinstance(wanted, str), f"{what}: {found}"
        return
    assert len(found) == len(wanted), what
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), what
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=what)


def test_programs_with_calls(tmp_path: Path):
    """Functions call others, in branches too, and return tuples; rows are dynamic or not."""
    checked = Checked()
    for seed in range(FIRST_SEED, FIRST_SEED + (OTHER or 12)):
        rng, is_open = Random(seed), bool(seed % 2)
        module = parse(ProgramWithCalls(rng, is_open, seed % 3 == 0).text)
        made = np.random.default_rng(seed)
        rows = [[8, 8], [8, 8]] if not is_open else [[2, 3], [0, 1], [4, 4]]
        calls = [
            [
                *(made.uniform(-1, 1, (n, 4)).astype(np.float32) for n in sizes),
                np.array(bool(i % 2)),
            ]
            for i, sizes in enumerate(rows)
        ]
        checked.add(module, calls, f"seed {seed}")
    assert not checked.batch.rejected
    checked.check(tmp_path)


def test_programs_of_tensors(tmp_path: Path):
    """Operators, branches and views, with dynamic dims that have names or not."""
    checked = Checked()

    @exactly(12)
    @given(dynamic_programs())
    def add(program: DynamicProgram) -> None:
        calls = [arguments(shapes) for shapes in program.calls]
        checked.add(inferred(program), calls, program.text)

    add()
    assert len(checked.batch.rejected) <= len(checked.batch.entries) // 10
    checked.check(tmp_path)


DATA = re.compile("@List|Cons|Nil|ref|match")


def test_programs_of_relay_text(tmp_path: Path):
    """Some functions call themselves; function values that are chosen at run time are rejected."""
    checked, wanted, seed = Checked(), OTHER or 8, FIRST_SEED
    while len(checked.batch.entries) + len(checked.batch.rejected) < wanted:
        seed += 1
        rng, is_open = Random(seed), bool(seed % 2)
        text = RelayProgram(rng, is_open).text
        if DATA.search(text):
            continue
        module = read(text)
        InferTypesPass().apply(quiet(), module)
        sizes = [(4, 4)] if not is_open else [(4, 4), (2, 2), (0, 3)]
        calls = [
            [np.array(flag), *arguments([(n,), (m,)])] for flag in (True, False) for n, m in sizes
        ]
        try:
            checked.add(module, calls, f"seed {seed}")
        except PassError as error:
            if "would have to be on" not in str(error) and "can be copied" not in str(error):
                raise
    assert len(checked.batch.entries) >= wanted // 3
    checked.check(tmp_path)


LOOP = """
func.func private @loop(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
    %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %y = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = func.call @loop(%m, %y) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
    relay.yield %z : tensor<4xf32>
  } else {
    relay.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
func.func @main(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @loop(%n, %x) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
"""
EVEN = """
func.func private @even(%n: tensor<i8>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %one = relay.constant dense<1> : tensor<i8>
  %r = relay.if %n : tensor<i8> -> (tensor<f32>) {
    %m = relay.subtract %n, %one : (tensor<i8>, tensor<i8>) -> tensor<i8>
    %z = func.call @odd(%m, %x, %y) : (tensor<i8>, tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %z : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  }
  func.return %r : tensor<f32>
}
func.func private @odd(%n: tensor<i8>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %one = relay.constant dense<1> : tensor<i8>
  %r = relay.if %n : tensor<i8> -> (tensor<f32>) {
    %m = relay.subtract %n, %one : (tensor<i8>, tensor<i8>) -> tensor<i8>
    %z = func.call @even(%m, %x, %y) : (tensor<i8>, tensor<f32>, tensor<f32>) -> tensor<f32>
    relay.yield %z : tensor<f32>
  } else {
    relay.yield %y : tensor<f32>
  }
  func.return %r : tensor<f32>
}
func.func @main(%n: tensor<i8>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r = func.call @even(%n, %x, %y) : (tensor<i8>, tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}
"""
SUM = """
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = relay.add %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %z : tensor<?x4xf32>
}
"""


def test_recursion_and_failures(tmp_path: Path):
    """Loops by calls; what goes on for ever, or does not fit, is an error, and memory is freed."""
    batch = NativeBatch()
    loop, even, add = (
        batch.add(parse(text), f"{PASSES},{MEMORY[0]}") for text in (LOOP, EVEN, SUM)
    )
    assert loop is not None
    assert even is not None
    assert add is not None
    batch.build(tmp_path)
    x = np.arange(4, dtype=np.float32)
    for n in (0, 1, 20):
        (found,) = batch.run(loop, [np.array(n, np.int32), x])
        np.testing.assert_array_equal(found, x * np.float32(2**n))
    assert batch.run(loop, [np.array(2**31 - 1, np.int32), x]) == STACK
    for n, wanted in ((0, 1), (1, 2), (6, 1), (101, 2)):
        one, two = np.array(1, np.float32), np.array(2, np.float32)
        assert batch.run(even, [np.array(n, np.int8), one, two]) == [wanted]
    rows = [np.ones((n, 4), np.float32) for n in (1, 3, 2)]
    (found,) = batch.run(add, rows[:2])
    np.testing.assert_array_equal(found, np.full((3, 4), 2, np.float32))
    message = batch.run(add, rows[1:])
    assert isinstance(message, str)
    assert "3" in message
    assert "2" in message
