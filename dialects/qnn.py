"""
The `qnn` dialect: operators on quantized tensors.

An integer x stands for the real number (x - zero point) * scale. Zero points are integers, scales
floats; both are scalars, or vectors along an axis. `lower-qnn` replaces the operators by those of
`relay`.
"""

from abc import ABC
from collections.abc import Mapping

from xdsl.dialects.builtin import f32, i8
from xdsl.ir import Dialect
from xdsl.irdl import operand_def, var_operand_def

from .relay.incomplete import AnyTensor
from .relay.operator import Opaque, Operator, like, operator
from .relay.properties import (
    bool_prop,
    dtype_prop,
    int_prop,
    ints_prop,
    optional_dtype_prop,
    string_prop,
)


class QnnOperator(Opaque, ABC):
    """An operator on quantized tensors, whose rule is in `xrelay.operators` under its name."""


@operator("qnn.quantize")
class QuantizeOp(QnnOperator):
    """
    Quantize the floats `data`: round data / scale (halves away from 0), add the zero point, clamp.

    ```mlir
    %y = qnn.quantize %x, %scale, %zero {out_dtype = ui8}
      : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xui8>
    ```
    """

    out_dtype = dtype_prop(i8)
    axis = int_prop(-1)


@operator("qnn.dequantize")
class DequantizeOp(QnnOperator):
    """
    Compute the real numbers (data - zero point) * scale.

    ```mlir
    %y = qnn.dequantize %x, %scale, %zero
      : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
    ```
    """

    axis = int_prop(-1)
    out_dtype = dtype_prop(f32)


@operator("qnn.requantize")
class RequantizeOp(QnnOperator):
    """
    Quantize the numbers of `data` by another scale and zero point.

    ```mlir
    %y = qnn.requantize %x, %scale, %zero, %new_scale, %new_zero
      : (tensor<4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
    ```

    Scales are constants. `rounding` is "UPWARD" or, away from zero, "TONEAREST". The quotient of
    the scales is a number of 31 bits, shifted, with `compute_dtype` "int64"; otherwise a "float32"
    or "float64".
    """

    data = operand_def(AnyTensor)
    input_scale = operand_def(AnyTensor)
    input_zero_point = operand_def(AnyTensor)
    output_scale = operand_def(AnyTensor)
    output_zero_point = operand_def(AnyTensor)
    axis = int_prop(-1)
    rounding = string_prop("UPWARD")
    compute_dtype = string_prop("int64")
    out_dtype = dtype_prop(i8)


class Arithmetic(QnnOperator, ABC):
    """
    An operator on two quantized tensors, broadcast together.

    ```mlir
    %r = qnn.add %x, %y, %xs, %xz, %ys, %yz, %rs, %rz : (tensor<4xi8>, tensor<4xi8>, tensor<f32>,
      tensor<i32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
    ```
    """

    lhs = operand_def(AnyTensor)
    rhs = operand_def(AnyTensor)
    lhs_scale = operand_def(AnyTensor)
    lhs_zero_point = operand_def(AnyTensor)
    rhs_scale = operand_def(AnyTensor)
    rhs_zero_point = operand_def(AnyTensor)
    output_scale = operand_def(AnyTensor)
    output_zero_point = operand_def(AnyTensor)
    lhs_axis = int_prop(-1)
    rhs_axis = int_prop(-1)


AddOp = like(Arithmetic, "qnn.add", "Add the numbers of `lhs` and `rhs`, each requantized first.")
SubtractOp = like(
    Arithmetic,
    "qnn.subtract",
    "Subtract the numbers of `rhs` from those of `lhs`, each requantized first.",
)
MulOp = like(
    Arithmetic, "qnn.mul", "Multiply the numbers of `lhs` and `rhs`, and requantize the products."
)


@operator("qnn.concatenate")
class ConcatenateOp(QnnOperator):
    """
    Join n tensors along `axis`, each requantized first.

    ```mlir
    %y = qnn.concatenate %a, %b, %as, %bs, %az, %bz, %ys, %yz : (tensor<2xi8>, tensor<3xi8>,
      tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<5xi8>
    ```

    The operands are the n tensors, their n scales, their n zero points, and the result's scale and
    zero point.
    """

    tensors = var_operand_def(AnyTensor)
    axis = int_prop(0)


