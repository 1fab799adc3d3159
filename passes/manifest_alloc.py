"""
Make memory explicit: allocate each result, and let its op write into the allocation.

    %y = relay.call_lowered @f(%x) : (T) -> tensor<5x7xf32, #dev>
    ->
    %s = memory.alloc_storage 140 align 64 : !memory.storage<#dev>
    %t = memory.alloc_tensor %s[0] : tensor<5x7xf32, #dev>
    %y = vm.invoke_tvm_op @f ins(%x : T) outs(%t : …) -> tensor<5x7xf32, #dev>

The shape of a dynamic result is computed first, on the host: for a kernel by its shape function, on
the shapes of its arguments and copies of those whose elements it reads. A kernel of static results
that has a shape function needs its checks.

    %y = relay.call_lowered @f(%x) : (tensor<?x4xf32, #dev>) -> tensor<?x4xf32, #dev>
    ->
    %i = vm.shape_of %x : (…) -> tensor<2xi64, #host>
    %a = memory.alloc_storage 16 align 64 : !memory.storage<#host>
    %b = memory.alloc_tensor %a[0] : tensor<2xi64, #host>
    %o = vm.shape_func @shape_func_f ins(%i : …) outs(%b : …) {is_input = array<i64: 0>} -> …
    %n = tensor.extract %o[%c0] : tensor<2xi64, #host>
    %m = arith.muli %n, %c16 : i64
    %s = memory.alloc_storage %m align 64 : !memory.storage<#dev>
    %t = memory.alloc_tensor %s[0] shape %o : tensor<2xi64, #host> -> tensor<?x4xf32, #dev>
    %y = vm.invoke_tvm_op @f ins(%x : …) outs(%t : …) -> tensor<?x4xf32, #dev>

A kernel of nothing but reshapes becomes a view, `vm.reshape_tensor`, and one that only returns a
shape becomes `vm.shape_of`. What a loop carries is in the same bytes in all turns. A copy between
devices allocates on its destination; a copy of a tuple copies its fields. The storages of an op
come first, then its tensors, as in TVM's ManifestAlloc (pull 7369). Sizes and alignments are those
of `dialects.tensors`. A second run changes nothing. From level `lowered` to `manifest`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import I64, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

from ..dialects import memory, relay, vm
from ..dialects.device import device_of
from ..dialects.interfaces import Bufferizable
from ..dialects.relay.creation import ShapeOfOp
from ..dialects.relay.loops import same_bytes_as
from ..dialects.tensors import as_tensor, bits_of, is_static, storage_alignment, tensor_size
from ..dialects.xdsl_extras.identity import by_identity
from ..dialects.xdsl_extras.walking import ops_of, walk
from ..operators.measures import MAX_SIZE
from .bytes.op_facts import destination
from .devices.options import device_option
from .functions.flattening import FlattenCopy
from .functions.symbols import symbols_of
from .sizes.dynamic_results import DynamicShapes
from .support.changes import LevelPass
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns, op_trait_rewrite_pattern, replace_by_equal


@dataclass(frozen=True)
class Layout:
    """The attributes of the allocations for a tensor type."""

    size: IntegerAttr[I64] | None
    """None if a dim is dynamic."""
    alignment: IntegerAttr[I64]
    storage: memory.StorageType


def layout_of(type: Attribute) -> Layout | str:
    """Return the layout of a type, or the reason why it has none."""
    tensor = as_tensor(type)
    if tensor is None:
        return f" must be a tensor to be allocated, but is {type}"
    device = device_of(tensor)
    if device is None:
        return f" has no device: {type}; run plan-devices before manifest-alloc"
    if bits_of(tensor.element_type) is None:
        return f": element type {tensor.element_type} has no defined size"
    size = tensor_size(tensor) if is_static(tensor) else None
    if size is not None and size > MAX_SIZE:
        return f", {tensor}, needs {size} bytes, but at most {MAX_SIZE} fit"
    return Layout(
        None if size is None else IntegerAttr(size, i64),
        IntegerAttr(storage_alignment(tensor.element_type), i64),
        memory.StorageType(device),
    )


def is_shape_of(kernel: relay.PrimFuncOp) -> bool:
    """Test whether a kernel returns the shape of its argument as i64, and does nothing else."""
    first = kernel.body.block.first_op
    return (
        isinstance(first, ShapeOfOp)
        and first.next_op is kernel.body.block.last_op
        and (type := as_tensor(first.results[0].type)) is not None
        and type.element_type == i64
    )


@dataclass(frozen=True)
class AllocateResults(RewritePattern):
    """Allocate a storage and a tensor for each result of an op, and let it write there."""

    dynamic: DynamicShapes
    layout_of: Callable[[Attribute], Layout | str] = field(
        default_factory=lambda: by_identity(layout_of, {})
    )

    @op_trait_rewrite_pattern(Bufferizable)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        bufferizable = op.get_trait(Bufferizable)
        assert bufferizable is not None
        layouts = [self._layout(result) for result in op.results]
        if any(layout.size is None for layout in layouts) or self.dynamic.checks(op):
            before, storages, tensors = self.dynamic.allocate(op)
        else:
            before: list[Operation] = []
            storages = [
                memory.AllocStorageOp.create(
                    result_types=[layout.storage],
                    properties={"size": layout.size, "alignment": layout.alignment},
                )
                for layout in layouts
                if layout.size is not None
            ]
            tensors = [
                memory.AllocTensorOp.static(storage.results[0], result.type)
                for storage, result in zip(storages, op.results, strict=True)
            ]
        for storage, tensor in zip(storages, tensors, strict=True):
            storage.results[0].name_hint = "storage"
            tensor.results[0].name_hint = "tensor"
        written = bufferizable.to_destination_style(op, [t.results[0] for t in tensors])
        replace_by_equal(op, [*before, *storages, *tensors, written], rewriter)

    def _layout(self, result: OpResult) -> Layout:
        layout = self.layout_of(result.type)
        if isinstance(layout, str):
            raise PassError(f"result {result.index} of {result.op.name}{layout}", result)
        return layout


@dataclass(frozen=True)
class ViewReshape(RewritePattern):
    """Replace a call of a kernel that only reshapes by a view."""

    dynamic: DynamicShapes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.CallLoweredOp, rewriter: PatternRewriter, /) -> None:
        if op.reshape_only is None:
            return
        (result,) = op.results
        type = as_tensor(result.type)
        if type is None:
            raise PassError(f"a view must be a tensor, but is {result.type}", op)
        shape, before = (), []
        if not is_static(type) or self.dynamic.checks(op):
            shape, before = self.dynamic.shapes(op)
        shape = () if is_static(type) else shape
        view = vm.ReshapeTensorOp.create(operands=[op.args[0], *shape], result_types=[type])
        rewriter.replace(op, [*before, view])


@dataclass(frozen=True)
class ReadShape(RewritePattern):
    """Replace a call of a kernel that only reads a shape: the data may be on any device."""

    dynamic: DynamicShapes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.CallLoweredOp, rewriter: PatternRewriter, /) -> None:
        kernel = self.dynamic.symbols.get(op.callee.string_value())
        if not isinstance(kernel, relay.PrimFuncOp) or not is_shape_of(kernel):
            return
        (result,) = op.results
        if device_of(result.type) != self.dynamic.host:
            return
        rewriter.replace(op, vm.ShapeOfOp.create(operands=op.args[:1], result_types=[result.type]))


def tensor_of(value: SSAValue) -> memory.AllocTensorOp | None:
    """Return the tensor that `value` is written into, if it is one of its own."""
    into = destination(same_bytes_as(value))
    tensor = None if into is None else into.owner
    return tensor if isinstance(tensor, memory.AllocTensorOp) else None


def tensor_alone(value: SSAValue) -> memory.AllocTensorOp:
    """Return the tensor that holds `value`; an error if something else may be where it is."""
    tensor = tensor_of(value)
    if tensor is None or not tensor.storage.has_one_use():
        message = "a loop must carry tensors of their own: read them by relay.read_rows"
        raise PassError(message, value)
    return tensor


def are_in_place(first: SSAValue, last: SSAValue) -> bool:
    """Test whether what a turn leaves is where the first one finds it."""
    tensors = tensor_of(first), tensor_of(last)
    storages = [tensor.storage for tensor in tensors if tensor is not None]
    same_storage = len(storages) == 2 and storages[0] is storages[1]
    return same_storage or same_bytes_as(first) is same_bytes_as(last)


def carry_in_place(end: relay.EndLoopOp) -> None:
    """Let each turn of a loop find what it carries where the first one does."""
    for first, last in zip(end.start.initial, end.next, strict=True):
        if not are_in_place(first, last):
            tensor, old = tensor_alone(first), tensor_alone(last)
            storage = old.storage.owner
            assert isinstance(storage, Operation), "of an op"
            old.operands[0] = tensor.storage
            Rewriter.erase_op(storage)


@dataclass(frozen=True)
class ManifestAllocPass(LevelPass):
    name = "manifest-alloc"
    accepts = "lowered"

    host: str = "cpu:0"
    """The device of sizes and shapes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        dynamic = DynamicShapes(device_option(self.host, "host"), symbols_of(op))
        apply_patterns(op, FlattenCopy())
        reads_shapes = any(isinstance(o, relay.PrimFuncOp) and is_shape_of(o) for o in op.ops)
        apply_patterns(
            op,
            *([ReadShape(dynamic)] if reads_shapes else []),
            ViewReshape(dynamic),
            AllocateResults(dynamic),
        )
        for end in ops_of(walk(op), relay.EndLoopOp):
            carry_in_place(end)
