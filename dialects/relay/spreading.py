"""Operators that move elements between channels and space, or apart."""

from xdsl.irdl import irdl_op_definition, operand_def

from .incomplete import AnyTensor
from .operator import Injective
from .properties import float_prop, int_prop, ints_prop, string_prop


@irdl_op_definition
class DepthToSpaceOp(Injective):
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
    block_size = int_prop()
    layout = string_prop("NCHW")
    mode = string_prop("DCR")


@irdl_op_definition
class SpaceToDepthOp(Injective):
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
    block_size = int_prop()
    layout = string_prop("NCHW")


@irdl_op_definition
class DilateOp(Injective):
    """
    Move the elements of `data` apart: along axis i, `strides[i]` - 1 elements are between them.

    ```mlir
    %y = relay.nn.dilate %x {strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
    ```

    These are `dilation_value`.
    """

    name = "relay.nn.dilate"

    data = operand_def(AnyTensor)
    strides = ints_prop()
    dilation_value = float_prop(0.0)


@irdl_op_definition
class SpaceToBatchNdOp(Injective):
    """
    Pad `data`, and make a batch of the elements at each place of its blocks of `block_shape`.

    ```mlir
    %y = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2>, paddings = array<i64: 0, 1>}
      : (tensor<1x3x4xf32>) -> tensor<2x2x4xf32>
    ```

    `paddings` are (before, after) for each of the axes after the batch that have blocks.
    """

    name = "relay.nn.space_to_batch_nd"

    data = operand_def(AnyTensor)
    block_shape = ints_prop()
    paddings = ints_prop()
    pad_value = float_prop(0.0)


@irdl_op_definition
class BatchToSpaceNdOp(Injective):
    """
    Arrange the batch `data` as blocks of `block_shape`, and cut off `crops`.

    ```mlir
    %y = relay.nn.batch_to_space_nd %x {block_shape = array<i64: 2>, crops = array<i64: 0, 1>}
      : (tensor<2x2x4xf32>) -> tensor<1x3x4xf32>
    ```

    `crops` are (before, after) for each of the axes after the batch that have blocks.
    """

    name = "relay.nn.batch_to_space_nd"

    data = operand_def(AnyTensor)
    block_shape = ints_prop()
    crops = ints_prop()


@irdl_op_definition
class MirrorPadOp(Injective):
    """
    Surround `data` with `pad_width` (before 0, after 0, before 1, …) of its mirrored elements.

    ```mlir
    %y = relay.nn.mirror_pad %x {pad_width = array<i64: 1, 1>} : (tensor<3xf32>) -> tensor<5xf32>
    ```

    The first and the last are repeated with `mode` "SYMMETRIC", not with "REFLECT".
    """

    name = "relay.nn.mirror_pad"

    data = operand_def(AnyTensor)
    pad_width = ints_prop()
    mode = string_prop("SYMMETRIC")
