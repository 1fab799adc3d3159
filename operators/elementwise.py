"""Signatures of elementwise operators on one tensor."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .attributes import element_of, float_of, ints_from, word_of
from .operands import require_bool, require_float, require_number, require_rank
from .signature import BOOL, Call, Element, Signature, Tensor, ranked

ElementCheck: TypeAlias = Callable[[Element, str], None]
"""A check of an element type, such as `require_float`."""


def same_as_operand(call: Call) -> Sequence[Tensor]:
    """Infer the type of the one operand."""
    return call.tensors(1)


def same_as_operand_of(check: ElementCheck, *floats: str) -> Signature:
    """Return the signature: one operand of such elements, float attributes `floats`; same type."""

    def signature(call: Call) -> Sequence[Tensor]:
        (data,) = call.tensors(1)
        check(data.element, f"the operand of {call.name}")
        for name in floats:
            float_of(call, name)
        return (data,)

    return signature


def classification(call: Call) -> Sequence[Tensor]:
    """Infer i1 elements in the shape of the float operand."""
    (data,) = call.tensors(1)
    require_float(data.element, f"the operand of {call.name}")
    return (Tensor(BOOL, data.dims),)


def gelu(call: Call) -> Sequence[Tensor]:
    """Infer the type of the float operand."""
    word_of(call, "approximate", ("none", "tanh"))
    return same_as_operand_of(require_float)(call)


def cast(call: Call) -> Sequence[Tensor]:
    """Infer elements of `dtype` in the operand's shape."""
    (data,) = call.tensors(1)
    return (Tensor(element_of(call, "dtype"), data.dims),)


def full(call: Call) -> Sequence[Tensor]:
    """Infer `shape` with the element type of the scalar `fill_value`."""
    (value,) = call.tensors(1)
    require_rank(value, 0, "fill_value")
    return (ranked(value.element, ints_from(call, "shape", 0)),)


_NUMBERS = ("abs", "negative", "sign", "ceil", "floor", "round", "trunc", "nn.relu")
_FLOATS = (
    *("exp", "log", "log2", "log10", "sqrt", "rsqrt", "sigmoid", "erf"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)

SIGNATURES: dict[str, Signature] = {
    **dict.fromkeys((f"relay.{name}" for name in _NUMBERS), same_as_operand_of(require_number)),
    **dict.fromkeys((f"relay.{name}" for name in _FLOATS), same_as_operand_of(require_float)),
    "relay.clip": same_as_operand_of(require_number, "a_min", "a_max"),
    "relay.nn.leaky_relu": same_as_operand_of(require_float, "alpha"),
    "relay.nn.gelu": gelu,
    "relay.isnan": classification,
    "relay.isfinite": classification,
    "relay.isinf": classification,
    "relay.copy": same_as_operand,
    "relay.logical_not": same_as_operand_of(require_bool),
    "relay.cast": cast,
    "relay.full": full,
}
