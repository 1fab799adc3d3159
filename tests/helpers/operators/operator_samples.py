"""
Each operator of `relay` with valid operands: plain data for the tests of type rules, text forms,
kernels and lowerings. Import as `from operator_samples import SAMPLES`.

A sample is one line: operands, attributes as Python values, results. The samples of an operator
set each of its attributes to a value other than the default at least once, as
`tests/dialects/relay/test_operators.py` checks. Shapes are small, dims mostly distinct, and some
are 0 or absent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

import pytest
from helpers.operators.inferring import FORMULAS, OPERATORS, infer
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

DTYPES = {
    "i1": "bool",
    "i8": "int8",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
}

Spec: TypeAlias = tuple[tuple[int, ...], str]
"""A tensor's shape and the name of its NumPy dtype."""


def spec(text: str) -> Spec:
    """Parse `2x?xf32` as ((2, DYNAMIC_INDEX), "float32"); `f32` is a scalar."""
    *dims, element = text.split("x")
    return tuple(DYNAMIC_INDEX if dim == "?" else int(dim) for dim in dims), DTYPES[element]


@dataclass(frozen=True)
class Sample:
    """An applied operator: `name` without `relay.`, `attrs` other than defaults."""

    name: str
    operands: tuple[Spec, ...]
    attrs: Mapping[str, Any]
    results: tuple[Spec, ...]
    index: int = field(compare=False)

    @property
    def id(self) -> str:
        return f"{self.name}-{self.index}"

    def __str__(self) -> str:
        return self.id


Line: TypeAlias = tuple[str, Mapping[str, Any], str]


def _specs(text: str) -> tuple[Spec, ...]:
    return tuple(spec(part) for part in text.split())


def _like_operand(names: str, *operands: str) -> Iterator[tuple[str, Line]]:
    for name in names.split():
        for operand in operands:
            yield name, (operand, {}, operand.split()[0])


def _pairs(names: str, lines: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Line]]:
    for name in names.split():
        for operands, result in lines:
            yield name, (operands, {}, result)


def _each(names: str, *lines: Line) -> Iterator[tuple[str, Line]]:
    for name in names.split():
        for line in lines:
            yield name, line


