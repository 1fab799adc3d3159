"""Slices of storages, which are storages too."""

from __future__ import annotations

from xdsl.dialects.builtin import I64, IntegerAttr, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
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
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..interfaces import Part, ViewsOperand
from ..xdsl_extras.formats import StaticOrDynamic
from ..xdsl_extras.trait_patterns import Patterns
from .static_or_dynamic import exactly_one, folded, verify_alignment, verify_fits, verify_size
from .storage_ops import AllocStorageOp, SizesOnHost, StorageType


class PartOfStorage(ViewsOperand):
    """The result is the part of a storage that a `memory.slice_storage` states."""

    def part(self, op: Operation) -> Part:
        assert isinstance(op, SliceStorageOp)
        return op.part


@irdl_custom_directive
class OfSameType(CustomDirective):
    """The type of a storage and of its slice."""

    storage: TypeDirective
    slice: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.slice.parse(parser, state)
        self.storage.set(state, state.result_types[0] or ())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.slice.print(printer, state, op)


@irdl_op_definition
class SliceStorageOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    Use `size` bytes of `storage` from byte `offset` on as a storage, aligned to `alignment` bytes.

    ```mlir
    %w = memory.slice_storage %s[64] size 128 align 64 : !memory.storage<#relay.device<cpu:0>>
    %d = memory.slice_storage %s[%o] size %bytes align 64 : !memory.storage<#relay.device<cpu:0>>
    ```

    Nothing is allocated: the bytes are those of `storage`, which lives as long as the slice does. A
    dynamic offset or size is an `i64`. The slice must fit in `storage`; its offset is a multiple of
    its alignment, which is at most that of `storage`.
    """

    name = "memory.slice_storage"

    storage = operand_def(StorageType)
    offset = opt_prop_def(IntegerAttr[I64])
    dynamic_offset = opt_operand_def(i64)
    size = opt_prop_def(IntegerAttr[I64])
    dynamic_size = opt_operand_def(i64)
    alignment = prop_def(IntegerAttr[I64])
    slice = result_def(StorageType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), PartOfStorage(), SizesOnHost())
    custom_directives = (StaticOrDynamic, OfSameType)
    assembly_format = (
        "$storage `[` custom<StaticOrDynamic>($offset, $dynamic_offset) `]` `size` "
        "custom<StaticOrDynamic>($size, $dynamic_size) `align` $alignment attr-dict `:` "
        "custom<OfSameType>(type($storage), type($slice))"
    )

    def __init__(
        self, storage: SSAValue, offset: int | SSAValue, size: int | SSAValue, alignment: int
    ):
        super().__init__(
            operands=[
                storage,
                None if isinstance(offset, int) else offset,
                None if isinstance(size, int) else size,
            ],
            properties={
                "offset": IntegerAttr(offset, i64) if isinstance(offset, int) else None,
                "size": IntegerAttr(size, i64) if isinstance(size, int) else None,
                "alignment": IntegerAttr(alignment, i64),
            },
            result_types=[storage.type],
        )

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (FoldSlice(),)

    @property
    def part(self) -> Part:
        """The offset, the size and the alignment, the first two static or dynamic."""
        offset = self.dynamic_offset if self.offset is None else self.offset.value.data
        size = self.dynamic_size if self.size is None else self.size.value.data
        assert offset is not None, "verified: static or dynamic"
        assert size is not None, "verified: static or dynamic"
        return Part(offset, size, self.alignment.value.data)

    def _verify_alignment(self) -> None:
        owner, alignment = self.storage.owner, self.alignment.value.data
        if not isinstance(owner, AllocStorageOp | SliceStorageOp):
            return
        given = owner.alignment.value.data
        if given < alignment:
            raise VerifyException(
                f"the alignment must be at most that of the storage, {given}, but is {alignment}"
            )

    def _verify_fits(self) -> None:
        owner = self.storage.owner
        if self.offset is None or self.size is None:
            return
        if isinstance(owner, AllocStorageOp | SliceStorageOp):
            verify_fits("a slice", self.size.value.data, self.offset.value.data, owner.size)

    def verify_(self) -> None:
        exactly_one("the offset", self.offset, self.dynamic_offset)
        exactly_one("the size", self.size, self.dynamic_size)
        alignment = verify_alignment(self.alignment)
        if self.slice.type != self.storage.type:
            raise VerifyException(
                f"the slice is {self.slice.type}, but its storage is {self.storage.type}"
            )
        verify_size(self.size)
        self._verify_alignment()
        if self.offset is not None:
            offset = self.offset.value.data
            if offset < 0 or offset % alignment:
                raise VerifyException(
                    f"the offset must be a multiple of the alignment, {alignment}, but is {offset}"
                )
        self._verify_fits()


class FoldSlice(RewritePattern):
    """Make a constant offset and size of a slice of a storage attributes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SliceStorageOp, rewriter: PatternRewriter, /) -> None:
        offset, size = folded(op.offset, op.dynamic_offset), folded(op.size, op.dynamic_size)
        dynamic = [value for value in (offset, size) if isinstance(value, SSAValue)]
        if 1 + len(dynamic) == len(op.operands):
            return
        made = SliceStorageOp(op.storage, offset, size, op.alignment.value.data)
        made.attributes = op.attributes
        rewriter.replace(op, made)
