"""
Numbers, strings and small constants in Relay text.

A float is the shortest text that reads back to the same value (TVM prints 6 digits).
"""

from __future__ import annotations

import math
import struct

from ....dialects.dense import Dense, scalar_value
from ....dialects.tensors import as_tensor, dtype_name
from ....operators.element_types import NUMBER_TYPES

_FLOATS = {name: row for name, row in NUMBER_TYPES.items() if row.precision}


def _digits(precision: int) -> range:
    """The numbers of digits of shortest texts: some value needs each of them, and none more."""
    return range(int((precision - 1) * math.log10(2)), math.ceil(1 + precision * math.log10(2)) + 1)


def _rounded(value: float, dtype: str) -> float:
    code = f"<{_FLOATS[dtype].struct}"
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.inf


def float_text(value: float, dtype: str = "float32") -> str | None:
    """Return a float literal of `dtype`: `1f`, `1e-05f`, `0.1f64`; None if there is none (NaN)."""
    suffix = "f" if dtype == "float32" else f"f{dtype[5:]}"
    if math.isinf(value) and dtype == "float32":
        return "inff" if value > 0 else "-inff"
    if not math.isfinite(value):
        return None
    for digits in _digits(_FLOATS[dtype].precision):
        text = f"{value:.{digits}g}"
        if _rounded(float(text), dtype) == value:
            return text + suffix
    return None


def attribute_float(value: float) -> str | None:
    """Return a float attribute: as float32 where that is exact, else as float64."""
    is_single = math.isinf(value) or _rounded(value, "float32") == value
    return float_text(value, "float32" if is_single else "float64")


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def string_text(value: str) -> str:
    """Return a string literal, escaped byte by byte as TVM does."""
    if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    parts: list[str] = []
    for char in value:
        if char in _ESCAPES:
            parts.append(_ESCAPES[char])
        elif char.isascii() and char.isprintable():
            parts.append(char)
        else:
            parts += [f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass")]
    return f'"{"".join(parts)}"'


def literal(value: Dense) -> str | None:
    """Return a constant of rank 0 as a literal; None when it must be in the metadata."""
    type = as_tensor(value.type)
    if type is None or type.get_num_dims():
        return None
    dtype, number = dtype_name(type.element_type), scalar_value(value)
    if number is None or dtype is None:
        return None
    if dtype == "bool":
        return str(number)
    if dtype in ("int16", "int32", "int64"):
        return f"{number}{'' if dtype == 'int32' else NUMBER_TYPES[dtype].mlir}"
    return float_text(number, dtype) if dtype in _FLOATS else None
