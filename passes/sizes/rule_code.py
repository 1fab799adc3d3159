"""
Shape rules read as IR: the sizes that a rule computes are written where they are needed.

    tensors = code.results(op)               # of expressions whose leaves are dims of operands
    code.shape(tensors[0].dims)              # emits  %c4 = arith.constant 4 : i64
                                             #        %0 = arith.muli %n, %c4 : i64
                                             #        …

Expressions are not brought into a normal form: the ops are those of the rule, with equal ones
written once, and nothing is emitted before a result or a check needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    IndexType,
    LocationAttr,
    Signedness,
    StringAttr,
    i64,
)
from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects import relay
from ...dialects.dense import Dense, constant_tensor, integers
from ...dialects.device import VirtualDeviceAttr, with_device
from ...dialects.relay.language.annotations import REASON
from ...dialects.tensors import AnyInteger, has_dynamic
from ...dialects.type_rules import data_operands, number_of, operand_of
from ...operators.signature import Elements, ReadElements, Tensor
from ...operators.sizes import (
    UNKNOWN,
    Check,
    Shape,
    SignatureError,
    Size,
    SizeOp,
    is_known,
    require_equal,
)
from ...operators.sizes.algebra import in_order
from ...operators.sizes.size_expressions import DIM, ELEMENT, Expr, Symbol
from ...operators.sizes.size_table import operation
from ..support.diagnostics import PassError
from .rule_reader import RuleDim, RuleReader, as_expr
from .size_code import SizeCode, shape_on

MAX_SHOWN = 4
"""The number of operands whose types an error shows."""


class RuleCode(SizeCode, RuleReader, ABC):
    """The ops emitted so far, in order, for the rules of operators."""

    def __init__(self, host: VirtualDeviceAttr | None = None):
        """Take the device of the tensors to emit; None in a shape function."""
        self.ops: list[Operation] = []
        SizeCode.__init__(self, self.ops.append)
        RuleReader.__init__(self)
        self.host = host
        self._locations: dict[Symbol, LocationAttr] = {}
        self._shapes: dict[Shape, SSAValue] = {}
        """The operand that has these dims."""
        self._required: set[tuple[Check, Expr, Expr]] = set()

    @property
    def location(self) -> LocationAttr:
        """The location of the ops for expressions that are made from now on."""
        return UNKNOWN_LOC if self.op is None else self.op.location

    # ------------------------------------------------------------- expressions

    def binary(self, op: SizeOp, left: Expr, right: Expr) -> Expr:
        args = in_order(left, right) if operation(op).commutes else (left, right)
        return self._located(self.algebra.opaque(op, args))

    def measure(self, name: str, args: Sequence[Expr | float]) -> Expr:
        return self._located(self.algebra.opaque(name, args))

    def read(self, kind: str, *args: Hashable) -> Expr:
        """Return what `leaf` reads, which it does when it is first needed, as a size."""
        return self._located(self.algebra.symbol(None, kind, args, natural=False))

    def _located(self, size: Expr) -> Expr:
        assert size.symbol is not None
        self._locations.setdefault(size.symbol, self.location)
        return size

    @abstractmethod
    def shape_of(self, value: SSAValue) -> SSAValue:
        """Return the shape of an operand."""

    @abstractmethod
    def data_of(self, value: SSAValue) -> SSAValue:
        """Return an operand where its elements can be read."""

    def leaf(self, symbol: Symbol) -> SSAValue:
        if symbol.kind == "size":
            return self._widened(self.write(symbol.operands[0]))
        if symbol.kind == "constant":
            constant = cast(Dense, symbol.args[0])
            return self.emit(arith.ConstantOp(constant, with_device(constant.type, self.host)))
        value, at = cast(SSAValue, symbol.args[0]), cast("tuple[int, ...]", symbol.args[1:])
        if symbol.kind == DIM:
            hint = f"{value.name_hint}_dim{at[0]}" if value.name_hint else None
            return self.extract(self.shape_of(value), at, hint)
        data = self.data_of(value)
        return data if symbol.kind == "data" else self.extract(data, at)

    def write_symbol(self, symbol: Symbol) -> SSAValue:
        start = len(self.ops)
        value = super().write_symbol(symbol)
        for op in self.ops[start:]:
            op.location = self._locations[symbol]
        return value

    # -------------------------------------------------------------------- shapes

    def operand(self, value: SSAValue) -> Tensor | str:
        known = operand_of(value.type)
        if isinstance(known, str):
            return known
        dims = tuple(
            size if isinstance(size, int) else self.dim(self.read(DIM, value, axis))
            for axis, size in enumerate(known.dims)
        )
        if dims != known.dims:
            self._shapes.setdefault(dims, value)
        return Tensor(known.element, dims)

    def elements_of(self, op: Operation, index: int) -> Elements:
        constant = constant_tensor(op.operands[index])
        if constant is None:
            return self.data_elements(op, index)

        def operand() -> Size | float:
            number = number_of(constant)
            return self.dim(self.read("constant", constant)) if number is None else number

        return ReadElements(partial(integers, constant), operand)

    def data_elements(self, op: Operation, index: int) -> Elements:
        """Return the elements of an operand as what is read from its data."""
        value, tensor = op.operands[index], self.operands[index]
        assert isinstance(tensor, Tensor), "verified: a rule reads the elements of tensors"

        def size(at: Sequence[int]) -> Size:
            return self.dim(self.read("size", self.read(ELEMENT, value, *at)))

        return ReadElements(
            lambda count: [size(at) for at in product(*map(range, _dims_of(tensor, count)))],
            lambda: self.dim(self.read("data" if tensor.rank else ELEMENT, value)),
        )

    def _widened(self, value: SSAValue) -> SSAValue:
        type = value.type
        if type == i64:
            return value
        if isinstance(type, IndexType):
            return self.emit(arith.IndexCastOp(value, i64))
        if isinstance(type, AnyFloat):
            return self.emit(relay.MeasureOp("as_size", [value]))
        integer = cast(AnyInteger, type)
        if integer.signedness.data is Signedness.SIGNLESS and integer.width.data < 64:
            return self.emit(arith.ExtSIOp(value, i64))
        return self.emit(relay.MeasureOp("as_size", [value]))

    def shape(self, dims: Shape, hint: str | None = None) -> SSAValue:
        """Return the vector of `dims`: an operand's shape if they are its dims."""
        shape = self._shapes.get(dims)
        if shape is not None:
            return self.shape_of(shape)
        elements = [self.write(as_expr(dim)) for dim in dims]
        return self.vector(elements, shape_on(self.host, len(dims)), hint)

    # ------------------------------------------------------------------- results

    def results(self, op: Operation) -> list[Tensor]:
        """
        Return the results of `op` by its rule, with the dims of rules.

        A dim that the declared type knows and the rule does not is required to be so.
        """
        values = (*op.operands, *op.results)
        if not data_operands(op) and not any(has_dynamic(value.type) for value in values):
            return [known_tensor(result) for result in op.results]
        types = super().results(op)
        if types is None:
            raise PassError(
                f"{op.name} has no rule over sizes, so the shapes of its results cannot be "
                "computed: give it one, InferTypes(typed(rule)) with a Rule of "
                "xrelay.operators.rules",
                op,
            )
        return [
            Tensor(tensor.element, checked_dims(tensor.dims, result))
            for tensor, result in zip(types, op.results, strict=True)
        ]

    # -------------------------------------------------------------------- checks

    def require(self, check: Check, left: Expr, right: Expr, message: str) -> None:
        """Emit a check; its message names the operator and its operands' types."""
        if (check, left, right) in self._required:
            return
        self._required.add((check, left, right))
        assert self.op is not None, "a rule is read of an op"
        shown, name = [left, right], self.op.name
        types = " and ".join(_shown(operand, shown) for operand in self.operands[:MAX_SHOWN])
        more = len(self.operands) - MAX_SHOWN
        types += f" and {more} more" if more > 0 else ""
        text = f"{name} of {types}: {message.replace('{op}', name)}"
        if isinstance(reason := self.op.attributes.get(REASON), StringAttr):
            text = _without_braces(reason.data)
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