def _lines() -> Iterator[tuple[str, Line]]:
    # elementwise
    yield from _like_operand(
        "abs negative sign ceil floor trunc nn.relu", "2x3xf32", "5xi32", "f64", "2x0xf32"
    )
    yield from _like_operand(
        "exp log log2 log10 sqrt rsqrt sin cos tan tanh sigmoid erf",
        *("2x3xf32", "4xf64", "f32", "3xf16"),
    )
    yield from _like_operand(
        "asin acos atan sinh cosh asinh acosh atanh", "2x3xf32", "4xf64", "f32", "3xf16"
    )
    yield from _like_operand("copy", "2x3xf32", "4xi1", "i64", "0xui8")
    yield from _like_operand("logical_not", "2x3xi1", "i1")
    yield from _each("isnan isfinite isinf", ("2x3xf32", {}, "2x3xi1"), ("f64", {}, "i1"))
    yield from _each(
        "nn.leaky_relu", ("2x3xf32", {}, "2x3xf32"), ("2x3xf64", {"alpha": 0.25}, "2x3xf64")
    )
    yield from _each(
        "round", ("2x3xf32", {}, "2x3xf32"), ("5xf64", {"ties": "away"}, "5xf64"), ("i8", {}, "i8")
    )
    yield from _each(
        "nn.gelu", ("2x3xf32", {}, "2x3xf32"), ("9xf32", {"approximate": "tanh"}, "9xf32")
    )
    yield from _each(
        "clip",
        ("2x3xf32", {"a_min": -0.5, "a_max": 0.5}, "2x3xf32"),
        ("7xi32", {"a_min": -2.0, "a_max": 3.0}, "7xi32"),
        ("f32", {"a_min": 0.0, "a_max": 6.0}, "f32"),
    )
    yield from _each(
        "cast",
        ("2x3xf32", {"dtype": "int32"}, "2x3xi32"),
        ("4xi64", {"dtype": "float32"}, "4xf32"),
        ("4xf32", {"dtype": "bool"}, "4xi1"),
        ("3xi1", {"dtype": "uint8"}, "3xui8"),
        ("f64", {"dtype": "float16"}, "f16"),
    )
    yield from _each(
        "reinterpret",
        ("2x3xf32", {"dtype": "int32"}, "2x3xi32"),
        ("4xui8", {"dtype": "int8"}, "4xi8"),
        ("i64", {"dtype": "float64"}, "f64"),
    )
    yield from _each(
        "fixed_point_multiply",
        ("2x3xi32", {"multiplier": 1073741824, "shift": -2}, "2x3xi32"),
        ("i32", {"multiplier": -3, "shift": 1}, "i32"),
    )
    yield from _each(
        "full",
        ("f32", {"shape": (2, 3)}, "2x3xf32"),
        ("i64", {"shape": ()}, "i64"),
        ("i1", {"shape": (0, 4)}, "0x4xi1"),
    )
    # broadcast
    arithmetic = [
        ("2x3xf32 2x3xf32", "2x3xf32"),
        ("2x3xf32 3xf32", "2x3xf32"),
        ("2x1x4xf32 3x1xf32", "2x3x4xf32"),
        ("f64 f64", "f64"),
        ("5xi32 i32", "5xi32"),
        ("0x3xf32 1x3xf32", "0x3xf32"),
    ]
    yield from _pairs("add subtract multiply divide maximum minimum power", arithmetic)
    yield from _pairs("mod floor_mod floor_divide", arithmetic)
    yield from _pairs(
        "logical_and logical_or logical_xor",
        [("2x3xi1 2x3xi1", "2x3xi1"), ("2x1xi1 3xi1", "2x3xi1"), ("i1 i1", "i1")],
    )
    yield from _pairs(
        "equal not_equal less less_equal greater greater_equal",
        [
            ("2x3xf32 2x3xf32", "2x3xi1"),
            ("2x1xi64 3xi64", "2x3xi1"),
            ("f32 f32", "i1"),
            ("4xi1 4xi1", "4xi1"),
        ],
    )
    yield from _pairs(
        "where",
        [
            ("2x3xi1 2x3xf32 2x3xf32", "2x3xf32"),
            ("3xi1 2x1xi64 i64", "2x3xi64"),
            ("i1 4xf32 4xf32", "4xf32"),
            ("i1 i1 i1", "i1"),
        ],
    )
    yield from _each(
        "nn.bias_add nn.prelu",
        ("1x3x2x2xf32 3xf32", {}, "1x3x2x2xf32"),
        ("2x4xf32 4xf32", {"axis": -1}, "2x4xf32"),
        ("2x4xf64 2xf64", {"axis": 0}, "2x4xf64"),
        ("2x4xf32 1xf32", {"axis": 0}, "2x4xf32"),
    )
    yield from _each(
        "broadcast_to",
        ("3xf32", {"shape": (2, 3)}, "2x3xf32"),
        ("f32", {"shape": (2, 2)}, "2x2xf32"),
        ("2x1x3xi64", {"shape": (2, 4, 3)}, "2x4x3xi64"),
        ("1xf32", {"shape": (0,)}, "0xf32"),
    )
    yield from _each(
        "tile",
        ("3xf32", {"reps": (2, 1)}, "2x3xf32"),
        ("2x3xf32", {"reps": (2,)}, "2x6xf32"),
        ("2x3xi32", {"reps": (2, 3)}, "4x9xi32"),
        ("2x3xf32", {"reps": (0, 1)}, "0x3xf32"),
        ("f32", {"reps": ()}, "f32"),
    )
    yield from _each(
        "repeat",
        ("3xf32", {"repeats": 2}, "6xf32"),
        ("2x3xf32", {"repeats": 3, "axis": -1}, "2x9xf32"),
        ("2x3xi8", {"repeats": 1, "axis": 1}, "2x3xi8"),
    )
    # reductions
    reductions: list[tuple[str, Mapping[str, Any], str]] = [
        ("2x3x4x", {}, ""),
        ("2x3x4x", {"axis": (1,)}, "2x4x"),
        ("2x3x4x", {"axis": (0, -1), "keepdims": True}, "1x3x1x"),
        ("2x3x4x", {"axis": (1,), "exclude": True}, "3x"),
        ("2x3x4x", {"keepdims": True}, "1x1x1x"),
        ("2x3x", {"axis": ()}, "2x3x"),
        ("", {}, ""),
        ("0x3x", {"axis": (1,)}, "0x"),
    ]
    for names, elements in (
        ("sum prod", ("f32", "i64")),
        ("mean", ("f32", "f64")),
        ("max min", ("f32", "i32")),
        ("all any", ("i1",)),
    ):
        for name in names.split():
            for element in elements:
                for operand, attrs, result in reductions:
                    yield name, (operand + element, attrs, result + element)
    yield from _each("sum prod", ("0x3xf32", {"axis": (0,)}, "3xf32"))
    yield from _each(
        "argmax argmin",
        ("2x3x4xf32", {}, "i32"),
        ("2x3x4xf32", {"axis": (1,)}, "2x4xi32"),
        ("2x3x4xi64", {"axis": (-1,), "keepdims": True, "dtype": "int64"}, "2x3x1xi64"),
        ("2x3xf32", {"axis": (0,), "exclude": True}, "2xi32"),
        ("2x3xi8", {"axis": (1,), "select_last_index": True}, "2xi32"),
        ("2x3xf32", {"keepdims": True}, "1x1xi32"),
        ("f32", {}, "i32"),
    )
    # matrix products
    yield from _each(
        "nn.dense",
        ("2x4xf32 5x4xf32", {}, "2x5xf32"),
        ("4xf32 5x4xf32", {}, "5xf32"),
        ("2x3x4xf64 5x4xf64", {}, "2x3x5xf64"),
        ("2x4xi8 5x4xi8", {"out_dtype": "int32"}, "2x5xi32"),
        ("2x0xf32 5x0xf32", {}, "2x5xf32"),
    )
    yield from _each(
        "nn.packed_dense",
        ("2x4xf32 3x4x5xf32", {}, "2x15xf32"),
        ("4xf32 1x4x5xf32", {}, "5xf32"),
        ("2x3x4xi8 2x4x5xi8", {"out_dtype": "int32"}, "2x3x10xi32"),
        ("2x0xf32 3x0x5xf32", {}, "2x15xf32"),
    )
    yield from _each(
        "nn.matmul",
        ("2x4xf32 4x5xf32", {}, "2x5xf32"),
        ("4x2xf32 4x5xf32", {"transpose_a": True}, "2x5xf32"),
        ("2x4xf64 5x4xf64", {"transpose_b": True}, "2x5xf64"),
        ("2x4xi8 4x5xi8", {"out_dtype": "int32"}, "2x5xi32"),
    )
    yield from _each(
        "nn.batch_matmul",
        ("3x2x4xf32 3x5x4xf32", {}, "3x2x5xf32"),
        ("3x2x4xf32 1x5x4xf32", {}, "3x2x5xf32"),
        ("1x4x2xf32 3x4x5xf32", {"transpose_a": True, "transpose_b": False}, "3x2x5xf32"),
        ("1x2x4xi8 1x5x4xi8", {"out_dtype": "int32"}, "1x2x5xi32"),
    )
    # normalizations
    yield from _each(
        "nn.softmax nn.log_softmax",
        ("2x3xf32", {}, "2x3xf32"),
        ("2x3x4xf32", {"axis": 1}, "2x3x4xf32"),
        ("5xf64", {"axis": 0}, "5xf64"),
    )
    yield from _each(
        "nn.layer_norm",
        ("2x3x4xf32 4xf32 4xf32", {}, "2x3x4xf32"),
        ("2x3x4xf32 3xf32 3xf32", {"axis": 1, "epsilon": 0.01}, "2x3x4xf32"),
        ("2x4xf64 4xf64 4xf64", {"center": False}, "2x4xf64"),
        ("2x4xf32 4xf32 4xf32", {"scale": False}, "2x4xf32"),
    )
    yield from _each(
        "nn.batch_norm",
        ("2x3x4x4xf32 3xf32 3xf32 3xf32 3xf32", {}, "2x3x4x4xf32 3xf32 3xf32"),
        (
            "2x4x4x3xf32 3xf32 3xf32 3xf32 3xf32",
            {"axis": -1, "epsilon": 0.01},
            "2x4x4x3xf32 3xf32 3xf32",
        ),
        (
            "2x3xf64 3xf64 3xf64 3xf64 3xf64",
            {"center": False, "scale": False},
            "2x3xf64 3xf64 3xf64",
        ),
    )
    yield from _each(
        "nn.lrn",
        ("1x6x2x2xf32", {}, "1x6x2x2xf32"),
        ("1x6x2x2xf32", {"size": 3, "bias": 1.0, "alpha": 0.5, "beta": 0.5}, "1x6x2x2xf32"),
        ("1x2x2x7xf32", {"size": 4, "axis": 3}, "1x2x2x7xf32"),
    )
    # windows
    yield from _each(
        "nn.conv2d",
        ("1x3x8x8xf32 4x3x3x3xf32", {}, "1x4x6x6xf32"),
        ("2x3x8x7xf32 4x3x3x3xf32", {"padding": (1, 1, 1, 1)}, "2x4x8x7xf32"),
        (
            "1x3x9x8xf32 4x3x3x2xf32",
            {"strides": (2, 1), "padding": (0, 1, 1, 0), "dilation": (1, 2)},
            "1x4x4x7xf32",
        ),
        ("1x4x5x5xf32 6x2x3x3xf32", {"groups": 2}, "1x6x3x3xf32"),
        ("1x4x5x5xf32 4x1x3x3xf32", {"groups": 4, "padding": (1, 1, 1, 1)}, "1x4x5x5xf32"),
        (
            "1x5x5x4xf32 3x3x4x6xf32",
            {"data_layout": "NHWC", "kernel_layout": "HWIO"},
            "1x3x3x6xf32",
        ),
        (
            "1x5x5x4xf32 2x3x3x4x8xf32",
            {"data_layout": "NHWC", "kernel_layout": "OHWI8o"},
            "1x3x3x16xf32",
        ),
        ("1x5x5x4xf32 6x4x1x1xf32", {"data_layout": "NHWC"}, "1x5x5x6xf32"),
        ("1x2x4x4xi8 3x2x1x1xi8", {"out_dtype": "int32"}, "1x3x4x4xi32"),
        ("0x3x8x8xf32 4x3x3x3xf32", {}, "0x4x6x6xf32"),
    )
    yield from _each(
        "nn.conv1d",
        ("2x3x8xf32 4x3x3xf32", {}, "2x4x6xf32"),
        (
            "1x4x9xf32 6x2x3xf32",
            {"strides": (2,), "padding": (1, 2), "dilation": (2,), "groups": 2},
            "1x6x4xf32",
        ),
        (
            "1x8x3xi8 2x3x5xi8",
            {"data_layout": "NWC", "kernel_layout": "WIO", "out_dtype": "int32"},
            "1x7x5xi32",
        ),
    )
    yield from _each(
        "nn.conv2d_transpose",
        ("1x3x4x4xf32 3x2x2x2xf32", {}, "1x2x5x5xf32"),
        (
            "1x3x4x5xf32 3x2x3x3xf32",
            {"strides": (2, 2), "padding": (1, 1, 1, 1), "output_padding": (1, 0)},
            "1x2x8x9xf32",
        ),
        ("1x3x4x4xf32 3x2x3x3xf32", {"dilation": (2, 1)}, "1x2x8x6xf32"),
        ("1x4x3x3xf32 4x3x2x2xf32", {"groups": 2, "strides": (2, 2)}, "1x6x6x6xf32"),
    )
    pools: list[Line] = [
        ("1x3x8x8xf32", {"pool_size": (2, 2)}, "1x3x7x7xf32"),
        ("1x3x8x7xf32", {"pool_size": (2, 3), "strides": (2, 2)}, "1x3x4x3xf32"),
        (
            "1x3x7x7xf32",
            {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1, 1, 1)},
            "1x3x4x4xf32",
        ),
        ("1x3x8x8xf32", {"pool_size": (3, 3), "strides": (2, 2), "ceil_mode": True}, "1x3x4x4xf32"),
        ("1x2x7x7xf64", {"pool_size": (2, 2), "dilation": (2, 3)}, "1x2x5x4xf64"),
        ("1x8x6x3xf32", {"pool_size": (2, 2), "layout": "NHWC"}, "1x7x5x3xf32"),
    ]
    yield from _each("nn.max_pool2d nn.avg_pool2d", *pools)
    yield from _each(
        "nn.max_pool2d",
        ("1x1x4x4xi8", {"pool_size": (2, 2), "padding": (0, 1, 1, 0)}, "1x1x4x4xi8"),
    )
    yield from _each(
        "nn.avg_pool2d",
        (
            "1x3x7x7xf32",
            {"pool_size": (3, 3), "padding": (1, 1, 1, 1), "count_include_pad": True},
            "1x3x7x7xf32",
        ),
    )
    vectors = "3xf32 3xf32"
    norms: list[Line] = [
        (f"2x3x4x5xf32 {vectors}", {}, "2x3x4x5xf32"),
        (f"2x4x3xf32 {vectors}", {"axis": -1, "epsilon": 1e-3, "center": False}, "2x4x3xf32"),
        (f"2x3x4xf32 {vectors}", {"scale": False}, "2x3x4xf32"),
    ]
    yield from _each("nn.instance_norm", *norms)
    yield from _each(
        "nn.group_norm",
        *((operands, {"num_groups": 3, **attrs}, result) for operands, attrs, result in norms),
        ("2x4x3xf16 4xf16 4xf16", {"num_groups": 2}, "2x4x3xf16"),
    )
    yield from _each(
        "nn.l2_normalize",
        ("2x3x4xf32", {"eps": 1e-3, "axis": (1,)}, "2x3x4xf32"),
        ("2x3x4xf16", {"eps": 0.5, "axis": (2, 0)}, "2x3x4xf16"),
    )
    yield from _each(
        "nn.nll_loss",
        ("4x3xf32 4xi32 3xf32", {}, "f32"),
        ("4x3x2xf32 4x2xi64 3xf32", {"reduction": "none", "ignore_index": 1}, "4x2xf32"),
        ("4x3xf64 4xi32 3xf64", {"reduction": "sum"}, "f64"),
        ("3xf32 i32 3xf32", {}, "f32"),
    )
    yield from _each(
        "nn.space_to_batch_nd",
        ("2x3x5x2xf32", {"block_shape": (2, 3), "paddings": (1, 0, 0, 1)}, "12x2x2x2xf32"),
        ("1x4xi8", {"block_shape": (2,), "paddings": (1, 1), "pad_value": 3.0}, "2x3xi8"),
    )
    yield from _each(
        "nn.batch_to_space_nd",
        ("12x2x2x2xf32", {"block_shape": (2, 3), "crops": (1, 0, 0, 1)}, "2x3x5x2xf32"),
        ("2x3xi8", {"block_shape": (2,), "crops": (0, 0)}, "1x6xi8"),
    )
    yield from _each(
        "nn.mirror_pad",
        ("2x3xf32", {"pad_width": (2, 1, 0, 3)}, "5x6xf32"),
        ("2x3xi8", {"pad_width": (1, 0, 2, 2), "mode": "REFLECT"}, "3x7xi8"),
    )
    yield from _each(
        "nn.conv3d",
        ("1x2x3x4x5xf32 3x2x2x2x2xf32", {}, "1x3x2x3x4xf32"),
        (
            "1x4x3x4x5xf32 2x2x2x2x2xf32",
            {
                **{"strides": (1, 2, 1), "padding": (1, 0, 0, 0, 1, 1), "dilation": (2, 1, 1)},
                "groups": 2,
            },
            "1x2x2x2x5xf32",
        ),
        (
            "1x3x4x5x2xi8 2x2x2x2x3xi8",
            {"data_layout": "NDHWC", "kernel_layout": "DHWIO", "out_dtype": "int32"},
            "1x2x3x4x3xi32",
        ),
    )
    yield from _each(
        "nn.conv1d_transpose",
        ("1x3x4xf32 3x2x2xf32", {}, "1x2x5xf32"),
        (
            "1x4x5xf32 4x2x3xf32",
            {
                **{"strides": (2,), "padding": (1, 0), "output_padding": (1,), "dilation": (2,)},
                "groups": 2,
            },
            "1x4x13xf32",
        ),
        ("1x3x4xi8 3x2x2xi8", {"out_dtype": "int32"}, "1x2x5xi32"),
    )
    yield from _each(
        "nn.conv3d_transpose",
        ("1x2x2x3x2xf32 2x3x2x2x2xf32", {}, "1x3x3x4x3xf32"),
        (
            "1x2x2x3x2xf32 2x2x1x2x2xf32",
            {
                **{"strides": (1, 2, 1), "padding": (0, 1, 0, 0, 0, 1), "groups": 2},
                **{"output_padding": (0, 1, 0), "dilation": (1, 1, 2)},
            },
            "1x4x2x6x3xf32",
        ),
        ("1x2x2x3x2xi8 2x3x2x2x2xi8", {"out_dtype": "int32"}, "1x3x3x4x3xi32"),
    )
    yield from _each(
        "nn.conv2d_backward_weight",
        ("2x3x4x5xf32 2x2x5x6xf32", {"kernel_size": (2, 2)}, "3x2x2x2xf32"),
        (
            "1x4x3x4xf16 1x2x5x6xf16",
            {
                **{"kernel_size": (2, 3), "strides": (2, 1), "padding": (1, 0, 0, 2)},
                **{"dilation": (1, 2), "groups": 2, "out_dtype": "float32"},
            },
            "4x1x2x3xf32",
        ),
    )
    yield from _each(
        "nn.deformable_conv2d",
        ("1x2x4x5xf32 1x8x3x4xf32 3x2x2x2xf32", {}, "1x3x3x4xf32"),
        (
            "1x4x4x5xf16 1x24x2x5xf16 2x2x2x3xf16",
            {
                **{"strides": (2, 1), "padding": (1, 1, 0, 1), "dilation": (2, 1), "groups": 2},
                **{"deformable_groups": 2, "out_dtype": "float32"},
            },
            "1x2x2x5xf32",
        ),
    )
    yield from _each(
        "image.dilation2d",
        ("1x3x5x6xf32 3x2x3xf32", {}, "1x3x4x4xf32"),
        (
            "1x5x6x3xi8 2x3x3xi8",
            {
                **{"strides": (2, 1), "padding": (1, 0, 0, 1), "dilations": (2, 1)},
                **{"data_layout": "NHWC", "kernel_layout": "HWI"},
            },
            "1x2x5x3xi8",
        ),
    )
    grads: list[Line] = [
        ("1x3x4x5xf32 1x3x5x6xf32", {"pool_size": (2, 2)}, "1x3x5x6xf32"),
        (
            "1x3x4x3xf32 1x5x6x3xf32",
            {
                **{"pool_size": (3, 2), "strides": (2, 2), "padding": (1, 0, 0, 1)},
                **{"layout": "NHWC", "ceil_mode": True},
            },
            "1x5x6x3xf32",
        ),
    ]
    yield from _each("nn.max_pool2d_grad nn.avg_pool2d_grad", *grads)
    counted = {"pool_size": (2, 2), "padding": (1, 0, 0, 1), "count_include_pad": True}
    yield from _each("nn.avg_pool2d_grad", ("1x2x3x4xf64 1x2x3x4xf64", counted, "1x2x3x4xf64"))
    lines: list[Line] = [
        ("1x3x8xf32", {"pool_size": (2,)}, "1x3x7xf32"),
        (
            "1x8x3xf32",
            {"pool_size": (3,), "strides": (2,), "padding": (1, 2), "layout": "NWC"},
            "1x5x3xf32",
        ),
        ("1x3x8xi8", {"pool_size": (3,), "strides": (2,), "ceil_mode": True}, "1x3x4xi8"),
        ("1x2x7xf64", {"pool_size": (2,), "dilation": (3,)}, "1x2x4xf64"),
    ]
    yield from _each("nn.max_pool1d nn.avg_pool1d", *lines)
    counted = {"pool_size": (3,), "padding": (1, 1), "count_include_pad": True}
    yield from _each("nn.avg_pool1d", ("1x3x7xf32", counted, "1x3x7xf32"))
    volumes: list[Line] = [
        ("1x2x4x5x6xf32", {"pool_size": (2, 3, 2)}, "1x2x3x3x5xf32"),
        (
            "1x5x4x3x2xf32",
            {
                **{"pool_size": (2, 2, 2), "strides": (2, 1, 1), "padding": (1, 0, 0, 0, 0, 1)},
                "layout": "NDHWC",
            },
            "1x3x3x3x2xf32",
        ),
        (
            "1x1x6x5x4xi8",
            {"pool_size": (2, 2, 2), "strides": (3, 2, 2), "ceil_mode": True},
            "1x1x3x3x2xi8",
        ),
        ("2x1x4x4x4xf64", {"pool_size": (2, 2, 2), "dilation": (3, 2, 1)}, "2x1x1x2x3xf64"),
    ]
    yield from _each("nn.max_pool3d nn.avg_pool3d", *volumes)
    counted = {"pool_size": (2, 2, 2), "padding": (1, 0, 0, 0, 1, 0), "count_include_pad": True}
    yield from _each("nn.avg_pool3d", ("1x1x2x3x4xf32", counted, "1x1x2x3x3xf32"))
    yield from _each(
        "nn.adaptive_max_pool1d nn.adaptive_avg_pool1d",
        ("1x3x8xf32", {"output_size": (3,)}, "1x3x3xf32"),
        ("2x8x3xi8", {"output_size": (9,), "layout": "NWC"}, "2x9x3xi8"),
        ("1x3x8xf32", {}, "1x3x8xf32"),
    )
    yield from _each(
        "nn.adaptive_max_pool2d nn.adaptive_avg_pool2d",
        ("1x3x8x7xf32", {"output_size": (4, 1)}, "1x3x4x1xf32"),
        ("1x8x7x3xf64", {"output_size": (3, 2), "layout": "NHWC"}, "1x3x2x3xf64"),
        ("1x3x2x3xf32", {}, "1x3x2x3xf32"),
    )
    yield from _each(
        "nn.adaptive_max_pool3d nn.adaptive_avg_pool3d",
        ("1x2x4x5x6xf32", {"output_size": (2, 2, 3)}, "1x2x2x2x3xf32"),
        ("1x4x5x6x2xi32", {"output_size": (1, 1, 1), "layout": "NDHWC"}, "1x1x1x1x2xi32"),
    )
    yield from _each(
        "nn.global_avg_pool2d nn.global_max_pool2d",
        ("2x3x4x5xf32", {}, "2x3x1x1xf32"),
        ("2x4x5x3xf32", {"layout": "NHWC"}, "2x1x1x3xf32"),
    )
    yield from _each(
        "nn.upsampling",
        (
            "1x2x3x4xf32",
            {"scale_h": 2.0, "scale_w": 1.5, "method": "bilinear", "align_corners": True},
            "1x2x6x6xf32",
        ),
    )
    yield from _each(
        "dyn.nn.upsampling",
        ("1x2x3x4xi8 f32 f32", {}, "1x2x?x?xi8"),
        ("1x3x4x2xf32 f64 f64", {"layout": "NHWC", "method": "bilinear"}, "1x?x?x2xf32"),
        (
            "1x2x3x4xf32 f32 f32",
            {"method": "bilinear", "align_corners": True},
            "1x2x?x?xf32",
        ),
    )
    mode = "coordinate_transformation_mode"
    yield from _each(
        "nn.upsampling3d",
        ("1x2x2x3x4xi8", {"scale_d": 2.0, "scale_h": 1.5, "scale_w": 3.0}, "1x2x4x4x12xi8"),
        (
            "1x2x3x4x2xf32",
            {"scale_d": 2.0, "layout": "NDHWC", "method": "trilinear", mode: "align_corners"},
            "1x4x3x4x2xf32",
        ),
    )
    yield from _each(
        "dyn.nn.upsampling3d",
        ("1x2x2x3x4xi8 f32 f32 f32", {}, "1x2x?x?x?xi8"),
        (
            "1x2x3x4x2xf32 f64 f64 f64",
            {"layout": "NDHWC", "method": "trilinear", mode: "asymmetric"},
            "1x?x?x?x2xf32",
        ),
    )
    yield from _each(
        "nn.upsampling",
        ("1x2x3x4xf32", {"scale_h": 2.0, "scale_w": 3.0}, "1x2x6x12xf32"),
        ("1x3x4x2xf32", {"scale_h": 2.0, "scale_w": 2.0, "layout": "NHWC"}, "1x6x8x2xf32"),
        ("1x2x3x4xf32", {}, "1x2x3x4xf32"),
        ("1x2x3x4xf32", {"scale_h": 1.5, "scale_w": 0.5}, "1x2x4x2xf32"),
    )
    # shapes
    yield from _each(
        "reshape",
        ("2x3x4xf32", {"newshape": (6, 4)}, "6x4xf32"),
        ("2x3x4xf32", {"newshape": (0, -1)}, "2x12xf32"),
        ("2x3x4xf32", {"newshape": (0, 0, 2, 2)}, "2x3x2x2xf32"),
        ("2x3x4xf32", {"newshape": (-2,)}, "2x3x4xf32"),
        ("2x3x4xf32", {"newshape": (2, -2)}, "2x3x4xf32"),
        ("2x3x4x5xf32", {"newshape": (-3, -3)}, "6x20xf32"),
        ("2x3x4xf32", {"newshape": (-4, 1, 2, -2)}, "1x2x3x4xf32"),
        ("2x3x4xf32", {"newshape": (2, -4, -1, 3, -2)}, "2x1x3x4xf32"),
        ("0x3xf32", {"newshape": (3, 0), "allowzero": True}, "3x0xf32"),
        ("1xf32", {"newshape": ()}, "f32"),
        ("i64", {"newshape": (1, 1)}, "1x1xi64"),
    )
    yield from _each(
        "nn.batch_flatten",
        ("2x3x4xf32", {}, "2x12xf32"),
        ("2x3xf32", {}, "2x3xf32"),
        ("5xf32", {}, "5x1xf32"),
        ("0x3x4xf32", {}, "0x12xf32"),
    )
    yield from _each(
        "expand_dims",
        ("2x3xf32", {"axis": 1}, "2x1x3xf32"),
        ("2x3xf32", {"axis": -1, "num_newaxis": 2}, "2x3x1x1xf32"),
        ("2x3xf32", {"axis": -3}, "1x2x3xf32"),
        ("f32", {"axis": 0}, "1xf32"),
        ("2x3xi64", {"axis": 0, "num_newaxis": 0}, "2x3xi64"),
    )
    yield from _each(
        "squeeze",
        ("1x2x1xf32", {}, "2xf32"),
        ("1x2x1xf32", {"axis": (0,)}, "2x1xf32"),
        ("1x2x1xf32", {"axis": (-1, 0)}, "2xf32"),
        ("1x2xf32", {"axis": ()}, "1x2xf32"),
        ("1x1xi32", {}, "i32"),
    )
    # rearranging
    yield from _each(
        "transpose",
        ("2x3x4xf32", {}, "4x3x2xf32"),
        ("2x3x4xf32", {"axes": (0, 2, 1)}, "2x4x3xf32"),
        ("2x3x4xf32", {"axes": (-1, 0, 1)}, "4x2x3xf32"),
        ("f32", {}, "f32"),
        ("0x3xi8", {"axes": (1, 0)}, "3x0xi8"),
    )
    yield from _each(
        "nn.depth_to_space",
        ("1x8x2x3xf32", {"block_size": 2}, "1x2x4x6xf32"),
        ("1x2x3x8xi32", {"block_size": 2, "layout": "NHWC", "mode": "CDR"}, "1x4x6x2xi32"),
    )
    yield from _each(
        "nn.space_to_depth",
        ("1x2x4x6xf32", {"block_size": 2}, "1x8x2x3xf32"),
        ("1x4x6x2xi32", {"block_size": 2, "layout": "NHWC"}, "1x2x3x8xi32"),
    )
    yield from _each(
        "nn.dilate",
        ("2x3xf32", {"strides": (1, 2)}, "2x5xf32"),
        ("4xi32", {"strides": (3,), "dilation_value": 2.0}, "10xi32"),
    )
    yield from _each(
        "slice_like",
        ("2x3xf32 1x2xi32", {}, "1x2xf32"),
        ("2x3xf32 1xf16", {}, "1x3xf32"),
        ("2x3xf32 5x2xi32", {"axes": (1,)}, "2x2xf32"),
    )
    yield from _each("reverse", ("2x3xf32", {}, "2x3xf32"), ("2x3xi64", {"axis": -1}, "2x3xi64"))
    yield from _each(
        "concatenate",
        ("2x3xf32 4x3xf32", {}, "6x3xf32"),
        ("2x3xf32 2x1xf32 2x0xf32", {"axis": -1}, "2x4xf32"),
        ("2x3xi64", {"axis": 1}, "2x3xi64"),
    )
    yield from _each(
        "stack",
        ("2x3xf32 2x3xf32", {}, "2x2x3xf32"),
        ("2x3xf32 2x3xf32 2x3xf32", {"axis": -1}, "2x3x3xf32"),
        ("f32 f32", {"axis": 0}, "2xf32"),
        ("3xi1", {"axis": 1}, "3x1xi1"),
    )
    yield from _each(
        "split",
        ("6x2xf32", {"indices_or_sections": 3}, "2x2xf32 2x2xf32 2x2xf32"),
        ("6xf32", {"indices_or_sections": (2,)}, "2xf32 4xf32"),
        ("2x5xf32", {"indices_or_sections": (1, 3), "axis": 1}, "2x1xf32 2x2xf32 2x2xf32"),
        ("2x4xi64", {"indices_or_sections": 2, "axis": -1}, "2x2xi64 2x2xi64"),
        ("3xf32", {"indices_or_sections": (0, 3)}, "0xf32 3xf32 0xf32"),
        ("3xf32", {"indices_or_sections": 1}, "3xf32"),
    )
    yield from _each(
        "nn.pad",
        ("2x3xf32 f32", {"pad_width": (0, 0, 1, 2)}, "2x6xf32"),
        ("2x3xf32 f32", {"pad_width": (1, 1, 2, 2), "pad_mode": "reflect"}, "4x7xf32"),
        ("2x3xi64 i64", {"pad_width": (3, 0, 0, 5), "pad_mode": "edge"}, "5x8xi64"),
        ("f32 f32", {"pad_width": ()}, "f32"),
        ("0xf32 f32", {"pad_width": (2, 1)}, "3xf32"),
    )
    yield from _each(
        "strided_slice",
        ("5x6xf32", {"begin": (1,), "end": (4,)}, "3x6xf32"),
        ("5x6xf32", {"begin": (0, 1), "end": (5, 6), "strides": (1, 2)}, "5x3xf32"),
        ("5x6xf32", {"begin": (-1,), "end": (-7,), "strides": (-2,), "axes": (1,)}, "5x3xf32"),
        ("5x6xf32", {"begin": (-3, 2), "end": (100, 100), "strides": (1,)}, "3x4xf32"),
        ("5x6xf32", {"begin": (3, 1), "end": (-1, 2), "slice_mode": "size"}, "2x2xf32"),
        ("5xi64", {"begin": (4,), "end": (1,)}, "0xi64"),
        ("2x3xf32", {"begin": (), "end": ()}, "2x3xf32"),
    )
    yield from _each(
        "gather",
        ("3x9xf32 3x2xi64", {"axis": 1}, "3x2xf32"),
        ("4x3xi8 7x2xui8", {"axis": -2}, "7x2xi8"),
    )
    yield from _each(
        "gather_nd",
        ("4x5x6xf32 2x7xi64", {}, "7x6xf32"),
        ("4x5xf32 2xi32", {"index_rank": 2}, "f32"),
        ("3x4x5xi64 1x3x2xi32", {"batch_dims": 1}, "3x2x5xi64"),
    )
    yield from _each(
        "cumsum",
        ("3x4xf32", {}, "12xf32"),
        ("3x4xf16", {"axis": -1, "exclusive": True}, "3x4xf16"),
        ("5xi1", {"axis": 0}, "5xi32"),
        ("2x3xi8", {"axis": 0, "dtype": "int64"}, "2x3xi64"),
    )
    yield from _each(
        "reshape_like",
        ("6x4xf32 2x12xi1", {}, "2x12xf32"),
        (
            "3x6x5xf32 9x2x3x7xf32",
            {"lhs_begin": 1, "lhs_end": 2, "rhs_begin": 1, "rhs_end": 3},
            "3x2x3x5xf32",
        ),
    )
    yield from _each("cast_like", ("2x3xf32 4xi32", {}, "2x3xi32"), ("f64 0xi1", {}, "i1"))
    yield from _each("full_like", ("2x3xf32 f32", {}, "2x3xf32"), ("0xi8 i8", {}, "0xi8"))
    yield from _each(
        "take",
        ("5x6xf32 2x3xi64", {"axis": 0}, "2x3x6xf32"),
        ("5x6xf32 4xi32", {"axis": -1}, "5x4xf32"),
        ("5x6xf32 i64", {"axis": 1}, "5xf32"),
        ("5x6xf32 7xi64", {}, "7xf32"),
        ("5x6xi64 2xi32", {"axis": 0, "mode": "wrap"}, "2x6xi64"),
        ("3x5x6xf32 3x2xi64", {"axis": 1, "batch_dims": 1}, "3x2x6xf32"),
        ("3x5xf32 3x2xi64", {"axis": 1, "batch_dims": -1}, "3x2xf32"),
    )
    yield from _created()
    yield from _of_sizes()
    yield from _selections()
    yield from _of_random_numbers()
    yield from _of_images()


