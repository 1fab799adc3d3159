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

from xdsl.dialects.builtin import I64, IntegerAttr, TensorType, UnitAttr, i64
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from ...operators.signature import Tensor
from ...operators.sizes import Shape
from .. import memory
from ..integers import i64_attribute
from ..interfaces import (
    Aliasing,
    AllocatesResults,
    Bufferizable,
    EndsLoop,
    ReifiesShapes,
    RewritesOperand,
    SameDevice,
    StartsLoop,
)
from ..memory.destination_ops import verify_fill, verify_near, verify_read, verify_rows
from ..tensors import as_tensor, tensor_of
from ..xdsl_extras.walking import ops_of
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
    They have the bytes of the operands, which are not used in another way. Without `count`, turns
    end once rows of the last operand, from `start` on along `axis` and `step` further in each
    turn, are behind its last one:

    ```mlir
    %b = relay.loop %a {axis = 1 : i64, start = -2 : i64, step = 4 : i64}
      : (tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    ```
    """

    name = "relay.loop"

    initial = var_operand_def(TensorType)
    carried = var_result_def(TensorType)
    count = opt_prop_def(IntegerAttr[I64])
    axis = int_prop(0)
    start = int_prop(0)
    step = int_prop(1)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllocatesResults(), AliasesInOrder(), StartsLoop(), SameDevice())
    assembly_format = "$initial attr-dict `:` functional-type(operands, results)"

    def __init__(self, initial: Sequence[SSAValue], count: int | None, **rows: int):
        numbers = rows if count is None else {"count": count}
        super().__init__(
            operands=[initial],
            properties={name: i64_attribute(number) for name, number in numbers.items()},
            result_types=[[value.type for value in initial]],
        )

    def turns(self, dims: Sequence[int]) -> int:
        """Return the number of turns if the last operand has such `dims`."""
        if self.count is not None:
            return self.count.value.data
        rows = dims[self.axis.value.data] - self.start.value.data
        return max(1, -(-rows // self.step.value.data))

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
        for name in ("step", "count"):
            number = self.properties.get(name)
            if isinstance(number, IntegerAttr) and number.value.data < 1:
                raise VerifyException(f"{name} must be at least 1, but is {number.value.data}")
        if self.count is None:
            self.verify_open()
        if [*self.end.operand_types] != [*self.operand_types]:
            raise VerifyException("relay.loop and relay.end_loop have different types")

    def verify_open(self) -> None:
        """Check what says where turns end."""
        type, axis = as_tensor(self.initial[-1].type), self.axis.value.data
        rank = 0 if type is None else len(type.get_shape())
        if not 0 <= axis < rank:
            raise VerifyException(f"axis must be 0 to {rank - 1}, but is {axis}")
        verify_near(self)


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
    while isinstance(value, OpResult):
        match value.op:
            case WriteRowsOp() | FillRowsOp() as op:
                value = op.target
            case LoopOp() | EndLoopOp() as op:
                value = op.operands[value.index]
            case _:
                return value
    return value


def repeated_in(block: Block) -> Mapping[Operation, EndLoopOp]:
    """Return the ops of a block that are in a loop, each with the end of it."""
    repeated: dict[Operation, EndLoopOp] = {}
    if not ops_of(block.ops, LoopOp):
        return repeated
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
            operands=[*op.operands, outs[0]],
            properties=op.properties,
            result_types=[outs[0].type],
        )


class RowsOfData(ReifiesShapes):
    """The result has as many rows as its type, and the other dims of the data."""

    def result_dims(self, op: Operation, operands: Sequence[Tensor | str]) -> Sequence[Shape]:
        assert isinstance(op, ReadRowsOp)
        data, axis = operands[0], op.axis.value.data
        assert isinstance(data, Tensor), "verified: an operand that is a tensor"
        rows = tensor_of(op.result).get_shape()[axis]
        return [(*data.dims[:axis], rows, *data.dims[axis + 1 :])]


@irdl_op_definition
class ReadRowsOp(IRDLOperation):
    """
    Copy the rows of `data` from `start` on along `axis`, `step` rows further in each turn.

    ```mlir
    %r = relay.read_rows %x {axis = 1 : i64, start = 2 : i64, step = 3 : i64}
      : (tensor<1x14x4xf32>) -> tensor<1x2x4xf32>
    ```

    A turn is one of the enclosing `relay.loop`. `step` is 0 unless it is given. With `wraps`, the
    row after the last of `data` is the first. Rows that `data` does not have are `fill`, a scalar,
    which an open number of rows needs. Its other dims, which the result has, may be open.
    """

    name = "relay.read_rows"

    data = operand_def(TensorType)
    fill = opt_operand_def(TensorType)
    result = result_def(TensorType)
    axis = int_prop()
    start = int_prop()
    step = int_prop(0)
    wraps = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllocatesResults(), SameDevice(), BufferizeRead(), RowsOfData())
    assembly_format = (
        "$data (`fill` $fill^ `:` type($fill))? attr-dict `:` `(` type($data) `)` `->` "
        "type($result)"
    )

    def verify_(self) -> None:
        verify_read(self, self.data, self.result, self.fill)


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
    given); with `wraps`, the row after the last of `target` is the first. With `clips`, and of an
    open number of rows, those that `target` does not have are not written. The result has the bytes
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
    clips = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllocatesResults(), SameDevice(), RewritesOperand((1,)))
    assembly_format = "$data `,` $target attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        verify_written(self, self.target)
        axis, count = self.axis.value.data, self.count.value.data
        verify_rows(self, self.data, axis, count, self.source.value.data)
        verify_rows(self, self.target, axis, count)


@irdl_op_definition
class FillRowsOp(IRDLOperation):
    """
    Write `value`, a scalar, over the rows of `target` that are not in a tensor of `shape`.

    ```mlir
    %c = relay.fill_rows %b, %zero, %s {axis = 1 : i64, start = -2 : i64, step = 4 : i64}
      : (tensor<1x6x8xf32>, tensor<f32>, tensor<3xi64>) -> tensor<1x6x8xf32>
    ```

    The first row of `target` is row `start` of that tensor along `axis`, and `step` rows further in
    each turn of the enclosing `relay.loop`. The result has the bytes of `target`, as that of
    `relay.write_rows`.
    """

    name = "relay.fill_rows"

    target = operand_def(TensorType)
    value = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)
    axis = int_prop()
    start = int_prop()
    step = int_prop(0)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(AllocatesResults(), SameDevice(), RewritesOperand((0,)))
    assembly_format = (
        "$target `,` $value `,` $shape attr-dict `:` functional-type(operands, results)"
    )

    def verify_(self) -> None:
        verify_written(self, self.target)
        verify_rows(self, self.target, self.axis.value.data, 0, 0)
        verify_fill(self.value, self.target)
        verify_near(self)
        type, target = as_tensor(self.shape.type), as_tensor(self.target.type)
        rank = 0 if target is None else len(target.get_shape())
        if type is None or type.element_type != i64 or type.get_shape() != (rank,):
            raise VerifyException(f"shape must be tensor<{rank}xi64>, but is {self.shape.type}")


def verify_written(op: Operation, target: SSAValue) -> None:
    """Check that `target`, which `op` writes over, may be, and is not used after that."""
    if target.type != op.results[0].type:
        raise VerifyException(f"the result is {op.results[0].type}, not as the target")
    if isinstance(target, BlockArgument):
        raise VerifyException("the target must be a tensor that an op computed")
    for user in (use.operation for use in target.uses):
        is_end = user is op or isinstance(user, memory.KillOp)
        if not is_end and not comes_before(user, op):
            raise VerifyException(f"{user.name} uses the target after it was written over")


def comes_before(op: Operation, other: Operation) -> bool:
    """Test whether `op`, or the op that holds it, is before `other` in its block."""
    block = other.parent
    around = None if block is None else block.find_ancestor_op_in_block(op)
    return around is not None and around.is_before_in_block(other)
