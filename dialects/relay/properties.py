"""
Constructors for each kind of property that operators have.

    axis = int_prop(-1)              axis = -1 : i64, the default is not printed
    axis = optional_ints_prop()      axis = array<i64: 0, 2>, or absent

A property without a default is required. `dialects.attributes` reads them as Python values.
"""

from collections.abc import Sequence
from typing import TypeAlias

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


def bool_prop(default: bool) -> BoolAttr:
    return prop_def(BOOL, BoolAttr.from_bool(default))


def string_prop(default: str) -> StringAttr:
    return prop_def(STRING, StringAttr(default))


def dtype_prop(default: TypeAttribute | None = None) -> Attribute:
    return prop_def(DTYPE, default)


def optional_dtype_prop() -> Attribute | None:
    return opt_prop_def(DTYPE)
