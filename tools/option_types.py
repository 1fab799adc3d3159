"""Types of options, and options that several commands have. Imports nothing heavy."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    Protocol,
    TypeAlias,
    cast,
    get_args,
    get_origin,
)

from .errors import CommandLineError

Fields: TypeAlias = Mapping[str, Any]
"""Annotated types by the names of fields."""


class Group(Protocol):
    """A group of options; argparse has no public name for its type."""

    def add_argument(self, *names: str, **how: Any) -> Any:
        """Declare an option."""
        ...

    def add_mutually_exclusive_group(self) -> Any:
        """Add a group of options of which at most one may be given."""
        ...


def refer_to_help(parser: argparse.ArgumentParser) -> Callable[[str], NoReturn]:
    """Let `parser` raise `CommandLineError`, with the command's `--help`; return its `error`."""

    def fail(message: str) -> NoReturn:
        raise CommandLineError(f"{message} (see {parser.prog} --help)")

    parser.error = fail
    return fail


class Arg:
    """
    A note on a field of parsed options: its help, its names if they are others, how it is parsed.

    Of those that are `exclusive`, a command line may have one. One `in_mlir` has its name in
    mlir-opt, too, with `--mlir-` before it.
    """

    def __init__(
        self, help: str, *names: str, exclusive: bool = False, in_mlir: bool = False, **how: Any
    ) -> None:
        self.help, self.names, self.exclusive, self.how = help, names, exclusive, how
        self.in_mlir = in_mlir


def declare(parser: argparse.ArgumentParser, title: str, fields: type[Any] | Fields) -> None:
    """
    Declare the options that the annotated `fields` of a class are, in a group of the help.

    A field's note is an `Arg` or the help alone; a bool is an option without a value, and the
    choices of a `Literal` are those of the option.
    """
    group = parser.add_argument_group(title)
    exclusive: Group | None = None
    for name, hint in (fields.__annotations__ if isinstance(fields, type) else fields).items():
        type_, note = get_args(hint)[:2]
        arg = note if isinstance(note, Arg) else Arg(note)
        own = name.replace("_", "-")
        names, how = arg.names or (f"--{own}",), dict(arg.how)
        if arg.in_mlir:
            names = (f"--{own}", f"--mlir-{own}", *arg.names)
        if names[0].startswith("-"):
            how["dest"] = name
        if type_ is bool and not how.keys() - {"dest"}:
            how["action"] = "store_true"
        if get_origin(type_) is Literal:
            how["choices"] = get_args(type_)
        if arg.exclusive and exclusive is None:
            exclusive = group.add_mutually_exclusive_group()
        target = exclusive if arg.exclusive and exclusive is not None else cast(Group, group)
        target.add_argument(*names, help=arg.help, **how)


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


def dim(text: str) -> tuple[str, int]:
    """Parse `n=3` or `x:0=3`."""
    from ..runtime.calls.input_bindings import parse_dim  # with all of `operators`

    try:
        return parse_dim(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def shape(text: str) -> tuple[str, tuple[int | None, ...]]:
    """Parse `x=1x3x?`."""
    from ..runtime.calls.input_bindings import parse_shape

    try:
        return parse_shape(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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
        given: dict[str, object] = getattr(namespace, self.dest)
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


_ONE: Mapping[str, Any] = {"action": KeepOne, "default": {}}


class BindingOptions:
    """Sizes and values of inputs, and the limit on what is read from pipes."""

    shape: Annotated[
        dict[str, tuple[int | None, ...]],
        Arg(
            "the shape of an input, like x=1x3x224x224, where ? stays open; repeat for others",
            metavar="INPUT=SHAPE",
            type=shape,
            **_ONE,
        ),
    ]
    dim: Annotated[
        dict[str, int],
        Arg(
            "the size of all open dims of a name (batch=1), or of one, by input and axis (x:0=1)",
            metavar="DIM=SIZE",
            type=dim,
            **_ONE,
        ),
    ]
    input: Annotated[
        dict[str, str],
        Arg(
            "make an input a constant: a number for all of its elements (sr=16000), a list "
            "(axes=1,2 or m=[[1,2],[3,4]]), or a file .npy or .pb",
            metavar="INPUT=VALUE",
            type=named,
            **_ONE,
        ),
    ]
    max_input: Annotated[
        int | None,
        Arg(
            "the maximum size of an input that is a pipe or device, each of which is held in "
            "memory: bytes, or 512M, 4G (default: 1G)",
            metavar="SIZE",
            type=size,
        ),
    ]


def add_max_input(group: Group) -> None:
    """Declare `--max-input SIZE`."""
    note = get_args(BindingOptions.__annotations__["max_input"])[1]
    group.add_argument("--max-input", help=note.help, **note.how)


MEMORY_REPORT, PROFILE = "--memory-report", "--profile"


REPORT: Mapping[str, Any] = {"nargs": "?", "choices": ("text", "json")}
"""The way in which `NAME[=text|json]` is parsed, after `with_report_format`."""


def with_report_format(argv: Sequence[str]) -> list[str]:
    """Add the format `text` to reports without one: the next argument is not read as a format."""
    return [f"{arg}=text" if arg in (MEMORY_REPORT, PROFILE) else arg for arg in argv]
