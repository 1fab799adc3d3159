"""Malformed programs: errors that name the place, never a crash."""

from typing import Any

import numpy as np
import pytest
from helpers.machine.both_machines import Machine
from helpers.operators.inferring import attributes
from helpers.programs.machine_programs import call, f32, function, kernel, program, tensor
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

from xrelay.operators.sizes import Check
from xrelay.runtime.errors import MachineError
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Function, Kernel, Late, Param, Program, Step, TensorSpec

ADD = kernel("add", [f32(2), f32(2)], f32(2))
X = np.zeros(2, np.float32)
HUGE = 1 << 42


def fault(*code: vm.Instruction, **parts: Any) -> str:
    """The error of building or running `main(x0: float32[2])`."""
    parts.setdefault("kernels", [ADD])
    made = program(function([f32(2)], *code), **parts)
    with pytest.raises(MachineError) as caught:
        Machine(made, memory=Memory(1 << 20)).run("main", X)
    return str(caught.value)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (vm.Move(1, 64), "main[0] move: register r64 is out of range [0, 64)"),
        (vm.Move(-1, 0), "main[0] move: register r-1 is out of range [0, 64)"),
        (
            vm.InvokePacked(0, (0, 99), (0,)),
            "main[0] invoke_packed: register r99 is out of range [0, 64)",
        ),
        (vm.InvokePacked(3, (), ()), "main[0] invoke_packed: kernel 3 is out of range [0, 1)"),
        (vm.Invoke(1, 5, (0,)), "main[0] invoke: function 5 is out of range [0, 1)"),
        (vm.Invoke(1, 0, (70,)), "main[0] invoke: register r70 is out of range [0, 64)"),
        (vm.AllocClosure(1, -1, ()), "main[0] alloc_closure: function -1 is out of range [0, 1)"),
        (
            vm.AllocClosure(1, 0, (64,)),
            "main[0] alloc_closure: register r64 is out of range [0, 64)",
        ),
        (
            vm.InvokeClosure(1, 64, ()),
            "main[0] invoke_closure: register r64 is out of range [0, 64)",
        ),
        (vm.ReadRef(1, 64), "main[0] read_ref: register r64 is out of range [0, 64)"),
        (vm.WriteRef(64, 1), "main[0] write_ref: register r64 is out of range [0, 64)"),
        (vm.LoadConst(1, 0), "main[0] load_const: constant 0 is out of range [0, 0)"),
        (vm.AllocStorage(1, 8, 64, 2), "main[0] alloc_storage: device 2 is out of range [0, 1)"),
        (
            vm.AllocStorage(1, vm.Reg(64), 64),
            "main[0] alloc_storage: register r64 is out of range [0, 64)",
        ),
        (
            vm.AllocStorage(1, 8, 48),
            "main[0] alloc_storage: alignment must be a power of two up to 1048576, but is 48",
        ),
        (
            vm.AllocStorage(1, 8, 0),
            "main[0] alloc_storage: alignment must be a power of two up to 1048576, but is 0",
        ),
        (
            vm.AllocStorage(1, 8, HUGE),
            f"main[0] alloc_storage: alignment must be a power of two up to 1048576, but is {HUGE}",
        ),
        (
            vm.AllocStorage(1, -8, 64),
            "main[0] alloc_storage: a storage must have at least 0 bytes, but has -8",
        ),
        (
            vm.AllocStorage(1, HUGE << 20, 64),
            f"main[0] alloc_storage: a storage of {HUGE << 20} bytes on cpu:0 needs "
            f"{(HUGE << 20) + 64} bytes, but 8 are in use and the memory limit is 1048576 "
            "(--memory-limit)",
        ),
        (
            vm.AllocTensor(1, 2, vm.Reg(64), (1,), "int8"),
            "main[0] alloc_tensor: register r64 is out of range [0, 64)",
        ),
        (
            vm.AllocTensorReg(1, 2, 0, 64, "int8"),
            "main[0] alloc_tensor_reg: register r64 is out of range [0, 64)",
        ),
        (vm.DeviceCopy(0, 64, 0, 0), "main[0] device_copy: register r64 is out of range [0, 64)"),
        (vm.DeviceCopy(0, 0, 0, 1), "main[0] device_copy: device 1 is out of range [0, 1)"),
        (
            vm.InvokePacked(0, (), (), 64, (1, 2)),
            "main[0] invoke_packed: register r64 is out of range [0, 64)",
        ),
        *(
            (
                vm.InvokePacked(0, (), (), turn, turns),
                "main[0] invoke_packed: turns must be [first, stop], 0 <= first < stop, of a turn, "
                f"but are {turns}",
            )
            for turn, turns in ((0, ()), (None, (1, 2)), (0, (2, 2)), (0, (-1, 2)), (0, (1, 2, 3)))
        ),
        (vm.Goto(7), "main[0] goto: jump target 7 is out of range [0, 2)"),
        (vm.Goto(-1), "main[0] goto: jump target -1 is out of range [0, 2)"),
        (vm.If(0, None, 1, 2), "main[0] if: jump target 2 is out of range [0, 2)"),
        (vm.If(0, 64, 1, 1), "main[0] if: register r64 is out of range [0, 64)"),
        (vm.GetField(1, 0, -1), "main[0] get_field: field must be at least 0, but is -1"),
        (
            vm.LoadConsti(1, 1 << 63),
            f"main[0] load_consti: value must be a 64-bit integer, but is {1 << 63}",
        ),
        (
            vm.ReshapeTensor(1, 0, vm.Reg(64)),
            "main[0] reshape_tensor: register r64 is out of range [0, 64)",
        ),
        (vm.Ret(5), "main[0] ret: register r5 is read before it is written"),
        (vm.GetField(1, 0, 0), "main[0] get_field: register r0 must hold data, but holds a tensor"),
        (vm.GetTag(1, 0), "main[0] get_tag: register r0 must hold data, but holds a tensor"),
        (
            vm.InvokeClosure(1, 0, ()),
            "main[0] invoke_closure: register r0 must hold a closure, but holds a tensor",
        ),
        (
            vm.AllocTensor(1, 0, 0, (1,), "float32"),
            "main[0] alloc_tensor: register r0 must hold a storage, but holds a tensor",
        ),
        (
            vm.AllocStorage(1, vm.Reg(0), 64),
            "main[0] alloc_storage: expected an integer or bool scalar, but got float32[2]",
        ),
        (
            vm.SliceTensor(1, 0, 1, (2,)),
            "main[0] slice_tensor: float32[2] has no rows of shape [2] from 1 on",
        ),
        (
            vm.SliceTensor(1, 0, -1, (1,)),
            "main[0] slice_tensor: float32[2] has no rows of shape [1] from -1 on",
        ),
        (
            vm.SliceTensor(1, 0, 0, (-1,)),
            "main[0] slice_tensor: float32[2] has no rows of shape [-1] from 0 on",
        ),
        (
            vm.SliceTensor(1, 0, 0, ()),
            "main[0] slice_tensor: float32[2] has no rows of shape [] from 0 on",
        ),
        (
            vm.SliceTensor(1, 0, 0, (1, 2)),
            "main[0] slice_tensor: float32[2] has no rows of shape [1, 2] from 0 on",
        ),
        (
            vm.SliceTensor(1, 0, 1 << 62, (1 << 62,)),
            f"main[0] slice_tensor: float32[2] has no rows of shape [{1 << 62}] from {1 << 62} on",
        ),
        *(
            (
                vm.SliceTensor(1, 0, 0, (1,), axis),
                "main[0] slice_tensor: float32[2] has no rows of shape [1] from 0 on",
            )
            for axis in (-1, 1, 1 << 62)
        ),
        (
            vm.TakeRows(1, 0, 0, 0, 0, 0, (1,), "float32"),
            "main[0] take_rows: register r0 must hold a storage, but holds a tensor",
        ),
        (
            vm.KillStorage(0),
            "main[0] kill_storage: register r0 must hold a storage, but holds a tensor",
        ),
        (
            vm.SliceTensor(1, 0, vm.Reg(0), (1,)),
            "main[0] slice_tensor: expected an integer or bool scalar, but got float32[2]",
        ),
        (
            vm.JoinTensors(1, (0, 0), (4,)),
            "main[0] join_tensors: the parts are not side by side in one storage: float32[2], "
            "float32[2]",
        ),
        (
            vm.JoinTensors(1, (0,), (3,)),
            "main[0] join_tensors: parts of 2 elements cannot be joined to [3]",
        ),
        (
            vm.JoinTensors(1, (), ()),
            "main[0] join_tensors: parts of 0 elements cannot be joined to []",
        ),
        (
            vm.ReshapeTensor(1, 0, (3,)),
            "main[0] reshape_tensor: cannot reshape float32[2] to [3]",
        ),
        (
            vm.ReshapeTensor(1, 0, (-1, -2)),
            "main[0] reshape_tensor: cannot reshape float32[2] to [-1, -2]",
        ),
        (
            vm.ReshapeTensor(1, 0, vm.Reg(0)),
            "main[0] reshape_tensor: a shape must be a vector of integers, but is float32[2]",
        ),
        (
            vm.InvokePacked(0, (0,), (0,)),
            "main[0] invoke_packed: kernel add expects 2 inputs, but got 1",
        ),
        (
            vm.InvokePacked(0, (0, 0), ()),
            "main[0] invoke_packed: kernel add expects 1 outputs, but got 0",
        ),
        (vm.Fatal(), "main[0] fatal: no clause of a match applies"),
    ],
)
def test_an_instruction_that_cannot_be(instruction: vm.Instruction, message: str):
    assert fault(instruction, vm.Ret(0)) == message


