"""Operators that scale each element by what stands around it: softmax and normalisations."""

from abc import ABC

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from ..interfaces import Fusible, FusionKind, SameDevice
from .incomplete import AnyTensor
from .operator import RelayOperator
from .properties import bool_prop, float_prop, int_prop

OPAQUE = (Pure(), SameDevice(), Fusible(FusionKind.OPAQUE))


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

    traits = traits_def(*OPAQUE)


@irdl_op_definition
class SoftmaxOp(Softmax):
    """Divide exp of `data` by its sum along `axis`."""

    name = "relay.nn.softmax"


@irdl_op_definition
class LogSoftmaxOp(Softmax):
    """Subtract from `data` the logarithm of the sum of its exp along `axis`."""

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

    traits = traits_def(*OPAQUE)


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
    Divide each x of `data` by (bias + alpha / size * the sum of squares around it) ^ beta.

    ```mlir
    %y = relay.nn.lrn %x {size = 3, bias = 1.0} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```

    "Around it" are `size` elements along `axis`: floor((size - 1) / 2) before it, the rest
    after it, as far as they exist.
    """

    name = "relay.nn.lrn"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    size = int_prop(5)
    axis = int_prop(1)
    bias = float_prop(2.0)
    alpha = float_prop(1e-5)
    beta = float_prop(0.75)

    traits = traits_def(
        Pure(),
        SameDevice(),
        Fusible(FusionKind.OUT_ELEMWISE_FUSABLE),
    )


OPERATORS = [SoftmaxOp, LogSoftmaxOp, LayerNormOp, BatchNormOp, LrnOp]
