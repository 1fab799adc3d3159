"""
Inhabited types: those that have values.

    type Never {}                    none: there is no constructor
    type Loop { Again(Loop) }        none: the first value would need another one before it
    type List[A] { Nil, Cons(A, List[A]) }    List[Never] has one: Nil

This is the least solution of these rules: a data type has a value if all fields of one of its
constructors have values; a tuple needs values for all its fields, a reference for its contents;
tensors, functions, extern types and type variables have values. An instance of a data type depends
only on whether its type arguments have values, so the number of questions is finite even if a type
contains itself at ever larger arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute

from ...interfaces import Lookup
from ...type_algebra import parts
from .adt import TypeDataOp
from .language_types import AdtType, TypeVarType

_Question: TypeAlias = tuple[str, tuple[bool, ...]]
"""A data type's name, and whether each of its type arguments has values."""


class Inhabited:
    """Inhabitation of the data types of one module, computed on demand."""

    def __init__(self, lookup: Lookup):
        self._lookup = lookup
        self._answers: dict[_Question, bool] = {}
        self._asked_by: dict[_Question, list[_Question]] = {}
        self._open: list[_Question] = []

    def has_values(self, type: Attribute, given: Mapping[str, bool]) -> bool:
        """
        Test whether `type` has values; `given` says which type variables have (by default, all).
        """
        while True:
            answer = self._evaluate(type, given, None)
            if not self._open:
                return answer
            self._settle()

    def _settle(self) -> None:
        """Answer the open questions; each yes reopens the questions that depend on it."""
        while self._open:
            question = self._open.pop()
            if not self._answers[question] and self._constructible(question):
                self._answers[question] = True
                self._open += self._asked_by.pop(question, ())

    def _constructible(self, question: _Question) -> bool:
        name, args = question
        definition = self._lookup(name)
        if not isinstance(definition, TypeDataOp) or definition.extern is not None:
            return True
        given = dict(zip((p.data for p in definition.params), args, strict=False))
        return any(
            all(self._evaluate(field, given, question) for field in constructor.fields)
            for constructor in definition.constructors
        )

    def _evaluate(
        self, type: Attribute, given: Mapping[str, bool], asker: _Question | None
    ) -> bool:
        if isinstance(type, TypeVarType):
            return given.get(type.parameter.data, True)
        if isinstance(type, FunctionType):
            return True
        args = tuple([self._evaluate(part, given, asker) for part in parts(type)])
        if not isinstance(type, AdtType):
            return all(args)
        question = (type.adt.string_value(), args)
        if question not in self._answers:
            self._answers[question] = False
            self._open.append(question)
        if asker is not None and not self._answers[question]:
            self._asked_by.setdefault(question, []).append(asker)
        return self._answers[question]
