"""
Formulas of weights as data: operators applied to names of weights, formulas and constants.

    =relay.multiply(relay.cast('w', dtype='float32'), constant('float32', (1,), 'AACAPw=='))
"""

from __future__ import annotations

import ast
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite, isnan, prod
from typing import TypeAlias, cast

import numpy as np

from ...operators.records import record
from ...operators.signature import ELEMENTS, MAX_RANK
from ..errors import MachineError
from ..program.dtypes import element_type
from ..program.program import Array, AttrValue

MARK = "="
MAX_FORMULA = 4096
"""Limit on the characters of a formula."""


@record
class Applied:
    """An operator applied to operands."""

    op: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, AttrValue]


Operand: TypeAlias = "Applied | Array | str"
"""A formula, a constant, or the name of a weight."""


def malformed(formula: str, reason: str) -> MachineError:
    shown = formula if len(formula) <= 200 else formula[:200] + "…"
    return MachineError(f"the weight {shown} cannot be computed: {reason}")


def sources_of(operand: Operand) -> list[str]:
    """Return the names of the weights that a formula reads."""
    if isinstance(operand, Applied):
        return [name for one in operand.operands for name in sources_of(one)]
    return [operand] if isinstance(operand, str) else []


@lru_cache(1)  # a weight is looked up, and then computed
def parsed(formula: str) -> Operand:
    """Parse a formula; raises `MachineError`."""
    if not formula.startswith(MARK) or len(formula) > MAX_FORMULA:
        raise malformed(
            formula, f"a formula begins with '{MARK}' and has <= {MAX_FORMULA} characters"
        )
    try:
        return _operand(ast.parse(formula[len(MARK) :], mode="eval").body)
    except (SyntaxError, ValueError, TypeError, Base64Error, RecursionError, MemoryError) as error:
        raise malformed(formula, f"it is not a formula: {error}") from None


def _operand(node: ast.expr) -> Operand:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.Call):
        raise ValueError("an operand must be a name or a formula")
    op = ast.unparse(node.func)
    if op == "constant":
        return _constant(*map(ast.literal_eval, node.args))
    attributes = {str(k.arg): _attribute(ast.literal_eval(k.value)) for k in node.keywords}
    if len(attributes) < len(node.keywords):
        raise ValueError(f"an attribute of {op} is given twice")
    return Applied(op, tuple(map(_operand, node.args)), attributes)


def _attribute(value: object) -> AttrValue:
    if isinstance(value, int):
        _require_64_bits(value)
    if isinstance(value, int | float | str):
        return value
    return _integers(value)


def _require_64_bits(value: int) -> None:
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError("an integer does not fit into 64 bits")


def _integers(value: object) -> tuple[int, ...]:
    items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else ("",)
    if not all(type(item) is int for item in items):
        raise ValueError("an attribute must be a number, a string, or a tuple of integers")
    integers = cast("tuple[int, ...]", items)
    for value in integers:
        _require_64_bits(value)
    return integers


def _constant(dtype: object, shape: object, text: object) -> Array:
    if dtype not in ELEMENTS or not isinstance(text, str):
        raise ValueError("a constant is an element type, a shape, and bytes in base64")
    data, dims, kind = b64decode(text, validate=True), _integers(shape), element_type(str(dtype))
    if len(dims) > MAX_RANK or min(dims, default=0) < 0 or prod(dims) * kind.itemsize != len(data):
        raise ValueError(f"a constant of {len(data)} bytes does not have the shape {dims}")
    return np.frombuffer(data, kind).reshape(dims)


def formula_of(op: str, operands: Sequence[str | Array], attributes: Mapping[str, object]) -> str:
    """
    Return the name of operator `op` applied to weights, by their names or formulas, and constants.

    Raises `MachineError` for an attribute that is NaN.
    """
    args = [_text(operand) for operand in operands]
    named = [f"{name}={_value(value)}" for name, value in sorted(attributes.items())]
    return f"{MARK}{op}({', '.join([*args, *named])})"


def _value(value: object) -> str:
    if not isinstance(value, float) or isfinite(value):
        return repr(value)
    if isnan(value):
        raise MachineError("a formula cannot have the attribute NaN")
    return "1e999" if value > 0 else "-1e999"


def _text(operand: str | Array) -> str:
    if isinstance(operand, str):
        return operand[len(MARK) :] if operand.startswith(MARK) else repr(operand)
    data = b64encode(np.ascontiguousarray(operand).tobytes()).decode()
    return f"constant({operand.dtype.name!r}, {operand.shape!r}, {data!r})"
