"""
Sizes as formulas that are evaluated for given dims, here and in a page.

    n * 32 + max(n, 4)        0  var 0            n
                              1  const 32
                              2  mul 0 1
                              3  const 4
                              4  max 0 3
                              5  add 2 4

Each step names an operation and earlier steps, so evaluation is one pass over a list. A size that
nothing in the function computes is a variable, and so is a measure of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, BlockArgument, SSAValue

from ...operators.orders import Layout, Orders, PoolTotal
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import TOTAL, Expr, Symbol
from ..sizes import polynomials
from ..sizes.program_sizes import PACK, Packed, Sizes


class Step(NamedTuple):
    """An operation on the results of earlier steps; of `const` the value, of `var` the index."""

    op: str
    args: tuple[int, ...]


@dataclass(frozen=True)
class Variable:
    """A size that must be given."""

    name: str
    options: tuple[str, ...]
    """The names by which a value is given: `n`, `x:0`."""
    parameter: int | None
    """The parameter whose dim it is."""
    axis: int
    natural: bool
    """True if it is at least 0."""


def _truncdiv(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


BINARY: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "truncdiv": _truncdiv,
    "truncmod": lambda a, b: a - b * _truncdiv(a, b),
    "max": max,
    "min": min,
    "broadcast": lambda a, b: b if a == 1 else a,
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "gt": lambda a, b: int(a > b),
    "ge": lambda a, b: int(a >= b),
}
"""The operations on two sizes; a quotient by 0 is 0, as the program stops before it needs one."""

SELECT = "select"
"""The second size if the first is not 0, else the third."""


def compute(op: str, args: Sequence[int]) -> int:
    """Return the result of an operation."""
    if op == SELECT:
        return args[1] if args[0] else args[2]
    return BINARY[op](args[0], args[1])


PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge")
"""The signed predicates of `arith.cmpi`, by number."""


@dataclass(eq=False)
class Formulas:
    """The formulas of a function, by number; equal ones have one number."""

    sizes: Sizes = field(default_factory=Sizes)
    steps: list[Step] = field(default_factory=list[Step])
    variables: list[Variable] = field(default_factory=list[Variable])
    polynomials: dict[int, Expr] = field(default_factory=dict[int, Expr])
    """The size of each formula that was added."""
    _known: dict[Step, int] = field(default_factory=dict[Step, int])
    _symbols: dict[Symbol, int] = field(default_factory=dict[Symbol, int])
    _packs: dict[tuple[Orders, tuple[int, ...]], Layout[_Formula]] = field(
        default_factory=dict[tuple[Orders, tuple[int, ...]], "Layout[_Formula]"]
    )

    def add(self, size: Expr) -> int:
        """Return the number of the formula for `size`."""
        for symbol in _operands_first(size.symbols(), self._symbols, self._parts):
            self._symbols[symbol] = self._of_symbol(symbol)
        found = self._polynomial(size)
        self.polynomials.setdefault(found, size)
        return found

    def constant(self, number: int) -> int | None:
        """Return the value of formula `number`, if it is a constant."""
        step = self.steps[number]
        return step.args[0] if step.op == "const" else None

    def sum(self, numbers: Sequence[int]) -> int:
        """Return the number of the formula for a sum, whose constants are added up."""
        known = [self.constant(number) for number in numbers]
        total = self._step("const", sum(value for value in known if value is not None))
        for number, value in zip(numbers, known, strict=True):
            if value is None:
                total = self._binary("add", total, number)
        return total

    def excess(self, size: int, over: int) -> int:
        """Return the number of the formula for `max(size - over, 0)`."""
        algebra = self.sizes.algebra
        more = algebra.binary(SizeOp.SUB, self.polynomials[size], self.polynomials[over])
        return self.add(algebra.binary(SizeOp.MAX, more, Expr.of(0)))

    def variables_of(self, numbers: Sequence[int]) -> list[int]:
        """Return the indices of the variables that formulas depend on, in order."""
        reached: set[int] = set()
        found: set[int] = set()
        pending = list(numbers)
        while pending:
            number = pending.pop()
            if number in reached:
                continue
            reached.add(number)
            step = self.steps[number]
            if step.op == "var":
                found.add(step.args[0])
            elif step.op != "const":
                pending += step.args
        return sorted(found)

    def evaluate(self, values: Sequence[int]) -> list[int]:
        """Return the value of each formula for these values of the variables."""
        found: list[int] = []
        for op, args in self.steps:
            if op == "const":
                found.append(args[0])
            elif op == "var":
                found.append(values[args[0]])
            else:
                found.append(compute(op, [found[arg] for arg in args]))
        return found

    def _step(self, op: str, *args: int) -> int:
        step = Step(op, args)
        found = self._known.get(step)
        if found is None:
            found = self._known[step] = len(self.steps)
            self.steps.append(step)
        return found

    def _binary(self, op: str, left: int, right: int) -> int:
        a, b = self.constant(left), self.constant(right)
        if a is not None and b is not None:
            return self._step("const", BINARY[op](a, b))
        if op == "add" and (a == 0 or b == 0):
            return right if a == 0 else left
        if op == "max" and (a == 0 or b == 0) and self._is_natural(right if a == 0 else left):
            return right if a == 0 else left
        if op == "mul" and (a == 1 or b == 1):
            return right if a == 1 else left
        return self._step(op, left, right)

    def _select(self, test: int, left: int, right: int) -> int:
        holds = self.constant(test)
        if holds is None and left != right:
            return self._step(SELECT, test, left, right)
        return left if holds else right

    def _is_natural(self, number: int) -> bool:
        """Test whether formula `number` is at least 0 whatever the sizes are."""
        op, args = self.steps[number]
        if op == "const":
            return args[0] >= 0
        if op == "var":
            return self.variables[args[0]].natural
        return op in ("add", "mul", "max", "floordiv") and all(map(self._is_natural, args))

    def _polynomial(self, size: Expr) -> int:
        total: int | None = None
        for monomial, coefficient in size.terms:
            term = self._step("const", coefficient)
            for symbol in monomial:
                term = self._binary("mul", term, self._symbols[symbol])
            total = term if total is None else self._binary("add", total, term)
        return self._step("const", 0) if total is None else total

    def _parts(self, symbol: Symbol) -> list[Expr] | None:
        """Return the operands of the operation that `symbol` is; None if it is a variable."""
        if (pack := _pack_of(symbol)) is not None:
            return list(pack[1])
        if symbol.kind in BINARY or symbol.kind == polynomials.SELECT:
            parts = [arg for arg in symbol.args if isinstance(arg, Expr)]
            return parts if len(parts) == len(symbol.args) else None
        test = _comparison_of(symbol)
        return None if test is None else [self.sizes.size(value) for value in test.operands]

    def _of_symbol(self, symbol: Symbol) -> int:
        parts = self._parts(symbol)
        if parts is None:
            return self._variable(symbol)
        numbers = [self._polynomial(part) for part in parts]
        if (pack := _pack_of(symbol)) is not None:
            layout, _, i = pack
            laid_out = self._laid_out(layout, tuple(numbers))
            return self._number(laid_out.offsets[i - 1] if i else laid_out.totals[layout.pool])
        if symbol.kind == polynomials.SELECT:
            less, more, left, right = numbers
            return self._select(self._binary("lt", less, more), left, right)
        test = _comparison_of(symbol)
        kind = symbol.kind if test is None else PREDICATES[test.predicate.value.data]
        return reduce(lambda left, right: self._binary(kind, left, right), numbers)

    def _laid_out(self, layout: PoolTotal, sizes: tuple[int, ...]) -> Layout[_Formula]:
        """Return the formulas of the totals and the offsets of an ordered pack."""
        found = self._packs.get((layout.orders, sizes))
        if found is None:
            found = layout.layout([_Formula(size) for size in sizes], self._apply)
            self._packs[layout.orders, sizes] = found
        return found

    def _apply(self, op: str, *operands: _Formula | int) -> _Formula:
        """Add the formula of an operation of a layout, on formulas and constants."""
        numbers = [self._number(operand) for operand in operands]
        if op == "select":
            less, more, left, right = numbers
            return _Formula(self._select(self._binary("lt", less, more), left, right))
        if op == "align":
            at, unit = numbers
            below = self._binary("sub", unit, self._step("const", 1))
            up = self._binary("floordiv", self._binary("add", at, below), unit)
            return _Formula(self._binary("mul", up, unit))
        return _Formula(self._binary(op, *numbers))

    def _number(self, operand: object) -> int:
        if isinstance(operand, _Formula):
            return operand.number
        assert isinstance(operand, int)
        return self._step("const", operand)

    def _variable(self, symbol: Symbol) -> int:
        taken = {variable.name for variable in self.variables}
        name, count = symbol.name, 1
        while name in taken:
            count += 1
            name = f"{symbol.name}_{count}"
        parameter, axis = None, 0
        options = [name]
        place = symbol.args
        if symbol.kind == "dim" and isinstance(place[0], BlockArgument):
            argument = cast("BlockArgument[Attribute]", place[0])
            assert isinstance(place[1], int), "a dim is that of an axis"
            parameter, axis = argument.index, place[1]
            if argument.name_hint:
                options.append(f"{argument.name_hint}:{axis}")
        self.variables.append(Variable(name, tuple(options), parameter, axis, symbol.natural))
        return self._step("var", len(self.variables) - 1)


class _Formula(NamedTuple):
    """A formula by its number: an operand that is not a constant."""

    number: int


def _pack_of(symbol: Symbol) -> tuple[PoolTotal, Sequence[Expr], int] | None:
    """Return the layout and sizes of a pack, and i if `symbol` is offset i - 1, 0 of a total."""
    if symbol.kind == TOTAL:
        layout, *sizes = symbol.args
        return cast(PoolTotal, layout), [size for size in sizes if isinstance(size, Expr)], 0
    if symbol.kind == PACK:
        number, packed = symbol.args
        if isinstance(packed, Packed) and packed.packing.orders is not None:
            return PoolTotal(packed.packing.orders), packed.sizes, cast(int, number)
    return None


def _comparison_of(symbol: Symbol) -> arith.CmpiOp | None:
    """Return the comparison of sizes whose result, 0 or 1, `symbol` stands for."""
    value = symbol.args[0] if symbol.kind == "value" else None
    test = value.owner if isinstance(value, SSAValue) else None
    if not isinstance(test, arith.CmpiOp) or test.lhs.type != i64:
        return None
    return test if test.predicate.value.data < len(PREDICATES) else None


def _operands_first(
    roots: Sequence[Symbol],
    known: Mapping[Symbol, int],
    parts: Callable[[Symbol], list[Expr] | None],
) -> Iterator[Symbol]:
    """Yield `roots` and the symbols in their operands that are not `known`, operands first."""
    pending = [(symbol, False) for symbol in reversed(roots)]
    while pending:
        symbol, ready = pending.pop()
        if symbol in known:
            continue
        if ready:
            yield symbol
            continue
        pending.append((symbol, True))
        inner = [s for part in parts(symbol) or () for s in part.symbols()]
        pending += [(s, False) for s in reversed(inner) if s not in known]
