"""Kernels of several steps: storage of intermediate values, compared with running step by step."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from helpers.operators.inferring import attributes
from helpers.programs.machine_programs import f32
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

from xrelay.operators.signature import Call
from xrelay.operators.signature import Tensor as SignatureTensor
from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.bind import Array, Attrs, Bind, Thunk
from xrelay.runtime.kernels.checked import CheckedKernel, Reuse
from xrelay.runtime.machine import binding
from xrelay.runtime.machine.binding import Bound, KernelPlans, bind_plan
from xrelay.runtime.memory.scratch import Workspace, scratch
from xrelay.runtime.program.program import Kernel, Step, TensorSpec


def bind_kernel(
    kernel: Kernel,
    ins: Sequence[Array],
    outs: Sequence[Array],
    binds: Mapping[str, Bind],
    workspace: Workspace,
) -> Bound:
    """Plan `kernel` for these operands, and bind it to them."""
    return bind_plan(KernelPlans(binds).of(kernel, ins, outs), ins, outs, workspace)


def in_order(kernel: Kernel, ins: list[Any]) -> list[Any]:
    """Run each step into a new array."""
    values = dict(enumerate([*ins, *kernel.constants]))
    for step in kernel.steps:
        outs = [np.zeros(kernel.spec(v).dims, kernel.spec(v).dtype) for v in step.outs]
        KERNELS[step.op](step.attrs, [values[v] for v in step.ins], outs)()
        values |= zip(step.outs, outs, strict=True)
    return [values[v] for v in kernel.results]


def run(kernel: Kernel, ins: list[Any], outs: list[Any], workspace: Workspace) -> None:
    for thunk, _ in bind_kernel(kernel, ins, outs, KERNELS, workspace):
        thunk()


def chain(*ops: str) -> Kernel:
    """Apply each operator to the previous result (binary ones also to the input)."""
    spec = f32(3, 4)
    binary = {"relay.add", "relay.multiply", "relay.subtract"}
    steps = tuple(
        Step(op, attributes(op.removeprefix("relay.")), (i, 0) if op in binary else (i,), (i + 1,))
        for i, op in enumerate(ops)
    )
    return Kernel("chain", (spec,), (), (spec,) * len(ops), steps, (len(ops),))


def test_an_elementwise_chain_needs_no_scratch():
    workspace = Workspace()
    kernel = chain("relay.nn.relu", "relay.add", "relay.exp", "relay.multiply", "relay.tanh")
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    out = np.empty_like(x)
    run(kernel, [x], [out], workspace)
    np.testing.assert_array_equal(out, in_order(kernel, [x])[0])
    assert workspace.size == 0


def test_values_that_do_not_meet_share_scratch():
    workspace = Workspace()
    kernel = chain(*["relay.nn.softmax"] * 9)
    x = np.ones((3, 4), np.float32)
    run(kernel, [x], [np.empty_like(x)], workspace)
    # two values of 48 bytes at a time, and a row of a softmax
    assert workspace.size <= 4 * 64 * 2


def test_a_value_read_later_keeps_its_place():
    spec = f32(4)
    steps = (
        Step("relay.add", {}, (0, 0), (1,)),
        Step("relay.multiply", {}, (1, 1), (2,)),  # must not overwrite value 1
        Step("relay.add", {}, (1, 2), (3,)),
        Step("relay.subtract", {}, (3, 1), (4,)),
    )
    kernel = Kernel("k", (spec,), (), (spec,) * 4, steps, (4,))
    x = np.arange(4, dtype=np.float32)
    out = np.empty(4, np.float32)
    run(kernel, [x], [out], Workspace())
    np.testing.assert_array_equal(out, 4 * x * x)


def test_a_reshape_on_the_way_moves_nothing():
    wide, flat = f32(2, 3), f32(6)
    steps = (
        Step("relay.nn.softmax", attributes("nn.softmax"), (0,), (1,)),
        Step("relay.reshape", attributes("reshape", newshape=(6,)), (1,), (2,)),
        Step("relay.nn.relu", {}, (2,), (3,)),
    )
    kernel = Kernel("k", (wide,), (), (wide, flat, flat), steps, (3,))
    x, out = np.ones((2, 3), np.float32), np.empty(6, np.float32)
    thunks = bind_kernel(kernel, [x], [out], KERNELS, Workspace())
    for thunk, _ in thunks:
        thunk()
    np.testing.assert_allclose(out, np.full(6, 1 / 3), 1e-6)
    # the softmax's seven calls and the relu's one
    assert len(thunks) == 8


def test_workspace_lends_the_same_memory_again():
    workspace = Workspace()
    with workspace.lend():
        a = scratch((4,), "float32")
        with workspace.lend():
            b = scratch((100,), "float64")
        with workspace.lend():
            c = scratch((100,), "float64")
    assert not np.may_share_memory(a, b)
    assert not np.may_share_memory(a, c)
    assert np.may_share_memory(b, c)
    assert all(x.ctypes.data % 64 == 0 for x in (a, b, c))
    assert not np.may_share_memory(scratch((4,), "int8"), scratch((4,), "int8"))


Dims = tuple[int, ...]
SPECS: dict[Dims, TensorSpec] = {(3, 4): f32(3, 4), (4,): f32(4), (12,): f32(12)}
RESHAPED: dict[Dims, Dims] = {(3, 4): (12,), (12,): (3, 4), (4,): (4,)}


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """A random DAG of steps on tensors of three shapes, with several results."""
    ins = draw(st.lists(st.sampled_from(list(SPECS)), min_size=1, max_size=3))
    constants = (np.linspace(-1, 1, 4).astype(np.float32),)
    shapes: list[tuple[int, ...]] = [*ins, (4,)]
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, 8))):
        number = len(shapes)
        op = draw(
            st.sampled_from(
                "relay.nn.relu relay.tanh relay.sigmoid relay.copy relay.add relay.subtract "
                "relay.maximum relay.reshape relay.nn.softmax relay.reverse relay.split".split()
            )
        )
        first = draw(st.integers(0, number - 1))
        shape = shapes[first]
        if op in ("relay.add", "relay.subtract", "relay.maximum"):
            fitting = [i for i, s in enumerate(shapes) if s == shape]
            second = draw(st.sampled_from(fitting))
            steps.append(Step(op, {}, (first, second), (number,)))
        elif op == "relay.reshape":
            attrs = attributes("reshape", newshape=RESHAPED[shape])
            steps.append(Step(op, attrs, (first,), (number,)))
            shape = RESHAPED[shape]
        elif op == "relay.split":
            if shape != (12,):
                continue
            attrs = {"indices_or_sections": 3, "axis": 0}
            steps.append(Step(op, attrs, (first,), (number, number + 1, number + 2)))
            shapes += [(4,), (4,)]
            shape = (4,)
        else:
            attrs = {"axis": -1} if op in ("relay.nn.softmax", "relay.reverse") else {}
            steps.append(Step(op, attrs, (first,), (number,)))
        shapes.append(shape)
    results = draw(st.lists(st.integers(0, len(shapes) - 1), min_size=1, max_size=4))
    specs = [SPECS[shape] for shape in shapes]
    n = len(ins)
    return Kernel(
        "k", tuple(specs[:n]), constants, tuple(specs[n + 1 :]), tuple(steps), tuple(results)
    )


@exactly(75)
@given(kernels(), st.data())
def test_random_kernels_give_what_their_steps_give(kernel: Kernel, data: st.DataObject):
    random = np.random.default_rng(1)
    ins = [random.standard_normal(spec.dims).astype(np.float32) for spec in kernel.ins]
    outs = [np.full(spec.dims, np.nan, np.float32) for spec in kernel.outs]
    expected = in_order(kernel, ins)
    workspace = Workspace()
    thunks = bind_kernel(kernel, ins, outs, KERNELS, workspace)
    before = [x.copy() for x in ins]
    for _ in range(2):
        for thunk, _ in thunks:
            thunk()
        for out, want in zip(outs, expected, strict=True):
            np.testing.assert_array_equal(out, want)
    for x, old in zip(ins, before, strict=True):
        np.testing.assert_array_equal(x, old)

    # outputs may be the very bytes of inputs
    if len(outs) == 1:
        same = [i for i, x in enumerate(ins) if x.shape == outs[0].shape]
        if same:
            place = ins[data.draw(st.sampled_from(same))]
            run(kernel, ins, [place], Workspace())
            np.testing.assert_array_equal(place, expected[0])


def test_a_chain_over_its_operand_needs_no_scratch_unless_it_reads_it_again():
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    for ops, size in (
        (("relay.nn.relu", "relay.exp", "relay.tanh"), 0),
        (("relay.exp", "relay.add", "relay.tanh"), 48),
    ):
        kernel, workspace, place = chain(*ops), Workspace(), x.copy()
        run(kernel, [place], [place], workspace)
        np.testing.assert_array_equal(place, in_order(kernel, [x])[0])
        assert workspace.size == size


def test_a_reshape_and_a_chain_after_it_over_its_operand_need_no_scratch():
    shapes = f32(3, 4), f32(2, 6)
    attrs = {**attributes("reshape"), "newshape": (2, 6)}
    steps = Step("relay.reshape", attrs, (0,), (1,)), Step("relay.exp", {}, (1,), (2,))
    kernel = Kernel("reshaped", shapes[:1], (), (shapes[1], shapes[1]), steps, (2,))
    x, workspace = np.ones((3, 4), np.float32), Workspace()
    place = x.copy()
    run(kernel, [place], [place.reshape(2, 6)], workspace)
    np.testing.assert_array_equal(place, in_order(kernel, [x])[0].reshape(3, 4))
    assert workspace.size == 0


@exactly(70)
@given(st.data())
def test_results_over_operands_in_any_order(data: st.DataObject):
    """Two inputs, several steps, and up to three results in the inputs' memory or apart."""
    spec, names = f32(3, 4), ("relay.add", "relay.subtract", "relay.exp", "relay.nn.relu")
    steps: list[Step] = []
    for number in range(data.draw(st.integers(1, 5))):
        op = data.draw(st.sampled_from(names))
        count = 2 if op in ("relay.add", "relay.subtract") else 1
        read = tuple(data.draw(st.integers(0, number + 1)) for _ in range(count))
        steps.append(Step(op, attributes(op.removeprefix("relay.")), read, (number + 2,)))
    results = data.draw(st.lists(st.integers(0, len(steps) + 1), min_size=1, max_size=3))
    kernel = Kernel("any", (spec, spec), (), (spec,) * len(steps), tuple(steps), tuple(results))
    rng = np.random.default_rng(0)
    values = [rng.uniform(-1, 1, (3, 4)).astype(np.float32) for _ in range(2)]
    expected = in_order(kernel, values)
    ins = [value.copy() for value in values]
    places = [*ins, *(np.zeros((3, 4), np.float32) for _ in results)]
    order = data.draw(st.permutations(range(len(places))))
    outs = [places[i] for i in order[: len(results)]]
    run(kernel, ins, outs, Workspace())
    for out, wanted in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(out, wanted)


