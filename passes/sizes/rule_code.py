"""
Shape rules read as IR: the sizes that a rule computes are written where they are needed.

    code.enter(op, operands)
    dims = rule(…)                           # of expressions whose leaves are dims of operands
    code.shape(dims)                         # emits  %c4 = arith.constant 4 : i64
                                             #        %0 = arith.muli %n, %c4 : i64
                                             #        …

Expressions are not brought into a normal form: the ops are those of the rule, with equal ones
written once, and nothing is emitted before a result or a check needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import UNKNOWN_LOC, IndexType, LocationAttr, Signedness, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr, tensor_type
from ...dialects.tensors import AnyInteger
from ...dialects.type_rules import operand_of
from ...operators.signature import Tensor
from ...operators.sizes import Check, Shape, SizeOp
from ...operators.sizes.algebra import in_order
from ...operators.sizes.size_expressions import Expr, Symbol
from ...operators.sizes.size_table import operation
from .rule_dims import RuleDim, RuleReader, as_expr
from .size_code import SizeCode

MAX_SHOWN = 4
"""The number of operands whose types an error shows."""


class RuleCode(SizeCode, RuleReader):
    """The ops emitted so far, in order, for the rules of operators."""

    def __init__(self, host: VirtualDeviceAttr | None = None):
        """Take the device of the tensors to emit; None in a shape function."""
        self.ops: list[Operation] = []
        SizeCode.__init__(self, self.ops.append)
        RuleReader.__init__(self)
        self.host = host
        self.location: LocationAttr = UNKNOWN_LOC
        """The location of the ops for expressions that are made from now on."""
        self._leaves: dict[Symbol, Callable[[], SSAValue]] = {}
        self._locations: dict[Symbol, LocationAttr] = {}
        self._shapes: dict[Shape, Callable[[], SSAValue]] = {}
        self._required: set[tuple[Check, Expr, Expr]] = set()
        self._operator: tuple[str, Sequence[Tensor | str]] = "", ()

    def enter(self, op: Operation, operands: Sequence[Tensor | str]) -> None:
        """Begin the rule of `op`: errors name it and its operands, and are at its location."""
        self.location = op.location
        self._operator = op.name, operands

    # ------------------------------------------------------------- expressions

    def binary(self, op: SizeOp, left: Expr, right: Expr) -> Expr:
        args = in_order(left, right) if operation(op).commutes else (left, right)
        return self._located(self.algebra.opaque(op, args))

    def measure(self, name: str, args: Sequence[Expr | float]) -> Expr:
        return self._located(self.algebra.opaque(name, args))

    def once(self, key: Sequence[Hashable], emit: Callable[[], SSAValue]) -> Expr:
        """Return the value of `emit`, which is called when it is first needed, as a size."""
        size = self._located(self.algebra.symbol(None, "read", key, natural=False))
        assert size.symbol is not None
        self._leaves.setdefault(size.symbol, emit)
        return size

    def _located(self, size: Expr) -> Expr:
        assert size.symbol is not None
        self._locations.setdefault(size.symbol, self.location)
        return size

    def leaf(self, symbol: Symbol) -> SSAValue:
        return self._leaves[symbol]()

    def write_symbol(self, symbol: Symbol) -> SSAValue:
        start = len(self.ops)
        value = super().write_symbol(symbol)
        for op in self.ops[start:]:
            op.location = self._locations[symbol]
        return value

    # -------------------------------------------------------------------- shapes

    def dims(
        self, type: Attribute, shape: Callable[[], SSAValue], key: Hashable, hint: str | None
    ) -> Tensor:
        """
        Return the tensor of `type`, each open dim of it an element of the value `shape()`.

        `shape` is called when the first of them is needed; `key` identifies the tensor.
        """

        def dim(axis: int) -> RuleDim:
            name = None if hint is None else f"{hint}_dim{axis}"
            return self.dim(
                self.once(("dim", key, axis), lambda: self.extract(shape(), [axis], name))
            )

        known = operand_of(type)
        assert isinstance(known, Tensor), "only tensors have dims"
        dims = tuple(
            size if isinstance(size, int) else dim(axis) for axis, size in enumerate(known.dims)
        )
        if dims != known.dims:
            self._shapes.setdefault(dims, shape)
        return Tensor(known.element, dims)

    def dim(self, size: Expr) -> RuleDim:
        """Return a size that is not constant as a dim of rules."""
        dim = self.as_size(size)
        assert isinstance(dim, RuleDim)
        return dim

    def scalar(self, data: Callable[[], SSAValue], key: Hashable, at: Sequence[int]) -> Expr:
        """Return the element at index `at` of the tensor `data()`, of the tensor's own type."""
        return self.once(("element", key, *at), lambda: self.extract(data(), at))

    def size(self, data: Callable[[], SSAValue], key: Hashable, at: Sequence[int]) -> RuleDim:
        """Return the element at index `at` of an integer tensor as a size."""
        element = self.scalar(data, key, at)
        return self.dim(self.once(("size", element), lambda: self._widened(self.write(element))))

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
        shape = self._shapes.get(dims)
        if shape is not None:
            return shape()
        elements = [self.write(as_expr(dim)) for dim in dims]
        return self.vector(elements, tensor_type(i64, [len(dims)], self.host), hint)

    # -------------------------------------------------------------------- checks

    def require(self, check: Check, left: Expr, right: Expr, message: str) -> None:
        """Emit a check; its message names the operator and its operands' types."""
        if (check, left, right) in self._required:
            return
        self._required.add((check, left, right))
        name, operands = self._operator
        shown = [left, right]
        types = " and ".join(_shown(operand, shown) for operand in operands[:MAX_SHOWN])
        more = len(operands) - MAX_SHOWN
        types += f" and {more} more" if more > 0 else ""
        text = f"{name} of {types}: {message.replace('{op}', name)}"
        left_value, right_value, *values = map(self.write, shown)
        op = relay.RequireOp(check, left_value, right_value, text, values)
        op.location = self.location
        self.ops.append(op)


def _shown(operand: Tensor | str, shown: list[Expr]) -> str:
    """Return an operand's type as a template; append the sizes that it needs to `shown`."""
    if isinstance(operand, str):
        return _without_braces(operand)
    text = "tensor<"
    for dim in operand.dims:
        if isinstance(dim, RuleDim):
            if dim.expr not in shown:
                shown.append(dim.expr)
            text += f"{{{shown.index(dim.expr)}}}x"
        else:
            text += f"{dim}x"
    return f"{text}{_without_braces(operand.element.name)}>"


def _without_braces(text: str) -> str:
    return text.replace("{", "(").replace("}", ")")
