"""
Access relations, at random: elements outside of a box are changed, and the part stays the same;
where a box is called exact, each of its faces matters.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.operators.inferring import OPERATORS
from helpers.operators.kernel_results import garbage
from helpers.operators.operator_cases import Case, Draw, case, elements
from helpers.programs.every_case import every
from helpers.programs.random_settings import rounds

from xrelay.dialects.interfaces import ReadsElementwise
from xrelay.operators.all_rules import MEANINGS, RULES
from xrelay.operators.intervals import Interval
from xrelay.operators.meaning.access import Access, Box, accesses
from xrelay.operators.meaning.forms import Opaque
from xrelay.runtime.kernels import KERNELS

NAMES = [
    name.removeprefix("relay.")
    for name, meaning in MEANINGS.items()
    if not isinstance(meaning, Opaque) or meaning.reads is not None
]
CASES = rounds(6, 4)
DRAWS = 60
"""The changes of a face that are tried until the part differs."""


def computed(this: Case, operands: Sequence[Any]) -> Any:
    """The first result."""
    outs = [garbage(result) for result in this.results]
    with np.errstate(all="ignore"):
        KERNELS[f"relay.{this.name}"](this.attrs, operands, outs)()
    return outs[0]


def slices(box: Box) -> tuple[Any, ...]:
    return (*(slice(interval.start, interval.stop) for interval in box), ...)


def some_part(rng: np.random.Generator, shape: Sequence[int]) -> Box:
    ends = [sorted(rng.choice(dim + 1, 2, replace=False).tolist()) for dim in shape]
    return tuple(Interval(start, stop) for start, stop in ends)


def others(draw: Draw, this: Case, number: int) -> Any:
    """Other elements of an operand."""
    array = this.operands[number]
    found: npt.NDArray[Any] = elements(
        draw, this.name, number, (array.shape, array.dtype.name), this.attrs
    )
    if array.dtype.kind in "iuf" and draw.chance():  # often equal
        found[...] = np.where(np.abs(found) > 1, array.dtype.type(2), np.trunc(found))
    return found


def changed(draw: Draw, this: Case, number: int, mask: Any, operands: Sequence[Any]) -> list[Any]:
    """`operands`, with other elements of one where `mask` holds."""
    operands = list(operands)
    operands[number] = np.where(mask, others(draw, this, number), operands[number])
    return operands


def parts(name: str) -> Iterator[tuple[Case, Box, Sequence[Access], Draw]]:
    rng = np.random.default_rng(len(name))
    for number in range(CASES):
        this = case(name, number)
        shape = this.results[0][0]
        if 0 in shape:
            continue
        part = some_part(rng, shape)
        shapes = [x.shape for x in this.operands]
        meaning = MEANINGS[f"relay.{name}"]
        found = accesses(meaning, this.attrs, shapes, shape, part)
        yield this, part, found, Draw(rng, this.dtype)


def is_size(name: str, operand: int) -> bool:
    return operand in RULES[f"relay.{name}"].data_operands


@pytest.mark.ci
@every("name", NAMES)
def test_a_part_depends_on_the_boxes_alone(name: str):
    for this, part, found, draw in parts(name):
        before = computed(this, this.operands)[slices(part)].tobytes()
        for number, access in enumerate(found):
            if is_size(name, number):
                continue
            outside = np.ones(this.operands[number].shape, bool)
            if access.box is not None:
                outside[slices(access.box)] = False
            for _ in range(4):
                after = computed(this, changed(draw, this, number, outside, this.operands))
                assert after[slices(part)].tobytes() == before, f"{this} {part} {access}"


def faces(shape: Sequence[int], box: Box) -> Iterator[Any]:
    """Masks of the first and the last elements of `box` along each axis."""
    for axis, interval in enumerate(box):
        for at in (interval.start, interval.stop - 1):
            mask = np.zeros(shape, bool)
            mask[slices((*box[:axis], Interval(at, at + 1), *box[axis + 1 :]))] = True
            yield mask


@every("name", NAMES)
def test_no_smaller_box_does_where_it_is_exact(name: str):
    for this, part, found, draw in parts(name):
        for number, access in enumerate(found):
            array = this.operands[number]
            if is_size(name, number) or access.box is None or not access.exact:
                continue
            for mask in faces(array.shape, access.box):
                for _ in range(DRAWS):
                    operands = [others(draw, this, i) for i in range(len(this.operands))]
                    for i in RULES[f"relay.{name}"].data_operands:
                        operands[i] = this.operands[i]
                    one = computed(this, operands)[slices(part)].tobytes()
                    operands = changed(draw, this, number, mask, operands)
                    if computed(this, operands)[slices(part)].tobytes() != one:
                        break
                else:
                    raise AssertionError(f"{this} {part}: {access} of operand {number}")


def test_what_may_run_in_place_reads_the_same_box():
    """The trait by which results are written over operands is what the meaning says."""
    checked = 0
    for name, cls in OPERATORS.items():
        trait = cls.get_trait(ReadsElementwise)
        if trait is None:
            continue
        for this, part, found, _ in parts(name):
            for number, access in enumerate(found):
                same = this.operands[number].shape == this.results[0][0]
                if same and trait.reads(number) and access.box is not None:
                    assert access.box == part, f"{this} {part} {access}"
                    checked += 1
    assert checked > 40


def box(*ends: tuple[int, int]) -> Box:
    return tuple(Interval(*pair) for pair in ends)


def test_boxes_of_forms():
    """One of each form, by hand."""

    def boxes(name: str, attrs: Any, shapes: Any, result: Any, *part: tuple[int, int]) -> Any:
        found = accesses(MEANINGS[f"relay.{name}"], attrs, shapes, result, box(*part))
        return [tuple(access) for access in found]

    assert boxes("add", {}, [(4, 6), (6,)], (4, 6), (1, 3), (2, 5)) == [
        (((1, 3), (2, 5)), True),
        (((2, 5),), True),
    ]
    assert boxes("add", {}, [(4, 6), (4, 1)], (4, 6), (1, 3), (2, 5))[1][0] == ((1, 3), (0, 1))
    assert boxes("nn.bias_add", {"axis": 0}, [(4, 6), (4,)], (4, 6), (1, 3), (2, 5))[1] == (
        (((1, 3),), True)
    )
    assert boxes("gather", {"axis": 1}, [(4, 6), (4, 2)], (4, 2), (1, 3), (0, 1)) == [
        (((1, 3), (0, 6)), False),
        (((1, 3), (0, 1)), True),
    ]
    assert boxes("cumsum", {"axis": 0, "exclusive": True}, [(4,)], (4,), (1, 3)) == [
        (((0, 2),), True)
    ]
    rows = (((1, 3), (0, 6)), False)
    assert boxes("sum", {"axis": (1,), "keepdims": False}, [(4, 6)], (4,), (1, 3)) == [rows]
    assert boxes("nn.softmax", {"axis": -1}, [(4, 6)], (4, 6), (1, 3), (2, 5)) == [rows]
    assert boxes("nn.dense", {}, [(4, 6), (5, 6)], (4, 5), (1, 3), (2, 5)) == [
        rows,
        (((2, 5), (0, 6)), False),
    ]
    norm = {"axis": 1, "epsilon": 1e-5, "center": True, "scale": False}
    assert boxes("nn.layer_norm", norm, [(4, 6), (6,), (6,)], (4, 6), (1, 3), (2, 5)) == [
        rows,
        (None, True),
        (((2, 5),), False),
    ]
    assert boxes("reshape", {}, [(2, 12)], (2, 3, 4), (1, 2), (1, 2), (0, 4))[0][0] == (
        (1, 2),
        (4, 8),
    )
    heads = boxes("reshape", {}, [(1, 4, 6, 2)], (4, 6, 2), (0, 4), (1, 3), (0, 2))
    assert heads == [(((0, 1), (0, 4), (1, 3), (0, 2)), True)]
    assert boxes("cast_like", {}, [(4,), (9,)], (4,), (1, 3))[1][0] is None
