"""
Types that are not known yet, and what is learnt about them (unification).

    %f = fn (%x) { nn.relu(%x) }      %x : ?0, the result : ?1
    %f(%a)                            ?0 = the type of %a; now relu's rule says what ?1 is

The types are those of the dialects with `UnknownType`s inside. Two tensor types agree when
their elements and ranks are equal and so are the dims that both know (Relay's `?` fits all).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntAttr, TensorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from ...dialects.relay.incomplete import IncompleteType, join
from ...dialects.tensors import as_tensor
from ...dialects.type_algebra import pairs, parts, rebuild


@irdl_attr_definition
class UnknownType(ParametrizedAttribute, TypeAttribute):
    """A type that inference is to find; none is left when a module has been read."""

    name = "relay_text.unknown"

    number: IntAttr


MAX_DEPTH = 400
"""How many types may be around one, in each other."""
MAX_PARTS = 200_000
"""How many types may be in one; what is there twice counts twice."""


class TypeTooLarge(Exception):
    """A type is too large to be worked with: each use of a tuple in a tuple can double it."""


class Solver:
    """What is known about the unknown types of one module."""

    def __init__(self) -> None:
        self._known: list[Attribute | None] = []
        self._waiting: dict[int, list[Callable[[], None]]] = {}
        self._ready: list[Callable[[], None]] = []

    def fresh(self) -> UnknownType:
        """A type about which nothing is known."""
        self._known.append(None)
        return UnknownType(IntAttr(len(self._known) - 1))

    def annotation(self, type: Attribute | None) -> Attribute:
        """A type as it is written: each `_`, or nothing at all, is a fresh unknown."""
        if type is None or isinstance(type, IncompleteType):
            return self.fresh()
        return rebuild(type, [self.annotation(part) for part in parts(type)])

    # ----------------------------------------------------------------- reading

    def shallow(self, type: Attribute) -> Attribute:
        """`type`, or what is known about it when it is an unknown."""
        if type.__class__ is not UnknownType:
            return type
        chain: list[int] = []
        while type.__class__ is UnknownType:
            number = cast(UnknownType, type).number.data
            known = self._known[number]
            if known is None:
                break
            chain.append(number)
            type = known
        for number in chain[:-1]:  # the next time the way is shorter
            self._known[number] = type
        return type

    def resolved(self, type: Attribute) -> Attribute:
        """`type` with all that is known filled in; `TypeTooLarge` when that is too much."""
        if type.__class__ is TensorType:
            return type
        self._require_size(type)
        return self._resolved(type)

    def _resolved(self, type: Attribute) -> Attribute:
        if type.__class__ is TensorType:
            return type
        type = self.shallow(type)
        return rebuild(type, [self._resolved(part) for part in parts(type)])

    def _require_size(self, type: Attribute) -> None:
        """Raise `TypeTooLarge` for a type of too many parts, or with too many around each other."""
        count = 0
        pending = [(type, 0)]
        while pending:
            type, depth = pending.pop()
            count += 1
            if depth > MAX_DEPTH:
                raise TypeTooLarge(f"a type here has more than {MAX_DEPTH} types around another")
            if count > MAX_PARTS:
                raise TypeTooLarge(f"a type here has more than {MAX_PARTS} parts")
            if type.__class__ is not TensorType:
                pending += [(part, depth + 1) for part in parts(self.shallow(type))]

    def first_unknown(self, type: Attribute) -> UnknownType | None:
        """An unknown in `type`; None when there is none left."""
        type = self.shallow(type)
        if isinstance(type, TensorType):
            return None
        if isinstance(type, UnknownType):
            return type
        for part in parts(type):
            found = self.first_unknown(part)
            if found is not None:
                return found
        return None

    # ---------------------------------------------------------------- learning

    def unify(self, a: Attribute, b: Attribute) -> bool:
        """Let `a` and `b` be one type; whether that can be (if not, parts may be learnt)."""
        if a is b:
            return True
        a, b = self.shallow(a), self.shallow(b)
        if a is b:
            return True
        if isinstance(a, UnknownType):
            return self._learn(a, b)
        if isinstance(b, UnknownType):
            return self._learn(b, a)
        mine, theirs = as_tensor(a), as_tensor(b)
        if mine is not None and theirs is not None:
            if mine.element_type != theirs.element_type:
                return False
            dims, others = mine.get_shape(), theirs.get_shape()
            return len(dims) == len(others) and all(
                m == t or DYNAMIC_INDEX in (m, t) for m, t in zip(dims, others, strict=True)
            )
        together = pairs(a, b)
        return all(self.unify(m, t) for m, t in together) if together else a == b

    def join(self, a: Attribute, b: Attribute) -> Attribute:
        """The type of what is an `a` or a `b`, which agree: dims are known where both know them."""
        a, b = self.resolved(a), self.resolved(b)
        if a is b or self.first_unknown(a) is not None or self.first_unknown(b) is not None:
            return a
        return join(a, b) or a

    def _learn(self, unknown: UnknownType, type: Attribute) -> bool:
        number = unknown.number.data
        if isinstance(type, UnknownType) and type.number.data == number:
            return True
        if self._contains(type, number):
            return False
        self._known[number] = type
        self._ready += self._waiting.pop(number, ())
        return True

    def _contains(self, type: Attribute, number: int) -> bool:
        """Whether the unknown `number` is part of `type`; what is shared is looked at once."""
        pending, seen = [type], set[int]()
        while pending:
            type = pending.pop()
            if not isinstance(type, UnknownType):
                pending += parts(type)
                continue
            found = type.number.data
            if found == number:
                return True
            known = self._known[found]
            if known is not None and found not in seen:
                seen.add(found)
                pending.append(known)
        return False

    # ----------------------------------------------------------------- waiting

    def when_known(self, unknown: UnknownType, act: Callable[[], None]) -> None:
        """Have `act` called by `run_ready` once something is known about `unknown`."""
        self._waiting.setdefault(unknown.number.data, []).append(act)

    def run_ready(self) -> None:
        """Do what has been waited for, until nothing more can be done."""
        while self._ready:
            ready, self._ready = self._ready, []
            for act in ready:
                act()
