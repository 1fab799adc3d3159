"""Elementwise operators on one tensor."""

from abc import ABC

from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..interfaces import ReadsElementwise
from ..tensors import as_tensor
from ..xdsl_extras.trait_patterns import Patterns
from .incomplete import AnyTensor
from .operator import ELEMWISE, RelayOperator, is_in_kernel
from .properties import dtype_prop, float_prop, int_prop, ints_prop, string_prop


class Elementwise(RelayOperator, ABC):
    """
    An elementwise operator on one tensor.

    ```mlir
    %y = relay.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE, ReadsElementwise())


# -------------------------------------------------------------------- numbers


@irdl_op_definition
class AbsOp(Elementwise):
    """Take the absolute value of `data`; that of the least integer is itself."""

    name = "relay.abs"


@irdl_op_definition
class NegativeOp(Elementwise):
    """Negate `data`."""

    name = "relay.negative"


@irdl_op_definition
class SignOp(Elementwise):
    """Take the sign of `data`: -1, 0 or 1 (NaN for NaN)."""

    name = "relay.sign"


@irdl_op_definition
class CeilOp(Elementwise):
    """Round `data` up; integers are unchanged."""

    name = "relay.ceil"


@irdl_op_definition
class FloorOp(Elementwise):
    """Round `data` down; integers are unchanged."""

    name = "relay.floor"


@irdl_op_definition
class RoundOp(Elementwise):
    """
    Round `data` to the nearest integer; integers are unchanged.

    ```mlir
    %y = relay.round %x {ties = "away"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    Halves are rounded to even, or with `ties` of "away" away from zero.
    """

    name = "relay.round"

    ties = string_prop("even")


@irdl_op_definition
class TruncOp(Elementwise):
    """Round `data` toward zero."""

    name = "relay.trunc"


@irdl_op_definition
class ClipOp(Elementwise):
    """
    Clamp `data` to [a_min, a_max].

    ```mlir
    %y = relay.clip %x {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN stays. The sign of a zero result is unspecified.
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
    """Take the base-2 logarithm of `data`."""

    name = "relay.log2"


@irdl_op_definition
class Log10Op(Elementwise):
    """Take the base-10 logarithm of `data`."""

    name = "relay.log10"


@irdl_op_definition
class SqrtOp(Elementwise):
    """Take the square root of `data`."""

    name = "relay.sqrt"


@irdl_op_definition
class RsqrtOp(Elementwise):
    """Take the reciprocal of the square root of `data`."""

    name = "relay.rsqrt"


@irdl_op_definition
class SigmoidOp(Elementwise):
    """
    Compute 1 / (1 + exp(-x)) for each element x of `data`.

    Results below the least normal number may be 0.
    """

    name = "relay.sigmoid"


@irdl_op_definition
class ErfOp(Elementwise):
    """Apply the error function to `data`."""

    name = "relay.erf"


@irdl_op_definition
class IsNanOp(Elementwise):
    """
    Test where `data` is NaN.

    ```mlir
    %y = relay.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "relay.isnan"


@irdl_op_definition
class IsFiniteOp(Elementwise):
    """
    Test where `data` is finite: neither NaN nor infinite.

    ```mlir
    %y = relay.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "relay.isfinite"


@irdl_op_definition
class IsInfOp(Elementwise):
    """
    Test where `data` is infinite, of either sign.

    ```mlir
    %y = relay.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """

    name = "relay.isinf"


# ---------------------------------------------------------------- activations


@irdl_op_definition
class ReluOp(Elementwise):
    """
    Take the greater of `data` and 0.

    ```mlir
    %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN stays. The sign of a zero result is unspecified.
    """

    name = "relay.nn.relu"


@irdl_op_definition
class LeakyReluOp(Elementwise):
    """
    Multiply the negative elements of `data` by `alpha`.

    ```mlir
    %y = relay.nn.leaky_relu %x {alpha = 0.01} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    The sign of a zero result is unspecified.
    """

    name = "relay.nn.leaky_relu"

    alpha = float_prop(0.05)


@irdl_op_definition
class GeluOp(Elementwise):
    """
    Multiply each element x of `data` by Φ(x), the standard normal distribution function.

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
    Take the logical not of `data`, of i1.

    ```mlir
    %y = relay.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
    ```
    """

    name = "relay.logical_not"


@irdl_op_definition
class BitwiseNotOp(Elementwise):
    """
    Invert the bits of `data`, of integers.

    ```mlir
    %y = relay.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
    ```
    """

    name = "relay.bitwise_not"


@irdl_op_definition
class CastOp(Elementwise, HasCanonicalizationPatternsInterface):
    """
    Convert the elements of `data` to `dtype`.

    ```mlir
    %y = relay.cast %x {dtype = i64} : (tensor<4xf32>) -> tensor<4xi64>
    ```

    Floats are truncated to integers; those out of range become the nearest integer of the type, and
    NaN becomes 0. Integers wrap around. Nonzero values, NaN too, become true in i1.
    """

    name = "relay.cast"

    dtype = dtype_prop()

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (RemoveIdentityCast(),)


class RemoveIdentityCast(RewritePattern):
    """Remove a cast to the element type that its operand has; but not in kernels."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter, /) -> None:
        same = op.data.type == op.result.type and as_tensor(op.data.type) is not None
        if same and not is_in_kernel(op):
            rewriter.replace(op, [], [op.data])


@irdl_op_definition
class ReinterpretOp(Elementwise):
    """
    Read the bits of each element of `data` as a number of type `dtype`, which is as wide.

    ```mlir
    %y = relay.reinterpret %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```
    """

    name = "relay.reinterpret"

    dtype = dtype_prop()


@irdl_op_definition
class FixedPointMultiplyOp(Elementwise):
    """
    Multiply the i32 numbers `data` by `multiplier` * 2 ** (`shift` - 31), rounding halves up.

    ```mlir
    %y = relay.fixed_point_multiply %x {multiplier = 1073741824, shift = -2}
      : (tensor<4xi32>) -> tensor<4xi32>
    ```

    Products have 64 bits.
    """

    name = "relay.fixed_point_multiply"

    multiplier = int_prop()
    shift = int_prop()


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

    traits = traits_def(*ELEMWISE, ReadsElementwise())
