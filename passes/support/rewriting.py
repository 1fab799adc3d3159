"""
Apply rewrite patterns to a module: the one place that makes a `PatternRewriteWalker`.

    apply_patterns(module, KillTensor())                      each op once
    apply_patterns(module, FoldA(), FoldB(), recursive=True)  until nothing changes

What it adds to xDSL's walker:

- an op that a pattern makes has the location of the op it replaces (of the matched op,
  when it replaces none), and so have the ops in its regions;
- patterns that undo each other end in a `PassError` that names them, not in a hang;
- nothing is removed that no pattern removes (xDSL's applier erases dead ops);
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
"""The default cap: this many rewrites for each op that is there at the start …"""

REWRITES_AT_LEAST = 1024
"""… and this many for any module, however small."""


class _Escape(BaseException):
    """Carries an error past the walker, which would add the module's text to it."""

    def __init__(self, error: Exception):
        self.error = error


@dataclass
class _Locations:
    """Gives the ops that a match inserts the location of what they stand for."""

    matched: LocationAttr = UNKNOWN_LOC
    fresh: dict[Operation, None] = field(default_factory=dict[Operation, None])
    """The ops that this match inserted and that had no location, in order."""

    def start(self, op: Operation) -> None:
        self.matched = op.location
        if self.fresh:
            self.fresh.clear()

    def inserted(self, op: Operation) -> None:
        if op.location is UNKNOWN_LOC:
            self.fresh[op] = None
            locate(op, self.matched)

    def replaced(self, op: Operation, _: Sequence[SSAValue | None]) -> None:
        """The walker has put the new ops right before `op`, which is still there."""
        if op.location is self.matched:
            return
        new = op.prev_op
        while new is not None and new in self.fresh:
            if new.location is self.matched:
                locate(new, op.location, self.matched)
            new = new.prev_op


def locate(op: Operation, location: LocationAttr, instead_of: LocationAttr = UNKNOWN_LOC) -> None:
    """Set the location of `op`, and of ops in it, where it is `instead_of`."""
    if not op.regions:
        op.location = location
        return
    for inner in walk(op):
        if inner.location is instead_of:
            inner.location = location


@dataclass
class _Patterns(RewritePattern):
    """Tries patterns in order until one acts, counts, and stops at the cap."""

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
    """`error` with the op that was being matched, so that a driver can point at it."""
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
    """A walker that, given ops, offers only them; it finds others in linear time."""

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

    Each op is visited once, in program order, and ops made on the way are not visited;
    with `recursive`, everything is visited again until no pattern acts.
    `walk_reverse` starts at the end (users before definitions), `walk_regions_first`
    visits an op's regions before the op. `on_removed` is called with each op that a
    pattern erases or replaces, just before. With `only`, a pass that knows which ops in
    `where` it is about saves the walk: these are visited once, in the order given.

    Returns whether anything changed. Raises `PassError` after more than `max_rewrites`
    rewrites, naming the patterns that go on; by default, with `recursive`, that is 32 per
    op, at least 1024.
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
