"""
The pattern driver of every pass.

    apply_patterns(module, KillTensor())               each op once
    while apply_patterns(module, FoldA(), FoldB()): …  until nothing changes
    rewrite_each(ops, lambda op, rewriter: …)          ops that an analysis chose
    erase_unused(ops)                                  those of them that nothing uses

The driver takes patterns of xDSL, but is not xDSL's walker:

- a pattern is only called for ops of the classes that it names: by `op_type_rewrite_pattern`, or by
  `op_trait_rewrite_pattern`, those that have a trait;
- an op that a pattern creates, and every op in its regions, gets the location of the op that it
  replaces (of the matched op if it replaces none);
- only patterns remove ops (xDSL's greedy applier erases dead ones);
- an error raised in a pattern keeps its type and does not print the whole module.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

from typing_extensions import override
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.transforms.dead_code_elimination import is_trivially_dead
from xdsl.utils.exceptions import DiagnosticException

from ...dialects.xdsl_extras.trait_patterns import (
    op_trait_rewrite_pattern as op_trait_rewrite_pattern,  # for passes, of plug-ins too
)
from ...dialects.xdsl_extras.trait_patterns import required_trait
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import exchange_results, expected_classes
from .diagnostics import PassError


def locate(op: Operation, location: LocationAttr, instead_of: LocationAttr = UNKNOWN_LOC) -> None:
    """Set the location of `op`, and of the ops in it whose location is `instead_of`."""
    if not op.regions:
        op.location = location
        return
    for inner in walk(op):
        if inner.location is instead_of:
            inner.location = location


def _accepts(pattern: RewritePattern, kind: type[Operation]) -> bool:
    """Test whether `pattern` may match ops of class `kind`."""
    match = type(pattern).match_and_rewrite
    trait, classes = required_trait(match), expected_classes(match)
    if trait is not None:
        return kind.get_trait(trait) is not None
    return classes is None or issubclass(kind, classes)


class _PatternsByClass(dict[type[Operation], tuple[RewritePattern, ...]]):
    """The patterns that may match ops of a class, in order; each class is looked at once."""

    def __init__(self, patterns: Sequence[RewritePattern]):
        super().__init__()
        self.patterns = patterns

    def __missing__(self, kind: type[Operation]) -> tuple[RewritePattern, ...]:
        patterns = self[kind] = tuple(p for p in self.patterns if _accepts(p, kind))
        return patterns


@dataclass(eq=False, init=False)
class _Rewriter(PatternRewriter):
    """Locates the ops that a match inserts."""

    def __init__(self, first: Operation, on_removed: Callable[[Operation], None] | None):
        super().__init__(first)
        self.on_removed = on_removed
        self.fresh = dict[Operation, None]()
        """The ops without a location that this match inserted, in order."""
        self.location: LocationAttr = first.location
        self._point: InsertPoint | None

    @property
    def insertion_point(self) -> InsertPoint:
        """The default place of insertion, found when a match asks: most change nothing."""
        if self._point is None:
            assert self._current_operation is not None, "a match"
            self._point = InsertPoint.before(self._current_operation)
        return self._point

    @insertion_point.setter
    def insertion_point(  # pyright: ignore[reportIncompatibleVariableOverride]
        self, point: InsertPoint
    ) -> None:
        self._point = point

    def start(self, op: Operation) -> None:
        """Get ready to match `op`."""
        self.has_done_action = False
        self._current_operation = op
        self._point = None
        if self.name_hint is not None:
            self.name_hint = None
        self.location = op.location
        if self.fresh:
            self.fresh.clear()

    @override
    def handle_operation_insertion(self, op: Operation) -> None:
        if op.location is UNKNOWN_LOC:
            self.fresh[op] = None
            locate(op, self.location)

    @override
    def handle_operation_replacement(
        self, op: Operation, new_results: Sequence[SSAValue | None]
    ) -> None:
        """Relocate the new ops; they are inserted right before `op`, which is not yet erased."""
        if op.location is self.location:
            return
        new = op.prev_op
        while new is not None and new in self.fresh:
            if new.location is self.location:
                locate(new, op.location, self.location)
            new = new.prev_op

    @override
    def handle_operation_removal(self, op: Operation) -> None:
        if self.on_removed is not None:
            self.on_removed(op)


def _visit(
    ops: Iterable[Operation],
    patterns: Sequence[RewritePattern],
    on_removed: Callable[[Operation], None] | None = None,
) -> bool:
    """Offer each of `ops` that is in a block once, if not removed; return whether any changed."""
    by_class, changed = _PatternsByClass(patterns), False
    pending = [op for op in ops if op.parent is not None and by_class[type(op)]][::-1]
    if not pending:
        return False
    rewriter = _Rewriter(pending[-1], on_removed)
    while pending:
        op = pending.pop()
        if op.parent is None:
            continue  # removed
        rewriter.start(op)
        for pattern in by_class[type(op)]:
            try:
                pattern.match_and_rewrite(op, rewriter)
            except Exception as error:
                _raise_placed(error, pattern, op)
            if rewriter.has_done_action:
                changed = True
                break
    return changed


def _raise_placed(error: Exception, pattern: RewritePattern, op: Operation) -> NoReturn:
    """Raise `error` with the op that was being matched, so that a driver can point at it."""
    if isinstance(error, DiagnosticException) and not isinstance(error, PassError):
        raise PassError(str(error), op) from error
    if not isinstance(error, PassError):
        error.add_note(f"in pattern {type(pattern).__name__}, on an op '{op.name}'")
    raise error


def replace_by_equal(
    op: Operation, new_ops: Sequence[Operation], rewriter: PatternRewriter
) -> None:
    """
    Replace `op`, which is matched, by `new_ops`; the last one takes its results, with names.

    The last one must have results of the same types, and no users. Other than by
    `rewriter.replace`, no user changes.
    """
    exchange_results(new_ops[-1], op)
    rewriter.insert(new_ops, InsertPoint.before(op))
    rewriter.erase(op)


_Op = TypeVar("_Op", bound=Operation)


@dataclass(frozen=True)
class _Each(RewritePattern, Generic[_Op]):
    rewrite: Callable[[_Op, PatternRewriter], object]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self.rewrite(op, rewriter)  # pyright: ignore[reportArgumentType]


def rewrite_each(ops: Iterable[_Op], rewrite: Callable[[_Op, PatternRewriter], object]) -> bool:
    """
    Rewrite each of `ops`, which an analysis chose; return whether any changed.

    Errors and locations are as those of patterns; `RewritePattern` is for ops that match by what
    they are.
    """
    return _visit(ops, [_Each(rewrite)])


def erase_unused(
    ops: Iterable[Operation], is_removable: Callable[[Operation], bool] = is_trivially_dead
) -> bool:
    """
    Erase those of `ops`, in program order, that nothing uses, the last first; return whether any.

    Those that are not `is_removable` stay: by default, ops with effects.
    """

    def erase(op: Operation, rewriter: PatternRewriter) -> None:
        if all(result.first_use is None for result in op.results) and is_removable(op):
            rewriter.erase(op)

    return rewrite_each([*ops][::-1], erase)


def apply_patterns(
    where: ModuleOp | Region,
    *patterns: RewritePattern,
    walk_reverse: bool = False,
    walk_regions_first: bool = False,
    on_removed: Callable[[Operation], None] | None = None,
    only: Sequence[Operation] | None = None,
) -> bool:
    """
    Offer every op in `where` to `patterns`, in order; the first that acts wins.

    Each op is visited once, in program order; ops created on the way are not visited.
    `walk_reverse` starts at the end (users before definitions), `walk_regions_first` visits an op's
    regions before the op. `on_removed` is called with each op just before a pattern erases or
    replaces it. With `only`, just these ops of `where` are visited, once, in the order given; it
    saves the walk. Returns whether anything changed.
    """
    if only is None:
        region = where.body if isinstance(where, ModuleOp) else where
        only = [*walk(region, reverse=walk_reverse, region_first=walk_regions_first)]
    return _visit(only, patterns, on_removed)
