"""What `xrelay-run` prints of outputs and counters."""

from collections.abc import Iterator

import numpy as np

from ..runtime.counters import Counters
from ..runtime.program import Program, spec_of
from .run_files import Array

SHOWN = 6
"""How many elements of an output are printed."""


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value).lower()


def output_lines(name: str, array: Array) -> Iterator[str]:
    """Name, element type, shape, the first elements, and what sums the elements up."""
    yield f"{name}: {spec_of(array)}"
    if not array.size:
        return
    first = [_number(value) for value in array.reshape(-1)[:SHOWN].tolist()]
    more = ", …" if array.size > SHOWN else ""
    yield f"  [{', '.join(first)}{more}]"
    with np.errstate(all="ignore"):
        figures = array.min().item(), array.max().item(), float(array.mean(dtype=np.float64))
    shown = [
        f"{what} {_number(v)}" for what, v in zip(("min", "max", "mean"), figures, strict=True)
    ]
    yield f"  {', '.join(shown)}"


def stats_lines(program: Program, counters: Counters) -> Iterator[str]:
    """Instructions by opcode, then memory of each device and copies between them."""
    counts = counters.instructions
    yield f"instructions: {counts.total()}"
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {name}: {count}"
    for device, name in enumerate(program.devices):
        if not counters.allocations[device] and device:
            continue
        yield (
            f"memory of {name}: {counters.allocations[device]} allocations, "
            f"{counters.allocated[device]} bytes, {counters.peak.get(device, 0)} bytes at the peak"
        )
    total = counters.copies.total()
    yield f"copies between devices: {total}"
    for (source, target), count in sorted(counters.copies.items()):
        names = f"{program.devices[source]} to {program.devices[target]}"
        yield f"  {names}: {count}, {counters.copied[source, target]} bytes"
