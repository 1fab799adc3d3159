"""The syntax that all calls share, `(%x, %y) {…} : (T, U) -> R`, and the check of their types."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...device import with_device
from ..incomplete import is_incomplete, refine


def verify_call(op: Operation, type: FunctionType, args: Sequence[SSAValue], what: str) -> None:
    """Check that `args` and `op`'s results have the types in `type`, ignoring devices."""
    for verb, noun, values, wanted in (
        ("expects", "argument", args, type.inputs.data),
        ("returns", "result", op.results, type.outputs.data),
    ):
        if len(values) != len(wanted):
            raise VerifyException(f"{what} {verb} {len(wanted)} {noun}s, but got {len(values)}")
        for i, (value, expected) in enumerate(zip(values, wanted, strict=True)):
            if value.type == expected or is_incomplete(value.type) or is_incomplete(expected):
                continue
            if refine(with_device(expected, None), with_device(value.type, None)) is None:
                raise VerifyException(
                    f"{noun} {i} of {what} must be {expected}, but is {value.type}"
                )
