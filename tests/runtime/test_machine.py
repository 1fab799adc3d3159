"""The machine on small programs with known results."""

from threading import Thread
from typing import Any

import numpy as np
import pytest
from helpers.machine.both_machines import Machine
from helpers.programs.machine_programs import call, f32, function, kernel, program, tensor
from helpers.programs.shallow_stack import LEVELS, shallow_stack

from xrelay.runtime.calls.values import Tagged
from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels.bind import Thunk
from xrelay.runtime.memory import arena as arena_module
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Kernel, Late, Step, TensorSpec

ADD = kernel("add", [f32(2), f32(2)], f32(2))
X = np.array([1, 2], np.float32)
Y = np.array([10, 20], np.float32)


def lists(values: list[Any]) -> list[Any]:
    return [value.tolist() for value in values]


def test_adds_two_vectors():
    code = [*call(0, [0, 1], 2, 2), vm.Ret(2)]
    machine = Machine(program(function([f32(2), f32(2)], *code), kernels=[ADD]))
    assert lists(machine.run("main", X, Y)) == [[11, 22]]
    assert lists(machine.run("main", Y, Y)) == [[20, 40]]


def test_results_and_arguments_share_no_memory_with_the_machine():
    machine = Machine(program(function([f32(2)], vm.AllocADT(1, 0, (0, 0)), vm.Ret(1))))
    x = X.copy()
    first, second = machine.run("main", x)
    first[:] = 7
    assert second.tolist() == [1, 2]
    assert x.tolist() == [1, 2]
    (again, _) = machine.run("main", Y)
    assert second.tolist() == [1, 2]
    assert again.tolist() == [10, 20]


def test_arguments_may_be_what_numpy_makes_arrays_of():
    machine = Machine(program(function([TensorSpec("int64", ())], vm.Ret(0))))
    assert machine.run("main", 5)[0] == 5
    strided = np.arange(8, dtype=np.float32)[::2]
    machine = Machine(program(function([f32(4)], vm.Ret(0))))
    assert machine.run("main", strided)[0].tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([X], "main expects 2 arguments, but got 1"),
        ([X, Y, X], "main expects 2 arguments, but got 3"),
        ([X, np.zeros(2)], r"parameter 'x1' of main must be float32\[2\], but is float64\[2\]"),
        (
            [np.zeros((1, 2), np.float32), X],
            r"parameter 'x0' of main must be float32\[2\], but is float32\[1, 2\]",
        ),
        ([X, (X,)], r"parameter 'x1' of main must be float32\[2\], but is data"),
        ([X, "text"], r"parameter 'x1' of main must be float32\[2\], but is str"),
    ],
)
def test_arguments_must_fit_the_parameters(args: list[Any], message: str):
    machine = Machine(program(function([f32(2), f32(2)], vm.Ret(0))))
    with pytest.raises(MachineError, match=message):
        machine.run("main", *args)


def test_unknown_function():
    machine = Machine(program(function([], vm.Goto(0))))
    with pytest.raises(MachineError, match=r"unknown function g \(defined: main\)"):
        machine.run("g")


def test_a_kernel_of_several_steps_with_a_constant():
    spec = f32(2)
    steps = (
        Step("relay.add", {}, (0, 1), (2,)),
        Step("relay.nn.relu", {}, (2,), (3,)),
        Step("relay.multiply", {}, (3, 0), (4,)),
    )
    constant = np.array([-5, 5], np.float32)
    fused = Kernel("fused", (spec,), (constant,), (spec, spec, spec), steps, (4, 2))
    code = [
        *tensor(1, 2),
        *tensor(3, 2),
        vm.InvokePacked(0, (0,), (1, 3)),
        vm.AllocADT(5, 0, (1, 3)),
    ]
    machine = Machine(program(function([spec], *code, vm.Ret(5)), kernels=[fused]))
    assert lists(machine.run("main", X)) == [[0, 14], [-4, 7]]


