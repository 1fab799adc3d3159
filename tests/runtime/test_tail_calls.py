"""Tail calls: results from the definition, in memory that nested calls would exceed."""

import signal
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import compiled
from helpers.machine.recorded import count_recorded, same
from helpers.machine.reference_machine import ReferenceMachine
from helpers.programs.machine_programs import call, f32, function, kernel, program
from helpers.relay.relay_programs import read

from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.call_cycles import CallCycles
from xrelay.runtime.program.program import Program

COUNT = 5000
LITTLE = 1 << 23
"""A memory limit in bytes that is too small for this number of nested calls."""
V = "Tensor[(4), float32]"
X = np.array([0, 1, -2, 0.5], np.float32)

SUM = f"""
def @main(%n: int32, %x: {V}) {{ @go(%n, %x) }}
def @go(%n: int32, %x: {V}) -> {V} {{ if (%n == 0) {{ %x }} else {{ @go(%n - 1, %x + 1f) }} }}
"""
MUTUAL = f"""
def @main(%n: int32, %x: {V}) {{ @even(%n, %x) }}
def @even(%n: int32, %x: {V}) -> {V} {{ if (%n == 0) {{ %x }} else {{ @odd(%x + 1f, %n - 1) }} }}
def @odd(%x: {V}, %n: int32) -> {V} {{
  if (%n == 0) {{ negative(%x) }} else {{ @even(%n - 1, %x) }}
}}
"""
TUPLE = f"""
def @main(%n: int32, %x: {V}) {{ @go((%n, (%x, %x))) }}
def @go(%s: (int32, ({V}, {V}))) -> {V} {{
  if (%s.0 == 0) {{ %s.1.1 }} else {{ @go((%s.0 - 1, (%s.1.0, %s.1.1 + 1f))) }}
}}
"""
CLOSURE = f"""
def @main(%n: int32, %x: {V}) {{
  let %add = fn (%y: {V}) {{ %y + 1f }};
  @go(%add, %n, %x)
}}
def @go(%f: fn ({V}) -> {V}, %n: int32, %x: {V}) -> {V} {{
  if (%n == 0) {{ %x }} else {{ @go(%f, %n - 1, %f(%x)) }}
}}
"""
NOT_TAIL = f"""
def @main(%n: int32, %x: {V}) {{ @go(%n, %x) }}
def @go(%n: int32, %x: {V}) -> {V} {{ if (%n == 0) {{ %x }} else {{ @go(%n - 1, %x) + 1f }} }}
"""
DEEP = f"""
def @main(%n: int32, %x: {V}) {{ @go(%n, %x) }}
def @go(%n: int32, %x: {V}) -> {V} {{
  if (%n <= 0) {{ %x }} else {{ @go(%n - 1000000, @go(%n - 1, %x + 1f)) }}
}}
"""
SWAPPED = """
def @main(%n: int32, %a: Tensor[(4), int64]) { @go(%n, %a, %a) }
def @go(%n: int32, %a: Tensor[(4), int64], %b: Tensor[(4), int64]) -> Tensor[(4), int64] {
  if (%n == 0) { %a } else { @go(%n - 1, %b, %a + %b) }
}
"""
NESTED = f"""
def @main(%n: int32, %x: {V}) {{ (@outer(%n, %x, %x), @inner(%n, %x), %x) }}
def @outer(%n: int32, %x: {V}, %y: {V}) -> {V} {{
  if (%n == 0) {{ %y }} else {{ @outer(%n - 1, %x, %y + @inner(%n, %x)) }}
}}
def @inner(%n: int32, %x: {V}) -> {V} {{
  if (%n == 0) {{ %x }} else {{ @inner(%n - 1, %x + 1f) }}
}}
"""
GROWING = f"""
def @main(%n: int32, %x: {V}) {{ @go(%n, %x) * 2f }}
def @go(%n: int32, %x: {V}) -> {V} {{
  if (%n == 0) {{ %x }} else {{ @go(%n - 1, concatenate((%x, negative(%x)))) }}
}}
"""
LISTS = f"""
def @main(%n: int32, %x: {V}) {{
  let %l = @build(%n, %x, Nil);
  (@total(%l, %x), @total(%l, %x))
}}
def @build(%n: int32, %x: {V}, %l: List[{V}]) -> List[{V}] {{
  if (%n == 0) {{ %l }} else {{ @build(%n - 1, %x + 1f, Cons(%x, %l)) }}
}}
def @total(%l: List[{V}], %s: {V}) -> {V} {{
  match (%l) {{ Cons(%h, %t) => @total(%t, %s * 0.5f + %h), Nil => %s }}
}}
"""


