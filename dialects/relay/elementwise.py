"""Operators that work on each element of one tensor by itself."""

from abc import ABC

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from ..interfaces import Fusible, FusionKind, SameDevice
from .incomplete import AnyTensor
from .operator import RelayOperator
from .properties import dtype_prop, float_prop, ints_prop, string_prop

ELEMWISE = (Pure(), SameDevice(), Fusible(FusionKind.ELEMWISE))


class Elementwise(RelayOperator, ABC):
    """
    An operator on one tensor, element by element.

    ```mlir
    %y = relay.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE)


# -------------------------------------------------------------------- numbers


@irdl_op_definition
class AbsOp(Elementwise):
    """Take the absolute value of `data`."""

    name = "relay.abs"


@irdl_op_definition
class NegativeOp(Elementwise):
    """Negate `data`."""

    name = "relay.negative"


@irdl_op_definition
class SignOp(Elementwise):
    """Tell the sign of `data`: -1, 0 or 1 (NaN of NaN)."""

    name = "relay.sign"


@irdl_op_definition
class CeilOp(Elementwise):
    """Round `data` up; integers stay."""

    name = "relay.ceil"


@irdl_op_definition
class FloorOp(Elementwise):
    """Round `data` down; integers stay."""

    name = "relay.floor"


@irdl_op_definition
class RoundOp(Elementwise):
    """Round `data` to the nearest integer, a half to the even one; integers stay."""

    name = "relay.round"


@irdl_op_definition
class TruncOp(Elementwise):
    """Round `data` towards zero, to a whole number."""

    name = "relay.trunc"


@irdl_op_definition
class ClipOp(Elementwise):
    """
    Clamp `data` to [a_min, a_max].

    ```mlir
    %y = relay.clip %x {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "relay.clip"

    a_min = float_prop()
    a_max = float_prop()


# --------------------------------------------------------------------- floats


@irdl_op_definition
class ExpOp(Elementwise):
    """Raise e to the power of `data`."""

    name = "relay.exp"


@irdl_op_definition
class LogOp(Elementwise):
    """Take the natural logarithm of `data`."""

    name = "relay.log"


@irdl_op_definition
class Log2Op(Elementwise):
    """Take the logarithm of `data` to base 2."""

    name = "relay.log2"


@irdl_op_definition
class Log10Op(Elementwise):
    """Take the logarithm of `data` to base 10."""

    name = "relay.log10"


@irdl_op_definition
class SqrtOp(Elementwise):
    """Take the square root of `data`."""

    name = "relay.sqrt"


@irdl_op_definition
class RsqrtOp(Elementwise):
    """Take 1 by the square root of `data`."""

    name = "relay.rsqrt"


@irdl_op_definition
class SigmoidOp(Elementwise):
    """Take 1 / (1 + exp(-x)) of each x of `data`."""

    name = "relay.sigmoid"


@irdl_op_definition
class ErfOp(Elementwise):
    """Take the error function of `data`."""

    name = "relay.erf"


@irdl_op_definition
class IsNanOp(Elementwise):
    """
    Tell where `data` is not a number.

    ```mlir
    %y = relay.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "relay.isnan"


@irdl_op_definition
class IsFiniteOp(Elementwise):
    """
    Tell where `data` is a number, and not infinite.

    ```mlir
    %y = relay.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "relay.isfinite"


@irdl_op_definition
class IsInfOp(Elementwise):
    """
    Tell where `data` is infinite, of either sign.

    ```mlir
    %y = relay.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "relay.isinf"


# ---------------------------------------------------------------- activations


@irdl_op_definition
class ReluOp(Elementwise):
    """Clamp `data` below at 0."""

    name = "relay.nn.relu"


@irdl_op_definition
class LeakyReluOp(Elementwise):
    """
    Multiply the negative elements of `data` by `alpha`.

    ```mlir
    %y = relay.nn.leaky_relu %x {alpha = 0.01} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "relay.nn.leaky_relu"

    alpha = float_prop(0.05)


@irdl_op_definition
class GeluOp(Elementwise):
    """
    Multiply each element of `data` by the normal distribution function of it.

    ```mlir
    %y = relay.nn.gelu %x {approximate = "tanh"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    `approximate` is "none" (by erf) or "tanh" (Hendrycks and Gimpel 2016, as in ONNX).
    """

    name = "relay.nn.gelu"

    approximate = string_prop("none")


# ---------------------------------------------------------------- any element


@irdl_op_definition
class CopyOp(Elementwise):
    """Copy `data` into a new tensor."""

    name = "relay.copy"


@irdl_op_definition
class LogicalNotOp(Elementwise):
    """
    Negate `data`, of i1 elements.

    ```mlir
    %y = relay.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
    ```
    """

    name = "relay.logical_not"


@irdl_op_definition
class CastOp(Elementwise):
    """
    Convert the elements of `data` to `dtype`.

    ```mlir
    %y = relay.cast %x {dtype = i64} : (tensor<4xf32>) -> tensor<4xi64>
    ```

    Floats lose their fraction on the way to integers; to i1, all but 0 is true.
    """

    name = "relay.cast"

    dtype = dtype_prop()


@irdl_op_definition
class FullOp(RelayOperator):
    """
    Fill a tensor of `shape` with the scalar `fill_value`.

    ```mlir
    %y = relay.full %v {shape = array<i64: 2, 3>} : (tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    name = "relay.full"

    fill_value = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    shape = ints_prop()

    traits = traits_def(*ELEMWISE)


OPERATORS = [
    AbsOp,
    NegativeOp,
    SignOp,
    CeilOp,
    FloorOp,
    RoundOp,
    TruncOp,
    ClipOp,
    ExpOp,
    LogOp,
    Log2Op,
    Log10Op,
    SqrtOp,
    RsqrtOp,
    SigmoidOp,
    ErfOp,
    IsNanOp,
    IsFiniteOp,
    IsInfOp,
    ReluOp,
    LeakyReluOp,
    GeluOp,
    CopyOp,
    LogicalNotOp,
    CastOp,
    FullOp,
]