def test_a_kernel_whose_results_are_its_operands_and_constants():
    spec = f32(2)
    copies = Kernel("copies", (spec,), (Y,), (), (), (0, 1, 0))
    code = [*tensor(1, 2), *tensor(3, 2), *tensor(5, 2), vm.InvokePacked(0, (0,), (1, 3, 5))]
    code += [vm.AllocADT(7, 0, (1, 3, 5)), vm.Ret(7)]
    machine = Machine(program(function([spec], *code), kernels=[copies]))
    assert lists(machine.run("main", X)) == [[1, 2], [10, 20], [1, 2]]


def test_tensors_may_share_bytes_in_place():
    # x + x into x's own bytes, through a chain that must not overwrite x too early
    spec = f32(2)
    steps = (
        Step("relay.multiply", {}, (0, 0), (1,)),
        Step("relay.add", {}, (1, 0), (2,)),
        Step("relay.multiply", {}, (2, 0), (3,)),
    )
    chain = Kernel("chain", (spec,), (), (spec, spec, spec), steps, (3,))
    code = [
        *call(0, [0, 0], 1, 2),
        vm.AllocTensor(3, 2, 0, (2,), "float32"),
        vm.InvokePacked(1, (1,), (3,)),
        vm.Ret(3),
    ]
    machine = Machine(program(function([spec], *code), kernels=[ADD, chain]))
    # 2x = [2, 4]: (v * v + v) * v
    assert lists(machine.run("main", X)) == [[12, 80]]


def test_tensors_at_offsets_of_one_storage():
    code = [
        vm.AllocStorage(1, 24, 64),
        vm.AllocTensor(2, 1, 0, (2,), "float32"),
        vm.AllocTensor(3, 1, 16, (2,), "float32"),
        vm.InvokePacked(0, (0, 0), (2,)),
        vm.InvokePacked(0, (2, 0), (3,)),
        vm.AllocADT(4, 0, (2, 3)),
        vm.Ret(4),
    ]
    machine = Machine(program(function([f32(2)], *code), kernels=[ADD]))
    assert lists(machine.run("main", X)) == [[2, 4], [3, 6]]


def test_bools_on_foreign_bytes_are_returned_as_0_or_1():
    """Register 3 views the bytes of an int8 as bools."""
    viewed = [
        vm.AllocStorage(1, 4, 64),
        vm.AllocTensor(2, 1, 0, (4,), "int8"),
        vm.DeviceCopy(0, 2, 0, 0),
        vm.AllocTensor(3, 1, 0, (4,), "bool"),
    ]
    spec = TensorSpec("int8", (4,))
    alone = function([spec], *viewed, vm.Ret(3), name="alone")
    pair = function([spec], *viewed, vm.AllocADT(4, 0, (3, 3)), vm.Ret(4), name="pair")
    machine = Machine(program(alone, pair))
    x = np.array([0, 1, 2, -1], np.int8)
    out, outs = np.ones(4, bool), (np.ones(4, bool), np.ones(4, bool))
    machine.evaluate("alone", x, out=out)
    machine.evaluate("pair", x, out=outs)
    for result in (*machine.run("alone", x), *machine.run("pair", x), out, *outs):
        assert result.dtype == np.bool_
        assert result.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_sizes_and_shapes_from_registers():
    sum_to = kernel("add", [f32(None), f32(None)], f32(None))
    code = [
        vm.AllocStorage(2, vm.Reg(1), 64),
        vm.ShapeOf(3, 0),
        vm.LoadConsti(4, 0),
        vm.AllocTensorReg(5, 2, vm.Reg(4), 3, "float32"),
        vm.InvokePacked(0, (0, 0), (5,)),
        vm.Ret(5),
    ]
    dynamic = function([f32(None), TensorSpec("int64", ())], *code)
    machine = Machine(program(dynamic, kernels=[sum_to]))
    for n in (3, 5, 3, 0):
        x = np.arange(n, dtype=np.float32)
        assert lists(machine.run("main", x, 4 * n)) == [(2 * x).tolist()]
    with pytest.raises(MachineError, match="12 bytes at offset 0 does not fit in a storage of 8"):
        machine.run("main", np.zeros(3, np.float32), 8)
    with pytest.raises(MachineError, match="a storage must have at least 0 bytes, but has -1"):
        machine.run("main", np.zeros(3, np.float32), -1)