class Product(QnnOperator, ABC):
    """An operator that sums products of differences to zero points, into `out_dtype` or i32."""

    data = operand_def(AnyTensor)
    weight = operand_def(AnyTensor)
    input_zero_point = operand_def(AnyTensor)
    kernel_zero_point = operand_def(AnyTensor)
    input_scale = operand_def(AnyTensor)
    kernel_scale = operand_def(AnyTensor)
    out_dtype = optional_dtype_prop()


@operator("qnn.dense")
class DenseOp(Product):
    """
    Multiply the rows of `data` with those of `weight`, as `relay.nn.dense`.

    ```mlir
    %y = qnn.dense %x, %w, %xz, %wz, %xs, %ws : (tensor<2x4xui8>, tensor<3x4xi8>, tensor<i32>,
      tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3xi32>
    ```
    """


@operator("qnn.batch_matmul")
class BatchMatmulOp(Product):
    """
    Multiply the matrices of `data` by those of `weight`, as `relay.nn.batch_matmul`.

    ```mlir
    %y = qnn.batch_matmul %x, %w, %xz, %wz, %xs, %ws : (tensor<3x2x4xi8>, tensor<3x5x4xi8>,
      tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<3x2x5xi32>
    ```
    """

    transpose_a = bool_prop(False)
    transpose_b = bool_prop(True)


@operator("qnn.conv2d")
class Conv2dOp(Product):
    """
    Convolve the images `data` with the filters `weight`, as `relay.nn.conv2d`.

    ```mlir
    %y = qnn.conv2d %x, %w, %xz, %wz, %xs, %ws {padding = array<i64: 1, 1, 1, 1>}
      : (tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>,
      tensor<f32>) -> tensor<1x4x8x8xi32>
    ```

    The padding is of zero points.
    """

    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("OIHW")


@operator("qnn.conv2d_transpose")
class Conv2dTransposeOp(Product):
    """
    Spread each pixel of `data` over the result, as `relay.nn.conv2d_transpose`.

    ```mlir
    %y = qnn.conv2d_transpose %x, %w, %xz, %wz, %xs, %ws : (tensor<1x2x4x4xi8>, tensor<2x3x2x2xi8>,
      tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x3x5x5xi32>
    ```
    """

    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0, 0, 0))
    output_padding = ints_prop((0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    data_layout = string_prop("NCHW")
    kernel_layout = string_prop("IOHW")


class Function(QnnOperator, ABC):
    """
    A function of the numbers of `data`, computed in f32.

    ```mlir
    %y = qnn.tanh %x, %xs, %xz, %ys, %yz
      : (tensor<4xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
    ```
    """

    data = operand_def(AnyTensor)
    scale = operand_def(AnyTensor)
    zero_point = operand_def(AnyTensor)
    output_scale = operand_def(AnyTensor)
    output_zero_point = operand_def(AnyTensor)


AbsOp = like(Function, "qnn.abs", "Take the absolute values of the numbers of `data`.")
ErfOp = like(Function, "qnn.erf", "Compute the error function of the numbers of `data`.")
ExpOp = like(Function, "qnn.exp", "Raise e to the power of the numbers of `data`.")
HardswishOp = like(
    Function, "qnn.hardswish", "Multiply each number x of `data` by min(max(x + 3, 0), 6) / 6."
)
LogOp = like(Function, "qnn.log", "Take the natural logarithm of the numbers of `data`.")
RsqrtOp = like(Function, "qnn.rsqrt", "Divide 1 by the square root of the numbers of `data`.")
SigmoidOp = like(Function, "qnn.sigmoid", "Compute 1 / (1 + exp(-x)) of each number x of `data`.")
SqrtOp = like(Function, "qnn.sqrt", "Take the square root of the numbers of `data`.")
TanhOp = like(Function, "qnn.tanh", "Compute the hyperbolic tangent of the numbers of `data`.")


OPERATORS: tuple[type[Operator], ...] = (
    *(QuantizeOp, DequantizeOp, RequantizeOp, AddOp, SubtractOp, MulOp, ConcatenateOp),
    *(DenseOp, BatchMatmulOp, Conv2dOp, Conv2dTransposeOp),
    *(AbsOp, ErfOp, ExpOp, HardswishOp, LogOp, RsqrtOp, SigmoidOp, SqrtOp, TanhOp),
)

BY_NAME: Mapping[str, type[Operator]] = {op.name: op for op in OPERATORS}
"""The operators by Relay's names of them, which are those of the ops."""

Qnn = Dialect("qnn", [*OPERATORS])
