"""Operators of counter-based random numbers."""

from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def

from .families import OPAQUE
from .incomplete import AnyTensor
from .operator import RelayOperator
from .properties import ints_prop


@irdl_op_definition
class ThreefryGenerateOp(RelayOperator):
    """
    Compute random words of `out_shape` from the generator `gen`, and the generator of the next.

    ```mlir
    %g, %y = relay.random.threefry_generate %x {out_shape = array<i64: 2, 3>}
      : (tensor<10xui64>) -> (tensor<10xui64>, tensor<2x3xui64>)
    ```

    The words are 20 rounds of Threefry-4x64 of a counter, as in TVM bit for bit. A generator is its
    key (4 words), the path of splits (2), the counter (2), and the bit after the path (2).
    """

    name = "relay.random.threefry_generate"

    gen = operand_def(AnyTensor)
    next_gen = result_def(AnyTensor)
    words = result_def(AnyTensor)
    out_shape = ints_prop()

    traits = traits_def(*OPAQUE)


@irdl_op_definition
class ThreefrySplitOp(RelayOperator):
    """
    Compute two generators of independent random numbers from the generator `gen`.

    ```mlir
    %l, %r = relay.random.threefry_split %x
      : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>)
    ```

    Their paths are that of `gen` and one more bit. If it has no place, their keys are new.
    """

    name = "relay.random.threefry_split"

    gen = operand_def(AnyTensor)
    left = result_def(AnyTensor)
    right = result_def(AnyTensor)

    traits = traits_def(*OPAQUE)