def test_a_shape_computed_by_a_kernel():
    double = kernel("add", [TensorSpec("int64", (1,))] * 2, TensorSpec("int64", (1,)))
    both = kernel("concatenate", [f32(None), f32(None)], f32(None), axis=0)
    code = [
        vm.ShapeOf(1, 0),
        vm.AllocStorage(2, 8, 64),
        vm.AllocTensor(3, 2, 0, (1,), "int64"),
        vm.InvokePacked(0, (1, 1), (3,)),
        vm.AllocStorage(4, 64, 64),
        vm.AllocTensorReg(5, 4, 0, 3, "float32"),
        vm.InvokePacked(1, (0, 0), (5,)),
        vm.Ret(5),
    ]
    machine = Machine(program(function([f32(None)], *code), kernels=[double, both]))
    for _ in range(2):
        assert lists(machine.run("main", X)) == [[1, 2, 1, 2]]
        assert lists(machine.run("main", np.ones(1, np.float32))) == [[1, 1]]


def test_reshaping_views_the_same_bytes():
    code = [
        *call(0, [0, 0], 1, 2),
        vm.ReshapeTensor(3, 1, (2, 1)),
        vm.KillRegister(1),
        vm.KillRegister(2),
        vm.LoadConst(4, 0),
        vm.ReshapeTensor(5, 3, vm.Reg(4)),
        vm.Ret(5),
    ]
    shape = np.array([1, 2], np.int64)
    machine = Machine(program(function([f32(2)], *code), kernels=[ADD], constants=[shape]))
    assert lists(machine.run("main", X)) == [[[2, 4]]]
    assert machine.counters.peak == {0: 8}


@pytest.mark.parametrize(("start", "rows"), [(0, [2, 4]), (1, [4]), (2, []), (5, [])])
def test_rows_are_in_the_same_bytes(start: int, rows: list[int]):
    """Also those that are empty, which may start anywhere, and with a start that is computed."""
    shape, at = np.array([len(rows)], np.int64), np.array(start, np.int64)
    code = [
        *call(0, [0, 0], 1, 2),
        vm.LoadConst(3, 0),
        vm.LoadConst(4, 1),
        vm.SliceTensor(5, 1, start, vm.Reg(3)),
        vm.SliceTensor(6, 5, 0, (len(rows),)),
        vm.SliceTensor(7, 1, vm.Reg(4), (len(rows),)),
        vm.KillRegister(1),
        vm.KillRegister(2),
        vm.AllocADT(8, 0, (5, 6, 7)),
        vm.Ret(8),
    ]
    made = program(function([f32(2)], *code), kernels=[ADD], constants=[shape, at])
    machine = Machine(made)
    for _ in range(2):  # the second time along the recorded path
        assert lists(machine.run("main", X)) == [rows] * 3
    assert machine.counters.peak == {0: 8}


def branching(test: TensorSpec):
    """If x1, x0 + x0, else x0; then add x0."""
    code = [
        vm.If(1, None, 1, 6),
        *call(0, [0, 0], 2, 2),
        vm.Move(6, 2),
        vm.Goto(2),
        vm.Move(6, 0),
        *call(0, [6, 0], 4, 2),
        vm.Ret(4),
    ]
    return program(function([f32(2), test], *code), kernels=[ADD])


def test_if_takes_one_way_or_the_other():
    machine = Machine(branching(TensorSpec("bool", ())))
    for _ in range(2):
        assert lists(machine.run("main", X, True)) == [[3, 6]]
        assert lists(machine.run("main", X, False)) == [[2, 4]]
    assert machine.counters.instructions["goto"] == 2
    assert machine.counters.instructions["if"] == 4


