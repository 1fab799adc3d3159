"""
Replace operators on quantized tensors by operators of `relay`.

    %y = qnn.dequantize %x, %scale, %zero
    ->
    %wide = cast(%x, i32)
    %shifted = %wide - %zero
    %y = cast(%shifted, f32) * %scale

Zero points that are the constant 0 are not subtracted or added. Requantization multiplies by the
quotient of the scales, which are constants: by default by 31 bits of it, in i64, then shifts and
rounds. Numbers are TVM's, bit for bit (TVM: qnn.transform.CanonicalizeOps).
Level: `relay`, after `infer-types`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import floor, frexp
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ..dialects import relay
from ..dialects.attributes import plain_attributes
from ..dialects.dense import constant_tensor
from ..dialects.relay.incomplete import is_incomplete
from ..dialects.xdsl_extras.walking import walk
from .analysis.arrays import Array, array_of
from .support.changes import ReportingPass
from .support.diagnostics import PassError
from .support.operator_steps import OperatorSteps, dtype_of, tensor_rank
from .support.rewriting import apply_patterns

if TYPE_CHECKING:
    from ..dialects import qnn

FRACTION = 31
"""The bits of the quotient of two scales that integers are multiplied by."""


def constant(value: SSAValue) -> Array | None:
    """Return the elements of a constant."""
    dense = constant_tensor(value)
    return None if dense is None else array_of(dense)


def is_number(value: SSAValue, number: object) -> bool:
    """Test whether `value` is a constant of one element, `number`."""
    elements = constant(value)
    return elements is not None and elements.size == 1 and elements.item() == number


def are_equal(a: SSAValue, b: SSAValue) -> bool:
    """Test whether two scales or zero points certainly are one number."""
    elements = constant(a)
    if elements is None or elements.size != 1:
        return False
    return is_number(b, elements.item())


def fixed_point(quotient: float) -> tuple[int, int]:
    """Return m of `FRACTION` bits and s for which `quotient` is about m * 2 ** (s - FRACTION)."""
    fraction, shift = frexp(quotient)
    multiplier = floor(fraction * (1 << FRACTION) + 0.5)
    if multiplier == 1 << FRACTION:
        return multiplier // 2, shift + 1
    return multiplier, shift


@dataclass
class Steps(OperatorSteps):
    """Operators that are to replace an op, which is named `op` in errors."""

    op: Operation = field(kw_only=True)

    def shifted(
        self, x: SSAValue, zero_point: SSAValue, axis: int, dtype: str = "int32"
    ) -> SSAValue:
        """Return x - zero point, computed in `dtype`."""
        wide = self.cast(x, dtype)
        if is_number(zero_point, 0):
            return wide
        zero = self.along(self.cast(zero_point, dtype), axis, tensor_rank(x))
        return self.apply("subtract", wide, zero)

    def rounded(self, x: SSAValue) -> SSAValue:
        """Return floats rounded, halves away from zero."""
        return self.apply("round", x, ties="away")

    def clamped(self, x: SSAValue, dtype: str) -> SSAValue:
        """Convert integers to `dtype`, which is signed or unsigned, by its nearest number."""
        if dtype in ("int32", "int64"):
            return self.cast(x, dtype)
        bounds = np.iinfo(np.dtype(dtype))
        clipped = self.apply("clip", x, a_min=float(bounds.min), a_max=float(bounds.max))
        return self.cast(clipped, dtype)

    def quantized(
        self, x: SSAValue, scale: SSAValue, zero_point: SSAValue, axis: int, dtype: str
    ) -> SSAValue:
        """Return the floats `x` as integers: x / scale, rounded, from the zero point on."""
        rank, width = tensor_rank(x), dtype_of(x)
        quotient = self.apply("divide", x, self.along(self.cast(scale, width), axis, rank))
        return self.from_quotient(quotient, zero_point, axis, dtype)

    def from_quotient(
        self, quotient: SSAValue, zero_point: SSAValue, axis: int, dtype: str
    ) -> SSAValue:
        """Return floats as integers of a scale of 1."""
        rank, width = tensor_rank(quotient), dtype_of(quotient)
        zero = self.along(self.cast(zero_point, width), axis, rank)
        rounded = self.apply("add", self.rounded(quotient), zero)
        return self.clamped(self.cast(rounded, "int32"), dtype)

    def dequantized(
        self, x: SSAValue, scale: SSAValue, zero_point: SSAValue, axis: int, dtype: str
    ) -> SSAValue:
        """Return the integers `x` as floats."""
        shifted = self.cast(self.shifted(x, zero_point, axis), dtype)
        return self.apply(
            "multiply", shifted, self.along(self.cast(scale, dtype), axis, tensor_rank(x))
        )

    def scale(self, value: SSAValue) -> Array:
        """Return the elements of a scale, which must be a constant."""
        elements = constant(value)
        if elements is None:
            raise PassError(f"{self.op.name} needs scales that are constants", self.op)
        return elements.astype(np.float64)

    def requantized(
        self,
        x: SSAValue,
        scale: Array,
        zero_point: SSAValue | None,
        output_scale: SSAValue,
        output_zero_point: SSAValue,
        axis: int,
        *,
        dtype: str = "int32",
        rounding: str = "UPWARD",
        compute_dtype: str = "int64",
    ) -> SSAValue:
        """Return the integers `x` of `scale` by another scale and zero point."""
        is_upward, rank = rounding == "UPWARD", tensor_rank(x)
        wide = "int32" if compute_dtype == "int64" else compute_dtype
        y = self.cast(x, wide) if zero_point is None else self.shifted(x, zero_point, axis, wide)
        output = self.scale(output_scale)
        if not (scale.size == output.size == 1 and scale.reshape(()) == output.reshape(())):
            if output.size != 1:
                raise PassError(f"{self.op.name} needs one scale of the result", self.op)
            quotients = scale / output.reshape(())
            if scale.size == 1:
                quotients = quotients.reshape(())
            if compute_dtype == "int64":
                y = self.multiplied(y, quotients, axis, is_upward)
            else:
                factor = self.along(self.numbers(quotients, wide), axis, rank)
                y = self.apply("multiply", y, factor)
        if not is_number(output_zero_point, 0):
            zero = self.along(self.cast(output_zero_point, wide), axis, rank)
            y = self.apply("add", y, zero)
        if compute_dtype != "int64":
            if is_upward:
                y = self.apply("floor", self.apply("add", y, self.numbers(0.5, wide)))
            else:
                y = self.rounded(y)
            y = self.cast(y, "int32")
        return self.clamped(y, dtype)

    def multiplied(self, x: SSAValue, quotients: Array, axis: int, is_upward: bool) -> SSAValue:
        """Return the products of i32 numbers and `quotients`, rounded, by 64-bit integers."""
        pairs = [fixed_point(float(quotient)) for quotient in quotients.reshape(-1)]

        def of_pairs(function: Callable[[int, int], int]) -> SSAValue:
            values = np.array([function(*pair) for pair in pairs], np.int64)
            vector = self.numbers(values.reshape(quotients.shape), "int64")
            return self.along(vector, axis, tensor_rank(x))

        y = self.cast(x, "int64")
        if any(shift > 0 for _, shift in pairs):
            y = self.apply("left_shift", y, of_pairs(lambda _, shift: max(shift, 0)))
        y = self.apply("multiply", y, of_pairs(lambda multiplier, _: multiplier))
        half = of_pairs(lambda _, shift: 1 << (FRACTION + max(-shift, 0) - 1))
        if not is_upward:
            negative = self.apply("less", y, self.numbers(0, "int64"))
            half = self.apply("subtract", half, self.cast(negative, "int64"))
        y = self.apply("add", y, half)
        y = self.apply("right_shift", y, of_pairs(lambda _, shift: FRACTION + max(-shift, 0)))
        return self.cast(y, "int32")


def quantize(steps: Steps, op: qnn.QuantizeOp, attributes: Mapping[str, Any]) -> SSAValue:
    x, scale, zero_point = op.operands
    number = constant(scale)
    if number is not None and number.size == 1:  # TVM's simplifier multiplies by the inverse
        inverse = steps.numbers(1 / float(number.item()), dtype_of(x))
        quotient = steps.apply("multiply", x, inverse)
        return steps.from_quotient(quotient, zero_point, op.axis.value.data, dtype_of(op.result))
    return steps.quantized(x, scale, zero_point, op.axis.value.data, dtype_of(op.result))


def dequantize(steps: Steps, op: qnn.DequantizeOp, attributes: Mapping[str, Any]) -> SSAValue:
    x, scale, zero_point = op.operands
    return steps.dequantized(x, scale, zero_point, op.axis.value.data, dtype_of(op.result))


def requantize(steps: Steps, op: qnn.RequantizeOp, attributes: Mapping[str, Any]) -> SSAValue:
    return steps.requantized(
        op.data,
        steps.scale(op.input_scale),
        op.input_zero_point,
        op.output_scale,
        op.output_zero_point,
        op.axis.value.data,
        dtype=dtype_of(op.result),
        rounding=op.rounding.data,
        compute_dtype=op.compute_dtype.data,
    )


def as_output(
    steps: Steps, x: SSAValue, scale: SSAValue, zero_point: SSAValue, op: Operation, axis: int
) -> SSAValue:
    """Return `x` by the scale and zero point of the result of `op`, its last operands, as i32."""
    output_scale, output_zero_point = op.operands[-2:]
    if are_equal(scale, output_scale) and are_equal(zero_point, output_zero_point):
        return steps.cast(x, "int32")
    return steps.requantized(
        x, steps.scale(scale), zero_point, output_scale, output_zero_point, axis
    )


def arithmetic(steps: Steps, op: qnn.Arithmetic, attributes: Mapping[str, Any]) -> SSAValue:
    lhs_axis, rhs_axis = op.lhs_axis.value.data, op.rhs_axis.value.data
    dtype = dtype_of(op.lhs)
    if op.name == "qnn.mul":
        lhs = steps.shifted(op.lhs, op.lhs_zero_point, lhs_axis)
        rhs = steps.shifted(op.rhs, op.rhs_zero_point, rhs_axis)
        scales = [steps.scale(scale).astype(np.float32) for scale in (op.lhs_scale, op.rhs_scale)]
        return steps.requantized(
            steps.apply("multiply", lhs, rhs),
            (scales[0] * scales[1]).astype(np.float64),
            None,
            op.output_scale,
            op.output_zero_point,
            lhs_axis,
            dtype=dtype,
        )
    lhs = as_output(steps, op.lhs, op.lhs_scale, op.lhs_zero_point, op, lhs_axis)
    rhs = as_output(steps, op.rhs, op.rhs_scale, op.rhs_zero_point, op, rhs_axis)
    name, inverse = op.name.removeprefix("qnn."), {"add": "subtract", "subtract": "add"}
    result = steps.apply(name, lhs, rhs)
    if not is_number(op.output_zero_point, 0):
        result = steps.apply(inverse[name], result, steps.cast(op.output_zero_point, "int32"))
    return steps.clamped(result, dtype)


def concatenate(steps: Steps, op: qnn.ConcatenateOp, attributes: Mapping[str, Any]) -> SSAValue:
    n, axis = len(op.operands) // 3, op.axis.value.data
    parts: list[SSAValue] = []
    for i in range(n):
        x, scale, zero_point = op.operands[i], op.operands[n + i], op.operands[2 * n + i]
        wide = as_output(steps, x, scale, zero_point, op, axis)
        parts.append(steps.clamped(wide, dtype_of(x)))
    return steps.apply("concatenate", *parts, axis=axis)


def product(steps: Steps, op: qnn.Product, attributes: Mapping[str, Any]) -> SSAValue:
    """Multiply the differences to the zero points; those of weights may be along their axis."""
    dtype = dtype_of(op.result)
    name = f"nn.{op.name.removeprefix('qnn.')}"
    kind = relay.BY_NAME[name]
    layout = attributes.get("kernel_layout", "O")
    data = steps.shifted(op.data, op.input_zero_point, -1, dtype)
    weight = steps.shifted(op.weight, op.kernel_zero_point, layout.index("O"), dtype)
    names = kind.get_irdl_definition().properties
    return steps.apply(name, data, weight, **{k: v for k, v in attributes.items() if k in names})


def function(steps: Steps, op: qnn.Function, attributes: Mapping[str, Any]) -> SSAValue:
    x = steps.dequantized(op.data, op.scale, op.zero_point, -1, "float32")
    if op.name == "qnn.hardswish":
        three = steps.apply("add", x, steps.numbers(3.0, "float32"))
        factor = steps.apply("clip", three, a_min=0.0, a_max=6.0)
        product = steps.apply("multiply", x, factor)
        y = steps.apply("divide", product, steps.numbers(6.0, "float32"))
    else:
        y = steps.apply(op.name.removeprefix("qnn."), x)
    return steps.quantized(y, op.output_scale, op.output_zero_point, -1, dtype_of(op.data))


Rule = Callable[[Steps, Any, Mapping[str, Any]], SSAValue]

RULES: Mapping[str, Rule] = {
    "qnn.quantize": quantize,
    "qnn.dequantize": dequantize,
    "qnn.requantize": requantize,
    "qnn.concatenate": concatenate,
    **dict.fromkeys(("qnn.add", "qnn.subtract", "qnn.mul"), arithmetic),
    **dict.fromkeys(
        ("qnn.dense", "qnn.batch_matmul", "qnn.conv2d", "qnn.conv2d_transpose"), product
    ),
    **{
        f"qnn.{name}": function
        for name in ("abs", "erf", "exp", "hardswish", "log", "rsqrt", "sigmoid", "sqrt", "tanh")
    },
}
"""The operators that compute each op, by its name: programs without one do not import `qnn`."""


class LowerQnn(RewritePattern):
    """Replace an operator on quantized tensors."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        rule = RULES.get(op.name)
        if rule is None or any(is_incomplete(operand.type) for operand in op.operands):
            return
        steps = Steps(op=op)
        result = rule(steps, op, plain_attributes(op))
        steps.replace(op, [result], rewriter)


class LowerQnnPass(ReportingPass):
    name = "lower-qnn"
    accepts = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        return apply_patterns(op, LowerQnn(), only=[o for o in walk(op) if o.name in RULES])