def _created() -> Iterator[tuple[str, Line]]:
    yield from _each(
        "zeros ones",
        ("", {"shape": (2, 3), "dtype": "float32"}, "2x3xf32"),
        ("", {"shape": (), "dtype": "bool"}, "i1"),
        ("", {"shape": (0, 4), "dtype": "int64"}, "0x4xi64"),
    )
    yield from _each(
        "dyn.zeros dyn.ones",
        ("2xi64", {"dtype": "float32"}, "?x?xf32"),
        ("0xi32", {"dtype": "int64"}, "i64"),
    )
    yield from _each("dyn.full", ("f32 2xi64", {}, "?x?xf32"), ("i1 0xi64", {}, "i1"))
    yield from _each(
        "arange",
        ("f32 f32 f32", {"dtype": "float32"}, "?xf32"),
        ("i64 i64 i64", {"dtype": "int64"}, "?xi64"),
    )
    yield from _each(
        "one_hot",
        ("3xi32 f32 f32", {"depth": 4, "axis": -1, "dtype": "float32"}, "3x4xf32"),
        ("2x3xi64 i8 i8", {"depth": 5, "axis": 1, "dtype": "int8"}, "2x5x3xi8"),
        ("ui8 i1 i1", {"depth": 0, "axis": 0, "dtype": "bool"}, "0xi1"),
    )
    yield from _each(
        "dyn.one_hot",
        ("3xi32 f32 f32 i64", {"axis": -1, "dtype": "float32"}, "3x?xf32"),
        ("2x3xi64 i8 i8 i32", {"axis": 0, "dtype": "int8"}, "?x2x3xi8"),
    )
    yield from _each(
        "ndarray_size", ("2x3xf32", {"dtype": "int32"}, "i32"), ("i1", {"dtype": "int64"}, "i64")
    )
    yield from _each(
        "shape_of",
        ("2x3xf32", {"dtype": "int64"}, "2xi64"),
        ("i1", {"dtype": "int32"}, "0xi32"),
    )


