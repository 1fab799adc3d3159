"""Operators that normalize elements along an axis: softmax and normalizations."""

from abc import ABC

from xdsl.irdl import operand_def, result_def, traits_def

from ..interfaces import ReadsBeforeWriting
from .incomplete import AnyTensor
from .operator import NotFused, Opaque, OutFusable, like, operator
from .properties import bool_prop, float_prop, int_prop


class Softmax(OutFusable, ABC):
    """
    A softmax of floats along `axis`.

    ```mlir
    %y = relay.nn.softmax %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    """

    data = operand_def(AnyTensor)
    axis = int_prop(-1)

    traits = traits_def(ReadsBeforeWriting())


SoftmaxOp = like(Softmax, "relay.nn.softmax", "Divide exp(`data`) by its sum along `axis`.")
LogSoftmaxOp = like(
    Softmax,
    "relay.nn.log_softmax",
    "Subtract the logarithm of the sum of exp(`data`) along `axis` from `data`.",
)


@operator("relay.nn.layer_norm")
class LayerNormOp(Opaque):
    """
    Normalize `data` along `axis` to mean 0 and variance 1, times `gamma`, plus `beta`.

    ```mlir
    %y = relay.nn.layer_norm %x, %g, %b
      : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```

    `epsilon` is added to the variance. Without `scale` there is no `gamma`, without `center`
    no `beta`: the operand is ignored.
    """

    data = operand_def(AnyTensor)
    gamma = operand_def(AnyTensor)
    beta = operand_def(AnyTensor)
    axis = int_prop(-1)
    epsilon = float_prop(1e-5)
    center = bool_prop(True)
    scale = bool_prop(True)

    traits = traits_def(ReadsBeforeWriting((0,)))


@operator("relay.nn.batch_norm")
class BatchNormOp(NotFused):
    """
    Normalize `data` along `axis` by `moving_mean` and `moving_var`, times `gamma`, plus `beta`.

    ```mlir
    %y, %m, %v = relay.nn.batch_norm %x, %g, %b, %mean, %var
      : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>)
    ```

    `epsilon` is added to the variance. Without `scale` there is no `gamma`, without `center`
    no `beta`: the operand is ignored. This is inference: the last two results are copies of
    the moving mean and variance.
    """

    data = operand_def(AnyTensor)
    gamma = operand_def(AnyTensor)
    beta = operand_def(AnyTensor)
    moving_mean = operand_def(AnyTensor)
    moving_var = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    mean = result_def(AnyTensor)
    var = result_def(AnyTensor)
    axis = int_prop(1)
    epsilon = float_prop(1e-5)
    center = bool_prop(True)
    scale = bool_prop(True)


@operator("relay.nn.lrn")
class LrnOp(OutFusable):
    """
    Divide each element by (bias + alpha / size * s) ^ beta, s being the sum of nearby squares.

    ```mlir
    %y = relay.nn.lrn %x {size = 3, bias = 1.0} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```

    The sum is over a window of `size` elements along `axis`, clipped at the ends: floor((size - 1)
    / 2) elements before, the remainder from the element itself onwards.
    """

    data = operand_def(AnyTensor)
    size = int_prop(5)
    axis = int_prop(1)
    bias = float_prop(2.0)
    alpha = float_prop(1e-5)
    beta = float_prop(0.75)


class NormPerImage(Opaque, ABC):
    """A normalization of the float `data` of each image, with a factor and a bias per channel."""


@operator("relay.nn.instance_norm")
class InstanceNormOp(NormPerImage):
    """
    Normalize `data` to mean 0 and variance 1 for each index of axis 0 and `axis`.

    ```mlir
    %y = relay.nn.instance_norm %x, %g, %b
      : (tensor<2x3x8x8xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x8x8xf32>
    ```

    The result is multiplied by `gamma` if `scale`, and `beta` is added if `center`. `epsilon` is
    added to the variance.
    """


@operator("relay.nn.group_norm")
class GroupNormOp(NormPerImage):
    """
    Normalize `data` to mean 0 and variance 1 for each index of axis 0 and group along `axis`.

    ```mlir
    %y = relay.nn.group_norm %x, %g, %b {num_groups = 2}
      : (tensor<2x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8x8xf32>
    ```

    The result is multiplied by `gamma` if `scale`, and `beta` is added if `center`. `epsilon` is
    added to the variance.
    """


@operator("relay.nn.l2_normalize")
class L2NormalizeOp(OutFusable):
    """
    Divide `data` by the root of its sum of squares along `axis`, of at least `eps`.

    ```mlir
    %y = relay.nn.l2_normalize %x {eps = 0.001, axis = array<i64: 1>}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    """


@operator("relay.nn.nll_loss")
class NllLossOp(OutFusable):
    """
    Take the negative log likelihood of `targets` in `predictions`, times the weights of classes.

    ```mlir
    %y = relay.nn.nll_loss %p, %t, %w
      : (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>) -> tensor<f32>
    ```

    Axis 1 of `predictions` is that of the classes. `reduction` is "mean" (weighted), "sum" or
    "none". A target `ignore_index` does not count.
    """
