"""Storage, untyped memory on a device; and pools, memories of a device with a capacity each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import ClassVar, cast

from xdsl.dialects.builtin import I64, ArrayAttr, IntAttr, IntegerAttr, NoneAttr, StringAttr, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..device import DeviceCarrier, VirtualDeviceAttr, device_of, parse_device
from ..integers import i64_attribute
from ..interfaces import (
    AllocatesResults,
    DeviceAnnotated,
    DeviceConstraint,
    DeviceRule,
    HoldsNoTensors,
    OnHost,
    Pinned,
    SameDomain,
)
from ..xdsl_extras.formats import Qualified, StaticOrDynamic
from ..xdsl_extras.trait_patterns import Patterns
from ..xdsl_extras.xdsl_internals import operands_of
from .static_or_dynamic import exactly_one, folded, verify_alignment, verify_size

POOLS = "memory.pools"
"""The attribute of a module that lists its pools."""


@irdl_attr_definition
class PoolAttr(ParametrizedAttribute):
    """
    A memory of a device: its capacity in bytes, if any, the cost of a byte, and its alignment.

    ```mlir
    #memory.pool<#relay.device<cpu:0, scope = "dtcm">, capacity 65536, cost 1, align 64>
    #memory.pool<#relay.device<cpu:0>, cost 10, align 1>
    ```

    The device names it: a scope of one, or the device itself. A tensor on the device may be in a
    storage of any of its pools.
    """

    name = "memory.pool"

    device: VirtualDeviceAttr = param_def()
    bound: IntAttr | NoneAttr = param_def()
    cost: IntAttr = param_def()
    alignment: IntAttr = param_def()

    @staticmethod
    def of(device: VirtualDeviceAttr, capacity: int | None, cost: int, alignment: int) -> PoolAttr:
        bound = NoneAttr() if capacity is None else IntAttr(capacity)
        return PoolAttr(device, bound, IntAttr(cost), IntAttr(alignment))

    @property
    def capacity(self) -> int | None:
        return self.bound.data if isinstance(self.bound, IntAttr) else None

    @property
    def label(self) -> str:
        """Its name in options: its scope, or its device."""
        scope = self.device.scope
        return scope.data if isinstance(scope, StringAttr) else self.device.spec

    def verify(self) -> None:
        if self.capacity is not None and self.capacity < 0:
            raise VerifyException(f"a capacity must be at least 0, but is {self.capacity}")
        if self.alignment.data < 1 or self.alignment.data & (self.alignment.data - 1):
            raise VerifyException(
                f"the alignment of a pool must be a power of two, but is {self.alignment.data}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            device, bound = parse_device(parser), None
            parser.parse_punctuation(",")
            if parser.parse_optional_keyword("capacity") is not None:
                bound = IntAttr(parser.parse_integer(allow_boolean=False))
                parser.parse_punctuation(",")
            parser.parse_keyword("cost")
            cost = IntAttr(parser.parse_integer(allow_boolean=False))
            parser.parse_punctuation(",")
            parser.parse_keyword("align")
            alignment = IntAttr(parser.parse_integer(allow_boolean=False))
        return [device, NoneAttr() if bound is None else bound, cost, alignment]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.device)
            if self.capacity is not None:
                printer.print_string(f", capacity {self.capacity}")
            printer.print_string(f", cost {self.cost.data}, align {self.alignment.data}")


def pools_of(op: Operation) -> dict[str, PoolAttr]:
    """Return the pools of the module that holds `op`, or is it, by `place_of` their devices."""
    return {place_of(pool.device): pool for pool in _listed(op)}


def place_of(device: VirtualDeviceAttr) -> str:
    """Name a device and its memory scope, whatever its target: `cpu:0`, `cpu:0/dtcm`."""
    scope = device.scope
    return f"{device.spec}/{scope.data}" if isinstance(scope, StringAttr) else device.spec


def is_pool_of(place: VirtualDeviceAttr, device: VirtualDeviceAttr) -> bool:
    """Test whether `place` is a memory scope of `device`, which has none."""
    return isinstance(device.scope, NoneAttr) and place.spec == device.spec and place != device


def _listed(op: Operation | None) -> Iterator[PoolAttr]:
    while op is not None:
        pools = op.attributes.get(POOLS)
        if isinstance(pools, ArrayAttr):
            for pool in cast("ArrayAttr[Attribute]", pools):
                if isinstance(pool, PoolAttr):
                    yield pool
            return
        op = op.parent_op()


def _device_or_none(value: Attribute | None) -> VirtualDeviceAttr | NoneAttr:
    if value is None:
        return NoneAttr()
    assert isinstance(value, VirtualDeviceAttr | NoneAttr)
    return value


@irdl_attr_definition
class StorageType(ParametrizedAttribute, TypeAttribute, DeviceCarrier, HoldsNoTensors):
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


def _in_pools(type: Attribute, op: Operation) -> bool:
    """Test whether the results of `op` are in a pool of their device, a storage of `type`."""
    place, devices = device_of(type), [device_of(result.type) for result in op.results]
    return place is not None and any(d is not None and is_pool_of(place, d) for d in devices)


class SizesOnHost(DeviceRule):
    """Sizes, offsets and shapes are on the host; a tensor is on the device of its storage."""

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for operand in op.operands:
            if not isinstance(operand.type, StorageType):
                yield OnHost(operand, f"sizes and shapes of {op.name} are on the host")
        storages = [o for o in op.operands if isinstance(o.type, StorageType)]
        if storages and not _in_pools(storages[0].type, op):
            yield SameDomain((*storages, *op.results), "a tensor is where its storage is")


class StorageDevice(DeviceRule):
    """A storage is on the device that it is annotated with; its size is on the host."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        assert isinstance(op, AllocStorageOp)
        if op.device is not None:
            yield Pinned(op.storage, op.device, "the storage is annotated")
        yield from SizesOnHost().constraints(op)


