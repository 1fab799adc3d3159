"""
The rows of its operands that an operator reads for rows of its result, and the operator on them.

Rows are the indices along one axis, which may be another one in each value: a transpose moves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import relay
from ...dialects.attributes import plain_attributes, properties_of
from ...dialects.integers import i64_attribute
from ...dialects.interfaces import Fusible, has_effects
from ...dialects.relay.operator import Operator
from ...dialects.relay.properties import ints
from ...dialects.relay.rearrange import ConcatenateOp, StridedSliceOp
from ...dialects.tensors import as_tensor, is_static
from ...dialects.type_rules import data_operands
from ...operators.all_rules import MEANINGS
from ...operators.intervals import Interval
from ...operators.meaning.access import Access, Box, accesses, whole
from ...operators.meaning.forms import Attributes, Meaning
from ...operators.meaning.parts import PARTS, ChangesFor, Part, on_part
from ...operators.windows import PANELS
from ...planning.buffers import Ints
from ...planning.stripes.network import Reach
from ...runtime.kernels.loading import load_definitions


def dims_of(value: SSAValue) -> tuple[int, ...] | None:
    """Return the dims of a tensor that are all known."""
    type = as_tensor(value.type)
    return tuple(type.get_shape()) if type is not None and is_static(type) else None


def definition_of(name: str) -> tuple[Meaning, ChangesFor | None] | None:
    """Return the meaning of an operator, also of a plug-in's, and how it computes parts."""
    if name in MEANINGS:
        return MEANINGS[name], PARTS.get(name.removeprefix("relay."))
    definition = load_definitions().get(name)
    return None if definition is None else (definition.meaning, definition.changes)


@dataclass(frozen=True)
class RowsRead:
    """The rows that an operator reads for the rows of its result."""

    rows: int
    operands: Sequence[tuple[int, Reach] | None]
    """The axis of each operand's rows, and which are read; None if it is read as a whole."""
    cuts: Ints
    """The rows at which the operator can be cut."""


@dataclass
class RowReader:
    """Reads which rows operators read; equal ones are read once."""

    known: dict[tuple[object, ...], RowsRead | None] = field(default_factory=lambda: {})

    def read(self, op: Operation, axis: int) -> RowsRead | None:
        """Return what `op` reads along `axis` of its result; None if it is not computed by rows."""
        if not _has_parts(op):
            return None
        types = (value.type for value in (*op.operands, *op.results))
        key = (op.name, axis, *types, *op.properties.items())
        if key not in self.known:
            self.known[key] = _read(op, axis)
        return self.known[key]


def _has_parts(op: Operation) -> bool:
    return (
        isinstance(op, Operator)
        and op.has_trait(Fusible)
        and not has_effects(op)
        and not data_operands(op)
        and len(op.results) == 1
        and all(dims_of(value) is not None for value in (*op.operands, *op.results))
    )


def part_of(op: Operation, axis: int, rows: Interval) -> Part:
    shapes = [dims for operand in op.operands if (dims := dims_of(operand)) is not None]
    result = dims_of(op.results[0])
    assert result is not None, "checked before"
    return Part(shapes, result, axis, rows)


def _read(op: Operation, axis: int) -> RowsRead | None:
    definition, part = definition_of(op.name), part_of(op, axis, Interval(0, 1))
    if definition is None or axis >= len(part.result) or part.result[axis] < 2:
        return None
    (meaning, changes), given, count = definition, plain_attributes(op), part.result[axis]

    full = whole(part.result)

    @cache
    def read(box: Box) -> Sequence[Access]:
        return accesses(meaning, given, part.shapes, part.result, box)

    def boxes(start: int, stop: int) -> Sequence[Box | None]:
        box = (*full[:axis], Interval(start, stop), *full[axis + 1 :])
        return [access.box for access in read(box)]

    def computes(start: int, stop: int) -> bool:
        rows = part._replace(rows=Interval(start, stop))
        return on_part(meaning, changes, given, rows, read) is not None

    if not computes(0, count):
        return None
    cuts = [c for c in range(1, count) if computes(0, c) and computes(c, count)]
    every = boxes(0, count)
    above = [boxes(0, row + 1) for row in range(count)]
    below = [boxes(row, count) for row in range(count)]
    operands: list[tuple[int, Reach] | None] = []
    at_cuts = [*(above[c - 1] for c in cuts), *(below[c] for c in cuts)] or [*above, *below]
    for i, all_of in enumerate(every):
        own = [box for row in at_cuts if (box := row[i]) is not None]
        axes = [a for a, interval in enumerate(all_of or ()) if any(b[a] != interval for b in own)]
        if len(axes) > 1:
            return None
        if not axes:
            operands.append(None)
            continue
        (axis_of,) = axes
        dim = part.shapes[i][axis_of]
        first = [dim if (b := row[i]) is None else b[axis_of].start for row in below]
        stop = [0 if (b := row[i]) is None else b[axis_of].stop for row in above]
        operands.append((axis_of, Reach([*zip(first, stop, strict=True)])))
    return RowsRead(count, operands, np.array([0, *cuts, count])) if any(operands) else None


def slice_of(value: SSAValue, axis: int, rows: Interval) -> StridedSliceOp:
    """Return the slice of `rows` along `axis`."""
    bounds = {"begin": ints((rows.start,)), "end": ints((rows.stop,)), "axes": ints((axis,))}
    op = StridedSliceOp.on([value], bounds)
    op.result.name_hint = value.name_hint
    return op


def join_of(parts: Sequence[SSAValue], axis: int) -> ConcatenateOp:
    """Return the concatenation of rows."""
    op = ConcatenateOp.on(parts, {"axis": i64_attribute(axis)})
    op.result.name_hint = parts[-1].name_hint
    return op


def attributes_for(op: Operation, axis: int, rows: Interval) -> Attributes:
    """Return the attributes with which `op` computes `rows`, which begin and end at cuts."""
    definition = definition_of(op.name)
    assert definition is not None, "it is read by rows"
    changes = on_part(*definition, plain_attributes(op), part_of(op, axis, rows))
    assert changes is not None, f"{op.name} computes rows between cuts"
    return changes.attributes


def on_rows(op: Operation, attributes: Attributes, operands: Sequence[SSAValue]) -> Operation:
    """Return `op` on operands that are parts, with other attributes."""
    assert isinstance(op, Operator)
    given = plain_attributes(op)
    changed = {k: v for k, v in attributes.items() if given.get(k) != v}
    properties: dict[str, Attribute] = {**op.properties, **properties_of(type(op), changed)}
    part = type(op).on(operands, properties)
    part.results[0].name_hint = op.results[0].name_hint
    return part


def work_of(op: Operation) -> int:
    """Return how many products an operator adds up, or of other operators the elements."""
    dims = [dims_of(value) for value in (*op.operands, *op.results[:1])]
    if len(dims) != 3 or dims[1] is None or dims[2] is None or dims[0] is None:
        return 0 if not dims or dims[-1] is None else prod(dims[-1])
    kernel = op.properties.get("kernel_layout")
    layout = "" if kernel is None else str(kernel).strip('"')
    if layout.startswith("IO"):  # each element of a transposed convolution's operand is spread
        return prod(dims[0]) * prod(dims[1]) // max(1, dims[1][0])
    if "O" in layout:
        filters = dims[1][layout.index("O")] * (dims[1][-1] if layout in PANELS else 1)
        return prod(dims[2]) * prod(dims[1]) // max(1, filters)
    is_product = isinstance(op, relay.matmul.DenseOp | relay.matmul.BatchMatmulOp)
    return prod(dims[2]) * (dims[0][-1] if is_product else 1)
