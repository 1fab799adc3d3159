"""
Write expressions of sizes, each once: as IR, as steps of a formula, as whatever a subclass makes.

    writer.apply("max", n, 4)         max(n, 4)      of a value and a number
    writer.write(n * 4)               mul(n, 4)
    writer.write(n * 4)               the same value again

What the leaves of an expression are is up to a subclass, and where a value is visible: here,
everywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import reduce
from typing import Any, Generic, TypeVar

from .size_expressions import Expr, Symbol, inner_first
from .size_table import CHOOSE, PREDICATES, compute, operation

V = TypeVar("V")


class Writer(ABC, Generic[V]):
    """Writes sizes as values; each number, operation and expression once."""

    def __init__(self) -> None:
        self._known: dict[Hashable, V] = {}

    @abstractmethod
    def value(self, size: Any) -> V:
        """Return `size` as a value, which it may be; a number is a constant."""

    @abstractmethod
    def operate(self, name: str, values: Sequence[V]) -> V:
        """Write an operation on values."""

    @abstractmethod
    def leaf(self, symbol: Symbol) -> V:
        """Return the value of a symbol that is not computed from others."""

    def expands(self, name: str) -> bool:
        """Test whether an operation that is others in the table is written as these."""
        return True

    def computes(self, symbol: Symbol) -> bool:
        """Test whether a symbol is written as an operation on its operands."""
        return symbol.is_computed

    def find(self, key: Hashable) -> V | None:
        """Return the value of `key` that is visible, if there is one."""
        return self._known.get(key)

    def add(self, key: Hashable, value: V) -> None:
        """Record the value of `key`: an expression, or an operation on values."""
        self._known[key] = value

    def once(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of `key`, which `make` returns if none is visible."""
        value = self.find(key)
        if value is None:
            value = make()
            self.add(key, value)
        return value

    def apply(self, name: str, *operands: Any) -> Any:
        """
        Return the operation `name` of the table on values and numbers, of `TOTAL` also a layout.

        The result is a number if all operands are and have one, else a value.
        """
        rules = operation(name)
        if all(isinstance(operand, int | float) for operand in operands):
            try:
                return compute(name, *operands)
            except ZeroDivisionError:  # it fails when the program runs
                pass
        elif rules.identity is not None:
            first, second = operands
            if second == rules.identity:
                return first
            if rules.commutes and first == rules.identity:
                return second
        if rules.expanded is not None and self.expands(name):
            return rules.expanded(self.apply, *operands)
        if name == CHOOSE:
            condition, left, right = operands
            if isinstance(condition, int) or left == right:
                return left if condition else right
        return self.on_values(name, [self.value(operand) for operand in operands])

    def on_values(self, name: str, values: Sequence[V]) -> V:
        """Return an operation on values, which is written once."""
        return self.once((name, *values), lambda: self.operate(name, values))

    def write(self, size: Expr) -> V:
        """Return a value that is `size`."""
        if size.constant is not None:
            return self.value(size.constant)
        value = self.find(size)
        if value is not None:
            return value
        for symbol in inner_first([size], self):  # deeply nested sums need no recursion
            self.add(Expr.of_symbol(symbol), self.write_symbol(symbol))
        value = self.find(size)
        if value is None:
            value = self.value(self._reduced("add", [self._product(*term) for term in size.terms]))
            self.add(size, value)
        return value

    def __contains__(self, symbol: Symbol) -> bool:
        return self.find(Expr.of_symbol(symbol)) is not None

    def _product(self, symbols: Sequence[Symbol], coefficient: int) -> Any:
        return self._reduced(
            "mul", [*(self.write(Expr.of_symbol(s)) for s in symbols), coefficient]
        )

    def _reduced(self, name: str, operands: Sequence[Any]) -> Any:
        return reduce(lambda left, right: self.apply(name, left, right), operands)

    def write_symbol(self, symbol: Symbol) -> V:
        """Write a symbol, whose operands are written; those that nothing computes are `leaf`."""
        if not self.computes(symbol):
            return self.leaf(symbol)
        operands = [self._operand(arg) for arg in symbol.args]
        if operation(symbol.kind).commutes:
            return self.value(self._reduced(symbol.kind, operands))
        result = self.apply(symbol.kind, *operands)
        return self.value(self.apply(CHOOSE, result, 1, 0) if symbol.kind in PREDICATES else result)

    def _operand(self, arg: object) -> object:
        if not isinstance(arg, Expr):
            return arg
        return self.write(arg) if arg.constant is None else arg.constant
