"""Types of options, and options that several commands have. Imports nothing heavy."""

import argparse
from collections.abc import Sequence
from typing import Any, Protocol


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


def positive(text: str) -> int:
    """Parse a number that is at least 1."""
    if not text.isdecimal() or not text.strip("0"):
        raise argparse.ArgumentTypeError(f"must be a number that is at least 1, but is '{text}'")
    return count(text)


def size(text: str) -> int:
    """Parse a number of bytes, optionally with a unit K, M, G or T (of 1024): `512M`."""
    number, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if not (number.isascii() and number.isdecimal()) or unit not in ("", *"KMGT"):
        raise argparse.ArgumentTypeError(f"must be a size such as 512M or 4G, but is '{text}'")
    return int(number) << 10 * " KMGT".index(unit or " ")


def dim(text: str) -> tuple[str, int]:
    """Parse `n=3` or `x:0=3`."""
    from ..operators.dim_bindings import parse_dim  # with all of `operators`

    try:
        return parse_dim(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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


MEMORY_REPORT, PROFILE = "--memory-report", "--profile"


def add_report(group: Group, name: str, help: str) -> None:
    """Declare an option `name[=text|json]`; `with_report_format` goes before parsing."""
    group.add_argument(name, nargs="?", choices=("text", "json"), help=help)


def add_memory_report(group: Group, help: str) -> None:
    """Declare `--memory-report[=text|json]`."""
    add_report(group, MEMORY_REPORT, help)


def with_report_format(argv: Sequence[str]) -> list[str]:
    """Add the format `text` to reports without one: the next argument is not read as a format."""
    return [f"{arg}=text" if arg in (MEMORY_REPORT, PROFILE) else arg for arg in argv]
