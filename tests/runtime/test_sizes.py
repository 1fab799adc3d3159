"""Size arithmetic in the machine: computed while recording or when it runs, checked, exact."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.machine.both_machines import Machine
from helpers.machine.recorded import without_templates
from helpers.programs.machine_programs import f32, function, kernel, program
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Function, Kernel, Param, Program, Step, TensorSpec

I64 = TensorSpec("int64", ())
BITS = 1 << 64


def scalars(operation: str, count: int, constant: bool) -> Machine:
    """Return `main(x0, …)`: `operation` of its arguments, or of their lengths if `constant`."""
    params = [TensorSpec("bool", (None,)) if constant else I64] * count
    code: list[vm.Instruction] = []
    args: list[int] = []
    for i in range(count):
        if constant:  # the length of an argument, which is known while recording
            code += [
                vm.ShapeOf(20, i),
                vm.LoadConsti(21, 0),
                vm.Compute(30 + i, "extract", (20, 21)),
            ]
        args.append(30 + i if constant else i)
    code += [vm.Compute(40, operation, tuple(args)), vm.Ret(40)]
    return Machine(program(function(params, *code)))


def apply(operation: str, *values: int) -> int:
    (result,) = scalars(operation, len(values), False).run("main", *map(np.int64, values))
    assert result.dtype == np.int64
    assert result.shape == ()
    return int(result)


def wrapped(value: int) -> int:
    """The value as 64 bits of two's complement."""
    return (value + BITS // 2) % BITS - BITS // 2


SIZES = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-40, 40)


