"""Sums of long rows: their errors grow neither with the row nor with the number of accumulators."""

from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay.runtime.program.program import Array

ROWS = """
func.func @main(%x: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>) {
  %y = relay.nn.softmax %x {axis = -1} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %z = relay.nn.log_softmax %x {axis = -1} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  func.return %y, %z : tensor<2x?xf32>, tensor<2x?xf32>
}"""
"""Of open rows; known sizes replace the question marks."""


def expected(x: Array) -> tuple[Array, Array]:
    """Return softmax and its logarithm in f64."""
    shifted = np.asarray(x, np.float64) - x.max(-1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return np.exp(logarithms), logarithms


@pytest.mark.parametrize("known", [None, 20_000])
def test_sums_of_long_rows(tmp_path: Path, known: int | None):
    source = tmp_path / "rows.mlir"
    source.write_text(ROWS if known is None else ROWS.replace("?", str(known)))
    run = xrelay.compile(source, target="native{cpu=x86-64}")["main"]
    random = np.random.default_rng(0)
    for size in (1, 511, 512, 513, 1025, 20_000) if known is None else (known,):
        x = random.standard_normal((2, size)).astype(np.float32)
        x[:, 0] += 10  # its power hides rounding errors of a sum in one accumulator
        powers, logarithms = (np.asarray(y) for y in run(x))
        of_powers, of_logarithms = expected(x)
        np.testing.assert_allclose(powers, of_powers, rtol=3e-6, err_msg=str(size))
        np.testing.assert_allclose(logarithms, of_logarithms, atol=3e-6, err_msg=str(size))
