"""
Allocation of results whose shapes are computed when the program runs.

Shapes, sizes and the copies of what they are computed from are on the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import memory, relay, vm
from ...dialects.device import VirtualDeviceAttr, device_of, with_device
from ...dialects.integers import i64_array, i64_attribute
from ...dialects.interfaces import ReifiesShapes
from ...dialects.tensors import (
    as_tensor,
    element_size,
    has_dynamic,
    is_static,
    storage_alignment,
    tensor_size,
)
from ...operators.sizes import Size, product
from ...operators.sizes.size_expressions import Symbol
from ..support.diagnostics import PassError
from .rule_code import RuleCode, checked_dims
from .rule_reader import as_expr
from .size_code import shape_of_op, shape_on


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

    def allocate(
        self, op: Operation
    ) -> tuple[list[Operation], list[memory.AllocStorageOp], list[memory.AllocTensorOp]]:
        """
        Return the ops that compute the shapes of the results of `op`, and their allocations.

        These are to be inserted after them.
        """
        code = HostCode(self.host)
        shapes = self._shapes(op, code)
        made = [
            code.allocation(result.type, shape)
            for result, shape in zip(op.results, shapes, strict=True)
        ]
        return code.ops, [storage for storage, _ in made], [tensor for _, tensor in made]

    def shapes(self, op: Operation) -> tuple[Sequence[SSAValue], list[Operation]]:
        """Return the shape of each result of `op`, and the ops that compute them."""
        code = HostCode(self.host)
        return self._shapes(op, code), code.ops

    def _shapes(self, op: Operation, code: HostCode) -> Sequence[SSAValue]:
        if isinstance(op, relay.CallLoweredOp):
            return self._shapes_of_kernel(op, code)
        reifies = op.get_trait(ReifiesShapes)
        if reifies is None:
            dims = [result.dims for result in code.results(op)]
        else:
            results = zip(reifies.result_dims(op, code.enter(op)), op.results, strict=True)
            dims = [checked_dims(given, result) for given, result in results]
        return [code.shape(given, "out_shape") for given in dims]

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
                ins.append(code.data_of(arg))
                is_input.append(1)
            if entry & 2:
                ins.append(code.shape_of(arg))
                is_input.append(0)
        ranks = [tensor.get_num_dims() for r in call.results if (tensor := as_tensor(r.type))]
        types = [shape_on(self.host, rank) for rank in ranks]
        made = [code.allocation(type, None, "storage_out_shape") for type in types]
        code.ops += [storage for storage, _ in made]
        outs = [code.emit(tensor, "tensor_out_shape") for _, tensor in made]
        op = vm.ShapeFuncOp.on(kernel.shape_func, ins, outs)
        op.properties["is_input"] = i64_array(is_input)
        code.ops.append(op)
        for result in op.results:
            result.name_hint = "out_shape"
        return op.results


@lru_cache(maxsize=256)
def _storage_on(device: VirtualDeviceAttr | None) -> memory.StorageType:
    return memory.StorageType(device)


class HostCode(RuleCode):
    """The ops before one op that compute the shapes of its results, on the device `host`."""

    def shape_of(self, value: SSAValue) -> SSAValue:
        op = partial(shape_of_op, value, self.host)
        return self.once(("shape", value), lambda: self.emit(op(), "in_shape"))

    def data_of(self, value: SSAValue) -> SSAValue:
        """Return `value`, or a copy of it on the host if it is elsewhere."""
        device, host = device_of(value.type), self.host
        if device is None or host is None or memory.place_of(device) == memory.place_of(host):
            return value
        return self.once(("copy", value), lambda: self._copy(value))

    def _copy(self, value: SSAValue) -> SSAValue:
        type = with_device(value.type, self.host)
        shape = self.shape_of(value) if has_dynamic(type) else None
        storage, tensor = self.allocation(type, shape, "storage_in")
        self.ops.append(storage)
        out = self.emit(tensor, "tensor_in")
        return self.emit(memory.CopyOp.create(operands=[value, out], result_types=[type]), "in")

    def _bytes(self, type: Attribute, shape: SSAValue | None) -> Size:
        """Return the size in bytes of a tensor of `type`, whose dims are in `shape`."""
        tensor = as_tensor(type)
        assert tensor is not None
        if is_static(tensor):
            return tensor_size(tensor)
        assert shape is not None, f"{type} has dims that are not known"
        dims = tensor.get_shape()
        known = prod(dim for dim in dims if dim != DYNAMIC_INDEX)
        unknown = [
            self.dim(self.read("out", shape, axis))
            for axis, dim in enumerate(dims)
            if dim == DYNAMIC_INDEX
        ]
        return product((known * element_size(tensor.element_type), *unknown))

    def leaf(self, symbol: Symbol) -> SSAValue:
        if symbol.kind == "out":
            shape, axis = cast("tuple[SSAValue, int]", symbol.args)
            return self.extract(shape, [axis], f"out_dim{axis}")
        return super().leaf(symbol)

    def allocation(
        self, type: Attribute, shape: SSAValue | None, hint: str = "storage"
    ) -> tuple[memory.AllocStorageOp, memory.AllocTensorOp]:
        """
        Return the storage of a tensor of `type`, and the tensor at its start; neither is emitted.

        `shape` is ignored if the type knows it.
        """
        tensor, size = as_tensor(type), self._bytes(type, shape)
        assert tensor is not None
        properties = {"alignment": i64_attribute(storage_alignment(tensor.element_type))}
        operands: list[SSAValue] = []
        if isinstance(size, int):
            properties["size"] = i64_attribute(size)
        else:
            start = len(self.ops)
            operands.append(self.write(as_expr(size)))
            for op in self.ops[start:]:
                op.results[0].name_hint = op.results[0].name_hint or "bytes"
        storage = memory.AllocStorageOp.create(
            operands=operands,
            result_types=[_storage_on(device_of(type))],
            properties=properties,
        )
        storage.storage.name_hint = hint
        if shape is None or not has_dynamic(type):
            return storage, memory.AllocTensorOp.static(storage.storage, type)
        return storage, memory.AllocTensorOp.dynamic(storage.storage, type, shape)
