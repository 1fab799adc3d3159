"""Pools over one, two and three axes."""

from abc import ABC

from xdsl.irdl import operand_def

from .incomplete import AnyTensor
from .operator import OutFusable, like, operator
from .properties import bool_prop, ints_prop, optional_ints_prop, string_prop


def pool(sides: int, channels_first: str):
    """Return the base of the pools over so many sides."""

    class Pool(OutFusable, ABC):
        """
        An operator on each window of the width; of images of the height, too; of volumes the depth.

        `layout` has the channels before the sides or after them; `padding` is before each side,
        then after each: (top, left, bottom, right). With `ceil_mode` the last window may extend
        past the padding.
        """

        data = operand_def(AnyTensor)
        pool_size = ints_prop()
        strides = ints_prop((1,) * sides)
        dilation = ints_prop((1,) * sides)
        padding = ints_prop((0,) * 2 * sides)
        layout = string_prop(channels_first)
        ceil_mode = bool_prop(False)

    return Pool


class Pool1d(pool(1, "NCW"), ABC):
    """A pool of lines."""


class Pool2d(pool(2, "NCHW"), ABC):
    """A pool of images."""


class Pool3d(pool(3, "NCDHW"), ABC):
    """A pool of volumes."""


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


@operator("relay.nn.max_pool1d")
class MaxPool1dOp(Pool1d):
    """
    Take the greatest element of each window of `data`, ignoring padding.

    ```mlir
    %y = relay.nn.max_pool1d %x {pool_size = array<i64: 2>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
    ```
    """


@operator("relay.nn.avg_pool1d")
class AvgPool1dOp(Pool1d):
    """
    Take the mean of each window of `data`.

    ```mlir
    %y = relay.nn.avg_pool1d %x {pool_size = array<i64: 2>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x7xf32>
    ```

    With `count_include_pad`, padding is counted as zeros; otherwise it is ignored.
    """

    count_include_pad = bool_prop(False)


@operator("relay.nn.max_pool3d")
class MaxPool3dOp(Pool3d):
    """
    Take the greatest element of each window of `data`, ignoring padding.

    ```mlir
    %y = relay.nn.max_pool3d %x {pool_size = array<i64: 2, 2, 2>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x7x7x7xf32>
    ```
    """


@operator("relay.nn.avg_pool3d")
class AvgPool3dOp(Pool3d):
    """
    Take the mean of each window of `data`.

    ```mlir
    %y = relay.nn.avg_pool3d %x {pool_size = array<i64: 2, 2, 2>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x7x7x7xf32>
    ```

    With `count_include_pad`, padding is counted as zeros; otherwise it is ignored.
    """

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


@operator("relay.nn.adaptive_avg_pool1d")
class AdaptiveAvgPool1dOp(AdaptivePool):
    """
    Take the mean of each of `output_size` windows of the width of `data`.

    ```mlir
    %y = relay.nn.adaptive_avg_pool1d %x {output_size = array<i64: 3>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
    ```
    """

    layout = string_prop("NCW")


@operator("relay.nn.adaptive_max_pool1d")
class AdaptiveMaxPool1dOp(AdaptivePool):
    """
    Take the greatest element of each of `output_size` windows of the width of `data`.

    ```mlir
    %y = relay.nn.adaptive_max_pool1d %x {output_size = array<i64: 3>}
      : (tensor<1x3x8xf32>) -> tensor<1x3x3xf32>
    ```
    """

    layout = string_prop("NCW")


@operator("relay.nn.adaptive_avg_pool2d")
class AdaptiveAvgPool2dOp(AdaptivePool):
    """Take the mean of each of `output_size` windows of the images `data`."""

    layout = string_prop("NCHW")


@operator("relay.nn.adaptive_max_pool2d")
class AdaptiveMaxPool2dOp(AdaptivePool):
    """
    Take the greatest element of each of `output_size` windows of the images `data`.

    ```mlir
    %y = relay.nn.adaptive_max_pool2d %x {output_size = array<i64: 3, 3>}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x3x3xf32>
    ```
    """

    layout = string_prop("NCHW")


@operator("relay.nn.adaptive_avg_pool3d")
class AdaptiveAvgPool3dOp(AdaptivePool):
    """
    Take the mean of each of `output_size` windows of the volumes `data`.

    ```mlir
    %y = relay.nn.adaptive_avg_pool3d %x {output_size = array<i64: 3, 3, 3>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x3x3x3xf32>
    ```
    """

    layout = string_prop("NCDHW")


@operator("relay.nn.adaptive_max_pool3d")
class AdaptiveMaxPool3dOp(AdaptivePool):
    """
    Take the greatest element of each of `output_size` windows of the volumes `data`.

    ```mlir
    %y = relay.nn.adaptive_max_pool3d %x {output_size = array<i64: 3, 3, 3>}
      : (tensor<1x3x8x8x8xf32>) -> tensor<1x3x3x3x3xf32>
    ```
    """

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
