"""
Options as annotated fields, and those that several commands have. Imports nothing heavy.

    passes: Annotated[str, "-p --passes PIPELINE  passes and pipelines, separated by commas"] = ""
    elide_above: Annotated[int | None, "N  do not print constants of more elements", count]

Two spaces divide the names and the metavar, if any, from the help.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NoReturn, TypeVar, cast, get_args, get_origin

from .errors import CommandLineError

IN_MLIR = "in mlir-opt"
"""A note on an option that mlir-opt has, too: its name may have `--mlir-` before it."""

EXCLUSIVE = "exclusive"
"""A note on options of which a command line may have one."""

_O = TypeVar("_O", bound=argparse.Namespace)


def _columns() -> int:
    """Return the width of the terminal as `shutil.get_terminal_size` does."""
    try:
        return int(os.environ["COLUMNS"]) or 80
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # pyright: ignore[reportOptionalMemberAccess]
    except (AttributeError, ValueError, OSError):
        return 80


class HelpFormatter(argparse.HelpFormatter):
    """argparse's formatter without `shutil`, which imports compressors, for fast start-up."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class Parser(argparse.ArgumentParser):
    """A parser of annotated fields, which raises `CommandLineError` for a wrong command line."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog, description=description, formatter_class=HelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise CommandLineError(f"{message} (see {self.prog} --help)")

    def declare(self, title: str, *classes: type[Any]) -> None:
        """
        Declare the annotated fields of `classes` as options in a group of the help.

        A bool is an option without a value, the choices of a `Literal` are those of the option, a
        list and a dict are options that may be repeated. Notes after the help are the function
        that parses a value, a tuple of choices, `IN_MLIR`, `EXCLUSIVE`, or a class of actions.
        """
        group: Any = self.add_argument_group(title) if title else self
        exclusive: Any = None
        for cls in classes:
            for name, hint in cls.__annotations__.items():
                names, how = _argument(name, hint)
                if hasattr(cls, name):
                    how["default"] = getattr(cls, name)
                target = group
                if EXCLUSIVE in get_args(hint):
                    target = exclusive = exclusive or group.add_mutually_exclusive_group()
                target.add_argument(*names, **how)

    def parse(self, argv: Sequence[str] | None, options: _O) -> _O:
        """Parse `argv`, or the process's; reports without a format have the format `text`."""
        given = sys.argv[1:] if argv is None else argv
        return self.parse_args([f"{a}=text" if a in REPORTS else a for a in given], options)


def _argument(field: str, hint: Any) -> tuple[Sequence[str], dict[str, Any]]:
    """Return the names of an option, and how it is parsed."""
    type_, text, *notes = get_args(hint)
    head, _, help = text.rpartition("  ")
    own = field.replace("_", "-")
    names = [word for word in head.split() if word.startswith("-")] or [f"--{own}"]
    metavar = head.split()[-1] if head and not head.split()[-1].startswith("-") else None
    how: dict[str, Any] = {"help": help}
    if metavar is not None and metavar.strip("?") == field:
        return [field], {**how, **({"nargs": "?"} if metavar != field else {})}
    if IN_MLIR in notes:
        names = [f"--{own}", f"--mlir-{own}", *(name for name in names if name != f"--{own}")]
    how |= {"dest": field} | ({} if metavar is None else {"metavar": metavar})
    origin, choices = get_origin(type_), [c for part in _parts(type_) for c in get_args(part)]
    if origin in (list, dict):
        how |= {"action": "append" if origin is list else KeepOne, "default": origin()}
    elif choices:
        how["choices"] = choices
    for note in notes:
        if isinstance(note, type):
            how |= {"action": note, "nargs": 0}
        elif callable(note):
            how["type"] = note
        elif isinstance(note, tuple):
            how["choices"] = note
    if type_ is bool and "type" not in how:
        how["action"] = "store_true"
    if f"--{own}" in REPORTS:
        how["nargs"] = "?"
    return names, how


def _parts(type_: Any) -> Sequence[Any]:
    """Return the literal types in a type."""
    parts = (type_,) if get_origin(type_) is Literal else get_args(type_)
    return [part for part in parts if get_origin(part) is Literal]


def _parsed(name: str) -> Callable[[str], Any]:
    """Return a function of `input_bindings`, which has all of `operators`, for argparse."""

    def parse(text: str) -> Any:
        from ..runtime.calls import input_bindings

        try:
            return getattr(input_bindings, name)(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


dim = _parsed("parse_dim")
"""Parse `n=3` or `x:0=3`."""

shape = _parsed("parse_shape")
"""Parse `x=1x3x?`."""


def count(text: str) -> int:
    """Parse a non-negative integer."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a non-negative integer, but is '{text}'")
    return int(text)


def positive(text: str) -> int:
    """Parse a positive integer."""
    if not text.isdecimal() or not text.strip("0"):
        raise argparse.ArgumentTypeError(f"must be a positive integer, but is '{text}'")
    return count(text)


def size(text: str) -> int:
    """Parse a number of bytes, optionally with a unit K, M, G or T (of 1024): `512M`."""
    number, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if not (number.isascii() and number.isdecimal()) or unit not in ("", *"KMGT"):
        raise argparse.ArgumentTypeError(f"must be a size such as 512M or 4G, but is '{text}'")
    return int(number) << 10 * " KMGT".index(unit or " ")


def non_negative(text: str) -> float:
    """Parse a finite number that is at least 0."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a non-negative number, but is '{text}'")
    return found


def named(text: str) -> tuple[str, str]:
    """Parse `NAME=TEXT`."""
    name, _, value = text.partition("=")
    if not name or not value:
        message = f"must be an input and its value, like n=3, but is '{text[:80]}'"
        raise argparse.ArgumentTypeError(message)
    return name, value


class KeepOne(argparse.Action):
    """Adds a name and its value to a dictionary; an error if the name has another value already."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        name, value = values
        given: Mapping[str, object] = getattr(namespace, self.dest)
        before = given.get(name, value)
        if before != value:
            message = f"'{name[:60]}' must have one value, but has {_shown(before)} and "
            raise argparse.ArgumentError(self, message + _shown(value))
        setattr(namespace, self.dest, {**given, name: value})


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        sizes = cast("tuple[int | None, ...]", value)
        return "x".join("?" if size is None else str(size) for size in sizes)
    return str(value)[:60]


class InputLimit:
    """The limit on what is read from pipes."""

    max_input: Annotated[
        int | None,
        "SIZE  the maximum size of an input that is a pipe or device, each of which is held in "
        "memory: bytes, or 512M, 4G (default: 1G)",
        size,
    ]


class BindingOptions:
    """Sizes and values of inputs."""

    shape: Annotated[
        dict[str, tuple[int | None, ...]],
        "INPUT=SHAPE  the shape of an input, like x=1x3x224x224, where ? stays open; repeat for "
        "others",
        shape,
    ]
    dim: Annotated[
        dict[str, int],
        "DIM=SIZE  the size of all open dims of a name (batch=1), or of one, by input and axis "
        "(x:0=1)",
        dim,
    ]
    input: Annotated[
        dict[str, str],
        "INPUT=VALUE  make an input a constant: a number for all of its elements (sr=16000), a "
        "list (axes=1,2 or m=[[1,2],[3,4]]), or a file .npy or .pb",
        named,
    ]


REPORTS = ("--memory-report", "--profile")
"""Options whose value, a format, may be omitted; the next argument is never read as one."""
