"""Verification errors that know the op at fault."""

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException


class OpVerifyException(VerifyException):
    """An error at `op`, which is nested in the op being verified."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op
