"""Python's stack, made short: what recurses as deep as its input fails at a few hundred levels."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from inspect import currentframe

LEVELS = 450
"""So deep an input does not fit in a shallow stack if each of its levels takes a call."""


@contextmanager
def shallow_stack(frames: int = LEVELS - 50) -> Generator[None]:
    """Let Python call at most `frames` functions in each other from here."""
    limit, frame, depth = sys.getrecursionlimit(), currentframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    sys.setrecursionlimit(depth + frames)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