@pytest.mark.parametrize(
    ("shape", "offset", "dtype", "message"),
    [
        (
            (35,),
            0,
            "float32",
            "a tensor of 140 bytes at offset 0 does not fit in a storage of 64 bytes",
        ),
        (
            (1,),
            61,
            "float32",
            "a tensor of 4 bytes at offset 61 does not fit in a storage of 64 bytes",
        ),
        (
            (1,),
            -4,
            "float32",
            "a tensor of 4 bytes at offset -4 does not fit in a storage of 64 bytes",
        ),
        ((1 << 40, 1 << 40), 0, "int8", "does not fit in a storage of 64 bytes"),
        ((-2,), 0, "int8", "dimensions must be at least 0, but the shape is [-2]"),
        ((1,), 0, "object", "unsupported element type object"),
        ((1,), 0, "float8_e4m3", "unsupported element type float8_e4m3"),
        ((1,) * 70, 0, "int8", "maximum supported dimension"),
    ],
)
def test_a_tensor_that_cannot_be(shape: Any, offset: int, dtype: str, message: str):
    found = fault(vm.AllocStorage(1, 64, 64), vm.AllocTensor(2, 1, offset, shape, dtype), vm.Ret(0))
    assert found.startswith("main[1] alloc_tensor: ")
    assert message in found