def test_if_looks_at_the_whole_value():
    machine = Machine(branching(TensorSpec("int64", ())))
    assert lists(machine.run("main", X, np.int64(1 << 32))) == [[3, 6]]
    assert lists(machine.run("main", X, np.int64(-1))) == [[3, 6]]
    unsigned = Machine(branching(TensorSpec("uint64", ())))
    assert lists(unsigned.run("main", X, np.uint64(1 << 63))) == [[3, 6]]


def test_if_compares_whole_values():
    code = [
        vm.LoadConsti(1, 7),
        vm.If(0, 1, 1, 3),
        vm.LoadConsti(2, 111),
        vm.Ret(2),
        vm.LoadConsti(2, 222),
        vm.Ret(2),
    ]
    machine = Machine(program(function([TensorSpec("int64", ())], *code)))
    assert lists(machine.run("main", np.int64(7))) == [111]
    assert lists(machine.run("main", np.int64(7 + (1 << 32)))) == [222]


def test_if_needs_an_integer_scalar():
    for spec in (TensorSpec("bool", (2,)), f32()):
        machine = Machine(branching(spec))
        with pytest.raises(MachineError, match=r"main\[0\] if: expected an integer or bool scalar"):
            machine.run("main", X, np.zeros([d or 0 for d in spec.shape], spec.dtype))


def countdown():
    """Double x0 in a loop while x1 > 0."""
    one = np.array(-1, np.int64)
    scalar = TensorSpec("int64", ())
    less = kernel("add", [scalar, scalar], scalar)
    code = [
        vm.LoadConst(2, 0),
        vm.If(1, None, 2, 1),
        vm.Ret(0),
        vm.AllocStorage(3, 8, 64),
        vm.AllocTensor(4, 3, 0, (), "int64"),
        vm.InvokePacked(0, (1, 2), (4,)),
        vm.Move(1, 4),
        vm.KillRegister(3),
        vm.KillRegister(4),
        *call(1, [0, 0], 5, 2),
        vm.Move(0, 5),
        vm.KillRegister(5),
        vm.KillRegister(6),
        vm.Goto(-14),
    ]
    return program(function([f32(2), scalar], *code), kernels=[less, ADD], constants=[one])


def test_a_loop_reuses_the_memory_of_earlier_rounds():
    machine = Machine(countdown())
    assert lists(machine.run("main", X, 5)) == [[32, 64]]
    assert lists(machine.run("main", X, 3)) == [[8, 16]]
    assert machine.counters.allocations[0] == 16
    assert machine.counters.peak == {0: 8 + 8 + 8}


def test_a_long_loop_does_not_remember_everything(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arena_module, "MAX_TRACE_SIZE", 200)
    machine = Machine(countdown())
    zeros = np.zeros(2, np.float32)
    for _ in range(2):
        assert lists(machine.run("main", zeros, 200)) == [[0, 0]]
    assert lists(machine.run("main", X, 5)) == [[32, 64]]


def test_functions_call_each_other():
    twice = function([f32(2)], *call(0, [0, 0], 1, 2), vm.Ret(1), name="twice")
    code = [
        vm.Invoke(1, 1, (0,)),
        vm.Invoke(2, 1, (1,)),
        vm.Invoke(3, 1, (0,)),
        vm.AllocADT(4, 0, (2, 3, 1)),
    ]
    machine = Machine(program(function([f32(2)], *code, vm.Ret(4)), twice, kernels=[ADD]))
    for _ in range(2):
        assert lists(machine.run("main", X)) == [[4, 8], [2, 4], [2, 4]]
    assert lists(machine.run("twice", Y)) == [[20, 40]]
    assert machine.counters.instructions["invoke"] == 6


