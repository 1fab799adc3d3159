"""
Options as annotated fields, and those that several commands have. Imports nothing heavy.

    pipeline: Annotated[str, "-p --pipeline PIPELINE  passes, separated by commas"] = ""
    elide_above: Annotated[int | None, "N  do not print constants of more elements", count]

Two spaces divide the names and the metavar, if any, from the help. `docs/options.md` has the rules
for names. As in mlir-opt, one dash is enough. Where its or xdsl-opt's name for an option differs
from ours, it is accepted, but not in the help (`ALSO`).
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, Literal, NoReturn, TypeVar, cast, get_args, get_origin

from ..operators.spelling import did_you_mean
from .commands import be_quiet
from .errors import CommandLineError

IN_MLIR = "in mlir-opt"
"""A note on an option that mlir-opt has, too: its name may have `--mlir-` before it."""

ALSO = {
    "--passes": "--pipeline",
    "--pass-pipeline": "--pipeline",
    "--output-file": "--output",
    "--print-between-passes": "--print-ir-after-all",
    "--time-passes": "--timing",
    "--elide-elementsattrs-if-larger": "--elide-above",
    "--mlir-elide-elementsattrs-if-larger": "--elide-above",
    "--mlir-pass-pipeline-crash-reproducer": "--crash-reproducer",
    "--load-pass-plugin": "--load",
    "--load-dialect-plugin": "--load",
}
"""Options as mlir-opt and xdsl-opt spell them, and as we do."""

NO_VALUE = "no value"
"""A note on an option with a class of actions of its own, and without a value."""

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
    """argparse's formatter without `shutil` and `textwrap`, for fast start-up."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = [""]
        for word in text.split():
            if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
                lines.append("")
            lines[-1] += f" {word}" if lines[-1] else word
        return lines

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width - len(indent)))


class Parser(argparse.ArgumentParser):
    """A parser of annotated fields, which raises `CommandLineError` for a wrong command line."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog, description=description, formatter_class=HelpFormatter)
        self.spellings: dict[str, None] = {"-h": None, "--help": None}
        """The options that are declared, as they are written."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message and unknown.startswith("-"):
            message += self._cure(unknown.split()[0].partition("=")[0])
        raise CommandLineError(f"{message} (see {self.prog} --help)")

    def _cure(self, option: str) -> str:
        """Return what to write instead of an unknown option, or an empty string."""
        name = option.lstrip("-")
        if "--pipeline" in self.spellings:
            with suppress(ImportError):  # where only compiled programs run
                from .registry import PASSES

                if name in PASSES:
                    return f"; a pass is named after -p: -p {name}"
        known = self.spellings
        return did_you_mean(
            f"--{name}", [*known, *(o for o, ours in ALSO.items() if ours in known)]
        )

    def _spelled(self, argument: str) -> str:
        """Return an argument with the option that it is, if mlir-opt or xdsl-opt spell it so."""
        if argument in REPORTS:
            return f"{argument}=text"
        name, equals, value = argument.partition("=")
        if not name.startswith("-") or len(name) < 3:
            return argument
        long = name if name.startswith("--") else f"-{name}"
        ours = ALSO.get(long, long)
        return ours + equals + value if ours in self.spellings else argument

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
                self.spellings |= dict.fromkeys(name for name in names if name.startswith("-"))

    def parse(self, argv: Sequence[str] | None, options: _O, *, intermixed: bool = False) -> _O:
        """
        Parse `argv`, or the process's; reports without a format have the format `text`.

        `intermixed` is for commands of several files, which options may separate.
        """
        given = list(sys.argv[1:] if argv is None else argv)
        options_end = given.index("--") if "--" in given else len(given)
        given[:options_end] = map(self._spelled, given[:options_end])
        parse = self.parse_intermixed_args if intermixed else self.parse_args
        parsed = parse(given, options)
        if getattr(parsed, "quiet", False):
            be_quiet()
        return parsed


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
            how["action"] = note
        elif note == NO_VALUE:
            how["nargs"] = 0
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