@exactly(15)
@given(SIZES, SIZES)
def test_arithmetic_is_numpys_or_an_error(a: int, b: int):
    x, y = np.int64(a), np.int64(b)
    with np.errstate(all="ignore"):
        expected: dict[str, Any] = {
            "addi": (a + b, x + y),
            "subi": (a - b, x - y),
            "muli": (a * b, x * y),
            "maxsi": (max(a, b), np.maximum(x, y)),
            "minsi": (min(a, b), np.minimum(x, y)),
            "andi": (a & b, x & y),
            "ori": (a | b, x | y),
            "xori": (a ^ b, x ^ y),
            "cmpi_slt": (a < b, x < y),
            "cmpi_sge": (a >= b, x >= y),
            "cmpi_eq": (a == b, x == y),
            "cmpi_ult": (a % BITS < b % BITS, x.view(np.uint64) < y.view(np.uint64)),
        }
        if b not in (0, -1):
            expected["floordivsi"] = (a // b, np.floor_divide(x, y))
            expected["remsi"] = (int(np.fmod(x, y)), np.fmod(x, y))
    for operation, (exact, of_numpy) in expected.items():
        if exact != wrapped(exact):
            with pytest.raises(MachineError, match="does not fit in 64 bits"):
                apply(operation, a, b)
        else:
            assert apply(operation, a, b) == int(of_numpy), operation


@pytest.mark.parametrize(
    ("operation", "operands", "result"),
    [
        ("floordivsi", (-7, 2), -4),
        ("ceildivsi", (7, 2), 4),
        ("ceildivsi", (-7, 2), -3),
        ("divsi", (-7, 2), -3),
        ("divsi", (7, -2), -3),
        ("remsi", (-7, 2), -1),
        ("remsi", (7, -2), 1),
        ("select", (1, 5, 6), 5),
        ("select", (0, 5, 6), 6),
        ("trunci_8", (-128,), -128),
        ("trunci_1", (3,), 1),
        ("slice_length", (10, 2, 9, 3), 3),
    ],
)
def test_operation(operation: str, operands: tuple[int, ...], result: int):
    assert apply(operation, *operands) == result
    if min(operands) >= 0:
        machine = scalars(operation, len(operands), True)
        assert int(machine.run("main", *(np.zeros(n, bool) for n in operands))[0]) == result


@pytest.mark.parametrize(
    ("operation", "operands", "message"),
    [
        ("divsi", (5, 0), "division by 0"),
        ("remsi", (5, 0), "division by 0"),
        ("floordivsi", (5, 0), "division by 0"),
        ("ceildivsi", (5, 0), "division by 0"),
        ("trunci_8", (128,), "128 does not fit in 8 bits"),
        ("slice_length", (10, 0, 5, 0), "strides must not be 0"),
    ],
)
@pytest.mark.parametrize("constant", [False, True])
def test_operation_without_a_result(
    operation: str, operands: tuple[int, ...], message: str, constant: bool
):
    machine = scalars(operation, len(operands), constant)
    args = [np.zeros(n, bool) if constant else np.int64(n) for n in operands]
    for _ in range(2):
        with pytest.raises(MachineError, match=f"compute: {message}"):
            machine.run("main", *args)


def test_elements_and_vectors():
    code = [
        vm.LoadConsti(3, 1),
        vm.Compute(4, "extract", (0, 3, 1)),
        vm.Compute(5, "from_elements", (4, 1, 4)),
        vm.Compute(6, "from_elements", ()),
        vm.AllocADT(7, 0, (4, 5, 6)),
        vm.Ret(7),
    ]
    matrix = TensorSpec("float32", (None, 2))
    machine = Machine(program(function([TensorSpec("int32", (2, 3)), I64], *code)))
    data = np.arange(6, dtype=np.int32).reshape(2, 3)
    scalar, vector, empty = machine.run("main", data, np.int64(2))
    assert (scalar, vector.tolist(), empty.tolist()) == (5, [5, 2, 5], [])
    with pytest.raises(MachineError, match=r"index 1 of extract must be in \[0, 3\), but is 3"):
        machine.run("main", data, np.int64(3))
    with pytest.raises(MachineError, match=r"index 1 of extract must be in \[0, 3\), but is -1"):
        machine.run("main", data, np.int64(-1))
    floats = function([matrix, I64], vm.Compute(4, "extract", (0, 1, 1)), vm.Ret(4))
    (element,) = Machine(program(floats)).run("main", np.full((2, 2), 0.5, "f"), np.int64(0))
    assert (element, element.dtype) == (0.5, np.float64)


# ------------------------------------------------------------------- data-dependent sizes


def by_data() -> Program:
    """Return `main(n, x)`: zeros of shape (n,) added to the scalar x, and n * 4 bytes allocated."""
    add = kernel("add", [f32(None), f32()], f32(None))
    code: list[vm.Instruction] = [
        vm.LoadConsti(2, 4),
        vm.LoadConsti(3, 0),
        vm.Compute(4, "extract", (0, 3)),
        vm.LoadConsti(5, 10),
        vm.Require("at_most", 4, 5, "n is {0}, but at most {1} fit ({2})", (2,)),
        vm.Compute(6, "muli", (4, 2)),
        vm.Compute(7, "from_elements", (4,)),
        vm.AllocStorage(8, vm.Reg(6), 64),
        vm.AllocTensorReg(9, 8, 0, 7, "float32"),
        vm.InvokePacked(1, (1,), (9,)),
        vm.Compute(10, "muli", (6, 2)),
        vm.AllocStorage(11, vm.Reg(6), 64),
        vm.AllocTensorReg(12, 11, 0, 7, "float32"),
        vm.InvokePacked(0, (9, 1), (12,)),
        vm.Ret(12),
    ]
    fill = Kernel("fill", (f32(),), (), (f32(None),), (Step("demo.fill", {}, (0,), (1,)),), (1,))
    params = [TensorSpec("int64", (None,)), f32()]
    return program(function(params, *code), kernels=[add, fill])


def _fill(attrs: Any, ins: Any, outs: Any) -> Any:
    return lambda: outs[0].fill(ins[0].item())


def sized_machine(**options: Any) -> Machine:
    return Machine(by_data(), kernels={**KERNELS, "demo.fill": _fill}, **options)


def test_a_size_from_data_is_one_decision(monkeypatch: pytest.MonkeyPatch):
    without_templates(monkeypatch)
    machine = sized_machine()
    for n in (3, 0, 7, 3, 1):
        data = np.array([n, 99], np.int64)
        (result,) = machine.run("main", data, np.float32(1.5))
        np.testing.assert_array_equal(result, np.full(n, 3.0, np.float32))
    (arena,) = machine.idle
    assert arena.last is not None
    root = arena.last.frame.root
    assert root is not None
    assert len(root.successors) == 4  # by n, not by the other element
    assert all(not after.successors for after in root.successors.values())


def test_a_size_out_of_bounds_stops_the_program_with_its_value():
    machine = sized_machine()
    for _ in range(2):
        with pytest.raises(MachineError) as caught:
            machine.run("main", np.array([11], np.int64), np.float32(0))
        assert str(caught.value) == "main[4] require: n is 11, but at most 10 fit (4)"
    with pytest.raises(MachineError, match="a storage must have at least 0 bytes, but has -4"):
        machine.run("main", np.array([-1], np.int64), np.float32(0))


def test_a_size_cannot_be_written():
    ops = [
        vm.LoadConsti(2, 4),
        vm.Compute(3, "addi", (0, 2)),
        vm.ReshapeTensor(4, 3, (1,)),
    ]
    same = kernel("negative", [TensorSpec("int64", (1,))], TensorSpec("int64", (1,)))
    code = [*ops, vm.InvokePacked(0, (4,), (4,)), vm.Ret(3)]
    machine = Machine(program(function([I64], *code), kernels=[same]))
    with pytest.raises(MachineError, match="must not write to a constant"):
        machine.run("main", np.int64(1))


def test_sizes_through_calls():
    """A callee allocates by a size that its caller computed, and returns one."""
    callee = function(
        [I64, f32()],
        vm.Compute(2, "from_elements", (0,)),
        vm.LoadConsti(3, 4),
        vm.Compute(4, "muli", (0, 3)),
        vm.AllocStorage(5, vm.Reg(4), 64),
        vm.AllocTensorReg(6, 5, 0, 2, "float32"),
        vm.InvokePacked(1, (1,), (6,)),
        vm.AllocADT(7, 0, (6, 4)),
        vm.Ret(7),
        name="callee",
    )
    main = function(
        [I64, f32()],
        vm.LoadConsti(2, 2),
        vm.Compute(3, "muli", (0, 2)),
        vm.Invoke(4, 1, (3, 1)),
        vm.GetField(5, 4, 1),
        vm.Compute(6, "addi", (5, 2)),
        vm.Invoke(7, 1, (6, 1)),
        vm.AllocADT(8, 0, (4, 7)),
        vm.Ret(8),
    )
    made = program(main, callee, kernels=by_data().kernels)
    machine = Machine(made, kernels={**KERNELS, "demo.fill": _fill}, memory=Memory(poison=True))
    for n in (1, 3, 0, 3):
        shapes = [r.shape for r in machine.run("main", np.int64(n), np.float32(2))]
        assert shapes == [(2 * n,), (), (8 * n + 2,), ()]


def test_hundred_shapes_stay_within_memory():
    """Frames of old shapes are discarded, and a shape that returns is recorded again."""
    square = kernel("multiply", [f32(None), f32(None)], f32(None))
    code = [
        vm.ShapeOf(1, 0),
        vm.LoadConsti(2, 0),
        vm.Compute(3, "extract", (1, 2)),
        vm.LoadConsti(4, 4),
        vm.Compute(5, "muli", (3, 4)),
        vm.AllocStorage(6, vm.Reg(5), 64),
        vm.AllocTensorReg(7, 6, 0, 1, "float32"),
        vm.InvokePacked(0, (0, 0), (7,)),
        vm.Ret(7),
    ]
    memory = Memory(limit=4 << 20)
    machine = Machine(program(function([f32(None)], *code), kernels=[square]), memory=memory)
    for n in [*range(9000, 9100), 9000]:
        x = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(machine.run("main", x)[0], x * x)
    assert memory.used < 4 << 20


# ------------------------------------------------------------------- hostile programs


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (vm.Compute(1, "system", (0,)), "main[0] compute: unknown operation 'system' (known: addi"),
        (vm.Compute(1, "addi", (0,)), "main[0] compute: addi expects 2 operands, but got 1"),
        (vm.Compute(1, "trunci_8", ()), "main[0] compute: trunci_8 expects 1 operand, but got 0"),
        (vm.Compute(64, "addi", (0, 0)), "main[0] compute: register r64 is out of range [0, 64)"),
        (vm.Compute(1, "addi", (0, 99)), "main[0] compute: register r99 is out of range [0, 64)"),
        (
            vm.Compute(1, "addi", (0, 0)),
            "main[0] compute: operand 0 of addi must be an integer scalar, but is float32[2]",
        ),
        (vm.Compute(1, "extract", ()), "main[0] compute: extract expects a tensor"),
        (
            vm.Compute(1, "extract", (0,)),
            "main[0] compute: extract needs 1 indices into float32[2], but got 0",
        ),
        (
            vm.Compute(1, "from_elements", (0,)),
            "main[0] compute: operand 0 of from_elements must be an integer scalar",
        ),
        (vm.Compute(1, "slice_length", (0, 0, 0, 0)), "main[0] compute: slice_length has no value"),
        (vm.Require("like", 0, 0, ""), "main[0] require: check must be one of eq, at_least"),
        (vm.Require("eq", 0, 0, "{2}"), "main[0] require: the message has {2}, but there are 2"),
        (vm.Require("eq", 0, 70, ""), "main[0] require: register r70 is out of range [0, 64)"),
        (vm.Require("eq", 0, 0, "", (70,)), "main[0] require: register r70 is out of range"),
        (vm.Require("eq", 0, 0, ""), "main[0] require: expected an integer or bool scalar"),
    ],
)
def test_hostile_instruction(instruction: vm.Instruction, message: str):
    made = program(function([f32(2)], instruction, vm.Ret(0)))
    with pytest.raises(MachineError) as caught:
        Machine(made).run("main", np.zeros(2, np.float32))
    assert message in str(caught.value)


