"""The types of `relay` that xDSL does not have, and what counts as a tensor."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from ..device import device_of, tensor_type, with_device
from ..tensors import Tensor, as_tensor
from .constraints import Kind, of


@irdl_attr_definition
class IncompleteType(ParametrizedAttribute, TypeAttribute):
    """
    A type that `infer-types` is to fill in (Relay's `IncompleteType`).

    ```mlir
    %y = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
    ```
    """

    name = "relay.incomplete"


AnyTensor = Kind[Tensor | IncompleteType]("a ranked tensor", (of(TensorType), of(IncompleteType)))
"""What an operator takes and gives: a ranked tensor, or one not yet inferred."""


def is_incomplete(type: Attribute) -> bool:
    """Whether `type`, or a part of it, is still to be inferred."""
    if isinstance(type, IncompleteType):
        return True
    if isinstance(type, TupleType):
        return any(is_incomplete(t) for t in type.types)
    if isinstance(type, FunctionType):
        return any(is_incomplete(t) for t in (*type.inputs, *type.outputs))
    return False


def refine(declared: Attribute, inferred: Attribute) -> Attribute | None:
    """
    `declared` filled in from `inferred`; None when the two contradict each other.

    What `declared` leaves open (an incomplete type, a dynamic dim) is taken from `inferred`;
    a dim that only `declared` knows stays; its device stays.
    """
    if isinstance(declared, IncompleteType):
        return inferred
    mine, theirs = as_tensor(declared), as_tensor(inferred)
    if mine is not None and theirs is not None:
        return _refine_tensor(mine, theirs)
    if isinstance(declared, TupleType) and isinstance(inferred, TupleType):
        if len(declared.types) != len(inferred.types):
            return None
        fields = [refine(d, i) for d, i in zip(declared.types, inferred.types, strict=True)]
        if None in fields:
            return None
        return TupleType(tuple(cast(TypeAttribute, f) for f in fields))
    if isinstance(declared, FunctionType) and isinstance(inferred, FunctionType):
        return _refine_function(declared, inferred)
    if declared == inferred or with_device(declared, None) == with_device(inferred, None):
        return declared
    return None


def join(a: Attribute, b: Attribute) -> Attribute | None:
    """
    The type of a value that is an `a` or a `b`; None when no type is both.

    A dim is known where both know it (TVM: unification gives `Any` where either side has it).
    """
    if a == b or isinstance(b, IncompleteType):
        return a
    if isinstance(a, IncompleteType):
        return b
    mine, theirs = as_tensor(a), as_tensor(b)
    if mine is not None and theirs is not None:
        return _join_tensors(mine, theirs)
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        fields = _joined(a.types.data, b.types.data)
        return None if fields is None else TupleType(cast("tuple[TypeAttribute, ...]", fields))
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        params = _joined(a.inputs.data, b.inputs.data)
        results = _joined(a.outputs.data, b.outputs.data)
        if params is None or results is None:
            return None
        return FunctionType.from_lists(params, results)
    return a if with_device(a, None) == with_device(b, None) else None


def _joined(some: Sequence[Attribute], others: Sequence[Attribute]) -> tuple[Attribute, ...] | None:
    if len(some) != len(others):
        return None
    types = [join(a, b) for a, b in zip(some, others, strict=True)]
    known = tuple(type for type in types if type is not None)
    return known if len(known) == len(types) else None


def _join_tensors(a: Tensor, b: Tensor) -> Attribute | None:
    mine, theirs = a.get_shape(), b.get_shape()
    if a.element_type != b.element_type or len(mine) != len(theirs):
        return None
    dims: list[int] = []
    for m, t in zip(mine, theirs, strict=True):
        if DYNAMIC_INDEX not in (m, t) and m != t:
            return None
        dims.append(m if m == t else DYNAMIC_INDEX)
    return tensor_type(a.element_type, dims, device_of(a))


def _refine_function(declared: FunctionType, inferred: FunctionType) -> Attribute | None:
    parts: list[list[Attribute]] = []
    for mine, theirs in (
        (declared.inputs, inferred.inputs),
        (declared.outputs, inferred.outputs),
    ):
        if len(mine) != len(theirs):
            return None
        refined = [refine(d, i) for d, i in zip(mine, theirs, strict=True)]
        parts.append([type for type in refined if type is not None])
        if len(parts[-1]) != len(mine):
            return None
    return FunctionType.from_lists(*parts)


def _refine_tensor(declared: Tensor, inferred: Tensor) -> Attribute | None:
    if declared.element_type != inferred.element_type:
        return None
    if declared.shape == inferred.shape:
        return declared
    mine, theirs = declared.get_shape(), inferred.get_shape()
    if len(mine) != len(theirs):
        return None
    dims: list[int] = []
    for m, t in zip(mine, theirs, strict=True):
        if DYNAMIC_INDEX not in (m, t) and m != t:
            return None
        dims.append(t if m == DYNAMIC_INDEX else m)
    return tensor_type(declared.element_type, dims, device_of(declared))
