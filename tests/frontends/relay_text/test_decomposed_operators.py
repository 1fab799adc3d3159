"""
Operators of the text that are several of the dialect's: numbers.

Each program agrees with NumPy in the evaluator, in the machine, and in machine code.
"""

# ruff: noqa: E501 (programs)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.programs.agreement import Array
from helpers.relay.numeric_cases import (
    Case,
    check_case,
    check_machine_code,
    floats,
    ints,
)
from helpers.relay.relay_programs import error_of

X = "%x: Tensor[(3, 4), float32]"


def linear(x: Array, size: int) -> Array:
    """Resize the last axis, half pixels apart, straight from the definition."""
    at = (np.arange(size) + 0.5) * x.shape[-1] / size - 0.5
    low = np.floor(at).astype(int)
    share = at - low
    pick = [np.clip(low + i, 0, x.shape[-1] - 1) for i in (0, 1)]
    return (x[..., pick[0]] * (1 - share) + x[..., pick[1]] * share).astype(np.float32)


def each_axis(x: Array, *sizes: int) -> Array:
    for axis, size in enumerate(sizes, x.ndim - len(sizes)):
        x = np.moveaxis(linear(np.moveaxis(x, axis, -1), size), -1, axis)
    return x


def with_diagonals(x: Array, rows: Array) -> Array:
    """Diagonals 1, 0 and -1, those above the main one aligned right, those below left."""
    y = x.copy()
    for place in np.ndindex(*x.shape):
        *outer, i, j = place
        if abs(j - i) <= 1:
            length = min(x.shape[-2] + min(j - i, 0), x.shape[-1] - max(j - i, 0))
            shift = rows.shape[-1] - length if j >= i else 0
            y[place] = rows[(*outer, 1 - (j - i), min(i, j) + shift)]
    return y


def reversed_sequences(x: Array, lengths: Array) -> Array:
    y = x.copy()
    for row, length in enumerate(lengths):
        stop = min(max(int(length), 0), x.shape[1])
        y[row, :stop] = x[row, :stop][::-1]
    return y


def scattered(x: Array, i: Array, u: Array) -> Array:
    y = x.copy()
    np.add.at(y, tuple(i), u)
    return y


def written(i: Array, v: Array) -> Array:
    y = np.full((3, 4), 9, np.float32)
    y[i[:, 0], i[:, 1]] = v
    return y


def unraveled(i: Array, s: Array) -> Array:
    return np.array([np.unravel_index(int(each), s.tolist()) for each in i], np.int64).T


def places(x: Array, y: Array) -> tuple[Array, Array]:
    """For each row of `y`, how many numbers of that of `x` are less, and are at most as great."""
    less = x[:, None, :] < y[:, :, None]
    at_most = x[:, None, :] <= y[:, :, None]
    return less.sum(-1).astype(np.int32), at_most.sum(-1).astype(np.int64)


def affine(x: Array) -> Array:
    ys, xs = np.meshgrid(np.linspace(-1, 1, 3), np.linspace(-1, 1, 5), indexing="ij")
    return np.einsum("nck,khw->nchw", x, np.stack([xs, ys, np.ones_like(xs)])).astype(np.float32)


def strided(x: Array, v: Array) -> Array:
    y = x.copy()
    y[2:0:-1, 1:4:2] = v
    return y


C = "meta[relay.Constant]"
INDEX = "%i: Tensor[(4), int64]"

