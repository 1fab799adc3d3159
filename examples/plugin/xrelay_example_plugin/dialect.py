"""The dialect `demo`: traits make its operators work with all passes."""

from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.interfaces import Fusible, FusionKind, InferTypes, ReshapesOnly, SameDevice
from xrelay.dialects.relay.incomplete import AnyTensor
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.relay.properties import float_prop, optional_ints_prop
from xrelay.dialects.type_rules import typed

from . import rules


@irdl_op_definition
class ScaledTanhOp(Operator):
    """
    Compute tanh(`scale` * x) for each x of `data`.

    ```mlir
    %y = demo.scaled_tanh %x {scale = 0.5} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "demo.scaled_tanh"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    scale = float_prop(1.0)

    traits = traits_def(
        Pure(),
        InferTypes(typed(rules.scaled_tanh)),
        SameDevice(),
        Fusible(FusionKind.ELEMWISE),
    )


@irdl_op_definition
class SquareplusOp(Operator):
    """
    Compute (x + sqrt(x x + `bend`)) / 2 for each x of `data`.

    ```mlir
    %y = demo.squareplus %x {bend = 4.0} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "demo.squareplus"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    bend = float_prop(4.0)

    traits = traits_def(
        Pure(),
        InferTypes(typed(rules.squareplus)),
        SameDevice(),
        Fusible(FusionKind.ELEMWISE),
    )


@irdl_op_definition
class AsRowsOp(Operator):
    """
    View `data` as a matrix: its last dim is a row, all others are merged into one.

    ```mlir
    %y = demo.as_rows %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    ```
    """

    name = "demo.as_rows"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(
        Pure(),
        InferTypes(typed(rules.as_rows)),
        SameDevice(),
        Fusible(FusionKind.INJECTIVE),
        ReshapesOnly(),
    )


@irdl_op_definition
class MinMaxOp(Operator):
    """
    Compute the minima and maxima of `data` along `axes`, or of all elements if it is absent.

    ```mlir
    %a, %b = demo.min_max %x {axes = array<i64: 1>}
        : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    ```
    """

    name = "demo.min_max"

    data = operand_def(AnyTensor)
    least = result_def(AnyTensor)
    greatest = result_def(AnyTensor)
    axes = optional_ints_prop()

    traits = traits_def(
        Pure(),
        InferTypes(typed(rules.min_max)),
        SameDevice(),
        Fusible(FusionKind.COMM_REDUCE),
    )


@irdl_op_definition
class SwishOp(Operator):
    """
    Multiply each x of `data` by sigmoid(x). The pass `demo-expand-swish` expands it.

    ```mlir
    %y = demo.swish %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    name = "demo.swish"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(Pure(), InferTypes(typed(rules.swish)), SameDevice())


Demo = Dialect("demo", [ScaledTanhOp, SquareplusOp, AsRowsOp, MinMaxOp, SwishOp], [])
