"""Operators that normalize elements along an axis: softmax and normalizations."""

from abc import ABC

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

from ..interfaces import ReadsBeforeWriting
from .families import OPAQUE, OUT_FUSABLE
from .incomplete import AnyTensor
from .operator import RelayOperator
from .properties import bool_prop, float_prop, int_prop


class Softmax(RelayOperator, ABC):
    """
    A softmax of floats along `axis`.

    ```mlir
    %y = relay.nn.softmax %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = int_prop(-1)

    traits = traits_def(*OUT_FUSABLE, ReadsBeforeWriting())


@irdl_op_definition
class SoftmaxOp(Softmax):
    """Divide exp(`data`) by its sum along `axis`."""

    name = "relay.nn.softmax"


@irdl_op_definition
class LogSoftmaxOp(Softmax):
    """Subtract the logarithm of the sum of exp(`data`) along `axis` from `data`."""

    name = "relay.nn.log_softmax"


@irdl_op_definition
class LayerNormOp(RelayOperator):
    """
    Normalize `data` along `axis` to mean 0 and variance 1, times `gamma`, plus `beta`.

    ```mlir
    %y = relay.nn.layer_norm %x, %g, %b
      : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```

    `epsilon` is added to the variance. Without `scale` there is no `gamma`, without `center`
    no `beta`: the operand is ignored.
    """

    name = "relay.nn.layer_norm"

    data = operand_def(AnyTensor)
    gamma = operand_def(AnyTensor)
    beta = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = int_prop(-1)
    epsilon = float_prop(1e-5)
    center = bool_prop(True)
    scale = bool_prop(True)

    traits = traits_def(*OPAQUE, ReadsBeforeWriting((0,)))


@irdl_op_definition
class BatchNormOp(RelayOperator):
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

    name = "relay.nn.batch_norm"

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

    traits = traits_def(*OPAQUE)


@irdl_op_definition
class LrnOp(RelayOperator):
    """
    Divide each element by (bias + alpha / size * s) ^ beta, s being the sum of nearby squares.

    ```mlir
    %y = relay.nn.lrn %x {size = 3, bias = 1.0} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```

    The sum is over a window of `size` elements along `axis`, clipped at the ends: floor((size - 1)
    / 2) elements before, the remainder from the element itself onwards.
    """

    name = "relay.nn.lrn"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    size = int_prop(5)
    axis = int_prop(1)
    bias = float_prop(2.0)
    alpha = float_prop(1e-5)
    beta = float_prop(0.75)

    traits = traits_def(*OUT_FUSABLE)
