"""Tensor operators applied to arrays, by their kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.attributes import plain_values
from ...dialects.device import tensor_type, with_device
from ...dialects.interfaces import kernel_attributes, kernel_name
from ...dialects.relay.incomplete import refine
from ...dialects.relay.operator import infer_result_types
from ...dialects.tensors import Tensor, as_tensor, dtype_name, has_dynamic, is_static
from ...dialects.type_rules import data_operands, result_types, rule_of
from ...runtime.errors import MachineError
from ...runtime.kernels.bind import Bind, Thunk
from ...runtime.kernels.checked import ArrayElements, CheckedKernel
from ...runtime.kernels.loading import no_kernel
from ...runtime.memory.limits import OutOfMemory, Owner
from ...runtime.memory.scratch import Workspace
from ...runtime.program.dtypes import element_type
from ..analysis.arrays import Array
from ..sizes.rule_code import MAX_SHOWN
from ..support.diagnostics import PassError


def static_type(type: Attribute, at: SSAValue) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the NumPy dtype of a static tensor type."""
    tensor = as_tensor(type)
    if tensor is None:
        raise PassError(f"expected a tensor, but got {type}", at)
    if not is_static(tensor):
        raise PassError(f"the shape of this result, a {type}, is unknown", at)
    return tensor.get_shape(), dtype_of(tensor, at)


def dtype_of(type: Tensor, at: SSAValue | Operation) -> np.dtype[Any]:
    """Return the dtype of a tensor's elements, also one that NumPy has from another package."""
    try:
        return element_type(dtype_name(type.element_type) or str(type.element_type))
    except MachineError as error:
        raise PassError(f"{type} cannot be evaluated: {error}", at) from None


def contiguous(array: Array, owner: Owner) -> Array:
    """Return `array` in row-major order; a copy, if one is needed, is counted for `owner`."""
    if not array.flags.c_contiguous:
        owner.reserve(array.nbytes, "an operand")
    return np.asarray(array, order="C")


@dataclass
class Prepared:
    """An operator ready to be applied: everything that does not depend on its operands' values."""

    bind: Bind
    attributes: Mapping[str, Any]
    results: list[tuple[tuple[int, ...], np.dtype[Any]]] | None
    """Shape and element type of each result; None if they depend on the operands' shapes."""
    checked: list[tuple[tuple[int, ...], np.dtype[Any]]] | None = None
    """The operands' shapes and element types when the kernel was last bound with all checks."""

    def run(self, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        """Bind the kernel; what its signature accepted before is not checked again."""
        given = [(array.shape, array.dtype) for array in ins]
        known = self.results is not None and given == self.checked
        if known and isinstance(self.bind, CheckedKernel):
            return self.bind.bind(self.attributes, ins, outs)
        bound = self.bind(self.attributes, ins, outs)
        self.checked = given
        return bound


class OperatorEvaluator:
    """
    Applies tensor operators by their kernels, among `kernels`.

    The memory of the results, and of the kernels, is that of `workspace`.
    """

    def __init__(self, kernels: Mapping[str, Bind], workspace: Workspace | None = None):
        self._kernels = kernels
        self._workspace = workspace or Workspace()
        self._prepared: dict[Operation, Prepared] = {}

    def has_kernel(self, op: Operation) -> bool:
        """Test whether `op` can be applied."""
        return kernel_name(op) in self._kernels

    def apply(self, op: Operation, args: Sequence[Array]) -> list[Array]:
        """
        Return the results of `op` on `args`.

        A dynamic result shape follows from `args` by the op's rule, and must fit the declared one.
        """
        prepared = self._prepared.get(op)
        if prepared is None:
            prepared = self._prepared[op] = self._prepare(op)
        specs = prepared.results
        if specs is None:
            types = types_at_shapes(op, args)
            specs = [static_type(t, r) for t, r in zip(types, op.results, strict=True)]
        memory = self._workspace.memory
        try:
            outs = [memory.array(shape, dtype, "a result") for shape, dtype in specs]
            if not any(out.size for out in outs):
                return outs
            owner = Owner(memory)
            ins = [contiguous(np.asarray(arg), owner) for arg in args]
            with np.errstate(all="ignore"):  # as in the machine: 1 / 0 is inf, without a warning
                with self._workspace.lend():
                    run = prepared.run(ins, outs)
                if memory.poison:
                    self._workspace.poison()
                run()
        except (OutOfMemory, MemoryError) as error:
            raise PassError(f"{op.name} is out of memory: {error}", op) from error
        except (ValueError, IndexError):
            for operand, arg in zip(op.operands, args, strict=True):
                require_shape(operand.type, arg, op, "an operand")
            raise
        return outs

    def _prepare(self, op: Operation) -> Prepared:
        name = kernel_name(op)
        bind = self._kernels.get(name)
        if bind is None:
            raise PassError(no_kernel(name), op)
        results = None
        dynamic = any(has_dynamic(value.type) for value in (*op.operands, *op.results))
        if not dynamic and not data_operands(op):
            results = [static_type(result.type, result) for result in op.results]
        return Prepared(bind, kernel_values(op), results)


def require_shape(type: Attribute, value: object, at: Operation, what: str) -> None:
    """Raise an error at `at` unless `value` has the static dims of `type`."""
    tensor = as_tensor(type)
    if tensor is None:
        return
    dims, shape = tensor.get_shape(), np.shape(cast(Any, value))
    if len(dims) != len(shape) or any(
        d not in (DYNAMIC_INDEX, f) for d, f in zip(dims, shape, strict=True)
    ):
        shown = " x ".join(map(str, shape))
        raise PassError(f"{what} is declared as {type}, but its shape is {shown}", at)


def kernel_values(op: Operation) -> Mapping[str, Any]:
    """Return the attributes of `op` as the Python values that its kernel gets."""
    try:
        return plain_values(kernel_attributes(op), kernel_name(op))
    except VerifyException as error:
        raise PassError(str(error), op) from error


def applied(op: Operation, operands: Sequence[Attribute]) -> str:
    """Return the operator and the types that it is applied to, as `relay.require` shows them."""
    types = " and ".join(map(str, operands[:MAX_SHOWN]))
    more = len(operands) - MAX_SHOWN
    return f"{op.name} of {types}" + (f" and {more} more" if more > 0 else "")


def types_at_shapes(op: Operation, args: Sequence[Array]) -> Sequence[Attribute]:
    """Infer the types of `op`'s results when its operands are `args`."""
    operands = [
        tensor_type(cast(Tensor, operand.type).element_type, list(arg.shape))
        for operand, arg in zip(op.operands, args, strict=True)
    ]
    rule = rule_of(op)
    try:
        if rule is None:
            types = _types_of_static(op, operands)
        else:
            elements = {i: ArrayElements(np.asarray(args[i])) for i in rule.data_operands}
            types = result_types(rule, op, operands, elements)
    except (VerifyException, ValueError, OverflowError) as error:
        raise PassError(f"{applied(op, operands)}: {error}", op) from error
    if types is None:
        raise PassError(f"{op.name} has no type rule for these shapes", op)
    for result, type in zip(op.results, types, strict=True):
        if refine(with_device(result.type, None), type) is None:
            raise PassError(
                f"{applied(op, operands)}: the result is a {type}, but is declared as "
                f"{result.type}",
                op,
            )
    return types


def _types_of_static(op: Operation, operands: Sequence[Attribute]) -> Sequence[Attribute] | None:
    static = type(op).create(
        operands=Block(arg_types=operands).args,
        result_types=[result.type for result in op.results],
        properties=op.properties,
    )
    return infer_result_types(static)
