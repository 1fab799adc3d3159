"""Rules of elementwise operators on one tensor."""

from collections.abc import Callable
from typing import Annotated, Literal, TypeAlias

from .operands import require_bool, require_float, require_number, require_rank
from .rules import AtLeast, Ints, Work, rule
from .signature import BOOL, Element, Tensor, ranked

ElementCheck: TypeAlias = Callable[[Element, str], None]
"""A check of an element type, such as `require_float`."""

_OPERAND = "the operand of {op}"


@rule("relay.copy", work=Work.LINEAR)
def same_as_operand(data: Tensor) -> Tensor:
    """Infer the type of the operand."""
    return data


@rule(
    *(f"relay.{name}" for name in ("abs", "negative", "sign", "ceil", "floor", "round", "trunc")),
    work=Work.LINEAR,
)
@rule("relay.nn.relu", work=Work.LINEAR)
def of_number(data: Tensor) -> Tensor:
    """Infer the type of the operand of numbers."""
    require_number(data.element, _OPERAND)
    return data


@rule(
    *(f"relay.{name}" for name in ("exp", "log", "log2", "log10", "sqrt", "rsqrt", "sigmoid")),
    work=Work.LINEAR,
)
@rule(
    *(f"relay.{name}" for name in ("erf", "sin", "cos", "tan", "asin", "acos", "atan")),
    work=Work.LINEAR,
)
@rule(
    *(f"relay.{name}" for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")),
    work=Work.LINEAR,
)
def of_float(data: Tensor) -> Tensor:
    """Infer the type of the operand of floats."""
    require_float(data.element, _OPERAND)
    return data


@rule("relay.logical_not", work=Work.LINEAR)
def of_bool(data: Tensor) -> Tensor:
    """Infer the type of the operand of i1."""
    require_bool(data.element, _OPERAND)
    return data


@rule("relay.clip", work=Work.LINEAR)
def clip(data: Tensor, *, a_min: float, a_max: float) -> Tensor:
    """Infer the type of the operand of numbers."""
    return of_number(data)


@rule("relay.nn.leaky_relu", work=Work.LINEAR)
def leaky_relu(data: Tensor, *, alpha: float) -> Tensor:
    """Infer the type of the operand of floats."""
    return of_float(data)


@rule("relay.nn.gelu", work=Work.LINEAR)
def gelu(data: Tensor, *, approximate: Literal["none", "tanh"]) -> Tensor:
    """Infer the type of the operand of floats."""
    return of_float(data)


@rule("relay.isnan", "relay.isfinite", "relay.isinf", work=Work.LINEAR)
def classification(data: Tensor) -> Tensor:
    """Infer i1 elements in the shape of the float operand."""
    require_float(data.element, _OPERAND)
    return Tensor(BOOL, data.dims)


@rule("relay.cast", work=Work.LINEAR)
def cast(data: Tensor, *, dtype: Element) -> Tensor:
    """Infer elements of `dtype` in the operand's shape."""
    return Tensor(dtype, data.dims)


@rule("relay.full", work=Work.LINEAR)
def full(fill_value: Tensor, *, shape: Annotated[Ints, AtLeast(0)]) -> Tensor:
    """Infer `shape` with the element type of the scalar `fill_value`."""
    require_rank(fill_value, 0, "fill_value")
    return ranked(fill_value.element, shape)
