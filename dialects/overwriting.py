"""
The parameters of a kernel over which its results may be written.

    ^(%a, %b):                    one loop computes %y: element i of %a and %b is read before
      %s = relay.add %a, %b       element i of %y is written
      %y = relay.exp %s           -> %y may be written over %a, or over %b
      yield %y

    ^(%a, %w, %r):                code for this may write %d to the memory of %y first
      %d = relay.nn.dense %a, %w  -> %y may be written over no parameter
      %y = relay.add %d, %r
      yield %y

The loop is of elementwise ops (`ReadsElementwise`), and of ops that only reshape, or it is one op
that reads before it writes (`ReadsBeforeWriting`). What is broadcast in it is smaller than the
result, so it is computed apart, from other parameters. Dims that are not known count as equal: a
parameter that has as many bytes as the result is not broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from .interfaces import ReadsBeforeWriting, ReadsElementwise, Rematerializable, ReshapesOnly
from .tensors import as_tensor, bits_of, element_size
from .xdsl_extras.xdsl_internals import operands_of


class LoopTraits(NamedTuple):
    """The traits of an op class that decide how a loop may read its operands."""

    constant: bool
    reshapes: bool
    alone: ReadsBeforeWriting | None
    elementwise: ReadsElementwise | None


@cache
def traits_of(kind: type[Operation]) -> LoopTraits:
    return LoopTraits(
        constant=kind.get_trait(Rematerializable) is not None,
        reshapes=kind.get_trait(ReshapesOnly) is not None,
        alone=kind.get_trait(ReadsBeforeWriting),
        elementwise=kind.get_trait(ReadsElementwise),
    )


def shape_of(value: SSAValue) -> Sequence[int] | None:
    tensor = as_tensor(value.type)
    return None if tensor is None else tensor.get_shape()


def is_broadcast(value: SSAValue, shape: Sequence[int]) -> bool:
    """Test whether `value` has another shape than `shape`, to which it is broadcast."""
    dims = shape_of(value)
    if dims is None or dims == shape or len(dims) > len(shape):
        return False
    tail = shape[len(shape) - len(dims) :]
    return all(dim in (1, other) for dim, other in zip(dims, tail, strict=True))


def parameters_of(value: SSAValue) -> dict[BlockArgument, None]:
    """Return the parameters from which `value` is computed."""
    parameters: dict[BlockArgument, None] = {}
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument):
            parameters[value] = None
        elif isinstance(value.owner, Operation):
            pending += operands_of(value.owner)
    return parameters


@dataclass(frozen=True)
class Loop:
    """A loop that computes a result, element by element."""

    ops: set[Operation] = field(default_factory=set[Operation])
    here: dict[BlockArgument, None] = field(default_factory=dict[BlockArgument, None])
    """The parameters that are read at the index of the element."""
    apart: set[BlockArgument] = field(default_factory=set[BlockArgument])
    """The parameters that are read elsewhere, or before the loop."""


def loop_of(result: SSAValue) -> Loop | None:
    """Return the loop that computes `result`, if one does."""
    loop = Loop()
    pending = [result]
    while pending:
        value = pending.pop()
        op = value.owner
        if isinstance(value, BlockArgument):
            loop.here[value] = None
        elif isinstance(op, Operation) and op not in loop.ops:
            loop.ops.add(op)
            read = read_here(op)
            shape = shape_of(value)
            if read is None or shape is None:
                return None
            for i, operand in enumerate(operands_of(op)):
                if i in read:
                    pending.append(operand)
                    continue
                if not isinstance(operand, BlockArgument) and not (
                    is_constant(operand) or is_broadcast(operand, shape)
                ):
                    return None
                loop.apart.update(parameters_of(operand))
    return loop


def is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and traits_of(type(value.owner)).constant


def read_here(op: Operation) -> Sequence[int] | None:
    """Return the operands that `op` reads at the index of each element; None if not in a loop."""
    traits = traits_of(type(op))
    if traits.constant:
        return ()
    if len(op.results) != 1:
        return None
    if traits.reshapes:
        return (0,)
    is_alone = op.prev_op is None and op.next_op is not None and op.next_op.next_op is None
    reads = traits.alone if is_alone else traits.elementwise
    if reads is None:
        return None
    shape = shape_of(op.results[0])
    return [i for i, v in enumerate(operands_of(op)) if reads.reads(i) and shape_of(v) == shape]


def have_equal_elements(one: SSAValue, other: SSAValue) -> bool:
    """Test whether the elements of both have one size."""
    types = as_tensor(one.type), as_tensor(other.type)
    elements = [type.element_type for type in types if type is not None]
    if len(elements) < 2 or any(bits_of(element) is None for element in elements):
        return False
    return len(set(map(element_size, elements))) == 1


def overwritable(block: Block) -> list[frozenset[int]]:
    """Return for each result of the kernel `block` the parameters that it may overwrite."""
    terminator = block.last_op
    if terminator is None:
        return []
    results = operands_of(terminator)
    read_by = [parameters_of(result) for result in results] if len(results) > 1 else []
    operands_by_result: list[frozenset[int]] = []
    for i, result in enumerate(results):
        loop = loop_of(result)
        others = {p for j, read in enumerate(read_by) if j != i for p in read}
        operands_by_result.append(
            frozenset(
                parameter.index
                for parameter in (loop.here if loop is not None else ())
                if parameter not in others
                and loop is not None
                and parameter not in loop.apart
                and have_equal_elements(parameter, result)
                and all(
                    use.operation in loop.ops or (use.operation is terminator and use.index == i)
                    for use in parameter.uses
                )
            )
        )
    return operands_by_result
