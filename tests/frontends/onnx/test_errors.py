"""Errors name the node, the operator, the opset, and what is supported."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, light_model_path
from helpers.onnx.onnx_small import model_of, node, random_array
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from xdsl.context import Context

from xrelay.frontends.onnx import OnnxError, load_module

X = random_array(1, 2, 6, 6)


def error_of(model: ModelProto) -> OnnxError:
    with pytest.raises(OnnxError) as caught:
        load_module(Context(), model.SerializeToString(), "bad.onnx")
    return caught.value


def message_of(
    nodes: NodeProto,
    feeds: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    **more: Any,
) -> str:
    return str(error_of(model_of(nodes, feeds, constants, **more)))


def test_an_unknown_operator_is_named_with_node_and_opset():
    message = message_of(node("Unfold", "x"), {"x": X})
    expected = "the operator is not supported (docs/reference/onnx.md lists those that are)"
    assert message == f'node "the_unfold" (Unfold, opset 13): {expected}'


def test_an_error_has_the_place_of_its_node():
    """Its name, or its number where it has none, and the path of graphs that lead to it."""
    unfold = node("Unfold", "h")
    error = error_of(model_of([node("Relu", "x", "h"), unfold], {"x": X}))
    assert str(error.location) == 'loc("bad.onnx:the_unfold":0:0)'
    unfold.name = ""
    error = error_of(model_of([node("Relu", "x", "h"), unfold], {"x": X}))
    assert str(error.location) == 'loc("bad.onnx":2:1)'

    value = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    inner = helper.make_node("Unfold", ["x"], ["y"], name="fold\n1")
    then = helper.make_graph([inner], "then_part", [], [value])
    relu = helper.make_node("Relu", ["x"], ["y"])
    otherwise = helper.make_graph([relu], "else_part", [], [value])
    choice = helper.make_node("If", ["c"], ["y"], "if_0", then_branch=then, else_branch=otherwise)
    condition = np.asarray(True)
    error = error_of(model_of([choice], {"x": X, "c": condition}))
    assert str(error.location) == 'loc("bad.onnx:if_0/then_part/fold?1":0:0)'
    choice.name = ""
    for branch in choice.attribute:
        branch.g.node[0].name = ""
    error = error_of(model_of([choice], {"x": X, "c": condition}))
    assert str(error.location) == 'loc("bad.onnx:#1/then_part/#1":0:0)'


def test_an_error_about_the_file_has_its_place():
    with pytest.raises(OnnxError) as caught:
        load_module(Context(), b"no model", "bad.onnx")
    assert str(caught.value.location) == 'loc("bad.onnx":1:1)'


def test_a_node_without_a_name_is_named_by_its_output():
    nameless = helper.make_node("Unfold", ["x"], ["out"])
    assert message_of(nameless, {"x": X}, outputs="out").startswith('node "out" (Unfold')


def declared(dims: Sequence[int | str] | None, element: int = TensorProto.FLOAT) -> ValueInfoProto:
    """The type of `h`."""
    return helper.make_tensor_value_info("h", element, dims)


@pytest.mark.parametrize(
    ("h", "reader", "reason"),
    [
        (declared([2, 6]), node("Concat", "h h", axis=4), "axis must be in [-2, 2), but is 4"),
        (declared(["n", 0]), node("Concat", "h h", axis=4), "axis must be in [-2, 2), but is 4"),
        (declared([1, 6, 2, 2]), node("DepthToSpace", "h", blocksize=2), "6 channels do not"),
        (declared([1, "c", 2, 2]), node("DepthToSpace", "h", blocksize=2), None),
        (declared([2, 6]), node("Concat", "h h", axis=1), None),
        (declared(None), node("Concat", "h h", axis=4), None),
        (declared([2], TensorProto.STRING), node("Concat", "h h", axis=4), None),
        (declared([2], TensorProto.INT64), node("Split", "x h", "y z"), None),
    ],
)
def test_readers_of_a_refused_node_are_checked_with_its_declared_type(
    h: ValueInfoProto, reader: NodeProto, reason: str | None
):
    """But a reader that needs its value, or a dim without a size, is not to blame."""
    model = model_of([node("Unfold", "x", "h"), reader], {"x": X})
    model.graph.value_info.append(h)
    error = error_of(model)
    notes = [note for note, _ in error.notes]
    if reason is None:
        assert (str(error)[:17], notes) == ('node "the_unfold"', [])
    else:
        assert str(error) == "the model cannot be converted, for 2 reasons"
        assert reason in notes[1]
        assert notes[2] == 'types assumed as the model declares or ONNX infers them: "h"'


def test_readers_of_a_refused_node_are_checked_with_the_type_that_onnx_infers():
    nodes = [node("Det", "x", "h"), node("Abs", "h", "g"), node("Concat", "g g", axis=4)]
    error = error_of(model_of(nodes, {"x": random_array(2, 5, 3, 3)}))
    assert "Det" in error.notes[0][0]
    assert "axis must be in [-2, 2), but is 4" in error.notes[1][0]


def refused_graph(name: str, *inputs: ValueInfoProto) -> GraphProto:
    """A graph of two nodes that cannot be converted, and of one that is skipped."""
    nodes = [node("Concat", "x x", "h", axis=7), node("Unfold", "x", "i"), node("Add", "h i")]
    return helper.make_graph(nodes, name, inputs, [helper.make_tensor_value_info("y", 1, None)])


def scalar(name: str, element: int) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, element, [])


THEN, OTHER = refused_graph("then"), refused_graph("else")
BODY = refused_graph("body", scalar("i0", TensorProto.INT64), scalar("c0", TensorProto.BOOL))
BODY.output.insert(0, scalar("c0", TensorProto.BOOL))
EACH = refused_graph("each", helper.make_tensor_value_info("x", 1, None))
ITEMS = node("SequenceConstruct", "x x", "xs")


@pytest.mark.parametrize(
    ("nodes", "where"),
    [
        (
            [node("If", "c", then_branch=THEN, else_branch=OTHER)],
            ['(If, opset 13): in graph "then": ', '(If, opset 13): in graph "else": '],
        ),
        ([node("Loop", "n c", body=BODY)], ['(Loop, opset 13): in graph "body": ']),
        (
            [node("Scan", "x", num_scan_inputs=1, body=EACH)],
            ['(Scan, opset 13): in graph "each": '],
        ),
        ([ITEMS, node("SequenceMap", "xs", body=EACH)], ['in its body: node "']),
        ([node("Pair", "x")], ["(Pair, opset 13): in its body: "]),
    ],
)
def test_all_reasons_in_graphs_and_bodies_are_listed(
    nodes: Sequence[NodeProto], where: Sequence[str]
):
    feeds = {"x": X, "c": np.array(True), "n": np.array(3)}
    model = model_of(nodes, feeds, opset=17 if len(nodes) > 1 else 13)
    opsets = model.opset_import
    model.functions.append(helper.make_function("", "Pair", ["x"], ["y"], THEN.node, opsets))
    notes = [note for note, _ in error_of(model).notes]
    for place in where:
        inside = [note for note in notes if place in note]
        assert "the_concat" in inside[0]
        assert "axis must be in" in inside[0]
        assert "the_unfold" in inside[1]
        assert "not supported" in inside[1]
        assert len(inside) == 2
    assert len(notes) == 2 * len(where)


REFUSED: list[tuple[NodeProto, int, str]] = [
    (node("MaxPool", "x", kernel_shape=[2, 2], colour=1), 13, "attribute colour is not supported"),
    (node("MaxPool", "x", kernel_shape="2"), 13, "kernel_shape must be a list of integers, but"),
    (node("MaxPool", "x", kernel_shape=[2]), 13, "kernel_shape is [2]; supported: 2 integers"),
    (node("MaxPool", "x"), 13, "kernel_shape is None; supported: 2 integers of at least 1"),
    (
        node("MaxPool", "x", kernel_shape=[2, 2], auto_pad="SOME"),
        13,
        'auto_pad is "SOME"; supported: NOTSET, SAME_UPPER, SAME_LOWER, VALID',
    ),
    (node("MaxPool", "x", kernel_shape=[2, 2], strides=[0, 1]), 13, "strides is [0, 1]; supported"),
    (node("Resize", "x - s", mode="area"), 13, 'mode is "area"; supported: nearest, linear, cubic'),
    (node("Gelu", "x", approximate="rough"), 20, 'approximate is "rough"; supported: none, tanh'),
    (node("Transpose", "x", perm=[0, 1]), 13, "perm is [0, 1]; supported: an order of 4 axes"),
    (node("Concat", "x x", axis=4), 13, "axis must be in [-4, 4), but is 4"),
    (node("Concat", "x x"), 13, "attribute axis is missing"),
    (node("Flatten", "x", axis=5), 13, "axis must be in [-4, 4), but is 5"),
    (node("Split", "x", "y z", axis=2, split=[1, 2]), 11, "2 sizes that sum to 6"),
    (
        node("Split", "x", "y z w v", axis=2),
        13,
        "the 6 elements of axis 2 do not divide into 4 equal parts",
    ),
    (node("Cast", "x", to=8), 13, "attribute to: dtype string is not supported; supported: bool"),
    (node("Cast", "x", to=14), 13, "attribute to: dtype complex64 is not supported"),
    (node("Cast", "x", to=99), 13, "attribute to: dtype number 99 is not supported"),
    (node("Not", "x"), 13, "input 0 has dtype float32; supported: bool"),
    (node("Add", "x"), 13, "there are 1 inputs; supported: 2 to 2"),
    (node("Add", "x -"), 13, "input 1 is missing"),
    (node("Add", "x unknown"), 13, 'no earlier node computes the input "unknown"'),
    (node("Gelu", "x"), 13, "not supported in opset 13; supported: opset 20 and later"),
    (node("Dropout", "x - t"), 13, "training_mode is true; supported: false"),
    (node("LRN", "x"), 13, "attribute size is None; supported: 1 and more"),
    (node("Mod", "x x"), 13, "attribute fmod must be 1 for floats, but is 0"),
    (node("Squeeze", "x", axes=[1]), 11, "axes [1] of shape [1, 2, 6, 6] are not all 1"),
    (node("DepthToSpace", "x", blocksize=2), 13, "2 channels do not divide into blocks of 2 by 2"),
    (node("SpaceToDepth", "x", blocksize=4), 13, "6 by 6 pixels do not divide into blocks of 4"),
    (node("SpaceToDepth", "x", blocksize=0), 13, "attribute blocksize is 0; supported: 1 and more"),
    (node("Split", "x", "y z", num_outputs=3), 18, "num_outputs is 3, but there are 2 outputs"),
    (node("Slice", "x", starts=[0]), 9, "the ends are missing"),
    (node("Slice", "x", starts=[0, 0], ends=[1]), 9, "2 entries each, but have 2 and 1"),
    (node("Pad", "x"), 10, "the pads are missing"),
    (node("Pad", "x", pads=[1, 1]), 10, "there are 2 pads; supported: 8"),
    (node("Pad", "v", pads=[-9, 0]), 10, "pads -9 and 0 crop more than 3 elements"),
    (node("OneHot", "x x x"), 13, "the values have shape [1, 2, 6, 6]; supported: [2]"),
    (node("BatchNormalization", "x v v v v"), 6, "attribute is_test is 0; supported: 1"),
    (node("BatchNormalization", "x v v v v", spatial=0), 7, "attribute spatial is 0; supported: 1"),
    (node("BatchNormalization", "v v v v v"), 13, "the input has rank 1; supported: 2 and more"),
    (node("LayerNormalization", "x v", stash_type=10), 17, "attribute stash_type must be 1"),
    (node("InstanceNormalization", "m v v"), 13, "the input has rank 2; supported: 3 and more"),
    (node("GroupNormalization", "x v v", num_groups=0), 21, "attribute num_groups is 0 for shape"),
    (node("LpNormalization", "x", p=3), 13, "attribute p is 3; supported: 1, 2"),
    (node("Reshape", "v two"), 13, "shape is [-1, -1]; supported: dims of at least 0, and one -1"),
    (node("Reshape", "v past"), 13, "copies a dim that an input of rank 1 does not have"),
    (node("Reshape", "v half"), 13, "cannot reshape a tensor of 3 to 2, -1"),
    (node("Tile", "v two"), 13, "there are 2 repeats; supported: 1"),
    (node("Expand", "v two"), 13, "shape must be at least 0, but is -1"),
    (node("Expand", "m past"), 13, "dim 2 at axis -2 does not broadcast to 3"),
    (node("Unsqueeze", "x"), 11, "the axes are missing"),
    (node("TopK", "x", "y z"), 9, "k is None; supported: 0 and more"),
    (node("Gemm", "n n n", alpha=0.5), 13, "alpha is 0.5 for integers; supported: whole numbers"),
    (node("MatMul", "x f"), 13, "a factor has rank 0; supported: rank 1 and more"),
    (node("MatMul", "m m"), 13, "shapes [2, 3] and [2, 3] do not match"),
    (node("MatMul", "x w"), 13, "dims 2 and 3 at axis"),
    (node("LpPool", "x", kernel_shape=[2, 2], p=0), 18, "attribute p is 0; supported: 1 and more"),
    (node("GlobalLpPool", "x", p=0), 13, "p is 0, the rank 4; supported: from 1"),
    (node("GlobalAveragePool", "m"), 13, "the input has rank 2; supported: 3 and more"),
    (node("GridSample", "x x"), 16, "the grid must have rank 4, and 2 coordinates last"),
    (node("Conv", "m m"), 13, "the input has shape [2, 3]; supported: batch, channel and 1"),
]


@pytest.mark.parametrize(("refused", "opset", "reason"), REFUSED)
def test_refused(refused: NodeProto, opset: int, reason: str):
    constants = {
        "s": np.array([1, 1, 2, 2], np.float32),
        "t": np.array(True),
        "f": np.array(2, np.float32),
        "v": np.ones(3, np.float32),
        "m": np.ones((2, 3), np.float32),
        "w": np.ones((3, 6, 6), np.float32),
        "n": np.ones((2, 2), np.int32),
        "two": np.array([-1, -1]),
        "past": np.array([3, 0]),
        "half": np.array([2, -1]),
    }
    message = message_of(refused, {"x": X}, constants, outputs=refused.output[0], opset=opset)
    assert message.startswith(f'node "{refused.name}" ({refused.op_type}, opset {opset}): ')
    assert reason in message


def test_shapes_that_do_not_fit_are_named():
    feeds = {"x": random_array(2, 3), "z": random_array(2, 4)}
    message = message_of(node("Add", "x z"), feeds)
    assert 'node "the_add" (Add, opset 13): dims 3 and 4' in message


def test_a_rank_that_is_computed_at_run_time():
    """The second input has as many elements as the result has dims."""
    model = model_of(node("Reshape", "x s"), {"x": X, "s": np.array([1, -1], np.int64)})
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "rank"
    assert "the length of shape (input 1) is computed at run time; supported: vectors" in str(
        error_of(model)
    )


def test_a_number_that_must_be_known():
    feeds = {"x": X, "r": np.array(0.5, np.float32), "t": np.array(0, bool)}
    expected = "training_mode (input 2) is computed at run time; supported: initializers, constants"
    assert expected in message_of(node("Dropout", "x r t", "y"), feeds)


def test_a_used_output_that_is_not_supported():
    norm = node("BatchNormalization", "x x x x x", "y mean")
    message = message_of(norm, {"x": X}, outputs="y mean")
    assert "output 1 (the mean) is used; supported: output 0 only" in message


def test_an_operator_of_another_domain():
    foreign = helper.make_node("Relu", ["x"], ["y"], name="r", domain="com.example")
    message = message_of(foreign, {"x": X})
    assert "the operator is of domain com.example; supported: ai.onnx" in message


@pytest.mark.parametrize("opset", [1, 5, 1000])
def test_an_operator_set_of_another_version(opset: int):
    message = message_of(node("Relu", "x"), {"x": X}, opset=opset)
    assert message.startswith(f"the model uses opset {opset}; supported: opsets 6 to 28")


def test_a_dynamic_dim_that_must_be_static():
    pool = node("MaxPool", "x", "y i", kernel_shape=[3] * 2, strides=[2] * 2, auto_pad="SAME_UPPER")
    model = model_of(pool, {"x": X}, outputs="i", dtype=np.int64)
    model.graph.input[0].type.tensor_type.shape.dim[3].dim_param = "width"
    assert str(error_of(model)).endswith(
        "output 1 with auto_pad needs the size of the input, but dims [6, ?] are dynamic"
    )
    blocks = node("SpaceToDepth", "x", blocksize=2, mode="CRD")
    model = model_of(blocks, {"x": X}, opset=28)
    model.graph.input[0].type.tensor_type.shape.dim[3].dim_param = "width"
    assert str(error_of(model)).endswith(
        "an operand of type tensor<1x2x6x?xf32> has dynamic dims; supported: static shapes"
    )


def test_an_input_of_another_kind():
    model = model_of(node("Relu", "x"), {"x": X})
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
    model.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(tensor))
    assert str(error_of(model)).endswith("input 0 is a sequence or optional; supported: tensors")
    model.graph.input[0].type.sparse_tensor_type.elem_type = TensorProto.FLOAT
    expected = 'input "x" is sparse_tensor_type; supported: tensors, sequences and optional values'
    assert str(error_of(model)) == expected


def test_an_initializer_whose_data_is_too_short():
    model = model_of(node("Add", "x c"), {"x": X}, {"c": random_array(6)})
    model.graph.initializer[0].raw_data = b"\0" * 20
    assert str(error_of(model)) == (
        'initializer "c": float32 of shape [6] needs 24 bytes, but got 20'
    )


def test_an_output_that_nothing_computes():
    model = model_of(node("Relu", "x"), {"x": X}, outputs="y z")
    assert str(error_of(model)) == 'no node computes the output "z" of the graph'


def test_a_value_that_is_computed_twice():
    model = model_of([node("Relu", "x"), node("Abs", "x")], {"x": X})
    assert 'redefinition of "y"' in str(error_of(model))


@pytest.mark.parametrize("data", [b"", b"\0", b"func.func @main() {}", b"\xff" * 100])
def test_bytes_that_are_not_a_model(data: bytes):
    with pytest.raises(OnnxError, match="not an ONNX model"):
        load_module(Context(), data, "bad.onnx")


def test_a_model_that_is_cut_off():
    data = light_model_path("squeezenet").read_bytes()
    for size in range(0, len(data), 97):
        with pytest.raises(OnnxError):
            load_module(Context(), data[:size], "bad.onnx")


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(OnnxError, match=r"pip install onnx"):
        load_module(Context(), b"", "model.onnx")
