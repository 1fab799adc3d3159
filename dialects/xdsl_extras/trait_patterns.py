"""The parts of patterns that xDSL lacks: a match by trait, and the end of a rewrite."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import OpTrait

Patterns: TypeAlias = tuple[RewritePattern, ...]
"""The canonicalizations that an op declares."""

_Match = TypeVar("_Match", bound=Callable[[Any, Operation, PatternRewriter], None])


def op_trait_rewrite_pattern(trait: type[OpTrait]) -> Callable[[_Match], _Match]:
    """
    Offer only ops that have `trait` to the decorated `match_and_rewrite`.

    Our driver asks each class once; called by anything else, the method gets any op.
    """

    def decorate(match: _Match) -> _Match:
        _REQUIRED_TRAITS[match] = trait
        return match

    return decorate


_REQUIRED_TRAITS: dict[Callable[..., None], type[OpTrait]] = {}


def required_trait(match: Callable[..., None]) -> type[OpTrait] | None:
    """Return the trait of the ops that a `match_and_rewrite` is offered, if it asks for one."""
    return _REQUIRED_TRAITS.get(match)


def erase_if_unused(op: Operation, rewriter: PatternRewriter) -> None:
    """Erase `op`, of which a pattern replaced a user, if it has no other."""
    if all(result.first_use is None for result in op.results):
        rewriter.erase(op)