@pytest.mark.parametrize(
    ("offset", "size", "alignment", "message"),
    [
        (0, 65, 64, "a slice of 65 bytes at offset 0 does not fit in a storage of 64 bytes"),
        (64, 1, 64, "a slice of 1 bytes at offset 64 does not fit in a storage of 64 bytes"),
        (-64, 8, 64, "a slice of 8 bytes at offset -64 does not fit in a storage of 64 bytes"),
        (0, -8, 64, "a storage must have at least 0 bytes, but has -8"),
        (1 << 70, 8, 64, "does not fit in a storage of 64 bytes"),
        (32, 8, 64, "offset 32 of a storage aligned to 64 bytes is not aligned to 64"),
        (0, 8, 128, "offset 0 of a storage aligned to 64 bytes is not aligned to 128"),
        (0, 8, 48, "alignment must be a power of two up to 1048576, but is 48"),
    ],
)
def test_a_slice_that_cannot_be(offset: int, size: int, alignment: int, message: str):
    code = [vm.AllocStorage(1, 64, 64), vm.SliceStorage(2, 1, offset, size, alignment), vm.Ret(0)]
    found = fault(*code)
    assert found.startswith("main[1] slice_storage: ")
    assert message in found
    dynamic: list[vm.Instruction] = [
        vm.AllocStorage(1, 64, 64),
        vm.LoadConsti(3, offset),
        vm.LoadConsti(4, size),
        vm.SliceStorage(2, 1, vm.Reg(3), vm.Reg(4), alignment),
        vm.Ret(0),
    ]
    if -(1 << 63) <= offset < 1 << 63:
        assert message in fault(*dynamic)


