"""Convolutions by Winograd's algorithm agree with sums of windows, computed by NumPy in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np
from helpers.programs.programs import parse
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

import xrelay
from xrelay.lowering.native.schedules.tiles import AVX, AVX512, NEON, SSE, winograd_rows
from xrelay.operators.windows import WINOGRAD
from xrelay.operators.winograd_blocks import blocks_of, scratch_shapes

Array = Any

FILTERING = np.array(((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1)))


def windows(x: Array, w: Array) -> Array:
    """Convolve images with channels last, in float64."""
    cells = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (1, 2))
    return np.einsum("nhwcij,ijco->nhwo", cells, w.astype(np.float64))


def panels(w: Array) -> Array:
    u = np.einsum("ai,bj,ijco->abco", FILTERING, FILTERING, w).astype(np.float32)
    return u.reshape(*u.shape[:3], -1, 16).transpose(3, 0, 1, 2, 4).copy()


def program(x: Array, u: Array, steps: str, result: str) -> str:
    operands = f"tensor<{'x'.join(map(str, x.shape))}xf32>, "
    operands += f"tensor<{'x'.join(map(str, u.shape))}xf32>"
    data, weight = operands.split(", ")
    return f"""
      func.func @main(%x: {data}, %u: {weight}, %b: tensor<{16 * len(u)}xf32>, %r: {result})
          -> {result} {{
        %c = relay.nn.conv2d %x, %u {{data_layout = "NHWC", kernel_layout = "{WINOGRAD}"}}
          : ({operands}) -> {result}
        {steps.replace("T", result)}
        func.return %y : {result}
      }}"""


AFTER: dict[str, Callable[[Array, Array, Array], Array]] = {
    "%y = relay.add %c, %r : (T, T) -> T": lambda c, b, r: c + r,
    "%a = relay.nn.bias_add %c, %b {axis = 3} : (T, tensor<FILTERSxf32>) -> T\n"
    "%d = relay.add %a, %r : (T, T) -> T\n%y = relay.nn.relu %d : (T) -> T": (
        lambda c, b, r: np.maximum(c + b + r, 0)
    ),
    "%d = relay.sigmoid %c : (T) -> T\n%y = relay.multiply %c, %d : (T, T) -> T": (
        lambda c, b, r: c / (1 + np.exp(-c))
    ),
    "%y = relay.nn.softmax %c {axis = 3} : (T) -> T": (
        lambda c, b, r: np.exp(c) / np.exp(c).sum(3, keepdims=True)
    ),
}
"""Ops that follow a convolution, with what they compute of its result, a bias and a residual."""


@exactly(40)
@given(st.data())
def test_images(data: st.DataObject):
    height, width = data.draw(st.integers(1, 17)), data.draw(st.integers(1, 17))
    images, channels, filters = (data.draw(st.integers(1, n)) for n in (2, 3, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.standard_normal((images, height + 2, width + 2, 16 * channels), np.float32)
    w = rng.standard_normal((3, 3, 16 * channels, 16 * filters), np.float32) / 16
    b = rng.standard_normal(16 * filters, np.float32)
    r = rng.standard_normal((images, height, width, 16 * filters), np.float32)
    steps, compute = data.draw(st.sampled_from([*AFTER.items()]))
    steps = steps.replace("FILTERS", str(16 * filters))
    text = program(x, panels(w), steps, f"tensor<{'x'.join(map(str, r.shape))}xf32>")
    expected = compute(windows(x, w), b, r)
    for target in ("machine", f"native{{cpu={data.draw(st.sampled_from(['native', 'x86-64']))}}}"):
        result = xrelay.compile(parse(text), target=target)(x, panels(w), b, r)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=2e-5)


def test_threads():
    """Blocks of tile rows are divided, or panels of filters if there is one block."""
    rng = np.random.default_rng(0)
    for size, channels in ((19, 48), (8, 96)):
        x = rng.standard_normal((1, size + 2, size + 2, channels), np.float32)
        w = rng.standard_normal((3, 3, channels, channels), np.float32)
        steps, result = "%y = relay.add %c, %r : (T, T) -> T", (1, size, size, channels)
        text = program(x, panels(w), steps, f"tensor<{'x'.join(map(str, result))}xf32>")
        operands = x, panels(w), np.zeros(channels, np.float32), np.zeros(result, np.float32)
        divided, whole = (
            xrelay.compile(parse(text), target=f"native{{cpu=native threads={threads}}}")(*operands)
            for threads in ("on", "off")
        )
        np.testing.assert_array_equal(divided, whole)
        machine = xrelay.compile(parse(text), kernels="native", sanitize=True)
        np.testing.assert_array_equal(machine(*operands), whole)
        np.testing.assert_allclose(whole, windows(x, w), rtol=1e-5, atol=1e-3)


def test_blocks():
    assert [
        (blocks.height, blocks.width, blocks.lines, winograd_rows(blocks, vectors))
        for blocks, vectors in (
            (blocks_of(55, 55, 16, 64), AVX),
            (blocks_of(13, 13, 64, 256), AVX),
            (blocks_of(14, 14, 256, 256), AVX),
            (blocks_of(13, 13, 64, 256), SSE),
            (blocks_of(13, 13, 64, 256), AVX512),
            (blocks_of(13, 13, 64, 256), NEON),
            (blocks_of(1, 1, 16, 16), AVX),
        )
    ] == [
        (28, 28, 1, 4),
        (7, 7, 2, 5),
        (7, 7, 4, 4),
        (7, 7, 2, 2),
        (7, 7, 2, 7),
        (7, 7, 2, 7),
        (1, 1, 1, 1),
    ]


def test_scratch():
    """Threads have parts of their own: of blocks, or of panels if there are few blocks."""
    shapes = (55, 55, 16, 64), (13, 13, 64, 256), (14, 14, 256, 256), (7, 7, 512, 512)
    assert [[scratch_shapes(1, *shape, parts) for parts in (4, 1)] for shape in shapes] == [
        [((4, 4, 4, 28, 16), (4, 4, 4, 28, 16)), ((1, 4, 4, 28, 16), (4, 4, 4, 28, 16))],
        [((4, 4, 4, 14, 64), (4, 4, 4, 14, 16)), ((1, 4, 4, 14, 64), (4, 4, 4, 14, 16))],
        [((2, 4, 4, 35, 256), (2, 4, 4, 35, 16)), ((1, 4, 4, 35, 256), (4, 4, 4, 35, 16))],
        [((1, 4, 4, 16, 512), (4, 4, 4, 16, 16)), ((1, 4, 4, 16, 512), (4, 4, 4, 16, 16))],
    ]
    assert scratch_shapes(1, 6, 6, 16, 16, 4) == ((1, 4, 4, 9, 16), (1, 4, 4, 9, 16))  # too small
    assert scratch_shapes(1, 2, 10, 64, 1024, 4)[0] == (1, 4, 4, 5, 64)  # of one block
