"""
Operators of the text that index, contract and transform tensors, or make boxes: numbers.

Each program agrees with NumPy in the evaluator, in the machine, and in machine code.
"""

# ruff: noqa: E501 (programs)

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import results_in_machine
from helpers.programs.agreement import Array
from helpers.relay.numeric_cases import (
    Case,
    check_case,
    check_machine_code,
    flattened,
    floats,
    ints,
)
from helpers.relay.relay_programs import error_of, read

X = "%x: Tensor[(3, 4), float32]"
CSR = "%x: Tensor[(2, 4), float32], %v: Tensor[(3), float32], %i: Tensor[(3), int32], %p: Tensor[(4), int32]"


def fourier(x: Array, y: Array) -> tuple[Array, Array]:
    z = np.fft.fft(x + 1j * y)
    return z.real.astype(np.float32), z.imag.astype(np.float32)


def inverse(x: Array, y: Array) -> tuple[Array, Array]:
    z = np.fft.ifft(x + 1j * y)
    return z.real.astype(np.float32), z.imag.astype(np.float32)


def short_time(x: Array, w: Array) -> Array:
    frames = np.lib.stride_tricks.sliding_window_view(x, 4, axis=1)[:, ::2] * w
    z = np.moveaxis(np.fft.rfft(frames), 1, 2) / 2
    return np.stack([z.real, z.imag], -1).astype(np.float32)