@pytest.mark.ci
def test_recursion_deeper_than_the_python_stack():
    # f(x, n) = x if n == 0 else f(x + x, n - 1) + x
    scalar = TensorSpec("int64", ())
    code = [
        vm.If(1, None, 2, 1),
        vm.Ret(0),
        vm.LoadConst(2, 0),
        vm.AllocStorage(3, 8, 64),
        vm.AllocTensor(4, 3, 0, (), "int64"),
        vm.InvokePacked(0, (1, 2), (4,)),
        vm.Invoke(5, 0, (0, 4)),
        *call(1, [5, 0], 6, 2),
        vm.Ret(6),
    ]
    less = kernel("add", [scalar, scalar], scalar)
    one = np.array(-1, np.int64)
    f = function([f32(2), scalar], *code)
    machine = Machine(program(f, kernels=[less, ADD], constants=[one]))
    with shallow_stack():
        assert lists(machine.run("main", X, LEVELS)) == [[LEVELS + 1, 2 * LEVELS + 2]]
    assert lists(machine.run("main", X, 2)) == [[3, 6]]
    # a counter for each level; each return frees one and allocates a sum
    assert machine.counters.peak == {0: LEVELS * 8 + 8}


def test_arguments_of_calls_must_fit():
    callee = function([f32(3)], vm.Ret(0), name="callee")
    machine = Machine(program(function([f32(2)], vm.Invoke(1, 1, (0,)), vm.Ret(1)), callee))
    message = (
        r"main\[0\] invoke: parameter 'x0' of callee must be float32\[3\], but is float32\[2\]"
    )
    with pytest.raises(MachineError, match=message):
        machine.run("main", X)


def test_tuples_nest():
    code = [
        vm.AllocADT(2, 0, (0, 1)),
        vm.AllocADT(3, 0, (2, 0)),
        vm.GetField(4, 3, 0),
        vm.GetField(5, 4, 1),
        vm.AllocADT(6, 0, (3, 5)),
        vm.Ret(6),
    ]
    machine = Machine(program(function([f32(2), f32(2)], *code)))
    ((a, b), c), d = machine.evaluate("main", X, Y)
    assert lists([a, b, c, d]) == [[1, 2], [10, 20], [1, 2], [10, 20]]
    assert lists(machine.run("main", X, Y)) == [[1, 2], [10, 20], [1, 2], [10, 20]]


def test_arguments_may_be_tuples():
    code = [vm.GetField(1, 0, 1), vm.GetField(2, 1, 0), *call(0, [2, 0], 3, 2), vm.Ret(3)]
    pair = function([None], *code)
    four = kernel("concatenate", [f32(2)] * 4, f32(8), axis=0)
    machine = Machine(program(pair, kernels=[four]))
    with pytest.raises(MachineError, match=r"output 0 of kernel concatenate must be float32\[8\]"):
        machine.run("main", (X, (Y, Y)))
    code[2:4] = [*tensor(3, 8)]
    code.insert(4, vm.InvokePacked(0, (2, 0), (3,)))  # nested tuples are flattened
    machine = Machine(
        program(
            function([None], *code), kernels=[kernel("concatenate", [f32(2)] * 4, f32(8), axis=0)]
        )
    )
    assert lists(machine.run("main", (X, (Y, Y)))) == [[10, 20, 1, 2, 10, 20, 10, 20]]
    assert lists(machine.run("main", [Y, [X, Y]])) == [[1, 2, 10, 20, 1, 2, 10, 20]]


def test_data_keeps_its_tag():
    code = [
        vm.GetTag(1, 0),
        vm.LoadConsti(2, 3),
        vm.If(1, 2, 1, 3),
        vm.GetField(3, 0, 0),
        vm.Ret(3),
        vm.AllocADT(4, 5, (0,)),
        vm.Ret(4),
    ]
    machine = Machine(program(function([None], *code)))
    assert lists(machine.run("main", Tagged(3, [X]))) == [[1, 2]]
    result: Any = machine.evaluate("main", Tagged(4, [Y]))
    inner: Any = result[0]
    assert (type(result), result.tag) == (Tagged, 5)
    assert (type(inner), inner.tag) == (Tagged, 4)
    assert repr(Tagged(1, ())) == "Tagged(1, ())"


