"""
Declaration of checks that read only the contents of an op, which the verifier need not repeat.

The contents of an op are its class, the types of its operands and results, its properties and its
attributes: what remains if it is moved elsewhere. Its place, its regions, the ops that define its
operands or use its results, and symbols are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from xdsl.ir import Operation

Check: TypeAlias = Callable[..., object]
"""A method `verify_` of an op, or another function of an op that may raise `VerifyException`."""

_Check = TypeVar("_Check", bound=Check)


class _Declared(NamedTuple):
    """The arguments of `reads_contents` for one check."""

    other: Check | None
    when: Callable[[type[Operation]], bool] | None


_DECLARED: dict[Check, _Declared] = {}


def reads_contents(
    *, except_for: Check | None = None, when: Callable[[type[Operation]], bool] | None = None
) -> Callable[[_Check], _Check]:
    """
    Declare that a check reads only the contents of the op.

        @reads_contents()
        def verify_(self) -> None:
            ...

    The verifier does not repeat such a check on an op with the contents of one that passed it. To
    look at contents takes longer than a few comparisons do: these need no declaration.
    Checks that are not declared run on every op. If a check reads more than contents, the part that
    does is also in `except_for`, which runs on every op. A method `verify_symbol_uses` may also
    read the contents of the symbols that it looks up. `when(kind)` tests whether the declaration
    holds for the op class `kind`, which may inherit the check.
    """

    def declare(check: _Check) -> _Check:
        _DECLARED[check] = _Declared(except_for, when)
        return check

    return declare


def repeated(check: Check, kind: type[Operation]) -> Sequence[Check]:
    """Return what must be repeated of `check` for an op of class `kind` with known contents."""
    declared = _DECLARED.get(check)
    if declared is None or (declared.when is not None and not declared.when(kind)):
        return (check,)
    return () if declared.other is None else (declared.other,)
