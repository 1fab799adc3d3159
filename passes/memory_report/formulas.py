"""
Sizes as formulas that are evaluated for given dims, here and in a page.

    n * 32 + max(n, 4)        0  var 0            n
                              1  const 32
                              2  mul 0 1
                              3  const 4
                              4  max 0 3
                              5  add 2 4

Each step names an operation of the table of sizes and earlier steps, so evaluation is one pass over
a list. A size that nothing in the function computes is a variable, and so is a measure of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple, cast

from xdsl.ir import Attribute, BlockArgument

from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import DIM, Expr, Symbol, inner_first
from ...operators.sizes.size_table import OPERATIONS, SELECT, TOTAL, compute, operation
from ..sizes.reader import Sizes


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


class Reference(NamedTuple):
    """An operand of an operation that is an earlier step; other operands are integers."""

    step: int


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

    def add(self, size: Expr) -> int:
        """Return the number of the formula for `size`."""
        for symbol in inner_first([size], self._symbols):
            self._symbols[symbol] = self._of_symbol(symbol)
        number = self._sum(size)
        self.polynomials.setdefault(number, size)
        return number

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
                total = self._operation("add", total, number)
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
        results: list[int] = []
        for op, args in self.steps:
            if op == "const":
                results.append(args[0])
            elif op == "var":
                results.append(values[args[0]])
            else:
                results.append(_computed(op, [results[arg] for arg in args]))
        return results

    def _step(self, op: str, *args: int) -> int:
        step = Step(op, args)
        number = self._known.get(step)
        if number is None:
            number = self._known[step] = len(self.steps)
            self.steps.append(step)
        return number

    def _operation(self, op: str, *args: int) -> int:
        """Return the number of the formula for an operation on earlier steps."""
        constants = [self.constant(arg) for arg in args]
        known = [constant for constant in constants if constant is not None]
        if len(known) == len(args):
            return self._step("const", _computed(op, known))
        rules = operation(op)
        for first, other in ((0, 1), (1, 0))[: 1 + rules.commutes]:
            if len(args) == 2 and rules.identity is not None and constants[other] == rules.identity:
                return args[first]
        return self._step(op, *args)

    def _apply(self, op: str, *operands: Any) -> Reference:
        """Add an operation on steps and integers, and of `TOTAL` a layout."""
        expanded = operation(op).expanded if op in (SELECT, TOTAL) else None
        if expanded is not None:
            return expanded(self._apply, *operands)
        steps = [o.step if isinstance(o, Reference) else self._step("const", o) for o in operands]
        return Reference(self._operation(op, *steps))

    def _sum(self, size: Expr) -> int:
        terms = [
            reduce(
                lambda term, symbol: self._operation("mul", term, self._symbols[symbol]),
                monomial,
                self._step("const", coefficient),
            )
            for monomial, coefficient in size.terms
        ]
        if not terms:
            return self._step("const", 0)
        return reduce(lambda total, term: self._operation("add", total, term), terms)

    def _of_symbol(self, symbol: Symbol) -> int:
        if symbol.kind not in OPERATIONS or not symbol.is_computed:
            return self._variable(symbol)
        layout = symbol.args[: symbol.kind == TOTAL]
        operands = [Reference(self._sum(operand)) for operand in symbol.operands]
        if operation(symbol.kind).commutes:
            return reduce(lambda a, b: self._apply(symbol.kind, a, b), operands).step
        return self._apply(symbol.kind, *layout, *operands).step

    def _variable(self, symbol: Symbol) -> int:
        taken = {variable.name for variable in self.variables}
        name, count = symbol.name, 1
        while name in taken:
            count += 1
            name = f"{symbol.name}_{count}"
        parameter, axis = None, 0
        options = [name]
        place = symbol.args
        if symbol.kind == DIM and isinstance(place[0], BlockArgument):
            argument = cast("BlockArgument[Attribute]", place[0])
            assert isinstance(place[1], int), "a dim is that of an axis"
            parameter, axis = argument.index, place[1]
            if argument.name_hint:
                options.append(f"{argument.name_hint}:{axis}")
        self.variables.append(Variable(name, tuple(options), parameter, axis, symbol.natural))
        return self._step("var", len(self.variables) - 1)


def _computed(op: str, args: Sequence[int]) -> int:
    """Return the result of an operation; a quotient by 0, which no program needs, is 0."""
    try:
        return compute(op, *args)
    except ZeroDivisionError:
        return 0
