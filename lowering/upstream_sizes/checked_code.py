"""
Arithmetic on sizes, as `arith`: the ops that compute and compare i64, one after the other.

    w = CheckedCode(insert, fail)
    w.fail(w.holds(Check.DIVISIBLE, n, m), "{0} must be a multiple of {1}", [n, m])

    %positive = arith.cmpi sgt, %m, %c0 : i64
    …
    [fail unless %ok]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, Signedness, f64, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.tensors import AnyInteger
from ...operators.measures import MAX_SIZE
from ...operators.sizes import Check
from ...operators.sizes.size_table import CHOOSE, PREDICATES
from ...passes.sizes.size_code import SizeCode

Insert = Callable[[Operation], object]
"""Inserts an op."""

Fail = Callable[[SSAValue, str, Sequence[SSAValue]], None]
"""Stops the program with a message unless an i1 is true; `{i}` in it shows the i-th value."""

Values = Sequence[SSAValue]

INDEX = IndexType()


class CheckedCode(SizeCode):
    """Writes the arithmetic of one op, and what stops the program; integers are i64."""

    def __init__(self, insert: Insert, fail: Fail):
        super().__init__(insert)
        self.fail = fail

    def is_(self, predicate: str, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """Compare two integers by a predicate of `arith.cmpi`."""
        name, b = predicate.removeprefix("s"), self.value(b)
        if name in PREDICATES:
            return self.on_values(name, [a, b])
        return self.emit(arith.CmpiOp(a, b, predicate))

    def both(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(arith.AndIOp(a, b))

    def either(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(arith.OrIOp(a, b))

    def unless(self, a: SSAValue) -> SSAValue:
        return self.emit(arith.XOrIOp(a, self.emit(arith.ConstantOp(IntegerAttr(1, i1)))))

    def counted(self, condition: SSAValue) -> SSAValue:
        """Return 1 if `condition` holds, else 0."""
        return self.emit(arith.ExtUIOp(condition, i64))

    def nonzero(self, a: SSAValue) -> SSAValue:
        """Return `a`, or 1 in place of 0."""
        return self.apply(CHOOSE, self.is_("eq", a, 0), self.value(1), a)

    def product(self, sizes: Values) -> SSAValue:
        """Return the product of sizes of at least 0, or the largest i64 where it does not fit."""
        made, most = self.value(1), self.value(MAX_SIZE)
        for size in sizes:
            room = self.emit(arith.DivUIOp(most, self.nonzero(size)))
            fits = self.is_("ule", made, room)
            exact = self.emit(arith.MuliOp(self.apply(CHOOSE, fits, made, self.value(0)), size))
            made = self.apply(CHOOSE, fits, exact, most)
        return made

    def integer(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Return a number that was of `type`, signed or not, as an i64, in which it must fit."""
        if isinstance(type, IndexType):
            return self.emit(arith.IndexCastOp(value, i64))
        width, signedness = cast(AnyInteger, type).width.data, cast(AnyInteger, type).signedness
        if width == 64:
            if signedness.data is Signedness.UNSIGNED:
                self.fail(self.is_("sge", value, 0), "a size must be below 2^63", ())
            return value
        is_bit = width == 1 or signedness.data is Signedness.UNSIGNED
        return self.emit((arith.ExtUIOp if is_bit else arith.ExtSIOp)(value, i64))

    def real(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Return a number that was of `type` as an f64."""
        if not isinstance(type, AnyFloat):
            return self.emit(arith.SIToFPOp(self.integer(value, type), f64))
        return value if type == f64 else self.emit(arith.ExtFOp(value, f64))

    def rounded(self, value: SSAValue, message: str) -> SSAValue:
        """Return the f64 `value`, a whole number, as an i64, in which it must fit."""
        low = self.emit(arith.CmpfOp(value, self.value(-float(1 << 63)), "oge"))
        high = self.emit(arith.CmpfOp(value, self.value(float(1 << 63)), "olt"))
        fits = self.both(low, high)
        self.fail(fits, message, ())
        return self.emit(arith.FPToSIOp(self.apply(CHOOSE, fits, value, self.value(0.0)), i64))

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
                rest = self.emit(arith.RemSIOp(a, self.apply(CHOOSE, positive, b, self.value(1))))
                return self.both(positive, self.is_("eq", rest, 0))
            case Check.ONE_OR_EQUAL:
                return self.either(self.is_("eq", a, 1), self.is_("eq", a, b))
            case Check.BROADCAST:
                ones = self.either(self.is_("eq", a, 1), self.is_("eq", b, 1))
                return self.either(ones, self.is_("eq", a, b))
