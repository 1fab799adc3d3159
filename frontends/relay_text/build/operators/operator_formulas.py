"""
Operators of the text as formulas: arithmetic on tensors, of several operators of the dialect.

    def _variance(site, data, mean):
        apart = data - mean                                  %d = relay.subtract %data, %mean
        return (apart * apart).mean(axis=site["axis"])  ->   %q = relay.multiply %d, %d
                                                             %y = relay.mean %q {axis = …}
    "variance": by_formula(_variance, axis=None)

The parameters of a formula after the call are the operands: those with a default may be omitted,
`*fields` are the fields of the one operand. It returns a tensor, or the fields of a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import Parameter, signature
from math import prod
from struct import pack
from typing import Any, Self, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from .....dialects.attributes import ELEMENT_TYPES
from .....dialects.dense import constant_tensor, dense, integers
from .....dialects.device import tensor_type
from .....dialects.relay import ConstantOp
from .....operators.element_types import NUMBER_TYPES
from .... import program_numbers
from ....program_numbers import Shape
from .call_site import Rule, Site, dtype_of, fields_of

Formula: TypeAlias = Callable[..., "Numbers | Sequence[Numbers]"]


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(program_numbers.Numbers):
    """Numbers that a call in the text computes."""

    site: Site
    value: SSAValue

    @property
    def shape(self) -> Shape:
        """The shape, in which dims may be unknown."""
        return tuple(self.site.tensor(self.value).get_shape())

    @property
    def dims(self) -> Shape:
        shape = self.shape
        if DYNAMIC_INDEX in shape:
            given = self.site.text(self.value)
            raise self.site.problem(f"expected a static shape, but the tensor is of {given}")
        return shape

    def sides(self, rank: int) -> Shape:
        """Return the shape, which must be static, of a tensor that must have this rank."""
        if len(self.shape) != rank:
            given = self.site.text(self.value)
            raise self.site.problem(f"expected a tensor of rank {rank}, but it is of {given}")
        return self.dims

    @property
    def dtype(self) -> str:
        return dtype_of(self.value)

    @property
    def fields(self) -> list[Numbers]:
        """The fields of a tuple that an operator returns."""
        fields = self.site.context.fields(self.value)
        assert fields is not None, "an operator of several results"
        return [Numbers(self.site, field) for field in fields]

    def call(self, name: str, *others: Any, **attrs: Any) -> Self:
        values = (self.like(other).value for other in others)
        return replace(self, value=self.site.value(name, self.value, *values, **attrs))

    def like(self, other: Any) -> Self:
        if isinstance(other, int | float):
            return replace(self, value=self.site.scalar(other, self.dtype))
        return other

    def cast(self, dtype: str) -> Self:
        return replace(self, value=self.site.cast(self.value, dtype))

    def part(self, index: int, axis: int) -> Numbers:
        """Take the slice of an index along an axis, which is removed."""
        at = replace(self, value=self.site.scalar(index, "int64"))
        return self.call("take", at, axis=axis)

    def parts(self, axis: int) -> list[Numbers]:
        """Take every slice along an axis, which is removed."""
        return [self.part(i, axis) for i in range(self.dims[axis])]

    def elements(self) -> list[Numbers]:
        """Take every element of a vector."""
        self.sides(1)
        return self.parts(0)

    def counted(self, count: int, *shape: int) -> Numbers:
        """Return 0, 1, … in the dtype of these numbers, as a vector or a tensor of `shape`."""
        return array(self.site, range(count), shape or None).cast(self.dtype)


# ----------------------------------------------------------------------------- constants


def number(site: Site, value: float, dtype: str) -> Numbers:
    """Build a scalar constant."""
    return Numbers(site, site.scalar(value, dtype))


def array(
    site: Site, values: Sequence[float], shape: Shape | None = None, dtype: str = "int64"
) -> Numbers:
    """Build a constant, by default a vector, of at most `_MOST` elements."""
    require_few(site, len(values))
    data = pack(f"<{len(values)}{NUMBER_TYPES[dtype].struct}", *values)
    dims = [len(values)] if shape is None else [*shape]
    constant = dense(tensor_type(ELEMENT_TYPES[dtype], dims), data)
    return Numbers(site, site.add(ConstantOp(constant)))


def require_few(site: Site, count: int) -> None:
    """Check the number of elements of a constant that an operator needs."""
    if count > _MOST:
        raise site.problem(f"expected at most {_MOST} places to compute, but there are {count}")


_MOST = 2**22
"""The number of elements of a constant above which an operator is refused."""


def constant_integers(value: Numbers, what: str) -> Shape:
    """Return the elements of a constant of integers."""
    constant = constant_tensor(value.value)
    if constant is None or "int" not in value.dtype:
        raise value.site.problem(f"{what} must be a constant of integers")
    return tuple(integers(constant, prod(value.dims)))


# ---------------------------------------------------------------------------- operations


def combined(site: Site, name: str, parts: Sequence[Numbers], axis: int) -> Numbers:
    """Build `stack` or `concatenate`."""
    fields = site.context.packed([part.value for part in parts], site.call.offset)
    return Numbers(site, site.value(name, fields, axis=axis))


def count_less(sequence: Numbers, values: Numbers, or_equal: bool = False) -> Numbers:
    """
    Count the elements of a sorted sequence along the last axis that are less than each value.

    Both are sorted, with values before or after equal elements; of the place of a value in both
    are subtracted the values before it.
    """
    start = sequence.dims[-1] if or_equal else 0
    end, axis = start + values.dims[-1], len(values.dims) - 1

    def places(value: Numbers) -> Numbers:
        return value.argsort(axis=-1, dtype="int64").argsort(axis=-1, dtype="int64")

    both = [sequence, values] if or_equal else [values, sequence]
    placed = places(combined(sequence.site, "concatenate", both, -1))
    at = placed.strided_slice(begin=(start,), end=(end,), axes=(axis,))
    return at - places(values)


# -------------------------------------------------------------------------------- calls


@cache
def _operands(formula: Formula) -> tuple[Sequence[int], bool]:
    """Return the numbers of operands that a formula accepts; whether they are fields of one."""
    _, *operands = signature(formula).parameters.values()
    if any(p.kind is Parameter.VAR_POSITIONAL for p in operands):
        return (1,), True
    least = sum(p.default is Parameter.empty for p in operands)
    return tuple(range(least, len(operands) + 1)), False


def by_formula(formula: Formula, **defaults: Any) -> Rule:
    """Return the rule that builds an operator by its formula; `defaults` are its attributes."""

    def build(site: Site) -> SSAValue:
        counts, is_variadic = _operands(formula)
        values: Sequence[SSAValue] = site.values(*counts)
        if is_variadic:
            values = fields_of(site.context, site.name, values[0], site.call.offset)
        site = replace(site, given=site.attributes(**defaults))
        result = formula(site, *(Numbers(site, value) for value in values))
        if isinstance(result, Numbers):
            return result.value
        fields = [field.value for field in result]
        return site.context.packed(fields, site.call.offset, from_operator=True)

    return build
