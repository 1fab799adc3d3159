"""
The bytes that are live in a body, on each device and at sample values of dynamic sizes.

    rows = rows_of(storages_in(classes), sizes)      bytes of each storage, in each row
    peaks_of(classes, rows)                         the most bytes that are live at once, by row

A row is a device and, if sizes are dynamic, a sample of their symbols (`sizes.sample_sizes`). Bytes
are rounded up to alignments, as in an arena. Lifetimes are those of `pack-storage`, but bytes that
outlive the body count too.

    load = Load(length, spans)                      bytes at each position, of known sizes
    load.takes([(3, 7, 64), (5, 9, -64)])           changes them, unless the peak would rise
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...dialects import memory
from ...dialects.device import VirtualDeviceAttr, device_of
from ...planning import Arm, Buffer, Interval, Problem
from ...planning.offsets.bounds import lower_bound
from ...planning.offsets.core import core_of
from ..sizes.reader import Sizes
from ..sizes.sample_sizes import samples_of
from .aliases import AliasClasses
from .packs import arms_of
from .rooms import size_of
from .storages import storages_of

MAX_SUM = 2**62
"""Orders are not compared at samples with a sum of sizes from this on."""

Row = list[int]
"""For each device and sample, a number of bytes."""


@dataclass(eq=False)
class Rows:
    """The bytes of each storage of a body, on each device and at each sample."""

    devices: list[VirtualDeviceAttr | None]
    samples: int
    of: Mapping[memory.AllocStorageOp, Row]

    @property
    def count(self) -> int:
        return len(self.devices) * self.samples


def rounded(size: int, op: memory.AllocStorageOp) -> int:
    """Return `size`, and what alignment adds to it in an arena."""
    alignment = op.alignment.value.data
    return -(-size // alignment) * alignment


def rows_of(storages: Sequence[memory.AllocStorageOp], sizes: Sizes) -> Rows:
    """Return the sizes of `storages` at sample values of their symbols."""
    samples = samples_of([size_of(op, sizes) for op in storages], MAX_SUM)
    devices = list(dict.fromkeys(device_of(op.storage.type) for op in storages))
    rows: dict[memory.AllocStorageOp, Row] = {}
    for k, op in enumerate(storages):
        row = rows[op] = [0] * (len(devices) * len(samples))
        first = devices.index(device_of(op.storage.type)) * len(samples)
        for i, sample in enumerate(samples, first):
            row[i] = rounded(sample.sizes[k], op)
    return Rows(devices, len(samples), rows)


def storages_in(classes: AliasClasses) -> list[memory.AllocStorageOp]:
    """Return the storages that a body allocates for what is written in it."""
    return [storage.op for storage in storages_of(classes, outliving=True).storages]


def peaks_of(classes: AliasClasses, rows: Rows) -> Row:
    """Return the most bytes that are live at once, on each device and at each sample."""
    storages = storages_of(classes, outliving=True).storages
    arms = [tuple(Arm(str(b), str(a)) for b, a in named) for named in arms_of(storages)]
    peaks: Row = []
    for row in range(rows.count):
        buffers = tuple(
            Buffer(str(i), Interval(*storage.lifetime), rows.of[storage.op][row], 1, arms=arms[i])
            for i, storage in enumerate(storages)
            if rows.of[storage.op][row]
        )
        peaks.append(lower_bound(core_of(Problem(buffers))))
    return peaks


Span: TypeAlias = tuple[int, int, int | None]
"""The first position, the one after the last, and the bytes; None if these are not known."""


class Load:
    """The bytes that are live at each position of a body."""

    def __init__(self, length: int, spans: Iterable[Span]) -> None:
        self._is_known = True
        change = np.zeros(length + 1, np.int64)
        for start, stop, size in spans:
            if size is None:
                self._is_known = False
            elif start < stop:
                change[start] += size
                change[stop] -= size
        self._bytes = change.cumsum()

    def add(self, spans: Iterable[Span]) -> None:
        """Add bytes at the positions of `spans`, or take them away."""
        for start, stop, size in spans:
            self._bytes[start : max(start, stop)] += size or 0

    def is_low(self, start: int, stop: int, share: float) -> bool:
        """Test whether at most this part of the peak is live there; False if not known."""
        return self._is_known and self._bytes[start:stop].max() <= share * self._bytes.max()

    def takes(self, spans: Sequence[Span]) -> bool:
        """Add `spans` if the peak does not rise; return whether it is so, False if not known."""
        if not self._is_known or any(size is None for *_, size in spans):
            return False
        peak = self._bytes.max()
        self.add(spans)
        if self._bytes.max() <= peak:
            return True
        self.add([(start, stop, -(size or 0)) for start, stop, size in spans])
        return False
