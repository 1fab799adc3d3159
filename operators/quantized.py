"""
Quantized operators: shape rules.

An integer x stands for the real number (x - zero point) * scale. Zero points are integers, scales
floats; both are scalars, or have one element for each index along an axis. What the operators
compute is said by the pass `lower-qnn`, in operators of `relay`.
"""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from itertools import islice
from typing import Any, Literal, TypeAlias

from .broadcast import broadcast_shapes
from .convolution import OF_CONVOLUTION, convolution
from .matmul import batch_matmul, dense
from .operands import normalized_axis, require_float, require_integer
from .rearrange import concatenate
from .rules import Work, rule
from .signature import ELEMENTS, Element, Tensor
from .sizes import SignatureError, require_equal
from .transposed_convolution import TRANSPOSED, conv2d_transpose

Rounding: TypeAlias = Literal["UPWARD", "TONEAREST"]
"""Of numbers half-way between two integers: up, or away from zero."""


def _require_parameters(data: Tensor, axis: int, scale: Tensor, zero_point: Tensor) -> None:
    """Check the scale and the zero point of `data`, one for all or one along `axis`."""
    require_float(scale.element, "the scale of {op}")
    require_integer(zero_point.element, "the zero point of {op}")
    for what, tensor in (("scale", scale), ("zero point", zero_point)):
        if tensor.rank > 1:
            raise SignatureError(f"the {what} must have rank 0 or 1, but has rank {tensor.rank}")
        if tensor.rank == 1 and tensor.dims[0] != 1:
            size = data.dims[normalized_axis(axis, data.rank)]
            message = f"the {what} must have as many elements as axis {axis}, {{1}}, but has {{0}}"
            require_equal(tensor.dims[0], size, message)


@rule("qnn.quantize", work=Work.LINEAR)
def quantize(
    data: Tensor, output_scale: Tensor, output_zero_point: Tensor, *, out_dtype: Element, axis: int
) -> Tensor:
    """Infer integers of `out_dtype` in the shape of the floats `data`."""
    require_float(data.element, "data of {op}")
    _require_parameters(data, axis, output_scale, output_zero_point)
    require_integer(out_dtype, "the result of {op}")
    return Tensor(out_dtype, data.dims)


@rule("qnn.dequantize", work=Work.LINEAR)
def dequantize(
    data: Tensor, input_scale: Tensor, input_zero_point: Tensor, *, axis: int, out_dtype: Element
) -> Tensor:
    """Infer floats of `out_dtype` in the shape of the integers `data`."""
    require_integer(data.element, "data of {op}")
    _require_parameters(data, axis, input_scale, input_zero_point)
    require_float(out_dtype, "the result of {op}")
    return Tensor(out_dtype, data.dims)


@rule("qnn.requantize", work=Work.LINEAR)
def requantize(
    data: Tensor,
    input_scale: Tensor,
    input_zero_point: Tensor,
    output_scale: Tensor,
    output_zero_point: Tensor,
    *,
    axis: int,
    rounding: Rounding,
    compute_dtype: Literal["int64", "float32", "float64"],
    out_dtype: Element,
) -> Tensor:
    """Infer integers of `out_dtype` in the shape of the integers `data`."""
    require_integer(data.element, "data of {op}")
    _require_parameters(data, axis, input_scale, input_zero_point)
    _require_parameters(data, axis, output_scale, output_zero_point)
    require_integer(out_dtype, "the result of {op}")
    return Tensor(out_dtype, data.dims)


@rule("qnn.add", "qnn.subtract", "qnn.mul", work=Work.LINEAR)
def arithmetic(
    lhs: Tensor,
    rhs: Tensor,
    lhs_scale: Tensor,
    lhs_zero_point: Tensor,
    rhs_scale: Tensor,
    rhs_zero_point: Tensor,
    output_scale: Tensor,
    output_zero_point: Tensor,
    *,
    lhs_axis: int,
    rhs_axis: int,
) -> Tensor:
    """Infer the integers of operands of one type, broadcast together."""
    require_integer(lhs.element, "lhs of {op}")
    if rhs.element is not lhs.element:
        raise SignatureError(
            f"rhs of {{op}} must have elements {lhs.element}, but has {rhs.element}"
        )
    _require_parameters(lhs, lhs_axis, lhs_scale, lhs_zero_point)
    _require_parameters(rhs, rhs_axis, rhs_scale, rhs_zero_point)
    _require_parameters(lhs, lhs_axis, output_scale, output_zero_point)
    return Tensor(lhs.element, broadcast_shapes([lhs.dims, rhs.dims]))


