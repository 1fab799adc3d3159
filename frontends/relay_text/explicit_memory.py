"""
The calls of `memory.*` and `vm.*` that run no kernel.

    memory.alloc_storage(140i64, 64i64, virtual_device=D)     memory.alloc_storage 140 align 64 on D
    memory.alloc_tensor(%s, 0i64, S, const_shape=S)       ->  memory.alloc_tensor %s[0]
    vm.reshape_tensor(%x, S, newshape=[8])                    vm.reshape_tensor %x
    vm.shape_of(%x), memory.kill(%t)                          ops of the same names

Sizes, offsets and shapes that are constants become attributes; a size that is not is an element
of its tensor (`tensor.extract`), a shape an operand. `kernel_calls` has the calls of kernels,
`destinations` says which value the name of an allocated tensor means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects import memory, vm
from ...dialects.device import VirtualDeviceAttr, tensor_type
from ...dialects.relay.constants import ConstantOp
from ...dialects.relay.device_ops import OnDeviceOp
from ...dialects.tensors import as_tensor
from . import arrays
from . import syntax as ast
from .arguments import attributes_given, not_a_tensor, problem, values_of
from .writer import Several, Value

if TYPE_CHECKING:
    from .emit import Emitter
    from .kernel_calls import KernelCall

SCALAR = tensor_type(i64, [])
"""What sizes and offsets are."""


@dataclass(eq=False, repr=False)
class Nothing(Several):
    """The unit that a call gives whose op gives no value: written only where it is used."""

    op: Operation | None = None


@dataclass(eq=False, repr=False)
class ExplicitMemory:
    """What is to be done about explicit memory once the program has been read."""

    calls: list[KernelCall] = field(default_factory=list["KernelCall"])
    """The calls of kernels: who is called is not known before all is read."""
    ops: list[Operation] = field(default_factory=list[Operation])
    """The other ops of `memory` and `vm`, which are to be verified."""
    folded: list[Operation] = field(default_factory=list[Operation])
    """What was made for arguments that became attributes, users first."""
    hinted: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Results of kernels, and the hints on them that are used in their place."""


def nothing(emitter: Emitter, op: Operation, at: int) -> Value:
    """Write `op`; the unit that it gives."""
    emitter.add(op, at)
    return Nothing([], emitter.places.location(at), emitter.block, op, results=False, op=op)


def _explicit(emitter: Emitter, op: Operation, at: int) -> SSAValue:
    """Write `op`; its result."""
    emitter.explicit.ops.append(op)
    return emitter.value(op, at)


# ------------------------------------------------------------------- constants


def _constant(value: SSAValue) -> list[Operation]:
    """The constant that `value` is, and the hints on it, users first; empty if it is none."""
    ops: list[Operation] = []
    while isinstance(value, OpResult) and isinstance(value.op, OnDeviceOp):
        ops.append(value.op)
        value = value.op.value
    if isinstance(value, OpResult) and isinstance(value.op, ConstantOp):
        return [*ops, value.op]
    return []


def integers(dense: DenseIntOrFPElementsAttr[Any], rank: int) -> tuple[int, ...] | None:
    """The numbers in a constant of integers of `rank` 0 or 1; None when it is another."""
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


def _folded(emitter: Emitter, value: SSAValue, rank: int) -> tuple[int, ...] | None:
    """The numbers that `value` is, if it is a constant: it need not be written then."""
    ops = _constant(value)
    if not ops:
        return None
    constant = cast(ConstantOp, ops[-1])
    numbers = integers(cast("DenseIntOrFPElementsAttr[Any]", constant.value), rank)
    if numbers is not None:
        emitter.explicit.folded += ops
    return numbers


def _size(emitter: Emitter, call: ast.Call, value: SSAValue, what: str) -> int | SSAValue:
    """A number of bytes: a constant, or else an element of an int64 scalar."""
    numbers = _folded(emitter, value, 0)
    if numbers is not None:
        return numbers[0]
    if not emitter.solver.unify(SCALAR, value.type):
        given = emitter.text(value.type)
        raise problem(emitter, call, f"the {what} must be an int64 scalar, but is of type {given}")
    from xdsl.dialects.tensor import ExtractOp

    return emitter.value(ExtractOp(value, [], i64), call.at)


