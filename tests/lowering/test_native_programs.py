"""
Random programs compute the same as machine code, and free what they allocate, once.

Those of a test are one library. `XRELAY_RANDOM_PROGRAMS=200 pytest …` compiles so many others of
each kind.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TypeAlias

import numpy as np
import pytest
from helpers.native.compiled_programs import CompiledPrograms
from helpers.native.native_programs import REFUSED, STACK, NativeBatch, run_passes
from helpers.programs import hinted_programs
from helpers.programs.agreement import Array, Outcome, evaluated, quiet
from helpers.programs.dynamic_programs import DynamicProgram, arguments, dynamic_programs, inferred
from helpers.programs.hinted_relay_programs import RelayProgram
from helpers.programs.programs import parse
from helpers.programs.programs_with_calls import ProgramWithCalls
from helpers.programs.random_chains import chain_in_stripes
from helpers.programs.random_settings import FIRST_SEED, OTHER, exactly, rounds
from helpers.relay.relay_programs import read
from hypothesis import given
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.relay_text import RelayTextError
from xrelay.lowering.pipelines import AotPipeline, VmPipeline
from xrelay.passes.infer_types import InferTypesPass

REPAIRING = "plan-devices{default=cpu:0 repair=true}"
AOT = AotPipeline().text.replace("plan-devices", REPAIRING)
VM = VmPipeline().text.replace("plan-devices", REPAIRING)
PASSES = AOT.split(",plan-memory")[0]
MEMORY = (
    "plan-memory,overwrite-dead-bytes,verify-memory-plan",
    "plan-memory",
    "manifest-lifetimes",
    "coalesce-storage,layout-slices,manifest-lifetimes",
    "pass-workspaces,layout-slices,manifest-lifetimes",
)

Sample: TypeAlias = tuple[ModuleOp, Sequence[Sequence[Array]], str]
"""A program, the arguments of calls, and its name."""


def seeds(count: int) -> range:
    return range(FIRST_SEED, FIRST_SEED + (OTHER or rounds(count)))


def with_calls(count: int) -> Iterator[Sample]:
    """Functions call others, in branches too, and return tuples; rows are dynamic or not."""
    for seed in seeds(count):
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
        yield module, calls, f"program with calls {seed}"


def of_tensors(count: int) -> Sequence[Sample]:
    """Operators, branches and views, with dynamic dims that have names or not."""
    samples: list[Sample] = []

    @exactly(count)
    @given(dynamic_programs())
    def add(program: DynamicProgram) -> None:
        calls = [arguments(shapes) for shapes in program.calls]
        samples.append((inferred(program), calls, program.text))

    add()
    return samples


def with_hints(count: int) -> Iterator[Sample]:
    """Three devices, branches, and functions that capture values."""
    for seed in seeds(count):
        module = parse(hinted_programs.Program(Random(seed), 10).text())
        InferTypesPass().apply(quiet(), module)
        *tensors, flag = hinted_programs.inputs()
        yield module, [[*tensors, flag], [*tensors, ~flag]], f"program with hints {seed}"


def of_relay_text(count: int) -> Iterator[Sample]:
    """Functions that call themselves or are values, data, references, sizes that depend on data."""
    for seed in seeds(count):
        rng, is_open = Random(seed), bool(seed % 2)
        try:
            module = read(RelayProgram(rng, is_open).text)
        except RelayTextError as error:
            if "it has 0 elements" in str(error):  # the maximum of nothing
                continue
            raise
        InferTypesPass().apply(quiet(), module)
        sizes = [(4, 4)] if not is_open else [(4, 4), (2, 2), (0, 3)]
        calls = [
            [np.array(flag), *arguments([(n,), (m,)])] for flag in (True, False) for n, m in sizes
        ]
        yield module, calls, f"program of Relay text {seed}"


def in_stripes(count: int) -> Iterator[Sample]:
    """Chains of operators on images, in loops of stripes."""
    for seed in seeds(count):
        drawn = chain_in_stripes(seed)
        if drawn is not None:
            _, tiled, argument, what = drawn
            run_passes(tiled, "tile-for-memory")
            yield tiled, [[argument]], what


@pytest.mark.ci
def test_programs_as_users_compile_them(tmp_path: Path):
    """All kinds, by `-p aot -t native` and `xrelay.load`, against the machine and references."""
    programs = CompiledPrograms(AOT, VM)
    for kind, least in ((with_calls, 0.5), (of_tensors, 0.7), (with_hints, 1), (of_relay_text, 0)):
        samples = list(kind(6))
        accepted = sum(programs.add(*sample) for sample in samples)
        assert accepted >= least * len(samples), kind
    for error in programs.refused:
        assert REFUSED.search(str(error)), error
    programs.check(tmp_path)


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


def test_programs_with_any_plan_of_memory(tmp_path: Path):
    """Storages that functions allocate, arenas and workspaces, all of which are freed."""
    batch = NativeBatch()
    calls: list[tuple[int, str, Sequence[Array], Outcome]] = []
    for kind in (with_calls, of_tensors, with_hints, in_stripes):
        for module, given_args, what in kind(4):
            wanted = [evaluated(module, args) for args in given_args]
            memory = MEMORY[len(batch.entries) % len(MEMORY)]
            number = batch.add(module, f"{PASSES},{memory},verify-stage{{stage=memory-planned}}")
            assert number is not None, what
            calls += [
                (number, what, args, outcome)
                for args, outcome in zip(given_args, wanted, strict=True)
            ]
    batch.build(tmp_path)
    for number, what, args, wanted in calls:
        compare(batch.run(number, args), wanted, what)


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
DEEP = LOOP.replace(
    "relay.yield %z :",
    "%w = relay.add %z, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n    relay.yield %w :",
)
"""The same, with an addition after each call."""
LISTS = """
func.func private @grow(%n: tensor<i32>, %x: tensor<?xf32>, %y: tensor<?xf32>, %one: tensor<1xf32>)
    -> tensor<?xf32> {
  %m1 = relay.constant dense<-1> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %c = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    %m = relay.add %n, %m1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %l = relay.concatenate %x, %one {axis = 0 : i64}
        : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    %z = func.call @shrink(%m, %y, %l, %one)
        : (tensor<i32>, tensor<?xf32>, tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    relay.yield %z : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}
func.func private @shrink(%n: tensor<i32>, %x: tensor<?xf32>, %y: tensor<?xf32>, %s: tensor<1xf32>)
    -> tensor<?xf32> {
  %l = relay.add %y, %s : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  %z = func.call @grow(%n, %x, %l, %s)
      : (tensor<i32>, tensor<?xf32>, tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}
func.func @main(%n: tensor<i32>, %x: tensor<?xf32>, %y: tensor<?xf32>, %one: tensor<1xf32>)
    -> tensor<?xf32> {
  %r = func.call @grow(%n, %x, %y, %one)
      : (tensor<i32>, tensor<?xf32>, tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}
"""
SWAP = """
func.func private @swap(%n: tensor<i32>, %x: tensor<2xf32>, %y: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>) {
  %one = relay.constant dense<1> : tensor<i32>
  %zero = relay.constant dense<0> : tensor<i32>
  %c = relay.greater %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %a, %b = relay.if %c : tensor<i1> -> (tensor<2xf32>, tensor<2xf32>) {
    %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %u, %v = func.call @swap(%m, %y, %x)
        : (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    relay.yield %u, %v : tensor<2xf32>, tensor<2xf32>
  } else {
    relay.yield %x, %y : tensor<2xf32>, tensor<2xf32>
  }
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}
func.func @main(%n: tensor<i32>, %x: tensor<2xf32>, %y: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>) {
  %a, %b = func.call @swap(%n, %x, %y)
      : (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return %a, %b : tensor<2xf32>, tensor<2xf32>
}
"""
SUM = """
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = relay.add %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %z : tensor<?x4xf32>
}
"""


NAMES = """
func.func private @f(%x: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]},
                     %y: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]}) -> tensor<?x4xf32> {
  %z = relay.add %x, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = relay.nn.relu %z : (tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %r : tensor<?x4xf32>
}
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %z = func.call @f(%x, %y) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %z : tensor<?x4xf32>
}
"""


def test_recursion_and_failures(tmp_path: Path):
    """Loops by calls; what recurs for ever, or does not fit, is an error, and memory is freed."""
    batch = NativeBatch()
    texts = (LOOP, EVEN, SUM, DEEP, LISTS, SWAP, NAMES)
    added = [batch.add(parse(text), f"{PASSES},{MEMORY[1]}") for text in texts]
    loop, even, add, deep, lists, swap, names = (number for number in added if number is not None)
    batch.build(tmp_path)
    x = np.arange(4, dtype=np.float32)
    for n in (0, 1, 20):
        (found,) = batch.run(loop, [np.array(n, np.int32), x])
        np.testing.assert_array_equal(found, x * np.float32(2**n))
    (found,) = batch.run(loop, [np.array(10**6, np.int32), 0 * x])
    np.testing.assert_array_equal(found, 0 * x)
    (found,) = batch.run(deep, [np.array(3, np.int32), x])
    np.testing.assert_array_equal(found, 15 * x)
    assert batch.run(deep, [np.array(2**31 - 1, np.int32), x]) == STACK
    one = np.ones(1, np.float32)
    for n in (0, 1, 2, 5):
        grown = [x[:2], x[:3]]
        for _ in range(n):
            grown = [grown[1], np.concatenate([grown[0], one]) + 1]
        (found,) = batch.run(lists, [np.array(n, np.int32), x[:2], x[:3], one])
        np.testing.assert_array_equal(found, grown[0])
        found = batch.run(swap, [np.array(n, np.int32), x[:2], x[2:]])
        np.testing.assert_array_equal(found, [x[2:], x[:2]] if n % 2 else [x[:2], x[2:]])
    for n, wanted in ((0, 1), (1, 2), (6, 1), (101, 2)):
        one, two = np.array(1, np.float32), np.array(2, np.float32)
        assert batch.run(even, [np.array(n, np.int8), one, two]) == [wanted]
    rows = [np.ones((n, 4), np.float32) for n in (1, 3, 2)]
    (found,) = batch.run(add, rows[:2])
    np.testing.assert_array_equal(found, np.full((3, 4), 2, np.float32))
    (found,) = batch.run(names, [rows[1] - 2, rows[1]])
    np.testing.assert_array_equal(found, np.zeros((3, 4), np.float32))
    for pair in (rows[:2], rows[1::-1]):
        message = batch.run(names, pair)
        assert isinstance(message, str)
        assert "dim 0 (n)" in message
    message = batch.run(add, rows[1:])
    assert isinstance(message, str)
    assert "3" in message
    assert "2" in message
