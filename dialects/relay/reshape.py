"""Operators that change the shape of a tensor, but not its elements."""

from abc import ABC

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

from ..interfaces import ReshapesOnly
from .families import INJECTIVE
from .incomplete import AnyTensor
from .operator import RelayOperator
from .properties import bool_prop, int_prop, ints_prop, optional_int_prop, optional_ints_prop


class Reshaping(RelayOperator, ABC):
    """An operator whose result has the elements of `data` in the same order."""

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(*INJECTIVE, ReshapesOnly())


@irdl_op_definition
class ReshapeOp(Reshaping):
    """
    Reshape `data` to the shape that `newshape` describes.

    ```mlir
    %y = relay.reshape %x {newshape = array<i64: 0, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```

    Entries are read from left to right: a positive entry is a dim; 0 copies the dim at its index
    (with `allowzero` it is a dim of 0); -1, allowed once, is inferred from the others; -2 copies
    all remaining dims; -3 merges the next two dims; -4 splits the next dim into the two entries
    that follow.
    """

    name = "relay.reshape"

    newshape = ints_prop()
    allowzero = bool_prop(False)


@irdl_op_definition
class BatchFlattenOp(Reshaping):
    """
    Flatten all but the first dim of `data`.

    ```mlir
    %y = relay.nn.batch_flatten %x : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
    """

    name = "relay.nn.batch_flatten"


@irdl_op_definition
class ExpandDimsOp(Reshaping):
    """
    Insert `num_newaxis` dims of 1 at `axis` of `data`.

    ```mlir
    %y = relay.expand_dims %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    ```

    An `axis` of -1 is after the last dim.
    """

    name = "relay.expand_dims"

    axis = int_prop()
    num_newaxis = int_prop(1)


@irdl_op_definition
class SqueezeOp(Reshaping):
    """
    Remove the dims `axis` of `data`, which must be 1; without `axis`, all dims of 1.

    ```mlir
    %y = relay.squeeze %x {axis = array<i64: 0>} : (tensor<1x2x1xf32>) -> tensor<2x1xf32>
    ```
    """

    name = "relay.squeeze"

    axis = optional_ints_prop()


@irdl_op_definition
class ReshapeLikeOp(RelayOperator):
    """
    Replace the dims `lhs_begin` to `lhs_end` of `data` by those of `shape_like`, from `rhs_begin`.

    ```mlir
    %y = relay.reshape_like %x, %t : (tensor<6x4xf32>, tensor<2x12xi1>) -> tensor<2x12xf32>
    ```

    An end that is absent is that of the dims; a negative one counts from there.
    """

    name = "relay.reshape_like"

    data = operand_def(AnyTensor)
    shape_like = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    lhs_begin = int_prop(0)
    lhs_end = optional_int_prop()
    rhs_begin = int_prop(0)
    rhs_end = optional_int_prop()

    traits = traits_def(*INJECTIVE)
