"""
Unification of incomplete types.

    %f = relay.fn (%x: !relay.incomplete<0>) -> !relay.incomplete<1> {…}
    %y = relay.call %f(%a)     <0> is the type of %a; now the rule of the body determines <1>

Two tensor types agree when their elements and ranks are equal and so are the dims that both know
(Relay's `?` matches any).
"""

from __future__ import annotations

from collections import deque
from typing import Protocol, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ..tensors import as_tensor
from ..type_algebra import leaves, pairs, parts, rebuild
from .incomplete import IncompleteType, join

MAX_DEPTH = 400
"""Maximum nesting depth of a type."""
MAX_PARTS = 200_000
"""Maximum number of types in a type, repetitions included."""


class TypeTooLarge(Exception):
    """A type exceeds the limits: each use of a tuple in a tuple can double its size."""


class Step(Protocol):
    """A step of inference: two types that agree, or an op that follows from types."""

    def take(self, types: Unifier, /) -> IncompleteType | None:
        """Take the step, or return an unknown type that must be known first."""
        ...


class Unifier:
    """The inferred facts about the unknown types of one module, and how they are inferred."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        """The steps so far, in order."""
        self._count = 0
        self._known: dict[int, Attribute] = {}
        self._waiting: dict[int, list[Step]] = {}
        self._pending: deque[Step] = deque()
        self._ready: list[Step] = []
        self._added = 0

    @property
    def count(self) -> int:
        """The number of unknown types so far, and of numbers that are reserved."""
        return self._count

    def has_learned(self, count: int) -> bool:
        """Return whether one of the first `count` unknown types is known to be a type."""
        unknowns = map(IncompleteType, range(count))
        return any(not isinstance(self.shallow(type), IncompleteType) for type in unknowns)

    def fresh(self) -> IncompleteType:
        """Return a new unknown type."""
        self._count += 1
        return IncompleteType(self._count - 1)

    def reserve(self, type: Attribute) -> Attribute:
        """Return `type`; later unknown types have other numbers than those in it."""
        for leaf in leaves(type):
            if isinstance(leaf, IncompleteType):
                self._count = max(self._count, _index(leaf) + 1)
        return type

    def annotation(self, type: Attribute | None) -> Attribute:
        """Return a type in which each unknown without a number, or no type at all, is a new one."""
        if type is None or isinstance(type, IncompleteType):
            return self.fresh() if type is None or type.index is None else type
        return rebuild(type, [self.annotation(part) for part in parts(type)])

    # ----------------------------------------------------------------- reading

    def shallow(self, type: Attribute) -> Attribute:
        """Return `type`, or the type found for it if it is an unknown."""
        if type.__class__ is not IncompleteType:
            return type
        chain: list[int] = []
        while type.__class__ is IncompleteType:
            number = _index(type)
            known = self._known.get(number)
            if known is None:
                break
            chain.append(number)
            type = known
        for number in chain[:-1]:  # shorten the path for the next lookup
            self._known[number] = type
        return type

    def resolved(self, type: Attribute) -> Attribute:
        """Return `type` with all known parts filled in; raises `TypeTooLarge` beyond the limits."""
        if type.__class__ is TensorType:
            return type
        count = 0

        def resolved(type: Attribute, depth: int) -> Attribute:
            nonlocal count
            count += 1
            if depth > MAX_DEPTH:
                raise TypeTooLarge(f"a type is nested more than {MAX_DEPTH} levels deep")
            if count > MAX_PARTS:
                raise TypeTooLarge(f"a type has more than {MAX_PARTS} parts")
            if type.__class__ is TensorType:
                return type
            type = self.shallow(type)
            return rebuild(type, [resolved(part, depth + 1) for part in parts(type)])

        return resolved(type, 0)

    def first_unknown(self, type: Attribute) -> IncompleteType | None:
        """Return an unknown in `type`; None when there is none left."""
        type = self.shallow(type)
        if isinstance(type, TensorType):
            return None
        if isinstance(type, IncompleteType):
            return type
        unknown = (u for part in parts(type) if (u := self.first_unknown(part)) is not None)
        return next(unknown, None)

    # ---------------------------------------------------------------- learning

    def unify(self, a: Attribute, b: Attribute) -> bool:
        """Unify `a` and `b`; return whether they agree (if not, parts may be unified already)."""
        if a is b:
            return True
        a, b = self.shallow(a), self.shallow(b)
        if a is b:
            return True
        if isinstance(a, IncompleteType):
            return self._learn(a, b)
        if isinstance(b, IncompleteType):
            return self._learn(b, a)
        if as_tensor(a) is not None and as_tensor(b) is not None:
            return join(a, b) is not None
        both = pairs(a, b)
        return all(self.unify(one, other) for one, other in both) if both else a == b

    def join(self, a: Attribute, b: Attribute) -> Attribute:
        """
        Return the common type of `a` and `b`, which agree: dims are known where both know them.
        """
        a, b = self.resolved(a), self.resolved(b)
        if a is b or self.first_unknown(a) is not None or self.first_unknown(b) is not None:
            return a
        return join(a, b) or a

    def forget_dims(self, a: Attribute, b: Attribute) -> None:
        """Let unknowns that are parts of `a` know only those dims that agreeing `b` knows, too."""
        type, other = self.shallow(a), self.shallow(b)
        if as_tensor(type) is None:
            for mine, theirs in pairs(type, other) or ():
                self.forget_dims(mine, theirs)
        elif isinstance(a, IncompleteType) and self._known[_index(a)] is type:
            self._known[_index(a)] = self.join(type, other)

    def _learn(self, unknown: IncompleteType, type: Attribute) -> bool:
        number = _index(unknown)
        if isinstance(type, IncompleteType) and _index(type) == number:
            return True
        if self._contains(type, number):
            return False
        self._known[number] = type
        self._ready += self._waiting.pop(number, ())
        return True

    def _contains(self, type: Attribute, number: int) -> bool:
        """Return whether the unknown `number` is part of `type`; shared parts are visited once."""
        pending, seen = [type], set[int]()
        while pending:
            type = pending.pop()
            if not isinstance(type, IncompleteType):
                pending += parts(type)
                continue
            index = _index(type)
            if index == number:
                return True
            known = self._known.get(index)
            if known is not None and index not in seen:
                seen.add(index)
                pending.append(known)
        return False

    # ------------------------------------------------------------------- steps

    def solve(self) -> None:
        """
        Take the steps in order; one that waits is taken later, once what it needs is known.

        Steps that a step adds come next. Those that still wait at the end remain.
        """
        while True:
            self._pending.extendleft(reversed(self.steps[self._added :]))
            self._pending += self._ready
            self._ready, self._added = [], len(self.steps)
            if not self._pending:
                return
            step = self._pending.popleft()
            unknown = step.take(self)
            if unknown is not None:
                self._waiting.setdefault(_index(unknown), []).append(step)


def _index(type: Attribute) -> int:
    """Return the number of an unknown type; -1 if it has none, so that nothing is learned of it."""
    index = cast(IncompleteType, type).index
    return -1 if index is None else index
