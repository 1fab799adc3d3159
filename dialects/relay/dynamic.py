"""The operators of `dyn`: the operands after the data are sizes, on the host."""

from xdsl.irdl import irdl_op_definition, operand_def

from .incomplete import AnyTensor
from .operator import Broadcasting, Injective
from .properties import bool_prop, int_prop, optional_ints_prop, string_prop
from .reshape import ReshapingInterface


@irdl_op_definition
class DynReshapeOp(Injective, ReshapingInterface):
    """
    Reshape `data` to `shape`.

    ```mlir
    %y = relay.dyn.reshape %x, %s : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```

    A 0 in `shape` copies the dim at its index (with `allowzero` it is a dim of 0); -1, allowed
    once, is inferred from the others.
    """

    name = "relay.dyn.reshape"

    data = operand_def(AnyTensor)
    shape = operand_def(AnyTensor)
    allowzero = bool_prop(False)


@irdl_op_definition
class DynSqueezeOp(Injective, ReshapingInterface):
    """
    Remove the dims `axis` of `data`, which must be 1.

    ```mlir
    %y = relay.dyn.squeeze %x, %a : (tensor<1x2x1xf32>, tensor<1xi64>) -> tensor<?x?xf32>
    ```
    """

    name = "relay.dyn.squeeze"

    data = operand_def(AnyTensor)
    axis = operand_def(AnyTensor)


@irdl_op_definition
class DynExpandDimsOp(Injective, ReshapingInterface):
    """
    Insert `num_newaxis` dims of 1 at the scalar `axis` of `data`.

    ```mlir
    %y = relay.dyn.expand_dims %x, %a : (tensor<2x3xf32>, tensor<i64>) -> tensor<?x?x?xf32>
    ```

    An `axis` of -1 is after the last dim.
    """

    name = "relay.dyn.expand_dims"

    data = operand_def(AnyTensor)
    axis = operand_def(AnyTensor)
    num_newaxis = int_prop(1)


@irdl_op_definition
class DynBroadcastToOp(Broadcasting):
    """
    Broadcast `data` to `shape`.

    ```mlir
    %y = relay.dyn.broadcast_to %x, %s : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
    """

    name = "relay.dyn.broadcast_to"

    data = operand_def(AnyTensor)
    shape = operand_def(AnyTensor)


@irdl_op_definition
class DynTileOp(Broadcasting):
    """
    Tile `data` `reps[i]` times along axis i; dims and `reps` are aligned at the last axis.

    ```mlir
    %y = relay.dyn.tile %x, %n : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
    """

    name = "relay.dyn.tile"

    data = operand_def(AnyTensor)
    reps = operand_def(AnyTensor)


@irdl_op_definition
class DynStridedSliceOp(Injective):
    """
    Take every `strides`-th slice of `data` from `begin` up to `end` along `axes`.

    ```mlir
    %y = relay.dyn.strided_slice %x, %b, %e, %s {axes = array<i64: 1>}
      : (tensor<2x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x?xf32>
    ```

    The operands and `slice_mode` mean what the attributes of `relay.strided_slice` mean.
    """

    name = "relay.dyn.strided_slice"

    data = operand_def(AnyTensor)
    begin = operand_def(AnyTensor)
    end = operand_def(AnyTensor)
    strides = operand_def(AnyTensor)
    axes = optional_ints_prop()
    slice_mode = string_prop("end")


@irdl_op_definition
class DynPadOp(Injective):
    """
    Surround `data` with `pad_width[i]` (before, after) more elements on axis i.

    ```mlir
    %y = relay.dyn.nn.pad %x, %w, %v
      : (tensor<2x3xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<?x?xf32>
    ```

    `pad_mode` determines their values, as that of `relay.nn.pad`; `pad_value` is a scalar.
    """

    name = "relay.dyn.nn.pad"

    data = operand_def(AnyTensor)
    pad_width = operand_def(AnyTensor)
    pad_value = operand_def(AnyTensor)
    pad_mode = string_prop("constant")