def test_closures_capture():
    add = function([f32(2), f32(2)], *call(0, [0, 1], 2, 2), vm.Ret(2), name="add")
    code = [
        vm.AllocClosure(2, 1, (0,)),
        vm.InvokeClosure(3, 2, (1,)),
        vm.InvokeClosure(4, 2, (3,)),
        vm.Ret(4),
    ]
    machine = Machine(program(function([f32(2)] * 2, *code), add, kernels=[ADD]))
    assert lists(machine.run("main", X, Y)) == [[12, 24]]
    returns = Machine(program(function([f32(2)], vm.AllocClosure(1, 0, ()), vm.Ret(1))))
    with pytest.raises(MachineError, match="the result contains a closure, which cannot leave"):
        returns.run("main", X)


def test_fatal_stops_only_where_it_is_reached():
    machine = Machine(
        program(function([TensorSpec("bool", ())], vm.If(0, None, 1, 2), vm.Ret(0), vm.Fatal()))
    )
    assert machine.run("main", True)[0]
    with pytest.raises(MachineError, match=r"main\[2\] fatal: no clause of a match applies"):
        machine.run("main", False)


def test_a_killed_register_cannot_be_read():
    machine = Machine(program(function([f32(2)], vm.KillRegister(0), vm.Move(1, 0), vm.Ret(1))))
    message = r"main\[1\] move: register r0 is read after instruction 0 killed it"
    with pytest.raises(MachineError, match=message):
        machine.prepare()
    machine = Machine(
        program(function([f32(2)], vm.KillRegister(0), vm.KillRegister(0), vm.Ret(0)))
    )
    with pytest.raises(MachineError, match=r"kill_register: .* after instruction 0 killed it"):
        machine.prepare()


def test_late_constants_are_bound_by_name():
    late = program(
        function([f32(2)], vm.LoadConst(1, 0), *call(0, [0, 1], 2, 2), vm.Ret(2)),
        kernels=[ADD],
        constants=[Late("w", f32(2))],
    )
    assert lists(Machine(late, {"w": Y, "unused": X}).run("main", X)) == [[11, 22]]
    with pytest.raises(MachineError, match="missing values for the constants w"):
        Machine(late)
    with pytest.raises(MachineError, match=r"constant 'w' must be float32\[2\], but is float64"):
        Machine(late, {"w": np.zeros(2)})


def test_constants_are_not_copied_and_cannot_be_written():
    weights = Y.copy()
    code = [vm.LoadConst(1, 0), vm.InvokePacked(0, (0, 0), (1,)), vm.Ret(1)]
    late = program(function([f32(2)], *code), kernels=[ADD], constants=[Late("w", f32(2))])
    with pytest.raises(MachineError, match="kernel add must not write to a constant"):
        Machine(late, {"w": weights}).prepare()
    assert weights.flags.writeable


def two_devices(*code: Any, params: Any = (f32(2),), homes: Any = (0,), kernels: Any = (ADD,)):
    main = function(list(params), *code, devices=list(homes))
    return Machine(program(main, kernels=kernels, devices=("cpu:0", "cuda:0")))


def test_devices_have_memory_of_their_own():
    code = [
        *tensor(1, 2, device=1),
        vm.DeviceCopy(0, 1, 0, 1),
        *tensor(3, 2, device=1),
        vm.InvokePacked(0, (1, 1), (3,)),
        *tensor(5, 2),
        vm.DeviceCopy(3, 5, 1, 0),
        vm.Ret(5),
    ]
    machine = two_devices(*code)
    for _ in range(2):
        assert lists(machine.run("main", X)) == [[2, 4]]
    counters = machine.counters
    assert counters.copies == {(0, 1): 2, (1, 0): 2}
    assert counters.copied == {(0, 1): 16, (1, 0): 16}
    assert counters.peak == {0: 8, 1: 16}
    assert counters.allocations == {0: 2, 1: 4}
    assert counters.allocated == {0: 16, 1: 32}


