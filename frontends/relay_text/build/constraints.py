"""
Constraints on the types of a program, collected while it is built, for the solver of `infer-types`.

    let %f = fn (%x) { nn.relu(%x) };    %f: fn(<0>) -> <1>
    %f(%a)                               the argument: <0> = Tensor[(4), float32]

Each has its place in the text, for errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import FileLineColLoc, FunctionType
from xdsl.ir import Attribute

from ....dialects.relay.incomplete import IncompleteType
from ....dialects.relay.language.language_types import substituted
from ....dialects.relay.unification import Unifier
from ..errors import SourceMap
from ..type_texts import type_text

Notes: TypeAlias = Sequence[tuple[str, FileLineColLoc]]


@dataclass(eq=False, repr=False)
class Requirement:
    """Two types agree."""

    wanted: Attribute
    given: Attribute
    message: str
    """The error if they do not, in which `<wanted>` and `<given>` stand for the types."""
    source_map: SourceMap
    at: int
    width: int = 1
    common: Attribute | None = None
    """A type that knows only those dims that both know."""
    notes: Callable[[], Notes] = tuple
    """Returns notes on the error."""

    def take(self, types: Unifier) -> IncompleteType | None:
        """Unify the types."""
        if not types.unify(self.wanted, self.given):
            wanted, given = (type_text(types.resolved(t)) for t in (self.wanted, self.given))
            text = self.message.replace("<wanted>", wanted).replace("<given>", given)
            if isinstance(types.shallow(self.wanted), IncompleteType):
                text = f"infinite type: this would be of a type _ that is {given}"
            error = self.source_map.error(text, self.at, self.width)
            error.notes = tuple(self.notes())
            raise error
        if self.common is not None:
            types.unify(self.common, self.wanted)
            types.forget_dims(self.common, self.given)
        return None


@dataclass(eq=False, repr=False)
class Instance:
    """`type` is the generic type `of` with types in place of its parameters."""

    of: FunctionType
    type_args: Mapping[str, Attribute]
    type: FunctionType
    is_last_resort: bool = False
    """True to take `of` as it is, with parts that are unknown."""
    is_done: bool = False

    def take(self, types: Unifier) -> IncompleteType | None:
        """Unify the instance with what the generic type is, once that is known."""
        unknown = None if self.is_last_resort else types.first_unknown(self.of)
        if unknown is None and not self.is_done:
            self.is_done = True
            types.unify(self.type, substituted(types.resolved(self.of), self.type_args))
        return unknown
