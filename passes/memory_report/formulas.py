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
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from xdsl.ir import Attribute, BlockArgument

from ...dialects.tensors import as_tensor
from ...operators.orders import Layout, PoolTotal
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import DIM, Expr, Symbol
from ...operators.sizes.size_table import OPERATIONS, SELECT, TOTAL, compute
from ...operators.sizes.writer import Writer
from ..sizes.reader import PACK, Packed, Sizes

EXAMPLE = 128
"""The example of a size, but for a batch, whose example is 1."""

BATCH_RANK = 3
"""The rank from which on the first dim of a parameter counts as a batch."""


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
    example: int = EXAMPLE
    """The value where none is given."""


class Reference(NamedTuple):
    """An operand of an operation that is an earlier step; other operands are integers."""

    step: int


class Formulas(Writer[Reference]):
    """The formulas of a function, by number; equal ones have one number."""

    def __init__(self, sizes: Sizes | None = None):
        super().__init__()
        self.sizes = sizes or Sizes()
        self.steps: list[Step] = []
        self.variables: list[Variable] = []
        self.polynomials: dict[int, Expr] = {}
        """The size of each formula that was numbered."""
        self._layouts: dict[Packed, Layout[Reference]] = {}

    def number(self, size: Expr) -> int:
        """Return the number of the formula for `size`."""
        number = self.write(size).step
        earlier = self.polynomials.get(number)
        if earlier is None or any(symbol.kind == PACK for symbol in earlier.symbols()):
            self.polynomials[number] = size  # an offset is shown as the size that it is
        return number

    def constant(self, number: int) -> int | None:
        """Return the value of formula `number`, if it is a constant."""
        step = self.steps[number]
        return step.args[0] if step.op == "const" else None

    def excess(self, size: int, over: int) -> int:
        """Return the number of the formula for `max(size - over, 0)`."""
        algebra = self.sizes.algebra
        difference = algebra.apply(SizeOp.SUB, self.polynomials[size], self.polynomials[over])
        return self.number(algebra.apply(SizeOp.MAX, difference, Expr.of(0)))

    def variables_of(self, numbers: Sequence[int]) -> list[int]:
        """Return the indices of the variables that formulas depend on, in order."""
        reached = set(numbers)
        for number in reversed(range(len(self.steps))):
            op, args = self.steps[number]
            if number in reached and op not in ("const", "var"):
                reached.update(args)
        steps = (self.steps[number] for number in reached)
        return sorted({args[0] for op, args in steps if op == "var"})

    def evaluate(self, values: Sequence[int]) -> list[int]:
        """Return the value of each formula for these values of the variables."""
        results: list[int] = []
        for op, args in self.steps:
            match op:
                case "const":
                    results.append(args[0])
                case "var":
                    results.append(values[args[0]])
                case _:
                    results.append(_computed(op, [results[arg] for arg in args]))
        return results

    def value(self, size: Any) -> Reference:
        return size if isinstance(size, Reference) else self._step("const", size)

    def operate(self, name: str, values: Sequence[Reference]) -> Reference:
        return self._step(name, *(value.step for value in values))

    def _step(self, op: str, *args: int) -> Reference:
        def make() -> Reference:
            self.steps.append(Step(op, args))
            return Reference(len(self.steps) - 1)

        return self.once((op, args), make)

    def expands(self, name: str) -> bool:
        return name in (SELECT, TOTAL)

    def computes(self, symbol: Symbol) -> bool:
        return symbol.is_computed and symbol.kind in OPERATIONS

    def leaf(self, symbol: Symbol) -> Reference:
        """Return the step of a variable, or of the offset of a slice if it is ordered."""
        number, packed = symbol.args if symbol.kind == PACK else (0, None)
        orders = packed.packing.orders if isinstance(packed, Packed) else None
        if orders is None or not isinstance(packed, Packed) or cast(int, number) <= 0:
            return self._variable(symbol)
        layout = self._layouts.get(packed)
        if layout is None:
            sizes = [Reference(self.number(size)) for size in packed.sizes]
            layout = self._layouts[packed] = PoolTotal(orders).layout(sizes, self.apply)
        return self.value(layout.offsets[cast(int, number) - 1])

    def _variable(self, symbol: Symbol) -> Reference:
        taken = {variable.name for variable in self.variables}
        name, count = symbol.name, 1
        while name in taken:
            count += 1
            name = f"{symbol.name}_{count}"
        parameter, axis, is_batch = None, 0, "batch" in symbol.name.lower()
        options = [name]
        place = symbol.args
        if symbol.kind == DIM and isinstance(place[0], BlockArgument):
            argument = cast("BlockArgument[Attribute]", place[0])
            assert isinstance(place[1], int), "a dim is that of an axis"
            parameter, axis = argument.index, place[1]
            tensor = as_tensor(argument.type)
            is_batch |= axis == 0 and tensor is not None and tensor.get_num_dims() >= BATCH_RANK
            if argument.name_hint:
                options.append(f"{argument.name_hint}:{axis}")
        example = 1 if is_batch and parameter is not None else EXAMPLE
        self.variables.append(
            Variable(name, tuple(options), parameter, axis, symbol.natural, example)
        )
        return self._step("var", len(self.variables) - 1)


def _computed(op: str, args: Sequence[int]) -> int:
    """Return the result of an operation; a quotient by 0, which no program needs, is 0."""
    try:
        return compute(op, *args)
    except ZeroDivisionError:
        return 0
