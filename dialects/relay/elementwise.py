"""Elementwise operators on one tensor."""

from abc import ABC

from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..interfaces import ReadsElementwise
from ..tensors import as_tensor
from ..xdsl_extras.trait_patterns import Patterns
from .incomplete import AnyTensor
from .operator import ELEMWISE, RelayOperator, is_in_kernel, operator
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


@operator("relay.abs")
class AbsOp(Elementwise):
    """Take the absolute value of `data`; that of the least integer is itself."""


@operator("relay.negative")
class NegativeOp(Elementwise):
    """Negate `data`."""


@operator("relay.sign")
class SignOp(Elementwise):
    """Take the sign of `data`: -1, 0 or 1 (NaN for NaN)."""


@operator("relay.ceil")
class CeilOp(Elementwise):
    """Round `data` up; integers are unchanged."""


@operator("relay.floor")
class FloorOp(Elementwise):
    """Round `data` down; integers are unchanged."""


@operator("relay.round")
class RoundOp(Elementwise):
    """
    Round `data` to the nearest integer; integers are unchanged.

    ```mlir
    %y = relay.round %x {ties = "away"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    Halves are rounded to even, or with `ties` of "away" away from zero.
    """

    ties = string_prop("even")


@operator("relay.trunc")
class TruncOp(Elementwise):
    """Round `data` toward zero."""


@operator("relay.clip")
class ClipOp(Elementwise):
    """
    Clamp `data` to [a_min, a_max].

    ```mlir
    %y = relay.clip %x {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN stays. The sign of a zero result is unspecified.
    """

    a_min = float_prop()
    a_max = float_prop()


# --------------------------------------------------------------------- floats


@operator("relay.exp")
class ExpOp(Elementwise):
    """Raise e to the power of `data`."""


@operator("relay.log")
class LogOp(Elementwise):
    """Take the natural logarithm of `data`."""


@operator("relay.log2")
class Log2Op(Elementwise):
    """Take the base-2 logarithm of `data`."""


@operator("relay.log10")
class Log10Op(Elementwise):
    """Take the base-10 logarithm of `data`."""


@operator("relay.sqrt")
class SqrtOp(Elementwise):
    """Take the square root of `data`."""


@operator("relay.rsqrt")
class RsqrtOp(Elementwise):
    """Take the reciprocal of the square root of `data`."""


@operator("relay.sigmoid")
class SigmoidOp(Elementwise):
    """
    Compute 1 / (1 + exp(-x)) for each element x of `data`.

    Results below the least normal number may be 0.
    """


@operator("relay.erf")
class ErfOp(Elementwise):
    """Apply the error function to `data`."""


@operator("relay.isnan")
class IsNanOp(Elementwise):
    """
    Test where `data` is NaN.

    ```mlir
    %y = relay.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """


@operator("relay.isfinite")
class IsFiniteOp(Elementwise):
    """
    Test where `data` is finite: neither NaN nor infinite.

    ```mlir
    %y = relay.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """


@operator("relay.isinf")
class IsInfOp(Elementwise):
    """
    Test where `data` is infinite, of either sign.

    ```mlir
    %y = relay.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """


# ---------------------------------------------------------------- activations


@operator("relay.nn.relu")
class ReluOp(Elementwise):
    """
    Take the greater of `data` and 0.

    ```mlir
    %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN stays. The sign of a zero result is unspecified.
    """


@operator("relay.nn.leaky_relu")
class LeakyReluOp(Elementwise):
    """
    Multiply the negative elements of `data` by `alpha`.

    ```mlir
    %y = relay.nn.leaky_relu %x {alpha = 0.01} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    The sign of a zero result is unspecified.
    """

    alpha = float_prop(0.05)


