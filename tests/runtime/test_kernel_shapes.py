"""Kernels on dynamic shapes: intermediate values, sizes on the host, outputs of a wrong shape."""

from typing import Any

import numpy as np
import pytest
from helpers.operators.inferring import attributes
from helpers.programs.machine_programs import call, f32, function, kernel, program

from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Kernel, Program, Step, TensorSpec

SIZES = TensorSpec("int64", (2,))
OPEN = f32(None, None)


def allocated(kernel: Kernel, *params: TensorSpec, devices: Any = (), names: Any = ()) -> Program:
    """Return `main(…, bytes, dims)`: the kernel on the first arguments, into a tensor of `dims`."""
    n = len(params)
    code = [
        vm.AllocStorage(20, vm.Reg(n), 64, devices[0] if devices else 0),
        vm.AllocTensorReg(21, 20, 0, n + 1, "float32"),
        vm.InvokePacked(0, tuple(range(n)), (21,)),
        vm.Ret(21),
    ]
    types = [*params, TensorSpec("int64", ()), SIZES]
    main = function(types, *code, devices=devices)
    return program(main, kernels=[kernel], devices=names or ("cpu:0",))


def run(made: Program, *args: Any, dims: tuple[int, int]) -> Any:
    machine = Machine(made)
    results = [
        machine.run("main", *args, np.int64(4 * dims[0] * dims[1]), np.array(dims, np.int64))[0]
        for _ in range(2)
    ]
    np.testing.assert_array_equal(results[1], results[0])
    return results[0]


CHAIN = Kernel(
    "chain",
    (OPEN, OPEN),
    (np.ones((), np.float32),),
    (OPEN, OPEN, OPEN),
    (
        Step("relay.add", {}, (0, 1), (3,)),
        Step("relay.transpose", {"axes": (1, 0)}, (3,), (4,)),
        Step("relay.add", {}, (4, 2), (5,)),
    ),
    (5,),
)


@pytest.mark.parametrize("shape", [(2, 3), (1, 5), (0, 4), (7, 7)])
def test_intermediate_values_have_the_shapes_of_the_rules(shape: tuple[int, int]):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    y = np.random.default_rng(1).normal(size=(1, shape[1])).astype(np.float32)
    found = run(allocated(CHAIN, OPEN, OPEN), x, y, dims=(shape[1], shape[0]))
    np.testing.assert_array_equal(found, (x + y).T + np.float32(1))


@pytest.mark.parametrize("dims", [(3, 3), (2, 3), (0, 2), (3, 0)])
def test_an_output_has_the_shape_of_the_rule(dims: tuple[int, int]):
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(MachineError, match=r"relay\.add"):
        run(allocated(CHAIN, OPEN, OPEN), x, x, dims=dims)


def test_operands_that_do_not_fit():
    x, y = np.zeros((2, 3), np.float32), np.zeros((3, 3), np.float32)
    with pytest.raises(MachineError, match="dims 2 and 3 at axis -2 do not broadcast together"):
        run(allocated(CHAIN, OPEN, OPEN), x, y, dims=(3, 3))


RESHAPE = Step("relay.dyn.reshape", attributes("dyn.reshape"), (0, 1), (2,))
EXP = Step("relay.exp", {}, (2,), (3,))
FUSED = Kernel("fused", (OPEN, SIZES), (), (OPEN, OPEN), (RESHAPE, EXP), (3,), (1,))


@pytest.mark.parametrize(("devices", "names"), [((0,), ("cpu:0",)), ((1,), ("cpu:0", "gpu:0"))])
def test_sizes_are_read_on_the_host(devices: Any, names: Any):
    """The shape of an intermediate value is known once the sizes are, on which a path depends."""
    made = allocated(FUSED, OPEN, SIZES, devices=devices, names=names)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for dims in ((3, 2), (6, 1), (1, 6), (3, 2)):
        found = run(made, x, np.array(dims, np.int64), dims=dims)
        np.testing.assert_array_equal(found, np.exp(x.reshape(dims)))


def test_sizes_that_do_not_fit_the_output():
    made = allocated(FUSED, OPEN, SIZES)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    with pytest.raises(MachineError, match="is declared as"):
        run(made, x, np.array((2, 3), np.int64), dims=(3, 2))
    with pytest.raises(MachineError, match=r"relay\.dyn\.reshape"):
        run(made, x, np.array((4, 3), np.int64), dims=(4, 3))
    with pytest.raises(MachineError, match="is declared as"):
        run(made, x, np.array((6, 1), np.int64), dims=(0, 1))


