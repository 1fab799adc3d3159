"""Convolutions over height and width."""

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

from .families import OUT_FUSABLE
from .incomplete import AnyTensor
from .matmul import SumOfProducts
from .operator import RelayOperator
from .properties import int_prop, ints_prop, string_prop


@irdl_op_definition
class Conv2dOp(SumOfProducts):
    """
    Convolve the images `data` with the filters `weight` (a cross-correlation).

    ```mlir
    %y = relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
      : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
    ```

    `data_layout` is "NCHW" or "NHWC", `kernel_layout` "OIHW" or "HWIO", where I counts the
    input channels of one group, or "OHWI32o" (or 8, 16): panels of 32 filters side by side, for
    one group. `padding` is (top, left, bottom, right), of zeros.
    """

    name = "relay.nn.conv2d"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("OIHW")


@irdl_op_definition
class Conv1dOp(SumOfProducts):
    """
    Convolve the lines `data` with the filters `weight` (a cross-correlation).

    ```mlir
    %y = relay.nn.conv1d %x, %w {padding = array<i64: 1, 1>}
      : (tensor<1x3x8xf32>, tensor<16x3x3xf32>) -> tensor<1x16x8xf32>
    ```

    `data_layout` is "NCW" or "NWC", `kernel_layout` "OIW" or "WIO", where I counts the input
    channels of one group. `padding` is (left, right), of zeros.
    """

    name = "relay.nn.conv1d"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    strides = ints_prop((1,))
    padding = ints_prop((0, 0))
    dilation = ints_prop((1,))
    groups = int_prop(1)
    data_layout = string_prop("NCW")
    kernel_layout = string_prop("OIW")


@irdl_op_definition
class Conv2dTransposeOp(RelayOperator):
    """
    Spread each pixel of `data` over the result, weighted by `weight`: the transpose of `conv2d`.

    ```mlir
    %y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>}
      : (tensor<1x16x4x4xf32>, tensor<16x3x2x2xf32>) -> tensor<1x3x8x8xf32>
    ```

    The dims of `weight` are (input channels, output channels of one group, height, width).
    `padding` (top, left, bottom, right) is cut off the result; `output_padding` is added at
    its bottom and right.
    """

    name = "relay.nn.conv2d_transpose"

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    output_padding = ints_prop((0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("IOHW")

    traits = traits_def(*OUT_FUSABLE)