def assembled(text: str) -> Program:
    return compiled(read('#[version = "0.0.5"]\n' + text))


def alike(text: str, *args: Any) -> list[Any]:
    """Run twice, and in the mode `sanitize`, where calls nest: all must do the same."""
    made = assembled(text)
    machine, nesting = Machine(made, poison=True), Machine(made, sanitize=True)
    first, second = (machine.run("main", *args) for _ in range(2))
    want = nesting.run("main", *args)
    for got in (first, second):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
    executed = nesting.counters.instructions
    assert machine.counters.instructions == {name: 2 * n for name, n in executed.items()}
    return want


@pytest.mark.ci
@pytest.mark.parametrize("text", [SUM, TUPLE, CLOSURE])
def test_loops_run_in_constant_memory(text: str):
    machine = Machine(assembled(text), memory_limit=LITTLE)
    for count in (COUNT, 3, COUNT):
        (y,) = machine.run("main", np.int32(count), X)
        np.testing.assert_array_equal(y, X + np.float32(count))
    alike(text, np.int32(20), X)


@pytest.mark.ci
@pytest.mark.parametrize("text", [SUM, MUTUAL, TUPLE, CLOSURE, NESTED, GROWING])
def test_new_sizes_and_counts_are_not_recorded(text: str, monkeypatch: pytest.MonkeyPatch):
    made = assembled(text.replace(V, "Tensor[(?, 4), float32]"))
    machine, reference = Machine(made, poison=True), ReferenceMachine(made)
    segments = count_recorded(monkeypatch)
    for count, rows in ((3, 2), (2, 3), (3, 5), (2, 4), (4, 7), (5, 70), (0, 9), (7, 3)):
        before = len(segments)
        args = np.int32(count), np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)
        same(machine.run("main", *args), reference.run("main", *args))
        if rows in (7, 70, 3) and count > 3:
            assert len(segments) == before, machine.templates.failures


