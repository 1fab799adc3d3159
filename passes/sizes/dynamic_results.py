"""
Allocation of results whose shapes are computed when the program runs.

Shapes, sizes and the copies of what they are computed from are on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import memory, relay, vm
from ...dialects.device import VirtualDeviceAttr, device_of, tensor_type, with_device
from ...dialects.interfaces import ReifiesShapes
from ...dialects.tensors import (
    as_tensor,
    element_size,
    has_dynamic,
    is_static,
    storage_alignment,
    tensor_size,
)
from ...dialects.type_rules import data_operands, operand_of
from ...operators.signature import Elements, Tensor
from ...operators.sizes import Size, is_known, product
from ..support.diagnostics import PassError
from .rule_code import RuleCode, checked_dims
from .rule_reader import RuleDim, as_expr


class Allocations(NamedTuple):
    """The allocations for the results of an op, and the ops that they need before them."""

    before: list[Operation]
    storages: list[memory.AllocStorageOp]
    tensors: list[memory.AllocTensorOp]


@dataclass(frozen=True)
class DynamicShapes:
    """Computes shapes on the device `host`; `symbols` has the kernels of the module."""

    host: VirtualDeviceAttr
    symbols: Mapping[str, Operation]

    def checks(self, op: Operation) -> bool:
        """Test whether `op` calls a kernel that has a shape function."""
        if not isinstance(op, relay.CallLoweredOp):
            return False
        kernel = self.symbols.get(op.callee.string_value())
        return isinstance(kernel, relay.PrimFuncOp) and kernel.shape_func is not None

    def allocate(self, op: Operation) -> Allocations:
        """Return the allocations for the results of `op`, whose shapes are computed."""
        code = HostCode(self.host)
        shapes = self._shapes(op, code)
        sizes = [
            code.size_of(result.type, shape)
            for result, shape in zip(op.results, shapes, strict=True)
        ]
        storages = [
            code.storage(result.type, size) for result, size in zip(op.results, sizes, strict=True)
        ]
        tensors = [
            alloc_tensor(storage, result.type, shape)
            for storage, result, shape in zip(storages, op.results, shapes, strict=True)
        ]
        return Allocations(code.rules.ops, storages, tensors)

    def shapes(self, op: Operation) -> tuple[Sequence[SSAValue], list[Operation]]:
        """Return the shape of each result of `op`, and the ops that compute them."""
        code = HostCode(self.host)
        return self._shapes(op, code), code.rules.ops

    def _shapes(self, op: Operation, code: HostCode) -> Sequence[SSAValue]:
        if isinstance(op, relay.CallLoweredOp):
            return self._shapes_of_kernel(op, code)
        operands = [code.operand(value) for value in op.operands]
        reifies = op.get_trait(ReifiesShapes)
        if reifies is not None:
            code.rules.enter(op, operands)
            found = zip(reifies.result_dims(op, operands), op.results, strict=True)
            dims = [checked_dims(given, result) for given, result in found]
        else:
            elements = {i: code.elements(op.operands[i]) for i in data_operands(op)}
            dims = [r.dims for r in code.rules.results(op, operands, elements)]
        return [code.rules.shape(given, "out_shape") for given in dims]

    def _shapes_of_kernel(self, call: relay.CallLoweredOp, code: HostCode) -> Sequence[SSAValue]:
        """Call the kernel's shape function on what it reads: data, then shape, of each argument."""
        name = call.callee.string_value()
        kernel = self.symbols.get(name)
        if (
            not isinstance(kernel, relay.PrimFuncOp)
            or kernel.shape_func is None
            or kernel.shape_inputs is None
        ):
            raise PassError(
                f"@{name} has a result of dynamic shape, but no shape function; "
                "run create-shape-functions before manifest-alloc",
                call,
            )
        ins: list[SSAValue] = []
        is_input: list[int] = []
        for arg, entry in zip(call.args, kernel.shape_inputs.get_values(), strict=True):
            if entry & 1:
                ins.append(code.on_host(arg))
                is_input.append(1)
            if entry & 2:
                ins.append(code.shape_of(arg))
                is_input.append(0)
        types = [shape_on(self.host, _rank(result)) for result in call.results]
        storages = [code.storage(t, code.size_of(t), "storage_out_shape") for t in types]
        code.rules.ops += storages
        tensors = [
            alloc_tensor(storage, type) for storage, type in zip(storages, types, strict=True)
        ]
        for tensor in tensors:
            code.rules.emit(tensor, "tensor_out_shape")
        op = vm.ShapeFuncOp.on(kernel.shape_func, ins, [t.tensor for t in tensors])
        op.properties["is_input"] = _flags(tuple(is_input))
        code.rules.ops.append(op)
        for result in op.results:
            result.name_hint = "out_shape"
        return op.results


def alloc_tensor(
    storage: memory.AllocStorageOp, type: Attribute, shape: SSAValue | None = None
) -> memory.AllocTensorOp:
    """Allocate a tensor of `type` at byte 0; `shape` is ignored if the type knows it."""
    if shape is None or not has_dynamic(type):
        return memory.AllocTensorOp.static(storage.storage, type)
    return memory.AllocTensorOp.dynamic(storage.storage, type, shape)


