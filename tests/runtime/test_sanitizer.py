"""The mode `sanitize`: each kind of fault, with its message and notes, and what is not a fault."""

from collections.abc import Sequence
from ctypes import POINTER, c_float, cast
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers.programs.machine_programs import call, f32, function, kernel, program, tensor

from xrelay.runtime.errors import Location, MachineError, Note
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.bind import Attrs, Bind, Thunk
from xrelay.runtime.kernels.checked import CheckedKernel, Reuse
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.scratch import scratch
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Array, Function, Kernel, Program, Step

ADD = kernel("add", [f32(2), f32(2)], f32(2))
X = np.array([1, 2], np.float32)


def located(function: Function) -> Function:
    """Instruction n is at line n + 1 of m.mlir."""
    lines = range(1, len(function.instructions) + 1)
    return replace(function, locations=tuple(Location("m.mlir", line, 3) for line in lines))


def fault(code: Program, *args: Array) -> MachineError:
    """Return the error of `main` in the mode `sanitize`."""
    machine = Machine(code, sanitize=True)
    with pytest.raises(MachineError) as first:
        machine.run("main", *args)
    with pytest.raises(MachineError) as second:  # on the path that the first call recorded, if any
        machine.run("main", *args)
    assert str(first.value) == str(second.value)
    return first.value


def test_a_tensor_is_read_after_another_one_in_its_bytes_is_written():
    code = [
        vm.AllocStorage(1, 12, 64),
        vm.AllocTensor(2, 1, 0, (2,), "float32"),
        vm.AllocTensor(3, 1, 4, (2,), "float32"),
        vm.InvokePacked(0, (0, 0), (2,)),
        vm.InvokePacked(0, (0, 0), (3,)),
        vm.InvokePacked(0, (2, 0), (3,)),
        vm.Ret(3),
    ]
    planned = program(located(function([f32(2)], *code)), kernels=[ADD])
    assert Machine(planned).run("main", X)[0].tolist() == [3, 4]  # 2x is [2, 2]
    error = fault(planned, X)
    assert str(error) == (
        "main[5] invoke_packed add: reads bytes 4 to 7 of a tensor float32[2], which were "
        "overwritten"
    )
    assert error.location == ("m.mlir", 6, 3)
    assert error.notes == (
        Note(
            "overwritten here, by main[4] invoke_packed add, with a tensor float32[2]",
            Location("m.mlir", 5, 3),
        ),
        Note("the tensor was written here, by main[3] invoke_packed add", Location("m.mlir", 4, 3)),
    )


def test_a_tensor_is_read_through_another_one():
    code = [
        *call(0, [0, 0], 1, 2),
        vm.AllocTensor(3, 2, 0, (2,), "float32"),
        *call(0, [3, 0], 4, 2),
        vm.Ret(4),
    ]
    error = fault(program(function([f32(2)], *code), kernels=[ADD]), X)
    assert "reads bytes 0 to 7 of a tensor float32[2], which were never written through" in str(
        error
    )
    assert [note.message for note in error.notes] == [
        "the bytes were written here, by main[2] invoke_packed add, with a tensor float32[2]"
    ]


def test_a_result_is_overwritten():
    code = [
        vm.AllocStorage(1, 8, 64),
        vm.AllocTensor(2, 1, 0, (2,), "float32"),
        vm.AllocTensor(3, 1, 0, (2,), "float32"),
        vm.InvokePacked(0, (0, 0), (2,)),
        vm.InvokePacked(0, (0, 0), (3,)),
        vm.AllocADT(4, 0, (3, 2)),
        vm.Ret(4),
    ]
    error = fault(program(function([f32(2)], *code), kernels=[ADD]), X)
    assert str(error).startswith("main[6] ret: reads bytes 0 to 7 of a tensor float32[2], which")


