"""
Sizes as ops before any op of a program: each once for the places that it dominates.

    code.enter(op)
    code.write_at(n * 4, op, rewriter)       %n = tensor.extract %x_shape[%c0]   at the start
                                             %0 = arith.muli %n, %c4             before op
    code.write_at(n * 4, op, rewriter)       %0 again, here and where it dominates

Constants are at the start of the function, and so are the dims of its parameters; the dims of
another tensor are right after the op whose result it is.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects import vm
from ...dialects.device import VirtualDeviceAttr, tensor_type
from ...dialects.tensors import as_tensor
from ...operators.sizes.size_expressions import DIM, Dims, Expr, Symbol
from .reader import Sizes
from .scopes import Scopes
from .size_code import SizeCode, extract_op


def defining(symbol: Symbol) -> SSAValue:
    """Return the value that a symbol is, or of which it is a dim or an element."""
    return cast(SSAValue, symbol.args[0])


class ScopedCode(SizeCode):
    """
    Writes sizes as ops, each once for the places that it dominates.

    `sizes` reads the sizes of values; `scopes` has the values that hold a size.
    """

    def __init__(self, host: VirtualDeviceAttr | None, sizes: Sizes | None = None):
        super().__init__(self._insert)
        self.host = host
        self.sizes = Sizes() if sizes is None else sizes
        self.scopes = Scopes()
        self._place: tuple[Operation | None, PatternRewriter] | None = None
        self._last: dict[Block | Operation, Operation] = {}
        """The last op inserted at the start of a block, or after an op."""

    def enter(self, op: Operation) -> None:
        """Move to `op`."""
        assert op.parent is not None, "the walk visits ops in blocks"
        self.scopes.enter(op.parent)

    def find(self, key: Hashable) -> SSAValue | None:
        value = self.scopes.find(key)
        if value is None and isinstance(key, Expr):
            symbol = key.symbol
            if symbol is not None and symbol.kind == "value":
                return defining(symbol)
        return value

    def add(self, key: Hashable, value: SSAValue) -> None:
        if isinstance(key, Expr):
            self.sizes.know(value, key)
        self.scopes.add(key, value)

    def constant_at(self, attr: IntegerAttr[Any], rewriter: PatternRewriter) -> SSAValue:
        """Return the constant `attr`, which the function has once."""
        self._place = None, rewriter
        return self.constant(attr)

    def write_at(self, size: Expr, at: Operation, rewriter: PatternRewriter) -> SSAValue:
        """Return a value that holds `size`; what computes it is inserted before `at`."""
        self._place = at, rewriter
        return self.write(size)

    def shape_at(
        self, dims: Dims, type: Attribute, at: Operation, rewriter: PatternRewriter
    ) -> SSAValue:
        """Return a tensor of these dims."""
        shape = self.find((dims, type))
        if shape is None:
            elements = [self.write_at(dim, at, rewriter) for dim in dims]
            shape = self.vector(elements, type)
            self.add((dims, type), shape)
        return shape

    def emit_constant(self, op: arith.ConstantOp) -> SSAValue:
        return self._after(self.scopes.function, op)

    def leaf(self, symbol: Symbol) -> SSAValue:
        if symbol.kind == "element":
            value, index = defining(symbol), cast(int, symbol.args[1])
            type = as_tensor(value.type)
            assert type is not None
            return self.extract(value, [index][: type.get_num_dims()])
        if symbol.kind == DIM:
            return self._dim(symbol)
        values = [self.write(a) if isinstance(a, Expr) else cast(SSAValue, a) for a in symbol.args]
        return self.on_values(symbol.kind, values)  # a measure of data

    def _dim(self, symbol: Symbol) -> SSAValue:
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
            shape = self._after(place, op)
            self.scopes.add(key, shape)
        index = self.index(axis)
        dim = self._after(place, extract_op(shape, [index]))
        if SSAValue.is_valid_name(symbol.name):  # a dim may have any name
            dim.name_hint = symbol.name
        return dim

    def _insert(self, op: Operation) -> None:
        assert self._place is not None, "a size is written at an op"
        at, rewriter = self._place
        assert at is not None
        rewriter.insert(op, InsertPoint.before(at))

    def _after(self, place: Block | Operation, op: Operation) -> SSAValue:
        """Insert `op` at the start of a block, or after an op, and after those that are there."""
        assert self._place is not None, "a size is written at an op"
        last = self._last.get(place)
        if last is None and isinstance(place, Block):
            point = InsertPoint.at_start(place)
        else:
            point = InsertPoint.after(last or cast(Operation, place))
        self._place[1].insert(op, point)
        self._last[place] = op
        return op.results[0]
