"""Numbers of Relay text: the suffix decides whether one is a float, and its width."""

from __future__ import annotations

import re
import struct

from ....operators.element_types import NUMBER_TYPES

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
    code = f"<{NUMBER_TYPES[f'float{bits}'].struct}"
    try:
        if bits == 16 and value > _MAX_FLOAT16:
            raise OverflowError
        value = struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        raise LiteralError(f"{text} does not fit in a float{bits}") from None
    return -value if negative else value, f"float{bits}"
