"""
Kernels from formulas: NumPy's functions in order, on arrays that are allocated when it is bound.

    (1 / ((-x).math("exp") + 1))    ->    np.negative(x, y), np.exp(y, y), np.add(y, 1, y),
                                          np.divide(1, y, y)

A formula is run once, on numbers that record what is applied to them. Each intermediate result is
in scratch memory, or in that of the kernel's result where no operand there is read any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from ...operators.broadcast import broadcast_shapes
from ...operators.meaning.forms import ByIndex, Elementwise, Folded, keywords
from ...operators.meaning.number import (
    Arithmetic,
    Comparison,
    Function,
    Number,
    Source,
    computed_number,
)
from ...operators.signature import ALL_ELEMENTS, BOOL, Element
from ..memory.scratch import scratch
from ..program.dtypes import element_type, type_name
from .bind import Array, Attrs, Bind, Thunk, along, apply, sequence
from .conversions import bind_cast, bind_quotient
from .erf import bind_erf

Step: TypeAlias = Callable[..., Thunk]
"""Returns a thunk that computes an array, its last argument, from others."""

_NAMES: Mapping[Element, str] = {element: name for name, element in ALL_ELEMENTS.items()}

_FUNCTIONS: Mapping[Function, np.ufunc] = {
    **{"acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh},
    **{"atan": np.arctan, "atanh": np.arctanh, "round": np.rint},
}
"""The functions that have another name in NumPy."""
_ARITHMETIC: Mapping[Arithmetic, np.ufunc] = {
    **{"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor},
    **{"shift_left": np.left_shift, "shift_right": np.right_shift, "remainder": np.fmod},
}
_COMPARISONS: Mapping[Comparison, np.ufunc] = {
    **{"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal},
    **{"gt": np.greater, "ge": np.greater_equal},
}


def dtype_of(element: Element) -> np.dtype[Any]:
    """Return the NumPy type of elements."""
    return element_type(_NAMES[element])


def element_of(array: Array) -> Element:
    """Return the type of the elements of an array."""
    return ALL_ELEMENTS[type_name(array.dtype)]


@cache
def _ufunc(function: np.ufunc) -> Step:
    return lambda *arrays: apply(function, *arrays[:-1], out=arrays[-1])


def _power(a: Array, b: Array, y: Array) -> Thunk:
    if y.dtype.kind != "i":
        return partial(np.power, a, b, y)
    exponent, result = scratch(b.shape, b.dtype), scratch(y.shape, y.dtype)
    inverse, vanishing = scratch(b.shape, np.bool_), scratch(a.shape, np.bool_)
    zero, one = np.zeros((), y.dtype), np.ones((), y.dtype)

    def run() -> None:
        np.less(b, zero, inverse)
        np.not_equal(np.absolute(a), one, vanishing)
        np.copyto(exponent, b)
        np.bitwise_and(b, one, exponent, where=inverse)  # enough for 1 and -1; the others vanish
        np.power(a, exponent, result)
        np.copyto(result, zero, where=np.logical_and(inverse, vanishing))
        np.copyto(y, result)

    return run


def _choice(condition: Array, x: Array, y: Array, out: Array) -> Thunk:
    if np.may_share_memory(out, condition):
        kept = scratch(out.shape, out.dtype)
        return sequence(_choice(condition, x, y, kept), partial(np.copyto, out, kept))
    if not np.may_share_memory(out, x):
        return sequence(partial(np.copyto, out, y), partial(np.copyto, out, x, where=condition))
    others = scratch(condition.shape, np.bool_)
    return sequence(
        partial(np.logical_not, condition, others), partial(np.copyto, out, y, where=others)
    )


def _bits(x: Array, out: Array) -> Thunk:
    return partial(np.copyto, out.view(x.dtype), x)


Kind: TypeAlias = tuple[tuple[int, ...], "np.dtype[Any]"]
"""The shape and the type of an array."""


class Plan(NamedTuple):
    """Steps on numbered arrays: the operands, then the result, then `others`."""

    others: Sequence[Array | Kind]
    """Constants, and the kinds of scratch memory."""
    steps: Sequence[tuple[Step, Sequence[int]]]
    """Each with the numbers of its operands, then of what it writes."""

    def bound(self, operands: Sequence[Array], y: Array) -> Thunk:
        """Return a thunk that runs the steps."""
        others = (scratch(*x) if isinstance(x, tuple) else x for x in self.others)
        arrays = [*operands, y, *others]
        return sequence(*[step(*[arrays[i] for i in at]) for step, at in self.steps])


class Tape:
    """The steps that compute numbers from elements of operands, in order."""

    def __init__(self, operands: Sequence[Array]) -> None:
        self.steps: list[tuple[Step, tuple[Recorded, ...], Recorded]] = []
        self.operands = [self.array(array) for array in operands]
        for slot, operand in enumerate(self.operands):
            operand.slot = slot

    def array(self, array: Array) -> Recorded:
        """Return the number that an element of `array` is."""
        return Recorded(self, element_of(array), array.shape, array)

    def record(self, step: Step, element: Element, *operands: Recorded) -> Recorded:
        """Append a step and return what it computes."""
        shapes = {operand.shape for operand in operands if operand.shape}
        shape: Any = broadcast_shapes([*shapes]) if len(shapes) > 1 else next(iter(shapes), ())
        result = Recorded(self, element, shape)
        self.steps.append((step, operands, result))
        return result

    def plan(self, result: Recorded, y: Array) -> Plan:
        """
        Plan to write `result` to `y`, which may be an operand of the same shape.

        The tape is empty then: it no longer refers to numbers that refer to it, so that their
        arrays are freed at once.
        """
        if result.array is not None or result.shape != y.shape:
            result = self.record(bind_cast, result.element, result)
        needed = {result}
        for _, operands, value in reversed(self.steps):
            needed |= set(operands) if value in needed else set()
        steps = [step for step in self.steps if step[2] in needed]
        last = {operand: i for i, (_, operands, _) in enumerate(steps) for operand in operands}
        mine = len(self.operands)
        overlapping = [x for x in self.operands if x.overlaps(y)]
        own = max((last.get(x, -1) for x in overlapping), default=-1)
        others: list[Array | Kind] = []

        def new(array: Array | Kind) -> int:
            others.append(array)
            return mine + len(others)

        def slot(number: Recorded) -> int:
            if number.slot is None:
                number.slot = new(number.kind if number.array is None else number.array)
            return number.slot

        free: dict[int, Kind] = {}
        planned: list[tuple[Step, Sequence[int]]] = []
        for i, (step, operands, value) in enumerate(steps):
            if i == own + 1:
                free[mine] = y.shape, y.dtype  # from here on, what was there is not read
            freed = {slot(x): x.kind for x in operands if x.array is None and last[x] == i}
            free |= {} if step is _choice else freed
            value.slot = next((at for at, kind in free.items() if kind == value.kind), None)
            if value is result:
                value.slot = mine
            free.pop(slot(value), None)
            free |= freed if step is _choice else {}
            planned.append((step, [*map(slot, operands), slot(value)]))
        self.steps, self.operands = [], []
        return Plan(others, planned)


class Recorded(Number):
    """A number of an array: of `array`, an operand or a constant, or of what a step computes."""

    def __init__(
        self, tape: Tape, element: Element, shape: tuple[int, ...], array: Array | None = None
    ) -> None:
        self.tape, self.element, self.shape, self.array = tape, element, shape, array
        self.slot: int | None = None
        """The number of its array in the plan."""

    @property
    def kind(self) -> Kind:
        return self.shape, dtype_of(self.element)

    def overlaps(self, array: Array) -> bool:
        """Test whether the numbers are in the memory of `array`."""
        return self.array is not None and bool(np.may_share_memory(self.array, array))

    def constant(self, value: float) -> Self:
        with np.errstate(over="ignore"):
            array = np.array(value).astype(dtype_of(self.element))
        return type(self)(self.tape, self.element, (), array)

    def _step(self, step: Step, *others: Self, element: Element | None = None) -> Self:
        result = self.tape.record(step, element or self.element, self, *others)
        assert isinstance(result, type(self))
        return result

    def apply(self, operation: Arithmetic, other: Self) -> Self:
        special = {"quotient": bind_quotient, "power": _power}.get(operation)
        return self._step(
            special or _ufunc(_ARITHMETIC.get(operation) or getattr(np, operation)), other
        )

    def math(self, function: Function) -> Self:
        if function == "erf":
            wide = self.widened()
            return wide._step(bind_erf).converted(self.element)
        return self._step(_ufunc(_FUNCTIONS.get(function) or getattr(np, function)))

    def negated(self) -> Self:
        return self._step(_ufunc(np.negative))

    def magnitude(self) -> Self:
        return self._step(_ufunc(np.absolute))

    def compared(self, predicate: Comparison, other: Self) -> Self:
        return self._step(_ufunc(_COMPARISONS[predicate]), other, element=BOOL)

    def chosen(self, yes: Self, no: Self) -> Self:
        return self._step(_choice, yes, no, element=yes.element)

    def converted(self, element: Element) -> Self:
        return self if element is self.element else self._step(bind_cast, element=element)

    def reinterpreted(self, element: Element) -> Self:
        return self._step(_bits, element=element)


class Elements(Source):
    """An operand, of which a formula reads elements."""

    def __init__(self, tape: Tape, array: Array) -> None:
        self.tape, self.array, self.element = tape, array, element_of(array)

    @property
    def dims(self) -> Sequence[Recorded]:
        return [self.integer(dim) for dim in self.array.shape]

    def integer(self, value: int) -> Recorded:
        return self.tape.array(np.array(value, np.int64))

    def __getitem__(self, index: Sequence[Recorded]) -> Recorded:
        def bind(*arrays: Array) -> Thunk:
            places, y = (*arrays[:-1], ...), arrays[-1]
            return lambda: np.copyto(y, self.array[places])

        scalar = [self.integer(0)] if not index else index
        return self.tape.record(bind if index else self._scalar, self.element, *scalar)

    def _scalar(self, _: Array, y: Array) -> Thunk:
        return partial(np.copyto, y, self.array)


def _indices(y: Array) -> Sequence[Array]:
    """Return the indices along each axis of `y`, which broadcast to its shape."""
    indices = [np.arange(dim, dtype=np.int64, like=y) for dim in y.shape]
    return [along(places, axis, y.ndim) for axis, places in enumerate(indices)]


def by_index(meaning: ByIndex) -> Bind:
    """Return the kernel of an operator of this meaning."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        (y,), tape = outs, Tape([])
        index = [tape.array(places) for places in _indices(y)]
        sources = [Elements(tape, array) for array in ins]
        found = meaning.formula(index, *sources, **meaning.keywords(attrs))
        return tape.plan(computed_number(found), y).bound((), y)

    return bind