def test_braces_of_a_message_that_are_no_values_stay():
    check = vm.Require("eq", 0, 1, "{0} {} {x} {00} {12345} {-1} {0:>99999999999}")
    machine = Machine(program(function([I64, I64], check, vm.Ret(0))))
    with pytest.raises(MachineError) as caught:
        machine.run("main", np.int64(1), np.int64(2))
    text = "main[0] require: 1 {} {x} {00} {12345} {-1} {0:>99999999999}"
    assert str(caught.value) == text


def test_sizes_are_on_the_host():
    code = vm.Compute(1, "addi", (0, 0)), vm.Ret(1)
    made = program(function([I64], *code, devices=[1]), devices=["cpu:0", "cuda:0"])
    with pytest.raises(MachineError, match="operand 0 must be on cpu:0, but is on cuda:0"):
        Machine(made).run("main", np.int64(1))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (("n", ""), ("", "n"), "x has dim 0 (n) of 3, but y has dim 1 (n) of 4"),
        (("", "n"), ("n", "n"), "x has dim 1 (n) of 2, but y has dim 0 (n) of 3"),
        (("n",), (), "main: 1 dims are named, but there are 2"),
    ],
)
def test_named_dims(first: tuple[str, ...], second: tuple[str, ...], message: str):
    spec = TensorSpec("float32", (None, None))
    params = (Param("x", spec, 0, first), Param("y", spec, 0, second))
    made = program(Function("main", params, 2, (vm.Ret(0),)))
    with pytest.raises(MachineError) as caught:
        Machine(made).run("main", np.zeros((3, 2), "f"), np.zeros((3, 4), "f"))
    found = str(caught.value).replace("parameter 'x'", "x").replace("parameter 'y'", "y")
    assert message in found.replace("x of main: ", "main: ")


