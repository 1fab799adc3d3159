"""
Calls of `memory.*` and `vm.*` that do not run a kernel.

    memory.alloc_storage(140i64, 64i64, virtual_device=D)     memory.alloc_storage 140 align 64 on D
    memory.alloc_tensor(%s, 0i64, S, const_shape=S)       ->  memory.alloc_tensor %s[0]
    vm.reshape_tensor(%x, S, newshape=[8])                    vm.reshape_tensor %x
    vm.shape_of(%x), memory.kill(%t)                          ops of the same names

Constant sizes, offsets and shapes become attributes. A size that is not constant becomes the
element of its tensor (`tensor.extract`), such a shape an operand. `kernel_calls` builds the calls
of kernels, and `destinations` decides which value the name of an allocated tensor refers to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerType,
    i64,
)
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Operation, OpResult, SSAValue

from .....dialects import memory, vm
from .....dialects.device import VirtualDeviceAttr, tensor_type
from .....dialects.relay.constants import ConstantOp
from .....dialects.relay.device_ops import OnDeviceOp
from .....dialects.relay.elementwise import CastOp
from .....dialects.tensors import as_tensor
from ...json import saved_arrays
from ...text import syntax as ast
from ..build_context import Context, UnitResult, Value
from ..deferred import when_known
from .call_operands import attributes_given, not_a_tensor, problem, values_of

SCALAR = tensor_type(i64, [])
"""The type of sizes and offsets."""


def unit_result(context: Context, op: Operation, at: int) -> Value:
    """Add `op` and return its unit result."""
    context.add(op, at)
    return UnitResult(
        [], context.source_map.location(at), context.block, op, from_operator=False, op=op
    )


def _explicit(context: Context, op: Operation, at: int) -> SSAValue:
    """Add `op` and return its result."""
    context.explicit.ops.append(op)
    return context.value(op, at)


# ------------------------------------------------------------------- constants


def _constant(value: SSAValue) -> list[Operation]:
    """
    Return the constant that defines `value`, and the hints on it and casts to int64, users first;
    empty if there is none.
    """
    ops: list[Operation] = []
    while isinstance(value, OpResult) and _keeps_integers(value.op):
        ops.append(value.op)
        value = value.op.operands[0]
    if isinstance(value, OpResult) and isinstance(value.op, ConstantOp):
        return [*ops, value.op]
    return []


def _keeps_integers(op: Operation) -> bool:
    """Test whether the result of `op` is equal to its operand, if that is an integer."""
    type = as_tensor(op.results[0].type)
    to_int64 = isinstance(op, CastOp) and type is not None and type.element_type == i64
    return to_int64 or isinstance(op, OnDeviceOp)


def integers(dense: DenseIntOrFPElementsAttr[Any], rank: int) -> tuple[int, ...] | None:
    """Return the elements of an integer constant of `rank` 0 or 1; None for any other constant."""
    type = as_tensor(dense.type)
    if (
        type is None
        or type.get_num_dims() != rank
        or not isinstance(type.element_type, IntegerType)
    ):
        return None
    if rank and type.get_shape()[0] > 64:
        return None
    values: tuple[int, ...] = tuple(dense.get_values())
    count = type.get_shape()[0] if rank else 1
    return values * count if len(values) == 1 else values


def _folded(context: Context, value: SSAValue, rank: int) -> tuple[int, ...] | None:
    """Return the elements of `value` if it is constant; its op is then not needed."""
    ops = _constant(value)
    if not ops:
        return None
    constant = cast(ConstantOp, ops[-1])
    numbers = integers(cast("DenseIntOrFPElementsAttr[Any]", constant.value), rank)
    if numbers is not None:
        context.explicit.folded += ops
    return numbers


def _size(context: Context, call: ast.Call, value: SSAValue, what: str) -> int | SSAValue:
    """
    Return a number of bytes: an integer if constant, otherwise the element of an int64 scalar.
    """
    numbers = _folded(context, value, 0)
    if numbers is not None:
        return numbers[0]
    if not context.types.unify(SCALAR, value.type):
        given = context.text(value.type)
        raise problem(context, call, f"the {what} must be an int64 scalar, but is of type {given}")
    return context.value(ExtractOp(value, [], i64), call.offset)


# --------------------------------------------------------------------- storage


def alloc_storage(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """
    Build `(size, alignment)`, or since TVM 0.14 `(size, shape, alignment)` with an unused shape.
    """
    size, *shapes, alignment = values_of(context, call, args, 2, 3)
    for shape in shapes:
        context.explicit.folded += _constant(shape)
    given = attributes_given(context, call, {"dtype": "float32", "virtual_device": None})
    _element(context, call, given["dtype"])
    device = given["virtual_device"]
    if device is not None and not isinstance(device, VirtualDeviceAttr):
        raise problem(context, call, "virtual_device must be a meta[VirtualDevice] entry")
    if device is not None and device.is_unconstrained:
        device = None
    bytes = _size(context, call, size, "size")
    align = _folded(context, alignment, 0)
    if align is None:
        why = "the alignment must be a constant, as it is part of the instruction"
        raise problem(context, call, why)
    return _explicit(context, memory.AllocStorageOp(bytes, align[0], on=device), call.offset)


def _element(context: Context, call: ast.Call, dtype: Any) -> Any:
    element = saved_arrays.element_type_of(str(dtype or "float32"))
    if element is None:
        raise problem(context, call, f'unknown dtype "{dtype}"')
    return element


# --------------------------------------------------------------------- tensors


def alloc_tensor(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build a tensor in a storage, without contents."""
    storage, offset, shape = values_of(context, call, args, 3)
    given = attributes_given(
        context, call, {"dtype": "float32", "const_shape": None, "assert_shape": None}
    )
    element = _element(context, call, given["dtype"])
    context.require(storage.type, memory.StorageType(), "the storage", call.args[0].offset)
    dims = _dims_of(context, call, given)
    at = _size(context, call, offset, "offset")
    operand = _shape(context, call, shape, dims, keep_static=False)
    type = tensor_type(element, list(dims))
    return _explicit(context, memory.AllocTensorOp(storage, at, type, operand), call.offset)