# --------------------------------------------------------------------- storage


def alloc_storage(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """`(size, alignment)`; since TVM 0.14 `(size, shape, alignment)`, whose shape is idle."""
    size, *shapes, alignment = values_of(emitter, call, args, 2, 3)
    for shape in shapes:
        emitter.explicit.folded += _constant(shape)
    given = attributes_given(emitter, call, {"dtype": "float32", "virtual_device": None})
    _element(emitter, call, given["dtype"])
    device = given["virtual_device"]
    if device is not None and not isinstance(device, VirtualDeviceAttr):
        raise problem(emitter, call, "virtual_device must be a meta[VirtualDevice] entry")
    if device is not None and device.is_unconstrained:
        device = None
    bytes = _size(emitter, call, size, "size")
    align = _folded(emitter, alignment, 0)
    if align is None:
        why = "the alignment must be a constant: it is a part of the instruction"
        raise problem(emitter, call, why)
    return _explicit(emitter, memory.AllocStorageOp(bytes, align[0], on=device), call.at)


def _element(emitter: Emitter, call: ast.Call, dtype: Any) -> Any:
    element = arrays.element_type_of(str(dtype or "float32"))
    if element is None:
        raise problem(emitter, call, f'"{dtype}" is no dtype')
    return element


# --------------------------------------------------------------------- tensors


def alloc_tensor(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """A tensor in a storage, without contents."""
    storage, offset, shape = values_of(emitter, call, args, 3)
    given = attributes_given(
        emitter, call, {"dtype": "float32", "const_shape": None, "assert_shape": None}
    )
    element = _element(emitter, call, given["dtype"])
    emitter.require(storage.type, memory.StorageType(), "the storage", call.args[0].at)
    dims = _dims_of(emitter, call, given)
    at = _size(emitter, call, offset, "offset")
    operand = _shape(emitter, call, shape, dims, keep_static=False)
    type = tensor_type(element, list(dims))
    return _explicit(emitter, memory.AllocTensorOp(storage, at, type, operand), call.at)


def _dims_of(emitter: Emitter, call: ast.Call, given: dict[str, Any]) -> tuple[int, ...]:
    """The dims of the tensor, from `const_shape` or `assert_shape`."""
    const, asserted = given["const_shape"], given["assert_shape"]
    dims: tuple[int, ...] | None = None
    if const is not None:
        if isinstance(const, DenseIntOrFPElementsAttr):
            dims = integers(cast("DenseIntOrFPElementsAttr[Any]", const), 1)
        if dims is None:
            raise problem(emitter, call, "const_shape must be a list of integers in the metadata")
    if asserted is not None and not _is_shape(asserted):
        raise problem(emitter, call, "assert_shape must be a list of dims")
    if dims is None:
        dims = asserted
    elif asserted and asserted != dims:
        raise problem(emitter, call, "const_shape and assert_shape contradict each other")
    if dims is None:
        raise problem(emitter, call, "one of const_shape and assert_shape must be given")
    return _checked(emitter, call, dims)


def _is_shape(value: Any) -> bool:
    dims = cast("tuple[Any, ...]", value)
    return isinstance(value, tuple) and all(type(dim) is int for dim in dims)


def _checked(emitter: Emitter, call: ast.Call, dims: tuple[int, ...]) -> tuple[int, ...]:
    wrong = next((d for d in dims if not 0 <= d < 2**63 and d != DYNAMIC_INDEX), None)
    if wrong is not None:
        raise problem(emitter, call, f"a dim must be at least 0 and below 2^63, but is {wrong}")
    return dims


def _shape(
    emitter: Emitter, call: ast.Call, shape: SSAValue, dims: tuple[int, ...], keep_static: bool
) -> SSAValue | None:
    """
    The shape operand of a tensor of `dims`; None when these say it all.

    With `keep_static` a shape that is not a constant is an operand even then.
    """
    is_static = DYNAMIC_INDEX not in dims
    constant = _constant(shape)
    if constant and is_static:
        numbers = _folded(emitter, shape, 1)
        if numbers != dims:
            found = "no list of integers" if numbers is None else f"[{_listed(numbers)}]"
            message = f"the shape is to be [{_listed(dims)}], but the argument is {found}"
            raise problem(emitter, call, message)
        return None
    wanted = tensor_type(i64, [len(dims)])
    if not emitter.solver.unify(wanted, shape.type):
        given, expected = emitter.text(shape.type), emitter.text(wanted)
        raise problem(
            emitter, call, f"the shape must be of type {expected}, but is of type {given}"
        )
    return None if is_static and not keep_static else shape


def _listed(dims: tuple[int, ...]) -> str:
    return ", ".join("?" if dim == DYNAMIC_INDEX else str(dim) for dim in dims)


def reshape_tensor(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """A view of a tensor with another shape."""
    data, shape = values_of(emitter, call, args, 2)
    dims = attributes_given(emitter, call, {"newshape": None})["newshape"]
    if not _is_shape(dims):
        raise problem(emitter, call, "newshape must be a list of dims")
    operand = _shape(emitter, call, shape, _checked(emitter, call, dims), keep_static=True)

    def build() -> Value:
        type = as_tensor(data.type)
        if type is None:
            raise not_a_tensor(emitter, call, data)
        operands: list[SSAValue] = [data] if operand is None else [data, operand]
        result = tensor_type(type.element_type, list(dims))
        op = vm.ReshapeTensorOp.create(operands=operands, result_types=[result])
        return _explicit(emitter, op, call.at)

    return emitter.when_known([data], build, call.at)


def shape_of(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """The dims of a tensor."""
    (data,) = values_of(emitter, call, args, 1)
    given = attributes_given(emitter, call, {"dtype": "int64"})
    if given["dtype"] not in ("int64", "", None):
        raise problem(emitter, call, f"the dtype of shapes is int64, not {given['dtype']}")

    def build() -> Value:
        type = data.type
        if not isinstance(type, TensorType):
            raise not_a_tensor(emitter, call, data)
        result = tensor_type(i64, [type.get_num_dims()])
        return emitter.value(vm.ShapeOfOp.create(operands=[data], result_types=[result]), call.at)

    return emitter.when_known([data], build, call.at)


def kill(emitter: Emitter, call: ast.Call, args: Sequence[Value]) -> Value:
    """The end of a tensor's, or another value's, life."""
    (value,) = values_of(emitter, call, args, 1)
    attributes_given(emitter, call, {})
    op = memory.KillOp(value)
    emitter.explicit.ops.append(op)
    return nothing(emitter, op, call.at)


# ----------------------------------------------------------------------- hints


def hinted(
    emitter: Emitter, call: ast.Call, arg: Value, device: VirtualDeviceAttr, constrains: bool
) -> bool:
    """
    Whether the operand of an `on_device` is a call that allocates a tensor or gives nothing.

    TVM's planner wraps each of them in a fixed hint. A tensor without contents cannot be
    copied, so the hint is on its storage; that on the call of a kernel is on what it writes.
    """
    if isinstance(arg, Nothing):
        results = () if arg.op is None else tuple(arg.op.results)
        for value in results if constrains else ():
            hint = OnDeviceOp(value, device, True, True)
            emitter.explicit.hinted[value] = emitter.value(hint, call.at)
        return True
    inner = call.args[0]
    if isinstance(inner, ast.Node):
        inner = inner.binding.value
    if not isinstance(inner, ast.Call) or not isinstance(arg, OpResult):
        return False
    op, block = arg.op, arg.op.parent
    if not isinstance(op, memory.AllocTensorOp) or block is None:
        return False
    if constrains:
        with emitter.writing(block, op):
            op.operands[0] = emitter.value(OnDeviceOp(op.storage, device, True, True), call.at)
    return True
