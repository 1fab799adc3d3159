"""
A TVM target as text and in its parts.

    cuda -keys=cuda,gpu -arch=sm_50 -max_num_threads=1024
    ->
    kind cuda, keys cuda and gpu, options arch and max_num_threads

The text is that of TVM's `Target.str`: the kind, the keys, the options by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


@dataclass(frozen=True)
class TargetParts:
    """The parts of a target; the value of an option is text or an integer."""

    kind: str
    keys: Sequence[str] = ()
    options: Mapping[str, str | int] = field(default_factory=dict[str, str | int])

    @property
    def text(self) -> str:
        """The target as text."""
        keys = [f"-keys={','.join(self.keys)}"] if self.keys else []
        options = [f"-{name}={value}" for name, value in sorted(self.options.items())]
        return " ".join([self.kind, *keys, *options])


def target_parts(text: str) -> TargetParts:
    """
    Split the text of a target into its parts.

    A text that is not in TVM's form becomes the kind as a whole, so nothing of it is lost.
    """
    kind, *words = text.split(" ")
    keys: Sequence[str] = ()
    options: dict[str, str | int] = {}
    for word in words:
        name, _, value = word.removeprefix("-").partition("=")
        if name == "keys":
            keys = value.split(",")
        else:
            options[name] = int(value) if _INTEGER.fullmatch(value) else value
    parts = TargetParts(kind, keys, options)
    return parts if parts.text == text else TargetParts(text)