def _of_sizes() -> Iterator[tuple[str, Line]]:
    yield from _each(
        "dyn.reshape",
        ("2x3x4xf32 2xi64", {}, "?x?xf32"),
        ("0x4xi64 3xi32", {"allowzero": True}, "?x?x?xi64"),
        ("1xf32 0xi64", {}, "f32"),
    )
    yield from _each("dyn.squeeze", ("1x2x1xf32 1xi64", {}, "?x?xf32"), ("1xf32 1xi32", {}, "f32"))
    yield from _each(
        "dyn.expand_dims",
        ("2x3xf32 i64", {}, "?x?x?xf32"),
        ("f32 i32", {"num_newaxis": 2}, "?x?xf32"),
        ("2x3xf32 i64", {"num_newaxis": 0}, "?x?xf32"),
    )
    yield from _each("dyn.broadcast_to", ("3xf32 2xi64", {}, "?x?xf32"), ("i1 0xi32", {}, "i1"))
    yield from _each("dyn.tile", ("3xf32 2xi64", {}, "?x?xf32"), ("2x3xi8 1xi32", {}, "2x?xi8"))
    yield from _each(
        "dyn.strided_slice",
        ("5x6xf32 2xi64 2xi64 2xi64", {}, "?x?xf32"),
        ("5x6xf32 1xi32 1xi32 1xi32", {"axes": (1,)}, "5x?xf32"),
        ("5x6xi1 1xi64 1xi64 1xi64", {"slice_mode": "size"}, "?x6xi1"),
    )
    yield from _each(
        "dyn.nn.pad",
        ("2x3xf32 2x2xi64 f32", {}, "?x?xf32"),
        ("2x3xi64 2x2xi32 i64", {"pad_mode": "reflect"}, "?x?xi64"),
    )


