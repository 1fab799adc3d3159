"""
Sizes as IR, each written once: the one place that emits it.

    code = SizeCode(insert)
    code.apply("max", %n, 4)                 %c4 = arith.constant 4 : i64
                                             %0 = arith.maxsi %n, %c4 : i64
    code.write(n * 4)                        %1 = arith.muli %n, %c4 : i64
    code.write(n * 4)                        %1 again

`insert` places an op after those that it got before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, f64, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects import relay, vm
from ...dialects.device import VirtualDeviceAttr, tensor_type
from ...dialects.tensors import tensor_of
from ...operators.sizes.size_expressions import Symbol
from ...operators.sizes.size_table import OPERATIONS, PREDICATES, operation
from ...operators.sizes.writer import Writer

Value: TypeAlias = "int | float | SSAValue"
"""An operand: a number, or a value of IR."""

INDEX = IndexType()

_FLAGS: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}
_FLAGGED = (arith.AddiOp, arith.SubiOp, arith.MuliOp)
"""The ops with the property `overflowFlags`."""


_CLASSES: Mapping[str, type[Operation]] = {kind.name: kind for kind in arith.Arith.operations}


def arith_ops() -> Mapping[type[Operation], str]:
    """Return the operation of the table that each op of `arith` on two integers computes."""
    return _arith_ops(len(OPERATIONS))


@cache
def _arith_ops(count: int) -> Mapping[type[Operation], str]:
    """Return `arith_ops` of a table of `count` operations: plug-ins and tests may add some."""
    kinds = ((_CLASSES.get(known.arith), name) for name, known in OPERATIONS.items())
    return {kind: name for kind, name in kinds if kind not in (None, arith.SelectOp)}


@lru_cache(maxsize=1024)
def integer_attribute(value: int, type: IntegerType | IndexType) -> IntegerAttr[Any]:
    """Return the attribute of an integer, without checks."""
    return IntegerAttr(value, type)


def constant_op(attr: IntegerAttr[Any] | FloatAttr[Any]) -> arith.ConstantOp:
    """Return the constant `attr`; an integer is named `%c4`, or `%i4` if it is an index."""
    if not isinstance(attr, IntegerAttr):
        return arith.ConstantOp(attr)
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
    kind = _CLASSES[operation(name).arith]
    properties = _FLAGS if kind in _FLAGGED else {}
    type = values[-1].type if kind is arith.SelectOp else i64
    return kind.create(operands=values, result_types=[type], properties=properties)


@lru_cache(maxsize=256)
def shape_on(host: VirtualDeviceAttr | None, rank: int) -> Attribute:
    """Return the type of the shape of a tensor, which is on `host`."""
    return tensor_type(i64, [rank], host)


def shape_of_op(value: SSAValue, host: VirtualDeviceAttr | None) -> vm.ShapeOfOp:
    """Return the op that reads the shape of a tensor."""
    type = shape_on(host, tensor_of(value).get_num_dims())
    return vm.ShapeOfOp.create(operands=[value], result_types=[type])


def extract_op(data: SSAValue, indices: Sequence[SSAValue]) -> Operation:
    """Return the op that reads an element of a tensor."""
    element = tensor_of(data).element_type
    return tensor.ExtractOp.create(operands=[data, *indices], result_types=[element])


class SizeCode(Writer[SSAValue]):
    """Writes sizes as ops; each number, operation and expression once."""

    def __init__(self, insert: Callable[[Operation], object]):
        super().__init__()
        self.insert = insert

    def emit(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Insert `op`; return its result."""
        self.insert(op)
        if hint is not None:
            op.results[0].name_hint = hint
        return op.results[0]

    def constant(self, attr: IntegerAttr[Any] | FloatAttr[Any]) -> SSAValue:
        """Return the constant `attr`."""
        return self.once(attr, lambda: self.emit_constant(constant_op(attr)))

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

    def operate(self, name: str, values: Sequence[SSAValue]) -> SSAValue:
        return self.emit(op_of(name, values))

    def leaf(self, symbol: Symbol) -> SSAValue:
        raise AssertionError(f"nothing computes {symbol}")

    def extract(self, data: SSAValue, at: Sequence[int], hint: str | None = None) -> SSAValue:
        """Return the element at index `at` of a tensor, of the tensor's element type."""
        return self.emit(extract_op(data, [self.index(i) for i in at]), hint)

    def vector(
        self, elements: Sequence[SSAValue], type: Attribute, hint: str | None = None
    ) -> SSAValue:
        """Return the tensor of `elements`."""
        return self.emit(tensor.FromElementsOp.create(operands=elements, result_types=[type]), hint)


def code_before(op: Operation, rewriter: PatternRewriter) -> SizeCode:
    """Return the code of sizes that are computed before `op`."""
    return SizeCode(lambda new: rewriter.insert(new, InsertPoint.before(op)))
