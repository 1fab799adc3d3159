"""
One definition, compared: each elementwise operator, comparison, cast and reduction, at every level.

The references are not ours (`kernel_references`). Native code and linalg compile a part of the rows
by default, all with `XRELAY_NUMBERS=n`, which also draws n random numbers in place of 20.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from helpers.numbers.number_bounds import FLOAT_LEVELS, bound_of, observed
from helpers.numbers.number_errors import ulps
from helpers.numbers.number_levels import LEVELS, Level, shapes_of
from helpers.numbers.number_rows import Row, rows
from helpers.operators.kernel_references import nearest, saturated
from helpers.operators.kernel_results import as_type

Array: TypeAlias = Any

RANDOM = int(os.environ.get("XRELAY_NUMBERS", "0"))
COUNT = RANDOM or 20
"""The number of random numbers that each operator is applied to."""
SHARE = 1 if RANDOM else 48
"""Of so many rows of an operator, one is compiled, at least one of each operator."""


def chosen(start: int) -> Sequence[Row]:
    """A share of the rows, of other element types for each operator."""
    found: list[Row] = []
    for number, (_, group) in enumerate(groupby(rows(), lambda row: row.name)):
        every = list(group)
        step = min(SHARE, len(every))
        found += every[(start + number) % step :: step]
    return found


def faults_of(row: Row, levels: Mapping[str, tuple[Level, frozenset[Row]]]) -> list[str]:
    """The errors by level, each with its worst operands."""
    found: list[str] = []
    for operands in row.operands(COUNT):
        exact = row.reference(operands)
        for name, (level, computed) in levels.items():
            if row not in computed:
                continue
            out = level.run(row, operands)
            errors = row.errors(out, exact)
            bound = 0.0 if row.bound is None else row.bound
            if np.any(errors > bound):
                at = np.unravel_index(int(np.argmax(errors)), errors.shape)
                ins = [x if not x.ndim else x[at[0]] for x in operands]
                found.append(
                    f"{row.id} ({name}) of {ins} is {out[at]!r}, not "
                    f"{np.broadcast_to(exact.values, out.shape)[at]!r}: {errors[at]:.3g} ulp"
                )
    return found


def test_all_levels_compute_the_definition(tmp_path: Path):
    parts = {"native": chosen(0), "linalg": chosen(2)}
    levels: dict[str, tuple[Level, frozenset[Row]]] = {}
    for name, make in LEVELS.items():
        computed = parts.get(name, rows())
        levels[name] = make(computed, tmp_path), frozenset(computed)
    faults = [fault for row in rows() for fault in faults_of(row, levels)]
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults)


def test_shape_evaluation_computes_the_definition():
    """An element that is known is that of the definition; some are, of each operator."""
    known: set[str] = set()
    faults: list[str] = []
    for row, operands, found in shapes_of(rows(), COUNT):
        if found is None:
            continue
        known.add(row.name)
        exact = as_type(row.reference(operands).values, row.result).reshape(-1)
        wanted = [int(x) for x in exact.tolist()]
        if found != wanted:
            faults.append(f"{row.id} of {operands} is {found}, not {wanted}")
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults[:40])
    assert known >= {"add", "subtract", "multiply", "divide", "mod", "floor_divide", "floor_mod"}
    assert known >= {"maximum", "minimum", "cast", "where", "less", "equal", "sum", "prod", "max"}


def test_what_was_recorded_is_within_the_bounds():
    """The record has a line for each operator and type that is not exact, and all levels."""
    recorded = {(o.operator, o.dtype): o.errors for o in observed()}
    assert set(recorded) == {(row.name, row.dtype) for row in rows() if row.bound is not None}
    for (name, dtype), errors in recorded.items():
        assert tuple(errors) == FLOAT_LEVELS
        bound = bound_of(name, dtype)
        assert bound is not None
        assert max(errors.values()) <= bound, (name, dtype, errors)


# -------------------------------------------------------------------- the measure itself


def test_units_in_the_last_place():
    one, half = np.float32(1), np.float32(2**-24)
    assert ulps(np.array([one]), [1.0]) == 0
    assert ulps(np.array([one]), [1 + 2**-24]) == 0.5
    assert ulps(np.array([one + 2 * half]), [1.0]) == 1
    assert ulps(np.array([one]), [1 + 2**-23], terms=[4.0]) == 0.25
    infinite = np.array([np.inf, -np.inf, np.nan, 0], np.float32)
    np.testing.assert_array_equal(ulps(infinite, [np.inf, np.inf, 0, np.nan]), [0, *[np.inf] * 3])
    greatest = np.float32(np.finfo(np.float32).max)
    assert ulps(np.array([greatest, np.inf], np.float32), [2.0**128] * 2).tolist() == [1, 0]
    tiny = np.array([0, 2**-149], np.float32)
    assert ulps(tiny, [2.0**-149, 2.0**-149]).tolist() == [1, 0]
    assert ulps(tiny[:1], [2.0**-127], may_underflow=True) == 0.5


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (2**24 + 1, "float32", 2.0**24),
        (2**24 + 3, "float32", 2.0**24 + 4),
        (2**62 + 2**38 + 1, "float32", 2.0**62 + 2**39),
        (65519, "float16", 65504.0),
        (65520, "float16", np.inf),
        (-(2**1024), "float64", -np.inf),
    ],
)
def test_references_round_once(value: int, dtype: str, wanted: float):
    assert nearest(value, dtype) == wanted


def test_references_of_casts():
    numbers = [300.7, -129.0, -0.9, np.nan, np.inf, -np.inf]
    assert [saturated(x, "int8") for x in numbers] == [127, -128, 0, 0, 127, -128]
    assert [saturated(x, "uint8") for x in numbers] == [255, 0, 0, 0, 255, 0]
    assert saturated(2.0**63, "int64") == 2**63 - 1
    assert saturated(1e30, "uint64") == 2**64 - 1
