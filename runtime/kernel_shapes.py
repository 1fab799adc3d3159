"""
The shapes of a kernel's values when its operands are given: step by step, by the operators' rules.

    (tensor<?x4xf32>, tensor<?x4xf32>)  on  float32[3, 4], float32[1, 4]
      relay.add [0, 1] -> [2]               float32[3, 4]
      relay.nn.relu [2] -> [3]              float32[3, 4]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..operators.measures import MEASURES
from ..operators.rules import Rule
from ..operators.signature import Call, Data, Elements, Signature, SignatureError
from ..operators.signature import Tensor as SignatureTensor
from ..operators.sizes import Size
from .errors import MachineError
from .kernels.bind import Bind
from .kernels.checked import CheckedKernel, tensor_of
from .program import Array, Kernel, Step, TensorSpec, spec_of

MAX_SIZES = 64
"""Limit on the elements of an operand that are read to determine the shapes of a kernel."""


class UnknownShape(MachineError):
    """The shape of an intermediate value depends on elements that are not known."""


@dataclass(frozen=True)
class KnownElements(Elements):
    """The elements of an array."""

    array: Array

    def sizes(self, count: int) -> Sequence[Size]:
        return [int(element) for element in self.array.reshape(-1)]

    def measure(self, name: str, args: Sequence[Data]) -> Size:
        arrays: list[object] = []
        for arg in args:
            assert isinstance(arg.elements, KnownElements)
            array = arg.elements.array
            arrays.append(array if array.ndim else array.item())
        try:
            return MEASURES[name](*arrays)
        except ValueError as error:
            raise SignatureError(f"{{op}}: {error}") from error


def signature_of(op: str, binds: Mapping[str, Bind]) -> Signature | None:
    """Return the signature of an operator whose kernel is checked; None of any other."""
    bind = binds.get(op)
    return bind.signature if isinstance(bind, CheckedKernel) else None


def data_operands(op: str, binds: Mapping[str, Bind]) -> tuple[int, ...]:
    """Return the operands of operator `op`, by index, whose elements determine result shapes."""
    signature = signature_of(op, binds)
    return signature.data_operands if isinstance(signature, Rule) else ()


def _is_sizes(spec: TensorSpec) -> bool:
    return np.dtype(spec.dtype).kind in "iu" and len(spec.shape) <= 1


def size_inputs(kernel: Kernel, binds: Mapping[str, Bind]) -> tuple[int, ...]:
    """Return the inputs of `kernel` that are scalars or vectors of sizes, read by some step."""
    found = {
        step.ins[i]
        for step in kernel.steps
        for i in data_operands(step.op, binds)
        if i < len(step.ins) and step.ins[i] < len(kernel.ins)
    }
    return tuple(value for value in sorted(found) if _is_sizes(kernel.ins[value]))


def host_input_faults(kernel: Kernel, binds: Mapping[str, Bind]) -> Iterator[str]:
    """Yield what is wrong with the declaration of `host_ins`: only sizes are read on the host."""
    sizes = size_inputs(kernel, binds)
    for value in kernel.host_ins:
        readers = [
            (number, step, i)
            for number, step in enumerate(kernel.steps)
            for i, read in enumerate(step.ins)
            if read == value
        ]
        other = next((r for r in readers if r[2] not in data_operands(r[1].op, binds)), None)
        if other is not None:
            number, step, i = other
            yield (
                f"input {value} is on the host, but step {number} ({step.op}) reads it as operand "
                f"{i}, which is not a size"
            )
        elif value not in sizes:
            yield f"input {value} is on the host, but no step reads it as sizes"
        if value in kernel.results:
            yield f"input {value} is on the host, so that it must not be a result"


def specs_on(
    kernel: Kernel,
    ins: Sequence[Array],
    outs: Sequence[Array],
    binds: Mapping[str, Bind],
    elements: Mapping[int, Array],
) -> list[TensorSpec]:
    """
    Return the static type of each value of `kernel` on these operands.

    `elements` are those of inputs, by number, that are known. Raises `UnknownShape` if the shape of
    a value depends on others, or is unknown because a step has no checked kernel.
    """
    n = len(kernel.ins)
    specs = [spec_of(array) for array in (*ins, *kernel.constants)]
    if all(spec.is_static for spec in kernel.locals):
        return specs + list(kernel.locals)
    specs += kernel.locals
    known = dict(elements) | dict(enumerate(kernel.constants, n))
    written = dict(zip(kernel.results, map(spec_of, outs), strict=True))
    for step in kernel.steps:
        open_outs = [v for v in step.outs if not kernel.spec(v).is_static]
        if open_outs and any(value not in written for value in open_outs):
            _infer(kernel, step, specs, known, binds)
        for value in open_outs:
            if value in written:
                specs[value] = written[value]
            elif not specs[value].is_static:
                raise UnknownShape(
                    f"kernel {kernel.name}: intermediate value {value} must have a static shape, "
                    f"but is {specs[value]}",
                    step.location,
                )
    return specs


def _infer(
    kernel: Kernel,
    step: Step,
    specs: list[TensorSpec],
    known: Mapping[int, Array],
    binds: Mapping[str, Bind],
) -> None:
    """Refine the types of the results of `step` by its operator's rule."""
    signature = signature_of(step.op, binds)
    if signature is None:
        return
    given = {
        i: KnownElements(known[step.ins[i]])
        for i in data_operands(step.op, binds)
        if i < len(step.ins) and step.ins[i] in known
    }
    try:
        operands = [tensor_of(specs[value]) for value in step.ins]
        results = signature(Call(step.op, step.attrs, operands, given))
        if len(results) != len(step.outs):
            raise SignatureError(
                f"{step.op} has {len(results)} results, but {len(step.outs)} are declared"
            )
    except SignatureError as error:
        raise MachineError(f"kernel {kernel.name}: {error}", step.location) from error
    for value, result in zip(step.outs, results, strict=True):
        specs[value] = _refined(specs[value], result)


def _refined(declared: TensorSpec, found: SignatureTensor) -> TensorSpec:
    """Return `declared` with the dims that are `found`; the kernel checks that they agree."""
    if len(found.dims) != len(declared.shape):
        return declared
    pairs = zip(declared.shape, found.dims, strict=True)
    shape = tuple(dim if isinstance(dim, int) else known for known, dim in pairs)
    return TensorSpec(declared.dtype, shape)
