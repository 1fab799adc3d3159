"""Sizes that are written as IR: they read as what was written, and compute it."""

import random
from collections.abc import Callable

import pytest
from helpers.programs.every_case import seeds
from helpers.programs.shallow_stack import LEVELS, shallow_stack
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, i64
from xdsl.ir import Block, Region, SSAValue

from xrelay.operators.orders import Orders, PoolTotal
from xrelay.operators.sizes.algebra import Algebra
from xrelay.operators.sizes.size_expressions import Expr, Symbol, Values, free_symbols
from xrelay.operators.sizes.size_table import ALIGN, CHOOSE, OPERATIONS, PREDICATES, SELECT, TOTAL
from xrelay.operators.sizes.size_table import Operation as SizeOperation
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.sizes.reader import Sizes
from xrelay.passes.sizes.size_code import SizeCode
from xrelay.passes.support.verifier import verify

NAMES = ("n", "m", "k")


class Parameters(SizeCode):
    """Writes sizes of three parameters, in a function of its own."""

    def __init__(self):
        self.block = Block(arg_types=[i64] * len(NAMES))
        super().__init__(self.block.add_op)
        self.sizes = Sizes()
        self.values: dict[Symbol, SSAValue] = {}
        for name, argument in zip(NAMES, self.block.args, strict=True):
            size = self.sizes.algebra.symbol(name)
            self.sizes.know(argument, size)
            assert size.symbol is not None
            self.values[size.symbol] = argument

    @property
    def leaves(self) -> list[Expr]:
        return [Expr.of_symbol(symbol) for symbol in self.values]

    def leaf(self, symbol: Symbol) -> SSAValue:
        return self.values[symbol]

    def module(self, results: list[SSAValue]) -> ModuleOp:
        self.block.add_op(func.ReturnOp(*results))
        type = FunctionType.from_lists([i64] * len(NAMES), [i64] * len(results))
        module = ModuleOp([func.FuncOp("main", type, Region(self.block))])
        verify(module)
        return module


MEASURED: dict[str, Callable[[random.Random], list[int]]] = {
    "slice_length": lambda rng: [rng.randrange(-9, 9), rng.randrange(-9, 99), rng.choice([-2, 1])],
    "sized_slice_length": lambda rng: [rng.randrange(-9, 9), rng.choice([-1, 5])],
    "arange_length": lambda rng: [rng.randrange(99), rng.choice([-3, 1, 2])],
}
"""The arguments of measures after a dim, for which they have a value."""

SIZE_OPERATIONS = sorted({*OPERATIONS, *MEASURED} - {TOTAL})
"""Those that are read as they are written; the total of a pack is written as others."""


def random_size(rng: random.Random, algebra: Algebra, leaves: list[Expr]) -> Expr:
    """Return a random expression, in which every operation may be."""
    sizes = [*leaves, *map(Expr.of, (0, 1, 2, 7, 64))]
    for _ in range(rng.randrange(1, 12)):
        op = rng.choice(SIZE_OPERATIONS)
        operands: list[Expr | int] = [*rng.choices(sizes, k=4)]
        if op in MEASURED:
            operands = [rng.choice(leaves), *MEASURED[op](rng)]
        elif op == CHOOSE:
            operands = [algebra.apply(rng.choice(PREDICATES), *operands[:2]), *operands[2:]]
        elif op in ("floordiv", "mod", "truncdiv", "truncmod", "ceildiv", ALIGN):
            operands = [operands[0], rng.choice([2, 3, 64])]
        elif op != SELECT:
            operands = operands[:2]
        sizes.append(algebra.apply(op, *operands))
    return sizes[-1]


@seeds(300)
def test_what_is_written_reads_as_it_was_and_computes_it(seed: int):
    rng = random.Random(seed)
    code = Parameters()
    written = [random_size(rng, code.sizes.algebra, code.leaves) for _ in range(3)]
    values = [code.write(size) for size in written]
    assert [code.sizes.size(value) for value in values] == written
    module = code.module(values)
    for _ in range(4):
        point = [rng.randrange(1, 40) for _ in NAMES]
        expected = Values(dict(zip(code.values, point, strict=True)))
        assert [int(v) for v in evaluate(module, point)] == [expected.of(size) for size in written]


@seeds(50)
def test_each_operation_is_written_once(seed: int):
    rng = random.Random(seed)
    code = Parameters()
    sizes = [random_size(rng, code.sizes.algebra, code.leaves) for _ in range(3)]
    values = [code.write(size) for size in sizes]
    count = len(code.block.ops)
    assert [code.write(size) for size in sizes] == values
    assert len(code.block.ops) == count
    keys = [(op.name, tuple(op.operands), *op.properties.items()) for op in code.block.ops]
    assert len(set(keys)) == len(keys)


@seeds(50)
def test_the_total_of_a_pack_is_written_as_arithmetic(seed: int):
    rng = random.Random(seed)
    code = Parameters()
    orders = tuple(
        tuple(tuple(j for j in range(i) if rng.random() < 0.6) for i in range(5))
        for _ in range(rng.randrange(1, 4))
    )
    slices = [rng.choice(code.leaves) * 4 + rng.randrange(-9, 9) for _ in range(5)]
    total = code.sizes.algebra.apply("total", PoolTotal(Orders(64, orders)), *slices)
    module = code.module([code.write(total)])
    point = [rng.randrange(1, 200) for _ in NAMES]
    expected = Values(dict(zip(code.values, point, strict=True))).of(total)
    assert [int(v) for v in evaluate(module, point)] == [expected]


def test_many_sums_in_each_other_are_written_without_recursion():
    code, total = Parameters(), Expr(())
    for i in range(LEVELS):
        total = code.sizes.algebra.apply("max", total + i % 7, code.leaves[i % 3] * (i % 5 + 1))
        total = code.sizes.algebra.apply("floordiv", total, 2)
    with shallow_stack():
        module = code.module([code.write(total)])
    assert evaluate(module, [9, 8, 7])[0] >= 0


def test_an_operation_is_one_line_in_the_table(monkeypatch: pytest.MonkeyPatch):
    """It is then read, written, evaluated, and in the formulas of reports."""
    from xrelay.passes.memory_report.formulas import Formulas

    monkeypatch.setitem(OPERATIONS, "shl", SizeOperation(int.__lshift__, arith="arith.shli"))
    code = Parameters()
    algebra = code.sizes.algebra
    n, m, _ = code.leaves
    size = algebra.apply("max", algebra.apply("shl", n, m) * 4, 100)
    value = code.write(size)
    assert "arith.shli" in [op.name for op in code.block.ops]
    assert code.sizes.size(value) == size
    assert algebra.apply("shl", 3, 4) == Expr.of(48)
    symbols = free_symbols([size])
    assert Values(dict(zip(symbols, (5, 3), strict=True))).of(size) == 160
    formulas = Formulas(code.sizes)
    number = formulas.number(size)
    assert formulas.evaluate([5, 3])[number] == 160
