"""What a tensor operator gives on arrays, by its kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.attributes import plain_values
from ...dialects.device import tensor_type, with_device
from ...dialects.interfaces import kernel_attributes, kernel_name
from ...dialects.relay.incomplete import refine
from ...dialects.relay.operator import infer_result_types
from ...dialects.tensors import Tensor, as_tensor, is_static
from ...runtime.kernels.bind import Bind
from ...runtime.kernels.loading import no_kernel
from ...runtime.kernels.memory import Memory, OutOfMemory, Owner
from ...runtime.kernels.scratch import Workspace
from ..analysis.arrays import Array, numpy_dtype
from ..support.diagnostics import PassError


def static_type(type: Attribute, at: SSAValue) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and NumPy's element type of a static tensor type."""
    tensor = as_tensor(type)
    if tensor is None:
        raise PassError(f"only tensors are evaluated, not {type}", at)
    if not is_static(tensor):
        raise PassError(f"nothing tells the shape of this result, a {type}", at)
    dtype = numpy_dtype(tensor)
    if dtype is None:
        raise PassError(f"NumPy has no elements like those of {type}", at)
    return tensor.get_shape(), dtype


def empty(type: Attribute, at: SSAValue, memory: Memory) -> Array:
    """An array of a static tensor type, to be written into."""
    shape, dtype = static_type(type, at)
    return memory.array(shape, dtype, "a result")


def contiguous(array: Array, owner: Owner) -> Array:
    """`array` with its elements one after the other; `owner` pays when that takes a copy."""
    if not array.flags.c_contiguous:
        owner.reserve(array.nbytes, "an operand")
    return np.asarray(array, order="C")


def apply_operator(
    op: Operation,
    args: Sequence[Array],
    kernels: Mapping[str, Bind],
    workspace: Workspace | None = None,
) -> list[Array]:
    """
    The results of a tensor operator on `args`, by its kernel among `kernels`; their memory, and
    the kernel's, is that of `workspace`.

    A dynamic result shape is inferred from the shapes of `args`; where they were not known, what
    is declared of the results is held to what they are.
    """
    name = kernel_name(op)
    bind = kernels.get(name)
    if bind is None:
        raise PassError(no_kernel(name), op)
    types: Sequence[Attribute] = [result.type for result in op.results]
    if any(map(_is_dynamic, (*types, *(operand.type for operand in op.operands)))):
        types = types_at_shapes(op, args)
    workspace = workspace or Workspace()
    memory = workspace.memory
    try:
        pairs = zip(types, op.results, strict=True)
        outs = [empty(type, result, memory) for type, result in pairs]
        if not any(out.size for out in outs):
            return outs
        owner = Owner(memory)
        ins = [contiguous(np.asarray(arg), owner) for arg in args]
        with np.errstate(all="ignore"):  # 1 / 0 is inf, as in the machine, and no warning
            with workspace.lend():
                run = bind(kernel_values(op), ins, outs)
            if memory.poison:
                workspace.poison()
            run()
    except (OutOfMemory, MemoryError) as error:
        raise PassError(f"{op.name} is out of memory: {error}", op) from error
    except (ValueError, IndexError):
        for operand, arg in zip(op.operands, args, strict=True):
            require_shape(operand.type, arg, op, "an operand of this")
        raise
    return outs


def require_shape(type: Attribute, value: object, at: Operation, what: str) -> None:
    """`value` must have the dims that `type` knows; otherwise an error at `at`."""
    tensor = as_tensor(type)
    if tensor is None:
        return
    dims, found = tensor.get_shape(), np.shape(cast(Any, value))
    if len(dims) != len(found) or any(
        d not in (DYNAMIC_INDEX, f) for d, f in zip(dims, found, strict=True)
    ):
        shown = " x ".join(map(str, found))
        raise PassError(f"{what} is declared as {type}, but its shape is {shown}", at)


def kernel_values(op: Operation) -> Mapping[str, Any]:
    """The attributes of `op` as its kernel gets them: an absent one, and one of None, is absent."""
    attributes = kernel_attributes(op)
    given = {name: value for name, value in attributes.items() if not isinstance(value, NoneType)}
    try:
        return plain_values(given, kernel_name(op))
    except VerifyException as error:
        raise PassError(str(error), op) from error


def types_at_shapes(op: Operation, args: Sequence[Array]) -> Sequence[Attribute]:
    """The types of `op`'s results when its operands have the shapes of `args`."""
    operands = [
        tensor_type(cast(Tensor, operand.type).element_type, list(arg.shape))
        for operand, arg in zip(op.operands, args, strict=True)
    ]
    static = type(op).create(
        operands=Block(arg_types=operands).args,
        result_types=[result.type for result in op.results],
        properties=op.properties,
    )
    try:
        types = infer_result_types(static)
    except VerifyException as error:
        raise PassError(str(error), op) from error
    if types is None:
        raise PassError(f"{op.name} has no type rule for these shapes", op)
    for result, found in zip(op.results, types, strict=True):
        if refine(with_device(result.type, None), found) is None:
            raise PassError(f"this gives a {found}, but is declared as {result.type}", op)
    return types


def _is_dynamic(type: Attribute) -> bool:
    tensor = as_tensor(type)
    return tensor is not None and not is_static(tensor)
