"""Types of options, and options that several commands have. Imports nothing heavy."""

import argparse
from collections.abc import Sequence
from typing import Any, Protocol

MAX_DIGITS = 18
"""The maximum number of digits in the size of a dim, which then is an int64."""


class Group(Protocol):
    """A group of options; argparse has no public name for its type."""

    def add_argument(self, *names: str, **how: Any) -> Any:
        """Declare an option."""
        ...


def count(text: str) -> int:
    """Parse a number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number that is at least 0, but is '{text}'")
    return int(text)


def size(text: str) -> int:
    """Parse a number of bytes, optionally with a unit K, M, G or T (of 1024): `512M`."""
    number, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if not (number.isascii() and number.isdecimal()) or unit not in ("", *"KMGT"):
        raise argparse.ArgumentTypeError(f"must be a size such as 512M or 4G, but is '{text}'")
    return int(number) << 10 * " KMGT".index(unit or " ")


def parse_dim(text: str) -> tuple[str, int]:
    """Parse `n=3` or `x:0=3`."""
    name, _, size = text.rpartition("=")
    if name and size.isascii() and size.isdecimal() and len(size) > MAX_DIGITS:
        raise argparse.ArgumentTypeError(
            f"the size of a dim must have at most {MAX_DIGITS} digits, but '{text[:60]}' has more"
        )
    if not name or not (size.isascii() and size.isdecimal()):
        raise argparse.ArgumentTypeError(
            f"must be a dim and its size, like n=3 or x:0=3, but is '{text}'"
        )
    return name, int(size)


class AddDim(argparse.Action):
    """Adds a dim and its size to a list; an error if the dim has another size already."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        name, size = values
        given: list[tuple[str, int]] = getattr(namespace, self.dest)
        for other, before in given:
            if other == name and before != size:
                message = f"dim '{name[:60]}' must have one size, but is {before} and {size}"
                raise argparse.ArgumentError(self, message)
        setattr(namespace, self.dest, [*given, (name, size)])


MEMORY_REPORT = "--memory-report"


def add_memory_report(group: Group, help: str) -> None:
    """Declare `--memory-report[=text|json]`; `with_report_format` goes before parsing."""
    group.add_argument(MEMORY_REPORT, nargs="?", choices=("text", "json"), help=help)


def with_report_format(argv: Sequence[str]) -> list[str]:
    """Say the default of `--memory-report`, so that the next argument is not read as its value."""
    return [f"{MEMORY_REPORT}=text" if arg == MEMORY_REPORT else arg for arg in argv]