def test_a_slice_ends_within_its_slice():
    """Tensors and slices in a slice are checked against the slice, not against its storage."""
    code = [vm.AllocStorage(1, 256, 64), vm.SliceStorage(2, 1, 64, 64, 64)]
    tensor_of = vm.AllocTensor(3, 2, 64, (1,), "float32")
    assert "a tensor of 4 bytes at offset 64 does not fit in a storage of 64 bytes" in fault(
        *code, tensor_of, vm.Ret(0)
    )
    inner = vm.SliceStorage(3, 2, 64, 64, 64)
    assert "a slice of 64 bytes at offset 64 does not fit in a storage of 64 bytes" in fault(
        *code, inner, vm.Ret(0)
    )
    assert "register r0 must hold a storage, but holds a tensor" in fault(
        vm.SliceStorage(2, 0, 0, 8, 64), vm.Ret(0)
    )


def test_storages_and_closures_are_no_operands_of_kernels():
    code = [vm.AllocStorage(1, 64, 64), vm.AllocADT(2, 0, (0, 1)), *call(0, [2], 3, 2), vm.Ret(0)]
    assert fault(*code) == (
        "main[4] invoke_packed: operands of a kernel must be tensors or data of tensors"
    )


def test_a_storage_cannot_be_returned():
    assert fault(vm.AllocStorage(1, 64, 64), vm.Ret(1)) == (
        "the result contains a storage, which cannot leave the machine"
    )


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (Function("main", (), 0, ()), "main: the last instruction must return or jump"),
        (
            Function("main", (), 1, (vm.LoadConsti(0, 1),)),
            "main: the last instruction must return or jump",
        ),
        (
            Function("main", (Param("x", f32(1)),), 0, (vm.Ret(0),)),
            "main: needs at least 1 registers for its parameters, but has 0",
        ),
        (
            Function("main", (Param("x", f32(1), 3),), 1, (vm.Ret(0),)),
            "parameter 'x' of main: device 3 is out of range [0, 1)",
        ),
        (
            Function("main", (Param("x", f32(-1)),), 1, (vm.Ret(0),)),
            "parameter 'x' of main: negative dimension in float32[-1]",
        ),
    ],
)
def test_a_function_that_cannot_be(parts: Function, message: str):
    with pytest.raises(MachineError) as caught:
        Machine(Program((parts,)))
    assert str(caught.value) == message


def test_many_registers_cost_nothing():
    main = Function("main", (Param("x0", f32(2)),), 1 << 60, (vm.Move(1 << 59, 0), vm.Ret(1 << 59)))
    assert Machine(Program((main,))).run("main", X)[0].tolist() == [0, 0]


def test_names_and_devices():
    twice = [function([], vm.Goto(0)), function([], vm.Goto(0))]
    with pytest.raises(MachineError, match="duplicate function name main"):
        Machine(program(*twice))
    with pytest.raises(MachineError, match="a program must have at least one device, the host"):
        Machine(program(twice[0], devices=()))


STEP = Step("relay.abs", {}, (0,), (1,))
BIG = f32(2)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (
            Kernel("k", (BIG,), (), (BIG,), (Step("relay.abs", {}, (1,), (1,)),), (1,)),
            "kernel k: step 0 (relay.abs) reads value 1 before it is computed",
        ),
        (
            Kernel("k", (BIG,), (), (BIG,), (Step("relay.abs", {}, (7,), (1,)),), (1,)),
            "kernel k: step 0 (relay.abs) reads value 7 before it is computed",
        ),
        (
            Kernel("k", (BIG,), (), (BIG,), (STEP, STEP), (1,)),
            "kernel k: step 1 (relay.abs) must write a new local, but writes value 1",
        ),
        (
            Kernel("k", (BIG,), (), (BIG,), (Step("relay.abs", {}, (0,), (0,)),), (1,)),
            "kernel k: step 0 (relay.abs) must write a new local, but writes value 0",
        ),
        (
            Kernel("k", (BIG,), (), (BIG,), (Step("relay.abs", {}, (0,), (5,)),), (5,)),
            "kernel k: step 0 (relay.abs) must write a new local, but writes value 5",
        ),
        (
            Kernel("k", (BIG,), (), (BIG,), (), (1,)),
            "kernel k: result value 1 is never computed",
        ),
        (
            Kernel("k", (BIG,), (np.array([None]),), (), (), (0,)),
            "kernel k: a constant has unsupported element type object",
        ),
        (
            Kernel("k", (TensorSpec("float8", ()),), (), (), (), (0,)),
            "kernel k: unsupported element type float8",
        ),
    ],
)
def test_a_kernel_that_cannot_be(broken: Kernel, message: str):
    with pytest.raises(MachineError) as caught:
        Machine(program(function([BIG], vm.Ret(0)), kernels=[broken]))
    assert str(caught.value).startswith(message)


