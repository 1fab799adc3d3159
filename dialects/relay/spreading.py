"""Operators that move elements between channels and space, or apart."""

from .operator import Injective, operator


@operator("relay.nn.depth_to_space")
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


@operator("relay.nn.space_to_depth")
class SpaceToDepthOp(Injective):
    """
    Arrange blocks of pixels of the images `data`, `block_size` high and wide, as channels.

    ```mlir
    %y = relay.nn.space_to_depth %x {block_size = 2}
      : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```

    The channels of the block's pixels follow each other.
    """


@operator("relay.nn.dilate")
class DilateOp(Injective):
    """
    Move the elements of `data` apart: along axis i, `strides[i]` - 1 elements are between them.

    ```mlir
    %y = relay.nn.dilate %x {strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
    ```

    These are `dilation_value`.
    """


@operator("relay.nn.space_to_batch_nd")
class SpaceToBatchNdOp(Injective):
    """
    Pad `data`, and make a batch of the elements at each place of its blocks of `block_shape`.

    ```mlir
    %y = relay.nn.space_to_batch_nd %x {block_shape = array<i64: 2>, paddings = array<i64: 0, 1>}
      : (tensor<1x3x4xf32>) -> tensor<2x2x4xf32>
    ```

    `paddings` are (before, after) for each of the axes after the batch that have blocks.
    """


@operator("relay.nn.batch_to_space_nd")
class BatchToSpaceNdOp(Injective):
    """
    Arrange the batch `data` as blocks of `block_shape`, and cut off `crops`.

    ```mlir
    %y = relay.nn.batch_to_space_nd %x {block_shape = array<i64: 2>, crops = array<i64: 0, 1>}
      : (tensor<2x2x4xf32>) -> tensor<1x3x4xf32>
    ```

    `crops` are (before, after) for each of the axes after the batch that have blocks.
    """


@operator("relay.nn.mirror_pad")
class MirrorPadOp(Injective):
    """
    Surround `data` with `pad_width` (before 0, after 0, before 1, …) of its mirrored elements.

    ```mlir
    %y = relay.nn.mirror_pad %x {pad_width = array<i64: 1, 1>} : (tensor<3xf32>) -> tensor<5xf32>
    ```

    The first and the last are repeated with `mode` "SYMMETRIC", not with "REFLECT".
    """
