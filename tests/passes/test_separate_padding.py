"""Images that are padded by an operator of their own have the results of the definition."""

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.programs.programs import parse
from numpy.lib.stride_tricks import sliding_window_view

from xrelay.dialects.relay.rearrange import PadOp
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.program.program import Array

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1, 2, 7, 8)).astype(np.float32)
W = RNG.standard_normal((3, 2, 3, 2)).astype(np.float32)


def windows(x: Array, size: tuple[int, int], strides: tuple[int, int]) -> Array:
    """Return the windows of `x`, in the last two dims."""
    return sliding_window_view(x, size, (2, 3))[:, :, :: strides[0], :: strides[1]]


def padded(widths: tuple[int, int, int, int], number: float) -> Array:
    top, left, bottom, right = widths
    pads = ((0, 0), (0, 0), (top, bottom), (left, right))
    return np.pad(X.astype(np.float64), pads, constant_values=number)


def convolved() -> Array:
    return np.einsum("nchwij,ocij->nohw", windows(padded((2, 1, 1, 0), 0), (3, 2), (2, 3)), W)


def maxima() -> Array:
    # ceil: 7 + 1 rows in windows of 3 at strides of 2 need one more
    return windows(padded((1, 0, 1, 1), -np.inf), (3, 2), (2, 1)).max((-1, -2))


def means() -> Array:
    return windows(padded((1, 1, 1, 1), 0), (3, 2), (1, 1)).mean((-1, -2))


def means_inside() -> Array:
    of_windows = windows(padded((1, 1, 1, 1), np.nan), (3, 2), (2, 2))
    return np.nanmean(of_windows, (-1, -2))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (
            "relay.nn.conv2d %x, %w {strides = array<i64: 2, 3>, padding = array<i64: 2, 1, 1, 0>}",
            convolved(),
        ),
        (
            "relay.nn.max_pool2d %x {pool_size = array<i64: 3, 2>, strides = array<i64: 2, 1>, "
            "padding = array<i64: 1, 0, 0, 1>, ceil_mode = true}",
            maxima(),
        ),
        (
            "relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 2>, "
            "padding = array<i64: 1, 1, 1, 1>, count_include_pad = true}",
            means(),
        ),
        (
            "relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 2>, strides = array<i64: 2, 2>, "
            "padding = array<i64: 1, 1, 0, 0>, ceil_mode = true}",
            means_inside(),
        ),
    ],
)
def test_results_are_those_of_the_definition(op: str, expected: Array):
    type = f"tensor<{'x'.join(map(str, expected.shape))}xf32>"
    x, w = "tensor<1x2x7x8xf32>", "tensor<3x2x3x2xf32>"
    operands = f"({x}, {w})" if "%w" in op else f"({x})"
    module = parse(
        f"func.func @main(%x: {x}, %w: {w}) -> {type} {{\n"
        f"  %y = {op} : {operands} -> {type}\n  func.return %y : {type}\n}}"
    )
    run_passes(module, "separate-padding")
    assert any(isinstance(inner, PadOp) for inner in module.walk())
    (found,) = evaluate(module, [X, W])
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-4)
