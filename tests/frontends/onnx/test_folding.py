"""Folding of operators on constants: right at the edges of every dtype, bounded, and lazy."""

import warnings
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np
import pytest
from helpers.onnx.onnx_backends import Evaluated
from helpers.onnx.onnx_models import Array
from helpers.onnx.onnx_small import model_of, node, operators_of
from helpers.programs.every_case import every
from onnx import ModelProto, TensorProto
from onnx.reference import ReferenceEvaluator
from xdsl.ir import Block

from xrelay.dialects import relay
from xrelay.dialects.attributes import plain_attributes, properties_of
from xrelay.frontends.onnx import OnnxError
from xrelay.frontends.onnx.convert.folding import FOLD_LIMIT, VIEWS, reshaped
from xrelay.frontends.onnx.convert.importer import Conversion, convert_model
from xrelay.frontends.onnx.convert.onnx_values import Constant, tensor_type_of
from xrelay.runtime.kernels import KERNELS

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def edges(dtype: str) -> Array:
    """Return the numbers of `dtype` at which arithmetic changes its ways."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        most = float(np.finfo(dtype).max)
        tiny = float(np.finfo(dtype).smallest_subnormal)
        numbers = [-np.inf, -most, -3.5, -1, -tiny, -0.0, 0, tiny, 0.1, 2.5, most, np.inf, np.nan]
        return np.array(numbers, dtype)
    info = np.iinfo(dtype)
    numbers = {info.min, info.min + 1, -7, -1, 0, 1, 2, 7, info.max - 1, info.max}
    return np.array(sorted(n for n in numbers if n >= info.min), dtype)


def folded(nodes: Any, constants: Mapping[str, Array], dtype: Any) -> tuple[ModelProto, Array]:
    """Return the model of `nodes` on `constants`, which is converted to a constant, and that."""
    model = model_of(nodes, {}, constants, opset=18, dtype=dtype)
    conversion: Conversion = convert_model(model, "m")
    assert operators_of(conversion) == []
    (result,) = Evaluated.prepare(model, conversion=conversion).run([])
    return model, np.asarray(result)


def check_against_the_reference(nodes: Any, constants: Mapping[str, Array], dtype: Any) -> None:
    model, actual = folded(nodes, constants, dtype)
    with np.errstate(all="ignore"):
        (expected,) = cast(Any, ReferenceEvaluator(model)).run(None, {})
    np.testing.assert_array_equal(actual, expected)  # equal zeros of either sign


NUMBERS = (*SIGNED, *UNSIGNED, *FLOATS)
BINARY: Sequence[tuple[str, Sequence[str], dict[str, Any]]] = [
    *((name, NUMBERS, {}) for name in ("Add", "Sub", "Mul", "Div")),
    ("Mod", (*SIGNED, *UNSIGNED), {}),
    ("Mod", NUMBERS, {"fmod": 1}),
    *((name, NUMBERS, {}) for name in ("Max", "Min")),
]
COMPARISONS = [
    *(("Equal", dtype) for dtype in ("bool", *NUMBERS)),
    *(
        (f"{name}{end}", d)
        for name in ("Less", "Greater")
        for end in ("", "OrEqual")
        for d in NUMBERS
    ),
    *((name, "bool") for name in ("And", "Or", "Xor")),
]
UNARY: Sequence[tuple[str, Sequence[str]]] = [
    ("Abs", NUMBERS),
    ("Neg", (*SIGNED, *FLOATS)),
    ("Not", ("bool",)),
    *((name, FLOATS) for name in ("Ceil", "Floor", "Sqrt")),
]


def pairs(dtype: str) -> dict[str, Array]:
    x, y = np.meshgrid(edges(dtype), edges(dtype))
    return {"x": x.copy(), "z": y.copy()}


@every(
    ("name", "dtype", "attributes"),
    [(name, dtype, attributes) for name, dtypes, attributes in BINARY for dtype in dtypes],
)
def test_arithmetic_at_the_edges(name: str, dtype: str, attributes: dict[str, Any]):
    operands = pairs(dtype)
    if name in ("Div", "Mod") and dtype not in FLOATS:  # by 0: another test
        keep = operands["z"].ravel() != 0
        operands = {key: array.ravel()[keep] for key, array in operands.items()}
    check_against_the_reference(node(name, "x z", **attributes), operands, dtype)


@every(("name", "dtype"), COMPARISONS)
def test_comparisons_at_the_edges(name: str, dtype: str):
    check_against_the_reference(node(name, "x z"), pairs(dtype), np.bool_)


@every(("name", "dtype"), [(n, d) for n, dtypes in UNARY for d in dtypes])
def test_one_operand_at_the_edges(name: str, dtype: str):
    check_against_the_reference(node(name, "x"), {"x": edges(dtype)}, dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_moves_and_choices_at_the_edges(dtype: str):
    x, y = pairs(dtype).values()
    check_against_the_reference(node("Concat", "x z", axis=1), {"x": x, "z": y}, dtype)
    indices = np.array([2, 0, -1])
    check_against_the_reference(node("Gather", "x i"), {"x": x, "i": indices}, dtype)
    check_against_the_reference(node("Where", "c x z"), {"c": x < y, "x": x, "z": y}, dtype)


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_integer_division_truncates_toward_zero(dtype: str):
    """Held against Python's integers, which have no least one; its negation wraps around."""
    x, y = (array.ravel() for array in pairs(dtype).values())
    x, y = x[y != 0], y[y != 0]
    _, actual = folded(node("Div", "x z"), {"x": x, "z": y}, dtype)
    exact = [
        abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        for a, b in zip(*map(list_of, (x, y)), strict=True)
    ]
    bits = 8 * x.dtype.itemsize
    wrapped = [(n + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for n in exact]
    assert list_of(actual) == (exact if dtype in UNSIGNED else wrapped)


def list_of(array: Array) -> list[int]:
    return array.tolist()


@pytest.mark.parametrize("name", ["Div", "Mod"])
@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_integer_division_by_zero_is_silent_and_as_at_run_time(name: str, dtype: str):
    x = edges(dtype)
    zeros = np.zeros_like(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, actual = folded(node(name, "x z"), {"x": x, "z": zeros}, dtype)
        model = model_of(node(name, "x z"), {"x": x}, {"z": zeros}, opset=18, dtype=dtype)
        conversion = convert_model(model, "m")
        (at_run_time,) = Evaluated.prepare(model, conversion=conversion).run([x])
    assert operators_of(conversion)
    np.testing.assert_array_equal(actual, at_run_time)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", *FLOATS])
@pytest.mark.parametrize("name", ["ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"])
def test_reductions_of_small_numbers(name: str, dtype: str):
    x = np.array([[1, 2, 3], [4, 5, 1]], dtype)
    functions: dict[str, Any] = {
        "ReduceSum": sum,
        "ReduceProd": prod,
        "ReduceMax": max,
        "ReduceMin": min,
    }
    _, actual = folded(node(name, "x a", keepdims=0), {"x": x, "a": np.array([1])}, dtype)
    assert list_of(actual) == [functions[name](row) for row in list_of(x)]


def test_a_product_of_halves_does_not_overflow_midway():
    x = np.array([-3.5, 60000, 2.5, 1e-4, 1e-4], np.float16)
    _, actual = folded(node("ReduceProd", "x"), {"x": x}, np.float16)
    assert actual == np.float16(prod(float(number) for number in x))


def test_operands_that_do_not_broadcast_are_an_error_at_the_node():
    constants = {"x": np.ones(2, np.float32), "z": np.ones(3, np.float32)}
    model = model_of(node("Add", "x z"), {}, constants)
    with pytest.raises(OnnxError, match=r"dims 2 and 3 at axis -1 do not broadcast together"):
        convert_model(model, "m")


def test_large_operands_and_results_are_left_for_run_time():
    """Three operands of 1024 elements broadcast to 2^30."""
    n = FOLD_LIMIT
    corner = np.zeros(n, np.bool_).reshape(n, 1, 1)
    x, y = np.zeros((1, n, 1), np.int8), np.ones((1, 1, n), np.int8)
    model = model_of(
        node("Where", "c x z"), {}, {"c": corner, "x": x, "z": y}, opset=18, dtype=np.int8
    )
    assert operators_of(convert_model(model, "m")) == ["where"]
    long = {"x": np.arange(n + 1), "z": np.arange(n + 1)}
    model = model_of(node("Add", "x z"), {}, long, opset=18, dtype=np.int64)
    assert operators_of(convert_model(model, "m")) == ["add"]


X = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
SAMPLES: Sequence[tuple[str, Array, dict[str, Any]]] = [
    ("reshape", X, {"newshape": (4, 6)}),
    ("reshape", np.broadcast_to(X[:1, :1, :1], (2, 3, 4)), {"newshape": (24,)}),
    ("transpose", X, {"axes": (2, 0, 1)}),
    ("broadcast_to", X[:, :1], {"shape": (5, 2, 3, 4)}),
    ("strided_slice", X, {"begin": (1, 3), "end": (2, -9), "strides": (1, -2), "axes": (0, 2)}),
    ("strided_slice", X, {"begin": (-2,), "end": (99,), "strides": (2,), "axes": (1,)}),
    ("split", X, {"indices_or_sections": 2, "axis": 2}),
    ("split", X, {"indices_or_sections": (1, 1, 3), "axis": 1}),
]


@pytest.mark.parametrize(("name", "array", "properties"), SAMPLES)
def test_views_equal_the_kernels(name: str, array: Array, properties: dict[str, Any]):
    views = VIEWS[name]([array], properties)
    outs = [np.empty(view.shape, view.dtype) for view in views]
    attributes = properties_of(relay.BY_NAME[name], properties)
    op = relay.BY_NAME[name].on(
        Block(arg_types=[tensor_type_of(Constant("x", array))]).args, attributes
    )
    KERNELS[op.name](plain_attributes(op), [np.ascontiguousarray(array)], outs)()
    assert all(np.may_share_memory(v, array) or not any(v.strides) for v in views if v.size)
    for view, out in zip(views, outs, strict=True):
        np.testing.assert_array_equal(view, out)


def test_every_view_is_held_against_its_kernel():
    assert {name for name, *_ in SAMPLES} == set(VIEWS)
    assert not any(reshaped(SAMPLES[1][1], (4, 6)).strides)


def test_casts_between_integers_wrap_around():
    x = edges("int64")
    _, actual = folded(node("Cast", "x", to=TensorProto.UINT8), {"x": x}, np.uint8)
    assert list_of(actual) == [n % 256 for n in list_of(x)]
