"""
The shapes of a kernel's values when its operands are given: step by step, by the operators' rules.

    (tensor<?x4xf32>, tensor<?x4xf32>)  on  float32[3, 4], float32[1, 4]
      relay.add [0, 1] -> [2]               float32[3, 4]
      relay.nn.relu [2] -> [3]              float32[3, 4]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...operators.rules import Rule
from ...operators.signature import UNKNOWN, Call, Elements, Signature, SignatureError
from ...operators.signature import Tensor as SignatureTensor
from ..errors import MachineError
from ..kernels.bind import Bind
from ..kernels.checked import ArrayElements, CheckedKernel, tensor_of
from .program import Array, Kernel, Step, TensorSpec, spec_of

MAX_SIZES = 64
"""Limit on the elements of an operand that are read to determine the shapes of a kernel."""


class UnknownShape(MachineError):
    """The shape of an intermediate value depends on elements that are not known."""


def signature_of(op: str, binds: Mapping[str, Bind]) -> Signature | None:
    """Return the signature of an operator whose kernel is checked; None of any other."""
    bind = binds.get(op)
    return bind.signature if isinstance(bind, CheckedKernel) else None


def data_operands(op: str, binds: Mapping[str, Bind]) -> tuple[int, ...]:
    """Return the operands of operator `op`, by index, whose elements determine result shapes."""
    signature = signature_of(op, binds)
    return signature.data_operands if isinstance(signature, Rule) else ()


def size_operands(op: str, binds: Mapping[str, Bind]) -> tuple[int, ...]:
    """Return those among the `data_operands` of operator `op` whose elements are sizes."""
    signature = signature_of(op, binds)
    return signature.size_operands if isinstance(signature, Rule) else ()


def size_inputs(kernel: Kernel, binds: Mapping[str, Bind]) -> tuple[int, ...]:
    """Return the inputs of `kernel`, by number, that some step reads as sizes."""
    inputs = {
        step.ins[i]
        for step in kernel.steps
        for i in size_operands(step.op, binds)
        if i < len(step.ins) and step.ins[i] < len(kernel.ins)
    }
    return tuple(sorted(inputs))


def host_input_faults(kernel: Kernel, binds: Mapping[str, Bind]) -> Iterator[str]:
    """Yield what is wrong with the declaration of `host_ins`: only sizes are read on the host."""
    unread = set(kernel.host_ins)
    if not unread:
        return
    on_host = frozenset(unread)
    for number, step in enumerate(kernel.steps):
        sizes = size_operands(step.op, binds)
        for i, value in enumerate(step.ins):
            unread.discard(value)
            if value in on_host and i not in sizes:
                yield (
                    f"input {value} is on the host, but step {number} ({step.op}) reads it as "
                    f"operand {i}, which is not a size"
                )
    for value in sorted(unread):
        yield f"input {value} is on the host, but no step reads it as sizes"
    for value in on_host.intersection(kernel.results):
        yield f"input {value} is on the host, but it is a result, which is elsewhere"


def specs_on(
    kernel: Kernel,
    ins: Sequence[TensorSpec],
    outs: Sequence[TensorSpec],
    binds: Mapping[str, Bind],
    elements: Mapping[int, Array | Elements],
) -> list[TensorSpec]:
    """
    Return the static type of each value that `kernel` computes on these operands, by number.

    `elements` are those of inputs, by number, that are known. Raises `UnknownShape` if the shape of
    a value depends on others, or is unknown because a step has no checked kernel.
    """
    n = len(kernel.ins)
    specs = [*ins, *map(spec_of, kernel.constants), *kernel.locals]
    if all(spec.is_static for spec in kernel.locals):
        return specs
    for value, spec in zip(kernel.results, outs, strict=True):
        specs[value] = spec
    if all(spec.is_static for spec in specs):
        return specs
    known = {**elements, **dict(enumerate(kernel.constants, n))}
    for step in kernel.steps:
        if all(specs[value].is_static for value in step.outs):
            continue
        _infer(kernel, step, specs, known, binds)
        for value in step.outs:
            if not specs[value].is_static:
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
    known: Mapping[int, Array | Elements],
    binds: Mapping[str, Bind],
) -> None:
    """Refine the types of the results of `step` by its operator's rule."""
    signature = signature_of(step.op, binds)
    if signature is None:
        return
    given = {
        i: item if isinstance(item := known[step.ins[i]], Elements) else ArrayElements(item)
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
        text = str(error) if step.op in str(error) else f"{step.op}: {error}"
        raise MachineError(f"kernel {kernel.name}: {text}", step.location) from error
    for value, result in zip(step.outs, results, strict=True):
        if not specs[value].is_static:
            specs[value] = _refined(specs[value], result)


def _refined(declared: TensorSpec, found: SignatureTensor) -> TensorSpec:
    """Return `declared` with the dims that are `found`; the kernel checks that they agree."""
    if len(found.dims) != len(declared.shape):
        return declared
    pairs = zip(declared.shape, found.dims, strict=True)
    shape: Any = tuple(known if dim is UNKNOWN else dim for known, dim in pairs)
    return TensorSpec(declared.dtype, shape)