def test_sizes_that_are_constants_of_the_kernel():
    shape = np.array([3, -1], np.int64)
    made = Kernel("k", (OPEN,), (shape,), (OPEN, OPEN), (RESHAPE, EXP), (3,))
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    found = run(allocated(made, OPEN), x, dims=(3, 4))
    np.testing.assert_array_equal(found, np.exp(x.reshape(3, 4)))


@pytest.mark.parametrize(
    ("steps", "results", "host", "message"),
    [
        ((RESHAPE, EXP), (3,), (0,), "step 0 (relay.dyn.reshape) reads it as operand 0, which is"),
        ((RESHAPE, EXP), (3, 1), (1,), "input 1 is on the host, but it is a result"),
        ((Step("relay.exp", {}, (0,), (2,)), EXP), (3,), (1,), "no step reads it as sizes"),
        ((RESHAPE, EXP), (3,), (2,), "host input 2 is out of range [0, 2)"),
        ((RESHAPE, EXP), (3,), (-1,), "host input -1 is out of range [0, 2)"),
        (
            (RESHAPE, EXP, Step("demo.other", {}, (1,), (4,))),
            (3,),
            (1,),
            "step 2 (demo.other) reads it as operand 0, which is not a size",
        ),
    ],
)
def test_declared_host_inputs_are_sizes(steps: Any, results: Any, host: Any, message: str):
    locals = (OPEN,) * len(steps)
    made = Kernel("k", (OPEN, SIZES), (), locals, steps, results, host)
    with pytest.raises(MachineError) as caught:
        run(allocated(made, OPEN, SIZES), np.zeros((2, 2), "f"), np.array((2, 2)), dims=(2, 2))
    assert message in str(caught.value)


def test_other_inputs_are_where_the_kernel_runs():
    made = allocated(FUSED, OPEN, SIZES, devices=(1,), names=("cpu:0", "gpu:0"))
    plain = Kernel("plain", FUSED.ins, (), FUSED.locals, FUSED.steps, FUSED.results)
    undeclared = program(*made.functions, kernels=[plain], devices=made.devices)
    args = np.zeros((2, 2), "f"), np.array((2, 2))
    with pytest.raises(MachineError, match="runs on gpu:0, but its input 1 is on cpu:0"):
        run(undeclared, *args, dims=(2, 2))
    elsewhere = allocated(FUSED, OPEN, SIZES, devices=(1, 2), names=("cpu:0", "gpu:0", "gpu:1"))
    with pytest.raises(MachineError, match="runs on gpu:0, but its input 1 is on gpu:1"):
        run(elsewhere, *args, dims=(2, 2))


def test_a_kernel_without_a_rule_needs_a_static_shape():
    steps = (Step("demo.any", {}, (0,), (1,)), Step("relay.exp", {}, (1,), (2,)))
    made = Kernel("k", (OPEN,), (), (OPEN, OPEN), steps, (2,))
    with pytest.raises(MachineError, match="intermediate value 1 must have a static shape"):
        run(allocated(made, OPEN), np.zeros((2, 2), "f"), dims=(2, 2))


def test_an_empty_output_is_checked():
    relu = kernel("nn.relu", [OPEN], OPEN)
    with pytest.raises(MachineError, match=r"relay\.nn\.relu"):
        run(allocated(relu, OPEN), np.zeros((2, 2), "f"), dims=(0, 2))
    assert run(allocated(relu, OPEN), np.zeros((0, 2), "f"), dims=(0, 2)).shape == (0, 2)


def test_rules_are_checked_on_operands_though_the_result_is_static():
    dense = kernel("nn.dense", [f32(1, None), f32(1, None)], f32(1, 1))
    code = [*call(0, [0, 1], 2, 1, 1), vm.Ret(2)]
    machine = Machine(program(function([f32(1, None)] * 2, *code), kernels=[dense]))
    x = np.ones((1, 5), np.float32)
    assert machine.run("main", x, x)[0].tolist() == [[5]]
    with pytest.raises(MachineError, match="the reduced dims must be equal, but are 5 and 3"):
        machine.run("main", x, x[:, :3].copy())
