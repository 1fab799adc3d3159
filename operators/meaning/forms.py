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
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, TypeAlias

from ..element_types import ELEMENT_TABLE
from ..rules import Work, rule
from ..signature import Element, Signature, Tensor, element

Formula: TypeAlias = Callable[..., Any]
"""Computes a number of the result, by its parameters as the form of the meaning says."""

Apply: TypeAlias = Callable[..., Any]
"""Applies an operator, by its name without `relay.`, to operands: see `Composed`."""

Attributes: TypeAlias = Mapping[str, object]
"""Attributes as plain Python values; an element type is the name of one."""

Axes: TypeAlias = Sequence[int | None]
"""For each axis of an operand the axis of the result that indexes it; None reads index 0."""


def _element(dtype: str) -> Element:
    row = ELEMENT_TABLE[dtype]
    return element(row.mlir, row.kind)


class Meaning:
    """The computation of an operator."""


class Computed(Meaning):
    """A meaning with a formula."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    @cached_property
    def _parameters(self) -> Mapping[str, bool]:
        """The attributes that the formula reads, each with whether it is an element type."""
        return {
            name: "Element" in str(parameter.annotation)
            for name, parameter in signature(self.formula).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
        }

    def keywords(self, attributes: Attributes) -> dict[str, Any]:
        """Return the arguments of the formula that are attributes."""
        found: dict[str, Any] = {}
        for name, is_element in self._parameters.items():
            value = attributes.get(name)
            found[name] = _element(value) if is_element and isinstance(value, str) else value
        return found


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

    The formula gets a function, `apply(name, *operands, **attributes)`, which returns a result of
    an operator, and then each operand.
    """


class Opaque(Meaning):
    """No formula, for a reason: its kernel and its linalg are written by hand."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@dataclass(frozen=True)
class Definition:
    """An operator of a plug-in: its shape rule and its meaning, from which its kernels follow."""

    rule: Signature
    meaning: Meaning


MEANINGS: dict[str, Meaning] = {}
"""The meaning of each operator of `relay`, by its full name."""

Shape: TypeAlias = Callable[..., Tensor | Sequence[Tensor]]


def define(
    *names: str, means: Meaning, shape: Shape | None = None, work: Work = Work.LINEAR
) -> None:
    """State the meaning of operators and, with `shape`, their shape rule."""
    for name in names:
        assert name not in MEANINGS, f"{name} has two meanings"
        MEANINGS[name] = means
    if shape is not None:
        rule(*names, work=work)(shape)


def elementwise(
    *names: str,
    shape: Shape | None = None,
    along: str | None = None,
    typed: tuple[int, ...] = (),
) -> Callable[[Formula], Formula]:
    """Make a formula the meaning of elementwise operators."""

    def register(formula: Formula) -> Formula:
        define(*names, means=Elementwise(formula, along, typed), shape=shape)
        return formula

    return register


def defined(
    form: Callable[[Formula], Meaning], *names: str, shape: Shape | None = None
) -> Callable[[Formula], Formula]:
    """Make a formula the meaning, of a form, of operators."""

    def register(formula: Formula) -> Formula:
        define(*names, means=form(formula), shape=shape)
        return formula

    return register
