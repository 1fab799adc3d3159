"""Kernels that check the signature of their operator before they are bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from ...operators.signature import (
    ELEMENTS,
    UNKNOWN,
    Call,
    Element,
    Signature,
    SignatureError,
    Tensor,
    check,
)
from ..dtypes import type_name
from ..program import Array, TensorSpec
from .bind import Attrs, Bind, Thunk


def _element(name: str) -> Element:
    found = ELEMENTS.get(name)
    if found is None:
        raise SignatureError(f"element type must be one of {', '.join(ELEMENTS)}, but is {name}")
    return found


def tensor_of(spec: TensorSpec) -> Tensor:
    """Return `spec` as a signature's tensor; `SignatureError` for unsupported elements."""
    return Tensor(_element(spec.dtype), tuple(UNKNOWN if d is None else d for d in spec.shape))


def _shape_of(array: Array) -> Tensor:
    return Tensor(_element(type_name(array.dtype)), array.shape)


class Reuse(Enum):
    """Permission of a kernel to write its result over an operand."""

    NONE = auto()
    """The result never overlaps an operand."""
    ELEMENTWISE = auto()
    """
    The one result may be an operand of equal shape and element type: the kernel writes no
    element before it has read that element of every operand.
    """
    RESHAPE = auto()
    """The result is a copy of the one operand's bytes: in the same memory, nothing has to run."""


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """
    The kernel `bind` of operator `name`, bound only to what `signature` accepts.

        KERNELS = {"demo.as_rows": CheckedKernel("demo.as_rows", rows_of, as_rows, Reuse.RESHAPE)}

    Raises `SignatureError` when bound to attributes, operands or results that do not fit.
    `reuse` is a property of the kernel, not of a program: no program can run it in place
    unless the kernel allows it.
    """

    name: str
    signature: Signature
    bind: Bind
    reuse: Reuse = Reuse.NONE

    def check(self, attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> None:
        """Raise `SignatureError` unless the operator computes arrays like `outs` from `ins`."""
        call = Call(self.name, attrs, [_shape_of(array) for array in ins])
        check(self.signature, call, [_shape_of(array) for array in outs])

    def __call__(self, attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        self.check(attrs, ins, outs)
        return self.bind(attrs, ins, outs)


def reuse_of(bind: Bind | None) -> Reuse:
    """Return what the registration of a kernel says; kernels that are not checked say nothing."""
    return bind.reuse if isinstance(bind, CheckedKernel) else Reuse.NONE
