"""The whole instruction set, in the machine and in the reference machine."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from helpers.machine.both_machines import Machine
from helpers.machine.reference_machine import ReferenceMachine
from helpers.programs.machine_programs import call, f32, function, kernel, program, tensor

from xrelay.runtime.calls.values import Value
from xrelay.runtime.machine.machine import Machine as FastMachine
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.instructions import Instruction, Reg
from xrelay.runtime.program.program import Program, TensorSpec

INT = TensorSpec("int64", ())
INTEGERS = ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]


def limits(dtype: str) -> list[int]:
    if dtype == "bool":
        return [0, 1]
    info = np.iinfo(dtype)
    return [info.min, info.max, 0, 1, 2]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_if_tests_integers_of_every_width(dtype: str):
    spec = TensorSpec(dtype, ())
    answer = [vm.LoadConsti(2, 1), vm.Ret(2), vm.LoadConsti(2, 0), vm.Ret(2)]
    nonzero = function([spec], vm.If(0, None, 1, 3), *answer)
    equal = function([spec, spec], vm.If(0, 1, 1, 3), *answer, name="equal")
    machine = Machine(program(nonzero, equal))
    for a in limits(dtype):
        assert machine.run("main", np.array(a, dtype))[0] == (a != 0)
        for b in limits(dtype):
            assert machine.run("equal", np.array(a, dtype), np.array(b, dtype))[0] == (a == b)


def test_if_compares_the_values_of_different_types():
    code = [vm.LoadConsti(3, 1), vm.Ret(3), vm.LoadConsti(3, 0), vm.Ret(3)]
    machine = Machine(
        program(
            function([TensorSpec("int8", ()), TensorSpec("uint64", ())], vm.If(0, 1, 1, 3), *code)
        )
    )
    assert machine.run("main", np.int8(7), np.uint64(7))[0] == 1
    assert machine.run("main", np.int8(-1), np.uint64((1 << 64) - 1))[0] == 0


def counting_down(*after: Instruction) -> Program:
    """f(n) = 0 if n == 0, otherwise f(n - 1), then `after` on the result in register 3."""
    return program(
        function(
            [INT],
            vm.If(0, None, 2, 1),
            vm.Ret(0),
            vm.LoadConsti(1, 1),
            vm.Compute(2, "subi", (0, 1)),
            vm.Invoke(3, 0, (2,)),
            *after,
            vm.Ret(3),
            registers=5,
        )
    )


@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "depth"), [(Machine, 1), (FastMachine, 2_000), (ReferenceMachine, 5_000)]
)
def test_recursion_is_as_deep_as_memory_allows(
    kind: type[FastMachine | ReferenceMachine], depth: int
):
    machine = kind(counting_down(vm.LoadConsti(4, 1), vm.Compute(3, "addi", (3, 4))))
    assert machine.run("main", np.int64(depth))[0] == depth


@pytest.mark.ci
def test_calls_in_tail_position_take_no_memory_in_the_reference_machine():
    code = [vm.Move(4, 3), vm.KillRegister(1), vm.Goto(1), vm.Ret(4)]
    machine = ReferenceMachine(counting_down(*code))
    machine.run("main", np.int64(10))
    tracemalloc.start()
    machine.run("main", np.int64(1_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 18


@pytest.mark.ci
def test_long_lists_are_built_by_recursion_and_folded():
    """build(n) = Cons(n, build(n - 1)); sum(xs, s) = s, or sum(tail, s + head)."""
    build = function(
        [INT],
        vm.If(0, None, 3, 1),
        vm.AllocADT(1, 0, ()),
        vm.Ret(1),
        vm.LoadConsti(1, 1),
        vm.Compute(2, "subi", (0, 1)),
        vm.Invoke(3, 1, (2,)),
        vm.AllocADT(4, 1, (0, 3)),
        vm.Ret(4),
        name="build",
    )
    add = function(
        [None, INT],
        vm.GetTag(2, 0),
        vm.If(2, None, 2, 1),
        vm.Ret(1),
        vm.GetField(3, 0, 0),
        vm.GetField(4, 0, 1),
        vm.Compute(5, "addi", (1, 3)),
        vm.Invoke(6, 2, (4, 5)),
        vm.Ret(6),
        name="sum",
    )
    zero = vm.LoadConsti(2, 0)
    main = function([INT], vm.Invoke(1, 1, (0,)), zero, vm.Invoke(3, 2, (1, 2)), vm.Ret(3))
    machine = Machine(program(main, build, add))
    for n in (0, 3, 600):
        assert machine.run("main", np.int64(n))[0] == n * (n + 1) // 2


def test_a_reference_counts_the_calls_of_a_closure():
    """The closure adds its argument to what the captured reference holds."""
    add = function(
        [None, INT],
        vm.ReadRef(2, 0),
        vm.Compute(3, "addi", (2, 1)),
        vm.WriteRef(0, 3),
        vm.Ret(3),
        name="add",
    )
    main = function(
        [INT],
        vm.AllocRef(1, 0),
        vm.AllocClosure(2, 1, (1,)),
        *(vm.InvokeClosure(number, 2, (0,)) for number in (3, 4, 5)),
        vm.ReadRef(6, 1),
        vm.AllocADT(7, 0, (3, 4, 6)),
        vm.Ret(7),
    )
    machine = Machine(program(main, add))
    for n in (1, 7):
        assert machine.run("main", np.int64(n)) == [2 * n, 3 * n, 4 * n]


def everything() -> Program:
    """A program that uses each instruction, and stops at the last one if x0 is not positive."""
    device = [
        *tensor(10, 2, device=1),
        vm.DeviceCopy(1, 10, 0, 1),
        *tensor(12, 2),
        vm.DeviceCopy(10, 12, 1, 0),
    ]
    sizes = [
        vm.ShapeOf(20, 12),
        vm.LoadConsti(21, 0),
        vm.Compute(22, "extract", (20, 21)),
        vm.LoadConsti(23, 8),
        vm.Require("eq", 22, 22, "{0}"),
        vm.Pack(24, (25, 26), 64, (0, 1, 0, 1), (Reg(23), 8)),
        vm.AllocStorage(27, Reg(24), 64),
        vm.SliceStorage(28, 27, Reg(25), Reg(23), 64),
        vm.AllocTensorReg(29, 28, 0, 20, "float32"),
        vm.InvokePacked(0, (12, 1), (29,)),
        vm.KillRegister(28),
        vm.ReshapeTensor(42, 29, (2, 1)),
        vm.SliceTensor(43, 42, 0, (1, 1)),
        vm.SliceTensor(44, 42, 1, (1, 1)),
        vm.CopyRows(42, 1, 44, 0, 0, 1),
        vm.ReshapeTensor(45, 43, ()),
        vm.ReadRows(42, 1, 44, 0, 45),
        vm.WriteRows(42, 0, 44, -1, 0, 2),
        vm.FillRows(45, 44, 0, 0, 1),
        vm.JoinTensors(30, (43, 44), (2, 1)),
    ]
    data = [
        vm.LoadConst(31, 0),
        vm.AllocADT(32, 3, (30, 31)),
        vm.GetTag(33, 32),
        vm.GetField(34, 32, 1),
        vm.AllocClosure(35, 1, (34,)),
        vm.InvokeClosure(36, 35, (1,)),
        vm.Invoke(37, 1, (36, 36)),
        vm.AllocRef(38, 37),
        vm.WriteRef(38, 36),
        vm.ReadRef(39, 38),
        vm.Move(40, 39),
        vm.AllocADT(41, 0, (40, 32, 33)),
    ]
    end = [vm.If(0, None, 1, 3), vm.Goto(1), vm.Ret(41), vm.Fatal()]
    add = kernel("add", [f32(2), f32(2)], f32(2))
    return program(
        function([INT, f32(2)], *device, *sizes, *data, *end),
        function([f32(2), f32(2)], *call(0, [0, 1], 2, 2), vm.Ret(2), name="add"),
        kernels=[add],
        constants=[np.array([5, 6], np.float32)],
        devices=["cpu:0", "cuda:0"],
    )


def test_every_instruction_runs():
    machine = Machine(everything())
    x = np.array([1, 2], np.float32)
    first, doubled, constant, tag = machine.run("main", np.int64(1), x)
    np.testing.assert_array_equal(first, x + constant)
    np.testing.assert_array_equal(doubled, (x + x).reshape(2, 1))
    assert (constant.tolist(), tag) == ([5, 6], 3)
    ran = Counter(machine.counters.instructions)
    with pytest.raises(Exception, match="no clause of a match applies"):
        machine.run("main", np.int64(0), x)
    assert {*ran, "fatal"} == set(vm.INSTRUCTIONS)


def test_differences_are_found(monkeypatch: pytest.MonkeyPatch):
    """A wrong result, and an error of one machine only, are found."""
    machine = Machine(everything())

    def zeros(self: ReferenceMachine, *args: object) -> Value:
        return (np.zeros(2, np.float32),)

    monkeypatch.setattr(ReferenceMachine, "evaluate", zeros)
    with pytest.raises(AssertionError):
        machine.run("main", np.int64(1), np.zeros(2, np.float32))
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        machine.run("main", np.int64(0), np.zeros(2, np.float32))
    assert FastMachine(everything()).run("main", np.int64(1), np.zeros(2, np.float32))
