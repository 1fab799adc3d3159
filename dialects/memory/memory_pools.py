"""Pools: memories of a device, each with a capacity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..device import VirtualDeviceAttr, parse_device

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
        found = op.attributes.get(POOLS)
        if isinstance(found, ArrayAttr):
            for pool in cast("ArrayAttr[Attribute]", found):
                if isinstance(pool, PoolAttr):
                    yield pool
            return
        op = op.parent_op()
