"""
Operators on parts, at random: on the boxes that a part reads they compute what the whole has there.
"""

from typing import Any

import numpy as np
import pytest
from helpers.operators.inferring import OPERATORS
from helpers.operators.kernel_results import garbage
from helpers.operators.operator_cases import Case, case
from helpers.programs.random_settings import rounds

from xrelay.operators.all_rules import MEANINGS, RULES
from xrelay.operators.intervals import Interval
from xrelay.operators.meaning.access import Box
from xrelay.operators.meaning.forms import Elementwise
from xrelay.operators.meaning.parts import PARTS, Part, on_part
from xrelay.runtime.kernels import KERNELS

NAMES = [
    name
    for name in OPERATORS
    if isinstance(MEANINGS[f"relay.{name}"], Elementwise) or name in PARTS
]
CASES = rounds(20, 4)
NEVER = ("full_like", "dyn.full")
"""Operators whose first operand has no elements that are read."""


def computed(name: str, attrs: Any, operands: Any, spec: Any) -> Any:
    out = garbage(spec)
    with np.errstate(all="ignore"):
        KERNELS[f"relay.{name}"](attrs, operands, [out])()
    return out


def slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(interval.start, interval.stop) for interval in box)


def parts(name: str, this: Case, rng: np.random.Generator) -> Any:
    """Yield a random part along each axis, and how it is computed."""
    shape = this.results[0][0]
    for axis, dim in enumerate(shape):
        if dim < 2:
            continue
        start, stop = sorted(rng.choice(dim + 1, 2, replace=False).tolist())
        part = Part([x.shape for x in this.operands], shape, axis, Interval(start, stop))
        changes = PARTS.get(name)
        if (found := on_part(MEANINGS[f"relay.{name}"], changes, this.attrs, part)) is not None:
            yield part, found


@pytest.mark.parametrize("name", NAMES)
def test_a_part_is_computed_by_the_operator_on_what_it_reads(name: str):
    rng, compared = np.random.default_rng(len(name)), 0
    for number in range(20 * CASES):
        this = case(name, number)
        if compared > CASES:
            break
        if 0 in this.results[0][0] or RULES[f"relay.{name}"].data_operands:
            continue
        (shape, dtype), *_ = this.results
        result = computed(name, this.attrs, this.operands, this.results[0])
        for part, (boxes, attributes) in parts(name, this, rng):
            operands = [
                operand if box is None else np.array(operand[slices(box)])
                for operand, box in zip(this.operands, boxes, strict=True)
            ]
            found = computed(name, attributes, operands, (part.dims, dtype))
            here = [Interval(0, dim) for dim in shape]
            here[part.axis] = part.rows
            expected = result[slices(tuple(here))]
            if np.issubdtype(found.dtype, np.inexact):
                tolerance = 2e-2 if dtype == "float16" else 1e-4
                np.testing.assert_allclose(found, expected, tolerance, tolerance, err_msg=str(this))
            else:
                np.testing.assert_array_equal(found, expected, str(this))
            compared += 1
    assert compared or name in NEVER
