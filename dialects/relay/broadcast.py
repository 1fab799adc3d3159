"""Elementwise operators on several tensors, which are broadcast as in NumPy."""

from abc import ABC

from xdsl.irdl import irdl_op_definition, operand_def, traits_def
from xdsl.traits import Commutative

from ..interfaces import ReadsElementwise
from .incomplete import AnyTensor
from .operator import Broadcasting
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


@irdl_op_definition
class AddOp(CommutativePairwise):
    """Add `lhs` and `rhs`."""

    name = "relay.add"


@irdl_op_definition
class SubtractOp(Pairwise):
    """Subtract `rhs` from `lhs`."""

    name = "relay.subtract"


@irdl_op_definition
class MultiplyOp(CommutativePairwise):
    """Multiply `lhs` and `rhs`; on i1, logical and."""

    name = "relay.multiply"


@irdl_op_definition
class DivideOp(Pairwise):
    """
    Divide `lhs` by `rhs`; quotients of integers are rounded toward 0, as in C.

    An integer divided by 0 is 0, and the least integer divided by -1 itself.
    """

    name = "relay.divide"


@irdl_op_definition
class PowerOp(Pairwise):
    """
    Raise `lhs` to the power of `rhs`.

    Integers wrap around; a negative power of an integer is rounded toward 0, and 0 for 0.
    """

    name = "relay.power"


@irdl_op_definition
class ModOp(Pairwise):
    """
    Take the remainder of `lhs` divided by `rhs`, with the sign of `lhs`, as in C.

    That of an integer divided by 0 is 0.
    """

    name = "relay.mod"


@irdl_op_definition
class FloorModOp(Pairwise):
    """
    Take the remainder of the floor division of `lhs` by `rhs`, with the sign of `rhs`.

    That of an integer divided by 0 is 0; of floats by 0, NaN.
    """

    name = "relay.floor_mod"


@irdl_op_definition
class FloorDivideOp(Pairwise):
    """
    Divide `lhs` by `rhs` and round down.

    An integer divided by 0 is 0, the least integer divided by -1 itself, and a float divided by 0
    what `relay.divide` returns.
    """

    name = "relay.floor_divide"


@irdl_op_definition
class MaximumOp(CommutativePairwise):
    """
    Take the greater of `lhs` and `rhs`; on i1, logical or.

    ```mlir
    %y = relay.maximum %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN if either is NaN. The sign of a zero result is unspecified.
    """

    name = "relay.maximum"


@irdl_op_definition
class MinimumOp(CommutativePairwise):
    """
    Take the lesser of `lhs` and `rhs`; on i1, logical and.

    ```mlir
    %y = relay.minimum %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    NaN if either is NaN. The sign of a zero result is unspecified.
    """

    name = "relay.minimum"


# --------------------------------------------------------- logic, comparisons


@irdl_op_definition
class LogicalAndOp(Logical):
    """Test where both `lhs` and `rhs` are true."""

    name = "relay.logical_and"


@irdl_op_definition
class LogicalOrOp(Logical):
    """Test where `lhs` or `rhs` is true."""

    name = "relay.logical_or"


@irdl_op_definition
class LogicalXorOp(Logical):
    """Test where exactly one of `lhs` and `rhs` is true."""

    name = "relay.logical_xor"


@irdl_op_definition
class BitwiseAndOp(CommutativePairwise):
    """Take the and of each bit of the integers `lhs` and `rhs`."""

    name = "relay.bitwise_and"


@irdl_op_definition
class BitwiseOrOp(CommutativePairwise):
    """Take the or of each bit of the integers `lhs` and `rhs`."""

    name = "relay.bitwise_or"


@irdl_op_definition
class BitwiseXorOp(CommutativePairwise):
    """Take the exclusive or of each bit of the integers `lhs` and `rhs`."""

    name = "relay.bitwise_xor"


@irdl_op_definition
class LeftShiftOp(Pairwise):
    """
    Shift the bits of the integers `lhs` to the left by `rhs`.

    The result is 0 where `rhs` is negative or at least the width of the type.
    """

    name = "relay.left_shift"


@irdl_op_definition
class RightShiftOp(Pairwise):
    """
    Shift the bits of the integers `lhs` to the right by `rhs`, copying the sign of a signed one.

    The result is 0, or -1 for a negative `lhs`, where `rhs` is negative or at least the width of
    the type.
    """

    name = "relay.right_shift"


@irdl_op_definition
class EqualOp(Comparison):
    """Test where `lhs` equals `rhs`."""

    name = "relay.equal"

    traits = traits_def(Commutative())


@irdl_op_definition
class NotEqualOp(Comparison):
    """Test where `lhs` differs from `rhs`."""

    name = "relay.not_equal"

    traits = traits_def(Commutative())


@irdl_op_definition
class LessOp(Comparison):
    """Test where `lhs` is less than `rhs`."""

    name = "relay.less"


@irdl_op_definition
class LessEqualOp(Comparison):
    """Test where `lhs` is at most `rhs`."""

    name = "relay.less_equal"


@irdl_op_definition
class GreaterOp(Comparison):
    """Test where `lhs` is greater than `rhs`."""

    name = "relay.greater"


@irdl_op_definition
class GreaterEqualOp(Comparison):
    """Test where `lhs` is at least `rhs`."""

    name = "relay.greater_equal"


@irdl_op_definition
class WhereOp(Broadcasting):
    """
    Take `x` where `condition` is true and `y` elsewhere.

    ```mlir
    %r = relay.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    """

    name = "relay.where"

    condition = operand_def(AnyTensor)
    x = operand_def(AnyTensor)
    y = operand_def(AnyTensor)

    traits = traits_def(ReadsElementwise())


# -------------------------------------------------------- a vector on an axis


@irdl_op_definition
class BiasAddOp(Broadcasting):
    """
    Add the vector `bias` along `axis` of `data`.

    ```mlir
    %y = relay.nn.bias_add %x, %b : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```

    A vector of one number is added to all.
    """

    name = "relay.nn.bias_add"

    data = operand_def(AnyTensor)
    bias = operand_def(AnyTensor)
    axis = int_prop(1)

    traits = traits_def(ReadsElementwise((0,)))


@irdl_op_definition
class PreluOp(Broadcasting):
    """
    Multiply the elements of `data` that are not positive by the vector `alpha` along `axis`.

    ```mlir
    %y = relay.nn.prelu %x, %a : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```

    An `alpha` of one number is that of all.
    """

    name = "relay.nn.prelu"

    data = operand_def(AnyTensor)
    alpha = operand_def(AnyTensor)
    axis = int_prop(1)

    traits = traits_def(ReadsElementwise((0,)))