def test_a_callee_overwrites_a_tensor_of_its_caller():
    """The tensor is where the caller lends memory, on one path of the callee only."""
    callee = function(
        [None, f32(2), None],
        vm.If(2, None, 1, 3),
        vm.AllocTensor(3, 0, 0, (2,), "float32"),
        vm.InvokePacked(0, (1, 1), (3,)),
        vm.Ret(1),
        name="callee",
    )
    code = [
        vm.AllocStorage(2, 8, 64),
        vm.AllocTensor(3, 2, 0, (2,), "float32"),
        vm.InvokePacked(0, (0, 0), (3,)),
        vm.Invoke(4, 1, (2, 0, 1)),
        *call(0, [3, 4], 5, 2),
        vm.Ret(5),
    ]
    lending = program(function([f32(2), None], *code), callee, kernels=[ADD])
    machine = Machine(lending, sanitize=True)
    for _ in range(2):
        assert machine.run("main", X, np.array(False))[0].tolist() == [3, 6]
        with pytest.raises(MachineError, match="were overwritten") as caught:
            machine.run("main", X, np.array(True))
        assert "by callee[2] invoke_packed add" in caught.value.notes[0].message


def test_arguments_are_not_written():
    callee = function([f32(2)], vm.InvokePacked(0, (0, 0), (0,)), vm.Ret(0), name="callee")
    code = [*call(0, [0, 0], 1, 2), vm.Invoke(3, 1, (1,)), vm.Ret(3)]
    error = fault(program(function([f32(2)], *code), callee, kernels=[ADD]), X)
    assert str(error) == "callee[0] invoke_packed: must not write to an argument float32[2]"
    code = [vm.ReshapeTensor(1, 0, (2,)), vm.DeviceCopy(0, 1, 0, 0), vm.Ret(0)]
    error = fault(program(function([f32(2)], *code)), X)
    assert "device_copy: must not write to an argument" in str(error)


def test_unwritten_bytes_are_not_read():
    code = [*tensor(1, 2), *call(0, [0, 1], 3, 2), vm.Ret(3)]
    error = fault(program(located(function([f32(2)], *code)), kernels=[ADD]), X)
    assert "invoke_packed: reads unwritten bytes of a tensor float32[2]" in str(error)
    assert error.location == ("m.mlir", 5, 3)


def test_the_killer_of_a_register_is_shown():
    code = [*call(0, [0, 0], 1, 2), vm.KillRegister(1), *call(0, [1, 0], 3, 2), vm.Ret(3)]
    error = fault(program(located(function([f32(2)], *code)), kernels=[ADD]), X)
    assert "register r1 is read after instruction 3 killed it" in str(error)
    assert error.notes == (Note("killed here", Location("m.mlir", 4, 3)),)


def test_results_over_operands_views_and_kills_are_not_faults():
    code = [
        *call(0, [0, 0], 1, 2),
        vm.ReshapeTensor(3, 1, (2, 1)),
        vm.KillRegister(1),
        vm.ReshapeTensor(4, 3, (2,)),
        vm.AllocTensor(5, 2, 0, (2,), "float32"),
        vm.KillRegister(2),
        vm.InvokePacked(0, (4, 4), (5,)),
        vm.ReshapeTensor(6, 5, (1, 2)),
        vm.Ret(6),
    ]
    machine = Machine(program(function([f32(2)], *code), kernels=[ADD]), sanitize=True)
    for _ in range(2):
        assert machine.run("main", X)[0].tolist() == [[4, 8]]


# ---- kernels


def run_bound(bind: Bind) -> MachineError:
    """Return the error of a program that runs `bind` on 16 bytes of input and of output."""
    step = Step("demo.op", {}, (0,), (1,), Location("m.mlir", 7, 5))
    demo = Kernel("demo", (f32(4),), (), (f32(4),), (step,), (1,))
    code = [*call(0, [0], 1, 4), *call(0, [1], 3, 4), vm.Ret(3)]
    planned = program(function([f32(4)], *code), kernels=[demo])
    machine = Machine(planned, kernels={**KERNELS, "demo.op": bind}, sanitize=True)
    with pytest.raises(MachineError) as caught:
        machine.run("main", np.arange(4, dtype=np.float32))
    assert caught.value.location == ("m.mlir", 7, 5) or not caught.value.location
    return caught.value


