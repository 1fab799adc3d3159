"""
A profile as text and as data.

    profile of 1 call of main: 1.21 ms
      part                          time  share
      kernels                    0.80 ms  66.1%
      ...
      operator         device  calls     time  share    mean     bytes   GB/s
      relay.nn.dense   cpu:0       2  0.61 ms  50.4%  305 us   1.2 MiB    4.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import Location
from ..plain_text import human, table
from .call_times import Times, Total

SHOWN = 20
"""Number of rows of a table; the remainder is summed in one."""


def duration(nanoseconds: float) -> str:
    """Return a time in the unit that suits it: `12.3 us`, `4.56 ms`, `1.2 s`."""
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 999.5 * scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds / 1e9:,.4g} s"


def share(part: int, total: int) -> str:
    return f"{100 * part / total:.1f}%" if total else "0.0%"


def place(location: Location | None) -> str:
    return str(location or "unknown")


def parts(times: Times) -> Mapping[str, int]:
    """Return the parts of the total time, by name; their sum is the total."""
    return {
        "kernels": times.kernels,
        "copies between devices": times.copies,
        "sizes and checks": times.sizes,
        "recording of paths": times.recording,
        "binding of kernels": times.binding,
        "arguments and results": times.transfer,
        "machine": times.machine,
    }


def text_lines(times: Times, devices: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the tables, the longest times first."""
    total = times.total
    calls = sum(times.calls.values())
    names = ", ".join(times.calls)
    yield f"profile of {calls} call{'s' * (calls != 1)} of {names or 'nothing'}: {duration(total)}"
    if len(devices) > 1:
        yield f"  {', '.join(devices[1:])}: simulated, so times are those of the simulation"
    rows = [["part", "time", "share"]]
    rows += ([name, duration(part), share(part, total)] for name, part in parts(times).items())
    yield from _section(rows, "<>>")
    operators = [
        ([name, devices[device]], total) for (name, device), total in times.by_operator().items()
    ]
    yield from _section(_rows(["operator", "device"], operators, total), "<<>>>>>>")
    places = [([place(at), name], total) for (at, name), total in times.by_place().items()]
    yield from _section(_rows(["source line", "operator"], places, total), "<<>>>>>>")
    routes = [
        ([devices[source], devices[target]], total)
        for (source, target), total in times.by_route().items()
    ]
    if routes:
        yield from _section(_rows(["copies from", "to"], routes, total), "<<>>>>>>")
    if times.allocations:
        rows = [["allocations on", "storages", "bytes", "live at the peak"]]
        for device, allocated in sorted(times.allocations.items()):
            peak = human(times.peak.get(device, 0))
            rows.append([devices[device], f"{allocated.count:,}", human(allocated.size), peak])
        yield from _section(rows, "<>>>")


def _section(rows: Sequence[Sequence[str]], align: str) -> Iterator[str]:
    yield ""
    yield from table(rows, align, "  ")


def _rows(
    head: Sequence[str], entries: Sequence[tuple[list[str], Total]], total: int
) -> list[list[str]]:
    """Return the rows of a table; those after the first `SHOWN` are added up in one."""
    rows = [[*head, "calls", "time", "share", "mean", "bytes", "GB/s"]]
    shown = list(entries[:SHOWN])
    remainder = Total()
    for _, other in entries[SHOWN:]:
        remainder.add(other)
    if remainder.count:
        shown.append(([f"{len(entries) - SHOWN} others", ""], remainder))
    for names, sum in shown:
        rate = f"{sum.size / sum.time:.1f}" if sum.size and sum.time else ""
        rows.append(
            [
                *names,
                f"{sum.count:,}",
                duration(sum.time),
                share(sum.time, total),
                duration(sum.time / sum.count),
                human(sum.size) if sum.size else "",
                rate,
            ]
        )
    return rows


def json_of(times: Times, devices: Sequence[str]) -> dict[str, Any]:
    """Return the tables as data: times in nanoseconds, sizes in bytes."""
    return {
        "simulated": list(devices[1:]),
        "calls": times.calls,
        "total": times.total,
        "parts": parts(times),
        "operators": [
            {"operator": name, "device": devices[device], **_data(total)}
            for (name, device), total in times.by_operator().items()
        ],
        "places": [
            {"place": None if at is None else list(at), "operator": name, **_data(total)}
            for (at, name), total in times.by_place().items()
        ],
        "copies": [
            {"from": devices[source], "to": devices[target], **_data(total)}
            for (source, target), total in times.by_route().items()
        ],
        "allocations": [
            {
                "device": devices[device],
                "storages": total.count,
                "bytes": total.size,
                "peak": times.peak.get(device, 0),
            }
            for device, total in sorted(times.allocations.items())
        ],
    }


def _data(total: Total) -> dict[str, int]:
    return {"calls": total.count, "time": total.time, "bytes": total.size}
