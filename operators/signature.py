"""
The vocabulary of signatures: element types, tensors, and an operator's call.

    def dense(call: Call) -> Sequence[Tensor]:
        data, weight = call.tensors(2)
        ...
        return (Tensor(data.element, (*data.dims[:-1], weight.dims[0])),)

A dim is an int, or `UNKNOWN` if it is known only at run time; arithmetic on `UNKNOWN` is
`UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import NamedTuple, TypeAlias

UNKNOWN = -(2**63)
"""A dim known only at run time (MLIR's `kDynamic`)."""


class SignatureError(ValueError):
    """An operator does not accept its operands or attributes; the message has the bound."""


class ElementKind(Enum):
    BOOL = auto()
    INTEGER = auto()
    """An integer of two bits or more, signed or unsigned, or an index."""
    FLOAT = auto()
    OPAQUE = auto()
    """Anything else: elements that can be moved, but not computed with."""


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """
    An element type, by its name in MLIR's text ("f32", "i1", "ui8").

    Elements are unique: `element` returns the same object for the same name.
    """

    name: str
    kind: ElementKind

    def __str__(self) -> str:
        return self.name


@cache
def element(name: str, kind: ElementKind) -> Element:
    """The element type called `name`, which is of `kind`."""
    return Element(name, kind)


BOOL = element("i1", ElementKind.BOOL)

ELEMENTS: Mapping[str, Element] = {
    "bool": BOOL,
    **{f"int{n}": element(f"i{n}", ElementKind.INTEGER) for n in (8, 16, 32, 64)},
    **{f"uint{n}": element(f"ui{n}", ElementKind.INTEGER) for n in (8, 16, 32, 64)},
    **{f"float{n}": element(f"f{n}", ElementKind.FLOAT) for n in (16, 32, 64)},
}
"""The element types that NumPy has too, by NumPy's names."""


class Tensor(NamedTuple):
    """The element type and dims of a tensor."""

    element: Element
    dims: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.dims)

    def __str__(self) -> str:
        dims = "".join("?x" if dim == UNKNOWN else f"{dim}x" for dim in self.dims)
        return f"tensor<{dims}{self.element}>"


def ranked(element: Element, dims: tuple[int, ...]) -> Tensor:
    """Return the tensor of these `dims`; raise `SignatureError` if one is 2^63 or more."""
    for axis, dim in enumerate(dims):
        if dim >= 2**63:
            raise SignatureError(f"dim {axis} of the result must be below 2^63, but is {dim}")
    return Tensor(element, dims)


class Call(NamedTuple):
    """
    An operator applied to operands.

    `attributes` are plain Python values: `int`, `bool`, `float`, `str`, tuples of `int`; an
    element type is an `Element` or its NumPy name. An operand that is not a tensor is represented
    by its type in words.
    """

    name: str
    attributes: Mapping[str, object]
    operands: Sequence[Tensor | str]

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
"""Infers the results of a call; raises `SignatureError` if an operand or attribute is wrong."""


def check(signature: Signature, call: Call, outs: Sequence[Tensor]) -> None:
    """Raise `SignatureError` unless `call` computes `outs`; `UNKNOWN` matches any dim."""
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
        and all(x == y or UNKNOWN in (x, y) for x, y in zip(a.dims, b.dims, strict=True))
    )
