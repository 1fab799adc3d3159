"""
Kernels that are faster than what follows from a meaning, held against it.

The meanings themselves are compared with references that are not ours, through the kernels that
follow from them and all fast ones: `test_cases.py`, `tests/test_numbers.py`.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import pytest
from helpers.documentation.operator_page import files_of, formula
from helpers.numbers.number_bounds import may_return_either_zero
from helpers.numbers.number_rows import Row, rows
from helpers.operators.inferring import OPERATORS
from helpers.operators.kernel_results import garbage
from helpers.operators.operator_cases import case

from xrelay.operators.all_rules import MEANINGS
from xrelay.operators.meaning.forms import Opaque
from xrelay.runtime.kernels import FAST, KERNELS
from xrelay.runtime.kernels.meant_kernels import derived

BOTH = sorted(name for name in FAST if not isinstance(MEANINGS[name], Opaque))
"""The operators with a fast kernel and a meaning."""

NOT_BIT_FOR_BIT = {"floor_divide": 2}
"""The greatest difference in units in the last place: NumPy divides what its remainder leaves."""


SUMS = {"sum", "prod", "mean", "nn.dense", "nn.packed_dense", "nn.matmul", "nn.batch_matmul"} | {
    "nn.global_avg_pool2d",
    "nn.conv2d_transpose",
}
"""Operators that may add in any order: compared on small integers, whose sums are exact."""


def by_meaning(name: str, attrs: Any, ins: Sequence[Any], out: Any) -> None:
    bind, _ = derived(MEANINGS[name], KERNELS)
    bind(attrs, ins, [out])()


def small_number(x: Any) -> Any:
    """Return whole numbers from -2 to 2 instead, of which sums and few products are exact."""
    if x.dtype.kind != "f":
        return x
    return np.nan_to_num(np.clip(np.trunc(x), -2, 2)).astype(x.dtype)


def assert_alike(name: str, fast: Any, meant: Any) -> None:
    """Equal bit for bit, but for the bits of a NaN and where a zero's sign is unspecified."""
    short = name.removeprefix("relay.")
    if fast.dtype.kind == "f" and short in NOT_BIT_FOR_BIT:
        np.testing.assert_array_max_ulp(fast, meant, NOT_BIT_FOR_BIT[short])
        return
    np.testing.assert_array_equal(fast, meant)
    if fast.dtype.kind == "f" and not may_return_either_zero(short):
        zeros = fast == 0
        np.testing.assert_array_equal(np.signbit(fast[zeros]), np.signbit(meant[zeros]))


def test_a_median_operator_is_in_three_files():
    assert median(len(files_of(name)) for name in OPERATORS) <= 3


def test_formulas_are_shown():
    assert formula("sigmoid") == "1 / (exp(-data) + 1)"
    assert formula("where") == "condition ? x : y"
    assert formula("bitwise_not") == "data xor -1"


def test_there_are_fast_kernels():
    assert {"relay.sign", "relay.floor_mod", "relay.clip"} <= set(BOTH)


def of(name: str) -> list[Row]:
    return [row for row in rows() if f"relay.{row.name}" == name]


@pytest.mark.parametrize("name", [name for name in BOTH if name[6:] not in SUMS])
def test_fast_kernels_compute_the_meaning(name: str):
    """On the edges of each element type, all pairs of them, and random numbers."""
    for row in of(name):
        for operands in row.operands(200):
            shape = row.results_shape(operands)
            outs = [garbage((shape, row.result)) for _ in range(2)]
            if not outs[0].size:
                continue
            with np.errstate(all="ignore"):
                FAST[name](row.attributes, operands, outs[:1])()
                by_meaning(name, row.attributes, operands, outs[1])
            assert_alike(name, *outs)


@pytest.mark.parametrize("name", BOTH)
def test_fast_kernels_compute_the_meaning_of_any_shape(name: str):
    """On random shapes and attributes, broadcast operands included."""
    for number in range(60):
        drawn = case(name.removeprefix("relay."), number)
        if drawn.name in SUMS:
            drawn = replace(drawn, operands=[*map(small_number, drawn.operands)])
        outs = [garbage(drawn.results[0]) for _ in range(2)]
        if not outs[0].size:
            continue
        with np.errstate(all="ignore"):
            KERNELS[name](drawn.attrs, drawn.operands, outs[:1])()
            by_meaning(name, drawn.attrs, drawn.operands, outs[1])
        assert_alike(name, *outs)


def test_every_operator_has_a_meaning_or_a_reason():
    assert set(MEANINGS) == {f"relay.{name}" for name in OPERATORS}
    opaque = {name for name, meaning in MEANINGS.items() if isinstance(meaning, Opaque)}
    assert opaque <= set(FAST)
