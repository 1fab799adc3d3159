"""Rules: how the nodes of one operator are converted, and in which opsets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_data import Datum

Results: TypeAlias = Datum | Sequence[Datum | None]
"""The values of a node's outputs in order; None, or none at the end, if one is not supported."""

Convert: TypeAlias = Callable[[Node, Builder], Results]


@dataclass(frozen=True)
class Rule:
    """A conversion valid for opsets from `since` up to but excluding `until`."""

    convert: Convert
    since: int = 1
    until: int | None = None

    def covers(self, opset: int) -> bool:
        return self.since <= opset and (self.until is None or opset < self.until)

    def __str__(self) -> str:
        if self.until is None:
            return f"opset {self.since} and later"
        if self.until == self.since + 1:
            return f"opset {self.since}"
        return f"opsets {self.since} to {self.until - 1}"


Rules: TypeAlias = dict[str, tuple[Rule, ...]]
"""Maps operator names to their rules, for disjoint ranges of opsets."""


def since(opset: int, convert: Convert) -> tuple[Rule, ...]:
    """Return the only rule of an operator, valid from `opset` on."""
    return (Rule(convert, opset),)
