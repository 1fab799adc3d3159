"""Tensors allocated in storage, and the end of their lifetimes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    i32,
    i64,
)
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..device import device_of
from ..integers import i64_attribute
from ..interfaces import (
    AllocatesResults,
    AnyDevice,
    DestinationPassing,
    FreesOperand,
    ShapedByOperand,
)
from ..memrefs import buffer_size
from ..tensors import as_tensor, bits_of, is_static, static_size
from ..xdsl_extras.formats import StaticOrDynamic, variable_of
from ..xdsl_extras.identity import by_identity
from ..xdsl_extras.segments import operand_counts
from ..xdsl_extras.trait_patterns import Patterns
from ..xdsl_extras.xdsl_internals import operands_of
from .slice_ops import SliceStorageOp
from .static_or_dynamic import exactly_one, folded, verify_fits, verify_shape
from .storage_ops import AllocStorageOp, SizesOnHost, StorageType, is_pool_of

_Offset: TypeAlias = IntegerAttr[I64]

_AT_START: dict[str, Attribute] = {
    "offset": IntegerAttr(0, i64),
    "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0]),
}

_AT_START_SHAPED = {**_AT_START, "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 1])}


@cache
def _segments(computed: int, shape: int) -> DenseArrayBase[IntegerType]:
    """Return the segment sizes, by the numbers of dynamic offsets, and of operands of the shape."""
    return DenseArrayBase.from_list(i32, [1, computed, shape])


class PlacedOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    An op whose result lies in a storage, its first operand.

    Next are an offset, if it is dynamic, and what the shape is computed from.
    """

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (FoldOffset(),)

    @property
    def start(self) -> tuple[SSAValue, int | SSAValue]:
        """The storage and the byte in it; faster than `storage`, `offset` and `dynamic_offset`."""
        storage, *others = operands_of(self)
        offset = self.properties.get("offset")
        return storage, others[0] if offset is None else cast(_Offset, offset).value.data

    def place(self, storage: SSAValue, offset: int | SSAValue) -> None:
        """Move the result to byte `offset` of `storage`."""
        _, *others = operands_of(self)
        shape = others if "offset" in self.properties else others[1:]
        if isinstance(offset, int):
            self.properties["offset"] = i64_attribute(offset)
            self.operands = (storage, *shape)
        else:
            self.properties.pop("offset", None)
            self.operands = (storage, offset, *shape)
        computed = int(not isinstance(offset, int))
        self.properties["operandSegmentSizes"] = _segments(computed, len(shape))


@irdl_custom_directive
class ShapeType(CustomDirective):
    """`S -> ` if the shape is an operand of type S."""

    shape: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if state.operands[variable_of(self.shape).index]:
            self.shape.set(state, [parser.parse_type()])
            parser.parse_punctuation("->")
        else:
            self.shape.set(state, [])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for type in self.shape.get(op):
            state.print_whitespace(printer)
            printer.print_attribute(type)
            printer.print_string(" ->")


@irdl_custom_directive
class StorageTypeOf(CustomDirective):
    """` in S` for a storage that is not of the device of what is in it; of a memref, of none."""

    content: TypeDirective
    storage: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        contents = state.result_types[variable_of(self.content).index]
        assert contents is not None, "the type of the result is before that of its storage"
        is_stated = parser.parse_optional_keyword("in") is not None
        self.storage.set(state, [parser.parse_type() if is_stated else usual_storage(*contents)])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        ((content,), (storage,)) = self.content.get(op), self.storage.get(op)
        if storage != usual_storage(content):
            printer.print_string(" in ")
            printer.print_attribute(storage)


def usual_storage(content: Attribute) -> StorageType:
    """Return the storage of a tensor or memref whose type is not printed."""
    return StorageType(None if isinstance(content, MemRefType) else device_of(content))


