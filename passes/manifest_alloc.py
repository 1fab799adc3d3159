"""
Make memory explicit: every result gets a storage and a tensor in it, which its op writes into.

    %y = relay.call_lowered @f(%x) : (T) -> tensor<5x7xf32, #dev>
    ->
    %s = memory.alloc_storage 140 align 64 : !memory.storage<#dev>
    %t = memory.alloc_tensor %s[0] : tensor<5x7xf32, #dev>
    %y = vm.invoke_tvm_op @f ins(%x : T) outs(%t : …) -> tensor<5x7xf32, #dev>

A kernel of nothing but reshapes becomes a view, `vm.reshape_tensor`; a copy between devices
allocates on its destination; a copy of a tuple copies its fields. All storages of an op come
first, then all tensors, as in TVM's ManifestAlloc (pull 7369). Sizes and alignments are those of
`dialects.tensors`. Results of dynamic shape are refused. From level `lowered` to `manifest`.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    TupleType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import memory, relay, vm
from ..dialects.device import VirtualDeviceAttr, device_of
from ..dialects.interfaces import Bufferizable
from ..dialects.tensors import Tensor, as_tensor, bits_of, is_static, storage_alignment, tensor_size
from ..dialects.walking import walk
from .analysis.symbols import called_symbols
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns

STATIC_OFFSET = DenseArrayBase.from_list(i32, [1, 0, 0])
"""The operand segments of an `alloc_tensor` with a static offset and shape."""

ZERO = IntegerAttr(0, i64)


@dataclass(frozen=True)
class Place:
    """How a tensor type is stored: the attributes that its allocations need."""

    size: IntegerAttr[I64]
    alignment: IntegerAttr[I64]
    storage: memory.StorageType


def placed(type: Attribute, value: OpResult) -> Place:
    """The place for a tensor of `type`; an error at `value`'s op when it has none."""
    tensor = as_tensor(type)
    if tensor is None:
        raise PassError(
            f"only tensors get storage, but a result of {value.op.name} is {type}", value
        )
    device = device_of(tensor)
    if device is None:
        raise PassError(
            f"result {value.index} of {value.op.name} has no device: {type}; "
            "run plan-devices before manifest-alloc",
            value,
        )
    if not is_static(tensor):
        raise PassError(
            f"result {value.index} of {value.op.name} has a dynamic shape, {type}; "
            "manifest-alloc allocates static shapes",
            value,
        )
    if bits_of(tensor.element_type) is None:
        raise PassError(
            f"result {value.index} of {value.op.name} has elements of no size, "
            f"{tensor.element_type}",
            value,
        )
    return _place(tensor, device)


def _place(tensor: Tensor, device: VirtualDeviceAttr) -> Place:
    return Place(
        IntegerAttr(tensor_size(tensor), i64),
        IntegerAttr(storage_alignment(tensor.element_type), i64),
        memory.StorageType(device),
    )


@dataclass
class AllocateResults(RewritePattern):
    """Give an op that wants storage one storage and one tensor per result."""

    places: dict[Attribute, Place] = field(default_factory=dict[Attribute, Place])
    """By type, so that a type's sizes are computed once."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        bufferizable = op.get_trait(Bufferizable)
        if bufferizable is None:
            return
        storages = [self._storage(result) for result in op.results]
        tensors = [
            memory.AllocTensorOp.create(
                operands=storage.results,
                result_types=[result.type],
                properties={"offset": ZERO, "operandSegmentSizes": STATIC_OFFSET},
            )
            for storage, result in zip(storages, op.results, strict=True)
        ]
        for op_made, hint in [(o, "storage") for o in storages] + [(o, "tensor") for o in tensors]:
            op_made.results[0].name_hint = hint
        written = bufferizable.to_destination_style(op, [t.results[0] for t in tensors])
        for old, new in zip(op.results, written.results, strict=True):
            new.name_hint = old.name_hint
        rewriter.replace(op, [*storages, *tensors, written], written.results)

    def _storage(self, result: OpResult) -> Operation:
        place = self.places.get(result.type)
        if place is None:
            place = self.places[result.type] = placed(result.type, result)
        return memory.AllocStorageOp.create(
            result_types=[place.storage],
            properties={"size": place.size, "alignment": place.alignment},
        )


class ViewReshape(RewritePattern):
    """Replace a call of a kernel of nothing but reshapes by a view."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.CallLoweredOp, rewriter: PatternRewriter, /) -> None:
        if op.reshape_only is None:
            return
        (result,) = op.results
        type = as_tensor(result.type)
        if type is None or not is_static(type):
            raise PassError(
                f"the view has a dynamic shape, {result.type}; manifest-alloc views static shapes",
                op,
            )
        view = vm.ReshapeTensorOp.create(operands=op.args[:1], result_types=[type])
        view.results[0].name_hint = result.name_hint
        rewriter.replace(op, view)


class ExpandTupleCopy(RewritePattern):
    """Replace a copy of a tuple by copies of its tensors, however deep they are."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.DeviceCopyOp, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op.value.type, TupleType):
            return
        ops: list[Operation] = []
        copied = copy_parts(op.value, op.result.type, ops)
        rewriter.replace(op, ops, [copied])


def copy_parts(value: SSAValue, type: Attribute, ops: list[Operation]) -> SSAValue:
    """A copy of `value` as `type`, tuples taken apart; the ops that make it are added to `ops`."""
    if not isinstance(type, TupleType):
        device = device_of(type)
        assert device is not None, "the verifier wants a device"
        copy = relay.DeviceCopyOp(value, device)
        ops.append(copy)
        return copy.result
    fields: list[SSAValue] = []
    for i, part in enumerate(type.types):
        item = relay.TupleGetItemOp(value, i)
        ops.append(item)
        fields.append(copy_parts(item.result, part, ops))
    ops.append(made := relay.TupleOp(fields))
    return made.result


@dataclass(frozen=True)
class RemoveUncalledKernel(RewritePattern):
    """Remove a kernel that became a view wherever it was called."""

    uncalled: frozenset[str]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        if op.sym_name.data in self.uncalled:
            rewriter.erase(op)


def viewed_symbols(module: ModuleOp) -> set[str]:
    """The kernels that some call treats as a view."""
    return {
        op.callee.string_value()
        for op in walk(module)
        if isinstance(op, relay.CallLoweredOp) and op.reshape_only is not None
    }


@dataclass(frozen=True)
class ManifestAllocPass(ModulePass):
    """Make memory explicit: a storage and a tensor for every result, kernels that write."""

    name = "manifest-alloc"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        viewed = viewed_symbols(op)
        apply_patterns(op, ExpandTupleCopy())
        apply_patterns(op, ViewReshape(), AllocateResults())
        if viewed:
            apply_patterns(op, RemoveUncalledKernel(frozenset(viewed - called_symbols(op))))
