"""
The garbage collector of a process that compiles.

By default it looks for cycles after every 700 new objects, which takes a fifth to a half of the
time of anything that makes ops, and a tenth of that of the imports. A process that ends spends as
much on cycles among its modules, which die with it.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

THRESHOLDS = (1_000_000, 50, 100)


@contextmanager
def collected_rarely() -> Generator[None]:
    """Let the collector run rarely in the `with` block."""
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def end() -> None:
    """Leave everything to the end of the process, which is near."""
    gc.freeze()