def _dims_of(context: Context, call: ast.Call, given: dict[str, Any]) -> tuple[int, ...]:
    """Return the dims of the tensor, from `const_shape` or `assert_shape`."""
    const, asserted = given["const_shape"], given["assert_shape"]
    dims: tuple[int, ...] | None = None
    if const is not None:
        if isinstance(const, DenseIntOrFPElementsAttr):
            dims = integers(cast("DenseIntOrFPElementsAttr[Any]", const), 1)
        if dims is None:
            raise problem(context, call, "const_shape must be a list of integers in the metadata")
    if asserted is not None and not _is_shape(asserted):
        raise problem(context, call, "assert_shape must be a list of dims")
    if dims is None:
        dims = asserted
    elif asserted and asserted != dims:
        raise problem(context, call, "const_shape and assert_shape must be equal, but differ")
    if dims is None:
        raise problem(context, call, "const_shape or assert_shape is required")
    return _checked(context, call, dims)


def _is_shape(value: Any) -> bool:
    dims = cast("tuple[Any, ...]", value)
    return isinstance(value, tuple) and all(type(dim) is int for dim in dims)


def _checked(context: Context, call: ast.Call, dims: tuple[int, ...]) -> tuple[int, ...]:
    wrong = next((d for d in dims if not 0 <= d < 2**63 and d != DYNAMIC_INDEX), None)
    if wrong is not None:
        raise problem(context, call, f"a dim must be at least 0 and below 2^63, but is {wrong}")
    return dims


