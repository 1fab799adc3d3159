"""
Read slices of outer rows where their tensor is, instead of copying them.

    %t = memory.alloc_tensor %s[0] : tensor<3x4xf32>       (removed by remove-dead-writes)
    %y = vm.invoke_tvm_op @rows ins(%x) outs(%t)      ->   %y = vm.slice_tensor %x[2]
    (@rows is relay.strided_slice or relay.split of tensor<8x4xf32> along the outermost axis)

Rows are contiguous. So are slices along another axis if all dims before it are 1. A view keeps its
tensor's bytes, all of them, as long as it is used. So slices become views only where the peak of
live bytes of the function is not higher for it: where the tensor is live anyway, as a parameter, a
weight, or for another use, or where all sizes are known and the copies would need as much. A result
of the function stays a copy, as it has memory of its own. Compiled code has views of storages
alone, at bytes that are known when it is compiled.

From level `manifest` to the same; `remove-dead-writes` after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ..dialects import memory, relay, vm
from ..dialects.attributes import plain_attributes
from ..dialects.relay.rearrange import SplitOp, StridedSliceOp
from ..dialects.tensors import as_tensor, is_static, tensor_of
from ..operators.slicing import cuts, picked
from .bytes.aliases import AliasClasses, bodies_of
from .bytes.live_bytes import Load, Span
from .bytes.liveness import live_ranges
from .bytes.op_facts import destination, root_of
from .bytes.storages import storages_of
from .support.changes import ReportingPass
from .support.rewriting import rewrite_each


class Rows(NamedTuple):
    """The results of a kernel are rows along `axis` of its operand, from `starts` on."""

    axis: int
    starts: tuple[int, ...]


def rows_of(kernel: relay.PrimFuncOp) -> Rows | None:
    """Return which rows of its operand a kernel returns; None if it does something else."""
    block = kernel.body.block
    op, last = block.first_op, block.last_op
    if op is None or last is None or op.next_op is not last or len(block.args) != 1:
        return None
    if [*op.operands] != [*block.args] or [*last.operands] != [*op.results]:
        return None
    return rows_taken(op)


def rows_taken(op: Operation) -> Rows | None:
    """Return which contiguous rows of its operand an operator takes; None if not only these."""
    if not isinstance(op, SplitOp | StridedSliceOp) or len(op.operands) != 1:
        return None
    shape = tensor_of(op.operands[0]).get_shape()
    if isinstance(op, SplitOp):
        axis = op.axis.value.data % len(shape)
        sizes = [tensor_of(result).get_shape()[axis] for result in op.results]
        if DYNAMIC_INDEX in sizes:
            return None
        rows = Rows(axis, tuple(sum(sizes[:i]) for i in range(len(sizes))))
    else:
        rows = _sliced(op, shape)
    if rows is None or any(dim != 1 for dim in shape[: rows.axis]):
        return None
    types = [as_tensor(value.type) for value in (*op.operands, *op.results)]
    return rows if rows.axis == 0 or all(type and is_static(type) for type in types) else None


def _sliced(op: StridedSliceOp, shape: Sequence[int]) -> Rows | None:
    """Return the rows that `op` takes, if it takes them along one axis, one after the other."""
    attributes, slices = dict[str, Any](plain_attributes(op)), list[Rows]()
    for axis, begin, end, step, by_size in cuts(len(shape), **attributes):
        dim = shape[axis]
        if dim != DYNAMIC_INDEX:
            indices = picked(dim, begin, end, step, by_size)
            if indices == range(dim):
                continue
            if indices.step != 1 and len(indices) > 1:
                return None
            slices.append(Rows(axis, (indices.start if indices else 0,)))
        elif begin < 0 or step != 1:
            return None
        else:
            slices.append(Rows(axis, (begin,)))
    return slices[0] if len(slices) == 1 else None


@dataclass(eq=False)
class Lives:
    """The bytes of storages over the positions of a body, and how views change them."""

    classes: AliasClasses
    stops: dict[int, int]
    """The end of the lifetime of each class."""
    spans: dict[int, Span]
    """The lifetime and bytes of the storage of each class; none are known if it has several."""
    onto: dict[int, int] = field(default_factory=lambda: {})
    """The class whose bytes each one views, by now."""

    def __post_init__(self) -> None:
        self.load = Load(len(self.classes.body.rows) + 1, self.spans.values())

    @staticmethod
    def of(classes: AliasClasses) -> Lives:
        ranges = live_ranges(classes, to_kill=True)
        stops = {number: interval.stop for number, interval in ranges.items()}
        spans: dict[int, Span] = {}
        for storage in storages_of(classes).storages:
            size = storage.op.size
            for tensor in storage.tensors:
                number = classes.of(tensor.results[0])
                is_alone = len(storage.tensors) == 1 and number not in spans
                known = size.value.data if size is not None and is_alone else None
                spans[number] = storage.lifetime.start, stops[number], known
        return Lives(classes, stops, spans)

    def root(self, value: SSAValue) -> int:
        number = self.classes.of(root_of(value))
        while number in self.onto:
            number = self.onto[number]
        return number

    def accept(self, data: SSAValue, views: Sequence[SSAValue]) -> bool:
        """Test whether the peak is not higher if `views` are in the bytes of `data`; if so, do."""
        classes, root = self.classes, self.root(data)
        numbers = [classes.of(view) for view in views]
        if any(number not in self.spans or number in self.onto for number in numbers):
            return False  # it outlives the function
        gone: list[Span] = []
        for number in numbers:
            start, _, size = self.spans[number]
            gone.append((start, self.stops[number], None if size is None else -size))
        stop = max(self.stops[number] for number in numbers)
        is_kept = classes.kept[root] or not classes.bytes_in(root_of(data))
        if is_kept or self.stops[root] >= stop:
            self.load.add(gone)
        else:
            if root not in self.spans:
                return False
            if not self.load.takes([*gone, (self.stops[root], stop, self.spans[root][2])]):
                return False
            self.stops[root] = stop
        self.onto |= dict.fromkeys(numbers, root)
        return True


def is_in_storage(value: SSAValue) -> bool:
    """Test whether a tensor of known size is in a storage that its function allocates."""
    type, root = as_tensor(value.type), root_of(value)
    while (into := destination(root)) is not None:
        root = root_of(into)
    is_allocated = isinstance(root.owner, memory.AllocTensorOp)
    return is_allocated and type is not None and is_static(type)


def views_in(
    classes: AliasClasses, kernels: Mapping[str, Rows], compiled: bool
) -> Iterator[tuple[vm.InvokeTvmOp, Rows]]:
    """Yield the calls of kernels whose results can be views, unless operands are written over."""
    lives: Lives | None = None
    if classes.overwritten:
        return
    for row in classes.body.rows:
        op = row.op
        rows = kernels.get(op.callee.string_value()) if isinstance(op, vm.InvokeTvmOp) else None
        if rows is None:
            continue
        assert isinstance(op, vm.InvokeTvmOp)
        if compiled and not is_in_storage(op.ins[0]):
            continue
        lives = lives or Lives.of(classes)
        if lives.accept(op.ins[0], op.results):
            yield op, rows


def view(op: vm.InvokeTvmOp, rows: Rows, rewriter: PatternRewriter) -> None:
    """Replace a call of a kernel by views of its operand."""
    new: list[vm.SliceTensorOp] = []
    for start, result, out in zip(rows.starts, op.results, op.outs, strict=True):
        assert isinstance(out.owner, memory.AllocTensorOp), "a result in a storage"
        shape = out.owner.shape
        new.append(vm.SliceTensorOp(op.ins[0], start, result.type, shape, rows.axis))
        new[-1].result.name_hint = result.name_hint
    rewriter.replace(op, new, [part.result for part in new])


@dataclass(frozen=True)
class ViewSlicesPass(ReportingPass):
    name = "view-slices"
    accepts = "manifest"

    compiled: bool = False
    """For compiled code: slices of tensors in storages of known sizes alone are views."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        kernels = {
            kernel.sym_name.data: rows
            for kernel in op.ops
            if isinstance(kernel, relay.PrimFuncOp) and (rows := rows_of(kernel)) is not None
        }
        if not kernels:
            return False
        chosen = [
            views
            for classes in bodies_of(op, separate=False)
            for views in views_in(classes, kernels, self.compiled)
        ]
        parts = dict(chosen)
        return rewrite_each([*parts], lambda call, rewriter: view(call, parts[call], rewriter))
