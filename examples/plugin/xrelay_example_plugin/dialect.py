"""The dialect `demo`: two operators that take part in everything through their traits."""

from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xrelay.dialects.interfaces import Fusible, FusionKind, InferTypes, ReshapesOnly, SameDevice
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.relay.properties import float_prop
from xrelay.dialects.relay.types import AnyTensor
from xrelay.dialects.signatures import typed

from . import signatures


@irdl_op_definition
class ScaledTanhOp(Operator):
    """
    Take tanh(`scale` * x) of each x of `data`.

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
        InferTypes(typed(signatures.scaled_tanh)),  # takes part in infer-types
        SameDevice(),  # in plan-devices
        Fusible(FusionKind.ELEMWISE),  # in fuse-ops, and so in all that follows
    )


@irdl_op_definition
class AsRowsOp(Operator):
    """
    View `data` as a matrix: its last dim is a row, all others are counted together.

    ```mlir
    %y = demo.as_rows %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
    ```

    The result shares the bytes of `data` unless it is fused into a kernel.
    """

    name = "demo.as_rows"

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)

    traits = traits_def(
        Pure(),
        InferTypes(typed(signatures.as_rows)),
        SameDevice(),
        Fusible(FusionKind.INJECTIVE),
        ReshapesOnly(),  # manifest-alloc makes a view of it
    )


Demo = Dialect("demo", [ScaledTanhOp, AsRowsOp], [])
