"""
What a run changes in the Python process, and changes back.

The parser, the verifier of nested attributes and cloning recurse: 20,000 frames allow
about 1,500 nested regions. The collector looks for cycles after every 700 objects by
default, which is a fifth to a half of the time of anything that makes ops.
`--disable-verify` and `--syntax-highlight` set attributes of xDSL classes.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Attribute
from xdsl.utils.diagnostic import Diagnostic

RECURSION_LIMIT = 20_000
GC_THRESHOLDS = (100_000, 50, 100)


@contextmanager
def settings() -> Generator[None]:
    """Run with our limits, and leave the process as it was."""
    recursion = sys.getrecursionlimit()
    thresholds = gc.get_threshold()
    verify_attribute = Attribute.__post_init__
    colored = Diagnostic.colored
    sys.setrecursionlimit(max(recursion, RECURSION_LIMIT))
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        yield
    finally:
        sys.setrecursionlimit(recursion)
        gc.set_threshold(*thresholds)
        Attribute.__post_init__ = verify_attribute
        Diagnostic.colored = colored
