"""Kernels that are bound only to what the signature of their operator accepts."""

from collections.abc import Sequence
from dataclasses import dataclass

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
        raise SignatureError(f"elements must be of {', '.join(ELEMENTS)}, but are of {name}")
    return found


def tensor_of(spec: TensorSpec) -> Tensor:
    """A tensor of `spec`; `SignatureError` for elements that the machine does not have."""
    return Tensor(_element(spec.dtype), tuple(UNKNOWN if d is None else d for d in spec.shape))


def _shape_of(array: Array) -> Tensor:
    return Tensor(_element(type_name(array.dtype)), array.shape)


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """
    The kernel `bind` of operator `name`, bound only to what `signature` accepts.

        KERNELS = {"demo.as_rows": CheckedKernel("demo.as_rows", rows_of, as_rows)}

    Raises `SignatureError` when bound to attributes, operands or results that do not fit.
    """

    name: str
    signature: Signature
    bind: Bind

    def __call__(self, attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        call = Call(self.name, attrs, [_shape_of(array) for array in ins])
        check(self.signature, call, [_shape_of(array) for array in outs])
        return self.bind(attrs, ins, outs)