def _selections() -> Iterator[tuple[str, Line]]:
    yield from _each(
        "argsort",
        ("3x4xf32", {"dtype": "int32"}, "3x4xi32"),
        ("4xi8", {"axis": 0, "is_ascend": False, "dtype": "int64"}, "4xi64"),
    )
    yield from _each(
        "sort", ("3x4xf32", {}, "3x4xf32"), ("4xi8", {"axis": 0, "is_ascend": False}, "4xi8")
    )
    yield from _each(
        "scatter_elements",
        ("3x4xf32 2x4xi64 2x4xf32", {}, "3x4xf32"),
        ("3x4xi32 3x5xi32 3x5xi32", {"axis": 1, "reduction": "add"}, "3x4xi32"),
    )
    yield from _each(
        "topk",
        ("3x4xf32", {"k": 2, "dtype": "int32"}, "3x2xf32 3x2xi32"),
        (
            "3x4xi64",
            {"k": 1, "axis": 0, "ret_type": "values", "is_ascend": True, "dtype": "int64"},
            "1x4xi64",
        ),
        ("3x4xf32", {"k": 0, "ret_type": "indices", "dtype": "int64"}, "3x4xi64"),
    )
    yield from _each(
        "dyn.topk",
        ("3x4xf32 i64", {"dtype": "int32"}, "3x?xf32 3x?xi32"),
        (
            "3x4xi64 1xi32",
            {"axis": 0, "ret_type": "indices", "is_ascend": True, "dtype": "int64"},
            "?x4xi64",
        ),
    )
    yield from _each(
        "argwhere", ("2x3xi1", {}, "?x2xi32"), ("4xf32", {}, "?x1xi32"), ("0x3xi64", {}, "?x2xi32")
    )
    yield from _each(
        "unique",
        ("4xf32", {}, "4xf32 4xi32 4xi32 1xi32"),
        ("4xi64", {"sorted": False, "return_counts": True}, "4xi64 4xi32 4xi32 1xi32 4xi32"),
    )


