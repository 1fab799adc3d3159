"""Operators that move elements between channels and space, or apart."""

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

from .families import INJECTIVE
from .incomplete import AnyTensor
from .operator import RelayOperator
from .properties import float_prop, int_prop, ints_prop, string_prop


@irdl_op_definition
class DepthToSpaceOp(RelayOperator):
    """
    Arrange channels of the images `data` as blocks of pixels, `block_size` high and wide.

    ```mlir
    %y = relay.nn.depth_to_space %x {block_size = 2}
      : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
    ```

    The channels of one pixel are those of the block's pixels one after the other with `mode` "DCR",
    and the block's pixels of one channel after the other with "CDR".
    """

    name = "relay.nn.depth_to_space"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    block_size = int_prop()
    layout = string_prop("NCHW")
    mode = string_prop("DCR")

    traits = traits_def(*INJECTIVE)


@irdl_op_definition
class SpaceToDepthOp(RelayOperator):
    """
    Arrange blocks of pixels of the images `data`, `block_size` high and wide, as channels.

    ```mlir
    %y = relay.nn.space_to_depth %x {block_size = 2}
      : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```

    The channels of the block's pixels follow each other.
    """

    name = "relay.nn.space_to_depth"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    block_size = int_prop()
    layout = string_prop("NCHW")

    traits = traits_def(*INJECTIVE)


@irdl_op_definition
class DilateOp(RelayOperator):
    """
    Move the elements of `data` apart: along axis i, `strides[i]` - 1 elements are between them.

    ```mlir
    %y = relay.nn.dilate %x {strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
    ```

    These are `dilation_value`.
    """

    name = "relay.nn.dilate"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    strides = ints_prop()
    dilation_value = float_prop(0.0)

    traits = traits_def(*INJECTIVE)