def test_an_operator_without_a_kernel():
    strange = Kernel("k", (BIG,), (), (BIG,), (Step("my.op", {}, (0,), (1,)),), (1,))
    found = fault(*tensor(1, 2), vm.InvokePacked(0, (0,), (1,)), vm.Ret(1), kernels=[strange])
    assert found == (
        "main[2] invoke_packed: kernel k: my.op has no kernel; install a package that provides "
        "one through the entry-point group 'xrelay.kernels'"
    )


@pytest.mark.parametrize(
    ("op", "attrs", "message"),
    [
        ("transpose", {"axes": (0, 1, 2)}, "axes must have 1 entries, but has 3"),
        (
            "transpose",
            {"axes": "no"},
            'axes of relay.transpose must be an array of integers, but is "no"',
        ),
        ("sum", {"axis": (5,)}, "axis must be in [-1, 1), but is 5"),
        ("clip", {}, "relay.clip needs a_min, a float"),
        ("nn.softmax", {"axis": 9}, "axis must be in [-1, 1), but is 9"),
        (
            "strided_slice",
            {"begin": (0,), "end": (1,), "axes": (4,)},
            "axes entry must be in [-1, 1), but is 4",
        ),
    ],
)
def test_attributes_that_do_not_fit(op: str, attrs: Any, message: str):
    k = kernel(op, [BIG], BIG, **attrs)
    code = [*tensor(1, 2), vm.InvokePacked(0, (0,), (1,)), vm.Ret(1)]
    with pytest.raises(MachineError) as caught:
        Machine(program(function([BIG], *code), kernels=[k]))
    assert str(caught.value) == f"kernel {k.name}: step 0 (relay.{op}): {message}"


def result_of(found: str, declared: str) -> str:
    """The error message for a convolution whose result differs from the declared one."""
    return (
        f"the result of relay.nn.conv2d is tensor<{found}>, but is declared as tensor<{declared}>"
    )


@pytest.mark.parametrize(
    ("attrs", "weight", "out", "message"),
    [
        ({"strides": (-20, 1)}, (1, 1, 1, 1), (1, 1, 3, 4), "strides must be at least 1"),
        ({"dilation": (-1, -1)}, (1, 1, 3, 3), (1, 1, 8, 8), "dilation must be at least 1"),
        ({"padding": (0, 0, -9, 0)}, (1, 1, 3, 3), (1, 1, 8, 8), "padding must be at least 0"),
        ({}, (1, 1, 3, 3), (1, 1, 500, 500), result_of("1x1x2x2xf32", "1x1x500x500xf32")),
        ({}, (1, 1, 3, 3), (1000, 1, 2, 2), result_of("1x1x2x2xf32", "1000x1x2x2xf32")),
    ],
)
def test_windows_never_leave_the_image(
    attrs: Any, weight: tuple[int, ...], out: tuple[int, ...], message: str
):
    k = kernel("nn.conv2d", [f32(1, 1, 4, 4), f32(*weight)], f32(*out), **attrs)
    with pytest.raises(MachineError) as caught:
        Machine(program(function([], vm.Fatal()), kernels=[k]))
    assert message in str(caught.value)


def test_what_only_run_time_tells_is_checked_before_a_kernel_is_bound():
    k = kernel("nn.conv2d", [f32(1, 1, None, 4), f32(1, 1, 3, 3)], f32(1, 1, None, 2))
    code = [*tensor(2, 1, 1, 500, 2), vm.InvokePacked(0, (0, 1), (2,)), vm.Ret(2)]
    machine = Machine(program(function([f32(1, 1, 4, 4), f32(1, 1, 3, 3)], *code), kernels=[k]))
    with pytest.raises(MachineError) as caught:
        machine.prepare()
    assert result_of("1x1x2x2xf32", "1x1x500x2xf32") in str(caught.value)


