"""
Sizes that leave behind the IR that computes them, so that a shape rule becomes a shape function.

    dim = trace.dim(n)       # an i64 of the program
    trace.value(dim * 4)     # emits  %c4 = arith.constant 4 : i64
                             #        %0 = arith.muli %n, %c4 : i64

A `TracedDim` is a node of a graph: nothing is emitted before its value is needed, by a result, a
check or another node. Equal computations are one node; integers never become nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    Signedness,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr, tensor_type
from ...dialects.tensors import AnyInteger, as_tensor
from ...dialects.type_rules import operand_of
from ...operators.signature import Tensor
from ...operators.sizes import UNKNOWN, Check, Dim, Shape, Size, SizeOp

MAX_SHOWN = 4
"""The number of operands whose types an error shows."""

Operand: TypeAlias = "int | float | TracedDim"
"""An operand of a node: a number, or another node."""

Emit: TypeAlias = Callable[[Sequence[SSAValue]], SSAValue]
"""Emits the op of a node, given the values of its operands; returns its result."""


class TracedDim(Dim):
    """A size that is the result of an op. Of a `Trace`, nodes with equal keys are one."""

    __slots__ = ("emit", "location", "number", "operands", "trace", "value")

    def __init__(self, trace: Trace, operands: Sequence[Operand], emit: Emit):
        self.trace = trace
        self.operands = operands
        self.emit = emit
        self.location = trace.location
        self.number = trace.count()
        self.value: SSAValue | None = None

    def binary(self, op: SizeOp, left: Size, right: Size) -> Size:
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        return self.trace.binary(op, left, right)

    def require(self, check: Check, left: Size, right: Size, message: str) -> None:
        if left is not UNKNOWN and right is not UNKNOWN:
            self.trace.require(check, left, right, message)

    def measure(self, name: str, args: Sequence[Size | float]) -> Size:
        if UNKNOWN in args:
            return UNKNOWN
        return self.trace.measure(name, [_known(arg) for arg in args])

    def __repr__(self) -> str:
        return f"<traced size {self.number}>"


def _known(arg: Size | float) -> Operand:
    assert not isinstance(arg, Dim) or isinstance(arg, TracedDim), "a size of another reader"
    return arg


_ARITH: dict[SizeOp, type[Operation]] = {
    SizeOp.ADD: arith.AddiOp,
    SizeOp.SUB: arith.SubiOp,
    SizeOp.MUL: arith.MuliOp,
    SizeOp.FLOORDIV: arith.FloorDivSIOp,
    SizeOp.MAX: arith.MaxSIOp,
    SizeOp.MIN: arith.MinSIOp,
}
_COMMUTES = {SizeOp.ADD, SizeOp.MUL, SizeOp.MAX, SizeOp.MIN}
_INDEX = IndexType()
_EQUAL = IntegerAttr(0, i64)
"""The predicate `eq` of `arith.cmpi`."""
_FLAGGED = (arith.AddiOp, arith.SubiOp, arith.MuliOp)
"""The ops with the property `overflowFlags`."""
_NO_FLAGS: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}


@lru_cache(maxsize=1024)
def _integer(value: int, type: IntegerType | IndexType) -> Attribute:
    return IntegerAttr(value, type)


def constant(value: int, type: IntegerType | IndexType = i64) -> arith.ConstantOp:
    """Return the constant `value`, without checks."""
    op = arith.ConstantOp.create(result_types=[type], properties={"value": _integer(value, type)})
    hint = "i" if isinstance(type, IndexType) else "c"
    op.result.name_hint = None if value < 0 else f"{hint}{value}"
    return op


@dataclass(eq=False)
class Trace:
    """The ops emitted so far, in order, and the nodes that they compute."""

    host: VirtualDeviceAttr | None = None
    """The device of the tensors that it emits; None in a shape function."""
    ops: list[Operation] = field(default_factory=list[Operation])
    nodes: dict[tuple[object, ...], TracedDim] = field(
        default_factory=dict[tuple[object, ...], TracedDim]
    )
    location: LocationAttr = UNKNOWN_LOC
    """The location of the ops of the nodes made from now on."""
    _constants: dict[tuple[Attribute, int | float], SSAValue] = field(
        default_factory=dict[tuple[Attribute, "int | float"], SSAValue]
    )
    _shapes: dict[Shape, Callable[[], SSAValue]] = field(
        default_factory=dict[Shape, Callable[[], SSAValue]]
    )
    _required: set[tuple[Check, Operand, Operand]] = field(
        default_factory=set[tuple[Check, Operand, Operand]]
    )
    _count: int = 0
    _operator: tuple[str, Sequence[Tensor | str]] = "", ()

    def count(self) -> int:
        self._count += 1
        return self._count

    def enter(self, op: Operation, operands: Sequence[Tensor | str]) -> None:
        """Begin the rule of `op`: errors name it and its operands, and are at its location."""
        self.location = op.location
        self._operator = op.name, operands

    # -------------------------------------------------------------------- emit

    def emit(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Append an op; return its result."""
        self.ops.append(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def integer(self, value: int, type: IntegerType | IndexType = i64) -> SSAValue:
        """Return the constant `value`, which is emitted once."""
        found = self._constants.get((type, value))
        if found is None:
            op = constant(value, type)
            self.ops.append(op)
            found = self._constants[type, value] = op.result
        return found

    def _number(self, value: float) -> SSAValue:
        if isinstance(value, int):
            return self.integer(value)
        found = self._constants.get((f64, value))
        if found is None:
            found = self._constants[f64, value] = self.emit(
                arith.ConstantOp(FloatAttr(value, f64), f64)
            )
        return found

    def value(self, operand: Operand) -> SSAValue:
        """Return the value of a size, emitting the ops that it still needs."""
        if not isinstance(operand, TracedDim):
            return self._number(operand)
        pending = [operand]
        while pending:  # a sum of ten thousand sizes must not need ten thousand frames
            node = pending[-1]
            if node.value is None:
                needed = [o for o in node.operands if isinstance(o, TracedDim) and o.value is None]
                if needed:
                    pending += reversed(needed)
                    continue
                start = len(self.ops)
                node.value = node.emit([self._have(o) for o in node.operands])
                for op in self.ops[start:]:
                    op.location = node.location
            pending.pop()
        assert operand.value is not None
        return operand.value

    def _have(self, operand: Operand) -> SSAValue:
        if not isinstance(operand, TracedDim):
            return self._number(operand)
        assert operand.value is not None
        return operand.value

    # -------------------------------------------------------------------- nodes

    def node(self, key: tuple[object, ...], operands: Sequence[Operand], emit: Emit) -> TracedDim:
        """Return the node of this key; it is made of `operands` and `emit` the first time."""
        found = self.nodes.get(key)
        if found is None:
            found = self.nodes[key] = TracedDim(self, operands, emit)
        return found

    def binary(self, op: SizeOp, left: Size, right: Size) -> TracedDim:
        a, b = _known(left), _known(right)
        if op in _COMMUTES and _order(a) > _order(b):
            a, b = b, a
        return self.node((op, a, b), (a, b), lambda values: self._emit_binary(op, *values))

    def _emit_binary(self, op: SizeOp, left: SSAValue, right: SSAValue) -> SSAValue:
        if op is SizeOp.MOD:  # rounds down, as `arith.remsi` does not
            quotient = self._emit_binary(SizeOp.FLOORDIV, left, right)
            whole = self._emit_binary(SizeOp.MUL, quotient, right)
            return self._emit_binary(SizeOp.SUB, left, whole)
        if op is SizeOp.BROADCAST:
            compare = arith.CmpiOp.create(
                operands=[left, self.integer(1)],
                result_types=[i1],
                properties={"predicate": _EQUAL},
            )
            is_one = self.emit(compare)
            return self.emit(
                arith.SelectOp.create(operands=[is_one, right, left], result_types=[i64])
            )
        kind = _ARITH[op]
        return self.emit(
            kind.create(
                operands=[left, right],
                result_types=[i64],
                properties=_NO_FLAGS if kind in _FLAGGED else {},
            )
        )

    def measure(self, name: str, args: Sequence[Operand]) -> TracedDim:
        key = (name, *((type(arg), arg) for arg in args))
        return self.node(key, args, lambda values: self.emit(relay.MeasureOp(name, values)))

    # -------------------------------------------------------------------- shapes

    def dims(
        self, type: Attribute, shape: Callable[[], SSAValue], key: object, hint: str | None
    ) -> Tensor:
        """
        Return the tensor of `type` with traced dims, each an element of the value `shape()`.

        `shape` is called when the first of them is needed; `key` identifies the tensor.
        """
        known = operand_of(type)
        assert isinstance(known, Tensor), "only tensors have dims"
        dims = tuple(
            dim if isinstance(dim, int) else self._dim(shape, axis, key, hint)
            for axis, dim in enumerate(known.dims)
        )
        if dims != known.dims:
            self._shapes.setdefault(dims, shape)
        return Tensor(known.element, dims)

    def _dim(
        self, shape: Callable[[], SSAValue], axis: int, key: object, hint: str | None
    ) -> TracedDim:
        name = None if hint is None else f"{hint}_dim{axis}"
        return self.node(("dim", key, axis), (), lambda _: self._extract(shape(), [axis], name))

    def _extract(self, data: SSAValue, at: Sequence[int], hint: str | None = None) -> SSAValue:
        type = as_tensor(data.type)
        assert type is not None
        indices = [self.integer(i, _INDEX) for i in at]
        return self.emit(
            tensor.ExtractOp.create(operands=[data, *indices], result_types=[type.element_type]),
            hint,
        )

    def scalar(self, data: Callable[[], SSAValue], key: object, at: Sequence[int]) -> TracedDim:
        """Return the element at index `at` of the tensor `data()`, of the tensor's own type."""
        return self.node(("element", key, *at), (), lambda _: self._extract(data(), at))

    def size(self, data: Callable[[], SSAValue], key: object, at: Sequence[int]) -> TracedDim:
        """Return the element at index `at` of an integer tensor as a size."""
        element = self.scalar(data, key, at)
        return self.node(("size", element), (element,), lambda values: self._widened(*values))

    def _widened(self, value: SSAValue) -> SSAValue:
        type = value.type
        if type == i64:
            return value
        if isinstance(type, IndexType):
            return self.emit(arith.IndexCastOp(value, i64))
        integer = cast(AnyInteger, type)
        if integer.signedness.data is Signedness.SIGNLESS and integer.width.data < 64:
            return self.emit(arith.ExtSIOp(value, i64))
        return self.emit(relay.MeasureOp("as_size", [value]))

    def shape(self, dims: Shape, hint: str | None = None) -> SSAValue:
        """Return the vector of `dims`: an operand's shape if they are its dims."""
        found = self._shapes.get(dims)
        if found is not None:
            return found()
        elements = [self.value(computed(dim)) for dim in dims]
        return self.emit(
            tensor.FromElementsOp.create(
                operands=elements, result_types=[tensor_type(i64, [len(dims)], self.host)]
            ),
            hint,
        )

    # -------------------------------------------------------------------- checks

    def require(self, check: Check, left: Size, right: Size, message: str) -> None:
        """Emit a check; its message names the operator and its operands' types."""
        a, b = _known(left), _known(right)
        assert not isinstance(a, float)
        assert not isinstance(b, float)
        if (check, a, b) in self._required:
            return
        self._required.add((check, a, b))
        name, operands = self._operator
        shown = [a, b]
        types = " and ".join(_shown(operand, shown) for operand in operands[:MAX_SHOWN])
        more = len(operands) - MAX_SHOWN
        types += f" and {more} more" if more > 0 else ""
        text = f"{name} of {types}: {message.replace('{op}', name)}"
        left_value, right_value, *values = [self.value(size) for size in shown]
        op = relay.RequireOp(check, left_value, right_value, text, values)
        op.location = self.location
        self.ops.append(op)


def _order(operand: Operand) -> tuple[bool, int]:
    """The position of an operand of a commutative node: nodes first, in order; integers last."""
    if isinstance(operand, TracedDim):
        return False, operand.number
    return True, 0


def computed(dim: Size) -> int | TracedDim:
    """Return a dim that a rule has computed."""
    assert isinstance(dim, int | TracedDim), "a dim that no rule computes"
    return dim


def _shown(operand: Tensor | str, shown: list[int | TracedDim]) -> str:
    """Return an operand's type as a template; append the sizes that it needs to `shown`."""
    if isinstance(operand, str):
        return _without_braces(operand)
    text = "tensor<"
    for dim in operand.dims:
        if isinstance(dim, TracedDim):
            if dim not in shown:
                shown.append(dim)
            text += f"{{{shown.index(dim)}}}x"
        else:
            text += f"{dim}x"
    return f"{text}{_without_braces(operand.element.name)}>"


def _without_braces(text: str) -> str:
    return text.replace("{", "(").replace("}", ")")
