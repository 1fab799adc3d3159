"""
Operations on sizes: what the instruction `compute` does, by name.

    SCALARS["addi"].apply([np.array(2), np.array(3)])    ->    5

Integers are exact: a result that does not fit in 64 bits is an error, never a wrong size. A
comparison returns 0 or 1. Everything runs on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, TypeAlias

import numpy as np

from ...operators.measures import MEASURES
from ...operators.records import record
from ...operators.sizes import Check, fill
from ...operators.sizes.size_table import OPERATIONS, PREDICATES
from ..errors import MachineError
from .program import Array, TensorSpec, spec_of

Number: TypeAlias = int | float

LOW, HIGH = -(1 << 63), (1 << 63) - 1
"""The bounds of a size."""


def _narrow(bits: int) -> Callable[[int], int]:
    """Return the check that a size fits in `bits`."""

    def narrow(a: int) -> int:
        if not -(1 << bits - 1) <= a < 1 << bits - 1:
            raise MachineError(f"{a} does not fit in {bits} bits")
        return a

    return narrow


@record
class Scalar:
    """
    An operation of `count` operands (None: any number).

    `result` checks the operands, apart from their elements, and returns the type of the result.
    """

    name: str
    count: int | None
    function: Callable[..., Any]
    result: Callable[[Scalar, Sequence[Array]], TensorSpec]

    def apply(self, args: Sequence[Array]) -> Any:
        """Return the value for `args`, which `result` accepts; `MachineError` if it has none."""
        try:
            return self.function(*(arg if arg.ndim else arg.item() for arg in args))
        except MachineError:
            raise
        except ZeroDivisionError:
            raise MachineError("division by 0") from None
        except ValueError as error:  # of a measure, whose message says why it has no value
            raise MachineError(str(error)) from error
        except Exception as error:
            raise MachineError(f"{self.name} has no value: {error}") from error

    def store(self, args: Sequence[Array], out: Array) -> None:
        """Write the value for `args` to `out`, of the type that `result` returned."""
        value = self.apply(args)
        if isinstance(value, int) and not LOW <= value <= HIGH:
            raise MachineError(f"the result of {self.name} does not fit in 64 bits: {value}")
        out[...] = value


SIZE = TensorSpec("int64", ())


def _integers(scalar: Scalar, args: Sequence[Array]) -> TensorSpec:
    for i, arg in enumerate(args):
        if arg.ndim or arg.dtype.kind not in "biu":
            raise MachineError(
                f"operand {i} of {scalar.name} must be an integer scalar, but is {spec_of(arg)}"
            )
    return SIZE


def _element(scalar: Scalar, args: Sequence[Array]) -> TensorSpec:
    """An element is an int64, or a float64 if the tensor has floats."""
    if not args:
        raise MachineError(f"{scalar.name} expects a tensor, but has no operands")
    tensor, *indices = args
    if len(indices) != tensor.ndim:
        raise MachineError(
            f"{scalar.name} needs {tensor.ndim} indices into {spec_of(tensor)}, "
            f"but got {len(indices)}"
        )
    _integers(scalar, indices)
    return TensorSpec("float64", ()) if tensor.dtype.kind == "f" else SIZE


def _extract(tensor: Array | Number, *indices: int) -> Number:
    if not isinstance(tensor, np.ndarray):
        return tensor
    for axis, (index, dim) in enumerate(zip(indices, tensor.shape, strict=True)):
        if not 0 <= index < dim:
            raise MachineError(f"index {axis} of extract must be in [0, {dim}), but is {index}")
    return tensor[indices].item()


def _vector(scalar: Scalar, args: Sequence[Array]) -> TensorSpec:
    _integers(scalar, args)
    return TensorSpec("int64", (len(args),))


def _compared(relation: Callable[[int, int], int], unsigned: bool) -> Callable[[int, int], int]:
    """Return the comparison that returns 0 or 1."""
    if unsigned:
        return lambda a, b: int(relation(a % (1 << 64), b % (1 << 64)))
    return lambda a, b: int(relation(a, b))


_BINARY: Mapping[str, Callable[[int, int], int]] = {
    **{
        arith: known.meaning
        for known in OPERATIONS.values()
        if (arith := known.arith.removeprefix("arith.")) and " " not in arith and arith != "select"
    },
    **{
        f"cmpi_{sign}{name}": _compared(OPERATIONS[name].meaning, sign == "u")
        for name in PREDICATES
        for sign in ("su" if name not in ("eq", "ne") else [""])
    },
}
"""Arithmetic of two integers, after the ops of `arith`."""

_UNARY: Mapping[str, Callable[[int], int]] = {
    "trunci_1": lambda a: a & 1,
    "trunci_8": _narrow(8),
    "trunci_16": _narrow(16),
    "trunci_32": _narrow(32),
}


def _select(condition: int, a: int, b: int) -> int:
    return a if condition else b


def _from_elements(*elements: int) -> tuple[int, ...]:
    return elements


def _count(function: Callable[..., Any]) -> int | None:
    """Return the number of operands of a measure; None if it varies."""
    parameters = signature(function).parameters.values()
    varies = any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters)
    return None if varies else len(parameters)


SCALARS: Mapping[str, Scalar] = {
    scalar.name: scalar
    for scalar in (
        *(Scalar(name, 2, function, _integers) for name, function in _BINARY.items()),
        *(Scalar(name, 1, function, _integers) for name, function in _UNARY.items()),
        Scalar("select", 3, _select, _integers),
        Scalar("extract", None, _extract, _element),
        Scalar("from_elements", None, _from_elements, _vector),
        *(Scalar(name, _count(f), f, lambda scalar, args: SIZE) for name, f in MEASURES.items()),
    )
}
"""The operations by name: arithmetic, `extract`, `from_elements`, and the measures."""


@record
class Relation:
    """A relation that the first two sizes of a list must have; the message may show all."""

    check: Check
    message: str

    def verify(self, sizes: Sequence[Array]) -> None:
        """Raise `MachineError` with the message unless `sizes` are in the relation."""
        if not self.check.holds(sizes[0].item(), sizes[1].item()):
            raise MachineError(fill(self.message, [size.item() for size in sizes]))
