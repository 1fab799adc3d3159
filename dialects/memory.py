"""The `memory` dialect: storage, the tensors that live in it, and when they die."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, cast

from xdsl.dialects.builtin import I64, IntegerAttr, NoneAttr, TensorType, i64
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Dialect,
    Operation,
    OpResult,
    ParametrizedAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .device import DeviceCarrier, VirtualDeviceAttr, device_of, with_device
from .interfaces import (
    Aliasing,
    AllocatesResults,
    AnyDevice,
    DestinationPassing,
    DeviceConstraint,
    DeviceRule,
    FreesOperand,
    On,
    OnHost,
    Together,
)
from .tensors import as_tensor, bits_of, element_size, is_static, tensor_size


def _device_or_none(value: Attribute | None) -> VirtualDeviceAttr | NoneAttr:
    if value is None:
        return NoneAttr()
    assert isinstance(value, VirtualDeviceAttr | NoneAttr)
    return value


def parse_device(parser: AttrParser) -> VirtualDeviceAttr:
    """The `#relay.device` that stands here."""
    start = parser.pos
    device = parser.parse_attribute()
    if not isinstance(device, VirtualDeviceAttr):
        parser.raise_error(f"expected a #relay.device, but found {device}", start, parser.pos)
    return device


@irdl_attr_definition
class StorageType(ParametrizedAttribute, TypeAttribute, DeviceCarrier):
    """
    An untyped run of bytes on a device.

    ```mlir
    !memory.storage<#relay.device<cuda:0>>
    !memory.storage
    ```
    """

    name = "memory.storage"

    device: VirtualDeviceAttr | NoneAttr = param_def(converter=_device_or_none)

    def __init__(self, device: VirtualDeviceAttr | NoneAttr | None = None):
        super().__init__(_device_or_none(device))

    @property
    def carried_device(self) -> VirtualDeviceAttr | None:
        return self.device if isinstance(self.device, VirtualDeviceAttr) else None

    def carrying(self, device: VirtualDeviceAttr | None) -> Self:
        return type(self)(device)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return (NoneAttr(),)
        device = parse_device(parser)
        parser.parse_punctuation(">")
        return (device,)

    def print_parameters(self, printer: Printer) -> None:
        if isinstance(self.device, VirtualDeviceAttr):
            with printer.in_angle_brackets():
                printer.print_attribute(self.device)


def _parse_static_or_dynamic(
    parser: Parser, type: Attribute
) -> tuple[IntegerAttr[I64] | None, SSAValue | None]:
    """An integer, or an SSA value of `type`."""
    if (value := parser.parse_optional_integer(allow_boolean=False)) is not None:
        return IntegerAttr(value, i64), None
    return None, parser.resolve_operand(parser.parse_unresolved_operand(), type)


def _print_static_or_dynamic(
    printer: Printer, static: IntegerAttr[I64] | None, dynamic: SSAValue | None
) -> None:
    if static is not None:
        printer.print_string(str(static.value.data))
    else:
        assert dynamic is not None, "neither a static nor a dynamic value"
        printer.print_operand(dynamic)


def _exactly_one(what: str, static: object | None, dynamic: object | None) -> None:
    if (static is None) == (dynamic is None):
        both = "both" if static is not None else "neither"
        raise VerifyException(f"{what} must be static or an operand, but is {both}")


def verify_shape(shape: SSAValue, rank: int) -> None:
    """A shape operand has one i64 for each of `rank` dims."""
    type = as_tensor(shape.type)
    if type is None or type.element_type != i64 or type.get_shape() != (rank,):
        raise VerifyException(f"the shape must be a tensor<{rank}xi64>, but is {shape.type}")


@dataclass(frozen=True)
class SizesOnHost(DeviceRule):
    """Sizes, offsets and shapes are computed on the host; the rest is where its type says."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        if isinstance(op, AllocStorageOp) and op.device is not None:
            yield On(op.storage, op.device, "the storage is annotated")
        for operand in op.operands:
            if not isinstance(operand.type, StorageType):
                yield OnHost(operand, f"sizes and shapes of {op.name} are on the host")
        storages = [o for o in op.operands if isinstance(o.type, StorageType)]
        if storages:
            yield Together((*storages, *op.results), "a tensor is where its storage is")


