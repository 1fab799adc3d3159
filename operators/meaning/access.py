"""
Access relations: the box of each operand that a box of the result needs, from the meaning.

    transpose of 4x6, [0, 2) x [1, 3) of the result     ->    [1, 3) x [0, 2) of the operand

A box is a half-open interval of indices for each axis. It contains all elements that the part of
the result depends on; `exact` says whether no smaller box does, whatever the elements are. Where
elements are indices, and without a formula, it is the whole operand. Of a composition it is what
the operators need, from the last one back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, isfinite, prod
from typing import Any, NamedTuple, Self, TypeAlias

from ..element_types import ElementKind
from ..intervals import Interval as Interval
from ..rules import RULES
from ..signature import ELEMENTS, Call, Element, SignatureError, Tensor
from .forms import (
    MEANINGS,
    Attributes,
    ByIndex,
    Composed,
    Elementwise,
    Folded,
    Meaning,
    SameOrder,
    Sums,
    keywords,
)
from .number import FLOAT32, INT64, Arithmetic, Comparison, Function, Number, Source

Box: TypeAlias = tuple[Interval, ...]
"""An interval of indices for each axis."""


class Access(NamedTuple):
    """The box of an operand that is read, None if no element of it is."""

    box: Box | None
    exact: bool


Shape: TypeAlias = tuple[int, ...]


def whole(shape: Shape) -> Box:
    """Return the box of all elements."""
    return tuple(Interval(0, dim) for dim in shape)


def accesses(
    meaning: Meaning, attributes: Attributes, shapes: Sequence[Shape], result: Shape, part: Box
) -> Sequence[Access]:
    """
    Return what the elements `part`, not empty, of the one result need of each operand.

    `shapes` are those of the operands, `result` that of the result.
    """
    if (reads := meaning.reads) is not None:
        return [_unless_empty(box) for box in reads(shapes, part, **keywords(reads, attributes))]
    match meaning:
        case Elementwise():
            return _elementwise(meaning, attributes, shapes, part)
        case ByIndex():
            return _by_index(meaning, attributes, shapes, part)
        case Folded():
            return _folded(meaning, attributes, shapes, part)
        case SameOrder():
            return [_same_order(shapes[0], result, part), *[Access(None, True)] * (len(shapes) - 1)]
        case Sums():
            return [_sums(attributes, shapes[0], part)]
        case Composed():
            return _composed(meaning, attributes, shapes, part)
        case _:
            return [Access(whole(shape), False) for shape in shapes]


def _unless_empty(box: Sequence[Interval]) -> Access:
    is_empty = any(interval.size <= 0 for interval in box)
    return Access(None if is_empty else tuple(box), is_empty)


def _elementwise(
    meaning: Elementwise, attributes: Attributes, shapes: Sequence[Shape], part: Box
) -> Sequence[Access]:
    read = [shape for i, shape in enumerate(shapes) if i not in meaning.typed]
    axes = iter(meaning.axes([len(shape) for shape in read], len(part), attributes))
    found: list[Access] = []
    for i, shape in enumerate(shapes):
        if i in meaning.typed:
            found.append(Access(None, True))
            continue
        own = next(axes)
        box = tuple(
            Interval(0, 1) if dim == 1 or axis is None else part[axis]
            for dim, axis in zip(shape, own, strict=True)
        )
        found.append(Access(box, True))
    return found


def _same_order(shape: Shape, result: Shape, part: Box) -> Access:
    """
    Axes of as many elements are read as they are, several from first to last element.

        4x[8, 16)x48 of 4x48x48, reshaped from 1x4x48x48    ->    1x4x[8, 16)x48
    """
    if 0 in result:
        return Access(whole(shape), False)
    box: list[Interval] = []
    for mine, its in _groups(shape, result):
        first = last = 0
        for interval, dim in zip(part[its], result[its], strict=True):
            first, last = first * dim + interval.start, last * dim + interval.stop - 1
        box += _between(shape[mine], first, last)
    return Access(tuple(box), prod(i.size for i in box) == prod(i.size for i in part))


def _groups(shape: Shape, result: Shape) -> Iterator[tuple[slice, slice]]:
    """Yield the axes of both that have as many elements, as few as possible each time."""
    mine, its = ({prod(dims[:i]): i for i in range(len(dims) + 1)} for dims in (shape, result))
    ends = [(mine[count], its[count]) for count in sorted(mine.keys() & its.keys())]
    for start, stop in pairwise([(0, 0), *ends]):
        yield slice(start[0], stop[0]), slice(start[1], stop[1])


def _between(shape: Shape, first: int, last: int) -> Sequence[Interval]:
    """Return the box of the elements from `first` to `last`, in order."""
    box: list[Interval] = []
    for axis in range(len(shape)):
        inner = prod(shape[axis + 1 :])
        low, high = first // inner, last // inner
        box.append(Interval(low, high + 1))
        if low != high:  # of the axes after this one, any index may occur
            return [*box, *whole(shape[axis + 1 :])]
        first, last = first - low * inner, last - high * inner
    return box


def _sums(attributes: Attributes, shape: Shape, part: Box) -> Access:
    axis = attributes.get("axis")
    if not isinstance(axis, int):
        return Access(whole(shape), False)
    axis %= len(shape)
    last = part[axis].stop - bool(attributes.get("exclusive"))
    if last == 0:
        return Access(None, True)
    return Access((*part[:axis], Interval(0, last), *part[axis + 1 :]), True)


# -------------------------------------------------------------------------- by index


@dataclass(eq=False)
class Bounded(Number):
    """
    A number between `low` and `high`, or any one if they are None.

    It is exact if it is an index times a constant, plus another; then each number is taken.
    """

    element: Element
    low: float | None = None
    high: float | None = None
    axis: int | None = None
    """The axis of the index that it depends on, None if on none."""
    exact: bool = True

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both bounds, if there are any."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def _any(self, element: Element | None = None) -> Self:
        return type(self)(element or self.element, exact=False)

    def constant(self, value: float) -> Self:
        known = value if isfinite(value) else None
        return type(self)(self.element, known, known)

    def apply(self, operation: Arithmetic, other: Self) -> Self:
        compute, mine, others = _BOUNDS.get(operation), self.ends, other.ends
        if operation in ("divide", "quotient", "remainder") and mine and others:
            if others[0] <= 0 or (mine[0] < 0 and operation != "divide"):
                return self._any()
            if operation == "divide":
                quotients = [a / b for a in mine for b in others]
                ends = min(quotients), max(quotients)
            elif operation == "quotient":
                ends = mine[0] // others[1], mine[1] // others[0]
            elif mine[1] < others[0]:
                return self
            else:
                ends = 0, others[1] - 1
            return type(self)(self.element, *ends, exact=False)
        if compute is None or mine is None or others is None:
            return self._any()
        ends = [compute(a, b) for a in mine for b in others]
        axes = {number.axis for number in (self, other) if number.axis is not None}
        exact = self.exact and other.exact and len(axes) <= 1 and operation in ("add", "subtract")
        axis = min(axes) if axes else None
        return type(self)(self.element, min(ends), max(ends), axis, exact or not axes)

    def math(self, function: Function) -> Self:
        if self.low is None or self.high is None or function not in ("floor", "round"):
            return self._any()
        high = floor(self.high) if function == "floor" else ceil(self.high)
        return type(self)(self.element, floor(self.low), high, exact=False)

    def negated(self) -> Self:
        return self.constant(0).apply("subtract", self)

    def magnitude(self) -> Self:
        return self._any()

    def compared(self, predicate: Comparison, other: Self) -> Self:
        return self._any(ELEMENTS["bool"])

    def chosen(self, yes: Self, no: Self) -> Self:
        if yes.ends is None or no.ends is None:
            return yes._any()
        ends = (*yes.ends, *no.ends)
        return type(self)(yes.element, min(ends), max(ends), exact=False)

    def converted(self, element: Element) -> Self:
        ends = self.ends
        if ends is not None and element.kind is ElementKind.INTEGER:
            ends = int(ends[0]), int(ends[1])  # towards zero
        return type(self)(element, *(ends or (None, None)), self.axis, self.exact)

    def reinterpreted(self, element: Element) -> Self:
        return self._any(element)


_BOUNDS: dict[Arithmetic, Callable[[Any, Any], float]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
}


@dataclass(eq=False)
class Read(Source):
    """An operand that notes the box of the indices at which it is read."""

    shape: Shape
    element: Element = INT64
    box: Box | None = None
    exact: bool = True

    @property
    def dims(self) -> Sequence[Bounded]:
        return [self.integer(dim) for dim in self.shape]

    def integer(self, value: int) -> Bounded:
        return Bounded(INT64, value, value)

    def __getitem__(self, index: Sequence[Bounded]) -> Bounded:
        axes = [number.axis for number in index if number.axis is not None]
        exact = all(number.exact for number in index) and len(set(axes)) == len(axes)
        box = tuple(
            Interval(0, dim)
            if number.low is None or number.high is None
            else Interval(max(int(number.low), 0), min(int(number.high) + 1, dim))
            for number, dim in zip(index, self.shape, strict=True)
        )
        if self.box is not None:
            exact = False
            box = _union(box, self.box)
        self.box, self.exact = box, exact
        return Bounded(self.element, exact=False)


def _by_index(
    meaning: ByIndex, attributes: Attributes, shapes: Sequence[Shape], part: Box
) -> Sequence[Access]:
    index = [Bounded(INT64, p.start, p.stop - 1, axis) for axis, p in enumerate(part)]
    sources = [Read(shape) for shape in shapes]
    meaning.formula(index, *sources, **meaning.keywords(attributes))
    return [Access(source.box, source.exact) for source in sources]


def _folded(
    meaning: Folded, attributes: Attributes, shapes: Sequence[Shape], part: Box
) -> Sequence[Access]:
    index = [Bounded(INT64, p.start, p.stop - 1, axis) for axis, p in enumerate(part)]
    sources, box = [Read(shape) for shape in shapes], meaning.dims(shapes, attributes)
    if prod(box):
        cells = [Bounded(INT64, 0, dim - 1, len(index) + i) for i, dim in enumerate(box)]
        meaning.formula([*index, *cells], *sources, **meaning.keywords(attributes))
    if meaning.finish is not None:
        total = Bounded(INT64, exact=False)
        meaning.finish(total, index, *sources, **keywords(meaning.finish, attributes))
    return [Access(source.box, source.box is None) for source in sources]


# -------------------------------------------------------------------------- composition


class Traced:
    """An operand, or the result of operator `name`, and the box of it that is needed."""

    def __init__(
        self,
        tensor: Tensor,
        name: str = "",
        operands: Sequence[Traced] = (),
        attributes: Attributes | None = None,
        number: float | None = None,
    ) -> None:
        self.tensor, self.name, self.operands = tensor, name, operands
        self.attributes: Attributes = attributes or {}
        self.number = number
        """Of a constant."""
        self.box: Box | None = None

    @property
    def dims(self) -> Shape:
        return tuple(dim for dim in self.tensor.dims if isinstance(dim, int))


class Steps:
    """The operators that a formula applies."""

    def __init__(self) -> None:
        self.applied: list[Traced] = []

    def __call__(self, name: str, *operands: Traced | float, **attributes: object) -> Traced:
        assert isinstance(operands[0], Traced), "the first operand is a tensor"
        scalar = Tensor(operands[0].tensor.element, ())
        values = [x if isinstance(x, Traced) else Traced(scalar, number=x) for x in operands]
        call = Call(f"relay.{name}", attributes, [value.tensor for value in values])
        (result,) = RULES[call.name](call)
        self.applied.append(Traced(result, call.name, values, attributes))
        return self.applied[-1]

    def tensor(self, operand: Traced) -> Tensor:
        return operand.tensor


def _composed(
    meaning: Composed, attributes: Attributes, shapes: Sequence[Shape], part: Box
) -> Sequence[Access]:
    steps, operands = Steps(), [Traced(Tensor(FLOAT32, shape)) for shape in shapes]
    try:
        result, *others = meaning.results(steps, operands, attributes)
    except SignatureError:  # for operands of other types
        return [Access(whole(shape), False) for shape in shapes]
    if others:
        return [Access(whole(shape), False) for shape in shapes]
    result.box = part
    for step in reversed(steps.applied):
        if step.box is None:
            continue
        dims = [value.dims for value in step.operands]
        needs = accesses(MEANINGS[step.name], step.attributes, dims, step.dims, step.box)
        for value, access in zip(step.operands, needs, strict=True):
            if access.box is not None:
                value.box = access.box if value.box is None else _union(value.box, access.box)
    return [Access(operand.box, operand.box is None) for operand in operands]


def _union(one: Box, other: Box) -> Box:
    return tuple(
        Interval(min(a.start, b.start), max(a.stop, b.stop))
        for a, b in zip(one, other, strict=True)
    )
