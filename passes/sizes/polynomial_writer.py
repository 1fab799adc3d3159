"""
Write sizes, given as polynomials, as ops: each once for the places that it dominates.

    writer.enter(op)
    writer.write(n * 4, op, rewriter)        %n = tensor.extract %x_shape[%c0]   at the start
                                             %0 = arith.muli %n, %c4             before op
    writer.write(n * 4, op, rewriter)        %0 again, here and where it dominates

Constants are at the start of the function, and so are the dims of its parameters; the dims of
another tensor are right after the op whose result it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects import relay, vm
from ...dialects.device import VirtualDeviceAttr, tensor_type
from ...dialects.tensors import as_tensor
from ...operators.measures import MEASURES
from ...operators.sizes import SizeOp
from ...operators.sizes.size_expressions import Expr, Monomial, Symbol
from .program_sizes import Dims, Sizes
from .scopes import Scopes

OPERATIONS: Mapping[str, Callable[[SSAValue, SSAValue], Operation]] = {
    SizeOp.ADD: arith.AddiOp,
    SizeOp.SUB: arith.SubiOp,
    SizeOp.MUL: arith.MuliOp,
    SizeOp.FLOORDIV: arith.FloorDivSIOp,
    SizeOp.MAX: arith.MaxSIOp,
    SizeOp.MIN: arith.MinSIOp,
    "truncdiv": arith.DivSIOp,
    "truncmod": arith.RemSIOp,
}
"""The op for each kind of symbol that is an operation on two sizes."""

Integer: TypeAlias = "IntegerAttr[Any]"


def defining(symbol: Symbol) -> SSAValue:
    """Return the value that a symbol is, or of which it is a dim or an element."""
    return cast(SSAValue, symbol.args[0])


def constant_name(attr: Integer) -> str:
    """Return the hint for a constant: `%c4`, or `%i4` for an index."""
    letter, value = "i" if isinstance(attr.type, IndexType) else "c", attr.value.data
    return f"{letter}{value}" if value >= 0 else letter


@dataclass
class Writer:
    """
    Writes sizes as ops, each once for the places that it dominates.

    `sizes` reads the sizes of values; `scopes` has the values that hold a size.
    """

    host: VirtualDeviceAttr | None
    sizes: Sizes = field(default_factory=Sizes)
    scopes: Scopes = field(default_factory=Scopes)
    _last: dict[Block | Operation, Operation] = field(
        default_factory=dict[Block | Operation, Operation]
    )
    """The last op inserted at the start of a block, or after an op."""

    def enter(self, op: Operation) -> None:
        """Move to `op`."""
        assert op.parent is not None, "the walk visits ops in blocks"
        self.scopes.enter(op.parent)

    def find(self, size: Expr) -> SSAValue | None:
        """Return a value that holds `size` at the current op."""
        found = self.scopes.find(size)
        symbol = size.symbol
        if found is None and symbol is not None and symbol.kind == "value":
            found = defining(symbol)
        return found

    def constant(self, attr: Integer, rewriter: PatternRewriter) -> SSAValue:
        """Return the constant `attr`, which the function has once."""
        found = self.scopes.find(attr)
        if found is None:
            op = arith.ConstantOp.create(properties={"value": attr}, result_types=[attr.type])
            op.results[0].name_hint = constant_name(attr)
            found = self._at_start(self.scopes.function, op, rewriter)
            self.scopes.add(attr, found)
            if attr.type == i64:
                self.sizes.know(found, Expr.of(attr.value.data))
        return found

    def write(self, size: Expr, at: Operation, rewriter: PatternRewriter) -> SSAValue:
        """Return a value that holds `size`; what computes it is inserted before `at`."""
        constant = size.constant
        if constant is not None:
            return self.constant(IntegerAttr(constant, i64), rewriter)
        found = self.find(size)
        if found is None:
            symbol = size.symbol
            if symbol is None:
                found = self._sum(size, at, rewriter)
            elif symbol.kind == "dim":
                found = self._dim(symbol, rewriter)
            else:
                found = self._operation(symbol, at, rewriter)
            self.know(found, size)
        return found

    def know(self, value: SSAValue, size: Expr) -> None:
        """Record that `value` holds `size`."""
        self.sizes.know(value, size)
        self.scopes.add(size, value)

    def _sum(self, size: Expr, at: Operation, rewriter: PatternRewriter) -> SSAValue:
        terms = [self._product(*term, at, rewriter) for term in size.terms]
        result = terms[0]
        for term in terms[1:]:
            result = self._insert(arith.AddiOp(result, term), at, rewriter)
        return result

    def _product(
        self, monomial: Monomial, coefficient: int, at: Operation, rewriter: PatternRewriter
    ) -> SSAValue:
        factors = [self.write(Expr((((s,), 1),)), at, rewriter) for s in monomial]
        if coefficient != 1 or not factors:
            factors.append(self.constant(IntegerAttr(coefficient, i64), rewriter))
        result = factors[0]
        for factor in factors[1:]:
            result = self._insert(arith.MuliOp(result, factor), at, rewriter)
        return result

    def _operation(self, symbol: Symbol, at: Operation, rewriter: PatternRewriter) -> SSAValue:
        if symbol.kind == "element":
            index = cast(int, symbol.args[1])
            return self._insert(self._extract(defining(symbol), index, rewriter), at, rewriter)
        values = [
            self.write(arg, at, rewriter) if isinstance(arg, Expr) else cast(SSAValue, arg)
            for arg in symbol.args
        ]
        if symbol.kind in MEASURES:
            return self._insert(relay.MeasureOp(symbol.kind, values), at, rewriter)
        left, right = values
        if symbol.kind == SizeOp.BROADCAST:
            one = self.constant(IntegerAttr(1, i64), rewriter)
            is_one = self._insert(arith.CmpiOp(left, one, "eq"), at, rewriter)
            return self._insert(arith.SelectOp(is_one, right, left), at, rewriter)
        if symbol.kind == SizeOp.MOD:  # rounds down, as `arith.remsi` does not
            quotient = self._insert(arith.FloorDivSIOp(left, right), at, rewriter)
            whole = self._insert(arith.MuliOp(quotient, right), at, rewriter)
            return self._insert(arith.SubiOp(left, whole), at, rewriter)
        made = OPERATIONS[symbol.kind](left, right)
        return self._insert(made, at, rewriter)

    def _dim(self, symbol: Symbol, rewriter: PatternRewriter) -> SSAValue:
        """Read a dim where its tensor is defined, or at the start of a closure that captures it."""
        value, axis = defining(symbol), cast(int, symbol.args[1])
        home = value.owner if isinstance(value.owner, Block) else value.owner.parent
        place: Block | Operation = value.owner
        if home is None or not self.scopes.is_local(home):
            place = self.scopes.function
        key = "shape", value
        shape = self.scopes.find(key)
        if shape is None:
            tensor = as_tensor(value.type)
            assert tensor is not None
            type = tensor_type(i64, [tensor.get_num_dims()], self.host)
            op = vm.ShapeOfOp.create(operands=[value], result_types=[type])
            op.results[0].name_hint = f"{value.name_hint}_shape" if value.name_hint else "shape"
            shape = self._at(place, op, rewriter)
            self.scopes.add(key, shape)
        found = self._at(place, self._extract(shape, axis, rewriter), rewriter)
        if SSAValue.is_valid_name(symbol.name):  # a dim may have any name
            found.name_hint = symbol.name
        return found

    def _extract(self, shape: SSAValue, index: int, rewriter: PatternRewriter) -> Operation:
        type = as_tensor(shape.type)
        assert type is not None
        indices = [self.constant(IntegerAttr(index, IndexType()), rewriter)]
        return tensor.ExtractOp.create(
            operands=[shape, *indices[: type.get_num_dims()]], result_types=[i64]
        )

    def shape(
        self, dims: Dims, type: Attribute, at: Operation, rewriter: PatternRewriter
    ) -> SSAValue:
        """Return a tensor of these dims."""
        found = self.scopes.find((dims, type))
        if found is None:
            values = [self.write(dim, at, rewriter) for dim in dims]
            op = tensor.FromElementsOp.create(operands=values, result_types=[type])
            found = self._insert(op, at, rewriter)
            self.scopes.add((dims, type), found)
        return found

    def _insert(self, op: Operation, at: Operation, rewriter: PatternRewriter) -> SSAValue:
        rewriter.insert(op, InsertPoint.before(at))
        return op.results[0]

    def _at(self, place: Block | Operation, op: Operation, rewriter: PatternRewriter) -> SSAValue:
        if isinstance(place, Block):
            return self._at_start(place, op, rewriter)
        rewriter.insert(op, InsertPoint.after(self._last.get(place, place)))
        self._last[place] = op
        return op.results[0]

    def _at_start(self, block: Block, op: Operation, rewriter: PatternRewriter) -> SSAValue:
        last = self._last.get(block)
        point = InsertPoint.at_start(block) if last is None else InsertPoint.after(last)
        rewriter.insert(op, point)
        self._last[block] = op
        return op.results[0]
