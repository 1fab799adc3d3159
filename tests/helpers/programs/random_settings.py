"""
How much of what tests draw or sample is run: the only place that says it.

The numbers and lists in the tests are those of `XRELAY_ROUNDS=4 pytest …`. By default, with
`XRELAY_ROUNDS=1`, an eighth of them is run, the same in each run.
`XRELAY_RANDOM_PROGRAMS=5000 pytest …` draws so many random inputs anew in place of these, and takes
the time to make a failure as small as it can.
"""

import os
from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import engine, providers

OTHER = int(os.environ.get("XRELAY_RANDOM_PROGRAMS", "0"))
"""The number of examples to draw anew; 0 for the same ones in each run."""
ROUNDS = int(os.environ.get("XRELAY_ROUNDS", "4" if OTHER else "1"))
"""The share of the rounds that tests name, in eighths below 4, which is all of them."""

FIRST_SEED = Random().randrange(1 << 30) if OTHER else 0
"""The first of seeds that are not drawn."""

SHRINKING = 300 if OTHER else 20
"""The seconds for which a failure is made smaller before it is shown."""

T = TypeVar("T")

setattr(engine, "MAX_SHRINKING_SECONDS", SHRINKING)

# hypothesis draws some numbers from the literals of all modules that are loaded: to find them takes
# a second in each worker, and what a test draws would change with other tests and any source
setattr(providers, "_get_local_constants", lambda: getattr(providers, "_local_constants"))


def rounds(count: int, of: int = 8) -> int:
    """The part of `count` rounds that this run takes, one in `of` by default, at least one."""
    return max(1, count * ROUNDS // (of if ROUNDS < 4 else 4))


def share(cases: Sequence[T], of: int = 8) -> list[T]:
    """One of each `of` cases, evenly spread, times `XRELAY_ROUNDS`; all with `XRELAY_ROUNDS=4`."""
    return [case for index, case in enumerate(cases) if ROUNDS >= 4 or index % of < ROUNDS]


def exactly(examples: int, of: int = 8, **options: Any) -> Any:
    """Use the `rounds` of `examples`, the same in each run, or `XRELAY_RANDOM_PROGRAMS` others."""
    return settings(
        max_examples=OTHER or rounds(examples, of),
        deadline=None,
        derandomize=not OTHER,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
        ],
        **options,
    )
