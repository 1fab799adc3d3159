"""Operators whose result repeats the elements of one tensor."""

from xdsl.irdl import irdl_op_definition, operand_def, traits_def

from ..interfaces import ReadsElementwise
from .incomplete import AnyTensor
from .operator import Broadcasting
from .properties import int_prop, ints_prop


@irdl_op_definition
class BroadcastToOp(Broadcasting):
    """
    Broadcast `data` to `shape`.

    ```mlir
    %y = relay.broadcast_to %x {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.broadcast_to"

    data = operand_def(AnyTensor)
    shape = ints_prop()

    traits = traits_def(ReadsElementwise())


@irdl_op_definition
class TileOp(Broadcasting):
    """
    Tile `data` `reps[i]` times along axis i; dims and `reps` are aligned at the last axis.

    ```mlir
    %y = relay.tile %x {reps = array<i64: 2, 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.tile"

    data = operand_def(AnyTensor)
    reps = ints_prop()


@irdl_op_definition
class RepeatOp(Broadcasting):
    """
    Repeat each slice of `data` along `axis` `repeats` times.

    ```mlir
    %y = relay.repeat %x {repeats = 2} : (tensor<3xf32>) -> tensor<6xf32>
    ```
    """

    name = "relay.repeat"

    data = operand_def(AnyTensor)
    repeats = int_prop()
    axis = int_prop(0)
