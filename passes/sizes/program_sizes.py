"""
The sizes in a program of level `manifest`, as polynomials.

    sizes = Sizes()
    sizes.size(%bytes)        4*n*m             of an i64
    sizes.dims(%y)            (n, 4)            of a tensor: what it was allocated with
    sizes.elements(%shape)    (n, 4)            of a tensor of few integers

The symbols are dims of tensors whose shape nothing in the function computes (parameters, results
of calls), elements of tensors, other i64 values, and operations that are not polynomials. Facts
are read on demand and kept: read those of an op after those of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import ConstantLike

from ...dialects import memory, relay, vm
from ...dialects.dense import Dense, numbers
from ...dialects.interfaces import DestinationPassing
from ...dialects.relay.language.control import yielded
from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names
from ...dialects.tensors import as_tensor, is_static
from ...operators.orders import PoolTotal
from ...operators.sizes import Check, SizeOp
from ...operators.sizes.algebra import Algebra
from ...operators.sizes.holds import holds
from ...operators.sizes.size_expressions import DIM, Expr
from ...operators.sizes.size_table import PREDICATES, TOTAL
from ..support.walk import outside_primitives

PACK = "pack"
"""The kind of a symbol that is a result of a `memory.pack`; its operand is `Packed`."""

MAX_ELEMENTS = 64
"""The maximum length of a tensor whose elements are followed."""

Dims: TypeAlias = tuple[Expr, ...]

Compute: TypeAlias = Callable[[Algebra, Expr, Expr], Expr]


def _size_op(op: SizeOp) -> Compute:
    return lambda algebra, left, right: algebra.binary(op, left, right)


ARITHMETIC: Mapping[type[Operation], Compute] = {
    arith.AddiOp: _size_op(SizeOp.ADD),
    arith.SubiOp: _size_op(SizeOp.SUB),
    arith.MuliOp: _size_op(SizeOp.MUL),
    arith.FloorDivSIOp: _size_op(SizeOp.FLOORDIV),
    arith.DivSIOp: Algebra.truncdiv,
    arith.RemSIOp: Algebra.truncmod,
    arith.MaxSIOp: _size_op(SizeOp.MAX),
    arith.MinSIOp: _size_op(SizeOp.MIN),
}
"""The polynomial of each operation on two i64."""


def integer(value: SSAValue) -> int | None:
    """Return the integer that `value` is, if it is a constant."""
    op = value.owner
    if isinstance(op, arith.ConstantOp):
        attr = op.value
        if isinstance(attr, IntegerAttr):
            return attr.value.data
    return None


def dense_integers(value: SSAValue, count: int) -> list[int] | None:
    """Return the elements of a constant tensor of `count` integers."""
    op = value.owner
    if not isinstance(op, Operation) or not op.has_trait(ConstantLike):
        return None
    attr = op.properties.get("value")
    if not isinstance(attr, DenseIntOrFPElementsAttr):
        return None
    found = [int(number) for number in numbers(cast(Dense, attr))]
    return found if len(found) == count else found[:1] * count


def element_count(type: Attribute) -> int | None:
    """Return the number of elements of a tensor of few integers, else None."""
    found = as_tensor(type)
    if found is None or not isinstance(found.element_type, IntegerType) or not is_static(found):
        return None
    count = prod(found.get_shape())
    return count if count <= MAX_ELEMENTS else None


def projected(value: SSAValue) -> SSAValue:
    """Return the value that `value` is, through projections of tuples."""
    while isinstance(op := value.owner, relay.TupleGetItemOp):
        made = op.tuple.owner
        if not isinstance(made, relay.TupleOp):
            break
        value = made.fields[op.index.value.data]
    return value


@dataclass(eq=False)
class Packed:
    """The results of a pack."""

    packing: memory.Packing
    sizes: Sequence[Expr]
    """Of the slices; 0 of one over others."""
    values: list[Expr] = field(default_factory=list[Expr])
    """The offset of each slice; operands of their symbols are a number, from 1, and this."""
    totals: dict[int, Expr] = field(default_factory=dict[int, Expr])
    """The total of each pool that is computed."""

    def size_of(self, i: int) -> Expr:
        """Return the size of slice `i`; that of one over others is the sum of theirs."""
        over = self.packing.rows[i].over if self.packing.rows else None
        if over is None:
            return self.sizes[i]
        (first, at), total = over, Expr.of(0)
        while True:
            total += self.size_of(at)
            before = self.packing.rows[at].beside
            if at == first or before is None:
                return total
            at = before


@dataclass
class Sizes:
    """The polynomials of sizes, dims and elements, each computed once."""

    algebra: Algebra = field(default_factory=Algebra)
    _sizes: dict[SSAValue, Expr] = field(default_factory=dict[SSAValue, Expr])
    _dims: dict[SSAValue, Dims] = field(default_factory=dict[SSAValue, Dims])
    _elements: dict[SSAValue, Dims | None] = field(default_factory=dict[SSAValue, "Dims | None"])
    _named: dict[func.FuncOp, dict[tuple[SSAValue, int], Expr]] = field(
        default_factory=dict[func.FuncOp, dict[tuple[SSAValue, int], Expr]]
    )

    def size(self, value: SSAValue) -> Expr:
        """Return the polynomial of an i64."""
        found = self._sizes.get(value)
        if found is None:
            found = self._sizes[value] = self._computed(value)
        return found

    def know(self, value: SSAValue, size: Expr) -> None:
        """Record the size of a new value."""
        self._sizes[value] = size

    def know_dims(self, value: SSAValue, dims: Dims) -> None:
        """Record the dims of the result of a call."""
        self._dims[value] = dims

    def _computed(self, value: SSAValue) -> Expr:
        op = value.owner
        constant = integer(value)
        if constant is not None:
            return Expr.of(constant)
        if value.type == i64 and isinstance(op, Operation):
            compute = ARITHMETIC.get(type(op))
            if compute is not None:
                return compute(self.algebra, *map(self.size, op.operands))
            if isinstance(op, arith.AndIOp):
                return self._masked(op)
            if isinstance(op, arith.SelectOp):
                return self._selected(op)
            if isinstance(op, tensor.ExtractOp):
                return self._extracted(op)
            if isinstance(op, relay.MeasureOp):
                return self._measured(op)
            if isinstance(op, memory.SliceOp | memory.TotalOp):
                pack = op.pack.owner
                assert isinstance(pack, memory.PackOp), "only this op makes packs"
                return self._packed(pack)[value]
        natural = isinstance(op, memory.WorkspaceSizeOp)
        return self.algebra.symbol(_shown(value), "value", (value,), natural=natural)

    def _packed(self, op: memory.PackOp) -> Mapping[SSAValue, Expr]:
        """Return the totals and the offsets of a pack."""
        packing = memory.Packing(op)
        packed = Packed(packing, self._slice_sizes(packing))
        for i, slice in enumerate(packing.slices, 1):
            symbol = self.algebra.symbol(_shown(slice.offset), PACK, (i, packed))
            packed.values.append(symbol)
            self._sizes[slice.offset] = symbol
        for total in packing.totals:
            pool = total.pool_number
            if packing.orders is None:
                size = self.algebra.symbol(_shown(total.total), PACK, (-pool, packed))
            else:
                size = self.total_of(packing, pool)
            packed.totals[pool] = self._sizes[total.total] = size
        return self._sizes

    def _slice_sizes(self, packing: memory.Packing) -> list[Expr]:
        return [
            Expr.of(size) if isinstance(size, int) else self.size(size) for size in packing.sizes
        ]

    def total_of(self, packing: memory.Packing, pool: int = 0) -> Expr:
        """Return the total of an ordered pack."""
        assert packing.orders is not None, "an ordered pack"
        layout = PoolTotal(packing.orders, pool)
        return self.algebra.apply(TOTAL, layout, *self._slice_sizes(packing))

    def _masked(self, op: arith.AndIOp) -> Expr:
        """Return `a & -64`, which is `a` rounded down to a multiple of 64, as a quotient."""
        unit = -(integer(op.rhs) or 0)
        if unit <= 0 or unit & (unit - 1):
            return self.algebra.symbol(_shown(op.result), "value", (op.result,), natural=False)
        whole = self.algebra.binary(SizeOp.FLOORDIV, self.size(op.lhs), Expr.of(unit))
        return self.algebra.binary(SizeOp.MUL, whole, Expr.of(unit))

    def _selected(self, op: arith.SelectOp) -> Expr:
        """
        Return one side if the condition is known; `a == 1 ? b : a` is a broadcast, and others are
        selections, of which those of one condition agree.
        """
        condition = self.condition(op.cond)
        left, right = self.size(op.lhs), self.size(op.rhs)
        if condition is not None:
            return left if condition else right
        if left == right:
            return left
        test = op.cond.owner
        if (
            isinstance(test, arith.CmpiOp)
            and test.predicate.value.data == 0
            and test.lhs.type == i64
            and {self.size(test.lhs), self.size(test.rhs)} == {right, Expr.of(1)}
        ):
            return self.algebra.binary(SizeOp.BROADCAST, right, left)
        less, more, holds = self._compared(op.cond)
        return self.algebra.select_less(less, more, *((left, right) if holds else (right, left)))

    def _compared(self, condition: SSAValue) -> tuple[Expr, Expr, bool]:
        """Return two sizes; `condition` holds if the first is less, or, if False, if it is not."""
        op = condition.owner
        if isinstance(op, arith.CmpiOp) and op.lhs.type == i64:
            left, right = self.size(op.lhs), self.size(op.rhs)
            match op.predicate.value.data:
                case 2:  # <
                    return left, right, True
                case 3:  # <=
                    return right, left, False
                case 4:  # >
                    return right, left, True
                case 5:  # >=
                    return left, right, False
                case _:
                    pass
            relation = PREDICATES[op.predicate.value.data : op.predicate.value.data + 1]
            for name in relation:  # == and !=
                return Expr.of(0), self.algebra.apply(name, left, right), True
        flag = self.algebra.symbol(_shown(condition), "value", (condition,))
        return Expr.of(0), flag, True

    def _extracted(self, op: tensor.ExtractOp) -> Expr:
        elements = self.elements(op.tensor) if len(op.indices) < 2 else None
        index = integer(op.indices[0]) if op.indices else 0
        if elements is not None and index is not None and 0 <= index < len(elements):
            return elements[index]
        return self.algebra.symbol("element", "value", (op.result,), natural=False)

    def _measured(self, op: relay.MeasureOp) -> Expr:
        name = op.measure.data
        given = [self._number(arg) for arg in op.args]
        known = [arg for arg in given if arg is not None]
        if len(known) == len(given):
            try:
                return self.algebra.apply(name, *known)
            except ValueError:  # it fails when the program runs
                pass
        args = [value if arg is None else arg for arg, value in zip(given, op.args, strict=True)]
        return self.algebra.opaque(name, args)

    def _number(self, value: SSAValue) -> Expr | float | None:
        """Return the size or number that `value` is, if it is known."""
        if value.type == i64:
            return self.size(value)
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
            return op.value.value.data
        return None

    def condition(self, value: SSAValue) -> bool | None:
        """Return the value of an i1, if it is certain."""
        constant = integer(value)
        if constant is not None:
            return constant != 0
        op = value.owner
        if not isinstance(op, arith.CmpiOp) or op.lhs.type != i64:
            return None
        left, right = self.size(op.lhs), self.size(op.rhs)
        predicate = op.predicate.value.data
        if predicate in (0, 1):
            equal = holds(Check.EQUAL, left, right)
            return None if equal is None else equal == (predicate == 0)
        if predicate in (2, 5):  # <, >=
            at_least = holds(Check.AT_LEAST, left, right)
            return None if at_least is None else at_least == (predicate == 5)
        if predicate in (3, 4):  # <=, >
            at_most = holds(Check.AT_MOST, left, right)
            return None if at_most is None else at_most == (predicate == 3)
        return None

    def dims(self, value: SSAValue) -> Dims:
        """Return the dims of a tensor."""
        found = self._dims.get(value)
        if found is None:
            found = self._dims[value] = self._dims_of(value)
        return found

    def _dims_of(self, value: SSAValue) -> Dims:
        type = as_tensor(value.type)
        assert type is not None, f"{value.type} has no dims"
        shape = type.get_shape()
        known = self._defined_dims(value) if DYNAMIC_INDEX in shape else None
        return tuple(
            Expr.of(dim)
            if dim != DYNAMIC_INDEX
            else self._dim_symbol(value, axis)
            if known is None
            else known[axis]
            for axis, dim in enumerate(shape)
        )

    def _defined_dims(self, value: SSAValue) -> Dims | None:
        """Return the dims that the op of `value` gives it."""
        if not isinstance(value, OpResult):
            return None
        op = value.op
        if isinstance(op, memory.AllocTensorOp | vm.ReshapeTensorOp):
            return None if op.shape is None else self.elements(op.shape)
        if isinstance(op, relay.TupleGetItemOp):
            source = projected(value)
            return None if source is value else self.dims(source)
        if isinstance(op, relay.IfOp):
            return self._joined(op, value.index)
        if op.has_trait(DestinationPassing):
            return self.dims(DestinationPassing.outs(op)[value.index])
        return None

    def _joined(self, op: relay.IfOp, index: int) -> Dims:
        """Return the dims that both branches yield; a symbol for one that they do not agree on."""
        result = op.results[index]
        one, other = (self.dims(yielded(region)[index]) for region in op.regions)
        return tuple(
            a if a == b else self._dim_symbol(result, axis)
            for axis, (a, b) in enumerate(zip(one, other, strict=True))
        )

    def _dim_symbol(self, value: SSAValue, axis: int) -> Expr:
        if isinstance(value, BlockArgument):
            function = value.block.parent_op()
            if isinstance(function, func.FuncOp) and value.block is function.body.block:
                named = self._named_dims(function).get((value, axis))
                if named is not None:
                    return named
        name = f"{value.name_hint}_dim{axis}" if value.name_hint else f"dim{axis}"
        return self.algebra.symbol(name, "dim", (value, axis))

    def _named_dims(self, function: func.FuncOp) -> dict[tuple[SSAValue, int], Expr]:
        """Return the symbols of the function's named dims: equal names are one symbol."""
        found = self._named.get(function)
        if found is not None:
            return found
        found = self._named[function] = {}
        first: dict[str, Expr] = {}
        bounds = dim_bounds(function)
        for argument, names in zip(function.args, dim_names(function), strict=False):
            for axis, name in enumerate(names):
                if isinstance(name, str):
                    if name not in first:
                        first[name] = self.algebra.symbol(
                            name, DIM, (argument, axis), range=bounds.get(name)
                        )
                    found[argument, axis] = first[name]
        return found

    def elements(self, value: SSAValue) -> Dims | None:
        """
        Return the elements of a tensor of few integers in row-major order, as far as it is
        followed; those of an i64 tensor of rank 0 or 1 always.
        """
        if value not in self._elements:
            self._elements[value] = self._elements_of(value)
        return self._elements[value]

    def _elements_of(self, value: SSAValue) -> Dims | None:
        found, type = self._made_of(value), as_tensor(value.type)
        count = element_count(value.type)
        if found is not None or count is None or type is None:
            return found
        if type.element_type != i64 or type.get_num_dims() > 1:
            return None
        return tuple(
            self.algebra.symbol(f"{_shown(value)}[{i}]", "element", (value, i), natural=False)
            for i in range(count)
        )

    def _made_of(self, value: SSAValue) -> Dims | None:
        """Return the elements of a tensor that something known computes."""
        while isinstance(value.owner, memory.CopyOp):
            value = value.owner.ins
        count = element_count(value.type)
        if count is None:
            return None
        constants = dense_integers(value, count)
        if constants is not None:
            return tuple(map(Expr.of, constants))
        op = value.owner
        if isinstance(op, vm.ShapeOfOp):
            return self.dims(op.data)
        if isinstance(op, tensor.FromElementsOp) and all(e.type == i64 for e in op.elements):
            return tuple(map(self.size, op.elements))
        return None


def _shown(value: SSAValue) -> str:
    return value.name_hint or "value"


def read_sizes(root: Operation, sizes: Sizes) -> None:
    """Read the sizes and dims in `root`, those of an op after those of its operands."""
    for op in outside_primitives(root, region_first=True):
        for result in op.results:
            if result.type == i64:
                sizes.size(result)
            elif as_tensor(result.type) is not None:
                sizes.dims(result)
