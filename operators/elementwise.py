"""Rules of elementwise operators on one tensor."""

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from .operands import require_bool, require_float, require_number, require_rank
from .rules import AtLeast, Ints, rule
from .signature import BOOL, Element, Tensor, ranked

ElementCheck: TypeAlias = Callable[[Element, str], None]
"""A check of an element type, such as `require_float`."""

_OPERAND = "the operand of {op}"


@rule("relay.copy")
def same_as_operand(data: Tensor) -> Tensor:
    """Infer the type of the operand."""
    return data


@rule(*(f"relay.{name}" for name in ("abs", "negative", "sign", "ceil", "floor", "round", "trunc")))
@rule("relay.nn.relu")
def of_number(data: Tensor) -> Tensor:
    """Infer the type of the operand of numbers."""
    require_number(data.element, _OPERAND)
    return data


@rule(*(f"relay.{name}" for name in ("exp", "log", "log2", "log10", "sqrt", "rsqrt", "sigmoid")))
@rule(*(f"relay.{name}" for name in ("erf", "sin", "cos", "tan", "asin", "acos", "atan")))
@rule(*(f"relay.{name}" for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")))
def of_float(data: Tensor) -> Tensor:
    """Infer the type of the operand of floats."""
    require_float(data.element, _OPERAND)
    return data


@rule("relay.logical_not")
def of_bool(data: Tensor) -> Tensor:
    """Infer the type of the operand of i1."""
    require_bool(data.element, _OPERAND)
    return data


@rule("relay.clip")
def clip(data: Tensor, *, a_min: float, a_max: float) -> Tensor:
    """Infer the type of the operand of numbers."""
    return of_number(data)


@rule("relay.nn.leaky_relu")
def leaky_relu(data: Tensor, *, alpha: float) -> Tensor:
    """Infer the type of the operand of floats."""
    return of_float(data)


@rule("relay.nn.gelu")
def gelu(data: Tensor, *, approximate: Literal["none", "tanh"]) -> Tensor:
    """Infer the type of the operand of floats."""
    return of_float(data)


@rule("relay.isnan", "relay.isfinite", "relay.isinf")
def classification(data: Tensor) -> Tensor:
    """Infer i1 elements in the shape of the float operand."""
    require_float(data.element, _OPERAND)
    return Tensor(BOOL, data.dims)


@rule("relay.cast")
def cast(data: Tensor, *, dtype: Element) -> Tensor:
    """Infer elements of `dtype` in the operand's shape."""
    return Tensor(dtype, data.dims)


@rule("relay.full")
def full(fill_value: Tensor, *, shape: Annotated[Ints, AtLeast(0)]) -> Tensor:
    """Infer `shape` with the element type of the scalar `fill_value`."""
    require_rank(fill_value, 0, "fill_value")
    return ranked(fill_value.element, shape)