def _of_random_numbers() -> Iterator[tuple[str, Line]]:
    yield from _each(
        "random.threefry_generate",
        ("10xui64", {"out_shape": (4,)}, "10xui64 4xui64"),
        ("10xui64", {"out_shape": (2, 3)}, "10xui64 2x3xui64"),
    )
    yield from _each("random.threefry_split", ("10xui64", {}, "10xui64 10xui64"))


def _of_images() -> Iterator[tuple[str, Line]]:
    attributes = {
        "method": "nearest_neighbor",
        "coordinate_transformation_mode": "align_corners",
        "rounding_method": "floor",
        "layout": "NHWC",
        "out_dtype": "float32",
    }
    cubic = {
        "method": "cubic",
        "cubic_alpha": -0.75,
        "cubic_exclude": 1,
        "extrapolation_value": 1.5,
    }
    yield from _each(
        "image.resize2d",
        ("1x2x3x4xf32", {"size": (6, 8)}, "1x2x6x8xf32"),
        ("1x3x4x2xf32", {"size": (2, 5), **attributes}, "1x2x5x2xf32"),
        ("1x2x3x4xf64", {"size": (3, 3), **cubic}, "1x2x3x3xf64"),
    )
    yield from _each(
        "dyn.image.resize2d",
        ("1x2x3x4xf32 2xi64 4xf32", {}, "1x2x?x?xf32"),
        ("1x3x4x2xf32 2xi32 4xf32", attributes, "1x?x?x2xf32"),
        ("1x2x3x4xf32 2xf32 4xf32", attributes | {"layout": "NCHW"}, "1x2x?x?xf32"),
        ("1x2x3x4xf64 2xi64 0xf32", cubic, "1x2x?x?xf64"),
    )
    yield from _each(
        "vision.get_valid_counts",
        ("1x5x6xf32 f32", {}, "1xi32 1x5x6xf32 1x5xi32"),
        ("2x5x5xf32 f32", {"id_index": -1, "score_index": 0}, "2xi32 2x5x5xf32 2x5xi32"),
    )
    yield from _each(
        "vision.non_max_suppression",
        ("1x5x6xf32 1xi32 1x5xi32 i32 f32", {}, "1x5xi32 1x1xi32"),
        (
            "1x5x5xf32 1xi32 1x5xi32 i32 f32",
            {
                "force_suppress": True,
                "top_k": 3,
                "coord_start": 1,
                "score_index": 0,
                "id_index": -1,
                "return_indices": False,
                "invalid_to_bottom": True,
            },
            "1x5x5xf32",
        ),
    )
    yield from _each(
        "vision.all_class_non_max_suppression",
        ("1x6x4xf32 1x2x6xf32 i64 f32 f32", {}, "12x3xi64 1xi64"),
    )