PART = 1 << 16
"""Limit on the numbers that are computed at a time, unless it is one for each sum."""


def folded(meaning: Folded) -> Bind:
    """Return the kernel of an operator of this meaning: it computes parts of the box in turn."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        (y,) = outs
        element = meaning.element(element_of(y))
        total = scratch(y.shape, dtype_of(element))
        tape = Tape([total])
        fold = _fold(meaning, attrs, ins, total, meaning.dims([x.shape for x in ins], attrs))
        result, finish = tape.operands[0], meaning.finish
        if finish is not None:
            index = [tape.array(places) for places in _indices(y)]
            sources = [Elements(tape, array) for array in ins]
            result = finish(result, index, *sources, **keywords(finish, attrs))
        end = tape.plan(result.converted(element_of(y)), y).bound([total], y)
        return sequence(partial(total.fill, meaning.identity(element)), *fold, end)

    return bind


def _fold(
    meaning: Folded, attrs: Attrs, ins: Sequence[Array], total: Array, box: tuple[int, ...]
) -> list[Thunk]:
    """Fold what is computed at the indices of `box` into `total`, which has the identity."""
    count = prod(box)
    if count == 0:
        return []
    size = max(
        n for n in range(1, count + 1) if count % n == 0 and n * total.size <= max(PART, total.size)
    )
    cells = np.indices(box).reshape(len(box), count)
    places = [np.empty(size, np.int64) for _ in box]
    tape, terms = Tape(places), scratch((*total.shape, size), total.dtype)
    index = [tape.array(place[..., None]) for place in _indices(total)]
    sources = [Elements(tape, array) for array in ins]
    term = meaning.formula([*index, *tape.operands], *sources, **meaning.keywords(attrs))
    compute = tape.plan(term.converted(element_of(total)), terms).bound(places, terms)
    function: np.ufunc = getattr(np, meaning.by)
    sums = scratch(total.shape, total.dtype)

    def run() -> None:
        for first in range(0, count, size):
            for place, all_places in zip(places, cells, strict=True):
                place[...] = all_places[first : first + size]
            compute()
            function.reduce(terms, -1, None, sums)
            function(total, sums, out=total)

    return [run]


MOST_PLANS = 256
"""Limit on the plans that are kept for an operator."""


def elementwise(meaning: Elementwise) -> Bind:
    """Return the kernel of an operator of this meaning: a formula is planned once for a shape."""
    plans: dict[object, Plan] = {}

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        (y,) = outs
        if meaning.along is not None:
            axis = attrs[meaning.along]
            assert isinstance(axis, int), f"{meaning.along} is an integer"
            ins = [ins[0], *(along(vector, axis, y.ndim) for vector in ins[1:])]
        kinds = [(x.shape, x.dtype, np.may_share_memory(x, y)) for x in ins]
        key = (y.shape, y.dtype, *kinds, repr(attrs) if attrs else "")
        plan = plans.get(key)
        if plan is None:
            if len(plans) >= MOST_PLANS:
                plans.clear()
            tape = Tape(ins)
            found = meaning.formula(*tape.operands, **meaning.keywords(attrs))
            plan = plans[key] = tape.plan(computed_number(found), y)
        return plan.bound(ins, y)

    return bind
