"""Errors that every room reports."""

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

TOO_DEEP = "the program is nested too deeply"
"""The message for input that exhausts the stack."""


class OpVerifyException(VerifyException):
    """An error at `op`, which is nested in the op being verified."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op
