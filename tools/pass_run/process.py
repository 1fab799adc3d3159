"""
Settings of the Python process for one run, restored afterwards.

The parser, the verifier of nested attributes and cloning recurse: 20,000 frames allow
about 1,500 nested regions. `--disable-verify` and `--syntax-highlight` set attributes of xDSL
classes, and methods of xDSL that are quadratic for nested regions are replaced.
"""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from inspect import getattr_static

from xdsl.ir import Attribute
from xdsl.utils.diagnostic import Diagnostic

from ...dialects.xdsl_extras.xdsl_internals import REPLACED
from ..commands import collected_rarely

RECURSION_LIMIT = 20_000

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
    with _LOCK, collected_rarely():
        yield from _changed()


def _changed() -> Generator[None]:
    recursion = sys.getrecursionlimit()
    before = [(cls, name, getattr_static(cls, name)) for cls, name in CHANGED]
    sys.setrecursionlimit(max(recursion, RECURSION_LIMIT))
    for cls, name, linear in REPLACED:
        setattr(cls, name, linear)
    try:
        yield
    finally:
        sys.setrecursionlimit(recursion)
        for cls, name, value in before:
            setattr(cls, name, value)