@lru_cache(maxsize=256)
def shape_on(host: VirtualDeviceAttr | None, rank: int) -> Attribute:
    """Return the type of a shape of `rank` dims."""
    return tensor_type(i64, [rank], host)


@lru_cache(maxsize=256)
def _flags(flags: tuple[int, ...]) -> DenseArrayBase[I64]:
    return DenseArrayBase.from_list(i64, flags)


@lru_cache(maxsize=1024)
def _bytes(count: int) -> Attribute:
    return IntegerAttr(count, i64)


@lru_cache(maxsize=256)
def _storage_on(device: VirtualDeviceAttr | None) -> memory.StorageType:
    return memory.StorageType(device)


def _rank(value: SSAValue) -> int:
    tensor = as_tensor(value.type)
    assert tensor is not None, "only tensors have shapes"
    return tensor.get_num_dims()


@dataclass
class HostCode:
    """The ops before one op that compute the shapes of its results, on the device `host`."""

    host: VirtualDeviceAttr | None
    rules: RuleCode = field(init=False)
    _once: dict[tuple[str, SSAValue], SSAValue] = field(
        default_factory=dict[tuple[str, SSAValue], SSAValue]
    )

    def __post_init__(self) -> None:
        self.rules = RuleCode(self.host)

    def shape_of(self, value: SSAValue) -> SSAValue:
        """Return the shape of `value`."""
        return self._emitted_once("shape", value, self._shape_of)

    def on_host(self, value: SSAValue) -> SSAValue:
        """Return `value`, or a copy of it on the host if it is elsewhere."""
        if self._is_on_host(value):
            return value
        return self._emitted_once("copy", value, self._copy)

    def _emitted_once(
        self, what: str, value: SSAValue, emit: Callable[[SSAValue], SSAValue]
    ) -> SSAValue:
        found = self._once.get((what, value))
        if found is None:
            found = self._once[what, value] = emit(value)
        return found

    def _shape_of(self, value: SSAValue) -> SSAValue:
        type = shape_on(self.host, _rank(value))
        op = vm.ShapeOfOp.create(operands=[value], result_types=[type])
        return self.rules.emit(op, "in_shape")

    def _is_on_host(self, value: SSAValue) -> bool:
        device = device_of(value.type)
        return (
            device is None
            or self.host is None
            or (
                (device.device_type, device.device_id, device.scope)
                == (self.host.device_type, self.host.device_id, self.host.scope)
            )
        )

    def _copy(self, value: SSAValue) -> SSAValue:
        type = with_device(value.type, self.host)
        tensor = as_tensor(type)
        assert tensor is not None
        shape = None if is_static(tensor) else self.shape_of(value)
        storage = self.storage(type, self.size_of(type, shape), "storage_in")
        self.rules.ops.append(storage)
        out = self.rules.emit(alloc_tensor(storage, type, shape), "tensor_in")
        return self.rules.emit(
            memory.CopyOp.create(operands=[value, out], result_types=[type]), "in"
        )

    def operand(self, value: SSAValue) -> Tensor | str:
        """Return `value` as the operand of a rule, with the dims of rules."""
        known = operand_of(value.type)
        if isinstance(known, str):
            return known
        shape = partial(self.shape_of, value)
        return self.rules.dims(value.type, shape, value, value.name_hint)

    def elements(self, value: SSAValue) -> Elements:
        """Return the elements of an operand of a rule."""
        constant = self.rules.constant_elements(value)
        if constant is not None:
            return constant
        tensor = self.operand(value)
        assert isinstance(tensor, Tensor), "verified: a rule reads the elements of tensors"
        return self.rules.elements(tensor, value, partial(self.on_host, value))

    def size_of(self, type: Attribute, shape: SSAValue | None = None) -> Size:
        """Return the size in bytes of a tensor of `type`, whose dims are in `shape`."""
        tensor = as_tensor(type)
        assert tensor is not None
        if is_static(tensor):
            return tensor_size(tensor)
        assert shape is not None, f"{type} has dims that are not known"
        dims = self.rules.dims(type, lambda: shape, shape, "out").dims
        known = prod(dim for dim in dims if isinstance(dim, int))
        unknown = [dim for dim in dims if not is_known(dim)]
        return product((known * element_size(tensor.element_type), *unknown))

    def _value(self, size: RuleDim) -> SSAValue:
        start = len(self.rules.ops)
        value = self.rules.write(as_expr(size))
        for op in self.rules.ops[start:]:
            op.results[0].name_hint = op.results[0].name_hint or "bytes"
        return value

    def storage(self, type: Attribute, size: Size, hint: str = "storage") -> memory.AllocStorageOp:
        """Return the storage of a tensor of `type`; it is not emitted yet."""
        tensor = as_tensor(type)
        assert tensor is not None
        assert isinstance(size, int | RuleDim), "dims of rules have products of rules"
        properties = {"alignment": _bytes(storage_alignment(tensor.element_type))}
        if isinstance(size, int):
            properties["size"] = _bytes(size)
        op = memory.AllocStorageOp.create(
            operands=[self._value(size)] if isinstance(size, RuleDim) else [],
            result_types=[_storage_on(device_of(type))],
            properties=properties,
        )
        op.storage.name_hint = hint
        return op
