"""
Cache the list of installed packages, which takes milliseconds per run of a tool; check all plans.

The cache must be set before anything imports the function. Its key contains `sys.path`, so that
tests that install a plug-in find it. Plans are checked by `checked_plans`.
"""

import gc
import importlib.metadata
import sys
from functools import cache
from typing import Any

_entry_points = importlib.metadata.entry_points


@cache
def _listed(path: tuple[str, ...], params: tuple[tuple[str, str], ...]) -> Any:
    return _entry_points(**dict(params))


def entry_points(**params: str) -> Any:
    return _listed(tuple(sys.path), tuple(params.items()))


importlib.metadata.entry_points = entry_points

gc.set_threshold(50_000, 20, 50)  # thousands of tests are alive: a tenth of the time is collections


def pytest_collection_finish() -> None:
    """Let no garbage collection visit the tests and the modules again."""
    gc.collect()
    gc.freeze()


from checked_plans import install  # noqa: E402

install()
