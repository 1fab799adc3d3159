"""
The network of steps that `planning.stripes` sees, from groups of operators.

A step is a group of operators that becomes one kernel; the last one has its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import relay
from ...dialects.interfaces import (
    ChoosesRegion,
    Fusible,
    FusionKind,
    only_reshapes,
    scratch_types,
)
from ...dialects.overwriting import overwritable
from ...dialects.relay import matmul
from ...dialects.relay.operator import Operator
from ...dialects.relay.pooling import GlobalAvgPool2dOp
from ...dialects.tensors import as_tensor, bits_of, element_size, tensor_size
from ...planning.buffers import Ints
from ...planning.stripes.network import Network, Reach, Step, Value
from ..analysis.fusion import fusion_groups
from .rows import RowReader, RowsRead, dims_of, work_of

Group = Sequence[Operation]


@dataclass
class Axes:
    """The axis of the rows of each value that is computed by rows."""

    reader: RowReader = field(default_factory=RowReader)
    of: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def read(self, op: Operation) -> RowsRead | None:
        """Return what `op` reads; None unless its operands have their rows along the same axes."""
        axis = self.of.get(op.results[0]) if len(op.results) == 1 else None
        found = None if axis is None else self.reader.read(op, axis)
        if found is None:
            return None
        for operand, read in zip(op.operands, found.operands, strict=True):
            if read is not None and self.of.setdefault(operand, read[0]) != read[0]:
                return None
        return found

    def spread(self, ops: Sequence[Operation]) -> None:
        """Let operands, and results, have their rows where the results, or operands, have them."""
        for op in reversed(ops):
            self.read(op)
        for op in ops:
            if len(op.results) != 1 or op.results[0] in self.of:
                continue
            if not any(operand in self.of for operand in op.operands):
                continue
            for axis in range(len(dims_of(op.results[0]) or ())):
                found = self.reader.read(op, axis)
                if found is None:
                    continue
                pairs = zip(op.operands, found.operands, strict=True)
                if any(read is not None and self.of.get(v) == read[0] for v, read in pairs):
                    self.of[op.results[0]] = axis
                    break


SAMPLES = 2048
"""The most samples of a signal that is computed by rows: choosing takes 2 ms and more for each."""


def rows_of_image(image: SSAValue, layout: str) -> int:
    """
    Return the axis of the height; of a volume, that of the depth; of a signal, which is an image of
    one row, that of the width.
    """
    height, width = layout.index("D" if "D" in layout else "H"), layout.index("W")
    dims = dims_of(image)
    return width if dims and dims[height] == 1 and dims[width] <= SAMPLES else height


def sum_of_rows(group: Group, axes: Axes) -> int | None:
    """Return the axis along which a step is the mean of all rows; None if it is something else."""
    if len(group) != 1 or not isinstance(group[0], GlobalAvgPool2dOp):
        return None
    data = group[0].data
    axis = rows_of_image(data, group[0].layout.data)
    dims, type = dims_of(data), as_tensor(data.type)
    if dims is None or type is None or axes.of.setdefault(data, axis) != axis:
        return None
    return axis if dims[axis] > 1 and (bits_of(type.element_type) or 0) in (32, 64) else None


def bytes_of(value: SSAValue) -> int:
    type, dims = as_tensor(value.type), dims_of(value)
    if type is None or dims is None or bits_of(type.element_type) is None:
        return 0
    return prod(dims) * element_size(type.element_type)


def rows_in(value: SSAValue, axes: Axes) -> int:
    dims, axis = dims_of(value), axes.of.get(value)
    return 1 if axis is None or dims is None else dims[axis]


@dataclass
class Composed:
    """The rows that each row of the result of a step needs of a value."""

    first: Ints
    stop: Ints


def composed(group: Group, axes: Axes) -> tuple[Mapping[SSAValue, Reach], Ints] | None:
    """
    Return which rows of values outside the rows of a step's result need, and where to cut it.

    None if it is not computed by rows.
    """
    result: SSAValue = group[-1].results[0]
    rows = rows_in(result, axes)
    if rows < 2:
        return None
    inner = {op.results[0] for op in group if op.results}
    every = np.arange(rows)
    needs: dict[SSAValue, Composed] = {result: Composed(every, every + 1)}
    edges: dict[SSAValue, Composed] = {result: Composed(every, every)}
    whole, cuts = set[SSAValue](), np.ones(rows, bool)
    for op in reversed(group):
        value = op.results[0]
        if value in whole:
            whole |= {*op.operands}
        if value not in needs:
            continue
        read = axes.read(op)
        if read is None or value in whole:
            return None
        need, edge = needs[value], edges[value]
        cuts &= np.isin(edge.first, read.cuts) & np.isin(edge.stop, read.cuts)
        for operand, of in zip(op.operands, read.operands, strict=True):
            if of is None:
                whole.add(operand)
                continue
            reach = of[1]
            first = reach.first[np.minimum(need.first, read.rows - 1)]
            stop = reach.end[need.stop]
            below = reach.first[np.minimum(edge.first, read.rows - 1)], reach.end[edge.stop]
            old, old_edge = needs.get(operand), edges.get(operand)
            if old is not None and old_edge is not None:
                first, stop = np.minimum(first, old.first), np.maximum(stop, old.stop)
                below = np.minimum(below[0], old_edge.first), np.maximum(below[1], old_edge.stop)
            needs[operand], edges[operand] = Composed(first, stop), Composed(*below)
    if inner & whole & needs.keys():
        return None
    cuts[0] = True
    reads = {
        value: Reach([*zip(need.first.tolist(), need.stop.tolist(), strict=True)])
        for value, need in needs.items()
        if value not in inner
    }
    return reads, np.append(np.flatnonzero(cuts), rows)


def is_read_unfused(value: SSAValue, group: Group) -> bool:
    """Test whether an operator of `group` reads `value` that is not fused with slices of it."""
    readers = [op for op in group if value in op.operands]
    kinds = [op.get_trait(Fusible) for op in readers]
    return any(kind is None or kind.kind > FusionKind.INJECTIVE for kind in kinds)


def kernel_of(group: Group) -> Block:
    """Return the body of the kernel that a group becomes; regions, which none has, are empty."""
    inner = {result for op in group for result in op.results}
    outer = dict.fromkeys(v for op in group for v in op.operands if v not in inner)
    block = Block(arg_types=[value.type for value in outer])
    mapped: dict[SSAValue, SSAValue] = dict(zip(outer, block.args, strict=True))
    for op in group:
        block.add_op(clone := op.clone_without_regions(mapped))
        mapped |= zip(op.results, clone.results, strict=True)
    results = [mapped[result] for result in group[-1].results]
    block.add_op(relay.YieldOp.create(operands=results))
    return block


Needs = Mapping[str, int]
"""The most bytes that are live in functions, besides their results."""

NOTHING: Needs = MappingProxyType({})


def inner_peak(op: Operation, needs: Needs) -> int:
    """Return the most bytes that are live in what `op` calls, or in a region of it."""
    if isinstance(op, func.CallOp):
        return needs.get(op.callee.string_value(), 0)
    regions = op.regions if op.has_trait(ChoosesRegion) else ()
    return max((max(network_of(r.block, needs)[0].loads(), default=0) for r in regions), default=0)


def read_network(
    groups: Sequence[Group],
    axes: Axes,
    arguments: Sequence[SSAValue] = (),
    needs: Needs = NOTHING,
) -> tuple[Network, Mapping[SSAValue, int]]:
    """Return the network of `groups`, and the numbers of its values; callers own `arguments`."""
    net, number = Network([], []), dict[SSAValue, int]()

    def add(value: SSAValue, start: int) -> None:
        number[value] = len(net.values)
        rows = rows_in(value, axes)
        outer = (dims_of(value) or ())[: axes.of.get(value, 0)]
        is_apart, is_lent = any(dim != 1 for dim in outer), start < 0
        net.values.append(
            Value(bytes_of(value), rows, start, start, is_lent=is_lent, is_apart=is_apart)
        )

    for value in arguments:
        add(value, -1)
    for at, group in enumerate(groups):
        axis = sum_of_rows(group, axes)
        results = [result for op in group for result in op.results]
        read = (v for op in group for one in op.walk() for v in one.operands)
        outer = dict.fromkeys(v for v in read if v not in results)
        mine = [value for value in outer if value in number]
        whole = composed(group, axes) if axis is None and len(group[-1].results) == 1 else None
        for result in group[-1].results:
            add(result, at)
        read_whole = frozenset(number[v] for v in mine)
        step = Step(number[group[-1].results[0]], {}, whole=read_whole)
        if axis is not None and mine:
            step.reduces, step.rows = True, rows_in(mine[0], axes)
            step.reads = {number[mine[0]]: Reach([(r, r + 1) for r in range(step.rows)])}
            step.copied = frozenset(step.reads)
            step.cuts, step.whole = np.arange(step.rows + 1), frozenset()
        elif whole is not None:
            reads, step.cuts = whole
            step.reads = {number[v]: reach for v, reach in reads.items() if v in number}
            step.rows = net.values[step.writes].rows
            step.copied = frozenset(
                number[v] for v in reads.keys() & number.keys() if is_read_unfused(v, group)
            )
            step.whole -= step.reads.keys()
        step.inner = sum(inner_peak(op, needs) for op in group)
        step.weights = sum(bytes_of(v) for v in outer if number.get(v, -1) not in step.reads)
        step.work = sum(work_of(op) for op in group)
        step.scratch = sum(tensor_size(t) for op in group for t in scratch_types(op, parts=1))
        over = overwritable(kernel_of(group))[0]
        step.over = frozenset(number[v] for i, v in enumerate(outer) if i in over and v in number)
        net.steps.append(step)
        if mine and all(only_reshapes(op) for op in group):
            net.values[step.writes].viewed = number[mine[0]]
        for value in mine:
            net.values[number[value]].users.append(at)
            net.use(number[value], at)
    return net, number


def seed(axes: Axes, ops: Sequence[Operation]) -> None:
    """
    Let images have their rows along their height, volumes along their depth, signals along their
    width, and products those of their first operand.
    """
    for op in ops:
        layout = op.properties.get("data_layout", op.properties.get("layout"))
        if isinstance(op, Operator) and "H" in (letters := str(layout).strip('"')):
            axes.of.setdefault(op.results[0], rows_of_image(op.results[0], letters))
        elif isinstance(op, matmul.DenseOp | matmul.BatchMatmulOp):
            axes.of.setdefault(op.results[0], len(dims_of(op.results[0]) or (0, 0)) - 2)


def is_integer(type: Attribute) -> bool:
    return isinstance(type, IntegerType | IndexType)


def groups_of(block: Block) -> list[Group]:
    """Return the steps of a block: its future kernels, and its other ops on tensors."""
    groups: list[Group] = [*fusion_groups(block, 256)]
    grouped = {op for group in groups for op in group}
    others = (op for op in block.ops if op not in grouped and op.operands and op.results)
    groups += [[op] for op in others if not all(map(is_integer, op.result_types))]
    order = {op: at for at, op in enumerate(block.ops)}
    return sorted(groups, key=lambda group: order[group[-1]])


def network_of(block: Block, needs: Needs = NOTHING) -> tuple[Network, Sequence[Group], Axes]:
    """Return the steps of a block, and the axes of rows."""
    axes, ops = Axes(), [*block.ops]
    seed(axes, ops)
    axes.spread(ops)
    groups = groups_of(block)
    net, number = read_network(groups, axes, block.args, needs)
    assert block.last_op is not None, "a block has a terminator"
    for operand in block.last_op.operands:
        if operand in number:
            value = net.values[number[operand]]
            net.use(number[operand], len(net.steps))
            value.is_returned = isinstance(block.last_op, func.ReturnOp) and not value.is_lent
    return net, groups, axes