def test_named_dims_of_a_callee():
    spec = TensorSpec("float32", (None,))
    params = tuple(Param(name, spec, 0, ("n",)) for name in "ab")
    callee = Function("callee", params, 2, (vm.Ret(0),))
    main = function([spec, spec], vm.Invoke(2, 1, (0, 1)), vm.Ret(2))
    machine = Machine(program(main, callee))
    x, y = np.zeros(3, "f"), np.zeros(4, "f")
    assert machine.run("main", x, x)[0].shape == (3,)
    with pytest.raises(MachineError) as caught:
        machine.run("main", x, y)
    assert str(caught.value) == (
        "main[0] invoke: callee: parameter 'a' has dim 0 (n) of 3, "
        "but parameter 'b' has dim 0 (n) of 4"
    )


@pytest.mark.ci
def test_many_sizes_from_data_stay_within_memory():
    """Paths of growing sizes share blocks, which have room for the next ones."""
    memory = Memory(limit=4 << 20)
    unlimited = Program(
        tuple(
            Function(f.name, f.params, f.register_count, tuple(_unbounded(f.instructions)))
            for f in by_data().functions
        ),
        kernels=by_data().kernels,
    )
    machine = Machine(unlimited, kernels={**KERNELS, "demo.fill": _fill}, memory=memory)
    for n in [*range(9000, 9300), 0, 9000]:
        (result,) = machine.run("main", np.array([n], np.int64), np.float32(1))
        np.testing.assert_array_equal(result, np.full(n, 2, np.float32))


def _unbounded(code: Sequence[vm.Instruction]) -> list[vm.Instruction]:
    return [vm.LoadConsti(5, 1 << 40) if i == vm.LoadConsti(5, 10) else i for i in code]
