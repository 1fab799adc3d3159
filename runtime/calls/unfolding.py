"""
The sizes of data as trees: data that share parts are counted before they are copied or listed.

    a = (x, x), b = (a, a), c = (b, b)     4 objects that unfold to 15 items
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from ..errors import MachineError
from ..memory.limits import Owner

ITEM = 256
"""The approximate bytes of an item of data for callers: a tensor without its elements, a tuple."""
FEW = 1000
"""So many items are copied without being counted first."""
MOST = 1 << 62
"""Counts end here, so that data that is deep and shared is counted in linear time."""


def unfolded_size(root: object, fields_of: Callable[[Any], Sequence[object]]) -> int:
    """
    Return the number of items in `root` and below, each as often as it is reached, up to `MOST`.

    Takes time for each object once. Raises `MachineError` for data that contains itself.
    """
    sizes: dict[int, int] = {}  # 0 for those whose fields are being counted
    rest = [root]
    while rest:
        item = rest[-1]
        key = id(item)
        if sizes.get(key):
            rest.pop()
            continue
        fields = fields_of(item)
        if key in sizes or not fields:
            sizes[key] = min(1 + sum(sizes[id(field)] for field in fields), MOST)
            rest.pop()
            continue
        sizes[key] = 0
        for field in fields:
            size = sizes.get(id(field))
            if size is None:
                rest.append(field)
            elif not size:
                raise MachineError("data that contains itself is not a value")
    return sizes[id(root)]


def tuple_fields(value: object) -> Sequence[object]:
    """Return the fields of a tuple or list; nothing for anything else."""
    return cast("Sequence[object]", value) if isinstance(value, tuple | list) else ()


def charge(items: int, owner: Owner) -> None:
    """Charge `items` items of data to `owner`; raises `OutOfMemory`."""
    owner.reserve(items * ITEM, f"data of {items if items < MOST else f'over {MOST}'} items")
