"""
Kernels that read each element of a parameter before they write that element of a result.

    ^(%p, %b):                  %p   at the same index
      %s = relay.add %p, %b     %s   at the same index, in the loop of the result
      %y = relay.exp %s         %y   so %y may lie where %p does
      yield %y

In program order, each value is followed from the parameter: it depends on none of it, on the
element at the same index, or on any; and it is computed in the loop over the result, or apart. A
value apart may be in the memory of the result before the loop has read the parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation

from ...dialects.interfaces import ReadsElementwise, Rematerializable
from .slots import bytes_of_element


class Reads(IntEnum):
    """The elements of the parameter on which an element of a value depends."""

    NONE = 0
    SAME = 1
    """That at the same index."""
    ANY = 2


@dataclass(frozen=True)
class Fact:
    """The dependence of a value on the parameter, and if the loop of the result computes it."""

    reads: Reads
    in_loop: bool


def dims(type: Attribute) -> tuple[int, ...] | None:
    return type.get_shape() if isinstance(type, TensorType) else None


def fact_of(op: Operation, shape: tuple[int, ...] | None, operands: list[Fact]) -> Fact:
    """Return the fact of a result of `op`, in a kernel whose result has `shape`."""
    if op.has_trait(Rematerializable) and not operands:
        return Fact(Reads.NONE, True)
    elementwise = op.get_trait(ReadsElementwise)
    reads, in_loop = Reads.NONE, elementwise is not None and all(f.in_loop for f in operands)
    for i, fact in enumerate(operands):
        along = elementwise is not None and (
            elementwise.operands is None or i in elementwise.operands
        )
        aligned = dims(op.operands[i].type) == shape
        reads = max(
            reads, fact.reads if fact.reads is Reads.NONE or (along and aligned) else Reads.ANY
        )
    return Fact(reads, in_loop and [dims(r.type) for r in op.results] == [shape])


def may_lie_over(kernel: Block, result: int, parameter: int) -> bool:
    """Test whether a result of `kernel` may be written over a parameter that has as many bytes."""
    last = kernel.last_op
    if last is None or result >= len(last.operands) or parameter >= len(kernel.args):
        return False
    given, made = kernel.args[parameter], last.operands[result]
    shape = dims(made.type)
    if shape is None or dims(given.type) != shape:
        return False
    if bytes_of_element(given.type) != bytes_of_element(made.type):
        return False
    facts = {arg: Fact(Reads.NONE, True) for arg in kernel.args}
    facts[given] = Fact(Reads.SAME, True)
    for op in kernel.ops:
        if op is last:
            break
        fact = fact_of(op, shape, [facts[value] for value in op.operands])
        if op.regions or fact.reads is Reads.ANY:
            return False
        facts.update(dict.fromkeys(op.results, fact))
    return all(
        facts[value] == Fact(Reads.SAME, True) if i == result else facts[value].reads is Reads.NONE
        for i, value in enumerate(last.operands)
    )
