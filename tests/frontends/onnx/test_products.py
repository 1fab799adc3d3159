"""Matrix products and normalizations against onnxruntime."""

import itertools

import numpy as np
import pytest
from helpers.onnx.onnx_small import agree, node, operators_of, random_array


class Test_gemm:
    @pytest.mark.parametrize(("trans_a", "trans_b"), list(itertools.product((0, 1), (0, 1))))
    @pytest.mark.parametrize("c", [None, (5,), (1, 5), (3, 1), (3, 5), (1,), ()])
    def test_transposed(self, trans_a: int, trans_b: int, c: tuple[int, ...] | None):
        a = random_array(*((4, 3) if trans_a else (3, 4)), seed=1)
        b = random_array(*((5, 4) if trans_b else (4, 5)), seed=2)
        feeds = {"a": a} if c is None else {"a": a, "c": random_array(*c, seed=3)}
        names = "a b" if c is None else "a b c"
        agree(node("Gemm", names, transA=trans_a, transB=trans_b), feeds, {"b": b})

    def test_a_layer_is_dense_and_bias(self):
        constants = {"b": random_array(5, 4), "c": random_array(5)}
        made = agree(node("Gemm", "a b c", transB=1), {"a": random_array(3, 4)}, constants)
        assert operators_of(made) == ["nn.dense", "nn.bias_add"]

    @pytest.mark.parametrize(("alpha", "beta"), [(0.5, 1.0), (1.0, 2.5), (-2.0, 0.0)])
    def test_scaled(self, alpha: float, beta: float):
        feeds = {"a": random_array(3, 4), "b": random_array(4, 5), "c": random_array(5)}
        agree(node("Gemm", "a b c", alpha=alpha, beta=beta), feeds)


SHAPES = [
    ((3, 4), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (1, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((1, 3, 4), (2, 4, 5)),
    ((6, 2, 3, 4), (6, 2, 4, 5)),
    ((6, 1, 3, 4), (2, 4, 5)),
    ((6, 1, 3, 4), (1, 2, 4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)),
]


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_matmul(left: tuple[int, ...], right: tuple[int, ...]):
    agree(node("MatMul", "a b"), {"a": random_array(*left), "b": random_array(*right, seed=1)})


def test_matmul_with_one_matrix_is_one_product():
    made = agree(node("MatMul", "a b"), {"a": random_array(2, 3, 4)}, {"b": random_array(4, 5)})
    assert operators_of(made) == ["nn.matmul"]


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (2, 3, 4, 5)])
@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization(shape: tuple[int, ...], opset: int):
    constants = {n: random_array(3, seed=i) for i, n in enumerate("sbm")}
    constants["v"] = np.abs(random_array(3, seed=4)) + 0.1
    batch_norm = node("BatchNormalization", "x s b m v", epsilon=1e-3, momentum=0.8)
    agree(batch_norm, {"x": random_array(*shape)}, constants, opset=opset)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_lrn(size: int):
    lrn = node("LRN", "x", size=size, alpha=0.3, beta=0.6, bias=1.5)
    agree(lrn, {"x": random_array(2, 7, 3, 4)})


class Test_layer_normalization:
    @pytest.mark.parametrize("axis", [-1, 1, 2, 0])
    @pytest.mark.parametrize("bias", [True, False])
    def test_axis(self, axis: int, bias: bool):
        x = random_array(2, 3, 4)
        constants = {"s": random_array(*x.shape[axis:], seed=1)}
        if bias:
            constants["b"] = random_array(*x.shape[axis:], seed=2)
        names = "x s b" if bias else "x s"
        agree(node("LayerNormalization", names, axis=axis), {"x": x}, constants, opset=17)

    def test_over_the_last_dim_is_one_operator(self):
        constants = {"s": random_array(4, seed=1), "b": random_array(4, seed=2)}
        layer_norm = node("LayerNormalization", "x s b")
        made = agree(layer_norm, {"x": random_array(2, 3, 4)}, constants, opset=17)
        assert operators_of(made) == ["nn.layer_norm"]

    def test_mean_and_deviation(self):
        constants = {"s": random_array(4, seed=1), "b": random_array(4, seed=2)}
        layer_norm = node("LayerNormalization", "x s b", "y mean deviation")
        outputs = "y mean deviation"
        agree(layer_norm, {"x": random_array(2, 3, 4)}, constants, outputs, opset=17)


def test_instance_normalization():
    constants = {"s": random_array(3, seed=1), "b": random_array(3, seed=2)}
    instance_norm = node("InstanceNormalization", "x s b", epsilon=1e-3)
    agree(instance_norm, {"x": random_array(2, 3, 4, 5)}, constants)


def test_group_normalization():
    constants = {"s": random_array(6, seed=1), "b": random_array(6, seed=2)}
    group_norm = node("GroupNormalization", "x s b", num_groups=3)
    agree(group_norm, {"x": random_array(2, 6, 4, 5)}, constants, opset=21)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [0, -1])
def test_lp_normalization(p: int, axis: int):
    agree(node("LpNormalization", "x", p=p, axis=axis), {"x": random_array(3, 4)})


REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]


class Test_reductions:
    @pytest.mark.parametrize("name", REDUCTIONS)
    @pytest.mark.parametrize("keepdims", [0, 1])
    @pytest.mark.parametrize("axes", [None, [1], [0, -1]])
    def test_axes_are_an_attribute(self, name: str, keepdims: int, axes: list[int] | None):
        x = np.abs(random_array(2, 3, 4))
        attributes = {} if axes is None else {"axes": axes}
        agree(node(f"Reduce{name}", "x", keepdims=keepdims, **attributes), {"x": x}, opset=9)

    @pytest.mark.parametrize("name", REDUCTIONS)
    @pytest.mark.parametrize("axes", [[1], [0, -1]])
    def test_axes_are_an_input(self, name: str, axes: list[int]):
        x = np.abs(random_array(2, 3, 4))
        constants = {"axes": np.array(axes)}
        agree(node(f"Reduce{name}", "x axes", keepdims=0), {"x": x}, constants, opset=18)

    @pytest.mark.parametrize("noop", [0, 1])
    def test_no_axes(self, noop: int):
        reduce_sum = node("ReduceSum", "x", noop_with_empty_axes=noop)
        agree(reduce_sum, {"x": random_array(2, 3, 4)}, opset=18)

    def test_large_exponents(self):
        x = np.array([[1000.0, 999.0], [-1000.0, -1001.0]], np.float32)
        agree(node("ReduceLogSumExp", "x", axes=[1]), {"x": x})

    @pytest.mark.parametrize("op_type", ["ArgMax", "ArgMin"])
    @pytest.mark.parametrize("last", [0, 1])
    @pytest.mark.parametrize("keepdims", [0, 1])
    def test_index(self, op_type: str, last: int, keepdims: int):
        x = np.round(2 * random_array(3, 8))
        arg = node(op_type, "x", axis=1, keepdims=keepdims, select_last_index=last)
        agree(arg, {"x": x}, dtype=np.int64)
