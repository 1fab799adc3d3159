"""Pools over one, two and three axes."""

from abc import ABC

from xdsl.irdl import irdl_op_definition, operand_def

from .incomplete import AnyTensor
from .operator import OutFusable
from .properties import bool_prop, ints_prop, optional_ints_prop, string_prop


class Pool2d(OutFusable, ABC):
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
    pool_size = ints_prop()
    strides = ints_prop((1, 1))
    dilation = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    layout = string_prop("NCHW")
    ceil_mode = bool_prop(False)


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


class Pool1d(OutFusable, ABC):
    """
    An operator on each window of the width.

    ```mlir
    %y = relay.nn.max_pool1d %x {pool_size = array<i64: 2>, strides = array<i64: 2>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x4xf32>
    ```

    `layout` is "NCW" or "NWC"; `padding` is (left, right). With `ceil_mode` the last window may
    extend past the padding.
    """

    data = operand_def(AnyTensor)
    pool_size = ints_prop()
    strides = ints_prop((1,))
    dilation = ints_prop((1,))
    padding = ints_prop((0, 0))
    layout = string_prop("NCW")
    ceil_mode = bool_prop(False)


@irdl_op_definition
class MaxPool1dOp(Pool1d):
    """
    Take the greatest element of each window of `data`, ignoring padding.

    ```mlir
    %y = relay.nn.max_pool1d %x {pool_size = array<i64: 2>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
    ```
    """

    name = "relay.nn.max_pool1d"


@irdl_op_definition
class AvgPool1dOp(Pool1d):
    """
    Take the mean of each window of `data`.

    ```mlir
    %y = relay.nn.avg_pool1d %x {pool_size = array<i64: 2>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
    ```

    With `count_include_pad`, padding is counted as zeros; otherwise it is ignored.
    """

    name = "relay.nn.avg_pool1d"

    count_include_pad = bool_prop(False)


class Pool3d(OutFusable, ABC):
    """
    An operator on each window of depth, height and width.

    ```mlir
    %y = relay.nn.max_pool3d %x {pool_size = array<i64: 2, 2, 2>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x7x7x7xf32>
    ```

    `layout` is "NCDHW" or "NDHWC"; `padding` is (front, top, left, back, bottom, right). With
    `ceil_mode` the last window may extend past the padding.
    """

    data = operand_def(AnyTensor)
    pool_size = ints_prop()
    strides = ints_prop((1, 1, 1))
    dilation = ints_prop((1, 1, 1))
    padding = ints_prop((0, 0, 0, 0, 0, 0))
    layout = string_prop("NCDHW")
    ceil_mode = bool_prop(False)


@irdl_op_definition
class MaxPool3dOp(Pool3d):
    """
    Take the greatest element of each window of `data`, ignoring padding.

    ```mlir
    %y = relay.nn.max_pool3d %x {pool_size = array<i64: 2, 2, 2>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x7x7x7xf32>
    ```
    """

    name = "relay.nn.max_pool3d"


@irdl_op_definition
class AvgPool3dOp(Pool3d):
    """
    Take the mean of each window of `data`.

    ```mlir
    %y = relay.nn.avg_pool3d %x {pool_size = array<i64: 2, 2, 2>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x7x7x7xf32>
    ```

    With `count_include_pad`, padding is counted as zeros; otherwise it is ignored.
    """

    name = "relay.nn.avg_pool3d"

    count_include_pad = bool_prop(False)


class AdaptivePool(OutFusable, ABC):
    """
    An operator on `output_size` windows along each side, which together cover the data.

    ```mlir
    %y = relay.nn.adaptive_avg_pool2d %x {output_size = array<i64: 3, 3>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x3x3xf32>
    ```

    Window i of k on n cells is from i n / k, rounded down, to before (i + 1) n / k, rounded up.
    Without `output_size` there is one for each cell.
    """

    data = operand_def(AnyTensor)
    output_size = optional_ints_prop()


@irdl_op_definition
class AdaptiveAvgPool1dOp(AdaptivePool):
    """
    Take the mean of each of `output_size` windows of the width of `data`.

    ```mlir
    %y = relay.nn.adaptive_avg_pool1d %x {output_size = array<i64: 3>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
    ```
    """

    name = "relay.nn.adaptive_avg_pool1d"
    layout = string_prop("NCW")


@irdl_op_definition
class AdaptiveMaxPool1dOp(AdaptivePool):
    """
    Take the greatest element of each of `output_size` windows of the width of `data`.

    ```mlir
    %y = relay.nn.adaptive_max_pool1d %x {output_size = array<i64: 3>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
    ```
    """

    name = "relay.nn.adaptive_max_pool1d"
    layout = string_prop("NCW")


@irdl_op_definition
class AdaptiveAvgPool2dOp(AdaptivePool):
    """Take the mean of each of `output_size` windows of the images `data`."""

    name = "relay.nn.adaptive_avg_pool2d"
    layout = string_prop("NCHW")


@irdl_op_definition
class AdaptiveMaxPool2dOp(AdaptivePool):
    """
    Take the greatest element of each of `output_size` windows of the images `data`.

    ```mlir
    %y = relay.nn.adaptive_max_pool2d %x {output_size = array<i64: 3, 3>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x3x3xf32>
    ```
    """

    name = "relay.nn.adaptive_max_pool2d"
    layout = string_prop("NCHW")


@irdl_op_definition
class AdaptiveAvgPool3dOp(AdaptivePool):
    """
    Take the mean of each of `output_size` windows of the volumes `data`.

    ```mlir
    %y = relay.nn.adaptive_avg_pool3d %x {output_size = array<i64: 3, 3, 3>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x3x3x3xf32>
    ```
    """

    name = "relay.nn.adaptive_avg_pool3d"
    layout = string_prop("NCDHW")


@irdl_op_definition
class AdaptiveMaxPool3dOp(AdaptivePool):
    """
    Take the greatest element of each of `output_size` windows of the volumes `data`.

    ```mlir
    %y = relay.nn.adaptive_max_pool3d %x {output_size = array<i64: 3, 3, 3>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x3x3x3xf32>
    ```
    """

    name = "relay.nn.adaptive_max_pool3d"
    layout = string_prop("NCDHW")


class PoolGrad2d(OutFusable, ABC):
    """
    The gradient of a pool of `data`, of the gradient of its result.

    ```mlir
    %d = relay.nn.avg_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x7x7xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```
    """

    grad = operand_def(AnyTensor)
    data = operand_def(AnyTensor)
    pool_size = ints_prop()
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    layout = string_prop("NCHW")
    ceil_mode = bool_prop(False)


@irdl_op_definition
class MaxPool2dGradOp(PoolGrad2d):
    """
    Add each number of `grad` where the first maximum of its window of `data` is.

    ```mlir
    %d = relay.nn.max_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x7x7xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```
    """

    name = "relay.nn.max_pool2d_grad"


@irdl_op_definition
class AvgPool2dGradOp(PoolGrad2d):
    """
    Share each number of `grad` among the cells of its window of `data`.

    ```mlir
    %d = relay.nn.avg_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x7x7xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```

    With `count_include_pad`, those in the padding count, too.
    """

    name = "relay.nn.avg_pool2d_grad"

    count_include_pad = bool_prop(False)


class GlobalPool2d(OutFusable, ABC):
    """
    An operator on each image as a whole; the result has height and width 1.

    ```mlir
    %y = relay.nn.global_avg_pool2d %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
    ```
    """

    data = operand_def(AnyTensor)
    layout = string_prop("NCHW")


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
