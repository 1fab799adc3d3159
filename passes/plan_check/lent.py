"""
The bytes that functions need in the storages that their callers lend them.

    func.func private @f(%x: tensor<?xf32>, %w: !memory.storage) {
      %t = memory.alloc_tensor %w[64] shape %s … tensor<?xf32>        64 + 4*dim(%x, 0) bytes of %w
    }
    func.call @f(%a, %s)                                              64 + 4*dim(%a, 0) bytes of %s

A need is in the sizes of the callee; `translated` computes it from the arguments of a call. What
depends on more than the arguments' shapes and sizes cannot be translated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import lcm

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import TOTAL, Expr, Symbol
from ...operators.sizes.size_table import SELECT
from ..sizes.program_sizes import Sizes
from .operations import SIZE_OPS, ZERO, args_of


@dataclass
class Need:
    """The bytes that a function needs in a storage that is a parameter."""

    alignment: int = 1
    ends: dict[Expr, Operation] = field(default_factory=dict[Expr, Operation])
    """Ends of slots, each with an op that needs the bytes; of constant ones the greatest."""

    def add(self, end: Expr, alignment: int, op: Operation) -> None:
        self.alignment = lcm(self.alignment, alignment)
        if end.constant is not None:
            known = [other for other in self.ends if other.constant is not None]
            if known and (known[0].constant or 0) >= end.constant:
                return
            for other in known:
                del self.ends[other]
        self.ends.setdefault(end, op)


Needs = dict[int, Need]
"""The needs of a function by parameter."""


def translated(
    size: Expr, body: Block, sizes: Sizes, operands: Sequence[SSAValue]
) -> Expr | None:
    """Return a size of the function of `body` as one of its caller; None if it has none there."""
    found: dict[Symbol, Expr] = {}
    for symbol in inner_first(size.symbols()):
        value = _translated(symbol, found, body, sizes, operands)
        if value is None:
            return None
        found[symbol] = value
    return _substituted(size, found, sizes)


def inner_first(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Return `symbols` and those in them, each after those in it."""
    found: dict[Symbol, None] = {}
    pending = [*symbols]
    while pending:
        symbol = pending.pop()
        if symbol not in found:
            found[symbol] = None
            pending += [inner for arg in args_of(symbol) for inner in arg.symbols()]
    return sorted(found, key=lambda symbol: symbol.number)


def _substituted(size: Expr, values: dict[Symbol, Expr], sizes: Sizes) -> Expr:
    algebra, total = sizes.algebra, ZERO
    for monomial, coefficient in size.terms:
        term = Expr.of(coefficient)
        for symbol in monomial:
            term = algebra.binary(SizeOp.MUL, term, values[symbol])
        total = algebra.binary(SizeOp.ADD, total, term)
    return total


def _translated(
    symbol: Symbol,
    found: dict[Symbol, Expr],
    body: Block,
    sizes: Sizes,
    operands: Sequence[SSAValue],
) -> Expr | None:
    if symbol.kind in SIZE_OPS:
        args = [_substituted(arg, found, sizes) for arg in args_of(symbol)]
        return sizes.algebra.apply(SizeOp(symbol.kind), args)
    if symbol.kind == SELECT:
        args = [_substituted(arg, found, sizes) for arg in args_of(symbol)]
        return sizes.algebra.select_less(*args)
    if symbol.kind == TOTAL:
        args = [_substituted(arg, found, sizes) for arg in args_of(symbol)]
        return sizes.algebra.again(symbol, (symbol.args[0], *args))
    value, *rest = symbol.args or (None,)
    if not isinstance(value, BlockArgument) or value.block is not body:
        return _translated_measure(symbol, found, sizes)
    operand, position = operands[value.index], rest[0] if rest else None
    if symbol.kind == "dim" and isinstance(position, int):
        return sizes.dims(operand)[position]
    if symbol.kind == "element" and isinstance(position, int):
        elements = sizes.elements(operand)
        return None if elements is None else elements[position]
    return sizes.size(operand) if operand.type == i64 else None


def _translated_measure(
    symbol: Symbol, found: dict[Symbol, Expr], sizes: Sizes
) -> Expr | None:
    """Translate an operation whose operands are sizes and numbers."""
    args = [
        _substituted(arg, found, sizes) if isinstance(arg, Expr) else arg
        for arg in symbol.args
    ]
    if not args or not all(isinstance(arg, Expr | float) for arg in args):
        return None
    return sizes.algebra.opaque(symbol.kind, args, symbol.natural, symbol.name)
