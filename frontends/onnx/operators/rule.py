"""A rule: how the nodes of one operator are converted, and in which opsets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..builder import Builder
from ..node import Node
from ..values import Value

Results: TypeAlias = Value | Sequence[Value]
"""The values of a node's outputs in order, those at the end left out that are not supported."""

Convert: TypeAlias = Callable[[Node, Builder], Results]


@dataclass(frozen=True)
class Rule:
    """`convert` is right for opsets from `since` to before `until`."""

    convert: Convert
    since: int = 1
    until: int | None = None

    def covers(self, opset: int) -> bool:
        return self.since <= opset and (self.until is None or opset < self.until)

    def __str__(self) -> str:
        if self.until is None:
            return f"opset {self.since} and later"
        return f"opsets {self.since} to {self.until - 1}"


Rules: TypeAlias = dict[str, tuple[Rule, ...]]
"""Operator name -> its rules, for opsets that do not overlap."""


def since(opset: int, convert: Convert) -> tuple[Rule, ...]:
    """The one rule of an operator."""
    return (Rule(convert, opset),)
