"""
Sequences and optional values (`onnx_data`).

Positions in sequences of known length that are known pick elements; the others are calls of the
functions of Relay's prelude.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1, i64
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import SSAValue

from ....dialects import relay
from ....dialects.device import tensor_type
from ....dialects.relay.incomplete import IncompleteType
from ....dialects.tensors import as_tensor
from ....operators.sizes import Check
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_data import (
    LIST,
    OPTION,
    Absent,
    Datum,
    Items,
    common,
    data_type,
    is_data,
    part_of,
    type_of,
)
from ..convert.onnx_values import Constant, Value, dims_of, rank_of, tensor_type_of
from .indexing import parts_of, split_at_run_time
from .rule import Rules, since

INT64 = np.dtype(np.int64)
NUMBER = tensor_type(i64, [])


def sequence_construct(node: Node, b: Builder) -> Datum:
    return Items(tuple(node.variadic()))


def sequence_empty(node: Node, b: Builder) -> Datum:
    """Return a sequence without elements, whose rank nothing says."""
    node.ignore("dtype")
    return Items(())


def _position(node: Node, b: Builder, index: int, default: int) -> Value:
    """Return input `index`, a position, as a scalar of i64."""
    position = node.optional(index)
    if position is None:
        return b.scalar(default, INT64)
    return b.cast(b.reshape(position, ()), INT64)


def _known(node: Node, items: Items, position: Constant, ends: int = 0) -> int:
    """Return a position in `items`, or one of `ends` behind them, counted from the front."""
    count, at = len(items.elements), int(position.array)
    if not -count <= at < count + ends:
        raise node.error(f"the position is {at}, but the sequence has {count} elements")
    return at + count if at < 0 else at


def _checked(b: Builder, sequence: Datum, position: Value, ends: int = 0) -> SSAValue:
    """Return `position` once it is known to be in `sequence`, or one of `ends` behind."""
    part = part_of(type_of(sequence))
    length = b.invoke("sequence_length", [part], b.tensor(sequence), type=NUMBER)
    bounds = b.op("negative", length), b.op("add", length, b.scalar(ends - 1, INT64))
    scalars = (b.tensor(value) for value in (position, *bounds, length))
    at, least, most, count = (b.append(ExtractOp(scalar, [], i64))[0] for scalar in scalars)
    text = "the position is {0}, but the sequence has {2} elements"
    b.append(relay.RequireOp(Check.AT_LEAST, at, least, text, [count]))
    b.append(relay.RequireOp(Check.AT_MOST, at, most, text, [count]))
    return b.tensor(position)


def sequence_at(node: Node, b: Builder) -> Datum:
    sequence, position = node.datum(0), _position(node, b, 1, 0)
    if isinstance(sequence, Items) and isinstance(position, Constant):
        return sequence.elements[_known(node, sequence, position)]
    part = part_of(type_of(sequence))
    if isinstance(part, IncompleteType):
        raise node.error("the rank of the sequence's elements is not known")
    operands = b.tensor(sequence), _checked(b, sequence, position)
    return b.invoke("sequence_at", [part], *operands, type=part)


def sequence_insert(node: Node, b: Builder) -> Datum:
    sequence, x = node.datum(0), node.input(1)
    at_end, position = node.optional(2) is None, _position(node, b, 2, 0)
    if isinstance(sequence, Items) and isinstance(position, Constant):
        elements = sequence.elements
        i = len(elements) if at_end else _known(node, sequence, position, 1)
        return Items((*elements[:i], x, *elements[i:]))
    type = data_type(LIST, common(part_of(type_of(sequence)), part_of(type_of(Items((x,))))))
    part, whole = part_of(type), b.as_type(sequence, type)
    if at_end:
        position = b.invoke("sequence_length", [part], whole, type=NUMBER)
    else:
        position = _checked(b, whole, position, 1)
    operands = whole, b.tensor(position), b.as_type(x, part)
    return b.invoke("sequence_insert", [part], *operands, type=type)


def sequence_erase(node: Node, b: Builder) -> Datum:
    sequence, position = node.datum(0), _position(node, b, 1, -1)
    if isinstance(sequence, Items) and isinstance(position, Constant):
        i = _known(node, sequence, position)
        return Items((*sequence.elements[:i], *sequence.elements[i + 1 :]))
    type = type_of(sequence)
    operands = b.tensor(sequence), _checked(b, sequence, position)
    return b.invoke("sequence_erase", [part_of(type)], *operands, type=type)


def sequence_length(node: Node, b: Builder) -> Value:
    sequence = node.datum(0)
    if isinstance(sequence, Items):
        return b.scalar(len(sequence.elements), INT64)
    part = part_of(type_of(sequence))
    return b.invoke("sequence_length", [part], b.tensor(sequence), type=NUMBER)


def concat_from_sequence(node: Node, b: Builder) -> Value:
    """Concatenate the elements along an axis, or stack them along a new one."""
    sequence, is_new = node.datum(0), node.flag("new_axis", False)
    axis = node.optional_int("axis")
    if axis is None:
        raise node.error("attribute axis is missing")
    type = as_tensor(part_of(type_of(sequence)))
    if type is None:
        raise node.error("the rank of the sequence's elements is not known")
    rank = type.get_num_dims() + is_new
    axis = node.axis(axis, rank)
    if isinstance(sequence, Items):
        name = "stack" if is_new else "concatenate"
        return b.op(name, *map(b.tensor, sequence.elements), axis=axis)
    whole = b.tensor(sequence)
    if is_new:
        row = tensor_type(type.element_type, [DYNAMIC_INDEX] * rank)
        grow = b.closure([type], row, lambda args: b.op("expand_dims", *args, axis=axis))
        whole = b.invoke("map", [type, row], grow, whole, type=data_type(LIST, row))
        type = row
    join = b.closure([type, type], type, lambda args: b.op("concatenate", *args, axis=axis))
    first = b.invoke("hd", [type], whole, type=type)
    others = b.invoke("tl", [type], whole, type=data_type(LIST, type))
    return b.invoke("foldl", [type, type], join, first, others, type=type)


def split_to_sequence(node: Node, b: Builder) -> Datum:
    """Split into parts of given sizes, of one size, or of 1 (then without `keepdims`, too)."""
    x, sizes = node.input(0), node.optional(1)
    axis = node.axis(node.integer("axis", 0), rank_of(x))
    total, keeps = dims_of(x)[axis], node.flag("keepdims", True) or sizes is not None
    if sizes is not None and rank_of(sizes) == 1:
        if not isinstance(sizes, Constant):
            return Items(tuple(split_at_run_time(x, axis, b.vector(1, "split")[0], b)))
        return Items(tuple(_split(node, b, x, axis, node.required_ints(1, "split"))))
    each = b.scalar(1, INT64) if sizes is None else _position(node, b, 1, 1)
    if isinstance(total, int) and isinstance(each, Constant):
        size = int(each.array)
        if size < 1:
            raise node.error(f"split is {size}; supported: 1 and more")
        starts = range(0, total, size)
        parts = _split(node, b, x, axis, [min(size, total - start) for start in starts])
        return Items(tuple(parts if keeps else [b.op("squeeze", p, axis=(axis,)) for p in parts]))
    end = b.size(total)

    def part(number: Sequence[SSAValue]) -> Value:
        start = b.op("multiply", *number, each)
        stop = b.op("minimum", b.op("add", start, each), end)
        bounds = b.reshape(start, (1,)), b.reshape(stop, (1,)), b.ints([1])
        piece = b.op("dyn.strided_slice", x, *bounds, axes=(axis,))
        return piece if keeps else b.op("squeeze", piece, axis=(axis,))

    kept = [n for i, n in enumerate(tensor_type_of(x).get_shape()) if keeps or i != axis]
    type = data_type(LIST, tensor_type(tensor_type_of(x).element_type, kept))
    count = b.op("negative", b.op("floor_divide", b.op("negative", end), each))
    operands = b.closure([NUMBER], part_of(type), part), b.tensor(count), b.as_type(Items(()), type)
    return b.invoke("tabulate", [part_of(type)], *operands, type=type)


def _split(node: Node, b: Builder, x: Value, axis: int, sizes: Sequence[int]) -> Sequence[Value]:
    total = dims_of(x)[axis]
    if any(size < 0 for size in sizes) or (isinstance(total, int) and sum(sizes) != total):
        raise node.error(f"split is {[*sizes]}; supported: sizes that sum to {total}")
    return parts_of(x, axis, sizes, b) if sizes else []


def optional(node: Node, b: Builder) -> Datum:
    node.ignore("type")
    return node.optional_datum(0) or Absent()


def optional_has_element(node: Node, b: Builder) -> Value:
    value = node.optional_datum(0) or Absent()
    type = type_of(value)
    if isinstance(value, Absent) or not is_data(type, OPTION):
        return b.constant(np.asarray(not isinstance(value, Absent)))
    return b.invoke("is_some", [part_of(type)], b.tensor(value), type=tensor_type(i1, []))


def optional_get_element(node: Node, b: Builder) -> Datum:
    value = node.datum(0)
    type = type_of(value)
    if isinstance(value, Absent):
        raise node.error("the optional value is not there")
    if not is_data(type, OPTION):
        return value
    part = part_of(type)
    if isinstance(part, IncompleteType):
        raise node.error("the rank of the optional value is not known")
    return b.invoke("get", [part], b.tensor(value), type=part)


RULES: Rules = {
    "ConcatFromSequence": since(11, concat_from_sequence),
    "Optional": since(15, optional),
    "OptionalGetElement": since(15, optional_get_element),
    "OptionalHasElement": since(15, optional_has_element),
    "SequenceAt": since(11, sequence_at),
    "SequenceConstruct": since(11, sequence_construct),
    "SequenceEmpty": since(11, sequence_empty),
    "SequenceErase": since(11, sequence_erase),
    "SequenceInsert": since(11, sequence_insert),
    "SequenceLength": since(11, sequence_length),
    "SplitToSequence": since(11, split_to_sequence),
}