class StorageAnnotation(DeviceAnnotated):
    """`on` says what the storage's type does not say yet."""

    def erase_annotations(self, op: Operation) -> None:
        assert isinstance(op, AllocStorageOp)
        op.device = None


@cache
def _type_on(device: VirtualDeviceAttr | None) -> StorageType:
    return StorageType(device)


@irdl_op_definition
class AllocStorageOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    Reserve `size` bytes, aligned to `alignment` bytes.

    ```mlir
    %s = memory.alloc_storage 512 align 64 : !memory.storage<#relay.device<cpu:0>>
    %d = memory.alloc_storage %bytes align 64 : !memory.storage<#relay.device<cpu:0>>
    %u = memory.alloc_storage 512 align 64 on #relay.device<cpu:0> : !memory.storage
    ```

    A dynamic size is an `i64`. The storage is freed when the last tensor in it is dead. `on` is the
    device annotation of a program whose devices are not planned yet; the planner moves it into the
    type.
    """

    name = "memory.alloc_storage"

    size = opt_prop_def(IntegerAttr[I64])
    dynamic_size = opt_operand_def(i64)
    alignment = prop_def(IntegerAttr[I64])
    device = opt_prop_def(VirtualDeviceAttr)
    storage = result_def(StorageType)

    traits = traits_def(AllocatesResults(), StorageDevice(), StorageAnnotation())
    custom_directives = (StaticOrDynamic, Qualified)
    assembly_format = (
        "custom<StaticOrDynamic>($size, $dynamic_size) `align` $alignment (`on` "
        "custom<Qualified>($device)^)? attr-dict `:` type($storage)"
    )

    def __init__(
        self,
        size: int | SSAValue,
        alignment: int,
        device: VirtualDeviceAttr | None = None,
        on: VirtualDeviceAttr | None = None,
    ):
        properties: dict[str, Attribute] = {"alignment": i64_attribute(alignment)}
        if isinstance(size, int):
            properties["size"] = i64_attribute(size)
        if on is not None:
            properties["device"] = on
        operands = () if isinstance(size, int) else (size,)
        types = (_type_on(device),)
        Operation.__init__(self, operands=operands, properties=properties, result_types=types)

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (FoldSize(),)

    @property
    def bytes(self) -> int | SSAValue:
        """The size, static or dynamic."""
        size = self.properties.get("size")
        return operands_of(self)[0] if size is None else cast(IntegerAttr[I64], size).value.data

    def verify_(self) -> None:
        exactly_one("the size", self.size, next(iter(operands_of(self)), None))
        verify_size(self.size)
        verify_alignment(self.alignment)
        wanted, there = self.device, device_of(self.results[0].type)
        if wanted is not None and there is not None and wanted.join(there) is None:
            raise VerifyException(
                f"the storage is annotated with {wanted.spec}, but its type has {there.spec}"
            )


class FoldSize(RewritePattern):
    """Make a constant size of a storage an attribute."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllocStorageOp, rewriter: PatternRewriter, /) -> None:
        size = folded(op.size, op.dynamic_size)
        if op.size is None and isinstance(size, int):
            device = device_of(op.storage.type)
            made = AllocStorageOp(size, op.alignment.value.data, device, op.device)
            made.attributes = op.attributes
            rewriter.replace(op, made)
