"""Operators whose elements depend on those before them."""

from xdsl.irdl import irdl_op_definition, operand_def

from .families import Opaque
from .incomplete import AnyTensor
from .properties import bool_prop, optional_dtype_prop, optional_int_prop


@irdl_op_definition
class CumsumOp(Opaque):
    """
    Sum the elements of `data` up to each place along `axis`; without `axis`, of flattened `data`.

    ```mlir
    %y = relay.cumsum %x {axis = 1} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    ```

    With `exclusive` the element at the place does not count. Elements are added in order, as
    numbers of type `dtype` (default: that of `data`, i32 for i1), but f32 for narrower floats.
    """

    name = "relay.cumsum"

    data = operand_def(AnyTensor)
    axis = optional_int_prop()
    dtype = optional_dtype_prop()
    exclusive = bool_prop(False)
