"""
The vocabulary of rules: element types, tensors, and an operator's call.

    @rule("relay.nn.dense")
    def dense(data: Tensor, weight: Tensor, *, out_dtype: Element | None) -> Tensor:
        ...
        return Tensor(data.element, (*data.dims[:-1], weight.dims[0]))

A dim is a size (see `sizes`): an `int`, or a `Dim` that is not known yet. `rules` describes how
such a function becomes a `Rule`, which is what the dialect and the machine call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from .element_types import ELEMENT_TABLE, NUMBER_TYPES
from .element_types import ElementKind as ElementKind  # for plug-ins
from .measures import MAX_SIZE, MEASURES
from .records import record
from .sizes import UNKNOWN, Dim, Shape, Size, measure, require_equal
from .sizes import SignatureError as SignatureError  # for plug-ins

MAX_RANK = 32
"""Limit on a rank that attributes or elements determine (that of NumPy 1)."""


@record(eq=False)
class Element:
    """
    An element type, by its name in MLIR's text ("f32", "i1", "ui8").

    Elements are unique: `element` returns the same object for the same name.
    """

    name: str
    kind: ElementKind

    @property
    def bits(self) -> int:
        """The width of a number; an index has 64 bits."""
        digits, _, _ = self.name.lstrip("uibf").partition("E")
        return int(digits) if self.name != "index" else 64

    @property
    def is_unsigned(self) -> bool:
        """Test for unsigned integers; i1 counts as one."""
        return self.kind is ElementKind.BOOL or self.name.startswith("ui")

    @property
    def integers(self) -> tuple[int, int]:
        """The least and the greatest integer of an integer type."""
        if self.is_unsigned:
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    def __str__(self) -> str:
        return self.name


@cache
def element(name: str, kind: ElementKind) -> Element:
    """The element type called `name`, which is of `kind`."""
    return Element(name, kind)


ELEMENTS: Mapping[str, Element] = {
    name: element(row.mlir, row.kind) for name, row in NUMBER_TYPES.items()
}
"""The element types that NumPy has too, by NumPy's names."""
ALL_ELEMENTS: Mapping[str, Element] = {
    name: element(row.mlir, row.kind) for name, row in ELEMENT_TABLE.items()
}
"""Those that are only stored and converted, too."""
BOOL = ELEMENTS["bool"]


class Tensor(NamedTuple):
    """The element type and dims of a tensor."""

    element: Element
    dims: Shape

    @property
    def rank(self) -> int:
        return len(self.dims)

    def __str__(self) -> str:
        dims = "".join(f"{dim}x" if isinstance(dim, int) else "?x" for dim in self.dims)
        return f"tensor<{dims}{self.element}>"


class Elements(ABC):
    """The elements of an operand, as far as a reader of rules knows them."""

    @abstractmethod
    def sizes(self, count: int) -> Sequence[Size]:
        """Return the `count` elements of an integer tensor in row-major order."""

    @abstractmethod
    def measure(self, name: str, args: Sequence[Data | Size]) -> Size:
        """Return the measure `name` of `args`, of which the tensor of these elements is one."""


@record
class ReadElements(Elements):
    """Elements that are sizes of one reader of rules, or numbers."""

    read: Callable[[int], Sequence[Size]]
    """Returns the elements of an integer tensor of so many."""
    operand: Callable[[], Size | float | None]
    """Returns what is measured of them; None if that is not known."""

    def sizes(self, count: int) -> Sequence[Size]:
        return self.read(count)

    def measure(self, name: str, args: Sequence[Data | Size]) -> Size:
        parts = (arg.elements if isinstance(arg, Data) else arg for arg in args)
        operands = [
            e if isinstance(e, int | Dim) else e.operand() if isinstance(e, ReadElements) else None
            for e in parts
        ]
        known = [operand for operand in operands if operand is not None]
        return measure(name, *known) if len(known) == len(operands) else UNKNOWN


