"""References in the machine: cells whose contents depend on what ran before."""

from typing import Any

import numpy as np
import pytest
from helpers.machine.both_machines import Machine
from helpers.programs.machine_programs import call, f32, function, kernel, program

from xrelay.runtime.errors import MachineError
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Function, TensorSpec

ADD = kernel("add", [f32(2), f32(2)], f32(2))
X, Y = np.array([1, 2], np.float32), np.array([10, 20], np.float32)
BOOL = TensorSpec("bool", ())


def machine(*functions: Function) -> Machine:
    """A machine whose unwritten memory is NaN."""
    return Machine(program(*functions, kernels=[ADD]), memory=Memory(poison=True))


def result(machine: Machine, *args: Any) -> list[float]:
    (array,) = machine.run("main", *args)
    return array.tolist()


def test_a_reference_holds_what_was_written_last():
    code = [
        vm.AllocRef(2, 0),
        vm.ReadRef(3, 2),
        vm.WriteRef(2, 1),
        vm.ReadRef(4, 2),
        *call(0, [3, 4], 5, 2),
        vm.Ret(5),
    ]
    found = machine(function([f32(2)] * 2, *code))
    for _ in range(2):
        assert result(found, X, Y) == [11, 22]


def test_each_run_starts_with_the_first_contents():
    code = [vm.AllocRef(2, 0), vm.ReadRef(3, 2), vm.WriteRef(2, 1), vm.Ret(3)]
    found = machine(function([f32(2)] * 2, *code))
    for _ in range(3):
        assert result(found, X, Y) == [1, 2]


def test_a_callee_writes_what_its_caller_reads():
    double = function(
        [None], vm.ReadRef(1, 0), *call(0, [1, 1], 2, 2), vm.WriteRef(0, 2), vm.Ret(0), name="f"
    )
    code = [vm.AllocRef(1, 0), *[vm.Invoke(2, 1, (1,))] * 3, vm.ReadRef(3, 1), vm.Ret(3)]
    found = machine(function([f32(2)], *code), double)
    for _ in range(2):
        assert result(found, X) == [8, 16]
    assert result(found, Y) == [80, 160]


def test_contents_that_only_one_path_of_a_callee_writes():
    """
    The callee returns the same object on both paths, so its caller's path shows no difference.

    The first run leaves the sum in no reference, so that its memory is free when the caller kills
    it; the second run, on the same path of the caller, reads it later.
    """
    store = function(
        [BOOL, None, None], vm.If(0, None, 1, 2), vm.WriteRef(1, 2), vm.Ret(1), name="store"
    )
    code = [
        vm.AllocRef(3, 0),
        *call(0, [0, 1], 4, 2),
        vm.Invoke(6, 1, (2, 3, 4)),
        vm.KillRegister(4),
        vm.KillRegister(5),
        *call(0, [0, 0], 7, 2),
        *call(0, [7, 7], 9, 2),
        vm.ReadRef(11, 3),
        vm.Ret(11),
    ]
    found = machine(function([f32(2), f32(2), BOOL], *code), store)
    for _ in range(2):
        assert result(found, X, Y, False) == [1, 2]
        assert result(found, X, Y, True) == [11, 22]


def test_contents_stay_when_their_registers_are_killed():
    code = [
        *call(0, [0, 1], 2, 2),
        vm.AllocRef(4, 2),
        vm.KillRegister(2),
        vm.KillRegister(3),
        *call(0, [0, 0], 5, 2),
        *call(0, [5, 5], 7, 2),
        vm.ReadRef(9, 4),
        vm.Ret(9),
    ]
    found = machine(function([f32(2)] * 2, *code))
    for _ in range(2):
        assert result(found, X, Y) == [11, 22]


def test_a_reference_may_hold_a_closure_that_captures_it():
    body = function([None, f32(2)], vm.Ret(1), name="body")
    code = [
        vm.AllocRef(1, 0),
        vm.AllocClosure(2, 1, (1,)),
        vm.WriteRef(1, 2),
        vm.ReadRef(3, 1),
        vm.InvokeClosure(4, 3, (0,)),
        vm.Ret(4),
    ]
    assert result(machine(function([f32(2)], *code), body), X) == [1, 2]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ([vm.ReadRef(1, 0)], "register r0 must hold a reference, but holds a tensor"),
        ([vm.WriteRef(0, 0)], "register r0 must hold a reference, but holds a tensor"),
        ([vm.AllocRef(1, 2)], "register r2 is read before it is written"),
        (
            [
                vm.AllocStorage(1, 8, 64),
                vm.AllocTensor(2, 1, 0, (2,), "float32"),
                vm.AllocRef(3, 2),
            ],
            "reads unwritten bytes of a tensor float32[2]",
        ),
        (
            [vm.AllocRef(0, 0)],
            "the result contains a reference, which cannot leave the machine",
        ),
        (
            [vm.AllocRef(1, 0), *call(0, [1, 0], 2, 2)],
            "operands of a kernel must be tensors or data of tensors",
        ),
    ],
)
def test_faults(code: list[vm.Instruction], message: str):
    with pytest.raises(MachineError) as caught:
        machine(function([f32(2)], *code, vm.Ret(0))).run("main", X)
    assert message in str(caught.value)