def beyond(array: Array, by: int) -> Array:
    """Return the elements of `array`, moved by some; a kernel in C could write there."""
    pointer = cast(array.ctypes.data + 4 * by, POINTER(c_float))
    return np.ctypeslib.as_array(pointer, (array.size,))


@pytest.mark.parametrize("by", [1, -1])
def test_kernels_that_write_outside_their_outputs(by: int):
    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        def run() -> None:
            outs[0][:] = 1
            beyond(outs[0], by)[:] = ins[0]

        return run

    assert str(run_bound(bind)) == (
        "main[2] invoke_packed demo: demo.op writes outside the bytes of its operands"
    )


def test_kernels_that_change_their_inputs():
    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        def run() -> None:
            outs[0][:] = ins[0]
            ins[0][1] += 1

        return run

    assert str(run_bound(bind)) == "main[2] invoke_packed demo: the kernel changes its input 0"


def test_kernels_that_do_not_write_all_of_an_output():
    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return partial(np.copyto, outs[0][:3], ins[0][:3])

    assert str(run_bound(bind)) == (
        "main[2] invoke_packed demo: demo.op does not write 4 of 16 bytes of output 0: the first "
        "is byte 12"
    )


@pytest.mark.parametrize("in_scratch", [False, True])
def test_kernels_that_read_what_they_have_not_written(in_scratch: bool):
    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        read = scratch((4,), np.int32) if in_scratch else outs[0].view(np.int32)

        def run() -> None:
            outs[0][:] = read % 1000 + 1
            read[:] += 1

        return run

    assert "demo.op computes another output 0 from the same inputs when" in str(run_bound(bind))


def test_kernels_that_raise():
    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        def run() -> None:
            raise IndexError("no such row")

        return run

    assert str(run_bound(bind)) == "main[2] invoke_packed demo: IndexError: no such row"


def test_operands_of_kernels_overlap_as_in_the_program():
    """The output is the input: a kernel that reads what it has written computes with that."""
    overlaps: list[bool] = []

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        overlaps.append(np.shares_memory(ins[0], outs[0]))
        return partial(np.copyto, outs[0], ins[0])

    step = Step("demo.op", {}, (0,), (1,))
    demo = Kernel("demo", (f32(4),), (), (f32(4),), (step,), (1,))
    code = [
        *call(0, [0], 1, 4),
        vm.AllocTensor(3, 2, 0, (4,), "float32"),
        vm.InvokePacked(0, (1,), (3,)),
        vm.Ret(3),
    ]
    planned = program(function([f32(4)], *code), kernels=[demo])
    op = CheckedKernel("demo.op", lambda call: call.tensors(), bind, Reuse.ELEMENTWISE)
    machine = Machine(planned, kernels={**KERNELS, "demo.op": op}, sanitize=True)
    assert machine.run("main", np.ones(4, np.float32))[0].tolist() == [1, 1, 1, 1]
    assert overlaps == [False, True]


def test_a_kernel_may_call_its_own_machine():
    """The contents of memory are those of each call."""
    code = [*call(0, [0, 0], 1, 2), *call(1, [1], 4, 2), *call(0, [1, 4], 7, 2), vm.Ret(7)]
    nested: list[Machine] = []

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        def again() -> None:
            if ins[0][0] < 100:
                outs[0][...] = nested[0].run("main", 10 * ins[0])[0]
            else:
                outs[0][...] = ins[0]

        return again

    again = Kernel("again", (f32(2),), (), (f32(2),), (Step("demo.again", {}, (0,), (1,)),), (1,))
    planned = program(function([f32(2)], *code), kernels=[ADD, again])
    nested.append(Machine(planned, kernels={**KERNELS, "demo.again": bind}, sanitize=True))
    x = np.array([3, 4], np.float32)  # 2x = 6; main(60) = 120 + 120
    assert nested[0].run("main", x)[0].tolist() == [6 + 240, 8 + 320]