FUNCTIONS = ("abs", "erf", "exp", "hardswish", "log", "rsqrt", "sigmoid", "sqrt", "tanh")
"""The functions of one number that have a quantized form."""


@rule(*(f"qnn.{name}" for name in FUNCTIONS), work=Work.LINEAR)
def function(
    data: Tensor, scale: Tensor, zero_point: Tensor, output_scale: Tensor, output_zero_point: Tensor
) -> Tensor:
    """Infer the type of the integers `data`."""
    require_integer(data.element, "data of {op}")
    _require_parameters(data, -1, scale, zero_point)
    _require_parameters(data, -1, output_scale, output_zero_point)
    return data


@rule("qnn.concatenate", work=Work.LINEAR)
def concatenated(*operands: Tensor, axis: int) -> Tensor:
    """Infer n tensors joined, from these, their n scales and zero points, and the result's."""
    n, rest = divmod(len(operands) - 2, 3)
    if n < 1 or rest:
        raise SignatureError(
            "{op} must have n tensors, n scales, n zero points, and the scale and zero point of "
            f"the result, but has {len(operands)} operands"
        )
    for i, tensor in enumerate(operands[:n]):
        require_integer(tensor.element, "operands of {op}")
        _require_parameters(tensor, axis, operands[n + i], operands[2 * n + i])
    _require_parameters(operands[0], axis, *operands[-2:])
    return concatenate(*operands[:n], axis=axis)


# ----------------------------------------------------------------------------------- products

_PARAMETERS = ("input_zero_point", "kernel_zero_point", "input_scale", "kernel_scale")


def _product(
    name: str, function: Callable[..., Tensor], types: Mapping[str, object] | None = None
) -> None:
    """
    Make the rule of a product of integers, from that of numbers.

    The result is of `out_dtype`, by default i32. The sums are those of products of differences to
    the zero points; scales do not take part, but tell that of the result.
    """
    of_numbers = signature(function, eval_str=True).parameters
    attributes = {k: p for k, p in of_numbers.items() if p.kind is Parameter.KEYWORD_ONLY}
    sums_into = "out_dtype" in attributes
    out_dtype = Parameter("out_dtype", Parameter.KEYWORD_ONLY, annotation=Element | None)
    keywords = {"out_dtype": out_dtype, **attributes}.values()
    positional = [
        Parameter(key, Parameter.POSITIONAL_OR_KEYWORD, annotation=Tensor)
        for key in (*islice(of_numbers, 2), *_PARAMETERS)
    ]

    def infer(data: Tensor, weight: Tensor, *parameters: Tensor, **values: Any) -> Tensor:
        for tensor in (data, weight, *parameters[:2]):
            require_integer(tensor.element, "data, weight and zero points of {op}")
        for tensor in parameters[2:]:
            require_float(tensor.element, "scales of {op}")
        element = values.pop("out_dtype", None) or ELEMENTS["int32"]
        require_integer(element, "the result of {op}")
        if sums_into:
            values["out_dtype"] = element
        return function(Tensor(element, data.dims), Tensor(element, weight.dims), **values)

    infer.__doc__ = f"Infer as relay.nn.{name}, of integers."
    setattr(infer, "__signature__", Signature([*positional, *keywords]))
    rule(f"qnn.{name}", work=Work.PRODUCTS, types=types)(infer)


_product("dense", dense)
_product("batch_matmul", batch_matmul)
_product("conv2d", convolution, OF_CONVOLUTION[2])
_product("conv2d_transpose", conv2d_transpose, TRANSPOSED[2])
