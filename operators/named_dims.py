"""Dims of parameters that have a name: those of one name are equal."""

from collections.abc import Iterable, Sequence

Parameter = tuple[str, Sequence[str | None], Sequence[int]]
"""The name of a parameter, the names of its dims (None or "" for one without), and their sizes."""


def dims_fault(parameters: Iterable[Parameter]) -> str | None:
    """Return which dims of one name have different sizes, with the parameters; None if none do."""
    found: dict[str, tuple[int, str]] = {}
    for parameter, names, sizes in parameters:
        for axis, (name, size) in enumerate(zip(names, sizes, strict=False)):
            if not name:
                continue
            here = f"parameter '{parameter}' has dim {axis} ({name}) of {size}"
            known, there = found.setdefault(name, (size, here))
            if known != size:
                return f"{there}, but {here}"
    return None
