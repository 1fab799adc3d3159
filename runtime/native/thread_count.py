"""
The number of threads that machine code uses, if nobody says: XRELAY_NUM_THREADS, or all processors.

    default_threads()        2, on a machine of 64 in a container that may use two
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import MachineError

MOST = 64
"""The maximum number of threads; XRELAY_MAX_THREADS of threads.c."""

VARIABLE = "XRELAY_NUM_THREADS"

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The time (us) that the processes of a container may use in a period (us), or `max`."""
OLD_QUOTA = (
    Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
    Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)


def number_in(variable: str, most: int) -> int | None:
    """
    Return the number from 1 to `most` in a variable of the environment, None if it is not set.

    Raises `MachineError` for anything else. C programs read it by `variable.c`.
    """
    text = os.environ.get(variable)
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most:
        return int(text)
    raise MachineError(f"{variable} must be a number from 1 to {most}, but is {text!r}")


def default_threads() -> int:
    """Return what the variable says, or the processors that this process may use."""
    wanted = number_in(VARIABLE, MOST)
    if wanted is not None:
        return wanted
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(processors, _quota(), MOST))


def _quota() -> int:
    """Return the processors that the control group may use; `MOST` without a limit."""
    try:
        texts = QUOTA.read_text().split() if QUOTA.exists() else [p.read_text() for p in OLD_QUOTA]
        time, period = map(int, texts)
    except (OSError, ValueError):  # `max`, or no control groups
        return MOST
    return -(-time // period) if time > 0 < period else MOST