CASES = {
    "a sum to the shape of another": Case(
        "%x: Tensor[(2, 3, 4), float32], %y: Tensor[(3, 1), float32]", "collapse_sum_like(%x, %y)", [floats(2, 3, 4), floats(3, 1)],
        lambda x, y: x.sum((0, 2), keepdims=True)[0]),
    "a sum to the same shape": Case(
        X + ", %y: Tensor[(3, 4), float32]", "collapse_sum_like(%x, %y)", [floats(3, 4), floats(3, 4)],
        lambda x, y: x),
    "a variance": Case(
        X, "variance(%x, mean(%x, axis=[1], keepdims=True), axis=[1])", [floats(3, 4)],
        lambda x: x.var(1)),
    "an unbiased variance": Case(
        X, "variance(%x, mean(%x, axis=[0], keepdims=True), axis=[0], keepdims=True, unbiased=True)", [floats(3, 4)],
        lambda x: x.var(0, ddof=1, keepdims=True)),
    "a reshape from the back": Case(
        "%x: Tensor[(2, 3, 4), float32]", "(contrib_reverse_reshape(%x, newshape=[-1, 0]), contrib_reverse_reshape(%x, newshape=[0, -3]), contrib_reverse_reshape(%x, newshape=[0, 0, -4, 2, -1]))", [floats(2, 3, 4)],
        lambda x: (x.reshape(6, 4), x.reshape(2, 12), x.reshape(2, 3, 2, 2))),
    "a grid": Case(
        "%x: Tensor[(3), float32], %y: Tensor[(2), float32]", "(meshgrid((%x, %y)).1, meshgrid((%x, %y), indexing=\"xy\").0)", [floats(3), floats(2)],
        lambda x, y: (np.meshgrid(x, y, indexing="ij")[1], np.meshgrid(x, y)[0])),
    "broadcast to another": Case(
        "%x: Tensor[(3, 1), float32], %y: Tensor[(2, 3, 4), int8]", "broadcast_to_like(%x, %y)", [floats(3, 1), floats(2, 3, 4).astype(np.int8)],
        lambda x, y: np.broadcast_to(x, y.shape)),
    "broadcast to another of open dims": Case(
        "%x: Tensor[(3, 1), float32], %y: Tensor[(?, 3, ?), int8]", "broadcast_to_like(%x, %y)", [floats(3, 1), floats(2, 3, 4).astype(np.int8)],
        lambda x, y: np.broadcast_to(x, y.shape)),
    "masked sequences": Case(
        "%x: Tensor[(3, 4, 2), float32], %n: Tensor[(3), int32]", "sequence_mask(%x, %n, mask_value=7f, axis=1)", [floats(3, 4, 2), ints(0, 2, 9, dtype="int32")],
        lambda x, n: np.where((np.arange(4) < n[:, None])[..., None], x, np.float32(7))),
    "sequences along the first axis": Case(
        X + ", %n: Tensor[(4), int64]", "sequence_mask(%x, %n)", [floats(3, 4), ints(3, 1, 0, 2)],
        lambda x, n: np.where(np.arange(3)[:, None] < n, x, np.float32(0))),
    "reversed sequences": Case(
        X + ", %n: Tensor[(3), int32]", "reverse_sequence(%x, %n)", [floats(3, 4), ints(-1, 2, 9, dtype="int32")],
        reversed_sequences),
    "indices of a shape": Case(
        INDEX + ", %s: Tensor[(3), int64]", "unravel_index(%i, %s)", [ints(0, 7, 23, 12), ints(2, 3, 4)],
        unraveled),
    "a matrix of sparse elements": Case(
        "%i: Tensor[(2, 2), int32], %v: Tensor[(2), float32]", "sparse_to_dense(%i, %v, 9f, output_shape=[3, 4])", [np.array([[0, 3], [2, 1]], np.int32), floats(2)],
        written),
    "one sparse element": Case(
        "%i: int64, %v: int8", "sparse_to_dense(%i, %v, 9, output_shape=[4])", [np.array(2), np.array(5, np.int8)],
        lambda i, v: np.array([9, 9, v, 9], np.int8)),
    "updates of slices": Case(
        "%x: Tensor[(3, 4, 2), float32], %i: Tensor[(2, 3), int64], %u: Tensor[(3, 2), float32]", "scatter_nd(%x, %i, %u, mode=\"add\")",
        [floats(3, 4, 2), np.array([[0, 2, 0], [1, 3, 1]]), floats(3, 2)], scattered),
    "diagonals": Case(
        "%x: Tensor[(2, 3, 5), float32], %d: Tensor[(2, 3, 3), float32]", "matrix_set_diag(%x, %d, k1=-1, k2=1)", [floats(2, 3, 5), floats(2, 3, 3)],
        with_diagonals),
    "places in sorted sequences": Case(
        "%x: Tensor[(2, 5), float32], %y: Tensor[(2, 3), float32]", "(searchsorted(%x, %y), searchsorted(%x, %y, right=True, dtype=\"int64\"))",
        [np.sort(floats(2, 5)), floats(2, 3)],
        places),
    "places in one sequence": Case(
        "%x: Tensor[(5), float32], %y: Tensor[(2, 3), float32]", "searchsorted(%x, %y)", [np.sort(floats(5)), floats(2, 3)],
        lambda x, y: np.asarray(np.searchsorted(x, y), np.int32)),
    "resized lines": Case(
        "%x: Tensor[(1, 2, 4), float32]", "image.resize1d(%x, size=[7], roi=[0f, 0f], layout=\"NCW\", method=\"linear\", coordinate_transformation_mode=\"half_pixel\")", [floats(1, 2, 4)],
        lambda x: each_axis(x, 7)),
    "resized volumes": Case(
        "%x: Tensor[(1, 2, 3, 4, 2), float32]", "image.resize3d(%x, size=[6, 4, 4], layout=\"NCDHW\", method=\"linear\", coordinate_transformation_mode=\"half_pixel\")", [floats(1, 2, 3, 4, 2)],
        lambda x: each_axis(x, 6, 4, 4)),
    "resized volumes, channels last": Case(
        "%x: Tensor[(1, 3, 4, 2, 2), float32]", "image.resize3d(%x, size=[6, 4, 4], layout=\"NDHWC\", method=\"linear\", coordinate_transformation_mode=\"half_pixel\")", [floats(1, 3, 4, 2, 2)],
        lambda x: np.moveaxis(each_axis(np.moveaxis(x, -1, 1), 6, 4, 4), 1, -1)),
    "an affine grid": Case(
        "%x: Tensor[(2, 2, 3), float32]", "image.affine_grid(%x, target_shape=[3, 5])", [floats(2, 2, 3)],
        affine),
    "a slice that is replaced": Case(
        "%x: Tensor[(3, 6), float32], %v: Tensor[(2, 2), float32]", f"strided_set(%x, %v, {C}[0], {C}[1], {C}[2])", [floats(3, 6), floats(2, 2)],
        strided, {"relay.Constant": [np.array([2, 1]), np.array([0, 4]), np.array([-1, 2])]}),
    "a sum to a shape": Case(
        "%x: Tensor[(2, 3, 4), float32]", f"collapse_sum_to(%x, {C}[0])", [floats(2, 3, 4)],
        lambda x: x.sum((0, 1)), {"relay.Constant": [np.array([4], np.int32)]}),
    "hints": Case(
        X, "annotation.compiler_end(annotation.stop_fusion(annotation.compiler_begin(%x, compiler=\"a\")), compiler=\"a\")", [floats(3, 4)],
        lambda x: x),
    "fast functions": Case(
        X, "(fast_exp(%x), nn.fast_softmax(%x))", [floats(3, 4)],
        lambda x: (np.exp(x), (np.exp(x) / np.exp(x).sum(-1, keepdims=True)).astype(np.float32))),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_numbers_and_text(case: Case) -> None:
    check_case(case)


@pytest.mark.ci
def test_numbers_in_machine_code(tmp_path: Path) -> None:
    check_machine_code(CASES, tmp_path)


@pytest.mark.parametrize(
    ("params", "body", "message"),
    [
        (X, "collapse_sum_like(%x, reshape(%x, newshape=[4, 3]))", "collapse_sum_like: a tensor of [4, 3] does not broadcast to [3, 4]"),
        (X, "strided_set(%x, %x, %x, %x, %x)", "strided_set: begin must be a constant of integers"),
        (X + ", %n: Tensor[(4), int64]", "reverse_sequence(%x, %n)", "reverse_sequence: expected 3 lengths, one for each index of batch_axis"),
        ("%x: Tensor[(?, 4), float32], %n: Tensor[(4), int64]", "sequence_mask(%x, %n)", "sequence_mask: expected a static shape, but the tensor is of Tensor[(?, 4), float32]"),
        (X + ", %n: Tensor[(3), int64]", "sequence_mask(%x, %n, axis=2)", "sequence_mask: axis must be in [-2, 2), but is 2"),
        (X, "meshgrid((%x, %x), indexing=\"ji\")", "meshgrid: indexing must be \"ij\" or \"xy\", but is 'ji'"),
        (X, "scatter_nd(%x, %x, %x, mode=\"add\")", "scatter_nd: indices of 3 axes, but data has 2"),
        ("%x: Tensor[(1, 2, 3), float32]", "image.affine_grid(%x, target_shape=[100000, 100000])", "image.affine_grid: expected at most 4194304 places to compute, but there are 30000000000"),
        ("%x: Tensor[(1, 2, 3), float32]", "image.affine_grid(%x, target_shape=[3])", "image.affine_grid: target_shape must be 2 integers, but is [3]"),
        ("%x: Tensor[(1099511627776, 2), int8], %n: Tensor[(2), int64]", "sequence_mask(%x, %n)", "sequence_mask: expected at most 4194304 places"),
        ("%i: Tensor[(4), int64], %s: Tensor[(100000000), int64]", "unravel_index(%i, %s)", "unravel_index: a shape has at most 32 dims, but there are 100000000"),
        ("%x: Tensor[(100000, 100000), int8], %d: Tensor[(1, 100000), int8]", "matrix_set_diag(%x, %d)", "matrix_set_diag: expected at most 4194304 places"),
        (X, "matrix_set_diag(%x, %x, k2=\"a\")", "matrix_set_diag: k2 must be an integer, but is 'a'"),
        ("%x: float32", "matrix_set_diag(%x, %x)", "matrix_set_diag: expected matrices and their diagonals"),
        ("%x: Tensor[(1, 2, 4, 4, 4), float32]", "image.resize3d(%x, size=[2, 2])", "image.resize3d: size must be 3 integers, but is [2, 2]"),
        (X, "image.resize3d(%x, size=[2, 2, 2])", "image.resize3d: expected a tensor of rank 5, but it is of Tensor[(3, 4), float32]"),
        ("%x: Tensor[(1, 2, 4), float32]", "image.resize1d(%x, size=[])", "image.resize1d: size must be an integer, but is []"),
    ],
)  # fmt: skip
def test_wrong_operands(params: str, body: str, message: str) -> None:
    assert error_of(f"def @main({params}) {{\n{body} }}").partition(": ")[2].startswith(message)
