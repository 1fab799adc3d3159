"""
Repeated ops, and the rows that move from turn to turn.

    %b = relay.loop %b0 {count = 4}        %b0 and all that name its bytes become %b
    %r = relay.read_rows %x {start = 2, step = 3, …}     rows 2, 5, 8, 11 of %x, turn by turn
    …
    %c = relay.write_rows %r, %b {…}         over rows of %b, whose bytes %c has
    %z = relay.end_loop %c                 the next turn has %c as %b; %z is the last %c

The ops between both are in one block with what is around them, so analyses of lifetimes and places
read them as if they ran once. This is right, as what a turn hands to the next is in the same bytes
throughout, and what it reads from outside is live up to the end (`EndsLoop`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from .. import memory
from ..integers import i64_attribute
from ..interfaces import (
    Aliasing,
    AllocatesResults,
    Bufferizable,
    EndsLoop,
    RewritesOperand,
    SameDevice,
    StartsLoop,
)
from ..memory.destination_ops import verify_read, verify_rows
from .properties import int_prop


class AliasesInOrder(Aliasing):
    """Result i has the bytes of operand i."""

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        return zip(op.results, op.operands, strict=True)


def verify_types(op: Operation) -> None:
    if not op.operands or [*op.operand_types] != [*op.result_types]:
        raise VerifyException(
            f"{op.name} has a result of the type of each operand, and at least one"
        )


@irdl_op_definition
class LoopOp(IRDLOperation):
    """
    Run the ops up to the next `relay.end_loop` of the block `count` times.

    ```mlir
    %b = relay.loop %a {count = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    The results are the operands in the first turn, and those of `relay.end_loop` in each other.
    They have the bytes of the operands, which are not used in another way.
    """

    name = "relay.loop"

    initial = var_operand_def(TensorType)
    carried = var_result_def(TensorType)
    count = prop_def(IntegerAttr[I64])

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllocatesResults(), AliasesInOrder(), StartsLoop(), SameDevice())
    assembly_format = "$initial attr-dict `:` functional-type(operands, results)"

    def __init__(self, initial: Sequence[SSAValue], count: int):
        super().__init__(
            operands=[initial],
            properties={"count": i64_attribute(count)},
            result_types=[[value.type for value in initial]],
        )

    @property
    def turns(self) -> int:
        """The number of turns."""
        return self.count.value.data

    @property
    def end(self) -> EndLoopOp:
        """The op that ends what is repeated."""
        op = self.next_op
        while op is not None and not isinstance(op, EndLoopOp | LoopOp):
            op = op.next_op
        if not isinstance(op, EndLoopOp):
            raise VerifyException("relay.loop needs a relay.end_loop after it in its block")
        return op

    def verify_(self) -> None:
        verify_types(self)
        if self.count.value.data < 1:
            raise VerifyException(f"count must be at least 1, but is {self.count.value.data}")
        if [*self.end.operand_types] != [*self.operand_types]:
            raise VerifyException("relay.loop and relay.end_loop have different types")


@irdl_op_definition
class EndLoopOp(IRDLOperation):
    """
    End what a `relay.loop` repeats; the results are the operands in the last turn.

    ```mlir
    %c = relay.end_loop %b : (tensor<4xf32>) -> tensor<4xf32>
    ```

    From level `manifest` on, operand i is in the bytes of operand i of `relay.loop`.
    """

    name = "relay.end_loop"

    next = var_operand_def(TensorType)
    last = var_result_def(TensorType)

    traits = traits_def(AllocatesResults(), AliasesInOrder(), EndsLoop(), SameDevice())
    assembly_format = "$next attr-dict `:` functional-type(operands, results)"

    def __init__(self, next: Sequence[SSAValue]):
        super().__init__(operands=[next], result_types=[[value.type for value in next]])

    @property
    def start(self) -> LoopOp:
        """The op that starts what is repeated."""
        op = self.prev_op
        while op is not None and not isinstance(op, EndLoopOp | LoopOp):
            op = op.prev_op
        if not isinstance(op, LoopOp):
            raise VerifyException("relay.end_loop needs a relay.loop before it in its block")
        return op

    def verify_(self) -> None:
        verify_types(self)
        inside, op = set[Operation](), self.start.next_op
        while op is not None and op is not self:
            inside.add(op)
            op = op.next_op
        block = self.parent
        for user in (use.operation for op in inside for r in op.results for use in r.uses):
            around = None if block is None else block.find_ancestor_op_in_block(user)
            if around is not self and around not in inside:
                raise VerifyException(f"{user.name} uses a value of a loop that it does not return")


def same_bytes_as(value: SSAValue) -> SSAValue:
    """Return the first value whose bytes `value` has by ops of this file."""
    while isinstance(value, OpResult) and isinstance(value.op, LoopOp | EndLoopOp | WriteRowsOp):
        op = value.op
        value = op.target if isinstance(op, WriteRowsOp) else op.operands[value.index]
    return value


def repeated_in(block: Block) -> Mapping[Operation, EndLoopOp]:
    """Return the ops of a block that are in a loop, each with the end of it."""
    repeated: dict[Operation, EndLoopOp] = {}
    end: EndLoopOp | None = None
    for op in block.ops:
        if isinstance(op, EndLoopOp):
            end = None
        if end is not None:
            repeated[op] = end
        if isinstance(op, LoopOp):
            end = op.end
    return repeated


class BufferizeRead(Bufferizable):
    """The rows are copied into a tensor."""

    def to_destination_style(self, op: Operation, outs: Sequence[SSAValue]) -> Operation:
        return memory.CopyRowsOp.create(
            operands=[op.operands[0], outs[0]],
            properties=op.properties,
            result_types=[outs[0].type],
        )


@irdl_op_definition
class ReadRowsOp(IRDLOperation):
    """
    Copy the rows of `data` from `start` on along `axis`, `step` rows further in each turn.

    ```mlir
    %r = relay.read_rows %x {axis = 1 : i64, start = 2 : i64, step = 3 : i64}
      : (tensor<1x14x4xf32>) -> tensor<1x2x4xf32>
    ```

    A turn is one of the enclosing `relay.loop`. `step` is 0 unless it is given. With `wraps`, the
    row after the last of `data` is the first.
    """

    name = "relay.read_rows"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    axis = int_prop()
    start = int_prop()
    step = int_prop(0)
    wraps = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllocatesResults(), SameDevice(), BufferizeRead())
    assembly_format = "$data attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        verify_read(self, self.data, self.result)


@irdl_op_definition
class WriteRowsOp(IRDLOperation):
    """
    Copy `count` rows of `data` from `source` on over those of `target` from `start` on.

    ```mlir
    %c = relay.write_rows %r, %b
      {axis = 1 : i64, source = 0 : i64, count = 2 : i64, start = 4 : i64, step = 2 : i64}
      : (tensor<1x3x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
    ```

    In each turn of the enclosing `relay.loop`, they are `step` rows further (0 unless it is
    given); with `wraps`, the row after the last of `target` is the first. The result has the bytes
    of `target`, which a pure op computed, and which is not used after this.
    """

    name = "relay.write_rows"

    data = operand_def(TensorType)
    target = operand_def(TensorType)
    result = result_def(TensorType)
    axis = int_prop()
    source = int_prop(0)
    count = int_prop()
    start = int_prop()
    step = int_prop(0)
    wraps = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllocatesResults(), SameDevice(), RewritesOperand((1,)))
    assembly_format = "$data `,` $target attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        if self.target.type != self.result.type:
            raise VerifyException(f"the result is {self.result.type}, not as the target")
        if isinstance(self.target, BlockArgument):
            raise VerifyException("the target must be a tensor that an op computed")
        for use in self.target.uses:
            user = use.operation
            if (
                user is not self
                and not isinstance(user, memory.KillOp)
                and not comes_before(user, self)
            ):
                raise VerifyException(f"{user.name} uses the target after it was written over")
        axis, count = self.axis.value.data, self.count.value.data
        verify_rows(self, self.data, axis, count, self.source.value.data)
        verify_rows(self, self.target, axis, count)


def comes_before(op: Operation, other: Operation) -> bool:
    """Test whether `op`, or the op that holds it, is before `other` in its block."""
    block = other.parent
    around = None if block is None else block.find_ancestor_op_in_block(op)
    return around is not None and around.is_before_in_block(other)
