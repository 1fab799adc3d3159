"""Results with channels last are those without: of random graphs, and of networks."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.onnx.onnx_models import light_network, onnxruntime_results, run_onnxruntime
from helpers.onnx.onnx_small import assert_close, model_of, node, random_array
from helpers.programs.random_settings import exactly, share
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    BoolAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

import xrelay
from xrelay.dialects import relay
from xrelay.dialects.relay import (
    broadcast,
    convolution,
    elementwise,
    normalization,
    pooling,
    rearrange,
    reduce,
    reshape,
)
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.relay.properties import ints
from xrelay.dialects.tensors import as_tensor
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.weights.derived_weights import ArraySource, Weights

PASSES = "propagate-layout,fold-constants,fold-weights"


class Graph:
    """A graph of operators on images under construction."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.block = Block(arg_types=[TensorType(f32, [2, 4, 6, 6])])
        self.images: list[SSAValue] = [self.block.args[0]]
        self.weights: dict[str, np.ndarray[Any, Any]] = {}
        self.random = np.random.default_rng(draw(st.integers(0, 99)))

    def image(self) -> SSAValue:
        return self.draw(st.sampled_from(self.images))

    def weight(self, *shape: int) -> SSAValue:
        name = f"w{len(self.weights)}"
        self.weights[name] = self.random.standard_normal(shape).astype(np.float32)
        op = relay.ParamOp(name, TensorType(f32, shape))
        self.block.add_op(op)
        return op.result

    def apply(self, kind: type[Operator], *operands: SSAValue, **properties: Attribute) -> None:
        op = kind.on(operands, properties)
        self.block.add_op(op)
        self.images += op.results


def dims(image: SSAValue) -> tuple[int, ...]:
    type = as_tensor(image.type)
    assert type is not None
    return type.get_shape()


def number(value: int) -> IntegerAttr[Any]:
    return IntegerAttr(value, i64)