@operator("relay.nn.gelu")
class GeluOp(Elementwise):
    """
    Multiply each element x of `data` by Φ(x), the standard normal distribution function.

    ```mlir
    %y = relay.nn.gelu %x {approximate = "tanh"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    `approximate` is "none" (by erf) or "tanh" (Hendrycks and Gimpel 2016, as in ONNX).
    """

    approximate = string_prop("none")


# ---------------------------------------------------------------- any element


@operator("relay.copy")
class CopyOp(Elementwise):
    """Copy `data` into a new tensor."""


@operator("relay.logical_not")
class LogicalNotOp(Elementwise):
    """
    Take the logical not of `data`, of i1.

    ```mlir
    %y = relay.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
    ```
    """


@operator("relay.bitwise_not")
class BitwiseNotOp(Elementwise):
    """
    Invert the bits of `data`, of integers.

    ```mlir
    %y = relay.bitwise_not %x : (tensor<4xi32>) -> tensor<4xi32>
    ```
    """


@operator("relay.cast")
class CastOp(Elementwise, HasCanonicalizationPatternsInterface):
    """
    Convert the elements of `data` to `dtype`.

    ```mlir
    %y = relay.cast %x {dtype = i64} : (tensor<4xf32>) -> tensor<4xi64>
    ```

    Floats are truncated to integers; those out of range become the nearest integer of the type, and
    NaN becomes 0. Integers wrap around. Nonzero values, NaN too, become true in i1.
    """

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


@operator("relay.reinterpret")
class ReinterpretOp(Elementwise):
    """
    Read the bits of each element of `data` as a number of type `dtype`, which is as wide.

    ```mlir
    %y = relay.reinterpret %x {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```
    """

    dtype = dtype_prop()


@operator("relay.fixed_point_multiply")
class FixedPointMultiplyOp(Elementwise):
    """
    Multiply the i32 numbers `data` by `multiplier` * 2 ** (`shift` - 31), rounding halves up.

    ```mlir
    %y = relay.fixed_point_multiply %x {multiplier = 1073741824, shift = -2}
      : (tensor<4xi32>) -> tensor<4xi32>
    ```

    Products have 64 bits.
    """

    multiplier = int_prop()
    shift = int_prop()


@operator("relay.full")
class FullOp(RelayOperator):
    """
    Fill a tensor of `shape` with the scalar `fill_value`.

    ```mlir
    %y = relay.full %v {shape = array<i64: 2, 3>} : (tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    fill_value = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    shape = ints_prop()

    traits = traits_def(*ELEMWISE, ReadsElementwise())


# --------------------------------------------------------------- trigonometry


@operator("relay.sin")
class SinOp(Elementwise):
    """Take the sine of `data`, in radians."""


@operator("relay.cos")
class CosOp(Elementwise):
    """Take the cosine of `data`, in radians."""


@operator("relay.tan")
class TanOp(Elementwise):
    """Take the tangent of `data`, in radians."""


@operator("relay.asin")
class AsinOp(Elementwise):
    """Take the angle in [-pi/2, pi/2] whose sine is `data`."""


@operator("relay.acos")
class AcosOp(Elementwise):
    """Take the angle in [0, pi] whose cosine is `data`."""


@operator("relay.atan")
class AtanOp(Elementwise):
    """Take the angle in [-pi/2, pi/2] whose tangent is `data`."""


@operator("relay.sinh")
class SinhOp(Elementwise):
    """Take the hyperbolic sine of `data`."""


@operator("relay.cosh")
class CoshOp(Elementwise):
    """Take the hyperbolic cosine of `data`."""


@operator("relay.tanh")
class TanhOp(Elementwise):
    """Take the hyperbolic tangent of `data`."""


@operator("relay.asinh")
class AsinhOp(Elementwise):
    """Take the number whose hyperbolic sine is `data`."""


@operator("relay.acosh")
class AcoshOp(Elementwise):
    """Take the number of at least 0 whose hyperbolic cosine is `data`."""


@operator("relay.atanh")
class AtanhOp(Elementwise):
    """Take the number whose hyperbolic tangent is `data`."""
