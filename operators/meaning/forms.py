"""
The forms of meanings, and the meaning of each operator.

    @elementwise("relay.sigmoid", shape=of_float)
    def sigmoid(x: Number) -> Number: ...

Positional parameters of a formula are numbers, keyword-only ones attributes, of which a formula
names those that it reads; an element type is an `Element`, and an absent attribute None.
The forms are plain classes: to make them dataclasses takes as long as to import all formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any, Literal, Protocol, TypeAlias, cast

from ..element_types import ELEMENT_TABLE, ElementKind
from ..intervals import Interval
from ..records import record
from ..rules import Work, attribute_types, rule
from ..signature import BOOL, ELEMENTS, Element, Signature, Tensor, element
from .number import greatest, least

Formula: TypeAlias = Callable[..., Any]
"""Computes a number of the result, by its parameters as the form of the meaning says."""


class Apply(Protocol):
    """Applies operators: see `Composed`."""

    def __call__(self, name: str, *operands: Any, **attributes: Any) -> Any:
        """
        Return the result of an operator, by its name without `relay.`.

        A number stands for a scalar of the element type of the first operand.
        """
        ...

    def tensor(self, operand: Any) -> Tensor:
        """Return the element type and dims of an operand or a result."""
        ...


Attributes: TypeAlias = Mapping[str, object]
"""Attributes as plain Python values; an element type is the name of one."""

Axes: TypeAlias = Sequence[int | None]
"""For each axis of an operand the axis of the result that indexes it; None reads index 0."""


def _element(dtype: str) -> Element:
    row = ELEMENT_TABLE[dtype]
    return element(row.mlir, row.kind)


@cache
def _parameters(formula: Formula) -> Sequence[tuple[str, Mapping[str, bool], Any]]:
    """
    Return the parameters of a formula that are attributes, each with these and its class.

    It is one attribute, or a class of several; of each, whether it is an element type is told.
    """
    return [
        (
            name,
            {
                attribute: "Element" in str(annotation)
                for attribute, annotation in attribute_types(name, parameter.annotation).items()
            },
            parameter.annotation if hasattr(parameter.annotation, "_fields") else None,
        )
        for name, parameter in signature(formula).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY
    ]


def keywords(formula: Formula, attributes: Attributes) -> dict[str, Any]:
    """Return the arguments of a formula that are attributes."""
    found: dict[str, Any] = {}
    for name, parts, group in _parameters(formula):
        values = [
            _element(value) if is_element and isinstance(value, str) else value
            for value, is_element in ((attributes.get(part), parts[part]) for part in parts)
        ]
        (found[name],) = values if group is None else (group(*values),)
    return found


class Meaning:
    """
    The computation of an operator.

    `reads` returns the box of each operand that a part of the one result needs, where none follows
    from a formula, or too large a one. It gets the dims of the operands, the part, and attributes
    like a formula. Without it and a formula, the whole operands are needed.
    """

    reads: Callable[..., Sequence[Sequence[Interval]]] | None = None


class Computed(Meaning):
    """A meaning with a formula."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    def keywords(self, attributes: Attributes) -> dict[str, Any]:
        """Return the arguments of the formula that are attributes."""
        return keywords(self.formula, attributes)


class Elementwise(Computed):
    """
    An element of the one result is the formula of an element of each operand.

    Operands are broadcast, aligned at the last axis; with `along`, operands after the first are
    vectors along the axis that the attribute of this name states. Of operands in `typed` only the
    type is used, not the elements: they need not broadcast.
    """

    def __init__(
        self, formula: Formula, along: str | None = None, typed: tuple[int, ...] = ()
    ) -> None:
        super().__init__(formula)
        self.along = along
        self.typed = typed

    def axes(self, ranks: Sequence[int], rank: int, attributes: Attributes) -> Sequence[Axes]:
        """Return the axes by which operands of these ranks are read for a result of `rank`."""
        if self.along is None:
            return [range(rank - own, rank) for own in ranks]
        axis = attributes[self.along]
        assert isinstance(axis, int), f"{self.along} is an integer"
        return [range(rank), *[[axis % rank]] * (len(ranks) - 1)]


class ByIndex(Computed):
    """
    An element of the one result is the formula of its index, which has a number for each axis.

    The formula gets the index, then each operand as a `Source`: elements at other indices, which
    the formula keeps within the operand's dims. Indices and dims are i64.
    """