def test_values_computed_on_the_way_need_a_shape():
    sum = Step("relay.sum", attributes("sum"), (1,), (2,))
    steps = (Step("demo.unchecked", {}, (0,), (1,)), sum)
    k = Kernel("k", (f32(None),), (), (f32(None), f32()), steps, (2,))
    found = fault(*tensor(1), vm.InvokePacked(0, (0,), (1,)), vm.Ret(1), kernels=[k])
    assert "intermediate value 1 must have a static shape, but is float32[?]" in found


REGISTERS = st.integers(0, 5)
LISTS = st.lists(REGISTERS, max_size=3).map(tuple)
PAIRS = st.tuples(REGISTERS, REGISTERS)
CHECKS = st.sampled_from(list(Check)).map(str)
SMALL = st.integers(-1, 9)
SHAPES = st.lists(st.integers(0, 3), max_size=2).map(tuple)
SIZES, AXES = st.integers(-3, 4), st.integers(-1, 2)
INSTRUCTIONS = st.one_of(
    st.builds(vm.Move, REGISTERS, REGISTERS),
    st.builds(vm.Ret, REGISTERS),
    st.builds(vm.InvokePacked, st.integers(0, 1), LISTS, LISTS),
    st.builds(vm.InvokePacked, st.integers(0, 1), LISTS, LISTS, REGISTERS, st.just((0, 1))),
    st.builds(vm.ReadRows, REGISTERS, SIZES, REGISTERS, AXES, REGISTERS),
    st.builds(vm.WriteRows, REGISTERS, st.integers(0, 2), REGISTERS, SIZES, AXES, SIZES),
    st.builds(vm.FillRows, REGISTERS, REGISTERS, SIZES, AXES, SIZES),
    st.builds(vm.AllocStorage, REGISTERS, st.integers(0, 64), st.just(64), st.integers(0, 1)),
    st.builds(vm.AllocStorage, REGISTERS, REGISTERS.map(vm.Reg), st.just(64)),
    st.builds(vm.AllocTensor, REGISTERS, REGISTERS, st.integers(0, 8), SHAPES, st.just("float32")),
    st.builds(vm.AllocTensorReg, REGISTERS, REGISTERS, st.just(0), REGISTERS, st.just("int64")),
    st.builds(vm.AllocADT, REGISTERS, st.integers(0, 2), LISTS),
    st.builds(vm.GetField, REGISTERS, REGISTERS, st.integers(0, 2)),
    st.builds(vm.GetTag, REGISTERS, REGISTERS),
    st.builds(vm.If, REGISTERS, st.none() | REGISTERS, st.integers(1, 3), st.integers(1, 3)),
    st.builds(vm.Goto, st.integers(1, 3)),
    st.builds(vm.LoadConst, REGISTERS, st.integers(0, 1), st.integers(0, 1)),
    st.builds(vm.LoadConsti, REGISTERS, SMALL),
    st.builds(vm.ShapeOf, REGISTERS, REGISTERS),
    st.builds(vm.ReshapeTensor, REGISTERS, REGISTERS, SHAPES | REGISTERS.map(vm.Reg)),
    st.builds(
        vm.SliceTensor,
        REGISTERS,
        REGISTERS,
        SMALL | REGISTERS.map(vm.Reg),
        SHAPES | REGISTERS.map(vm.Reg),
        AXES,
    ),
    st.builds(
        vm.TakeRows,
        *(REGISTERS, REGISTERS, SMALL, REGISTERS, SIZES, AXES, SHAPES, st.just("float32")),
    ),
    st.builds(
        vm.JoinTensors,
        REGISTERS,
        st.lists(REGISTERS, max_size=3).map(tuple),
        SHAPES | REGISTERS.map(vm.Reg),
    ),
    st.builds(vm.DeviceCopy, REGISTERS, REGISTERS, st.integers(0, 1), st.integers(0, 1)),
    st.builds(vm.KillRegister, REGISTERS),
    st.builds(vm.KillStorage, REGISTERS),
    st.builds(vm.Compute, REGISTERS, st.sampled_from(["addi", "divsi", "cmpi_slt"]), PAIRS),
    st.builds(vm.Compute, REGISTERS, st.sampled_from(["extract", "from_elements"]), LISTS),
    st.builds(vm.Compute, REGISTERS, st.just("count_nonzero"), st.tuples(REGISTERS)),
    st.builds(vm.Require, CHECKS, REGISTERS, REGISTERS, st.just("{0} {1}"), LISTS),
    st.builds(
        vm.Pack,
        REGISTERS,
        PAIRS,
        st.sampled_from([1, 64]),
        st.just((0, 2, 1, 3)),
        st.tuples(SMALL | REGISTERS.map(vm.Reg), REGISTERS.map(vm.Reg)),
        st.sampled_from([(), (0, 0, 0, 1, 0, 1)]),
    ),
    st.builds(vm.AllocRef, REGISTERS, REGISTERS),
    st.builds(vm.ReadRef, REGISTERS, REGISTERS),
    st.builds(vm.WriteRef, REGISTERS, REGISTERS),
    st.builds(vm.AllocClosure, REGISTERS, st.just(1), LISTS),
    st.builds(vm.InvokeClosure, REGISTERS, REGISTERS, LISTS),
    st.builds(vm.Invoke, REGISTERS, st.just(1), LISTS),
)


