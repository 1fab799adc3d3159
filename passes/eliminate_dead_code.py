"""
Remove computations whose results are unused.

    %0 = relay.exp %x : …                          %r = relay.if %c : … -> (T) {
    %r, %s = relay.if %c : … -> (T, T) {             relay.yield %x : T
      %a = relay.tanh %x : …                       } else {
      relay.yield %x, %a : T, T              ->      relay.yield %y : T
    } else {                                       }
      relay.yield %y, %y : T, T                    func.return %r : T
    }
    %1 = func.call @pure(%x) : (T) -> T
    func.return %r : T

Removed are: ops without effects whose results are unused; unused results of `relay.if` and
`relay.match`, with what the regions compute for them; unused calls of functions that have no
effects and do not recurse; parameters that a private function does not use, at every call and
closure of it. Effects are those of the ops' traits. A failure is not one: an unused operator or
partial match is removed, though it may fail. Dead writes into memory are the work of
`remove-dead-writes`, unused functions that of `remove-unused-functions`.

(xDSL's `dce` does the first of these, in time quadratic in the depth of regions.) From level
`relay` to `manifest`; the level stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import IsTerminator, MemoryEffect, RecursiveMemoryEffect, SymbolOpInterface
from xdsl.transforms.dead_code_elimination import would_be_trivially_dead
from xdsl.utils.symbol_table import get_name_if_symbol

from ..dialects import relay
from ..dialects.relay.language.control import YieldsAlias
from ..dialects.relay.language.dims_attributes import DIM_BOUNDS, dim_names
from ..dialects.xdsl_extras.walking import walk
from .functions.signatures import erase_parameters, keep_bounds
from .functions.symbols import CallGraph, symbols_in
from .support.changes import LevelPass
from .support.rewriting import apply_patterns


@dataclass
class Effects:
    """The ops with effects that a program can observe, besides their results."""

    graph: CallGraph
    recursive: set[str] = field(init=False)
    silent: set[str] = field(default_factory=lambda: set())
    """The functions without effects, which always return."""
    observable: set[Operation] = field(default_factory=lambda: set())
    kinds: dict[type[Operation], bool] = field(default_factory=lambda: {})
    """For each class of ops: whether the effects of an op are those of the ops in it."""

    def __post_init__(self) -> None:
        self.recursive = self.graph.recursive()

    def add(self, name: str) -> None:
        """Find the effects in the symbol `name`; those of what it calls are known."""
        function = self.graph.symbols[name]
        for region in function.regions:
            for op in walk(region, region_first=True):
                if self._is_observable(op):
                    self.observable.add(op)
        if not isinstance(function, func.FuncOp) or name in self.recursive:
            return
        block = function.body.first_block
        if block is None or block.next_block is not None:
            return
        if all(self.is_silent(op) for op in block.ops):
            self.silent.add(name)

    def is_silent(self, op: Operation) -> bool:
        """Test whether `op` may be removed if its results are unused, or ends a silent region."""
        return op not in self.observable or isinstance(op, relay.YieldOp | func.ReturnOp)

    def _is_observable(self, op: Operation) -> bool:
        if isinstance(op, func.CallOp | relay.InvokeOp):
            return op.callee.string_value() not in self.silent
        kind = type(op)
        if kind not in self.kinds:
            traits = op.get_traits_of_type(MemoryEffect)
            self.kinds[kind] = [type(trait) for trait in traits] == [RecursiveMemoryEffect]
        if not self.kinds[kind]:
            return not would_be_trivially_dead(op)
        if op.has_trait(IsTerminator) or op.has_trait(SymbolOpInterface):
            return True
        return not all(self.is_silent(o) for r in op.regions for b in r.blocks for o in b.ops)


@dataclass(frozen=True)
class EraseUnused(RewritePattern):
    """Remove an op that has no effects and whose results are unused."""

    effects: Effects

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if op not in self.effects.observable and not any(result.uses for result in op.results):
            rewriter.erase(op)


@dataclass(frozen=True)
class DropUnusedResults(RewritePattern):
    """Remove unused results of an op whose regions yield them."""

    effects: Effects

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        used = [bool(result.uses) for result in op.results]
        if all(used) or not op.has_trait(YieldsAlias, value_if_unregistered=False):
            return
        regions = [op.detach_region(region) for region in tuple(op.regions)]
        for region in regions:
            last = region.block.last_op
            assert isinstance(last, relay.YieldOp), "verified: the region ends in relay.yield"
            last.operands = [*compress(last.operands, used)]
        kept = [*compress(op.results, used)]
        smaller = type(op).create(
            operands=op.operands,
            result_types=[result.type for result in kept],
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
            location=op.location,
        )
        if op in self.effects.observable:
            self.effects.observable.add(smaller)
        new = iter(smaller.results)
        rewriter.replace(op, smaller, [next(new) if is_used else None for is_used in used])


def symbol_around(op: Operation) -> str | None:
    """Return the symbol of the module that `op` is in; None outside of all, or removed."""
    while (parent := op.parent_op()) is not None and not isinstance(parent, ModuleOp):
        op = parent
    return None if parent is None else get_name_if_symbol(op)


def passes_parameter(user: Operation, name: str, index: int) -> bool:
    """Test whether `user` names the function `name` only to give its parameter `index` a value."""
    if not isinstance(user, func.CallOp | relay.InvokeOp | relay.ClosureOp):
        return False
    return index < len(user.operands) and [*symbols_in(user)] == [name]


def is_passed_on_only(argument: SSAValue, name: str, index: int) -> bool:
    """Test whether a parameter is used only for itself, in direct calls of its own function."""
    return all(
        use.index == index and passes_parameter(use.operation, name, index) for use in argument.uses
    )


def unused_parameters(function: Operation, users: Sequence[Operation]) -> list[int]:
    """Return the parameters that a private function does not need, and that all users can drop."""
    if not isinstance(function, func.FuncOp) or function.sym_visibility != StringAttr("private"):
        return []
    name, block = function.sym_name.data, function.body.first_block
    if block is None:
        return []
    return [
        i
        for i, argument in enumerate(block.args)
        if is_passed_on_only(argument, name, i)
        and all(passes_parameter(user, name, i) for user in users)
    ]


def drop_parameters(
    function: func.FuncOp, indices: Sequence[int], users: Sequence[Operation]
) -> None:
    """Remove parameters of `function`, and what `users` give for them."""
    for user in users:
        user.operands = [value for i, value in enumerate(user.operands) if i not in indices]
    erase_parameters(function, indices)
    if DIM_BOUNDS in function.attributes:
        keep_bounds(function, {name for names in dim_names(function) for name in names})


class EliminateDeadCodePass(LevelPass):
    name = "eliminate-dead-code"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        graph = CallGraph.of(op)
        effects, removed = Effects(graph), set[Operation]()
        patterns = (EraseUnused(effects), DropUnusedResults(effects))
        names = [*graph.callees_first()]

        def note_removed(op: Operation) -> None:
            removed.update(walk(op))

        def sweep(name: str) -> bool:
            # From the end: an op dies when its users, further down, are gone.
            dropped = [
                apply_patterns(region, *patterns, walk_reverse=True, on_removed=note_removed)
                for region in graph.symbols[name].regions
            ]
            return any(dropped)

        for name in names:  # callees first: their effects are known
            effects.add(name)
            sweep(name)
        changed = True
        dirty: set[str] = set()
        while changed:
            changed = False
            for name in names:
                if name in dirty:
                    dirty.discard(name)
                    changed |= sweep(name)
                function, named_by = (
                    graph.symbols[name],
                    [u for u in graph.users[name] if u not in removed],
                )
                unused = unused_parameters(function, named_by)
                if unused and name not in graph.roots:
                    assert isinstance(function, func.FuncOp)
                    drop_parameters(function, unused, named_by)
                    dirty.update(symbol for user in named_by if (symbol := symbol_around(user)))
                    changed = True
