"""The option `peak`, which several passes have, and what it means."""

from ...planning.buffers import parse_pool
from .diagnostics import OptionError


def peak_in(text: str) -> int | None:
    """Parse the option `peak`, a number of bytes; None if it is empty."""
    try:
        return parse_pool(f"peak={text}").capacity
    except ValueError:
        message = f"peak must be bytes, such as 256KiB, but is '{text}'"
        raise OptionError(message, "peak") from None
