"""
Write sizes as IR, each once: the one place that does.

    code = SizeCode(insert)
    code.apply("max", %n, 4)                 %c4 = arith.constant 4 : i64
                                             %0 = arith.maxsi %n, %c4 : i64
    code.write(n * 4)                        %1 = arith.muli %n, %c4 : i64
    code.write(n * 4)                        %1 again

`insert` places an op after those that it got before. What the leaves of an expression are is up to
a subclass, and where a value is visible: here, everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache, reduce
from typing import Any, TypeAlias

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, f64, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import relay
from ...dialects.tensors import as_tensor
from ...operators.sizes.size_expressions import Expr, Symbol, inner_first
from ...operators.sizes.size_table import CHOOSE, PREDICATES, compute, operation
from .arith_ops import class_of

Value: TypeAlias = "int | float | SSAValue"
"""An operand: a number, or a value of IR."""

INDEX = IndexType()

_FLAGS: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}
_FLAGGED = (arith.AddiOp, arith.SubiOp, arith.MuliOp)
"""The ops with the property `overflowFlags`."""


@lru_cache(maxsize=1024)
def integer_attribute(value: int, type: IntegerType | IndexType) -> IntegerAttr[Any]:
    """Return the attribute of an integer, without checks."""
    return IntegerAttr(value, type)


def constant_op(attr: IntegerAttr[Any]) -> arith.ConstantOp:
    """Return the constant `attr`, named `%c4`, or `%i4` if it is an index."""
    op = arith.ConstantOp.create(result_types=[attr.type], properties={"value": attr})
    letter, value = "i" if isinstance(attr.type, IndexType) else "c", attr.value.data
    op.result.name_hint = f"{letter}{value}" if value >= 0 else letter
    return op


def op_of(name: str, values: Sequence[SSAValue]) -> Operation:
    """Return the op that computes an operation of the table that is not expanded."""
    _, _, predicate = operation(name).arith.partition(" ")
    if predicate:
        number = integer_attribute(PREDICATES.index(predicate), i64)
        return arith.CmpiOp.create(
            operands=values, result_types=[i1], properties={"predicate": number}
        )
    if not operation(name).arith:
        return relay.MeasureOp(name, values)
    kind = class_of(name)
    properties = _FLAGS if kind in _FLAGGED else {}
    type = values[-1].type if kind is arith.SelectOp else i64
    return kind.create(operands=values, result_types=[type], properties=properties)


def extract_op(data: SSAValue, indices: Sequence[SSAValue]) -> Operation:
    """Return the op that reads an element of a tensor."""
    type = as_tensor(data.type)
    assert type is not None
    return tensor.ExtractOp.create(operands=[data, *indices], result_types=[type.element_type])


class SizeCode:
    """Writes sizes as ops; each number, operation and expression once."""

    def __init__(self, insert: Callable[[Operation], object]):
        self.insert = insert
        self._known: dict[Hashable, SSAValue] = {}

    def find(self, key: Hashable) -> SSAValue | None:
        """Return the value of `key` that is visible, if there is one."""
        return self._known.get(key)

    def add(self, key: Hashable, value: SSAValue) -> None:
        """Record the value of `key`: an expression, or an operation on values."""
        self._known[key] = value

    def emit(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Insert `op`; return its result."""
        self.insert(op)
        if hint is not None:
            op.results[0].name_hint = hint
        return op.results[0]

    def constant(self, attr: IntegerAttr[Any] | FloatAttr[Any]) -> SSAValue:
        """Return the constant `attr`."""
        value = self.find(attr)
        if value is None:
            is_integer = isinstance(attr, IntegerAttr)
            value = self.emit_constant(constant_op(attr) if is_integer else arith.ConstantOp(attr))
            self.add(attr, value)
        return value

    def emit_constant(self, op: arith.ConstantOp) -> SSAValue:
        """Insert a constant."""
        return self.emit(op, op.result.name_hint)

    def value(self, size: Value) -> SSAValue:
        """Return `size` as a value: a number is a constant, i64 or f64."""
        if isinstance(size, SSAValue):
            return size
        is_integer = isinstance(size, int)
        return self.constant(integer_attribute(size, i64) if is_integer else FloatAttr(size, f64))

    def index(self, value: int) -> SSAValue:
        """Return a constant index."""
        return self.constant(integer_attribute(value, INDEX))

    def apply(self, name: str, *operands: Any) -> Any:
        """
        Return the operation `name` of the table on values and numbers, of `TOTAL` also a layout.

        The result is a number if all operands are, else a value.
        """
        if all(isinstance(operand, int | float) for operand in operands):
            return compute(name, *operands)
        rules = operation(name)
        if name == "lt" and operands[0] == 0 and _is_flag(operands[1]):
            return operands[1]
        if rules.identity is not None:
            first, second = operands
            if second == rules.identity:
                return first
            if rules.commutes and first == rules.identity:
                return second
        if rules.expanded is not None:
            return rules.expanded(self.apply, *operands)
        if name == CHOOSE:
            condition, left, right = operands
            if isinstance(condition, int) or left == right:
                return left if condition else right
        return self.on_values(name, [self.value(operand) for operand in operands])

    def on_values(self, name: str, values: Sequence[SSAValue]) -> SSAValue:
        """Return an operation on values, which is written once."""
        key = name, *values
        result = self.find(key)
        if result is None:
            result = self.emit(op_of(name, values))
            self.add(key, result)
        return result

    def write(self, size: Expr) -> SSAValue:
        """Return a value that is `size`."""
        if size.constant is not None:
            return self.value(size.constant)
        value = self.find(size)
        if value is not None:
            return value
        for symbol in inner_first([size], self):  # many sums in each other need no recursion
            self.add(Expr.of_symbol(symbol), self.write_symbol(symbol))
        value = self.find(size)
        if value is None:
            products = [self._product(*term) for term in size.terms]
            value = reduce(lambda left, right: self.on_values("add", [left, right]), products)
            self.add(size, value)
        return value

    def __contains__(self, symbol: Symbol) -> bool:
        return self.find(Expr.of_symbol(symbol)) is not None

    def _product(self, symbols: Sequence[Symbol], coefficient: int) -> SSAValue:
        factors = [self.write(Expr.of_symbol(symbol)) for symbol in symbols]
        if coefficient != 1 or not factors:
            factors.append(self.value(coefficient))
        return reduce(lambda left, right: self.on_values("mul", [left, right]), factors)

    def write_symbol(self, symbol: Symbol) -> SSAValue:
        """Write a symbol, whose operands are written; those that nothing computes are `leaf`."""
        if not symbol.is_computed:
            return self.leaf(symbol)
        operands = [self._operand(arg) for arg in symbol.args]
        if operation(symbol.kind).commutes:
            return self.value(reduce(lambda a, b: self.apply(symbol.kind, a, b), operands))
        return self.value(self.apply(symbol.kind, *operands))

    def _operand(self, arg: object) -> object:
        if not isinstance(arg, Expr):
            return arg
        return self.write(arg) if arg.constant is None else arg.constant

    def leaf(self, symbol: Symbol) -> SSAValue:
        """Return the value of a symbol that is not computed from others."""
        raise AssertionError(f"nothing computes {symbol}")

    def extract(self, data: SSAValue, at: Sequence[int], hint: str | None = None) -> SSAValue:
        """Return the element at index `at` of a tensor, of the tensor's element type."""
        return self.emit(extract_op(data, [self.index(i) for i in at]), hint)

    def vector(
        self, elements: Sequence[SSAValue], type: Attribute, hint: str | None = None
    ) -> SSAValue:
        """Return the tensor of `elements`."""
        return self.emit(tensor.FromElementsOp.create(operands=elements, result_types=[type]), hint)
