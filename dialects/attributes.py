"""
Conversion of operators' properties to plain Python values, and back.

    {axis = array<i64: 0, 1>, keepdims = true}    <->    {"axis": (0, 1), "keepdims": True}

Integers become `int`, i1 becomes `bool`, floats `float`, strings `str`, arrays tuples; an element
type becomes its NumPy name. Kernels get these values: they do not know xDSL.

Bounds of dims are `[1, 2048]`, or `[1]` without an upper one:

    {n = [1, 2048], m = [1]}    <->    {"n": Bounds(1, 2048), "m": Bounds(1, None)}
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.irdl import AttrConstraint, IRDLOperation, VerificationContext
from xdsl.utils.exceptions import VerifyException

from ..operators.element_types import ELEMENT_TABLE
from ..operators.named_dims import Bounds
from .integers import i64_array, i64_attribute
from .tensors import FLOAT_TYPES, dtype_name

Plain: TypeAlias = int | float | bool | str | tuple[int, ...]

_SEGMENTS = {"operandSegmentSizes", "resultSegmentSizes"}


def _integer(attr: Attribute) -> int | bool:
    attr = cast(IntegerAttr[IntegerType], attr)
    value = attr.value.data
    return value if attr.type != i1 else value != 0


_PLAIN: dict[type[Attribute], Callable[[Any], Plain]] = {
    IntegerAttr: _integer,
    FloatAttr: lambda attr: attr.value.data,
    StringAttr: lambda attr: attr.data,
    DenseArrayBase: lambda attr: attr.get_values(),
}


def plain_value(attr: Attribute) -> Plain | None:
    """The Python value of `attr`; None if it has none (it is a type, for example)."""
    read = _PLAIN.get(type(attr))
    return None if read is None else read(attr)


def plain_attributes(op: Operation) -> dict[str, Plain]:
    """
    The properties of `op` without its segment sizes; absent optional properties stay absent.

    Raises `VerifyException` for a property of any other kind.
    """
    return plain_values(op.properties, op.name)


def plain_values(attributes: Mapping[str, Attribute], op: str) -> dict[str, Plain]:
    """Like `plain_attributes`, for `attributes` of an operator named `op`."""
    result: dict[str, Plain] = {}
    for name, attr in attributes.items():
        if name in _SEGMENTS:
            continue
        value = plain_value(attr)
        if value is None:
            value = dtype_name(attr)
        if value is None:
            raise VerifyException(
                f"{name} of {op} must be an integer, float, string, array or element type, "
                f"but is {attr}"
            )
        result[name] = value
    return result


# ----------------------------------------------------------------------- back

ELEMENT_TYPES: dict[str, TypeAttribute] = {
    name: FLOAT_TYPES[row.mlir]
    if row.precision
    else IntegerType(row.bits, Signedness.UNSIGNED if row.dlpack == 1 else Signedness.SIGNLESS)
    for name, row in ELEMENT_TABLE.items()
}
"""The element types by NumPy name, the inverse of `dtype_name`."""

_Write: TypeAlias = Callable[[Any], Attribute | None]
"""Makes an attribute of a Python value; None if the value is of another kind."""


_BOOLS = tuple(map(BoolAttr.from_bool, (False, True)))


def _bool(value: Any) -> Attribute | None:
    return _BOOLS[bool(value)] if value in (0, 1) else None


def _is_i64(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and -(2**63) <= value < 2**63


def _int(value: Any) -> Attribute | None:
    return i64_attribute(value) if _is_i64(value) else None


def _float(value: Any) -> Attribute | None:
    return FloatAttr(float(value), f64) if isinstance(value, int | float) else None


def _ints(value: Any) -> Attribute | None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None
    values = list(cast(Sequence[Any], value))
    return i64_array(values) if all(map(_is_i64, values)) else None


def _string(value: Any) -> Attribute | None:
    return StringAttr(value) if isinstance(value, str) else None


def _dtype(value: Any) -> Attribute | None:
    return ELEMENT_TYPES.get(value) if isinstance(value, str) else None


def attribute_of(value: object) -> Attribute | None:
    """The attribute for a Python value, by its class; None when there is none."""
    match value:
        case bool():
            return _bool(value)
        case int():
            return _int(value)
        case float():
            return _float(value)
        case str():
            return _string(value)
        case tuple() | list():
            numbers = cast(Sequence[Any], value)
            return _ints(numbers) if all(type(number) is int for number in numbers) else None
        case _:
            return None


_KINDS: tuple[tuple[Attribute, str, _Write], ...] = (
    (BoolAttr.from_bool(True), "a bool", _bool),
    (IntegerAttr(0, i64), "an integer", _int),
    (DenseArrayBase.from_list(i64, [0]), "a list of integers", _ints),
    (FloatAttr(0.0, f64), "a float", _float),
    (StringAttr(""), "a string", _string),
    (f32, "the name of a dtype", _dtype),
)
"""Each kind of property: a sample, a description, and the conversion from a value."""


def _accepts(constraint: AttrConstraint, attr: Attribute) -> bool:
    try:
        constraint.verify(attr, VerificationContext())
    except VerifyException:
        return False
    return True


@cache
def _properties(op: type[IRDLOperation]) -> dict[str, tuple[str, list[_Write]]]:
    """For each property of `op`, its expected kind in words and the conversions to it."""
    table: dict[str, tuple[str, list[_Write]]] = {}
    for name, definition in op.get_irdl_definition().properties.items():
        kinds = [(w, f) for sample, w, f in _KINDS if _accepts(definition.constr, sample)]
        table[name] = (" or ".join(words for words, _ in kinds), [write for _, write in kinds])
    return table


@cache
def lists_of(op: type[IRDLOperation]) -> frozenset[str]:
    """Return the properties of `op` that are lists of integers and nothing else."""
    return frozenset(name for name, (_, writes) in _properties(op).items() if writes == [_ints])


def properties_of(op: type[IRDLOperation], values: Mapping[str, Any]) -> dict[str, Attribute]:
    """
    Convert `values` to properties of the operator class `op`, in the order of its definition.

    Raises `VerifyException` for an unknown name or a value of the wrong kind.
    """
    table = _properties(op)
    result: dict[str, Attribute] = {}
    for name, value in values.items():
        if name not in table:
            known = ", ".join(n for n in table if n not in _SEGMENTS) or "none"
            raise VerifyException(f"{op.name} has no attribute {name} (its attributes: {known})")
        words, writes = table[name]
        attr = next((a for write in writes if (a := write(value)) is not None), None)
        if attr is None:
            raise VerifyException(f"{name} of {op.name} must be {words}, but is {value!r}")
        result[name] = attr
    return {name: result[name] for name in table if name in result} if len(result) > 1 else result


def bounds_in(entry: Attribute) -> Bounds | None:
    """Return the bounds that `entry` is, an array of one or two integers."""
    if not isinstance(entry, ArrayAttr):
        return None
    entries = cast("ArrayAttr[Attribute]", entry).data
    numbers = [number.value.data for number in entries if isinstance(number, IntegerAttr)]
    if len(numbers) != len(entries) or len(numbers) not in (1, 2):
        return None
    return Bounds(numbers[0], numbers[1] if len(numbers) == 2 else None)


def bounds_attr(bounds: Mapping[str, Bounds]) -> DictionaryAttr:
    """Return the attribute that states `bounds`."""
    return DictionaryAttr(
        {
            name: ArrayAttr([IntegerAttr(number, i64) for number in limits if number is not None])
            for name, limits in bounds.items()
        }
    )


def bounds_by_name(entries: DictionaryAttr | None) -> dict[str, Bounds]:
    """Return the bounds in `entries`; what is not bounds is omitted."""
    if entries is None:
        return {}
    by_name = {name: bounds_in(entry) for name, entry in entries.data.items()}
    return {name: bounds for name, bounds in by_name.items() if bounds is not None}
