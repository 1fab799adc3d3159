"""
The times of calls: `xrelay-run --benchmark N`.

    benchmark of main: 100 calls after 10 to warm up
      compile     412 ms
      first call  1.92 ms, which prepares memory and kernels for these shapes
      one call    min 121 us, median 124 us, spread 3.1 us between quartiles, 95 % within 139 us
      per second  7,936 calls
      copied      602,112 B of arguments in and 4,000 B of results out, in the time of each call
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from ...runtime.calls.values import leaves
from ...runtime.observe.profile_report import duration as time_text
from ...runtime.program.program import Array
from ..progress import Progress

MAX_WARM_UP = 10
"""Number of calls, at most, that are not timed; a tenth of the timed ones, and at least one."""

REFRESH = 200_000_000
"""Nanoseconds between updates of the progress."""


@dataclass(frozen=True)
class CallTimes:
    """Durations of calls in nanoseconds, at least one, and the calls before that were not timed."""

    durations: Sequence[int]
    warm_up: int

    def quantile(self, share: float) -> int:
        """Return the duration that `share` of the calls do not exceed."""
        ordered = sorted(self.durations)
        return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]

    @property
    def mean(self) -> float:
        return sum(self.durations) / len(self.durations)


def time_calls(call: Callable[[], object], count: int, progress: Progress) -> CallTimes:
    """Time `count` calls, after some to warm up."""
    warm_up = max(1, min(MAX_WARM_UP, count // 10))
    for _ in range(warm_up):
        call()
    durations: list[int] = []
    shown = 0
    for number in range(count):
        start = perf_counter_ns()
        call()
        end = perf_counter_ns()
        durations.append(end - start)
        if end - shown > REFRESH:
            progress.show(f"call {number + 1} of {count}")
            shown = end
    progress.clear()
    return CallTimes(durations, warm_up)


@dataclass(frozen=True)
class Benchmark:
    """The figures of a benchmark: durations in nanoseconds, copied bytes for each call."""

    function: str
    steps: Sequence[tuple[str, float, str]]
    """The name, the duration, and a remark about each step before the calls."""
    calls: CallTimes
    arguments: int
    results: int

    def lines(self) -> Iterator[str]:
        """Yield the report."""
        calls, count = self.calls, len(self.calls.durations)
        timed = f"{count} call{'s' * (count > 1)} after {calls.warm_up} to warm up"
        yield f"benchmark of {self.function}: {timed}"
        for name, duration, remark in self.steps:
            yield f"  {name:<12}{time_text(duration)}{remark and ', '}{remark}"
        least, median, most = (time_text(calls.quantile(share)) for share in (0.0, 0.5, 0.95))
        spread = calls.quantile(0.75) - calls.quantile(0.25)
        yield (
            f"  {'one call':<12}min {least}, median {median}, spread {time_text(spread)} between "
            f"quartiles, 95 % within {most}"
        )
        rate = 1e9 / calls.mean
        yield f"  {'per second':<12}{rate:{',.0f' if rate >= 100 else '.3g'}} calls"
        yield (
            f"  {'copied':<12}{self.arguments:,} B of arguments in and {self.results:,} B of "
            "results out, in the time of each call"
        )


def benchmark(
    call: Callable[..., Any],
    function: str,
    inputs: Sequence[Array],
    count: int,
    prepared: tuple[str, float],
) -> Benchmark:
    """
    Time `count` calls of `function`, whose program was not called before, by its name and inputs.

    `prepared` are the name and the duration of what came before it, in nanoseconds.
    """
    progress = Progress()
    with progress.during(f"calling {function}"):
        start = perf_counter_ns()
        result = call(function, *inputs)
        first = perf_counter_ns() - start
        calls = time_calls(lambda: call(function, *inputs), count, progress)
    remark = "which prepares memory and kernels for these shapes"
    return Benchmark(
        function,
        ((*prepared, ""), ("first call", first, remark)),
        calls,
        sum(array.nbytes for array in inputs),
        sum(array.nbytes for array in leaves(result)),
    )
