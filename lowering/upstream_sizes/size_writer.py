"""
Arithmetic on sizes, as `arith`: the ops that compute and compare i64, one after the other.

    w = Writer(insert, fail)
    w.fail(w.holds(Check.DIVISIBLE, n, m), "{0} must be a multiple of {1}", [n, m])

    %positive = arith.cmpi sgt, %m, %c0 : i64
    …
    [fail unless %ok]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    Signedness,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.tensors import AnyInteger
from ...operators.measures import MAX_SIZE
from ...operators.sizes import Check

Insert = Callable[[Operation], object]
"""Inserts an op."""

Fail = Callable[[SSAValue, str, Sequence[SSAValue]], None]
"""Stops the program with a message unless an i1 is true; `{i}` in it shows the i-th value."""

Values = Sequence[SSAValue]

INDEX = IndexType()


def constant_of(value: SSAValue) -> int | None:
    """Return the integer that `value` is; None if it is computed."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


@dataclass(frozen=True)
class Writer:
    """Writes the arithmetic of one op; integers are i64 unless said otherwise."""

    op: Insert
    fail: Fail

    def insert(self, op: Operation) -> SSAValue:
        """Insert `op`; return its result."""
        self.op(op)
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        return self.insert(arith.ConstantOp(IntegerAttr(value, i64)))

    def float(self, value: float) -> SSAValue:
        return self.insert(arith.ConstantOp(FloatAttr(value, f64)))

    def is_(self, predicate: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """Compare two integers."""
        return self.insert(arith.CmpiOp(a, self.number(b) if isinstance(b, int) else b, predicate))

    def both(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.AndIOp(a, b))

    def either(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.OrIOp(a, b))

    def unless(self, a: SSAValue) -> SSAValue:
        return self.insert(arith.XOrIOp(a, self.insert(arith.ConstantOp(IntegerAttr(1, i1)))))

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.AddiOp(a, b))

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.SubiOp(a, b))

    def least(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.MinSIOp(a, b))

    def most(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.MaxSIOp(a, b))

    def pick(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.insert(arith.SelectOp(condition, a, b))

    def counted(self, condition: SSAValue) -> SSAValue:
        """Return 1 if `condition` holds, else 0."""
        return self.insert(arith.ExtUIOp(condition, i64))

    def nonzero(self, a: SSAValue) -> SSAValue:
        """Return `a`, or 1 in place of 0."""
        return self.pick(self.is_("eq", a, 0), self.number(1), a)

    def product(self, sizes: Values) -> SSAValue:
        """Return the product of sizes of at least 0, or the largest i64 where it does not fit."""
        made, most = self.number(1), self.number(MAX_SIZE)
        for size in sizes:
            room = self.insert(arith.DivUIOp(most, self.nonzero(size)))
            fits = self.is_("ule", made, room)
            exact = self.insert(arith.MuliOp(self.pick(fits, made, self.number(0)), size))
            made = self.pick(fits, exact, most)
        return made

    def integer(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Return a number that was of `type`, signed or not, as an i64, in which it must fit."""
        if isinstance(type, IndexType):
            return self.insert(arith.IndexCastOp(value, i64))
        width, signedness = cast(AnyInteger, type).width.data, cast(AnyInteger, type).signedness
        if width == 64:
            if signedness.data is Signedness.UNSIGNED:
                self.fail(self.is_("sge", value, 0), "a size must be below 2^63", ())
            return value
        is_bit = width == 1 or signedness.data is Signedness.UNSIGNED
        return self.insert((arith.ExtUIOp if is_bit else arith.ExtSIOp)(value, i64))

    def real(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Return a number that was of `type` as an f64."""
        if not isinstance(type, AnyFloat):
            return self.insert(arith.SIToFPOp(self.integer(value, type), f64))
        return value if type == f64 else self.insert(arith.ExtFOp(value, f64))

    def rounded(self, value: SSAValue, message: str) -> SSAValue:
        """Return the f64 `value`, a whole number, as an i64, in which it must fit."""
        low = self.insert(arith.CmpfOp(value, self.float(-float(1 << 63)), "oge"))
        high = self.insert(arith.CmpfOp(value, self.float(float(1 << 63)), "olt"))
        fits = self.both(low, high)
        self.fail(fits, message, ())
        return self.insert(arith.FPToSIOp(self.pick(fits, value, self.float(0.0)), i64))

    def holds(self, check: Check, a: SSAValue, b: SSAValue) -> SSAValue:
        """Test whether two sizes are in a relation."""
        match check:
            case Check.EQUAL:
                return self.is_("eq", a, b)
            case Check.AT_LEAST:
                return self.is_("sge", a, b)
            case Check.AT_MOST:
                return self.is_("sle", a, b)
            case Check.DIVISIBLE:
                positive = self.is_("sgt", b, 0)
                rest = self.insert(arith.RemSIOp(a, self.pick(positive, b, self.number(1))))
                return self.both(positive, self.is_("eq", rest, 0))
            case Check.ONE_OR_EQUAL:
                return self.either(self.is_("eq", a, 1), self.is_("eq", a, b))
            case Check.BROADCAST:
                ones = self.either(self.is_("eq", a, 1), self.is_("eq", b, 1))
                return self.either(ones, self.is_("eq", a, b))
