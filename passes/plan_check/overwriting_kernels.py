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

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ...dialects.interfaces import (
    ReadsBeforeWriting,
    ReadsElementwise,
    Rematerializable,
    ReshapesOnly,
)
from ...dialects.tensors import as_tensor, element_size


def dims(type: Attribute) -> tuple[int, ...]:
    return type.get_shape() if isinstance(type, TensorType) else ()


def is_smaller(operand: Attribute, result: Attribute) -> bool:
    """Test whether an operand of one shape is repeated to fill a result of another one."""
    few, many = dims(operand)[::-1], dims(result)[::-1]
    repeated = [n for n, m in zip(few, many, strict=False) if n != m]
    is_shorter = len(few) < len(many)
    return len(few) <= len(many) and set(repeated) <= {1} and (is_shorter or bool(repeated))


def is_constant(op: Operation | Block) -> bool:
    return isinstance(op, Operation) and not op.operands and op.has_trait(Rematerializable)


def may_be_in_loop(operand: SSAValue, op: Operation) -> bool:
    """Test whether a loop over the results of `op` may read all of `operand`."""
    is_leaf = isinstance(operand, BlockArgument) or is_constant(operand.owner)
    return is_leaf or all(is_smaller(operand.type, result.type) for result in op.results)


def may_lie_over(kernels: Mapping[str, Operation], name: str, result: int, parameter: int) -> bool:
    """Test whether a result of a kernel may be written over a parameter that has as many bytes."""
    function = kernels.get(name)
    if function is None or not function.regions or len(function.regions[0].blocks) != 1:
        return False
    kernel = function.regions[0].block
    last = kernel.last_op
    if last is None or result >= len(last.operands) or parameter >= len(kernel.args):
        return False
    given, made = kernel.args[parameter], last.operands[result]
    types = [type for value in (given, made) if (type := as_tensor(value.type))]
    if len(types) < 2 or len({element_size(type.element_type) for type in types}) > 1:
        return False
    same: set[SSAValue] = {given}  # they depend on the parameter, at the same index
    apart: set[SSAValue] = set()  # they are computed before the loop of the result
    for op in kernel.ops:
        if op is last:
            break
        if op.regions:
            return False
        is_alone = op is kernel.first_op and op.next_op is last
        trait = op.get_trait(ReadsBeforeWriting if is_alone else ReadsElementwise)
        reshapes = op.has_trait(ReshapesOnly)
        in_loop = len(op.results) == 1 and (trait is not None or reshapes)
        for i, operand in enumerate(op.operands):
            # An element of a result depends on that of the operand at its index alone.
            is_along = (
                i == 0
                if reshapes
                else (
                    trait is not None
                    and (trait.operands is None or i in trait.operands)
                    and all(dims(each.type) == dims(operand.type) for each in op.results)
                )
            )
            if operand in same and not is_along:
                return False
            in_loop &= operand not in apart if is_along else may_be_in_loop(operand, op)
        if not same.isdisjoint(op.operands):
            same.update(op.results)
        if not (in_loop or is_constant(op)):
            apart.update(op.results)
    others = (value for i, value in enumerate(last.operands) if i != result)
    return made in same and made not in apart and same.isdisjoint(others)
