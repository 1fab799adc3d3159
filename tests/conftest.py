"""Collect garbage rarely; check all plans, by `checked_plans`."""

import gc

from checked_plans import install

gc.set_threshold(50_000, 20, 50)  # thousands of tests are alive: a tenth of the time is collections


def pytest_collection_finish() -> None:
    """Let no garbage collection visit the tests and the modules again."""
    gc.collect()
    gc.freeze()


install()