Fold: TypeAlias = Literal["add", "multiply", "maximum", "minimum"]


class Folded(Computed):
    """
    An element of the one result is the sum, product or an extreme of numbers at a box of indices.

    Their order is not part of the meaning. The formula gets the index of the element, followed by
    that in the box, then each operand as a `Source`. `finish`, a formula that gets the sum before
    these, computes the element from it.
    """

    def __init__(
        self,
        formula: Formula,
        box: Callable[..., Sequence[Any]],
        by: Fold = "add",
        finish: Formula | None = None,
    ) -> None:
        """
        `box` returns the dims of the box: integers, or dims of operands.

        It gets the dims of each operand, then attributes like a formula.
        """
        super().__init__(formula)
        self.box, self.finish = box, finish
        self.by: Fold = by

    def dims(self, operands: Sequence[Sequence[Any]], attributes: Attributes) -> tuple[Any, ...]:
        """Return the dims of the box, for operands of these dims."""
        return tuple(self.box(*operands, **keywords(self.box, attributes)))

    def element(self, result: Element) -> Element:
        """Return the type of sums and products: f32 for narrower floats, 64 bits for integers."""
        if self.by in ("maximum", "minimum") or result is BOOL:
            return result
        if result.kind is ElementKind.FLOAT:
            return ELEMENTS["float32"] if result.bits < 32 else result
        return ELEMENTS["uint64" if result.is_unsigned else "int64"]

    def identity(self, element: Element) -> float:
        """Return the sum, product or extreme of no numbers."""
        match self.by:
            case "add":
                return 0
            case "multiply":
                return 1
            case "maximum":
                return least(element)
            case "minimum":
                return greatest(element)


class SameOrder(Meaning):
    """The result has the elements of operand 0 in order; other operands state its shape."""


class Sums(Meaning):
    """
    Element i along `axis` is the sum of elements 0 to i, or to i - 1 if `exclusive`, in order.

    Both are attributes. Without an axis the operand is flattened. The sum is of the result's
    element type, but f32 for narrower floats.
    """


class Composed(Computed):
    """
    The results of other operators, applied in order.

    The formula gets `apply`, which applies an operator, and then each operand.
    """

    def results(
        self, apply: Apply, operands: Sequence[Any], attributes: Attributes
    ) -> Sequence[Any]:
        """Return the results: one, or those of a tuple."""
        results = self.formula(apply, *operands, **self.keywords(attributes))
        return cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)


class Opaque(Meaning):
    """No formula, for a reason: its kernel and its linalg are written by hand."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@record
class Definition:
    """
    An operator of a plug-in: its shape rule and its meaning, from which its kernels follow.

    `changes` says how it computes a part of its result, like an entry of `parts.PARTS`.
    """

    rule: Signature
    meaning: Meaning
    changes: Callable[..., Mapping[str, object] | None] | None = None


MEANINGS: dict[str, Meaning] = {}
"""The meaning of each operator of `relay`, by its full name."""

Shape: TypeAlias = Callable[..., Tensor | Sequence[Tensor]]


def define(
    *names: str,
    means: Meaning,
    shape: Shape | None = None,
    work: Work = Work.LINEAR,
    formula: Formula | None = None,
) -> None:
    """
    State the meaning of operators and, with `shape`, their shape rule.

    It checks the attributes that `formula` reads, too.
    """
    for name in names:
        assert name not in MEANINGS, f"{name} has two meanings"
        MEANINGS[name] = means
    if shape is not None:
        rule(*names, work=work, formula=formula)(shape)


def elementwise(
    *names: str, shape: Shape | None = None, along: str | None = None, typed: tuple[int, ...] = ()
) -> Callable[[Formula], Formula]:
    """Make a formula the meaning of elementwise operators, whose attributes are those it reads."""

    def register(formula: Formula) -> Formula:
        read = formula if cast(Any, formula).__code__.co_kwonlyargcount else None
        define(*names, means=Elementwise(formula, along, typed), shape=shape, formula=read)
        return formula

    return register


def defined(
    form: Callable[..., Meaning], *names: str, **parts: Any
) -> Callable[[Formula], Formula]:
    """Make a formula the meaning, of a form that has further `parts`, of operators."""

    def register(formula: Formula) -> Formula:
        define(*names, means=form(formula, **parts))
        return formula

    return register