def compressed(values: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Array:
    """The matrix of compressed rows of numbers or blocks, written one by one."""
    height, width = values.shape[1:] or (1, 1)
    y = np.zeros(shape, values.dtype)
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            place = indices[at] * width
            y[row * height :][:height, place : place + width] += values[at]
    return y


def transposed(v: Array, i: Array, p: Array) -> tuple[Array, Array, Array]:
    y = compressed(v, i, p, (3, 3)).T
    rows, columns = np.nonzero(y)
    ends = np.searchsorted(rows, np.arange(4)).astype(np.int32)
    return y[rows, columns], columns.astype(np.int32), ends


def reorganized(x: Array) -> Array:
    """Channels, straight from the loops of Darknet."""
    n, c, h, w = x.shape
    y, flat = np.zeros_like(x), x.reshape(-1)
    for b, k, j, i in np.ndindex(n, c, h, w):
        offset, c2 = divmod(k, c // 4)
        w2, h2 = i * 2 + offset % 2, j * 2 + offset // 2
        y[b, k, j, i] = flat[w2 + w * 2 * (h2 + h * 2 * (c2 + c // 4 * b))]
    return y.reshape(n, c * 4, h // 2, w // 2)


def counted(x: Array, y: Array) -> list[Array]:
    both = np.zeros((2, *y.shape), np.int32)
    for row, (a, b) in enumerate(zip(x, y, strict=True)):
        both[:, row] = np.searchsorted(a, b), np.searchsorted(a, b, "right")
    return [both[0], both[1]]


def priors(x: Array) -> Array:
    boxes: list[Any] = []
    for i, j in np.ndindex(2, 3):
        y, z = (i + 0.2) * 0.5, (j + 0.3) / 3
        for size, ratio in ((0.3, 1), (0.7, 1), (0.3, 2)):
            h, w = size / ratio**0.5 / 2, size * 2 / 3 * ratio**0.5 / 2
            boxes.append((z - w, y - h, z + w, y + h))
    return np.clip(np.array([boxes]), 0, 1).astype(np.float32)


def located(scores: Array, moves: Array, anchors: Array) -> tuple[Array, Array]:
    """Box after box, as TVM's loops do it; the rows that it does not write are -1."""
    rows, counts = np.full((2, 3, 6), -1, np.float32), np.zeros(2, np.int32)
    for b, j in np.ndindex(2, 3):
        kind = int(np.argmax(scores[b, 1:, j]))
        score = scores[b, 1 + kind, j]
        if score < 0.01:
            continue
        left, top, right, bottom = anchors[0, j]
        dx, dy, dw, dh = moves[b, 4 * j :][:4] * (0.1, 0.1, 0.2, 0.2)
        x, y = dx * (right - left) + (left + right) / 2, dy * (bottom - top) + (top + bottom) / 2
        w, h = np.exp(dw) * (right - left) / 2, np.exp(dh) * (bottom - top) / 2
        box = np.clip([x - w, y - h, x + w, y + h], 0, 1)
        rows[b, counts[b]] = (kind, score, *box)
        counts[b] += 1
    return rows, counts


def multiplied(x: Array, y: Array, left: Array, right: Array) -> Array:
    """Exact integers: floor(x 2^l y / 2^(31 + r) + 1/2)."""
    exact = [
        (int(x[i, j]) * 2 ** int(left[j]) * int(y[j]) + 2 ** (30 + int(right[j])))
        // 2 ** (31 + int(right[j]))
        for i, j in np.ndindex(2, 3)
    ]
    return np.array(exact, np.int32).reshape(2, 3)


SORTED = np.sort(floats(2, 6))
SCORES = np.array([[[0.5, 0.1, 0.9], [0.2, 0.0, 0.3], [0.3, 0.005, 0.3]], [[0.1] * 3, [0.0, 0.6, 0.4], [0.0, 0.1, 0.5]]], np.float32)  # fmt: skip

CASES = {
    "triangles": Case(
        X + ", %k: int32", "(trilu(%x, %k), trilu(%x, reshape(%k, newshape=[1]), upper=False))", [floats(3, 4), ints(1, dtype="int32")[0]],
        lambda x, k: (np.triu(x, int(k)), np.tril(x, int(k)))),
    "indices that broadcast": Case(
        "%x: Tensor[(3, 4, 2), float32], %i: Tensor[(2, 1), int64], %j: Tensor[(3), int32]", "adv_index((%x, %i, %j))", [floats(3, 4, 2), ints(2, 0).reshape(2, 1), ints(3, 0, 1, dtype="int32")],
        lambda x, i, j: x[i, j]),
    "windows that slide": Case(
        "%x: Tensor[(2, 5, 7), float32]", "sliding_window(%x, axis=1, window_shape=[3, 2], strides=[1, 3])", [floats(2, 5, 7)],
        lambda x: np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(1, 2))[:, :, ::3]),
    "products so far": Case(
        "%x: Tensor[(3, 7), int32]", "(cumprod(%x, axis=1), cumprod(%x, axis=0, exclusive=True, dtype=\"int64\"), cumprod(%x))", [floats(3, 7).astype(np.int32)],
        lambda x: (np.cumprod(x, 1, dtype=np.int32), np.cumprod(np.concatenate([np.ones((1, 7)), x[:-1]]), 0).astype(np.int64), np.cumprod(x, dtype=np.int32))),
    "a permutation and its inverse": Case(
        "%i: Tensor[(4), int32]", "invert_permutation(%i)", [ints(2, 0, 3, 1, dtype="int32")],
        lambda i: np.argsort(i).astype(np.int32)),
    "truncated quotients": Case(
        "%x: Tensor[(4), float32], %i: Tensor[(4), int32]", "(trunc_divide(%x, 1.5f), trunc_mod(%x, 1.5f), trunc_divide(%i, 3), trunc_mod(%i, 3))", [floats(4), ints(-7, 7, -1, 2, dtype="int32")],
        lambda x, i: (np.trunc(x / np.float32(1.5)), np.fmod(x, np.float32(1.5)), np.trunc(i / 3).astype(np.int32), np.fmod(i, 3).astype(np.int32))),
    "old scatters": Case(
        "%x: Tensor[(3), float32], %i: Tensor[(2), int64], %u: Tensor[(2), float32]", "(scatter(%x, %i, %u, axis=0), scatter_add(%x, %i, %u, axis=0))", [floats(3), ints(2, 0), floats(2)],
        lambda x, i, u: (np.array([u[1], x[1], u[0]]), np.array([x[0] + u[1], x[1], x[2] + u[0]]))),
    "a queue": Case(
        "%x: Tensor[(1, 4), float32], %b: Tensor[(3, 4), float32]", "nn.fifo_buffer(%x, %b, axis=0)", [floats(1, 4), floats(3, 4)],
        lambda x, b: np.concatenate([b, x])[1:]),
    "entropies": Case(
        X + ", %y: Tensor[(3, 4), float32]", "(nn.cross_entropy(abs(%x), %y), nn.cross_entropy_with_logits(%x, %y))", [floats(3, 4) + np.float32(9), floats(3, 4)],
        lambda x, y: (np.float32(-(y * np.log(np.abs(x))).sum() / 3), np.float32(-(x * y).sum() / 3))),
    "a weight in blocks": Case(
        "%x: Tensor[(2, 4), float32], %w: Tensor[(8, 4), float32]", "nn.contrib_dense_pack(%x, layout_transform(%w, src_layout=\"NC\", dst_layout=\"NC4n\"), weight_layout=\"NC4n\", units=8, out_dtype=\"float32\")", [floats(2, 4), floats(8, 4)],
        lambda x, w: x @ w.T),
    "products of any axes": Case(
        "%x: Tensor[(2, 3, 4), float32], %y: Tensor[(4, 3, 5), float32], %z: Tensor[(1, 5), float32]", "(einsum((%x, %y), equation=\"abc,cbd->da\"), einsum((%x,), equation=\"abc->ca\"), einsum((%x, %y, %z), equation=\"abc, cbd, ad -> b\"), einsum((%x, %x), equation=\"...b,...b\"))",
        [floats(2, 3, 4), floats(4, 3, 5), floats(1, 5)],
        lambda x, y, z: (np.einsum("abc,cbd->da", x, y), x.sum(1).T, np.einsum("abc,cbd,ad->b", x, y, np.broadcast_to(z, (2, 5))), (x * x).sum(-1))),
    "products of fixed points for each axis": Case(
        "%x: Tensor[(2, 3), int32], %y: Tensor[(3), int32], %l: Tensor[(3), int32], %r: Tensor[(3), int32]", "fixed_point_multiply_per_axis(%x, %y, %l, %r, is_lshift_required=True, is_rshift_required=True, axes=[1])",
        [ints(-5, 3, 1000, 99, -1, 7, dtype="int32").reshape(2, 3), ints(1 << 30, 2000000001, 3, dtype="int32"), ints(1, 0, 3, dtype="int32"), ints(0, 2, 0, dtype="int32")],
        multiplied),
    "Fourier transforms": Case(
        "%x: Tensor[(2, 5), float32], %y: Tensor[(2, 5), float32]", "(dft(%x, %y), dft(%x, %y, inverse=True))", [floats(2, 5), floats(2, 5)],
        lambda x, y: (fourier(x, y), inverse(x, y))),
    "short-time Fourier transforms": Case(
        "%x: Tensor[(2, 9), float32], %w: Tensor[(4), float32]", "stft(%x, %w, n_fft=4, hop_length=2, win_length=4, normalized=True, onesided=True)", [floats(2, 9), floats(4)],
        short_time),
    "a sparse weight": Case(
        CSR, "(nn.sparse_dense(%x, %v, %i, %p), nn.sparse_dense(%x, %v, %i, %p, sparse_lhs=True))", [floats(2, 4), floats(3), ints(1, 3, 0, dtype="int32"), ints(0, 2, 2, 3, dtype="int32")],
        lambda x, v, i, p: (x @ compressed(v, i, p, (3, 4)).T, compressed(v, i, p, (3, 4)) @ x.T)),
    "a weight of sparse blocks": Case(
        "%x: Tensor[(3, 4), float32], %v: Tensor[(3, 1, 2), float32], %i: Tensor[(3), int32], %p: Tensor[(3), int32]", "nn.sparse_dense(%x, %v, %i, %p)", [floats(3, 4), floats(3, 1, 2), ints(1, 0, 1, dtype="int32"), ints(0, 1, 3, dtype="int32")],
        lambda x, v, i, p: x @ compressed(v, i, p, (2, 4)).T),
    "a sparse sum": Case(
        CSR.replace("(2, 4)", "(3, 4)"), "nn.sparse_add(%x, %v, %i, %p)", [floats(3, 4), floats(3), ints(1, 3, 0, dtype="int32"), ints(0, 2, 2, 3, dtype="int32")],
        lambda x, v, i, p: x + compressed(v, i, p, (3, 4))),
    "a sparse matrix that is transposed": Case(
        "%v: Tensor[(4), float32], %i: Tensor[(4), int32], %p: Tensor[(4), int32]", "nn.sparse_transpose(%v, %i, %p)", [ints(1, 2, 3, 4, dtype="float32"), ints(0, 2, 1, 0, dtype="int32"), ints(0, 2, 3, 4, dtype="int32")],
        transposed),
    "a sparse shape": Case(
        "%i: Tensor[(2, 3), int32], %s: Tensor[(3), int32], %n: Tensor[(2), int32]", "sparse_reshape(%i, %s, %n)", [ints(0, 1, 2, 1, 2, 3, dtype="int32").reshape(2, 3), ints(2, 3, 4, dtype="int32"), ints(4, -1, dtype="int32")],
        lambda i, s, n: (np.stack(np.unravel_index(np.ravel_multi_index(tuple(i.T), tuple(s)), (4, 6)), 1).astype(np.int32), np.array([4, 6], np.int32))),
    "rows without elements": Case(
        "%i: Tensor[(4, 2), int64], %v: Tensor[(4), float32], %n: Tensor[(2), int64], %d: float32", "sparse_fill_empty_rows(%i, %v, %n, %d)", [ints(0, 1, 0, 3, 2, 0, 5, 1).reshape(4, 2), ints(1, 2, 3, 4, dtype="float32"), ints(7, 4), np.array(9, np.float32)],
        lambda i, v, n, d: (ints(0, 1, 0, 3, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 6, 0).reshape(8, 2), np.array([0, 1, 0, 1, 1, 0, 1], bool), ints(1, 2, 9, 3, 9, 9, 4, 9, dtype="float32"))),
    "places after equal elements": Case(
        "%x: Tensor[(2, 6), float32], %y: Tensor[(2, 4), float32]", "(searchsorted(%x, %y), searchsorted(%x, %y, right=True))", [SORTED, SORTED[:, 1:5]],
        counted),
    "channels of rows and columns": Case(
        "%x: Tensor[(1, 8, 4, 6), float32]", "vision.yolo_reorg(%x, stride=2)", [floats(1, 8, 4, 6)], reorganized),
    "boxes of an image": Case(
        "%x: Tensor[(1, 3, 2, 3), float32]", "vision.multibox_prior(%x, sizes=[0.3f, 0.7f], ratios=[1f, 2f], steps=[0.5f, -1f], offsets=[0.2f, 0.3f], clip=True)", [floats(1, 3, 2, 3)], priors),
    "boxes of objects": Case(
        "%s: Tensor[(2, 3, 3), float32], %l: Tensor[(2, 12), float32], %a: Tensor[(1, 3, 4), float32]", "vision.multibox_transform_loc(%s, %l, %a)", [SCORES, floats(2, 12), np.abs(floats(1, 3, 4)) / np.float32(9)],
        located),
    "hints for debuggers": Case(X, "debug(%x)", [floats(3, 4)], lambda x: x),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_numbers_and_text(case: Case) -> None:
    check_case(case, 1e-5)


@pytest.mark.ci
def test_numbers_in_machine_code(tmp_path: Path) -> None:
    check_machine_code(CASES, tmp_path)


def test_normal_numbers_follow_from_uniform_ones() -> None:
    text = 'random.{}(%g, {}f, {}f, out_shape={}, out_dtype="float32").1'
    both = [text.format("normal", 3, 2, [4]), text.format("uniform", 0, 1, [2, 4])]
    key = np.arange(10, dtype=np.uint64)
    module = read(f"def @main(%g: Tensor[(10), uint64]) {{ ({', '.join(both)}) }}")
    found, uniform = flattened(results_in_machine(module, [key], "main"))
    u, v = uniform
    expected = np.sqrt(-2 * np.log(1 - u)) * np.sin(2 * np.pi * v) * 2 + 3
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("params", "body", "message"),
    [
        ("%x: Tensor[(3), float32]", "trilu(%x, 0)", "trilu: expected matrices"),
        (X, "adv_index((%x, zeros(shape=[2], dtype=\"int64\"), zeros(shape=[3], dtype=\"int64\")))", "broadcast_to: dim 2 at axis -1 does not broadcast to 3"),
        (X, "sliding_window(%x, axis=0, window_shape=[4, 1], strides=[1, 1])", "sliding_window: windows must be in [1, 3], and strides above 0"),
        (X, "einsum((%x, %x), equation=\"ab,cd,ef\")", "einsum: the equation has 3 operands, but there are 2"),
        (X, "einsum((%x,), equation=\"aa->a\")", "einsum: axis \"a\" has sizes 3 and 4"),
        (X, "einsum((%x, %x), equation=\"ab,bc->ac\")", "einsum: axis \"b\" has sizes 4 and 3"),
        (X, "stft(%x, %x, n_fft=8, hop_length=1, win_length=8)", "stft: n_fft must be in [1, 4] and equal win_length, and hop_length above 0"),
        ("%x: Tensor[(1, 4000000), float32]", "dft(%x, %x)", "dft: expected at most 4194304 places to compute"),
        (CSR.replace("(2, 4)", "(2, 5)").replace("(3), float32", "(3, 2, 2), float32"), "nn.sparse_dense(%x, %v, %i, %p)", "nn.sparse_dense: blocks of [2, 2] do not fill 5 columns"),
        ("%x: Tensor[(1, 3, 4, 6), float32]", "vision.yolo_reorg(%x, stride=2)", "vision.yolo_reorg: channels must be divisible by 2², sides by 2"),
        (X, "vision.multibox_prior(%x)", "vision.multibox_prior: expected a tensor of rank 4, but it is of Tensor[(3, 4), float32]"),
        ("%x: int64", "unravel_index(%x, %x)", "unravel_index: expected a tensor of rank 1, but it is of int64"),
        (X, "nn.sparse_transpose(%x, %x, %x)", "nn.sparse_transpose: expected a tensor of rank 1"),
        ("%x: float32", "nn.cross_entropy(%x, %x)", "nn.cross_entropy: expected a tensor of rank 2, but it is of float32"),
        ("%x: float32", "scatter_nd(%x, 0, %x)", "scatter_nd: indices of 0 axes, but data has 0"),
        ("%x: Tensor[(2, 0), int64]", "sparse_to_dense(%x, 1f, 0f, output_shape=[])", "sparse_to_dense: output_shape must have an entry"),
        (X, "nn.contrib_dense_pack(%x, %x, weight_layout=\"NH\")", "nn.contrib_dense_pack: weight_layout must have the axes N and C, but is \"NH\""),
    ],
)  # fmt: skip
def test_wrong_operands(params: str, body: str, message: str) -> None:
    assert error_of(f"def @main({params}) {{\n{body} }}").partition(": ")[2].startswith(message)