@irdl_op_definition
class AllocStorageOp(IRDLOperation):
    """
    Reserve `size` bytes, aligned to `alignment` bytes.

    ```mlir
    %s = memory.alloc_storage 512 align 64 : !memory.storage<#relay.device<cpu:0>>
    %d = memory.alloc_storage %bytes align 64 : !memory.storage<#relay.device<cpu:0>>
    %u = memory.alloc_storage 512 align 64 on #relay.device<cpu:0> : !memory.storage
    ```

    A dynamic size is an `i64`. The storage is free when the last tensor in it is dead. `on` is
    where it is to be in a program whose devices are not planned yet; the planner puts that into
    the type.
    """

    name = "memory.alloc_storage"

    size = opt_prop_def(IntegerAttr[I64])
    dynamic_size = opt_operand_def(i64)
    alignment = prop_def(IntegerAttr[I64])
    device = opt_prop_def(VirtualDeviceAttr)
    storage = result_def(StorageType)

    traits = traits_def(AllocatesResults(), SizesOnHost())

    def __init__(
        self,
        size: int | SSAValue,
        alignment: int,
        device: VirtualDeviceAttr | None = None,
        on: VirtualDeviceAttr | None = None,
    ):
        static = isinstance(size, int)
        super().__init__(
            operands=[None if static else size],
            properties={
                "size": IntegerAttr(size, i64) if static else None,
                "alignment": IntegerAttr(alignment, i64),
                "device": on,
            },
            result_types=[StorageType(device)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        size, dynamic = _parse_static_or_dynamic(parser, i64)
        parser.parse_keyword("align")
        properties: dict[str, Attribute] = {
            "alignment": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        }
        if size is not None:
            properties["size"] = size
        if parser.parse_optional_keyword("on") is not None:
            properties["device"] = parse_device(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            operands=[] if dynamic is None else [dynamic],
            properties=properties,
            attributes=attributes,
            result_types=[parser.parse_type()],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_static_or_dynamic(printer, self.size, self.dynamic_size)
        printer.print_string(f" align {self.alignment.value.data}")
        if self.device is not None:
            printer.print_string(" on ")
            printer.print_attribute(self.device)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.storage.type)

    def verify_(self) -> None:
        _exactly_one("the size", self.size, self.dynamic_size)
        if self.size is not None and self.size.value.data < 0:
            raise VerifyException(f"the size must be at least 0, but is {self.size.value.data}")
        alignment = self.alignment.value.data
        if alignment <= 0 or alignment & (alignment - 1):
            raise VerifyException(f"alignment must be a power of two, but is {alignment}")
        wanted, there = self.device, device_of(self.storage.type)
        if wanted is not None and there is not None and wanted.join(there) is None:
            raise VerifyException(
                f"the storage is to be on {wanted.spec}, but its type says {there.spec}"
            )


@irdl_op_definition
class AllocTensorOp(IRDLOperation):
    """
    View bytes of `storage`, from byte `offset` on, as a tensor without contents.

    ```mlir
    %t = memory.alloc_tensor %s[128] : tensor<4x4xf32, #relay.device<cpu:0>>
    %d = memory.alloc_tensor %s[%o] shape %dims : tensor<2xi64> -> tensor<?x4xf32>
    ```

    It is written once on every path, as `outs` of an op whose result is then read instead,
    and may be killed; nothing else uses it. It must end within the storage. A dynamic offset
    is an `i64`; a dynamic shape is an i64 tensor of one element a dim.
    """

    name = "memory.alloc_tensor"

    storage = operand_def(StorageType)
    offset = opt_prop_def(IntegerAttr[I64])
    dynamic_offset = opt_operand_def(i64)
    shape = opt_operand_def(TensorType[Attribute])
    tensor = result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(AllocatesResults(), SizesOnHost())

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
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        offset, dynamic = _parse_static_or_dynamic(parser, i64)
        parser.parse_punctuation("]")
        shape = None
        if parser.parse_optional_keyword("shape") is not None:
            shape = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if shape is not None:
            shape = parser.resolve_operand(shape, type)
            parser.parse_punctuation("->")
            type = parser.parse_type()
        storage = parser.resolve_operand(unresolved, StorageType(device_of(type)))
        at = dynamic if offset is None else offset.value.data
        assert at is not None
        op = cls(storage, at, type, shape)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.storage)
        printer.print_string("[")
        _print_static_or_dynamic(printer, self.offset, self.dynamic_offset)
        printer.print_string("]")
        if self.shape is not None:
            printer.print_string(" shape ")
            printer.print_operand(self.shape)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.shape is not None:
            printer.print_attribute(self.shape.type)
            printer.print_string(" -> ")
        printer.print_attribute(self.tensor.type)

    def verify_(self) -> None:
        _exactly_one("the offset", self.offset, self.dynamic_offset)
        type = as_tensor(self.tensor.type)
        assert type is not None
        storage = self.storage.type
        assert isinstance(storage, StorageType)
        if device_of(type) != storage.carried_device:
            raise VerifyException(f"the tensor is {type}, but its storage is {storage}")
        if is_static(type) == (self.shape is not None):
            raise VerifyException(
                f"a shape operand must be there exactly when a dim is dynamic; the type is {type}"
            )
        if bits_of(type.element_type) is None:
            raise VerifyException(f"elements of type {type.element_type} have no size")
        if self.shape is not None:
            verify_shape(self.shape, type.get_num_dims())
        self._verify_uses()
        if self.offset is None:
            return
        offset, size = self.offset.value.data, element_size(type.element_type)
        if offset < 0 or offset % size:
            raise VerifyException(
                f"the offset must be a multiple of the element size, {size}, but is {offset}"
            )
        owner = self.storage.owner
        if is_static(type) and isinstance(owner, AllocStorageOp) and owner.size is not None:
            bytes, there = tensor_size(type), owner.size.value.data
            if offset + bytes > there:
                raise VerifyException(
                    f"a tensor of {bytes} bytes at offset {offset} "
                    f"does not fit in a storage of {there} bytes"
                )

    def _verify_uses(self) -> None:
        written: list[Block | None] = []
        for use in self.tensor.uses:
            user = use.operation
            if isinstance(user, KillOp):
                continue
            outs = len(user.operands) - len(user.results)
            if not user.has_trait(DestinationPassing) or use.index < outs:
                raise VerifyException(
                    f"an allocated tensor has no contents to read: {user.name} must use the result "
                    f"of the op that writes it"
                )
            if user.parent in written:
                raise VerifyException(
                    f"an allocated tensor is written once, but {user.name} writes it again"
                )
            written.append(user.parent)


def verify_destinations(op: Operation, outs: Sequence[SSAValue]) -> None:
    """Result i is the value written into outs i: same type, and outs i is an allocation."""
    if len(outs) != len(op.results):
        raise VerifyException(
            f"{op.name} needs one result for each of its {len(outs)} outs, "
            f"but has {len(op.results)}"
        )
    for i, (out, result) in enumerate(zip(outs, op.results, strict=True)):
        if out.type != result.type:
            raise VerifyException(f"result {i} is {result.type}, but outs {i} is {out.type}")
        if not isinstance(out, BlockArgument) and not isinstance(out.owner, AllocTensorOp):
            raise VerifyException(
                f"outs {i} must be a memory.alloc_tensor or a parameter, "
                f"but comes from {cast(OpResult, out).op.name}"
            )


@dataclass(frozen=True)
class ResultIsOuts(Aliasing):
    """Result i has the bytes of outs i."""

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        outs = op.operands[len(op.operands) - len(op.results) :]
        return zip(op.results, outs, strict=True)


@dataclass(frozen=True)
class CopyDevices(DeviceRule):
    """What is written is where its destination is; what is copied may be elsewhere."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        yield Together((op.operands[1], op.results[0]), "what is written is where its tensor is")


@irdl_op_definition
class CopyOp(IRDLOperation):
    """
    Copy the bytes of `ins` into `outs`, which may be on another device.

    ```mlir
    %y = memory.copy ins(%x : tensor<4xf32, #relay.device<cpu:0>>)
                     outs(%t : tensor<4xf32, #relay.device<cuda:0>>)
                     -> tensor<4xf32, #relay.device<cuda:0>>
    ```
    """

    name = "memory.copy"

    ins = operand_def(TensorType)
    outs = operand_def(TensorType)
    result = result_def(TensorType)

    traits = traits_def(DestinationPassing(), ResultIsOuts(), CopyDevices())
    assembly_format = (
        "`ins` `(` $ins `:` type($ins) `)` `outs` `(` $outs `:` type($outs) `)` attr-dict "
        "`->` type($result)"
    )

    def verify_(self) -> None:
        verify_destinations(self, [self.outs])
        if with_device(self.ins.type, None) != with_device(self.outs.type, None):
            raise VerifyException(
                f"a copy keeps shape and element type, but goes from {self.ins.type} "
                f"to {self.outs.type}"
            )


@irdl_op_definition
class KillOp(IRDLOperation):
    """
    End the life of `value`'s bytes, under all their names; they may be reused from here on.

    ```mlir
    memory.kill %t : tensor<4x4xf32, #relay.device<cpu:0>>
    ```
    """

    name = "memory.kill"

    value = operand_def(AnyAttr())

    traits = traits_def(FreesOperand(), AnyDevice())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value])


Memory = Dialect(
    "memory",
    [AllocStorageOp, AllocTensorOp, CopyOp, KillOp],
    [StorageType],
)
