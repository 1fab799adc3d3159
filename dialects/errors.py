"""Errors of verification that know the op that is at fault."""

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException


class OpVerifyException(VerifyException):
    """An error at `op`, which is inside the op that is being verified."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op
