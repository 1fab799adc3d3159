"""
Sizes as ops before any op of a program: each once for the places that it dominates.

    code.enter(op)
    code.write_at(n * 4, op, rewriter)       %n = tensor.extract %x_shape[%c0]   at the start
                                             %0 = arith.muli %n, %c4             before op
    code.write_at(n * 4, op, rewriter)       %0 again, here and where it dominates

Constants are at the start of the function, and so are the dims of its parameters; the dims of
another tensor are right after the op whose result it is. A value is found by what it computes, in a
walk in program order, linear in its blocks and questions whatever the nesting.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsolatedFromAbove

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr
from ...dialects.tensors import tensor_of
from ...operators.sizes.size_expressions import DIM, Dims, Expr, Symbol
from .reader import Sizes
from .size_code import SizeCode, extract_op, shape_of_op


def outer_block(block: Block) -> Block | None:
    """Return the nearest block that dominates `block`, by structure alone."""
    region = block.parent
    if region is None:
        return None
    first = region.first_block
    if first is not block:
        return first
    return None if region.parent is None else region.parent.parent


def starts_function(block: Block) -> bool:
    """Test whether `block` is the entry of a function, a closure or an isolated op."""
    op = block.parent_op()
    if op is None:
        return True
    entry = op.regions[0].first_block is block
    return entry and (isinstance(op, relay.FnOp) or op.has_trait(IsolatedFromAbove))


@dataclass
class Scopes:
    """
    The open blocks, the innermost last, and the values known by key.

    A block is open while the walk is in it or in a region below it; the first block of a region is
    open in the others too, as it dominates them. A value outside a closure or an isolated op is
    not found inside.
    """

    _open: list[Block] = field(default_factory=lambda: [])
    _function: list[int] = field(default_factory=lambda: [])
    """For each open block, the index of the entry of its function."""
    _index: dict[Block, int] = field(default_factory=lambda: {})
    _known: dict[Hashable, list[tuple[SSAValue, Block]]] = field(default_factory=lambda: {})

    def enter(self, block: Block) -> None:
        """Move to `block`; the walk must not return to a block that it has left."""
        if self._open and self._open[-1] is block:
            return
        path: list[Block] = []
        node: Block | None = block
        while node is not None and node not in self._index:
            path.append(node)
            node = outer_block(node)
        keep = 0 if node is None else self._index[node] + 1
        while len(self._open) > keep:
            self._function.pop()
            del self._index[self._open.pop()]
        for node in reversed(path):
            at = len(self._open)
            self._index[node] = at
            self._open.append(node)
            self._function.append(at if starts_function(node) else self._function[-1])

    @property
    def function(self) -> Block:
        """The entry block of the function that the walk is in."""
        return self._open[self._function[-1]]

    def is_local(self, block: Block) -> bool:
        """Test whether `block` is open, in the same function."""
        return self._index.get(block, -1) >= self._function[-1]

    def find(self, key: Hashable) -> SSAValue | None:
        """Return the value of `key` that dominates, if there is one."""
        entries = self._known.get(key)
        while entries and entries[-1][1] not in self._index:
            entries.pop()
        if not entries or not self.is_local(entries[-1][1]):
            return None
        return entries[-1][0]

    def add(self, key: Hashable, value: SSAValue, block: Block | None = None) -> None:
        """Record the value of `key`, visible in `block`, which is open: by default its own."""
        if block is None:
            block = value.owner if isinstance(value.owner, Block) else value.owner.parent
        assert block is not None, "a detached value dominates nothing"
        self._known.setdefault(key, []).append((value, block))


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
        self._place = at, rewriter
        return self.once((dims, type), lambda: self.vector([*map(self.write, dims)], type))

    def emit_constant(self, op: arith.ConstantOp) -> SSAValue:
        return self._after(self.scopes.function, op)

    def leaf(self, symbol: Symbol) -> SSAValue:
        if symbol.kind == "element":
            value, index = defining(symbol), cast(int, symbol.args[1])
            return self.extract(value, [index][: tensor_of(value).get_num_dims()])
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
        shape = self.once(("shape", value), lambda: self._shape(value, place))
        dim = self._after(place, extract_op(shape, [self.index(axis)]))
        if SSAValue.is_valid_name(symbol.name):  # a dim may have any name
            dim.name_hint = symbol.name
        return dim

    def _shape(self, value: SSAValue, place: Block | Operation) -> SSAValue:
        op = shape_of_op(value, self.host)
        op.results[0].name_hint = f"{value.name_hint}_shape" if value.name_hint else "shape"
        return self._after(place, op)

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