def add_convolution(graph: Graph) -> None:
    x = graph.image()
    channels, size = dims(x)[1], min(dims(x)[2:])
    groups = graph.draw(st.sampled_from([g for g in (1, 2, channels) if channels % g == 0]))
    window = graph.draw(st.sampled_from([1, min(3, size)]))
    out = groups * graph.draw(st.integers(1, 3))
    weight = graph.weight(out, channels // groups, window, window)
    padding = ints(graph.draw(st.sampled_from([(0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 2, 0)])))
    graph.apply(convolution.Conv2dOp, x, weight, groups=number(groups), padding=padding)


def add_bias(graph: Graph) -> None:
    x = graph.image()
    axis = graph.draw(st.sampled_from([1, -3, 3]))
    graph.apply(broadcast.BiasAddOp, x, graph.weight(dims(x)[axis]), axis=number(axis))


def add_broadcast(graph: Graph) -> None:
    x = graph.image()
    same = [y for y in graph.images if dims(y) == dims(x)]
    y = graph.draw(st.sampled_from(same))
    rank = graph.draw(st.integers(0, 4))
    if rank < 4:
        y = graph.weight(*(d if graph.draw(st.booleans()) else 1 for d in dims(x)[4 - rank :]))
    operands = (x, y) if graph.draw(st.booleans()) else (y, x)
    graph.apply(broadcast.SubtractOp, *operands)


def add_elementwise(graph: Graph) -> None:
    graph.apply(graph.draw(st.sampled_from([elementwise.ReluOp, elementwise.AbsOp])), graph.image())


def add_pool(graph: Graph) -> None:
    kind = graph.draw(st.sampled_from([pooling.MaxPool2dOp, pooling.AvgPool2dOp]))
    x = graph.image()
    size = [min(2, d) for d in dims(x)[2:]]
    graph.apply(kind, x, pool_size=ints(size), padding=ints((0, 1, 0, 0)))


def add_normalization(graph: Graph) -> None:
    kind = graph.draw(st.sampled_from([normalization.SoftmaxOp, normalization.LrnOp]))
    graph.apply(kind, graph.image(), axis=number(graph.draw(st.sampled_from([1, 2, -1]))))


def add_joined(graph: Graph) -> None:
    x, axis = graph.image(), graph.draw(st.sampled_from([1, -2]))
    fits = [y for y in graph.images if same_but(dims(x), dims(y), axis % 4)]
    graph.apply(rearrange.ConcatenateOp, x, graph.draw(st.sampled_from(fits)), axis=number(axis))


def same_but(one: Sequence[int], other: Sequence[int], axis: int) -> bool:
    return all(a == b for i, (a, b) in enumerate(zip(one, other, strict=True)) if i != axis)


def add_split(graph: Graph) -> None:
    x, axis = graph.image(), graph.draw(st.integers(1, 3))
    if dims(x)[axis] > 1:
        graph.apply(rearrange.SplitOp, x, indices_or_sections=ints((1,)), axis=number(axis))


def add_slice(graph: Graph) -> None:
    x, axes = graph.image(), graph.draw(st.sampled_from([(1,), (3, 1), None]))
    count = 3 if axes is None else len(axes)
    more: dict[str, Attribute] = {} if axes is None else {"axes": ints(axes)}
    begin, end = ints((0,) * count), ints(graph.draw(st.tuples(*[st.integers(1, 4)] * count)))
    graph.apply(rearrange.StridedSliceOp, x, begin=begin, end=end, **more)


def add_reduction(graph: Graph) -> None:
    axes = graph.draw(st.sampled_from([(1,), (2, 3), (-1,)]))
    keep, exclude = BoolAttr.from_bool(True), BoolAttr.from_bool(graph.draw(st.booleans()))
    graph.apply(reduce.SumOp, graph.image(), axis=ints(axes), keepdims=keep, exclude=exclude)


def add_shuffle(graph: Graph) -> None:
    x = graph.image()
    n, channels, h, w = dims(x)
    groups = next((g for g in (2, 3, 1) if channels % g == 0), 1)
    split = reshape.ReshapeOp.on([x], {"newshape": ints((n, groups, channels // groups, h, w))})
    order = graph.draw(st.sampled_from([(0, 2, 1, 3, 4), (0, 1, 2, 4, 3), (0, 2, 1, 4, 3)]))
    moved = rearrange.TransposeOp.on([split.result], {"axes": ints(order)})
    graph.block.add_ops([split, moved])
    shape = (n, channels, *dims(moved.result)[3:])
    graph.apply(reshape.ReshapeOp, moved.result, newshape=ints(shape))


def add_transpose(graph: Graph) -> None:
    order = graph.draw(st.sampled_from([(0, 3, 1, 2), (0, 2, 3, 1), (0, 1, 3, 2), (1, 0, 2, 3)]))
    graph.apply(rearrange.TransposeOp, graph.image(), axes=ints(order))


def add_pad(graph: Graph) -> None:
    scalar = graph.weight()
    widths, mode = ints((0, 0, 1, 0, 0, 2, 1, 1)), StringAttr("constant")
    graph.apply(rearrange.PadOp, graph.image(), scalar, pad_width=widths, pad_mode=mode)


STEPS: Sequence[Callable[[Graph], None]] = (
    *(add_convolution, add_convolution, add_bias, add_broadcast, add_elementwise, add_pool),
    *(add_normalization, add_joined, add_split, add_slice, add_reduction, add_shuffle),
    *(add_transpose, add_pad),
)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[ModuleOp, dict[str, np.ndarray[Any, Any]]]:
    graph = Graph(draw)
    add_convolution(graph)
    for _ in range(draw(st.integers(1, 8))):
        draw(st.sampled_from(STEPS))(graph)
    results = graph.images[1:]
    graph.block.add_op(func.ReturnOp(*results))
    type = FunctionType.from_lists(graph.block.arg_types, [r.type for r in results])
    return ModuleOp([func.FuncOp("main", type, Region(graph.block))]), graph.weights


@given(graphs())
@exactly(60)
def test_results_of_random_graphs_are_the_same(made: tuple[ModuleOp, dict[str, Any]]):
    module, weights = made
    x = np.random.default_rng(0).standard_normal((2, 4, 6, 6)).astype(np.float32)
    before = evaluate(module, [x], weights)
    run_passes(module, PASSES)
    assert "NHWC" in str(module)
    after = evaluate(module, [x], weights)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "transpositions"),
    share([("squeezenet", 2), ("shufflenet", 17), ("bvlc_alexnet", 1)], 2),
)
def test_networks_have_channels_last_throughout(name: str, transpositions: int):
    """One at the input, and one for the second output of SqueezeNet or for each shuffle."""
    network = light_network(name)
    conversion = convert_model(network.model, name)
    simple = "infer-types,simplify-inference,fold-constants,dynamic-to-static,infer-types"
    run_passes(conversion.module, f"{simple},{PASSES}")
    ops = list(conversion.module.walk())
    assert sum(isinstance(op, rearrange.TransposeOp) for op in ops) == transpositions
    assert all(op.data_layout.data == "NHWC" for op in ops if isinstance(op, convolution.Conv2dOp))
    run_passes(conversion.module, "vm")
    program, source = assemble(conversion.module), Weights(ArraySource(conversion.params))
    weights = {late.name: source.array(late.name) for late in program.late_constants}
    actual = Machine(program, weights).run("main", *network.feeds.values())
    for a, e in zip(actual, onnxruntime_results(network), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5 * float(np.abs(e).max()))


@pytest.mark.ci
def test_machine_code_of_few_channels_in_long_rows():
    """One filter, of rows of 35: whole vectors, and the ends."""
    feeds = {"x": random_array(1, 4, 14, 37)}
    weights = {"u": random_array(24, 4, 1, 1, seed=1), "v": random_array(1, 24, 5, 3, seed=2)}
    nodes = [node("Conv", "x u", "many"), node("Sigmoid", "many", "s"), node("Conv", "s v")]
    nodes[0].name = "first"
    model = model_of(nodes, feeds, weights)
    net: Any = xrelay.compile(model, target="native")
    assert_close([net(feeds["x"])], run_onnxruntime(model, feeds))
