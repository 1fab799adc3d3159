"""Matrix products."""

from abc import ABC

from xdsl.irdl import operand_def

from .incomplete import AnyTensor
from .operator import OutFusable, operator
from .properties import bool_prop, optional_dtype_prop


class SumOfProducts(OutFusable, ABC):
    """An operator that sums products; the result has the operands' element type, or `out_dtype`."""

    out_dtype = optional_dtype_prop()


@operator("relay.nn.dense")
class DenseOp(SumOfProducts):
    """
    Multiply the rows of `data` (…, k) with those of `weight` (units, k): (…, units).

    ```mlir
    %y = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    ```
    """

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)


@operator("relay.nn.packed_dense")
class PackedDenseOp(SumOfProducts):
    """
    Multiply the rows of `data` (…, k) by a matrix in `panels` (p, k, w) of columns: (…, p * w).

    ```mlir
    %y = relay.nn.packed_dense %x, %w : (tensor<2x4xf32>, tensor<3x4x16xf32>) -> tensor<2x48xf32>
    ```
    """


@operator("relay.nn.matmul")
class MatmulOp(SumOfProducts):
    """
    Multiply the rows of `a` (…, n, k) by the matrix `b` (k, m): (…, n, m).

    ```mlir
    %y = relay.nn.matmul %a, %b {transpose_b = true}
      : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
    ```

    `b` is transposed first, if `transpose_b` is set; so is `a`, which has no more dims then.
    """

    a = operand_def(AnyTensor)
    b = operand_def(AnyTensor)
    transpose_a = bool_prop(False)
    transpose_b = bool_prop(False)


@operator("relay.nn.batch_matmul")
class BatchMatmulOp(SumOfProducts):
    """
    Multiply the matrices of `x` by those of `y`.

    `x` is (b, n, k) and `y`, transposed by default, (b, m, k).

    ```mlir
    %r = relay.nn.batch_matmul %x, %y
      : (tensor<3x2x4xf32>, tensor<1x8x4xf32>) -> tensor<3x2x8xf32>
    ```

    A batch of 1 is broadcast.
    """

    x = operand_def(AnyTensor)
    y = operand_def(AnyTensor)
    transpose_a = bool_prop(False)
    transpose_b = bool_prop(True)
