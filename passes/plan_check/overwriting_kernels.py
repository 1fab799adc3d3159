"""
Kernels that read each element of a parameter before they write that element of a result.

    ^(%p, %b):                  %p   at the same index
      %s = relay.add %p, %b     %s   at the same index, in the loop of the result
      %y = relay.exp %s         %y   so %y may lie where %p does
      yield %y

In program order, each value is followed from the parameter: it depends on none of it, on the
element at the same index (the index counts elements: a reshape keeps it), or on any; and the loop
over the result may compute it, or it is computed apart. A value apart that is not smaller than what
it is used for may be in the memory of the result before the loop has read the parameter. An
operator that is alone in a kernel may read other elements, if it reads all before it writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ...dialects.interfaces import (
    ReadsBeforeWriting,
    ReadsElementwise,
    Rematerializable,
    ReshapesOnly,
)
from .slots import bytes_of_element


class Reads(IntEnum):
    """The elements of the parameter on which an element of a value depends."""

    NONE = 0
    SAME = 1
    """That at the same index."""
    ANY = 2


@dataclass(frozen=True)
class Fact:
    """The dependence of a value on the parameter, and if the loop of the result may compute it."""

    reads: Reads
    in_loop: bool


def dims(type: Attribute) -> tuple[int, ...]:
    return type.get_shape() if isinstance(type, TensorType) else ()


def is_smaller(operand: Attribute, result: Attribute) -> bool:
    """Test whether an operand of one shape is repeated to fill a result of another one."""
    few, many = dims(operand)[::-1], dims(result)[::-1]
    repeated = [n != m for n, m in zip(few, many, strict=False)]
    ones = all(n == 1 for n, differs in zip(few, repeated, strict=False) if differs)
    return len(few) <= len(many) and ones and (any(repeated) or len(few) < len(many))


def fact_of(op: Operation, facts: Mapping[SSAValue, Fact], is_alone: bool) -> Fact:
    """Return the fact of the results of `op` from those of its operands."""
    trait = op.get_trait(ReadsBeforeWriting if is_alone else ReadsElementwise)
    reshapes = op.has_trait(ReshapesOnly)
    reads, in_loop = Reads.NONE, len(op.results) == 1 and (trait is not None or reshapes)
    for i, operand in enumerate(op.operands):
        fact = facts[operand]
        if reshapes:
            along = i == 0
        elif trait is not None and (trait.operands is None or i in trait.operands):
            along = all(dims(result.type) == dims(operand.type) for result in op.results)
        else:
            along = False
        if along:
            reads, in_loop = max(reads, fact.reads), in_loop and fact.in_loop
            continue
        reads = Reads.ANY if fact.reads is not Reads.NONE else reads
        is_leaf = isinstance(operand, BlockArgument) or is_constant(operand.owner)
        in_loop = in_loop and (
            is_leaf or all(is_smaller(operand.type, result.type) for result in op.results)
        )
    return Fact(reads, in_loop or is_constant(op))


def is_constant(op: Operation | Block) -> bool:
    return isinstance(op, Operation) and not op.operands and op.has_trait(Rematerializable)


def may_lie_over(kernel: Block, result: int, parameter: int) -> bool:
    """Test whether a result of `kernel` may be written over a parameter that has as many bytes."""
    last = kernel.last_op
    if last is None or result >= len(last.operands) or parameter >= len(kernel.args):
        return False
    given, made = kernel.args[parameter], last.operands[result]
    if bytes_of_element(given.type) != bytes_of_element(made.type):
        return False
    facts: dict[SSAValue, Fact] = {arg: Fact(Reads.NONE, True) for arg in kernel.args}
    facts[given] = Fact(Reads.SAME, True)
    for op in kernel.ops:
        if op is last:
            break
        is_alone = op is kernel.first_op and op.next_op is last
        fact = fact_of(op, facts, is_alone)
        if op.regions or fact.reads is Reads.ANY:
            return False
        facts.update(dict.fromkeys(op.results, fact))
    return all(
        facts[value] == Fact(Reads.SAME, True) if i == result else facts[value].reads is Reads.NONE
        for i, value in enumerate(last.operands)
    )
