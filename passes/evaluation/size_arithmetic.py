"""
Evaluation of arithmetic on sizes: `arith` on integers, `relay.require`, `relay.measure`.

A size is a Python integer. A result outside its type is an error: it never wraps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Operation

from ...dialects import relay
from ...dialects.dense import Dense
from ...dialects.tensors import AnyInteger, tensor_of
from ...operators.sizes import Check, fill
from ...operators.sizes.size_table import PREDICATES, compute
from ..analysis.arrays import array_of, numpy_dtype
from ..sizes.size_code import arith_ops
from ..support.diagnostics import PassError
from .evaluated_values import Value


def in_range(op: Operation, value: int) -> int:
    """Return `value`, the result of `op`; raise an error if its type cannot hold it."""
    type = op.results[0].type
    bits = cast(AnyInteger, type).width.data if isinstance(type, IntegerType) else 64
    low = -(2 ** (bits - 1)) if bits > 1 else 0
    if not low <= value < 2 ** max(bits - 1, 1):
        raise PassError(f"{op.name} overflows: {value} does not fit {type}", op)
    return value


def constant(op: Operation, args: Sequence[Value]) -> Value:
    assert isinstance(op, arith.ConstantOp)
    value = op.value
    if isinstance(value, IntegerAttr):
        number = cast("IntegerAttr[Any]", value).value.data
        return number & 1 if value.type == i1 else number
    if isinstance(value, FloatAttr):
        return cast("FloatAttr[Any]", value).value.data
    array = array_of(cast(Dense, value)) if isinstance(value, DenseIntOrFPElementsAttr) else None
    if array is None:
        raise PassError(f"NumPy has no dtype for the elements of {op.result.type}", op)
    return array


def binary(op: Operation, args: Sequence[Value]) -> Value:
    left, right = map(int, args)
    try:
        return in_range(op, compute(arith_ops()[type(op)], left, right))
    except ZeroDivisionError:
        raise PassError(f"{op.name} divides {left} by zero", op) from None


def compare(op: Operation, args: Sequence[Value]) -> Value:
    assert isinstance(op, arith.CmpiOp)
    predicate = cast("IntegerAttr[Any]", op.predicate).value.data
    if not 0 <= predicate < len(PREDICATES):
        raise PassError(f"arith.cmpi with the unsigned predicate {predicate} is not evaluated", op)
    return compute(PREDICATES[predicate], int(args[0]), int(args[1]))


def select(op: Operation, args: Sequence[Value]) -> Value:
    return args[1] if args[0] else args[2]


def widen(op: Operation, args: Sequence[Value]) -> Value:
    return in_range(op, int(args[0]))


def extract(op: Operation, args: Sequence[Value]) -> Value:
    data, *indices = args
    at = tuple(int(index) for index in indices)
    if any(not 0 <= i < size for i, size in zip(at, data.shape, strict=True)):
        raise PassError(
            f"element {list(at)} of a tensor of shape {list(data.shape)} does not exist", op
        )
    return data[at].item()


def from_elements(op: Operation, args: Sequence[Value]) -> Value:
    type = tensor_of(op.results[0])
    dtype = numpy_dtype(type)
    if dtype is None:
        raise PassError(f"NumPy has no dtype for the elements of {type}", op)
    return np.array(args, dtype).reshape(type.get_shape())


def measure(op: Operation, args: Sequence[Value]) -> Value:
    assert isinstance(op, relay.MeasureOp)
    try:
        return in_range(op, compute(op.measure.data, *args))
    except (ValueError, OverflowError) as error:
        raise PassError(str(error), op) from error


def require_relation(op: relay.RequireOp, args: Sequence[Value]) -> None:
    """Raise an error, with the values filled in, unless the sizes are in the relation."""
    if not Check(op.check.data).holds(int(args[0]), int(args[1])):
        raise PassError(fill(op.message.data, args), op)


SIZES: Mapping[type[Operation], Callable[[Operation, Sequence[Value]], Value]] = {
    arith.ConstantOp: constant,
    **dict.fromkeys(arith_ops(), binary),
    arith.CmpiOp: compare,
    arith.SelectOp: select,
    arith.ExtSIOp: widen,
    arith.IndexCastOp: widen,
    tensor.ExtractOp: extract,
    tensor.FromElementsOp: from_elements,
    relay.MeasureOp: measure,
}
"""The value that each op on sizes computes."""
