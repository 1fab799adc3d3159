"""
Apply rewrite patterns to a module; every pass does so here.

    apply_patterns(module, KillTensor())                      each op once
    apply_patterns(module, FoldA(), FoldB(), recursive=True)  until nothing changes

Additions to xDSL's walker:

- an op that a pattern creates, and every op in its regions, gets the location of the op that it
  replaces (of the matched op if it replaces none);
- patterns that undo each other end in a `PassError` that names them, not in a hang;
- only patterns remove ops (xDSL's greedy applier erases dead ones);
- an error raised in a pattern keeps its type and does not print the whole module.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from typing_extensions import override
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriterListener,
    RewritePattern,
)
from xdsl.utils.exceptions import DiagnosticException

from ...dialects.walking import walk
from ...dialects.xdsl_internals import OfferingWalker
from .diagnostics import PassError

REWRITES_PER_OP = 32
"""The default limit: so many rewrites for each op present at the start …"""

REWRITES_AT_LEAST = 1024
"""… and at least so many for a module."""


class _Escape(BaseException):
    """Carries an error past the walker, which would add the text of the module to it."""

    def __init__(self, error: Exception):
        self.error = error


@dataclass
class _Locations:
    """Gives the ops that a match inserts the location of what they replace."""

    matched: LocationAttr = UNKNOWN_LOC
    fresh: dict[Operation, None] = field(default_factory=dict[Operation, None])
    """The ops without a location that this match inserted, in order."""

    def start(self, op: Operation) -> None:
        self.matched = op.location
        if self.fresh:
            self.fresh.clear()

    def inserted(self, op: Operation) -> None:
        if op.location is UNKNOWN_LOC:
            self.fresh[op] = None
            locate(op, self.matched)

    def replaced(self, op: Operation, _: Sequence[SSAValue | None]) -> None:
        """Relocate the new ops; the walker has inserted them right before `op`, not yet erased."""
        if op.location is self.matched:
            return
        new = op.prev_op
        while new is not None and new in self.fresh:
            if new.location is self.matched:
                locate(new, op.location, self.matched)
            new = new.prev_op


def locate(op: Operation, location: LocationAttr, instead_of: LocationAttr = UNKNOWN_LOC) -> None:
    """Set the location of `op`, and of the ops in it whose location is `instead_of`."""
    if not op.regions:
        op.location = location
        return
    for inner in walk(op):
        if inner.location is instead_of:
            inner.location = location


@dataclass
class _Patterns(RewritePattern):
    """Tries patterns in order until one acts; counts rewrites, and stops at the limit."""

    patterns: tuple[RewritePattern, ...]
    max_rewrites: int | None
    locations: _Locations
    rewrites: int = 0
    recent: list[RewritePattern] = field(default_factory=list[RewritePattern])

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self.locations.start(op)
        for pattern in self.patterns:
            try:
                pattern.match_and_rewrite(op, rewriter)
            except Exception as error:
                raise _Escape(_placed(error, pattern, op)) from None
            if rewriter.has_done_action:
                self._count(pattern, op)
                return

    def _count(self, pattern: RewritePattern, op: Operation) -> None:
        if self.max_rewrites is None:
            return
        self.rewrites += 1
        left = self.max_rewrites - self.rewrites
        if left < 8:
            self.recent.append(pattern)
        if left < 0:
            names = dict.fromkeys(type(p).__name__ for p in self.recent)
            raise _Escape(
                PassError(
                    f"rewriting did not settle after {self.max_rewrites} rewrites; "
                    f"the last ones were by {', '.join(names)}",
                    op,
                )
            )


def _placed(error: Exception, pattern: RewritePattern, op: Operation) -> Exception:
    """Return `error` with the op that was being matched, so that a driver can point at it."""
    if isinstance(error, PassError):
        return error
    if isinstance(error, DiagnosticException):
        placed = PassError(str(error), op)
        placed.__cause__ = error
        return placed
    error.add_note(f"in pattern {type(pattern).__name__}, on an op '{op.name}'")
    return error


@dataclass(eq=False, repr=False)
class _Walker(OfferingWalker):
    """A walker that offers all ops, in linear time, or the ops `only`."""

    only: Sequence[Operation] | None = None

    @override
    def offered(self, root: Operation | Region | Block) -> Iterable[Operation]:
        if self.only is not None:
            return reversed(self.only)
        return walk(root, reverse=not self.walk_reverse, region_first=not self.walk_regions_first)


def apply_patterns(
    where: ModuleOp | Region,
    *patterns: RewritePattern,
    recursive: bool = False,
    max_rewrites: int | None = None,
    walk_reverse: bool = False,
    walk_regions_first: bool = False,
    on_removed: Callable[[Operation], None] | None = None,
    only: Sequence[Operation] | None = None,
) -> bool:
    """
    Offer every op in `where` to `patterns`, in order; the first that acts wins.

    Each op is visited once, in program order; ops created on the way are not visited. With
    `recursive`, all ops are visited again until no pattern acts. `walk_reverse` starts at the end
    (users before definitions), `walk_regions_first` visits an op's regions before the op.
    `on_removed` is called with each op just before a pattern erases or replaces it. With `only`,
    just these ops of `where` are visited, once, in the order given; it saves the walk.

    Returns whether anything changed. Raises `PassError`, naming the patterns, after more than
    `max_rewrites` rewrites: with `recursive` 32 per op and at least 1024, unless given.
    """
    assert only is None or not recursive, "a fixpoint needs all ops"
    region = where.body if isinstance(where, ModuleOp) else where
    if max_rewrites is None and recursive:
        size = sum(1 for _ in walk(region))
        max_rewrites = max(REWRITES_AT_LEAST, REWRITES_PER_OP * size)
    locations = _Locations()
    walker = _Walker(
        _Patterns(patterns, max_rewrites, locations),
        apply_recursively=recursive,
        walk_reverse=walk_reverse,
        walk_regions_first=walk_regions_first,
        listener=PatternRewriterListener(
            operation_insertion_handler=[locations.inserted],
            operation_replacement_handler=[locations.replaced],
            operation_removal_handler=[] if on_removed is None else [on_removed],
        ),
        only=only,
    )
    try:
        return walker.rewrite_region(region)
    except _Escape as escape:
        raise escape.error from escape.error.__cause__
