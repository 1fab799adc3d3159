"""
Options of passes that are lists of names with values.

    dims = "n=3,m=4"    ->    {"n": 3, "m": 4}
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from .diagnostics import OptionError

_T = TypeVar("_T")


def parse_keyed(
    texts: Sequence[str], parse: Callable[[str], tuple[str, _T]], option: str
) -> dict[str, _T]:
    """
    Parse the values of `option`, each with `parse`.

    Raises `OptionError` for a value that `parse` rejects with `ValueError`, and for a name that has
    two values.
    """
    values: dict[str, _T] = {}
    for text in texts:
        try:
            name, value = parse(text)
        except ValueError as error:
            raise OptionError(f"each of {option} {error}", option) from None
        before = values.setdefault(name, value)
        if before is not value and before != value:
            raise OptionError(f"{option} has two values for '{name}'", option)
    return values
