"""Pools over one, two and three axes."""

from abc import ABC

from xdsl.irdl import operand_def

from .incomplete import AnyTensor
from .operator import OutFusable, like, operator
from .properties import bool_prop, ints_prop, string_prop


class Pool(OutFusable, ABC):
    """
    An operator on each window of the width; of images of the height, too; of volumes the depth.

    ```mlir
    %y = relay.nn.max_pool1d %x {pool_size = array<i64: 2>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
    ```

    `layout` has the channels before the sides or after them; `padding` is before each side,
    then after each: (top, left, bottom, right). With `ceil_mode` the last window may extend
    past the padding.
    """


class Pool2d(Pool, ABC):
    """A pool of images."""

    data = operand_def(AnyTensor)
    pool_size = ints_prop()
    strides = ints_prop((1, 1))
    dilation = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    layout = string_prop("NCHW")
    ceil_mode = bool_prop(False)


@operator("relay.nn.max_pool2d")
class MaxPool2dOp(Pool2d):
    """
    Take the greatest element of each window of `data`, ignoring padding.

    ```mlir
    %y = relay.nn.max_pool2d %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
    ```

    The sign of a zero result is unspecified.
    """


@operator("relay.nn.avg_pool2d")
class AvgPool2dOp(Pool2d):
    """
    Take the mean of each window of `data`.

    ```mlir
    %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
    ```

    With `count_include_pad`, padding is counted as zeros; otherwise it is ignored.
    """

    count_include_pad = bool_prop(False)


_GREATEST = "Take the greatest element of each window of `data`, ignoring padding."
_MEAN = """
    Take the mean of each window of `data`.

    With `count_include_pad`, padding is counted as zeros; otherwise it is ignored.
    """

MaxPool1dOp = like(Pool, "relay.nn.max_pool1d", _GREATEST)
AvgPool1dOp = like(Pool, "relay.nn.avg_pool1d", _MEAN)
MaxPool3dOp = like(Pool, "relay.nn.max_pool3d", _GREATEST)
AvgPool3dOp = like(Pool, "relay.nn.avg_pool3d", _MEAN)


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


_MEANS = "Take the mean of each of `output_size` windows of {}."
_MAXIMA = "Take the greatest element of each of `output_size` windows of {}."
_LINES, _IMAGES, _VOLUMES = "the width of `data`", "the images `data`", "the volumes `data`"

AdaptiveAvgPool1dOp = like(AdaptivePool, "relay.nn.adaptive_avg_pool1d", _MEANS.format(_LINES))
AdaptiveMaxPool1dOp = like(AdaptivePool, "relay.nn.adaptive_max_pool1d", _MAXIMA.format(_LINES))
AdaptiveAvgPool2dOp = like(AdaptivePool, "relay.nn.adaptive_avg_pool2d", _MEANS.format(_IMAGES))
AdaptiveMaxPool2dOp = like(AdaptivePool, "relay.nn.adaptive_max_pool2d", _MAXIMA.format(_IMAGES))
AdaptiveAvgPool3dOp = like(AdaptivePool, "relay.nn.adaptive_avg_pool3d", _MEANS.format(_VOLUMES))
AdaptiveMaxPool3dOp = like(AdaptivePool, "relay.nn.adaptive_max_pool3d", _MAXIMA.format(_VOLUMES))


class PoolGrad2d(OutFusable, ABC):
    """
    The gradient of a pool of `data`, of the gradient of its result.

    ```mlir
    %d = relay.nn.avg_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x7x7xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```
    """


@operator("relay.nn.max_pool2d_grad")
class MaxPool2dGradOp(PoolGrad2d):
    """
    Add each number of `grad` where the first maximum of its window of `data` is.

    ```mlir
    %d = relay.nn.max_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x7x7xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```
    """


@operator("relay.nn.avg_pool2d_grad")
class AvgPool2dGradOp(PoolGrad2d):
    """
    Share each number of `grad` among the cells of its window of `data`.

    ```mlir
    %d = relay.nn.avg_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>}
      : (tensor<1x3x7x7xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
    ```

    With `count_include_pad`, those in the padding count, too.
    """


class GlobalPool2d(OutFusable, ABC):
    """
    An operator on each image as a whole; the result has height and width 1.

    ```mlir
    %y = relay.nn.global_avg_pool2d %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
    ```
    """

    data = operand_def(AnyTensor)
    layout = string_prop("NCHW")


GlobalAvgPool2dOp = like(
    GlobalPool2d, "relay.nn.global_avg_pool2d", "Take the mean of each image of `data`."
)


@operator("relay.nn.global_max_pool2d")
class GlobalMaxPool2dOp(GlobalPool2d):
    """
    Take the greatest element of each image of `data`.

    ```mlir
    %y = relay.nn.global_max_pool2d %x : (tensor<1x3x8x8xf32>) -> tensor<1x3x1x1xf32>
    ```

    The sign of a zero result is unspecified.
    """
