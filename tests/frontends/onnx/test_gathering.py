"""GatherElements, GatherND, ReverseSequence, Hardmax, LpPool and Einsum."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array
from helpers.onnx.onnx_small import agree, assert_close, model_of, node, random_array
from onnx import NodeProto, TensorProto, helper

import xrelay
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.frontends.onnx.errors import OnnxError

RANDOM = np.random.default_rng(0)
X = random_array(3, 4, 5)


def indices(size: int, *shape: int, dtype: Any = np.int64) -> Array:
    drawn: Array = RANDOM.integers(-size, size, shape)
    return drawn.astype(dtype)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_gather_elements(axis: int, dtype: Any):
    at = indices(X.shape[axis], 2, 3, 5, dtype=dtype)
    agree(node("GatherElements", "x i", axis=axis), {"x": X, "i": at})


@pytest.mark.parametrize("count", [1, 2, 3])
def test_gather_nd(count: int):
    at = np.stack([indices(n, 2, 6) for n in X.shape[:count]], -1)
    agree(node("GatherND", "x i"), {"x": X, "i": at})


@pytest.mark.parametrize("batch", [1, 2])
def test_gather_nd_in_batches(batch: int):
    shape = (*X.shape[:batch], *[6] * (2 - batch))
    at = indices(X.shape[batch], *shape, 1)
    agree(node("GatherND", "x i", batch_dims=batch), {"x": X, "i": at})


@pytest.mark.parametrize("time", [0, 1])
def test_reverse_sequence(time: int):
    lengths = np.array([1, 3, 0, 2] if time == 0 else [4, 1, 2], np.int64)
    lengths = np.maximum(lengths, 1)  # onnxruntime refuses 0
    reverse = node("ReverseSequence", "x n", time_axis=time, batch_axis=1 - time)
    agree(reverse, {"x": X, "n": lengths})


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("opset", [11, 13])
def test_hardmax(axis: int, opset: int):
    x = np.round(X)  # with equal elements
    agree(node("Hardmax", "x", axis=axis), {"x": x}, opset=opset)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(p: int):
    x = random_array(2, 3, 8, 7)
    pool = node("LpPool", "x", p=p, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    agree(pool, {"x": x})
    agree(node("GlobalLpPool", "x", p=p), {"x": x})


EQUATIONS = [
    "ij,jk->ik",
    "bij,bjk->bik",
    "bij,bkj->bki",
    "bhid,bhjd->bhij",
    "bhij,bjhd->bihd",
    "ij->ji",
    "ij->",
    "ij->j",
    "ii->i",
    "ii",
    "bii->bi",
    "i,j->ij",
    "i,i",
    "ij,jk,kl->il",
    "ij,kj",
    "...ij,...jk->...ik",
    "...i->...",
    "i...j,jk->...ik",
    "ij,ik->i",
    "abc,cd,ade->be",
]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation: str):
    sizes = {c: n for n, c in enumerate("ijkabcdehl", 2)}
    operands: dict[str, Array] = {}
    for number, term in enumerate(equation.partition("->")[0].split(",")):
        shape: list[int] = []
        for part in term.replace("...", "."):
            shape += [2, 3] if part == "." else [sizes[part]]
        operands[f"x{number}"] = random_array(*shape, seed=number)
    agree(node("Einsum", " ".join(operands), equation=equation), operands)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", ("i j", "j k")),
        ("bhqd,bhkd->bhqk", ("b h q d", "b h k d")),
        ("bhqk,bhkd->bqhd", ("b 4 q k", "b 4 k d")),
        ("...ij,jk->...ik", ("b c i j", "j k")),
        ("ijk->k", ("i j k",)),
        ("ij,kl->ijkl", ("i j", "k l")),
        ("abc,cd,ade->be", ("a b c", "c d", "a d e")),
    ],
)
def test_einsum_of_open_dims(equation: str, shapes: Sequence[str]):
    operands = [f"x{number}" for number in range(len(shapes))]
    einsum = node("Einsum", " ".join(operands), equation=equation)
    dims = [[int(dim) if dim.isdigit() else dim for dim in shape.split()] for shape in shapes]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip(operands, dims, strict=True)
    ]
    graph = helper.make_graph([einsum], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    compiled = xrelay.compile(helper.make_model(graph))
    for first in (1, 2):
        sizes = {c: n for n, c in enumerate("bhqkdcijlae", first)}
        feeds = [random_array(*(sizes.get(str(d)) or int(d) for d in shape)) for shape in dims]
        assert_close([compiled(*feeds)], [np.einsum(equation, *feeds)])


@pytest.mark.parametrize(
    "of_stacks", [node("Einsum", "x z", equation="bhij,bhjk->bhik"), node("MatMul", "x z")]
)
def test_stacks_that_differ_at_run_time(of_stacks: NodeProto):
    """Dims of a stack are merged: (2, 1) and (1, 2) must not be taken for one stack of 2."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [f"{name}{i}" for i in range(4)])
        for name in ("x", "z")
    ]
    graph = helper.make_graph([of_stacks], "g", inputs, [helper.make_empty_tensor_value_info("y")])
    compiled = xrelay.compile(helper.make_model(graph))
    x, z = random_array(2, 3, 4, 5), random_array(2, 3, 5, 6)
    assert_close([compiled(x, z)], [x @ z])
    with pytest.raises(xrelay.MachineError, match=r"dims must be equal, but are [12] and [12]"):
        compiled(random_array(2, 1, 4, 5), random_array(1, 2, 5, 6))


def test_einsum_broadcasts_axes_of_one():
    x, y = random_array(1, 3, 4), random_array(5, 4, 2)
    agree(node("Einsum", "x z", equation="...ij,...jk->...ik"), {"x": x, "z": y})


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij,jk", "2 operands, but there are 1"),
        ("ijk->i", 'operand "ijk"'),
        ("ij->k", "unknown or repeated"),
        ("i%->i", "supported: letters"),
    ],
)
def test_wrong_equations(equation: str, message: str):
    proto = model_of(node("Einsum", "x", equation=equation), {"x": random_array(2, 3)})
    with pytest.raises(OnnxError, match=message):
        convert_model(proto, "small.onnx")


def test_an_operand_of_many_axes_is_refused():
    proto = model_of(node("Einsum", "x", equation="i" * 65), {"x": random_array(*[1] * 6)})
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    for _ in range(59):
        dims.add(dim_value=1)
    with pytest.raises(OnnxError, match="rank 65; supported: up to 64"):
        convert_model(proto, "small.onnx")


@pytest.mark.parametrize("batch", [-1, 2, 2**62])
def test_wrong_batch_dims(batch: int):
    inputs = {"x": random_array(3, 2), "i": np.zeros((3, 1), np.int64)}
    proto = model_of(node("GatherND", "x i", batch_dims=batch), inputs)
    with pytest.raises(OnnxError, match=f"batch_dims is {batch}"):
        convert_model(proto, "small.onnx")
