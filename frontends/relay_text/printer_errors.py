"""What is said about a program that Relay text cannot say, and where."""

from __future__ import annotations

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException


class PrintingError(DiagnosticException):
    """The program has no form as Relay text; `op` and its `location` are to blame."""

    def __init__(self, message: str, op: Operation):
        super().__init__(message)
        self.op = op
        self.location = op.location if isinstance(op.location, FileLineColLoc) else None


def unprintable(what: str, op: Operation) -> PrintingError:
    """Return the error that Relay text has no form for `what`."""
    return PrintingError(f"Relay text has no form for {what}", op)
