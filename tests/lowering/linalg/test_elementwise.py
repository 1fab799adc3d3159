"""Elementwise operators as compiled linalg, against independent references."""

from pathlib import Path

import numpy as np
import pytest
from helpers.native.check_kernels import check_cases, compiled, kernel_of, run
from helpers.operators.inferring import context
from helpers.operators.operator_cases import Case, case
from helpers.programs.random_settings import share
from xdsl.parser import Parser

from xrelay.dialects import relay
from xrelay.lowering.linalg.rules import creation
from xrelay.operators.all_rules import MEANINGS
from xrelay.operators.meaning.forms import Elementwise

FORMULAS = [name for name, meaning in MEANINGS.items() if isinstance(meaning, Elementwise)]
NAMES = sorted(
    {name.removeprefix("relay.") for name in (*FORMULAS, *creation.RULES)} - {"constant"}
)


@pytest.mark.parametrize(
    "dynamic",
    [pytest.param(False, id="static"), pytest.param(True, id="dynamic", marks=pytest.mark.ci)],
)
def test_operators_compute_what_they_mean(dynamic: bool, tmp_path: Path):
    """Each operator with several element types, of any shape."""
    numbers = range(1, 24, 13) if dynamic else range(0, 24, 7)
    count = len(numbers)
    pairs = [(name, numbers[(i + n) % count]) for i, name in enumerate(NAMES) for n in range(count)]
    check_cases([case(*pair) for pair in share(pairs, count)], tmp_path, dynamic=dynamic)


def test_dims_that_are_1_at_run_time_broadcast(tmp_path: Path):
    """One kernel of unknown dims serves all shapes that broadcast together."""
    x = np.zeros((2, 3), np.float32)
    this = Case("subtract", 0, {}, [x, x], [((2, 3), "float32")])
    chain = Case("maximum", 0, {}, [x, np.zeros(3, np.float32)], [((2, 3), "float32")])
    library = compiled(
        [kernel_of(this, "same", dynamic=True), kernel_of(chain, "lower", dynamic=True)], tmp_path
    )
    rng = np.random.default_rng(0)
    for a, b in (((2, 3), (2, 3)), ((1, 3), (2, 1)), ((2, 1), (1, 1)), ((0, 3), (1, 1))):
        ins = [rng.standard_normal(shape).astype(np.float32) for shape in (a, b)]
        out = np.empty(np.broadcast_shapes(a, b), np.float32)
        run(library, "same", ins, [out])
        np.testing.assert_array_equal(out, ins[0] - ins[1])
    for a, b in (((2, 3), (3,)), ((2, 1), (3,)), ((2, 3), (1,))):
        ins = [rng.standard_normal(shape).astype(np.float32) for shape in (a, b)]
        out = np.empty(np.broadcast_shapes(a, b), np.float32)
        run(library, "lower", ins, [out])
        np.testing.assert_array_equal(out, np.maximum(*ins))


CHAIN = """
relay.prim_func @chain(%x: tensor<?x3xf32>, %w: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = relay.exp %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = relay.add %0, %w : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = relay.multiply %1, %x : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  relay.yield %2 : tensor<?x3xf32>
}
"""


def test_a_chain_may_overwrite_its_operand(tmp_path: Path):
    """Intermediate results are not in the destination while the operand there is still read."""
    module = Parser(context(), CHAIN).parse_module()
    (kernel,) = module.ops
    assert isinstance(kernel, relay.PrimFuncOp)
    kernel.detach()
    library = compiled([kernel], tmp_path)
    rng = np.random.default_rng(0)
    for shape in ((4, 3), (1, 3)):
        x = rng.standard_normal((4, 3)).astype(np.float32)
        w = rng.standard_normal(shape).astype(np.float32)
        wanted = (np.exp(x.astype(np.float64)) + w) * x
        run(library, "chain", [x, w], [x])
        np.testing.assert_allclose(x, wanted, rtol=1e-5)
