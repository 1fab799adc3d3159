"""Local response normalizations by means of squares have the results of the definition."""

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.programs.programs import parse

from xrelay.dialects.relay.normalization import LrnOp
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.program.program import Array

X = np.random.default_rng(0).standard_normal((2, 7, 6, 5)).astype(np.float32)


def normalized(axis: int, size: int, beta: float) -> Array:
    x = X.astype(np.float64)
    before, after = (size - 1) // 2, size // 2
    sums = np.zeros_like(x)
    for i in range(x.shape[axis]):
        window = range(max(i - before, 0), min(i + after + 1, x.shape[axis]))
        near = np.take(x, window, axis)
        np.moveaxis(sums, axis, 0)[i] = (near * near).sum(axis)
    return x / (2 + 3 / size * sums) ** beta


@pytest.mark.parametrize(
    ("axis", "size", "beta"), [(1, 5, 0.75), (3, 4, 0.5), (-2, 2, 1.5), (3, 99, -1.0), (1, 12, 1.0)]
)
def test_results_are_those_of_the_definition(axis: int, size: int, beta: float):
    type = "tensor<2x7x6x5xf32>"
    attributes = f"axis = {axis}, size = {size}, alpha = 3.0, bias = 2.0, beta = {beta}"
    module = parse(
        f"func.func @main(%x: {type}) -> {type} {{\n"
        f"  %y = relay.nn.lrn %x {{{attributes}}} : ({type}) -> {type}\n"
        f"  func.return %y : {type}\n}}"
    )
    run_passes(module, "expand-lrn")
    assert not any(isinstance(op, LrnOp) for op in module.walk())
    (found,) = evaluate(module, [X])
    np.testing.assert_allclose(np.asarray(found), normalized(axis, size, beta), rtol=1e-5)