@exactly(100)
@given(st.lists(INSTRUCTIONS, min_size=1, max_size=14))
def test_random_instructions_run_or_give_a_machine_error(code: list[vm.Instruction]):
    code = [*code, vm.Ret(0), vm.Ret(0), vm.Ret(0)]  # jumps lead to an instruction
    main = function([f32(2), TensorSpec("int64", ())], *code)
    callee = function([None], vm.Ret(0), name="callee")
    constants = [np.array([2, 1], np.int64), np.ones(2, np.float32)]
    any_add = kernel("add", [f32(None), f32(None)], f32(None))
    try:
        machine = Machine(
            program(
                main,
                callee,
                kernels=[ADD, any_add],
                constants=constants,
                devices=("cpu:0", "cuda:0"),
            )
        )
        machine.same_messages = False
        for number in (0, 1):
            machine.run("main", X, number)
    except MachineError:
        pass


def test_a_late_constant_of_another_byte_order():
    late = program(function([], vm.LoadConst(0, 0), vm.Ret(0)), constants=[Late("w", f32(2))])
    with pytest.raises(MachineError, match="constant 'w' has unsupported element type >f4"):
        Machine(late, {"w": np.zeros(2, ">f4")})


# ------------------------------------------------------------------------------ shared data


def doubled(times: int, *, first: int = 0) -> list[vm.Instruction]:
    """Data in register 1 that unfolds to 2 ** times references to register `first`."""
    return [vm.AllocADT(1, 0, (r, r)) for r in [first, *[1] * (times - 1)]]


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("spec", [f32(0), f32(2)])
def test_a_result_is_counted_before_it_is_unfolded(spec: TensorSpec, sanitize: bool):
    made = program(function([spec], *doubled(16), vm.Ret(1)))
    machine = Machine(made, max_instructions=50, memory_limit=1 << 20, sanitize=sanitize)
    with pytest.raises(MachineError, match=r"result of main: data of 131071 items needs"):
        machine.run("main", np.zeros(spec.dims, np.float32))


@pytest.mark.ci
def test_a_result_that_is_deep_and_shared_is_counted_in_linear_time():
    made = program(function([f32(2)], *doubled(20_000), vm.Ret(1)))
    with pytest.raises(MachineError, match=r"result of main: data of over 4611686018427387904"):
        Machine(made).run("main", X)


def test_a_shared_result_within_the_limit_is_unfolded():
    made = program(function([f32(2)], *doubled(12), vm.Ret(1)))
    results = Machine(made).run("main", X + 1)
    assert len(results) == 1 << 12
    assert not any(np.may_share_memory(results[0], other) for other in results[1:])
    assert all((array == 1).all() for array in results)


def test_an_argument_is_counted_before_it_is_unfolded():
    made = program(function([None], vm.Ret(0)))
    shared: object = X
    for _ in range(41):
        shared = (shared, shared)
    with pytest.raises(MachineError, match=r"x0' of main: its 4398046511103 items need"):
        Machine(made).run("main", shared)


def test_an_argument_that_contains_itself():
    made = program(function([None], vm.Ret(0)))
    cyclic: list[object] = [X]
    cyclic.append(cyclic)
    with pytest.raises(MachineError, match=r"x0' of main: data that contains itself"):
        Machine(made).run("main", cyclic)


def test_operands_of_a_kernel_are_counted():
    assert (
        fault(*doubled(41), *tensor(2, 2), vm.InvokePacked(0, (1,), (2,)), vm.Ret(2))
        == "main[43] invoke_packed: operands have more than 1048576 items"
    )
