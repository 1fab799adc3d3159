"""Errors of the commands, without the compiler: what a user can correct, and exit statuses."""

from importlib.util import find_spec
from typing import ClassVar

from ..runtime.errors import Error
from .commands import FAULT, USAGE

NO_MEMORY = "there is not enough memory for this program"
"""The message for an allocation that fails although no limit was exceeded."""


class UsageError(Error):
    """A request that cannot be fulfilled; the text says why, and what can."""


class CommandLineError(UsageError):
    """A wrong command line: options that are unknown or contradict each other."""

    exit_status: ClassVar[int] = USAGE


class FileError(UsageError):
    """A file that cannot be used, reported as `file: error: message`."""

    def __init__(self, file: str, message: str):
        super().__init__(message)
        self.file = file


def require_compiler(instead: str) -> None:
    """Raise `UsageError` if xDSL is not installed; `instead` says what works without it."""
    if find_spec("xdsl") is None:
        raise UsageError(
            "the compiler is not installed here, only what runs compiled programs: pip install "
            f"xrelay installs it with xDSL; {instead}"
        )


def exit_status(error: BaseException) -> int:
    """Return the exit status of a command that `error` ends."""
    return getattr(error, "exit_status", FAULT)