def _of_formula(name: str) -> Iterator[Line]:
    """Yield samples of a formula of elements, of the types that it accepts."""
    cls = OPERATORS[name]
    count = len(cls.get_irdl_definition().operands)
    for *shapes, element in product(("2x3x", ""), ("3x", "1x", ""), ("f32", "i32", "ui8", "i1")):
        operands = " ".join(shape + element for shape in (shapes * count)[:count])
        try:
            yield operands, {}, infer(name, operands)
        except VerifyException:
            pass


def _samples() -> Iterator[Sample]:
    counts: dict[str, int] = {}
    lines = list(_lines())
    given = {name for name, _ in lines}
    for name in FORMULAS:
        if name not in given:
            lines += [(name, line) for line in _of_formula(name)]
    for name, (operands, attrs, results) in lines:
        index = counts.get(name, 0)
        counts[name] = index + 1
        yield Sample(name, _specs(operands), attrs, _specs(results), index)


SAMPLES: tuple[Sample, ...] = tuple(_samples())
"""All samples, grouped by operator."""


def on_each_sample(
    samples: Iterable[Sample] = SAMPLES,
) -> Callable[[Callable[[Sample], None]], Callable[[str], None]]:
    """Make a test of a sample one test per operator; a failure names the sample."""
    of: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        of[sample.name].append(sample)

    def decorate(test: Callable[[Sample], None]) -> Callable[[str], None]:
        def run(name: str) -> None:
            for sample in of[name]:
                try:
                    test(sample)
                except BaseException as error:
                    error.add_note(f"sample {sample}: {sample!r}")
                    raise

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return pytest.mark.parametrize("name", sorted(of))(run)

    return decorate
