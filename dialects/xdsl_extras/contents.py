"""
Declaration of checks that read only the contents of an op, which the verifier need not repeat.

The contents of an op are its class, the types of its operands and results, its properties and its
attributes: what remains if it is moved elsewhere. Its place, its regions, the ops that define its
operands or use its results, and symbols are not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from xdsl.ir import Operation

Check: TypeAlias = Callable[..., object]
"""A method `verify_` of an op, or another function of an op that may raise `VerifyException`."""

_Check = TypeVar("_Check", bound=Check)

_Test: TypeAlias = Callable[[type[Operation]], bool]

_DECLARED: dict[Check, _Test | None] = {}


def reads_contents(*, when: _Test | None = None) -> Callable[[_Check], _Check]:
    """
    Declare that a check reads only the contents of the op.

        @reads_contents()
        def verify_(self) -> None:
            ...

    The verifier does not repeat such a check on an op with the contents of one that passed it. It
    looks at the contents for that, which takes longer than a check of a few comparisons: such a
    one need not be declared. Checks that are not declared run on every op. `when(kind)` tests
    whether the declaration holds for the op class `kind`, which may inherit the check.
    """

    def declare(check: _Check) -> _Check:
        _DECLARED[check] = when
        return check

    return declare


def is_declared(check: Check, kind: type[Operation]) -> bool:
    """Test whether `check` reads only the contents of an op of class `kind`."""
    if check not in _DECLARED:
        return False
    when = _DECLARED[check]
    return when is None or when(kind)
