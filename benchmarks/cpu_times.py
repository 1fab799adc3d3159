"""Measure the CPU time of calls: `from cpu_times import …`."""

from collections.abc import Callable, Sequence
from time import process_time

Call = Callable[[], object]


def least(calls: Sequence[Call], rounds: int) -> list[float]:
    """Return the least CPU time in ms of each of `calls`, made in turns."""
    best = [float("inf")] * len(calls)
    for turn in range(rounds + 1):
        for i, call in enumerate(calls):
            start = process_time()
            call()
            if turn:  # the first one prepares
                best[i] = min(best[i], 1000 * (process_time() - start))
    return best


def seconds_per_call(call: Call, at_least: float) -> float:
    """Return the CPU seconds of a call, as the mean of as many as take `at_least` seconds."""
    start, calls, spent = process_time(), 0, 0.0
    while spent < at_least:
        call()
        calls += 1
        spent = process_time() - start
    return spent / calls
