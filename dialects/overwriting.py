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

All ops that compute the result must be elementwise (`ReadsElementwise`), of the result's shape, and
what they read of the parameter nothing else may read. Dims that are not known count as equal: a
parameter that has as many bytes as the result is not broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from .interfaces import ReadsElementwise, Rematerializable
from .tensors import as_tensor, bits_of, element_size


@dataclass(frozen=True)
class Computation:
    """The ops that compute a result, and the parameters that they read."""

    ops: dict[Operation, None] = field(default_factory=dict[Operation, None])
    parameters: dict[BlockArgument, None] = field(default_factory=dict[BlockArgument, None])

    @staticmethod
    def of(result: SSAValue) -> Computation:
        found = Computation()
        pending = [result]
        while pending:
            value = pending.pop()
            if isinstance(value, BlockArgument):
                found.parameters[value] = None
            elif isinstance(op := value.owner, Operation) and op not in found.ops:
                found.ops[op] = None
                pending += op.operands
        return found


def shape_of(value: SSAValue) -> Sequence[int] | None:
    tensor = as_tensor(value.type)
    return None if tensor is None else tensor.get_shape()


def is_loop(result: SSAValue, ops: Sequence[Operation]) -> bool:
    """Test whether `ops`, which compute `result`, are elementwise in its shape, or constants."""
    shape = shape_of(result)
    return shape is not None and all(
        op.has_trait(Rematerializable)
        or (
            op.has_trait(ReadsElementwise)
            and len(op.results) == 1
            and shape_of(op.results[0]) == shape
        )
        for op in ops
    )


def is_same_size(parameter: SSAValue, result: SSAValue) -> bool:
    """Test whether both have one shape, as far as it is known, and elements of one size."""
    one, other = as_tensor(parameter.type), as_tensor(result.type)
    return (
        one is not None
        and other is not None
        and one.get_shape() == other.get_shape()
        and bits_of(one.element_type) is not None
        and bits_of(other.element_type) is not None
        and element_size(one.element_type) == element_size(other.element_type)
    )


def is_read_elementwise(
    parameter: BlockArgument, result: int, ops: dict[Operation, None], terminator: Operation
) -> bool:
    """Test whether only `ops` read `parameter`, each elementwise, or it is `result` itself."""
    for use in parameter.uses:
        if use.operation is terminator and use.index == result:
            continue
        reads = use.operation.get_trait(ReadsElementwise)
        if use.operation not in ops or reads is None or not reads.reads(use.index):
            return False
    return True


def overwritable(block: Block) -> list[frozenset[int]]:
    """Return for each result of the kernel `block` the parameters that it may overwrite."""
    terminator = block.last_op
    if terminator is None:
        return []
    results = terminator.operands
    computed = [Computation.of(result) for result in results]
    found: list[frozenset[int]] = []
    for i, (result, here) in enumerate(zip(results, computed, strict=True)):
        if not is_loop(result, list(here.ops)):
            found.append(frozenset())
            continue
        others = {p for other in computed if other is not here for p in other.parameters}
        found.append(
            frozenset(
                parameter.index
                for parameter in here.parameters
                if parameter not in others
                and is_same_size(parameter, result)
                and is_read_elementwise(parameter, i, here.ops, terminator)
            )
        )
    return found
