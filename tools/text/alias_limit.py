"""
The limit on attribute aliases in the input.

    #a1 = [#a0, #a0]
    #a2 = [#a1, #a1]
    …

An alias is one attribute however often it is used, but it is hashed, compared and verified as if it
were written out, which takes 2^n steps for n lines as above.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from typing_extensions import override
from xdsl.ir import Attribute

AT_LEAST = 4_000_000
"""Aliases may expand to this many characters in any text, however short …"""

PER_CHARACTER = 32
"""… and for this many for each character of it."""


@dataclass
class Aliases(dict[str, Attribute]):
    """The aliases of one text; `fail` reports a use that exceeds the limit."""

    limit: int
    fail: Callable[[str, str], NoReturn]
    """Called with the name of the alias and what is wrong."""
    expanded: int = 0
    """Number of characters that the uses so far expand to."""
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """Number of characters that each alias expands to."""

    @override
    def __getitem__(self, name: str) -> Attribute:
        self.expanded += self.sizes[name]
        if self.expanded > self.limit:
            self.fail(
                name,
                f"the uses of aliases up to here expand to {self.expanded} characters, but the "
                f"limit for this text is {self.limit}",
            )
        return super().__getitem__(name)
