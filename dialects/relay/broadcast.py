"""Elementwise operators on several tensors, which are broadcast as in NumPy."""

from abc import ABC

from xdsl.irdl import operand_def, traits_def
from xdsl.traits import Commutative

from ..interfaces import ReadsElementwise
from .incomplete import AnyTensor
from .operator import Broadcasting, like, operator
from .properties import int_prop


class Pairwise(Broadcasting, ABC):
    """
    An elementwise operator on two tensors of the same element type, broadcast together.

    ```mlir
    %y = relay.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```

    Integers wrap around.
    """

    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)

    traits = traits_def(ReadsElementwise())


class CommutativePairwise(Pairwise, ABC):
    """A pairwise operator whose operands may be swapped."""

    traits = traits_def(Commutative())


class Logical(CommutativePairwise, ABC):
    """
    A pairwise operator on i1 elements.

    ```mlir
    %y = relay.logical_and %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
    ```
    """


class Comparison(Pairwise, ABC):
    """
    A pairwise operator with an i1 result.

    ```mlir
    %y = relay.less %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
    """


# ----------------------------------------------------------------- arithmetic


AddOp = like(CommutativePairwise, "relay.add", "Add `lhs` and `rhs`.")
SubtractOp = like(Pairwise, "relay.subtract", "Subtract `rhs` from `lhs`.")
MultiplyOp = like(
    CommutativePairwise, "relay.multiply", "Multiply `lhs` and `rhs`; on i1, logical and."
)


@operator("relay.divide")
class DivideOp(Pairwise):
    """
    Divide `lhs` by `rhs`; quotients of integers are rounded toward 0, as in C.

    An integer divided by 0 is 0, and the least integer divided by -1 itself.
    """


@operator("relay.power")
class PowerOp(Pairwise):
    """
    Raise `lhs` to the power of `rhs`.

    Integers wrap around; a negative power of an integer is rounded toward 0, and 0 for 0.
    """


@operator("relay.mod")
class ModOp(Pairwise):
    """
    Take the remainder of `lhs` divided by `rhs`, with the sign of `lhs`, as in C.

    That of an integer divided by 0 is 0.
    """


@operator("relay.floor_mod")
class FloorModOp(Pairwise):
    """
    Take the remainder of the floor division of `lhs` by `rhs`, with the sign of `rhs`.

    That of an integer divided by 0 is 0; of floats by 0, NaN.
    """


@operator("relay.floor_divide")
class FloorDivideOp(Pairwise):
    """
    Divide `lhs` by `rhs` and round down.

    An integer divided by 0 is 0, the least integer divided by -1 itself, and a float divided by 0
    what `relay.divide` returns.
    """


@operator("relay.maximum")
class MaximumOp(CommutativePairwise):
    """
    Take the greater of `lhs` and `rhs`; on i1, logical or.

    ```mlir
    %y = relay.maximum %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN if either is NaN. The sign of a zero result is unspecified.
    """


@operator("relay.minimum")
class MinimumOp(CommutativePairwise):
    """
    Take the lesser of `lhs` and `rhs`; on i1, logical and.

    ```mlir
    %y = relay.minimum %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN if either is NaN. The sign of a zero result is unspecified.
    """


# --------------------------------------------------------- logic, comparisons


LogicalAndOp = like(Logical, "relay.logical_and", "Test where both `lhs` and `rhs` are true.")
LogicalOrOp = like(Logical, "relay.logical_or", "Test where `lhs` or `rhs` is true.")
LogicalXorOp = like(
    Logical, "relay.logical_xor", "Test where exactly one of `lhs` and `rhs` is true."
)
BitwiseAndOp = like(
    CommutativePairwise,
    "relay.bitwise_and",
    "Take the and of each bit of the integers `lhs` and `rhs`.",
)
BitwiseOrOp = like(
    CommutativePairwise,
    "relay.bitwise_or",
    "Take the or of each bit of the integers `lhs` and `rhs`.",
)
BitwiseXorOp = like(
    CommutativePairwise,
    "relay.bitwise_xor",
    "Take the exclusive or of each bit of the integers `lhs` and `rhs`.",
)


@operator("relay.left_shift")
class LeftShiftOp(Pairwise):
    """
    Shift the bits of the integers `lhs` to the left by `rhs`.

    The result is 0 where `rhs` is negative or at least the width of the type.
    """


@operator("relay.right_shift")
class RightShiftOp(Pairwise):
    """
    Shift the bits of the integers `lhs` to the right by `rhs`, copying the sign of a signed one.

    The result is 0, or -1 for a negative `lhs`, where `rhs` is negative or at least the width of
    the type.
    """


@operator("relay.equal")
class EqualOp(Comparison):
    """Test where `lhs` equals `rhs`."""

    traits = traits_def(Commutative())


@operator("relay.not_equal")
class NotEqualOp(Comparison):
    """Test where `lhs` differs from `rhs`."""

    traits = traits_def(Commutative())


LessOp = like(Comparison, "relay.less", "Test where `lhs` is less than `rhs`.")
LessEqualOp = like(Comparison, "relay.less_equal", "Test where `lhs` is at most `rhs`.")
GreaterOp = like(Comparison, "relay.greater", "Test where `lhs` is greater than `rhs`.")
GreaterEqualOp = like(Comparison, "relay.greater_equal", "Test where `lhs` is at least `rhs`.")


@operator("relay.where")
class WhereOp(Broadcasting):
    """
    Take `x` where `condition` is true and `y` elsewhere.

    ```mlir
    %r = relay.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    """

    traits = traits_def(ReadsElementwise())


# -------------------------------------------------------- a vector on an axis


@operator("relay.nn.bias_add")
class BiasAddOp(Broadcasting):
    """
    Add the vector `bias` along `axis` of `data`.

    ```mlir
    %y = relay.nn.bias_add %x, %b : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```

    A vector of one number is added to all.
    """

    data = operand_def(AnyTensor)
    bias = operand_def(AnyTensor)
    axis = int_prop(1)

    traits = traits_def(ReadsElementwise((0,)))


@operator("relay.nn.prelu")
class PreluOp(Broadcasting):
    """
    Multiply the elements of `data` that are not positive by the vector `alpha` along `axis`.

    ```mlir
    %y = relay.nn.prelu %x, %a : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```

    An `alpha` of one number is that of all.
    """

    data = operand_def(AnyTensor)
    alpha = operand_def(AnyTensor)
    axis = int_prop(1)

    traits = traits_def(ReadsElementwise((0,)))