def _dims_of(tensor: Tensor, count: int) -> list[int]:
    """Return the dims of a tensor of `count` elements, of which one dim may be unknown."""
    known = [dim for dim in tensor.dims if isinstance(dim, int)]
    if len(known) + 1 < tensor.rank or (len(known) < tensor.rank and prod(known) == 0):
        raise SignatureError(f"elements of a {tensor} cannot be read as sizes")
    return [dim if isinstance(dim, int) else count // prod(known) for dim in tensor.dims]


def known_tensor(result: OpResult) -> Tensor:
    tensor = operand_of(result.type)
    if isinstance(tensor, str):
        raise PassError(f"result {result.index} must be a tensor, but is {tensor}", result)
    return tensor


def checked_dims(dims: Shape, result: OpResult) -> Shape:
    """Return `dims` of a result, those of its declared type where it knows them."""
    checked: list[Size] = []
    for axis, (dim, declared) in enumerate(zip(dims, known_tensor(result).dims, strict=True)):
        if is_known(declared):
            message = f"dim {axis} of result {result.index} is {{0}}, but is declared as {{1}}"
            if dim is not UNKNOWN:
                try:
                    require_equal(dim, declared, message)
                except SignatureError as error:
                    raise PassError(str(error), result.op) from error
            dim = declared
        elif dim is UNKNOWN:
            raise PassError(
                f"the rule of {result.op.name} does not compute dim {axis} of result "
                f"{result.index}",
                result,
            )
        checked.append(dim)
    return tuple(checked)
