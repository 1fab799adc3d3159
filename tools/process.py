"""
Settings of the Python process for one run, restored afterwards.

The parser, the verifier of nested attributes and cloning recurse: 20,000 frames allow
about 1,500 nested regions. By default the collector looks for cycles after every 700 new objects,
which takes a fifth to a half of the time of anything that makes ops. `--disable-verify` and
`--syntax-highlight` set attributes of xDSL classes, and methods of xDSL that are quadratic for
nested regions are replaced.
"""

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from inspect import getattr_static

from xdsl.ir import Attribute
from xdsl.utils.diagnostic import Diagnostic

from ..dialects.xdsl_internals import REPLACED

RECURSION_LIMIT = 20_000
GC_THRESHOLDS = (100_000, 50, 100)

CHANGED = (
    (Attribute, "__post_init__"),
    (Diagnostic, "colored"),
    *(changed[:2] for changed in REPLACED),
)
"""Attributes of xDSL classes that a run changes."""

_LOCK = threading.RLock()
"""Held while the settings are changed: runs in several threads take turns."""


@contextmanager
def settings() -> Generator[None]:
    """Change the settings in the `with` block, and restore them afterwards."""
    with _LOCK:
        yield from _changed()


def _changed() -> Generator[None]:
    recursion = sys.getrecursionlimit()
    thresholds = gc.get_threshold()
    before = [(cls, name, getattr_static(cls, name)) for cls, name in CHANGED]
    sys.setrecursionlimit(max(recursion, RECURSION_LIMIT))
    gc.set_threshold(*GC_THRESHOLDS)
    for cls, name, linear in REPLACED:
        setattr(cls, name, linear)
    try:
        yield
    finally:
        sys.setrecursionlimit(recursion)
        gc.set_threshold(*thresholds)
        for cls, name, value in before:
            setattr(cls, name, value)
