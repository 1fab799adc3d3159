"""
Types with explicit memory as types of upstream MLIR.

    tensor<8x4xui8, #relay.device<cuda:0>>     memref<8x4xi8, "cuda:0">
    !memory.storage<#relay.device<cpu:0>>      memref<?xi8>

Integers lose their signs, which ops know. A device becomes a memory space, the host none. Closures,
data types and references have no memory layout: they are errors.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias, cast, get_args

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    TupleType,
    i8,
)
from xdsl.ir import Attribute, SSAValue

from ...dialects import memory
from ...dialects.device import VirtualDeviceAttr, device_of
from ...dialects.foreign import mended
from ...dialects.tensors import as_tensor, signless
from ...passes.support.diagnostics import PassError, Place

for _dialect in (memref.MemRef, scf.Scf):
    mended(_dialect)  # so that ops that are built here are printed as those that are read


MemRef: TypeAlias = MemRefType[Attribute]


def is_memref(type: Attribute) -> bool:
    return isinstance(type, MemRefType)


def as_memref(type: Attribute) -> MemRef:
    """Return `type`, which is a memref."""
    assert isinstance(type, MemRefType)
    return cast(MemRef, type)


def space_of(value: SSAValue) -> Attribute:
    """Return the memory space of `value`, a memref."""
    return as_memref(value.type).memory_space


_UNCHANGED: tuple[type[Attribute], ...] = (MemRefType, IntegerType, IndexType, *get_args(AnyFloat))
"""The types that upstream MLIR has."""


@dataclass(frozen=True)
class MemRefTypes:
    """Converts types; `host` is the device whose memory is the default one."""

    host: VirtualDeviceAttr
    pools: Collection[str] = ()
    """The places of pools, whose memory is that of their devices."""
    _known: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])

    def __call__(self, type: Attribute, at: Place) -> Attribute:
        """Convert `type`; raise an error at `at` if it has no memory layout."""
        converted = self._known.get(type)
        if converted is None:
            converted = self._known[type] = self._converted(type, at)
        return converted

    def of(self, value: SSAValue) -> Attribute:
        """Convert the type of `value`."""
        return self(value.type, value)

    def storage(
        self, device: VirtualDeviceAttr | None, size: int = DYNAMIC_INDEX
    ) -> MemRefType[IntegerType]:
        """Return the type of a storage of `size` bytes."""
        return MemRefType(i8, [size], NoneAttr(), self.space(device))

    def space(self, device: VirtualDeviceAttr | None) -> Attribute:
        """Return the memory space of `device`."""
        if device is not None and memory.place_of(device) in self.pools:
            device = VirtualDeviceAttr(device.device_type, device.device_id, device.target)
        if device is None or device.join(self.host) == self.host:
            return NoneAttr()
        scope = device.scope.data if isinstance(device.scope, StringAttr) else ""
        return StringAttr(f"{device.spec}:{scope}" if scope else device.spec)

    def _converted(self, type: Attribute, at: Place) -> Attribute:
        tensor = as_tensor(type)
        if tensor is not None:
            return MemRefType(
                signless(tensor.element_type),
                tensor.get_shape(),
                NoneAttr(),
                self.space(device_of(type)),
            )
        if isinstance(type, memory.StorageType):
            return self.storage(type.carried_device)
        if isinstance(type, _UNCHANGED):
            return type
        if isinstance(type, TupleType):
            raise PassError(
                f"a value of type {type} has no memory layout: run flatten-tuples first", at
            )
        raise PassError(
            f"values of type {type} have no memory layout: only the machine runs programs with "
            "closures, data types or references (xrelay-opt -p vm, xrelay-run)",
            at,
        )
