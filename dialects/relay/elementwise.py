"""Elementwise operators on one tensor."""

from abc import ABC

from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..interfaces import ReadsElementwise
from ..tensors import as_tensor
from ..xdsl_extras.trait_patterns import Patterns
from .incomplete import AnyTensor
from .operator import ELEMWISE, RelayOperator, is_in_kernel, like, operator
from .properties import dtype_prop


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


AbsOp = like(
    Elementwise,
    "relay.abs",
    "Take the absolute value of `data`; that of the least integer is itself.",
)
NegativeOp = like(Elementwise, "relay.negative", "Negate `data`.")
SignOp = like(Elementwise, "relay.sign", "Take the sign of `data`: -1, 0 or 1 (NaN for NaN).")
CeilOp = like(Elementwise, "relay.ceil", "Round `data` up; integers are unchanged.")
FloorOp = like(Elementwise, "relay.floor", "Round `data` down; integers are unchanged.")


@operator("relay.round")
class RoundOp(Elementwise):
    """
    Round `data` to the nearest integer; integers are unchanged.

    ```mlir
    %y = relay.round %x {ties = "away"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    Halves are rounded to even, or with `ties` of "away" away from zero.
    """


TruncOp = like(Elementwise, "relay.trunc", "Round `data` toward zero.")


@operator("relay.clip")
class ClipOp(Elementwise):
    """
    Clamp `data` to [a_min, a_max].

    ```mlir
    %y = relay.clip %x {a_min = 0.0, a_max = 6.0} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN stays. The sign of a zero result is unspecified.
    """


# --------------------------------------------------------------------- floats


ExpOp = like(Elementwise, "relay.exp", "Raise e to the power of `data`.")
LogOp = like(Elementwise, "relay.log", "Take the natural logarithm of `data`.")
Log2Op = like(Elementwise, "relay.log2", "Take the base-2 logarithm of `data`.")
Log10Op = like(Elementwise, "relay.log10", "Take the base-10 logarithm of `data`.")
SqrtOp = like(Elementwise, "relay.sqrt", "Take the square root of `data`.")
RsqrtOp = like(Elementwise, "relay.rsqrt", "Take the reciprocal of the square root of `data`.")


@operator("relay.sigmoid")
class SigmoidOp(Elementwise):
    """
    Compute 1 / (1 + exp(-x)) for each element x of `data`.

    Results below the least normal number may be 0.
    """


ErfOp = like(Elementwise, "relay.erf", "Apply the error function to `data`.")


class Classification(Elementwise, ABC):
    """
    A test of each float.

    ```mlir
    %y = relay.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
    """


IsNanOp = like(Classification, "relay.isnan", "Test where `data` is NaN.")
IsFiniteOp = like(
    Classification, "relay.isfinite", "Test where `data` is finite: neither NaN nor infinite."
)
IsInfOp = like(Classification, "relay.isinf", "Test where `data` is infinite, of either sign.")


# --------------------------------------------------------------- trigonometry


SinOp = like(Elementwise, "relay.sin", "Take the sine of `data`, in radians.")
CosOp = like(Elementwise, "relay.cos", "Take the cosine of `data`, in radians.")
TanOp = like(Elementwise, "relay.tan", "Take the tangent of `data`, in radians.")
AsinOp = like(Elementwise, "relay.asin", "Take the angle in [-pi/2, pi/2] whose sine is `data`.")
AcosOp = like(Elementwise, "relay.acos", "Take the angle in [0, pi] whose cosine is `data`.")
AtanOp = like(Elementwise, "relay.atan", "Take the angle in [-pi/2, pi/2] whose tangent is `data`.")
SinhOp = like(Elementwise, "relay.sinh", "Take the hyperbolic sine of `data`.")
CoshOp = like(Elementwise, "relay.cosh", "Take the hyperbolic cosine of `data`.")
TanhOp = like(Elementwise, "relay.tanh", "Take the hyperbolic tangent of `data`.")
AsinhOp = like(Elementwise, "relay.asinh", "Take the number whose hyperbolic sine is `data`.")
AcoshOp = like(
    Elementwise, "relay.acosh", "Take the number of at least 0 whose hyperbolic cosine is `data`."
)
AtanhOp = like(Elementwise, "relay.atanh", "Take the number whose hyperbolic tangent is `data`.")


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


@operator("relay.nn.gelu")
class GeluOp(Elementwise):
    """
    Multiply each element x of `data` by Φ(x), the standard normal distribution function.

    ```mlir
    %y = relay.nn.gelu %x {approximate = "tanh"} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    `approximate` is "none" (by erf) or "tanh" (Hendrycks and Gimpel 2016, as in ONNX).
    """


# ---------------------------------------------------------------- any element


CopyOp = like(Elementwise, "relay.copy", "Copy `data` into a new tensor.")


LogicalNotOp = like(Elementwise, "relay.logical_not", "Take the logical not of `data`, of i1.")
BitwiseNotOp = like(Elementwise, "relay.bitwise_not", "Invert the bits of `data`, of integers.")


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


@operator("relay.full")
class FullOp(RelayOperator):
    """
    Fill a tensor of `shape` with the scalar `fill_value`.

    ```mlir
    %y = relay.full %v {shape = array<i64: 2, 3>} : (tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE, ReadsElementwise())