def test_a_kernel_must_not_touch_memory_of_another_device():
    machine = two_devices(*tensor(1, 2, device=1), vm.InvokePacked(0, (0, 0), (1,)), vm.Ret(1))
    message = r"main\[2\] invoke_packed: kernel add runs on cuda:0, but its input 0 is on cpu:0"
    with pytest.raises(MachineError, match=message):
        machine.prepare()


def test_a_copy_must_name_the_devices_of_its_tensors():
    machine = two_devices(*tensor(1, 2), vm.DeviceCopy(0, 1, 0, 1), vm.Ret(1))
    message = "the target of the copy must be on cuda:0, but is on cpu:0"
    with pytest.raises(MachineError, match=message):
        machine.prepare()
    machine = two_devices(*tensor(1, 3, device=1), vm.DeviceCopy(0, 1, 0, 1), vm.Ret(1))
    with pytest.raises(MachineError, match=r"cannot copy float32\[2\] into float32\[3\]"):
        machine.prepare()


def test_arguments_go_to_the_devices_of_their_parameters():
    machine = two_devices(
        *tensor(1, 2, device=1), vm.InvokePacked(0, (0, 0), (1,)), vm.Ret(1), homes=[1]
    )
    assert lists(machine.run("main", X)) == [[2, 4]]


def test_calls_check_devices():
    callee = function([f32(2)], vm.Ret(0), name="g", devices=[1])
    main = function([f32(2)], vm.Invoke(1, 1, (0,)), vm.Ret(1))
    machine = Machine(program(main, callee, devices=("cpu:0", "cuda:0")))
    with pytest.raises(MachineError, match="'x0' of g must be on cuda:0, but is on cpu:0"):
        machine.run("main", X)


def test_storage_is_live_until_nothing_refers_to_it():
    code = [
        *call(0, [0, 0], 1, 2),  # storage in 2
        vm.KillRegister(2),  # its tensor keeps it alive
        vm.AllocADT(3, 0, (1,)),
        vm.KillRegister(1),  # the tuple keeps it alive
        *call(0, [0, 0], 4, 2),
        vm.KillRegister(5),
        vm.KillRegister(3),  # now it is freed
        *call(0, [4, 4], 6, 2),
        vm.Ret(6),
    ]
    machine = Machine(program(function([f32(2)], *code), kernels=[ADD]))
    assert lists(machine.run("main", X)) == [[4, 8]]
    assert machine.counters.peak == {0: 16}
    assert machine.counters.allocations == {0: 3}


def test_overwriting_a_register_frees_what_it_held():
    code = [*call(0, [0, 0], 1, 2), *call(0, [0, 0], 1, 2), *call(0, [0, 0], 1, 2), vm.Ret(1)]
    machine = Machine(program(function([f32(2)], *code), kernels=[ADD]))
    machine.run("main", X)
    # a storage is overwritten while the tensor in the other register still keeps it
    assert machine.counters.peak == {0: 16}


def test_what_a_call_returns_is_live_in_the_caller():
    twice = function([f32(2)], *call(0, [0, 0], 1, 2), *call(0, [1, 1], 3, 2), vm.Ret(3), name="f")
    code = [
        vm.Invoke(1, 1, (0,)),
        vm.Invoke(2, 1, (1,)),
        vm.KillRegister(1),
        vm.Invoke(3, 1, (2,)),
        vm.Ret(3),
    ]
    machine = Machine(program(function([f32(2)], *code), twice, kernels=[ADD]))
    assert lists(machine.run("main", X)) == [[64, 128]]
    # in the second and the third call: the argument, and two tensors of the callee
    assert machine.counters.peak == {0: 24}


