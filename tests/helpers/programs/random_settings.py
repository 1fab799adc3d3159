"""
The number of rounds of what tests draw at random: the only place that says it.

By default few rounds, the same in each run; `XRELAY_RANDOM_PROGRAMS=5000 pytest …` draws so many.
"""

import os
from typing import Any

from hypothesis import HealthCheck, settings

OTHER = int(os.environ.get("XRELAY_RANDOM_PROGRAMS", "0"))
"""The number of examples to draw anew; 0 for the same ones in each run."""


def exactly(examples: int, **options: Any) -> Any:
    """Use the same examples in each run, or `XRELAY_RANDOM_PROGRAMS` others."""
    return settings(
        max_examples=OTHER or examples,
        deadline=None,
        derandomize=not OTHER,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
        ],
        **options,
    )