UNITS = {
    "": 1,
    **{unit: 1000 ** (n + 1) for n, unit in enumerate(("K", "M", "G", "T"))},
    **{unit: 1024 ** (n + 1) for n, unit in enumerate(("KIB", "MIB", "GIB", "TIB"))},
}
"""The bytes of the units of sizes."""


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
    """Parse a number of bytes, maybe with a unit: of thousands (`500M`), or 1,024 (`512MiB`)."""
    unit = text.lstrip("0123456789")
    number, unit = text[: len(text) - len(unit)], unit.upper()
    if not number or unit not in UNITS:
        message = f"must be a size such as 500M, 4G or 512MiB, but is '{text}'"
        raise argparse.ArgumentTypeError(message)
    return int(number) * UNITS[unit]


def non_negative(text: str) -> float:
    """Parse a finite number that is at least 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a non-negative number, but is '{text}'")
    return number


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


class Version(argparse.Action):
    """Prints the versions of the package and of what it stands on, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        from .versions import versions

        print(f"{parser.prog} {versions()}")
        parser.exit()


class Completion(argparse.Action):
    """Prints a script that completes the command line in a shell, and exits."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: Any, *rest: Any
    ) -> None:
        try:
            shtab = import_module("shtab")
        except ImportError:
            parser.error(
                "--print-completion needs the package shtab: pip install 'xrelay[completion]'"
            )
        print(shtab.complete(parser, values))
        parser.exit()


class Common:
    """Options of every command."""

    max_input: Annotated[
        int | None,
        "SIZE  the maximum size of an input that is a pipe or device, each of which is held in "
        "memory: bytes, or 500M, 4G, 512MiB (default: 1GiB)",
        size,
    ]
    quiet: Annotated[bool, "-q --quiet  print errors to stderr, but no warnings and notes"]
    traceback: Annotated[bool, "show where errors are raised"]
    print_completion: Annotated[
        Literal["bash", "zsh", "tcsh"] | None,
        "print a script that completes this command in a shell: "
        'eval "$(COMMAND --print-completion bash)"',
        Completion,
    ]
    version: Annotated[None, "-v --version  print the version", Version, NO_VALUE]


class LoadOptions:
    """Plug-ins without a package."""

    load: Annotated[
        list[str],
        "FILE.py  run this file of Python, and use the passes, dialects, kernels and targets that "
        "it defines; repeat for others (docs/plugins.md)",
    ]


class WatchedPasses:
    """The module around passes, and their times."""

    print_ir_before: Annotated[
        str, "PASSES  print the module before these passes, to stderr", IN_MLIR
    ] = ""
    print_ir_before_all: Annotated[bool, "print the module before every pass, to stderr", IN_MLIR]
    print_ir_after: Annotated[
        str, "PASSES  print the module after these passes, to stderr", IN_MLIR
    ] = ""
    print_ir_after_all: Annotated[bool, "print the module after every pass, to stderr", IN_MLIR]
    print_ir_after_change: Annotated[
        bool, "print the module after passes that changed it, to stderr", IN_MLIR
    ]
    print_ir_tree_dir: Annotated[
        str | None,
        "FOLDER  write the module after every pass to a file in this folder, numbered in order",
        IN_MLIR,
    ]
    print_ir_after_failure: Annotated[
        bool, "print the module after a pass that failed, to stderr", IN_MLIR
    ]
    timing: Annotated[bool, "print the time that each step takes, to stderr", IN_MLIR]


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
    constant: Annotated[
        dict[str, str],
        "INPUT=VALUE  make an input a constant of the program: a number for all of its elements "
        "(sr=16000), a list (axes=1,2 or m=[[1,2],[3,4]]), or a file .npy or .pb",
        named,
    ]


REPORTS = ("--memory-report", "--profile")
"""Options whose value, a format, may be omitted; the next argument is never read as one."""