def test_storage_is_aligned_as_asked():
    spec = TensorSpec("uint8", (8,))
    addresses: list[int] = []

    def bind(attrs: Any, ins: Any, outs: Any) -> Any:
        addresses.append(outs[0].ctypes.data)
        return lambda: outs[0].fill(1)

    code = [
        *(
            vm.AllocStorage(0, 8, 4096),
            vm.AllocTensor(1, 0, 0, (8,), "uint8"),
            vm.InvokePacked(0, (), (1,)),
        ),
        *(
            vm.AllocStorage(2, 8, 1),
            vm.AllocTensor(3, 2, 0, (8,), "uint8"),
            vm.InvokePacked(0, (), (3,)),
        ),
        vm.Ret(3),
    ]
    probe = Kernel("probe", (), (), (spec,), (Step("test.probe", {}, (), (0,)),), (0,))
    machine = Machine(program(function([], *code), kernels=[probe]), kernels={"test.probe": bind})
    machine.run("main")
    assert addresses[0] % 4096 == 0
    assert addresses[1] % 64 == 0


@pytest.mark.ci
def test_two_threads_run_one_machine():
    code = [*call(0, [0, 1], 2, 2), *call(0, [2, 1], 4, 2), vm.Ret(4)]
    machine = Machine(program(function([f32(2), f32(2)], *code), kernels=[ADD]))
    wrong: list[Any] = []

    def work(base: int) -> None:
        for i in range(300):
            x = np.array([base, i], np.float32)
            (y,) = machine.run("main", x, X)
            if y.tolist() != [base + 2, i + 4]:
                wrong.append(y)

    threads = [Thread(target=work, args=(base,)) for base in (1000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert machine.counters.instructions["ret"] == 600


def test_a_failing_kernel_is_named_and_the_machine_goes_on():
    def bind(attrs: Any, ins: Any, outs: Any) -> Thunk:
        def run() -> None:
            if ins[0] < 0:
                raise ValueError("a negative number")
            outs[0][...] = ins[0]

        return run

    scalar = TensorSpec("int64", ())
    strict = Kernel("k", (scalar,), (), (scalar,), (Step("my.strict", {}, (0,), (1,)),), (1,))
    code = [
        vm.AllocStorage(1, 8, 64),
        vm.AllocTensor(2, 1, 0, (), "int64"),
        vm.InvokePacked(0, (0,), (2,)),
    ]
    parts = program(function([scalar], *code, vm.Ret(2)), kernels=[strict])
    machine = Machine(parts, kernels={"my.strict": bind})
    with pytest.raises(
        MachineError, match=r"main\[2\] invoke_packed k: ValueError: a negative number"
    ):
        machine.run("main", -1)
    assert machine.run("main", 10) == [10]


def test_floating_point_exceptions_pass_silently():
    divide = kernel("divide", [f32(2), f32(2)], f32(2))
    machine = Machine(
        program(function([f32(2)] * 2, *call(0, [0, 1], 2, 2), vm.Ret(2)), kernels=[divide])
    )
    assert lists(machine.run("main", X, np.zeros(2, np.float32))) == [[np.inf, np.inf]]


def test_deeply_nested_data_goes_in_and_out():
    deep: Any = ()
    for _ in range(2_000):
        deep = (X, deep)
    machine = Machine(program(function([None], vm.GetField(1, 0, 1), vm.Ret(1))))
    result: Any = machine.evaluate("main", deep)
    depth = 0
    while result:
        result = result[1]
        depth += 1
    assert depth == 1_999


def test_what_dies_on_one_way_lives_on_the_other():
    code = [
        *call(0, [0, 0], 2, 2),
        vm.KillRegister(3),
        vm.If(1, None, 1, 3),
        vm.KillRegister(2),  # frees its bytes on this path only
        vm.Ret(0),
        *call(0, [0, 2], 4, 2),
        *call(0, [4, 2], 6, 2),
        vm.Ret(6),
    ]
    main = function([f32(2), TensorSpec("bool", ())], *code)
    machine = Machine(program(main, kernels=[ADD]))
    assert lists(machine.run("main", X, True)) == [[1, 2]]
    assert lists(machine.run("main", X, False)) == [[5, 10]]