@irdl_op_definition
class AllocTensorOp(PlacedOp):
    """
    Allocate a tensor without contents in `storage`, at byte `offset`.

    ```mlir
    %t = memory.alloc_tensor %s[128] : tensor<4x4xf32, #relay.device<cpu:0>>
    %d = memory.alloc_tensor %s[%o] shape %dims : tensor<2xi64> -> tensor<?x4xf32>
    ```

    The tensor may be written once on every path, as one of the `outs` of an op whose result is then
    used in its place, and it may be killed; it has no other uses. It must fit in the storage. A
    dynamic offset is an `i64`; a dynamic shape is an i64 tensor with one element per dim.
    """

    name = "memory.alloc_tensor"

    storage = operand_def(StorageType)
    offset = opt_prop_def(IntegerAttr[I64])
    dynamic_offset = opt_operand_def(i64)
    shape = opt_operand_def(TensorType[Attribute])
    tensor = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(AllocatesResults(), ShapedByOperand(), SizesOnHost())
    custom_directives = (StaticOrDynamic, ShapeType, StorageTypeOf)
    assembly_format = (
        "$storage `[` custom<StaticOrDynamic>($offset, $dynamic_offset) `]` (`shape` $shape^)? "
        "attr-dict `:` custom<ShapeType>(type($shape)) type($tensor) "
        "custom<StorageTypeOf>(ref(type($tensor)), type($storage))"
    )

    def __init__(
        self,
        storage: SSAValue,
        offset: int | SSAValue,
        type: Attribute,
        shape: SSAValue | None = None,
    ):
        static = isinstance(offset, int)
        super().__init__(
            operands=[storage, None if static else offset, shape],
            properties={"offset": IntegerAttr(offset, i64) if static else None},
            result_types=[type],
        )

    @classmethod
    def static(cls, storage: SSAValue, type: Attribute) -> Self:
        """A tensor of static shape at byte 0, made without checks: passes make one a result."""
        return cls.create(operands=[storage], result_types=[type], properties=_AT_START)

    @classmethod
    def dynamic(cls, storage: SSAValue, type: Attribute, shape: SSAValue) -> Self:
        """A tensor of dynamic shape at byte 0, made without checks."""
        return cls.create(
            operands=[storage, shape], result_types=[type], properties=_AT_START_SHAPED
        )

    def verify_(self) -> None:
        storage, *others = operands_of(self)
        _, computed, shaped = operand_counts(self)
        offset = cast("_Offset | None", self.properties.get("offset"))
        if computed == (offset is not None):
            exactly_one("the offset", offset, self.dynamic_offset)
        (result,) = self.results
        type, room = as_tensor(result.type), storage.type
        assert type is not None
        assert isinstance(room, StorageType)
        device, place = device_of(type), room.carried_device
        if (
            device is not place
            and device != place
            and not (device and place and is_pool_of(place, device))
        ):
            raise VerifyException(f"the tensor is {type}, but its storage is {room}")
        is_static, bits, bytes = _layout(type)
        if is_static == shaped:
            fault = "is static and takes no" if shaped else "has a dynamic dim and needs a"
            raise VerifyException(f"{type} {fault} shape operand")
        if bits is None:
            raise VerifyException(f"elements of type {type.element_type} have no size")
        if shaped:
            verify_shape(others[-1], type.get_num_dims())
        _verify_uses(result)
        if offset is None:
            return
        start, size = offset.value.data, -(-bits // 8)
        if start < 0 or start % size:
            raise VerifyException(
                f"the offset must be a multiple of the element size, {size}, but is {start}"
            )
        owner = storage.owner
        if not shaped and isinstance(owner, AllocStorageOp | SliceStorageOp):
            verify_fits("a tensor", bytes, start, owner.size)


@by_identity
def _layout(type: Attribute) -> tuple[bool, int | None, int]:
    """Return whether a tensor type is static, the bits of an element, and the bytes in all."""
    tensor = as_tensor(type)
    assert tensor is not None
    bits = bits_of(tensor.element_type)
    size = None if bits is None else static_size(tensor)
    return is_static(tensor), bits, size or 0


def _verify_uses(tensor: SSAValue) -> None:
    written: list[Block | None] = []
    for use in tensor.uses:
        user = use.operation
        if isinstance(user, KillOp):
            continue
        if not DestinationPassing.writes(use):
            raise VerifyException(
                f"an allocated tensor has no contents to read: {user.name} must use the result "
                f"of the op that writes it"
            )
        if user.parent in written:
            raise VerifyException(
                f"an allocated tensor is written once, but {user.name} writes it again"
            )
        written.append(user.parent)


@irdl_op_definition
class BufferOp(PlacedOp):
    """
    Use bytes of `storage` from byte `offset` on as a memref, whose contents are not defined yet.

    ```mlir
    %b = memory.buffer %s[128] : memref<4x4xf32>
    %d = memory.buffer %s[%o] sizes(%n, %m) : memref<?x4x?xf32>
    ```

    A memref of a program that is not in destination-passing style: it is read and written through
    this value and its aliases until the last use of them. A dynamic offset is an `i64`; dynamic
    dims have sizes of type `index`.
    """

    name = "memory.buffer"

    storage = operand_def(StorageType)
    offset = opt_prop_def(IntegerAttr[I64])
    dynamic_offset = opt_operand_def(i64)
    sizes = var_operand_def(IndexType)
    memref = result_def(MemRefType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(AllocatesResults(), AnyDevice())
    custom_directives = (StaticOrDynamic, StorageTypeOf)
    assembly_format = (
        "$storage `[` custom<StaticOrDynamic>($offset, $dynamic_offset) `]` (`sizes` `` `(` "
        "$sizes^ `)`)? attr-dict `:` type($memref) "
        "custom<StorageTypeOf>(ref(type($memref)), type($storage))"
    )

    def __init__(
        self,
        storage: SSAValue,
        offset: int | SSAValue,
        type: Attribute,
        sizes: Sequence[SSAValue] = (),
    ):
        is_static = isinstance(offset, int)
        segments = _segments(0 if is_static else 1, len(sizes))
        properties: dict[str, Attribute] = {"operandSegmentSizes": segments}
        if is_static:
            properties["offset"] = i64_attribute(offset)
        operands = (storage, *sizes) if is_static else (storage, offset, *sizes)
        Operation.__init__(self, operands=operands, properties=properties, result_types=(type,))

    def verify_(self) -> None:
        exactly_one("the offset", self.offset, self.dynamic_offset)
        type = self.memref.type
        dynamic = type.get_shape().count(DYNAMIC_INDEX)
        if dynamic != len(self.sizes):
            raise VerifyException(f"{type} needs {dynamic} sizes, but got {len(self.sizes)}")
        size = buffer_size(type)
        if size is None:
            raise VerifyException(f"the bytes of {type} are not known")
        if self.offset is not None and self.offset.value.data < 0:
            raise VerifyException(f"the offset must be at least 0, but is {self.offset.value.data}")
        owner = self.storage.owner
        if self.offset is not None and not dynamic and isinstance(owner, AllocStorageOp):
            verify_fits("a buffer", size, self.offset.value.data, owner.size)


class FoldOffset(RewritePattern):
    """Make a constant offset of a tensor or a buffer an attribute."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllocTensorOp | BufferOp, rewriter: PatternRewriter, /) -> None:
        offset = folded(op.offset, op.dynamic_offset)
        if op.offset is None and isinstance(offset, int):
            op.place(op.storage, offset)
            rewriter.notify_op_modified(op)


@irdl_op_definition
class KillOp(IRDLOperation):
    """
    End the lifetime of the bytes of `value` and all its aliases; they may be reused afterwards.

    ```mlir
    memory.kill %t : tensor<4x4xf32, #relay.device<cpu:0>>
    ```

    The bytes must belong to the function: those of its parameters belong to its caller. A constant
    has no lifetime; killing a value that is one on some path does nothing there.
    """

    name = "memory.kill"

    value = operand_def(AnyAttr())

    traits = traits_def(FreesOperand(), AnyDevice())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])
