"""Errors of type rules that other tests reach by random operands only."""

from typing import Any

import pytest
from helpers.operators.inferring import error

REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    ("random.threefry_split", "10xi64", {}, "gen must have ui64 elements, but has i64"),
    ("dyn.broadcast_to", "2x3xf32 1xi64", {}, "shape must have at least 2 entries, but has 1"),
    ("reinterpret", "4xf32", {"dtype": "int16"},
     "relay.reinterpret must keep the width, but f32 is not as wide as i16"),
    ("fixed_point_multiply", "4xi32", {"multiplier": 2**31, "shift": 0},
     "multiplier must be a number of 32 bits, but is 2147483648"),
    ("fixed_point_multiply", "4xi32", {"multiplier": 1, "shift": 32},
     "shift must be at most 31, but is 32"),
    ("nn.instance_norm", "2x3xf32 2xf32 2xf32", {"axis": 0},
     "axis must not be 0, that of the batch"),
    ("nn.nll_loss", "f32 i64 3xf32", {},
     "predictions must have rank at least 1, but have rank 0"),
    ("dyn.topk", "5xf32 2xi64", {"dtype": "int32"}, "k must have 1 element, but has 2"),
    ("slice_like", "2x3xf32 4xf32", {"axes": (1,)}, "shape_like has no axis 1: its rank is 1"),
    ("gather_nd", "3x4xf32 ?x2xi64", {},
     "relay.gather_nd needs index_rank: dim 0 of indices is dynamic"),
    ("nn.dilate", "2x3xf32", {"strides": (1,)}, "strides must have 2 entries, but has 1"),
    ("dyn.nn.upsampling", "1x2x3x4xf32 2xf32 f32", {},
     "scale_h must be a scalar float, but is tensor<2xf32>"),
    ("image.resize2d", "1x2x3x4xf32", {"size": (3, 3), "out_dtype": "float64"},
     "out_dtype must be f32, that of data, but is f64"),
    ("vision.non_max_suppression", "1x5x6xf32 1xi32 1x5xi64 i32 f32", {},
     "indices must have i32 elements, but has i64"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operands", "attributes", "message"), REFUSED)
def test_refused(name: str, operands: str, attributes: dict[str, Any], message: str):
    assert error(name, operands, **attributes) == message
