"""The examples as machine code, against NumPy."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
import pytest

import xrelay
from xrelay.runtime.program import Array
from xrelay.tools.opt import main

EXAMPLES = Path(__file__).parents[3] / "examples"


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def classifier(x: Array, w: Array, b: Array) -> Array:
    return softmax(np.maximum(x @ w.T + b, 0))


def dynamic(x: Array, y: Array, w: Array) -> Array:
    return (x + y) @ w.T


def closures(x: Array, y: Array) -> Array:
    return x - (x - y)


Shapes: TypeAlias = Sequence[tuple[int, ...]]

CASES: dict[str, tuple[Shapes, Callable[..., Array]]] = {
    "classifier.mlir": ([(2, 8), (4, 8), (4,)], classifier),
    "dynamic.mlir": ([(3, 8), (3, 8), (4, 8)], dynamic),
    "closures.relay": ([(5, 7), (5, 7)], closures),
}


@pytest.mark.parametrize("name", CASES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shapes, expected = CASES[name]
    library = tmp_path / "libexample.so"
    assert main([str(EXAMPLES / name), "-p", "aot", "-t", "native", "-o", str(library)]) == 0
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    given = cast(Array, xrelay.load(library)(*inputs))
    np.testing.assert_allclose(given, expected(*inputs), rtol=1e-5, atol=1e-6)


def test_data_types_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    out = tmp_path / "lib.so"
    assert main([str(EXAMPLES / "lists.relay"), "-p", "aot", "-t", "native", "-o", str(out)]) == 1
    assert "or run the program by the machine (-p vm)" in capsys.readouterr().err
    assert not out.exists()
