"""
The pattern driver of every pass.

    apply_patterns(module, KillTensor())                      each op once
    apply_patterns(module, FoldA(), FoldB(), recursive=True)  until nothing changes
    rewrite_each(ops, lambda op, rewriter: …)                 ops that an analysis chose

The driver takes patterns of xDSL, but is not xDSL's walker:

- a pattern is only called for ops of the classes that it names: by `op_type_rewrite_pattern`, or by
  `op_trait_rewrite_pattern`, those that have a trait;
- an op that a pattern creates, and every op in its regions, gets the location of the op that it
  replaces (of the matched op if it replaces none);
- patterns that undo each other end in a `PassError` that names them, not in a hang;
- only patterns remove ops (xDSL's greedy applier erases dead ones);
- an error raised in a pattern keeps its type and does not print the whole module.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NoReturn, TypeVar

from typing_extensions import override
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import DiagnosticException

from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import exchange_results, expected_classes
from .diagnostics import PassError

REWRITES_PER_OP = 32
"""The default limit: so many rewrites for each op present at the start …"""

REWRITES_AT_LEAST = 1024
"""… and at least so many for a module."""


def locate(op: Operation, location: LocationAttr, instead_of: LocationAttr = UNKNOWN_LOC) -> None:
    """Set the location of `op`, and of the ops in it whose location is `instead_of`."""
    if not op.regions:
        op.location = location
        return
    for inner in walk(op):
        if inner.location is instead_of:
            inner.location = location


_Match = TypeVar("_Match", bound=Callable[[Any, Operation, PatternRewriter], None])


def op_trait_rewrite_pattern(trait: type[OpTrait]) -> Callable[[_Match], _Match]:
    """
    Offer only ops that have `trait` to the decorated `match_and_rewrite`.

    The driver asks each class once; called by anything else, the method gets any op.
    """

    def decorate(match: _Match) -> _Match:
        _REQUIRED_TRAITS[match] = trait
        return match

    return decorate


_REQUIRED_TRAITS: dict[Callable[..., None], type[OpTrait]] = {}


def _accepts(pattern: RewritePattern, kind: type[Operation]) -> bool:
    """Test whether `pattern` may match ops of class `kind`."""
    match = type(pattern).match_and_rewrite
    trait, classes = _REQUIRED_TRAITS.get(match), expected_classes(match)
    if trait is not None:
        return kind.get_trait(trait) is not None
    return classes is None or issubclass(kind, classes)


class _PatternsByClass(dict[type[Operation], tuple[RewritePattern, ...]]):
    """The patterns that may match ops of a class, in order; each class is looked at once."""

    def __init__(self, patterns: Sequence[RewritePattern]):
        super().__init__()
        self.patterns = patterns

    def __missing__(self, kind: type[Operation]) -> tuple[RewritePattern, ...]:
        found = self[kind] = tuple(p for p in self.patterns if _accepts(p, kind))
        return found


@dataclass(eq=False, init=False)
class _Rewriter(PatternRewriter):
    """Locates the ops that a match inserts, and notes the ops that it may have enabled."""

    def __init__(
        self, first: Operation, on_removed: Callable[[Operation], None] | None, recursive: bool
    ):
        super().__init__(first)
        self.on_removed = on_removed
        self.enabled: list[Operation] | None = [] if recursive else None
        """The ops to visit again, latest last; not noted unless `recursive`."""
        self.fresh = dict[Operation, None]()
        """The ops without a location that this match inserted, in order."""
        self.location: LocationAttr = first.location

    def start(self, op: Operation) -> None:
        """Get ready to match `op`."""
        self.has_done_action = False
        self.current_operation = op
        self.insertion_point = InsertPoint.before(op)
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
        if self.enabled is not None:
            self.enabled.append(op)

    @override
    def handle_operation_replacement(
        self, op: Operation, new_results: Sequence[SSAValue | None]
    ) -> None:
        """Relocate the new ops; they are inserted right before `op`, which is not yet erased."""
        if self.enabled is not None:
            self.enabled += (use.operation for result in op.results for use in result.uses)
        if op.location is self.location:
            return
        new = op.prev_op
        while new is not None and new in self.fresh:
            if new.location is self.location:
                locate(new, op.location, self.location)
            new = new.prev_op

    @override
    def handle_operation_modification(self, op: Operation) -> None:
        if self.enabled is not None:
            self.enabled.append(op)

    @override
    def handle_operation_removal(self, op: Operation) -> None:
        if self.on_removed is not None:
            self.on_removed(op)
        if self.enabled is not None:
            owners = (operand.owner for operand in op.operands)
            self.enabled += (owner for owner in owners if isinstance(owner, Operation))


@dataclass
class _Driver:
    """Offers ops to patterns; counts rewrites, and stops at the limit."""

    patterns: _PatternsByClass
    max_rewrites: int | None
    on_removed: Callable[[Operation], None] | None
    recursive: bool
    rewrites: int = 0
    recent: list[RewritePattern] = field(default_factory=list[RewritePattern])

    def visit(self, ops: Iterator[Operation]) -> bool:
        """
        Visit each of `ops` once, unless it is removed before; return whether any changed.

        With `recursive`, the ops that a rewrite may have enabled are visited right after it.
        """
        patterns, changed = self.patterns, False
        pending = [op for op in ops if patterns[type(op)]][::-1]
        if not pending:
            return False
        rewriter = _Rewriter(pending[-1], self.on_removed, self.recursive)
        while pending:
            op = pending.pop()
            if op.parent is None:
                continue  # removed
            rewriter.start(op)
            for pattern in patterns[type(op)]:
                try:
                    pattern.match_and_rewrite(op, rewriter)
                except Exception as error:
                    _raise_placed(error, pattern, op)
                if rewriter.has_done_action:
                    changed = True
                    self._count(pattern, op)
                    break
            if rewriter.enabled:
                pending += rewriter.enabled
                rewriter.enabled.clear()
        return changed

    def _count(self, pattern: RewritePattern, op: Operation) -> None:
        if self.max_rewrites is None:
            return
        self.rewrites += 1
        left = self.max_rewrites - self.rewrites
        if left < 8:
            self.recent.append(pattern)
        if left < 0:
            names = dict.fromkeys(type(p).__name__ for p in self.recent)
            raise PassError(
                f"rewriting did not settle after {self.max_rewrites} rewrites; "
                f"the last ones were by {', '.join(names)}",
                op,
            )


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
    driver = _Driver(_PatternsByClass([_Each(rewrite)]), None, None, False)
    return driver.visit(iter(ops))


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
    `recursive`, so are the ops that a rewrite changed or may have enabled, and all ops again until
    no pattern acts. `walk_reverse` starts at the end (users before definitions),
    `walk_regions_first` visits an op's regions before the op. `on_removed` is called with each op
    just before a pattern erases or replaces it. With `only`, just these ops of `where` are
    visited, once, in the order given; it saves the walk.

    Returns whether anything changed. Raises `PassError`, naming the patterns, after more than
    `max_rewrites` rewrites: with `recursive` 32 per op and at least 1024, unless given.
    """
    assert only is None or not recursive, "a fixpoint needs all ops"
    region = where.body if isinstance(where, ModuleOp) else where
    if max_rewrites is None and recursive:
        size = sum(1 for _ in walk(region))
        max_rewrites = max(REWRITES_AT_LEAST, REWRITES_PER_OP * size)
    driver = _Driver(_PatternsByClass(patterns), max_rewrites, on_removed, recursive)

    def visit() -> bool:
        if only is not None:
            return driver.visit(iter(only))
        return driver.visit(walk(region, reverse=walk_reverse, region_first=walk_regions_first))

    changed = visit()
    while recursive and visit():
        pass
    return changed
