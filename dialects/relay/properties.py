"""
Constructors for each kind of property that operators have.

    axis = int_prop(-1)              axis = -1 : i64, the default is not printed
    axis = optional_ints_prop()      axis = array<i64: 0, 2>, or absent

A property without a default is required. `dialects.attributes` reads them as Python values.
"""

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import opt_prop_def, prop_def

from ...operators.rules import Default
from ...operators.rules import Ints as IntsOfRule
from ...operators.signature import Data, Element
from ..integers import i64_array
from ..xdsl_extras.described_constraints import Described, of

Int: TypeAlias = IntegerAttr[IntegerType]
Ints: TypeAlias = DenseArrayBase[IntegerType]
Float: TypeAlias = FloatAttr[Float64Type]

_INT = of(IntegerAttr, "type", i64)
_INTS = of(DenseArrayBase, "elt_type", i64)

INT = Described[Int]("an i64 integer", (_INT,))
INTS = Described[Ints]("an array of i64 integers", (_INTS,))
INT_OR_INTS = Described[Int | Ints]("an i64 integer or an array of them", (_INT, _INTS))
FLOAT = Described[Float]("an f64 float", (of(FloatAttr, "type", f64),))
BOOL = Described[BoolAttr]("true or false", (of(IntegerAttr, "type", i1),))
STRING = Described[StringAttr]("a string", (of(StringAttr),))
DTYPE = Described[Attribute]("an element type", (of(TypeAttribute),))
"""An element type. The type rule checks that it has a size and a name."""


def ints(values: Sequence[int]) -> Ints:
    """`array<i64: …>` of `values`."""
    return i64_array(values)


def int_prop(default: int | None = None) -> Int:
    return prop_def(INT, None if default is None else IntegerAttr(default, i64))


def optional_int_prop() -> Int | None:
    return opt_prop_def(INT)


def ints_prop(default: Sequence[int] | None = None) -> Ints:
    return prop_def(INTS, None if default is None else ints(default))


def optional_ints_prop() -> Ints | None:
    return opt_prop_def(INTS)


def float_prop(default: float | None = None) -> Float:
    return prop_def(FLOAT, None if default is None else FloatAttr(default, f64))


def bool_prop(default: bool | None = False) -> BoolAttr:
    return prop_def(BOOL, BoolAttr.from_bool(bool(default)))


def string_prop(default: str) -> StringAttr:
    return prop_def(STRING, StringAttr(default))


def dtype_prop(default: TypeAttribute | None = None) -> Attribute:
    return prop_def(DTYPE, default)


def optional_dtype_prop() -> Attribute | None:
    return opt_prop_def(DTYPE)


_KINDS: Mapping[object, tuple[Callable[[Any], Attribute], Described[Any]]] = {
    int: (int_prop, INT),
    bool: (bool_prop, BOOL),
    float: (float_prop, FLOAT),
    str: (string_prop, STRING),
    IntsOfRule: (ints_prop, INTS),
    Element: (dtype_prop, DTYPE),
}


def prop_of(annotation: object, default: Any = None) -> Attribute | None:
    """Return the property of an attribute that a rule annotates so."""
    args = get_args(annotation)
    if get_origin(annotation) is Annotated:
        stated = [bound.value for bound in args[1:] if isinstance(bound, Default)]
        return prop_of(args[0], *stated or [default])
    if get_origin(annotation) is Literal:
        return string_prop(default or args[0])
    if annotation in _KINDS:
        return _KINDS[annotation][0](default)
    kinds = [arg for arg in args if arg not in (NoneType, Data)]
    if len(kinds) > 1:
        return prop_def(INT_OR_INTS)
    if NoneType not in args:
        return prop_of(kinds[0], default)
    (kind,) = kinds
    return opt_prop_def(_KINDS[get_args(kind)[0] if get_origin(kind) is Annotated else kind][1])
