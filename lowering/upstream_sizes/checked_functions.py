"""
Arithmetic on sizes that fails instead of wrapping, as functions of the module.

    %b = arith.muli %n, %c32 : i64      ->      %b = func.call @xrelay.muli(%n, %c32)

Sizes come from arguments, so a product that does not fit in 64 bits must stop the program: the
buffer would be smaller than what is written into it. A division by 0 stops it too. What stops it is
`@xrelay_require(%ok, %code, %a, %b)`: the message is entry `%code` of the module's attribute
`xrelay.messages`, in which `{0}` and `{1}` stand for `%a` and `%b`. It returns only if `%ok`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...operators.sizes.size_table import CHOOSE
from .checked_code import INDEX, CheckedCode

REQUIRE = "xrelay_require"
"""The function of the runtime that stops the program."""

ENTER = "xrelay_enter"
"""The function of the runtime that stops the program when the stack gets short."""

MAX_BYTES = 1 << 48
"""The maximum size of a storage; larger ones are a mistake, whatever the machine has."""

Message: TypeAlias = Callable[[str, Sequence[SSAValue]], tuple[int, list[SSAValue]]]
"""Returns the number of a message, and which of the values it shows."""


@dataclass(frozen=True)
class Checked:
    """A function: its code, and the types of its parameters and results."""

    write: Callable[..., SSAValue | None]
    parameters: Sequence[Attribute] = (i64, i64)
    results: Sequence[Attribute] = (i64,)


def _multiplication(w: CheckedCode, a: SSAValue, b: SSAValue) -> SSAValue:
    product = arith.MulSIExtendedOp(a, b)
    w.insert(product)
    sign = w.emit(arith.ShRSIOp(product.low, w.value(63)))
    w.fail(w.is_("eq", product.high, sign), "{0} * {1} does not fit in 64 bits", [a, b])
    return product.low


def _addition(w: CheckedCode, a: SSAValue, b: SSAValue) -> SSAValue:
    r = w.emit(arith.AddiOp(a, b))
    # It overflows if the operands' signs agree, and the result's is not theirs.
    both = w.emit(arith.AndIOp(w.emit(arith.XOrIOp(a, r)), w.emit(arith.XOrIOp(b, r))))
    w.fail(w.is_("sge", both, 0), "{0} + {1} does not fit in 64 bits", [a, b])
    return r


def _subtraction(w: CheckedCode, a: SSAValue, b: SSAValue) -> SSAValue:
    r = w.emit(arith.SubiOp(a, b))
    # It overflows if the operands' signs differ, and the result's is not that of `a`.
    both = w.emit(arith.AndIOp(w.emit(arith.XOrIOp(a, b)), w.emit(arith.XOrIOp(a, r))))
    w.fail(w.is_("sge", both, 0), "{0} - {1} does not fit in 64 bits", [a, b])
    return r


def _division(step: int, on_negative: bool) -> Callable[..., SSAValue]:
    """Return a division that adds `step` to a quotient that is inexact and of this sign."""

    def write(w: CheckedCode, a: SSAValue, b: SSAValue) -> SSAValue:
        fits = w.either(w.is_("ne", b, -1), w.is_("ne", a, -(1 << 63)))
        w.fail(w.both(w.is_("ne", b, 0), fits), "{0} / {1} is not defined", [a, b])
        quotient = w.emit(arith.DivSIOp(a, b))
        if step == 0:
            return quotient
        exact = w.is_("eq", w.emit(arith.RemSIOp(a, b)), 0)
        negative = w.is_("slt", w.emit(arith.XOrIOp(a, b)), 0)
        other = w.apply("add", quotient, step)
        choices = (other, quotient) if on_negative else (quotient, other)
        return w.apply(CHOOSE, exact, quotient, w.apply(CHOOSE, negative, *choices))

    return write


def _remainder(w: CheckedCode, a: SSAValue, b: SSAValue) -> SSAValue:
    w.fail(w.is_("ne", b, 0), "{0} / {1} is not defined", [a, b])
    # By -1 it is that by 1, whose quotient always fits.
    divisor = w.apply(CHOOSE, w.is_("eq", b, -1), w.value(1), b)
    return w.emit(arith.RemSIOp(a, divisor))


def _size(w: CheckedCode, a: SSAValue) -> SSAValue:
    most = w.value(MAX_BYTES)
    message = "a storage must have from 0 to {1} bytes, but has {0}"
    w.fail(w.is_("ule", a, most), message, [a, most])
    return w.emit(arith.IndexCastOp(a, INDEX))


def _dim(w: CheckedCode, a: SSAValue) -> SSAValue:
    w.fail(w.is_("sge", a, 0), "a dim must be at least 0, but is {0}", [a])
    return w.emit(arith.IndexCastOp(a, INDEX))


def _place(w: CheckedCode, a: SSAValue, offset: SSAValue, room: SSAValue) -> SSAValue:
    """Check that `a` bytes at `offset` lie within `room` bytes."""
    size = w.emit(arith.IndexCastOp(room, i64))
    left = w.emit(arith.SubiOp(size, offset))
    ok = w.both(w.is_("ule", offset, size), w.is_("ule", a, left))
    message = "a tensor of {0} bytes does not fit in the {1} that follow in its storage"
    w.fail(ok, message, [a, left])
    return w.emit(arith.IndexCastOp(offset, INDEX))


def _same(w: CheckedCode, a: SSAValue, b: SSAValue) -> None:
    w.fail(w.is_("eq", a, b), "a view keeps its elements, but has {1} of {0}", [a, b])


FUNCTIONS: Mapping[str, Checked] = {
    "addi": Checked(_addition),
    "subi": Checked(_subtraction),
    "muli": Checked(_multiplication),
    "divsi": Checked(_division(0, on_negative=True)),
    "remsi": Checked(_remainder),
    "floordivsi": Checked(_division(-1, on_negative=True)),
    "ceildivsi": Checked(_division(1, on_negative=False)),
    "size": Checked(_size, (i64,), (INDEX,)),
    "dim": Checked(_dim, (i64,), (INDEX,)),
    "place": Checked(_place, (i64, i64, INDEX), (INDEX,)),
    "same": Checked(_same, results=()),
}


def checked_function(name: str, symbol: str, message: Message) -> func.FuncOp:
    """Return the function `name`, named `symbol`; `REQUIRE` is only declared."""
    if name == REQUIRE:
        return func.FuncOp.external(REQUIRE, [i1, i64, i64, i64], [])
    checked = FUNCTIONS[name]
    block = Block(arg_types=checked.parameters)

    def fail(ok: SSAValue, text: str, values: Sequence[SSAValue]) -> None:
        code, shown = message(text, values)
        numbers = [*shown, *[w.value(0)] * (2 - len(shown))]
        w.insert(func.CallOp(REQUIRE, [ok, w.value(code), *numbers], []))

    w = CheckedCode(block.add_op, fail)
    for hint, argument in zip("abc", block.args, strict=False):
        argument.name_hint = hint
    result = checked.write(w, *block.args)
    block.add_op(func.ReturnOp(*([] if result is None else [result])))
    type = list(checked.parameters), list(checked.results)
    return func.FuncOp(symbol, type, Region(block), "private")
