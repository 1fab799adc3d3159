"""A constraint whose error describes in words what it expects; xDSL's own name classes at best."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias

from typing_extensions import TypeVar
from xdsl.ir import Attribute, AttributeCovT
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

Choice: TypeAlias = tuple[type[Attribute], str | None, Attribute | None]
"""A class, optionally with one of its fields and that field's required value."""


def of(cls: type[Attribute], field: str | None = None, value: Attribute | None = None) -> Choice:
    """Instances of `cls`: all of them, or those whose `field` is `value`."""
    return cls, field, value


@dataclass(frozen=True)
class Described(AttrConstraint[AttributeCovT], Generic[AttributeCovT]):
    """An attribute that is one of `choices`; `words` completes the error "expected …"."""

    words: str
    choices: tuple[Choice, ...]

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        for cls, field, value in self.choices:
            if isinstance(attr, cls) and (field is None or getattr(attr, field) == value):
                return
        raise VerifyException(f"expected {self.words}, but got {attr}")

    def get_bases(self) -> set[type[Attribute]] | None:
        return {cls for cls, _, _ in self.choices}

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> "Described[AttributeCovT]":
        return self
