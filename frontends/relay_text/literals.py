"""
Numbers, strings and small constants of Relay text, as they are read and printed.

The suffix of a number decides whether it is a float, and its width. A float is printed as the
shortest text that reads back to the same value (TVM prints 6 digits).
"""

from __future__ import annotations

import math
import re
import struct

from ...dialects.dense import Dense, scalar_value
from ...dialects.tensors import as_tensor, dtype_name
from ...operators.element_types import NUMBER_TYPES

_NUMBER = re.compile(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)(?:([fi])([0-9]*))?\Z", re.ASCII)
_WIDTHS = {"f": (16, 32, 64), "i": (16, 32, 64)}
_MAX_FLOAT16 = 65504.0
MAX_DIGITS = 4000
"""Maximum length of a literal: converting an integer takes time quadratic in its digits."""


class LiteralError(Exception):
    """A number is malformed or does not fit its type."""


def number(text: str, negative: bool = False, rounded: bool = True) -> tuple[int | float, str]:
    """
    Return the value of a literal, negated if `negative`, and its dtype.

    A float is `rounded` to its width, except as an attribute, where floats are doubles. A float16
    may not be above the greatest one, even if it would be rounded to that (TVM).

    Without suffix it is an int32, or an int64 if it does not fit; `f` is float32, while `f16` and
    so on state their width. A fraction or an exponent needs an `f`.
    """
    match = _NUMBER.match(text)
    if match is None or match[1].count(".") > 1 or len(text) > MAX_DIGITS:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise LiteralError(f"invalid number '{shown}'")
    digits, suffix, width = match[1], match[2], match[3]
    widths = _WIDTHS[suffix or "i"]
    if width and int(width) not in widths:
        raise LiteralError(
            f"a number with suffix '{suffix}' must have a width of {', '.join(map(str, widths))}, "
            f"but has {width}"
        )
    if suffix == "f":
        bits = int(width) if width else 32
        value, dtype = _float(float(digits), negative, bits, text)
        return (value if rounded else float(digits) * (-1 if negative else 1)), dtype
    if not digits.isdigit():
        raise LiteralError(f"a number with a point or an exponent must be a float; write {digits}f")
    integer = -int(digits) if negative else int(digits)
    if width:
        bits = int(width)
    else:
        bits = 32 if -(2**31) <= integer < 2**31 else 64
    if not -(2 ** (bits - 1)) <= integer < 2 ** (bits - 1):
        raise LiteralError(f"{integer} does not fit in an int{bits}")
    return integer, f"int{bits}"


def _float(value: float, negative: bool, bits: int, text: str) -> tuple[float, str]:
    value = math.inf if bits == 16 and value > _MAX_FLOAT16 else _rounded(value, f"float{bits}")
    if math.isinf(value):
        raise LiteralError(f"{text} does not fit in a float{bits}")
    return -value if negative else value, f"float{bits}"


_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|([0-7]{3})|(.))", re.DOTALL)


def unescaped(literal: str) -> str:
    """
    Return the text that a string literal, quotes included, denotes.

    TVM's printer escapes (`\\"`, `\\\\`, `\\n`, `\\xHH`, `\\ooo`) byte by byte in UTF-8; an unknown
    escape denotes its character. Bytes that are not valid UTF-8 become U+FFFD.
    """
    inner = literal[1:-1]
    if "\\" not in inner:
        return inner
    data = bytearray()
    at = 0
    for match in _ESCAPE.finditer(inner):
        data += inner[at : match.start()].encode("utf-8", "surrogatepass")
        at = match.end()
        if match[1] is not None:
            data.append(int(match[1], 16))
        elif match[2] is not None:
            data.append(int(match[2], 8) & 0xFF)
        else:
            data += _ESCAPED.get(match[3], match[3]).encode("utf-8", "surrogatepass")
    data += inner[at:].encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


# ------------------------------------------------------------------ printing

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


_SHORT = {_ESCAPED[letter]: f"\\{letter}" for letter in "ntr"} | {'"': '\\"', "\\": "\\\\"}


def string_text(value: str) -> str:
    """Return a string literal, escaped byte by byte as TVM does."""
    if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    parts: list[str] = []
    for char in value:
        if char in _SHORT:
            parts.append(_SHORT[char])
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