def doubling(reuse: Reuse) -> CheckedKernel:
    """A plug-in's kernel whose result has the type of its operand."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return partial(np.multiply, ins[0], 2, outs[0])

    return CheckedKernel("my.double", lambda call: call.tensors(1), bind, reuse)


@pytest.mark.parametrize(("reuse", "scratch_size"), [(Reuse.NONE, 48), (Reuse.ELEMENTWISE, 0)])
def test_a_kernel_of_a_plug_in_runs_in_place_if_its_registration_allows_it(
    reuse: Reuse, scratch_size: int
):
    spec = f32(3, 4)
    steps = tuple(Step("my.double", {}, (i,), (i + 1,)) for i in range(2))
    kernel = Kernel("twice", (spec,), (), (spec, spec), steps, (2,))
    x, out, workspace = np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32), Workspace()
    for thunk, _ in bind_kernel(kernel, [x], [out], {"my.double": doubling(reuse)}, workspace):
        thunk()
    np.testing.assert_array_equal(out, 4 * x)
    assert workspace.size == scratch_size


@pytest.mark.parametrize("counts", [(0, 1), (2, 1), (1, 2)])
def test_a_step_that_does_not_fit_its_kernel_is_an_error_before_it_reuses_memory(
    counts: tuple[int, int],
):
    ins, outs = counts
    spec = f32(3, 4)
    step = Step("my.double", {}, (0,) * ins, tuple(range(1, 1 + outs)))
    kernel = Kernel("wrong", (spec,), (), (spec,) * outs, (step,), tuple(range(1, 1 + outs)))
    results = [np.zeros((3, 4), np.float32) for _ in range(outs)]
    for reuse in (Reuse.ELEMENTWISE, Reuse.RESHAPE):
        binds = {"my.double": doubling(reuse)}
        x = np.ones((3, 4), np.float32)
        with pytest.raises(MachineError, match=r"my\.double"):
            bind_kernel(kernel, [x], results, binds, Workspace())


def test_a_plan_is_made_once_for_operands_of_equal_types():
    checks: list[str] = []

    def checked(call: Call) -> Sequence[SignatureTensor]:
        checks.append(call.name)
        return call.tensors(1)

    bind = doubling(Reuse.ELEMENTWISE).bind
    plans = KernelPlans({"my.double": CheckedKernel("my.double", checked, bind)})
    spec = f32(None)
    step = Step("my.double", {}, (0,), (1,))
    kernel = Kernel("double", (spec,), (), (spec,), (step,), (1,))

    def doubled(x: Array, out: Array) -> Array:
        for thunk, _ in bind_plan(plans.of(kernel, [x], [out]), [x], [out], Workspace()):
            thunk()
        return out

    x = np.ones(4, np.float32)
    for _ in range(3):
        x = x.copy()
        np.testing.assert_array_equal(doubled(x, np.empty_like(x)), 2 * x)
    assert len(checks) == 1
    np.testing.assert_array_equal(doubled(x, x), np.full(4, 2))  # in the same memory
    assert len(checks) == 2
    x = np.ones(5, np.float32)
    np.testing.assert_array_equal(doubled(x, np.empty_like(x)), 2 * x)
    assert len(checks) == 3
    with pytest.raises(MachineError, match="must be float32"):
        plans.of(kernel, [np.ones(4)], [np.ones(4, np.float32)])


def test_old_plans_are_dropped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(binding, "MAX_STEPS", 6)
    plans, kernel = KernelPlans(KERNELS), chain("relay.nn.relu")
    dynamic = Kernel("dynamic", (f32(None),), (), (f32(None),), kernel.steps, (1,))
    operands = [[np.ones(n, np.float32), np.ones(n, np.float32)] for n in range(1, 6)]
    found = [plans.of(dynamic, [x], [y]) for x, y in operands]
    again = [plans.of(dynamic, [x], [y]) for x, y in reversed(operands)]
    kept = [plan is old for plan, old in zip(reversed(again), found, strict=True)]
    assert kept == [False, False, True, True, True]
