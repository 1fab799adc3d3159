"""Elementwise operators as compiled linalg, against independent references."""

import ctypes
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inferring import context
from native_kernels import check_cases, compiled, kernel_of, run
from operator_cases import SIGNED, UNSIGNED, Case, case
from xdsl.parser import Parser

from xrelay.dialects import relay
from xrelay.lowering.linalg import activation, binary, creation, unary

NAMES = sorted(
    name.removeprefix("relay.")
    for table in (activation, binary, creation, unary)
    for name in table.RULES
)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_operators_compute_what_they_mean(dynamic: bool, tmp_path: Path):
    """Each operator with several element types, of any shape."""
    numbers = range(1, 24, 13) if dynamic else range(0, 24, 7)
    check_cases([case(name, n) for name in NAMES for n in numbers], tmp_path, dynamic=dynamic)


def special(name: str, result: str, *operands: Any, **attrs: Any) -> Case:
    """A case with chosen operands of one shape; the reference for its results is in the test."""
    arrays = [np.asarray(x) for x in operands]
    return Case(name, 0, attrs, arrays, [(arrays[0].shape, result)])


def truncated(x: int, y: int) -> int:
    """The quotient of C, and 0 for a divisor of 0."""
    return 0 if y == 0 else int(math.copysign(1, x) * math.copysign(1, y)) * (abs(x) // abs(y))


QUOTIENTS: Mapping[str, Callable[[int, int], int]] = {
    "divide": truncated,
    "floor_divide": lambda x, y: 0 if y == 0 else x // y,
    "mod": lambda x, y: 0 if y == 0 else x - y * truncated(x, y),
    "floor_mod": lambda x, y: 0 if y == 0 else x % y,
}
"""Python's integers do not overflow; what they compute wraps around in the operator's type."""


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> tuple[ctypes.CDLL, dict[str, Case]]:
    """Kernels of operators on edge cases, compiled together."""
    cases: dict[str, Case] = {}
    for dtype in (*SIGNED, *UNSIGNED):
        info = np.iinfo(dtype)
        numbers = [info.min, info.max, 0, 1, 7, *([-1, -7] if info.min else [])]
        x, y = (np.array(a, dtype) for a in zip(*((a, b) for a in numbers for b in numbers)))
        for name in QUOTIENTS:
            cases[f"{name}_{dtype}"] = special(name, dtype, x, y)
    zeros = np.array([-0.0, 0.0, np.nan, -np.inf], np.float32)
    cases["relu"] = special("nn.relu", "float32", zeros)
    cases["flat"] = special("nn.leaky_relu", "float32", zeros, alpha=0.0)
    cases["nan"] = special("maximum", "float32", zeros, np.array([1, 1, 1, np.nan], np.float32))
    cases["halves"] = special("round", "float64", np.array([0.5, 1.5, 2.5, -0.5, -1.5]))
    kernels = [kernel_of(c, name) for name, c in cases.items()]
    return compiled(kernels, tmp_path_factory.mktemp("edges")), cases


def result_of(edges: tuple[ctypes.CDLL, dict[str, Case]], name: str) -> Any:
    library, cases = edges
    (spec,) = cases[name].results
    out = np.empty(*spec)
    run(library, name, cases[name].operands, [out])
    return out


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_integer_division_is_defined(name: str, dtype: str, edges: Any):
    """By 0 it is 0; the least number by -1 wraps around."""
    x, y = edges[1][f"{name}_{dtype}"].operands
    exact = [QUOTIENTS[name](int(a), int(b)) for a, b in zip(x, y, strict=True)]
    bits = np.iinfo(dtype).bits
    wanted = np.array([n % 2**bits for n in exact], f"uint{bits}").view(dtype)
    np.testing.assert_array_equal(result_of(edges, f"{name}_{dtype}"), wanted)


def test_nan_and_zeros(edges: Any):
    np.testing.assert_array_equal(result_of(edges, "relu"), [0, 0, np.nan, 0])
    np.testing.assert_array_equal(result_of(edges, "flat"), [0, 0, np.nan, 0])
    np.testing.assert_array_equal(result_of(edges, "nan"), [1, 1, np.nan, np.nan])
    np.testing.assert_array_equal(result_of(edges, "halves"), [0, 2, 2, -0.0, -2])


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
