"""
Calls of `memory.*` and `vm.*` that do not run a kernel.

    memory.alloc_storage(140i64, 64i64, virtual_device=D)     memory.alloc_storage 140 align 64 on D
    memory.alloc_tensor(%s, 0i64, S, const_shape=S)       ->  memory.alloc_tensor %s[0]
    vm.reshape_tensor(%x, S, newshape=[8])                    vm.reshape_tensor %x
    vm.shape_of(%x), memory.kill(%t)                          ops of the same names

Constant sizes, offsets and shapes become attributes. A size that is not constant becomes the
element of its tensor (`tensor.extract`), such a shape an operand. `calls_of_kernels` builds the
calls of kernels, and the pass `rename-written-tensors` decides which value the name of an allocated
tensor refers to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, IntegerType, i64
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from .....dialects import memory, vm
from .....dialects.dense import Dense
from .....dialects.device import VirtualDeviceAttr, tensor_type
from .....dialects.relay import ConstantOp, OnDeviceOp
from .....dialects.relay.elementwise import CastOp
from .....dialects.tensors import as_tensor
from ...json import saved_arrays
from ...text import syntax as ast
from ...type_texts import dims_text
from ..build_context import Context
from ..deferred import when_known
from .call_site import Attrs, Site

SCALAR = tensor_type(i64, [])
"""The type of sizes and offsets."""


def unit_result(site: Site, op: Operation) -> SSAValue:
    """Add `op` and return its unit result."""
    site.context.add(op, site.call.offset)
    unit = site.context.packed([], site.call.offset)
    site.context.units[unit] = op
    return unit


def _explicit(site: Site, op: Operation) -> SSAValue:
    """Add `op`, which remains to be verified, and return its result."""
    site.context.explicit.ops.append(op)
    return site.add(op)


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


def integers(dense: Dense, rank: int) -> tuple[int, ...] | None:
    """Return the elements of an integer constant of `rank` 0 or 1; None for any other constant."""
    type = as_tensor(dense.type)
    if type is None or not isinstance(type.element_type, IntegerType):
        return None
    shape = type.get_shape()
    if len(shape) != rank or (rank and shape[0] > 64):
        return None
    values: tuple[int, ...] = tuple(dense.get_values())
    return values * (shape[0] if rank else 1) if len(values) == 1 else values


def _folded(site: Site, value: SSAValue, rank: int) -> tuple[int, ...] | None:
    """Return the elements of `value` if it is constant; its op is then not needed."""
    ops = _constant(value)
    if not ops:
        return None
    numbers = integers(cast(Dense, cast(ConstantOp, ops[-1]).value), rank)
    if numbers is not None:
        site.context.explicit.folded += ops
    return numbers


def _size(site: Site, value: SSAValue, what: str) -> int | SSAValue:
    """Return a number of bytes: an integer if constant, else the element of an int64 scalar."""
    numbers = _folded(site, value, 0)
    if numbers is not None:
        return numbers[0]
    site.require(SCALAR, value, f"the {what} must be an int64 scalar, but is of type <given>")
    return site.add(ExtractOp(value, [], i64))


# --------------------------------------------------------------------- storage


def alloc_storage(site: Site) -> SSAValue:
    """Build `(size, alignment)`, or since TVM 0.14 `(size, shape, alignment)`; shape is unused."""
    size, *shapes, alignment = site.values(2, 3)
    for shape in shapes:
        site.context.explicit.folded += _constant(shape)
    given = site.attributes(dtype="float32", virtual_device=None)
    _element(site, given["dtype"])
    device = given["virtual_device"]
    if device is not None and not isinstance(device, VirtualDeviceAttr):
        raise site.problem("virtual_device must be a meta[VirtualDevice] entry")
    if device is not None and device.is_unconstrained:
        device = None
    bytes = _size(site, size, "size")
    align = _folded(site, alignment, 0)
    if align is None:
        why = "the alignment must be a constant, as it is part of the instruction"
        raise site.problem(why)
    return _explicit(site, memory.AllocStorageOp(bytes, align[0], on=device))


def _element(site: Site, dtype: Any) -> Attribute:
    element = saved_arrays.element_type_of(str(dtype or "float32"))
    if element is None:
        raise site.problem(f'unknown dtype "{dtype}"')
    return element


# --------------------------------------------------------------------- tensors


def alloc_tensor(site: Site) -> SSAValue:
    """Build a tensor in a storage, without contents."""
    storage, offset, shape = site.values(3)
    given = site.attributes(dtype="float32", const_shape=None, assert_shape=None)
    element = _element(site, given["dtype"])
    site.context.require(
        storage.type, memory.StorageType(), "the storage", site.call.args[0].offset
    )
    dims = _dims_of(site, given)
    at = _size(site, offset, "offset")
    operand = _shape(site, shape, dims, keep_static=False)
    type = tensor_type(element, list(dims))
    return _explicit(site, memory.AllocTensorOp(storage, at, type, operand))


def _dims_of(site: Site, given: Attrs) -> tuple[int, ...]:
    """Return the dims of the tensor, from `const_shape` or `assert_shape`."""
    const, asserted = given["const_shape"], given["assert_shape"]
    is_dense = isinstance(const, DenseIntOrFPElementsAttr)
    dims = integers(cast(Dense, const), 1) if is_dense else None
    if const is not None and dims is None:
        raise site.problem("const_shape must be a list of integers in the metadata")
    shape = () if asserted is None else _dims(site, "assert_shape", asserted)
    if dims is not None and shape and shape != dims:
        raise site.problem("const_shape and assert_shape must be equal, but differ")
    if dims is None and asserted is None:
        raise site.problem("const_shape or assert_shape is required")
    return _dims(site, "const_shape", shape if dims is None else dims)


def _dims(site: Site, name: str, given: Any) -> tuple[int, ...]:
    """Return an attribute that must be a list of dims."""
    dims = cast("tuple[Any, ...]", given)
    if not isinstance(given, tuple) or any(type(dim) is not int for dim in dims):
        raise site.problem(f"{name} must be a list of dims")
    wrong = next((d for d in dims if not 0 <= d < 2**63 and d != DYNAMIC_INDEX), None)
    if wrong is not None:
        raise site.problem(f"a dim must be at least 0 and below 2^63, but is {wrong}")
    return dims


def _shape(
    site: Site, shape: SSAValue, dims: tuple[int, ...], keep_static: bool
) -> SSAValue | None:
    """
    Return the shape operand of a tensor of `dims`, or None when these are all static.

    With `keep_static` a shape that is not constant is an operand even then.
    """
    is_static = DYNAMIC_INDEX not in dims
    if is_static and _constant(shape):
        numbers = _folded(site, shape, 1)
        if numbers != dims:
            argument = "not a list of integers" if numbers is None else f"[{dims_text(numbers)}]"
            raise site.problem(
                f"the shape must be [{dims_text(dims)}], but the argument is {argument}"
            )
        return None
    wanted = tensor_type(i64, [len(dims)])
    site.require(wanted, shape, "the shape must be of type <wanted>, but is of type <given>")
    return None if is_static and not keep_static else shape


def reshape_tensor(site: Site) -> SSAValue:
    """Build a view of a tensor with another shape."""
    data, shape = site.values(2)
    dims = _dims(site, "newshape", site.attributes(newshape=None)["newshape"])
    operand = _shape(site, shape, dims, keep_static=True)
    operands = [data] if operand is None else [data, operand]
    return when_known(site.context, _reshape_on_known, site.call, operands, shallow=True)


def _reshape_on_known(context: Context, call: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    site = Site(context, call, args)
    result = tensor_type(site.tensor(args[0]).element_type, list(call.attrs["newshape"]))
    op = vm.ReshapeTensorOp.create(operands=args, result_types=[result])
    return _explicit(site, op)


def shape_of(site: Site) -> SSAValue:
    """Build the dims of a tensor."""
    (data,) = site.values(1)
    dtype = site.attributes(dtype="int64")["dtype"]
    if dtype not in ("int64", "", None):
        raise site.problem(f"the dtype of a shape must be int64, but is {dtype}")
    result = tensor_type(i64, [site.tensor(data).get_num_dims()])
    return site.add(vm.ShapeOfOp.create(operands=[data], result_types=[result]))


def kill(site: Site) -> SSAValue:
    """Build the end of the life of a tensor or another value."""
    (value,) = site.values(1)
    site.attributes()
    op = memory.KillOp(value)
    site.context.explicit.ops.append(op)
    return unit_result(site, op)


# ----------------------------------------------------------------------- hints


def absorb_hint(site: Site, arg: SSAValue, device: VirtualDeviceAttr, constrains: bool) -> bool:
    """
    Absorb an `on_device` around a call that allocates a tensor or returns unit.

    Return whether `arg` is such a call. TVM's planner wraps each of them in a fixed hint. A tensor
    without contents cannot be copied, so its storage is hinted instead; for a kernel call, the
    tensors that it writes.
    """
    context = site.context
    if arg in context.units:
        for value in context.units[arg].results if constrains else ():
            site.hint(value, device)
        return True
    inner = site.call.args[0]
    if isinstance(inner, ast.Node):
        inner = context.hints.value(inner.binding)
    if not isinstance(inner, ast.Call) or not isinstance(arg, OpResult):
        return False
    op, block = arg.op, arg.op.parent
    if not isinstance(op, memory.AllocTensorOp) or block is None:
        return False
    if constrains:
        with context.writing(block, op):
            op.operands[0] = site.hint(op.storage, device)
    return True