@record
class Data:
    """
    An operand whose elements the result shape depends on.

    `elements` is None if they are unconstrained.
    """

    tensor: Tensor
    elements: Elements | None = None

    @property
    def element(self) -> Element:
        return self.tensor.element

    @property
    def dims(self) -> Shape:
        return self.tensor.dims

    @property
    def rank(self) -> int:
        return len(self.tensor.dims)

    def sizes(self, what: str, *, of_floats: bool = False) -> Sequence[Size]:
        """
        Return the elements, of a scalar or a vector of integers; `what` names it in errors.

        The length of a vector must be known: a result's rank depends on it. With `of_floats` they
        may be floats, which are truncated.
        """
        is_float = of_floats and self.element.kind is ElementKind.FLOAT
        if self.rank > 1 or not (is_float or self.element.kind is ElementKind.INTEGER):
            what += f" must be a scalar or a vector of integers{' or floats' * of_floats}"
            raise SignatureError(f"{what}, but is {self.tensor}")
        count = self.dims[0] if self.dims else 1
        if not isinstance(count, int):
            raise SignatureError(f"the length of {what} must be known, but is dynamic")
        if count > MAX_RANK:
            raise SignatureError(f"{what} must have at most {MAX_RANK} elements, but has {count}")
        try:
            return self._sizes(count)
        except (OverflowError, ValueError) as error:
            if isinstance(error, SignatureError):
                raise
            raise SignatureError(f"elements of {what} must be finite") from error

    def rows(self, what: str, count: int, width: int) -> Sequence[Sequence[Size]]:
        """Return the elements of a matrix of integers, `count` by `width`, as rows."""
        if self.element.kind is not ElementKind.INTEGER or self.rank != 2:
            raise SignatureError(f"{what} must be a matrix of integers, but is {self.tensor}")
        if count > MAX_RANK:
            raise SignatureError(f"{what} must have at most {MAX_RANK} rows, but has {count}")
        for axis, (dim, size) in enumerate(zip(self.dims, (count, width), strict=True)):
            message = f"dim {axis} of {what} must be {{1}}, but is {{0}}"
            require_equal(dim, size, message)
        sizes = self._sizes(count * width)
        return [sizes[i * width :][:width] for i in range(count)]

    def _sizes(self, count: int) -> Sequence[Size]:
        return [UNKNOWN] * count if self.elements is None else self.elements.sizes(count)


@record
class Measured(Data):
    """
    An operand with elements that are only measured, not read as sizes.

    It is on the device of the other operands; sizes are on the host.
    """


def measure_data(name: str, *args: Data | Size) -> Size:
    """Return the measure `name` of sizes and of the elements of operands."""
    assert name in MEASURES, name
    operands = [arg.elements for arg in args if isinstance(arg, Data)]
    known = [elements for elements in operands if elements is not None]
    return known[0].measure(name, args) if len(known) == len(operands) else UNKNOWN


def ranked(element: Element, dims: Shape) -> Tensor:
    """Return the tensor of these `dims`; raise `SignatureError` if one is 2^63 or more."""
    for axis, dim in enumerate(dims):
        if isinstance(dim, int) and dim > MAX_SIZE:
            raise SignatureError(f"dim {axis} of the result must be below 2^63, but is {dim}")
    return Tensor(element, dims)


class Call(NamedTuple):
    """
    An operator applied to operands.

    `attributes` are plain Python values: `int`, `bool`, `float`, `str`, tuples of `int`; an
    element type is an `Element` or its NumPy name. An operand that is not a tensor is represented
    by its type in words. `elements` are those of operands, by index, that the reader knows.
    """

    name: str
    attributes: Mapping[str, object]
    operands: Sequence[Tensor | str]
    elements: Mapping[int, Elements] = {}

    def tensors(self, count: int | None = None) -> list[Tensor]:
        """Return the operands; check that all are tensors and there are `count`."""
        found = [operand for operand in self.operands if not isinstance(operand, str)]
        if len(found) != len(self.operands):
            i = next(i for i, operand in enumerate(self.operands) if isinstance(operand, str))
            what = f"operand {i} of {self.name}"
            raise SignatureError(f"{what} must be a tensor, but is {self.operands[i]}")
        if count is not None and len(found) != count:
            operands = "operand" if count == 1 else "operands"
            raise SignatureError(f"{self.name} expects {count} {operands}, but got {len(found)}")
        return found


Signature: TypeAlias = Callable[[Call], Sequence[Tensor]]
"""
Infers the results of a call; raises `SignatureError` if an operand or attribute is wrong.

Of an operator it is a `Rule`; a plug-in may give any function.
"""


def check(signature: Signature, call: Call, outs: Sequence[Tensor]) -> None:
    """Raise `SignatureError` unless `call` computes `outs`; a `Dim` matches any dim."""
    results = signature(call)
    if len(results) != len(outs):
        raise SignatureError(
            f"{call.name} has {len(results)} results, but {len(outs)} are declared"
        )
    for i, (result, out) in enumerate(zip(results, outs, strict=True)):
        if not _agree(result, out):
            which = f"result {i}" if len(outs) > 1 else "the result"
            raise SignatureError(f"{which} of {call.name} is {result}, but is declared as {out}")


def _agree(a: Tensor, b: Tensor) -> bool:
    return (
        a.element is b.element
        and a.rank == b.rank
        and all(
            x == y or isinstance(x, Dim) or isinstance(y, Dim)
            for x, y in zip(a.dims, b.dims, strict=True)
        )
    )
