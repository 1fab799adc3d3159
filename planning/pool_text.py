"""
Pools as options spell them: name, capacity, cost of a byte, and alignment.

    dtcm=64KiB:1,sram=512KiB:3:32,psram=:10

A pool without a capacity is unbounded; its cost and its alignment are 1 unless they are given. A
capacity is in bytes, in K, M, G (of 1,000) or in KiB, MiB, GiB (of 1,024).
"""

import re
from collections.abc import Sequence

from .buffers import Pool

_POOL = re.compile(
    r"(?P<name>[^=,\s\"]+)"
    r"(=(?P<number>[0-9]*)(?P<unit>[KMG]i?B?)?(:(?P<cost>[0-9]+)(:(?P<alignment>[0-9]+))?)?)?",
    re.ASCII,
)

_UNITS = {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("KMG", 1)
    for suffix, base in (("", 1000), ("B", 1000), ("iB", 1024))
}


def parse_pool(text: str) -> Pool:
    """Return the pool that `text` spells; raise ValueError if it has another form."""
    found = _POOL.fullmatch(text.strip())
    if found is None or (found["unit"] and (not found["number"] or found["unit"] not in _UNITS)):
        raise ValueError(
            f"a pool must be NAME=[CAPACITY][:COST[:ALIGNMENT]], such as sram=512KiB:3, but is "
            f"'{text}'"
        )
    number = found["number"]
    capacity = int(number) * _UNITS.get(found["unit"], 1) if number else None
    return Pool(found["name"], capacity, int(found["cost"] or 1), int(found["alignment"] or 1))


def parse_pools(text: str) -> Sequence[Pool]:
    """Return the pools in a list that is separated by commas."""
    return [parse_pool(part) for part in text.split(",")] if text.strip() else []