@pytest.mark.ci
def test_mutual_recursion_runs_in_constant_memory():
    machine = Machine(assembled(MUTUAL), memory_limit=LITTLE)
    np.testing.assert_array_equal(machine.run("main", np.int32(COUNT), X)[0], X + COUNT // 2)
    np.testing.assert_array_equal(machine.run("main", np.int32(3), X)[0], -(X + 2))
    alike(MUTUAL, np.int32(7), X)


@pytest.mark.ci
def test_other_recursion_is_limited_by_memory():
    machine = Machine(assembled(NOT_TAIL), memory_limit=LITTLE)
    with pytest.raises(MachineError, match=r"the stack of .* nested calls"):
        machine.run("main", np.int32(COUNT), X)
    np.testing.assert_array_equal(machine.run("main", np.int32(3), X)[0], X + 3)


@pytest.mark.ci
def test_loops_within_each_other_are_deeper_than_the_python_stack():
    depth = 300
    for _ in range(2):
        (y,) = alike(DEEP, np.int32(depth), X)
        np.testing.assert_array_equal(y, X + np.float32(depth))


def test_arguments_may_change_places():
    a, b = 1, 1
    for _ in range(30):
        a, b = b, a + b
    (y,) = alike(SWAPPED, np.int32(30), np.ones(4, np.int64))
    assert y.tolist() == [a] * 4


def test_a_loop_in_a_loop_keeps_what_its_callers_hold():
    y, z, x = alike(NESTED, np.int32(12), X)
    np.testing.assert_array_equal(z, X + 12)
    np.testing.assert_array_equal(y, 13 * X + sum(range(13)))
    np.testing.assert_array_equal(x, X)


def test_lists_are_built_and_folded():
    count = 48
    total = X
    for number in reversed(range(count)):
        total = total * np.float32(0.5) + (X + np.float32(number))
    for y in alike(LISTS, np.int32(count), X):
        np.testing.assert_allclose(y, total, rtol=1e-5)


def test_a_loop_on_another_device_runs_in_constant_memory(monkeypatch: pytest.MonkeyPatch):
    """Its result, which is there, is the operand of a kernel after it."""
    rows = f32(None, 4)
    size = vm.ShapeOf(3, 0), vm.LoadConsti(4, 16), vm.LoadConsti(5, 0)
    bytes = vm.Compute(6, "extract", (3, 5)), vm.Compute(7, "muli", (6, 4))
    store = vm.AllocStorage(8, vm.Reg(7), 64, 1), vm.AllocTensorReg(9, 8, 0, 3, "float32")
    double = *size, *bytes, *store, vm.InvokePacked(0, (0, 0), (9,))
    less = vm.LoadConsti(10, -1), vm.Compute(11, "addi", (1, 10))
    turn = *double, *less, vm.Invoke(12, 1, (9, 11)), vm.Ret(12)
    loop = function([rows, None], vm.If(1, None, 2, 1), vm.Ret(0), *turn, name="loop", devices=[1])
    code = vm.Invoke(0, 1, (0, 1)), *double, vm.Ret(9)
    main = function([rows, None], *code, devices=[1])
    add = kernel("add", [rows, rows], rows)
    machine = Machine(
        program(main, loop, kernels=[add], devices=("cpu:0", "cuda:0")), memory_limit=LITTLE
    )
    segments = count_recorded(monkeypatch)
    for count, height in ((0, 3), (1, 1), (3, 2), (4, 3), (COUNT, 5)):
        x, before = np.zeros((height, 4), np.float32), len(segments)
        x[0] = 2.0 ** min(count, 3)
        (y,) = machine.run("main", x, np.int64(count))
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(y, np.ldexp(x, count + 1))
    assert len(segments) == before


def test_an_endless_loop_ends_at_the_limit_of_instructions():
    code = vm.Invoke(1, 0, (0,)), vm.Ret(1)
    machine = Machine(program(function([f32(4)], *code)), max_instructions=10_000)
    with pytest.raises(MachineError, match=r"main\[0\].*exceeded the limit of 10000 instructions"):
        machine.run("main", X)


def test_an_endless_loop_can_be_interrupted():
    """It runs in constant memory until then, and the machine serves later calls."""
    code = vm.If(1, None, 3, 1), vm.Invoke(2, 0, (0, 1)), vm.Ret(2), vm.Ret(0)
    machine = Machine(program(function([f32(4), None], *code)), memory_limit=LITTLE)
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            machine.run("main", X, np.bool_(False))
    finally:
        signal.signal(signal.SIGALRM, handler)
    np.testing.assert_array_equal(machine.run("main", X, np.bool_(True))[0], X)


def test_a_fault_after_the_call_is_reported():
    stop = vm.If(1, None, 2, 1), vm.Ret(0)
    call_again = vm.LoadConsti(2, 0), vm.Invoke(3, 0, (0, 2)), vm.KillRegister(9), vm.Ret(3)
    faulty = function([f32(4), None], *stop, *call_again)
    with pytest.raises(MachineError, match="register r9 is read before it is written"):
        Machine(program(faulty)).run("main", X, np.int64(1))


def test_a_function_that_writes_to_its_argument_is_not_given_a_copy():
    double = kernel("add", [f32(4), f32(4)], f32(4))
    again = vm.LoadConsti(2, 0), vm.InvokePacked(0, (0, 0), (0,)), vm.Invoke(3, 1, (0, 2))
    loop = function([f32(4), None], vm.If(1, None, 2, 1), vm.Ret(0), *again, vm.Ret(3), name="loop")
    code = [*call(0, [0, 0], 2, 4), vm.Invoke(4, 1, (2, 1)), vm.AllocADT(5, 0, (2, 4)), vm.Ret(5)]
    machine = Machine(program(function([f32(4), None], *code), loop, kernels=[double]))
    for got in machine.run("main", X, np.int64(1)):
        np.testing.assert_array_equal(got, 4 * X)


def test_cycles_are_those_of_calls():
    calls = [(1,), (2,), (1, 3), ()]
    functions = [
        function([], *(vm.Invoke(0, callee, ()) for callee in callees), vm.Ret(0), name=f"f{i}")
        for i, callees in enumerate(calls)
    ]
    found = CallCycles.of(program(*functions)).components
    assert found[1] == found[2]
    assert len({found[0], found[1], found[3]}) == 3
