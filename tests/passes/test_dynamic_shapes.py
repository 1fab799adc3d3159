"""Programs of dynamic shape give equal results at every level, at several shapes."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from programs import context, parse
from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass
from xrelay.tools.registry import UNIVERSE

LEVELS = {
    "relay": ("infer-types",),
    "planned": ("plan-devices",),
    "fused": ("fuse-ops",),
    "lowered": ("outline-primitives", "create-shape-functions"),
    "manifest": ("manifest-alloc", "remove-dead-writes", "remove-unused-kernels"),
}
"""The passes that lead to each level from the one before."""


@cache
def levels(text: str) -> dict[str, ModuleOp]:
    """Return the program at each level."""
    module = parse(text)
    found: dict[str, ModuleOp] = {}
    for level, passes in LEVELS.items():
        for name in passes:
            UNIVERSE.all_passes[name]()().apply(context(), module)
            verify(module)
        VerifyStagePass(level).apply(context(), module)  # pyright: ignore[reportArgumentType]
        found[level] = module.clone()
    return found


MLP = """
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) -> tensor<?xf32> {
  %w = relay.constant dense<0.5> : tensor<3x4xf32>
  %0 = relay.nn.dense %x, %w : (tensor<?x4xf32>, tensor<3x4xf32>) -> !relay.incomplete
  %1 = relay.add %0, %y : (!relay.incomplete, tensor<?x3xf32>) -> !relay.incomplete
  %2 = relay.nn.relu %1 : (!relay.incomplete) -> !relay.incomplete
  %3 = relay.reshape %2 {newshape = array<i64: -1>} : (!relay.incomplete) -> tensor<?xf32>
  func.return %3 : tensor<?xf32>
}
"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("n", "m"), [(2, 2), (5, 1), (1, 3), (1, 1), (0, 0), (0, 1)])
def test_a_network_at_several_batch_sizes(level: str, n: int, m: int):
    rng = np.random.default_rng(n)
    x, y = (rng.standard_normal(s).astype(np.float32) for s in ((n, 4), (m, 3)))
    (found,) = evaluate(levels(MLP)[level], [x, y])
    wanted = np.maximum(x @ np.full((4, 3), 0.5, np.float32) + y, 0).reshape(-1)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_shapes_that_do_not_fit_are_an_error_at_the_operator(level: str):
    args: list[Any] = [np.zeros((2, 4), np.float32), np.zeros((3, 3), np.float32)]
    with pytest.raises(PassError, match="dims 2 and 3 at axis -2 do not broadcast together") as e:
        evaluate(levels(MLP)[level], args)
    assert e.value.location is None or e.value.location.line.data == 5
