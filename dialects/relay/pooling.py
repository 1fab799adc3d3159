"""Operators that resize height and width: pooling and upsampling."""

from abc import ABC

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

from .families import INJECTIVE, OUT_FUSABLE
from .incomplete import AnyTensor
from .operator import RelayOperator
from .properties import bool_prop, float_prop, ints_prop, string_prop


class Pool2d(RelayOperator, ABC):
    """
    An operator on each window of height and width.

    ```mlir
    %y = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```

    `layout` is "NCHW" or "NHWC"; `padding` is (top, left, bottom, right). With `ceil_mode` the last
    window may extend past the padding.
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    pool_size = ints_prop()
    strides = ints_prop((1, 1))
    dilation = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    layout = string_prop("NCHW")
    ceil_mode = bool_prop(False)

    traits = traits_def(*OUT_FUSABLE)


@irdl_op_definition
class MaxPool2dOp(Pool2d):
    """
    Take the greatest element of each window of `data`, ignoring padding.

    ```mlir
    %y = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
    ```

    The sign of a zero result is unspecified.
    """

    name = "relay.nn.max_pool2d"


@irdl_op_definition
class AvgPool2dOp(Pool2d):
    """
    Take the mean of each window of `data`.

    ```mlir
    %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
    ```

    With `count_include_pad`, padding is counted as zeros; otherwise it is ignored.
    """

    name = "relay.nn.avg_pool2d"

    count_include_pad = bool_prop(False)


class GlobalPool2d(RelayOperator, ABC):
    """
    An operator on each image as a whole; the result has height and width 1.

    ```mlir
    %y = relay.nn.global_avg_pool2d %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
    ```
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    layout = string_prop("NCHW")

    traits = traits_def(*OUT_FUSABLE)


@irdl_op_definition
class GlobalAvgPool2dOp(GlobalPool2d):
    """Take the mean of each image of `data`."""

    name = "relay.nn.global_avg_pool2d"


@irdl_op_definition
class GlobalMaxPool2dOp(GlobalPool2d):
    """
    Take the greatest element of each image of `data`.

    ```mlir
    %y = relay.nn.global_max_pool2d %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
    ```

    The sign of a zero result is unspecified.
    """

    name = "relay.nn.global_max_pool2d"


@irdl_op_definition
class UpsamplingOp(RelayOperator):
    """
    Scale height and width of `data` by `scale_h` and `scale_w`, repeating the nearest pixel.

    ```mlir
    %y = relay.nn.upsampling %x {scale_h = 2.0, scale_w = 2.0}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
    ```

    The new sizes are rounded, halves to even. `method` must be "nearest_neighbor".
    """

    name = "relay.nn.upsampling"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    scale_h = float_prop(1.0)
    scale_w = float_prop(1.0)
    layout = string_prop("NCHW")
    method = string_prop("nearest_neighbor")
    align_corners = bool_prop(False)

    traits = traits_def(*INJECTIVE)
