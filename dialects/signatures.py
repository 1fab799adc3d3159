"""
Type rules from operators' signatures.

    infer(op)                       the rule of the trait `InferTypes`, for ops of `relay`
    InferTypes(typed(signature))    the same for a plug-in's operator and signature
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeVar

from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from ..operators import SIGNATURES
from ..operators.signature import (
    BOOL,
    Call,
    Element,
    ElementKind,
    Signature,
    SignatureError,
    Tensor,
    check,
    element,
)
from .attributes import plain_value
from .device import tensor_type
from .tensors import Tensor as TensorType
from .tensors import as_tensor, bits_of

_TYPES: dict[Element, Attribute] = {BOOL: i1}
"""The type of each element seen so far."""


@cache
def element_of(type: Attribute) -> Element:
    """The signature's representation of the element type `type`."""
    bits = bits_of(type)
    if bits is None:
        kind = ElementKind.OPAQUE
    elif bits == 1:
        kind = ElementKind.BOOL
    else:
        integer = isinstance(type, IntegerType | IndexType)
        kind = ElementKind.INTEGER if integer else ElementKind.FLOAT
    found = element(str(type), kind)
    _TYPES.setdefault(found, type)
    return found


@lru_cache(maxsize=4096)
def _type_of(tensor: Tensor) -> TensorType:
    return tensor_type(_TYPES[tensor.element], list(tensor.dims))


_Value = TypeVar("_Value")


def _by_identity(compute: Callable[[Attribute], _Value]) -> Callable[[Attribute], _Value]:
    """`compute` with a cache by object identity: hashing a type would cost more."""
    known: dict[int, tuple[Attribute, _Value]] = {}  # the attribute, so that its id stays its own

    def look_up(attr: Attribute) -> _Value:
        found = known.get(id(attr))
        if found is None:
            if len(known) >= 4096:
                known.clear()
            found = known[id(attr)] = attr, compute(attr)
        return found[1]

    return look_up


@_by_identity
def _operand(type: Attribute) -> Tensor | str:
    tensor = as_tensor(type)
    if tensor is None:
        return str(type)
    return Tensor(element_of(tensor.element_type), tensor.get_shape())


@_by_identity
def _attribute(attr: Attribute) -> object:
    value = plain_value(attr)
    if value is not None:
        return value
    return element_of(attr) if isinstance(attr, TypeAttribute) else attr


def _call(
    name: str, attributes: Mapping[str, Attribute], operand_types: Iterable[Attribute]
) -> Call:
    plain = {key: _attribute(attr) for key, attr in attributes.items()}
    return Call(name, plain, [_operand(type) for type in operand_types])


def _results(signature: Signature, op: Operation) -> list[Attribute]:
    call = _call(op.name, op.properties, [operand.type for operand in op.operands])
    try:
        return [_type_of(tensor) for tensor in signature(call)]
    except SignatureError as error:
        raise VerifyException(str(error)) from error


def infer(op: Operation) -> Sequence[Attribute]:
    """Infer the result types of an operator of `relay` from its signature in `xrelay.operators`."""
    return _results(SIGNATURES[op.name], op)


def typed(signature: Signature) -> Callable[[Operation], Sequence[Attribute]]:
    """The type rule defined by `signature`."""
    return lambda op: _results(signature, op)


def check_call(
    name: str,
    attributes: Mapping[str, Attribute],
    operand_types: Sequence[Attribute],
    result_types: Sequence[Attribute],
) -> None:
    """
    Raise `VerifyException` unless the operator `name` of `relay` accepts these types.

    Operators without a signature are not checked.
    """
    signature = SIGNATURES.get(name)
    if signature is None:
        return
    results: list[Tensor] = []
    for type in result_types:
        result = _operand(type)
        if isinstance(result, str):
            raise VerifyException(f"a result of {name} must be a tensor, but is {result}")
        results.append(result)
    try:
        check(signature, _call(name, attributes, operand_types), results)
    except SignatureError as error:
        raise VerifyException(str(error)) from error