def _shape(
    context: Context,
    call: ast.Call,
    shape: SSAValue,
    dims: tuple[int, ...],
    keep_static: bool,
) -> SSAValue | None:
    """
    Return the shape operand of a tensor of `dims`, or None when these are all static.

    With `keep_static` a shape that is not constant is an operand even then.
    """
    is_static = DYNAMIC_INDEX not in dims
    constant = _constant(shape)
    if constant and is_static:
        numbers = _folded(context, shape, 1)
        if numbers != dims:
            found = "not a list of integers" if numbers is None else f"[{_listed(numbers)}]"
            message = f"the shape must be [{_listed(dims)}], but the argument is {found}"
            raise problem(context, call, message)
        return None
    wanted = tensor_type(i64, [len(dims)])
    if not context.types.unify(wanted, shape.type):
        given, expected = context.text(shape.type), context.text(wanted)
        raise problem(
            context, call, f"the shape must be of type {expected}, but is of type {given}"
        )
    return None if is_static and not keep_static else shape


def _listed(dims: tuple[int, ...]) -> str:
    return ", ".join("?" if dim == DYNAMIC_INDEX else str(dim) for dim in dims)


def reshape_tensor(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build a view of a tensor with another shape."""
    data, shape = values_of(context, call, args, 2)
    dims = attributes_given(context, call, {"newshape": None})["newshape"]
    if not _is_shape(dims):
        raise problem(context, call, "newshape must be a list of dims")
    operand = _shape(context, call, shape, _checked(context, call, dims), keep_static=True)
    operands = [data] if operand is None else [data, operand]
    return when_known(context, _reshape_on_known, call, operands, shallow=True)


def _reshape_on_known(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    operands = [context.ssa(arg) for arg in args]
    type = as_tensor(operands[0].type)
    if type is None:
        raise not_a_tensor(context, call, operands[0])
    result = tensor_type(type.element_type, list(call.attrs["newshape"]))
    op = vm.ReshapeTensorOp.create(operands=operands, result_types=[result])
    return _explicit(context, op, call.offset)


def shape_of(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build the dims of a tensor."""
    (data,) = values_of(context, call, args, 1)
    given = attributes_given(context, call, {"dtype": "int64"})
    if given["dtype"] not in ("int64", "", None):
        raise problem(context, call, f"the dtype of a shape must be int64, but is {given['dtype']}")

    type = as_tensor(data.type)
    if type is None:
        raise not_a_tensor(context, call, data)
    result = tensor_type(i64, [type.get_num_dims()])
    return context.value(vm.ShapeOfOp.create(operands=[data], result_types=[result]), call.offset)


def kill(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Build the end of the life of a tensor or another value."""
    (value,) = values_of(context, call, args, 1)
    attributes_given(context, call, {})
    op = memory.KillOp(value)
    context.explicit.ops.append(op)
    return unit_result(context, op, call.offset)


# ----------------------------------------------------------------------- hints


def absorb_hint(
    context: Context, call: ast.Call, arg: Value, device: VirtualDeviceAttr, constrains: bool
) -> bool:
    """
    Absorb an `on_device` around a call that allocates a tensor or returns unit.

    Return whether `arg` is such a call. TVM's planner wraps each of them in a fixed hint. A tensor
    without contents cannot be copied, so its storage is hinted instead; for a kernel call, the
    tensors that it writes.
    """
    if isinstance(arg, UnitResult):
        results = () if arg.op is None else tuple(arg.op.results)
        for value in results if constrains else ():
            context.value(OnDeviceOp(value, device, True, True), call.offset)
        return True
    inner = call.args[0]
    if isinstance(inner, ast.Node):
        inner = context.hints.value(inner.binding)
    if not isinstance(inner, ast.Call) or not isinstance(arg, OpResult):
        return False
    op, block = arg.op, arg.op.parent
    if not isinstance(op, memory.AllocTensorOp) or block is None:
        return False
    if constrains:
        with context.writing(block, op):
            op.operands[0] = context.value(OnDeviceOp(op.storage, device, True, True), call.offset)
    return True
