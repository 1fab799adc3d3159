"""
Bounds of dims as attributes: `[1, 2048]`, or `[1]` without an upper one.

    {n = [1, 2048], m = [1]}    <->    {"n": Bounds(1, 2048), "m": Bounds(1, None)}
"""

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i64
from xdsl.ir import Attribute

from ..operators.named_dims import Bounds


def bounds_in(entry: Attribute) -> Bounds | None:
    """Return the bounds that `entry` is, an array of one or two integers."""
    if not isinstance(entry, ArrayAttr):
        return None
    entries = cast("ArrayAttr[Attribute]", entry).data
    numbers = [number.value.data for number in entries if isinstance(number, IntegerAttr)]
    if len(numbers) != len(entries) or len(numbers) not in (1, 2):
        return None
    return Bounds(numbers[0], numbers[1] if len(numbers) == 2 else None)


def bounds_attr(bounds: Mapping[str, Bounds]) -> DictionaryAttr:
    """Return the attribute that states `bounds`."""
    return DictionaryAttr(
        {
            name: ArrayAttr([IntegerAttr(number, i64) for number in limits if number is not None])
            for name, limits in bounds.items()
        }
    )


def bounds_by_name(entries: DictionaryAttr | None) -> dict[str, Bounds]:
    """Return the bounds in `entries`; what is not bounds is omitted."""
    if entries is None:
        return {}
    by_name = {name: bounds_in(entry) for name, entry in entries.data.items()}
    return {name: bounds for name, bounds in by_name.items() if bounds is not None}
