"""Fourier transforms of lengths that are open, or given when the model runs."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_small import assert_close, random_array
from helpers.programs.random_settings import share
from onnx import parser

import xrelay
from xrelay.frontends.onnx.backend import Backend


def run(graph: str, feeds: dict[str, Any]) -> Any:
    model = parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]> small {graph}')
    return np.asarray(Backend.run_model(model, feeds)[0])


def parts(numbers: Any) -> Any:
    return np.stack([numbers.real, numbers.imag], -1).astype(np.float32)


TRANSFORMS: dict[str, Callable[[Any, int], Any]] = {
    "inverse = 0": lambda z, n: parts(np.fft.fft(z, n, axis=1)),
    "inverse = 1": lambda z, n: parts(np.fft.ifft(z, n, axis=1)),
    "onesided = 1": lambda z, n: parts(np.fft.fft(z, n, axis=1)[:, : n // 2 + 1]),
    "inverse = 1, onesided = 1": lambda z, n: np.float32(np.fft.irfft(z, n, axis=1)[..., None]),
}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("sizes", "flags"), share([*product([(8, 8), (6, 9), (9, 6)], TRANSFORMS)], 3)
)
def test_transforms_of_run_time_lengths(sizes: tuple[int, int], flags: str):
    """Longer numbers are cut, and zeros follow shorter ones."""
    count, length = sizes
    x = random_array(2, count, 3, 2)
    y = run(
        f"""(float[a, n, b, 2] x, int64 length) => (float[a, m, b, c] y) {{
          axis = Constant<value_int = 1>()
          y = DFT<{flags}>(x, length, axis)
        }}""",
        {"x": x, "length": np.asarray(length)},
    )
    assert_close([y], [TRANSFORMS[flags](x[..., 0] + 1j * x[..., 1], length)])


@pytest.mark.ci
@pytest.mark.parametrize(("count", "step", "length"), [(40, 3, 8), (9, 4, 9)])
def test_frames_of_an_open_signal(count: int, step: int, length: int):
    x, window = random_array(2, count, 1), random_array(length, seed=1)
    starts = range(0, count - length + 1, step)
    frames = np.stack([x[:, i : i + length, 0] for i in starts], 1)
    inputs = "float[a, n, 1] x, int64 step"
    feeds = {"x": x, "step": np.asarray(step)}
    y = run(
        f"({inputs}, float[w] window) => (float[a, f, k, 2] y) {{ y = STFT(x, step, window) }}",
        {**feeds, "window": window},
    )
    assert_close([y], [parts(np.fft.rfft(frames * window))])
    y = run(
        f"({inputs}, int64 l) => (float[a, f, k, 2] y) {{ y = STFT<onesided = 0>(x, step, , l) }}",
        {**feeds, "l": np.asarray(length)},
    )
    assert_close([y], [parts(np.fft.fft(frames))])


@pytest.mark.parametrize(
    ("numbers", "node", "message"),
    [
        ("int64 n = {0}", "DFT(x, n)", "the length is 0; supported: 1 and more"),
        ("int64 n = {-1}", "STFT(x, n)", "the step is -1; supported: 1 and more"),
        ("int64 n = {0}, int64 s = {2}", "STFT(x, s, , n)", "the length is 0; supported"),
    ],
)
def test_counts_below_one_are_refused(numbers: str, node: str, message: str):
    with pytest.raises(xrelay.Error, match=message):
        run(f"(float[1, 8, 1] x) => (float[a, b, c] y) <{numbers}> {{ y = {node} }}", {})
