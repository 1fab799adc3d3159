"""The facts of op classes and types that decide which bytes values of programs on memrefs name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import MemoryAllocEffect, MemoryEffect, MemoryFreeEffect, RecursiveMemoryEffect

from ...dialects.interfaces import (
    AllocatesResults,
    CapturesOperands,
    PassesValues,
    Runs,
    RunsRegions,
)
from ...dialects.interfaces.memory_effects import Named
from ...dialects.memory import parameter_attributes
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ..functions.symbols import CallGraph
from .op_facts import OpFacts, has_bytes

NO_CAPTURE = "llvm.nocapture"
"""Marks a parameter that a function does not keep."""

RETURNED = "returned"
"""The reason for which what a function returns is needed later."""


def holds_names(type: Attribute) -> bool:
    """Test whether values of `type` name bytes in which others that name bytes may be stored."""
    if isinstance(type, MemRefType | UnrankedMemRefType | TensorType):
        return has_bytes(cast("MemRefType[Attribute]", type).element_type)
    return has_bytes(type)


class BufferFacts(OpFacts):
    """The traits of an op class that matter to programs on memrefs."""

    def __init__(self, kind: type[Operation]) -> None:
        super().__init__(kind)
        effects = {type(effect) for effect in kind.get_traits_of_type(MemoryEffect)}
        self.passes = kind.get_trait(PassesValues)
        self.captures = kind.get_trait(CapturesOperands)
        self.is_known = self.passes is not None or bool(effects - {RecursiveMemoryEffect})
        """True if its effects are known, apart from those of what its regions hold."""
        self.deallocates = MemoryFreeEffect in effects
        self.allocates = not effects.isdisjoint({MemoryAllocEffect, AllocatesResults})


facts_of_class = cache(BufferFacts)
"""The facts of an op class."""


def facts_of(op: Operation) -> BufferFacts:
    """Return the facts of the class of `op`."""
    return facts_of_class(type(op))


def runs_of(op: Operation) -> Runs | None:
    """Return how `op` runs its regions, if it says so."""
    passes = facts_of(op).passes
    return passes.runs(op) if isinstance(passes, RunsRegions) else None


def is_yield(op: Operation) -> bool:
    """Test whether `op` ends a region of an op that says what this yields."""
    around = op.parent_op()
    is_last = op.next_op is None and not op.successors
    return is_last and around is not None and facts_of(around).passes is not None


class Kept(NamedTuple):
    """The uses of its parameters that outlive a call of a function."""

    captured: frozenset[int] = frozenset()
    """The parameters whose bytes may be used after the call, other than through results."""
    returned: frozenset[int] = frozenset()
    """The parameters that results may alias."""

    @staticmethod
    def by_declaration(function: func.FuncOp) -> Kept:
        """Return what a function without a body may keep."""
        count = len(function.function_type.inputs)
        attributes = (parameter_attributes(function, i) for i in range(count))
        kept = frozenset(i for i, entry in enumerate(attributes) if NO_CAPTURE not in entry)
        return Kept(kept, kept)


class Flow(NamedTuple):
    """The bytes that values name by what an op does."""

    named: Named = ()
    """Arguments and results, each with a value whose bytes it may name."""
    captured: Sequence[tuple[SSAValue, str]] = ()
    """The operands whose bytes may be used otherwise after the op, each with the reason."""
    is_foreign: bool = False
    """True if results may name bytes of no operand."""


def flow_of(op: Operation, kept: Mapping[str, Kept]) -> Flow:
    """Return which bytes values name by what `op` does; `kept` has the functions that it calls."""
    facts = facts_of(op)
    operands = [value for value in operands_of(op) if has_bytes(value.type)]
    results = [result for result in op.results if has_bytes(result.type)]
    every = ((result, value) for result in results for value in operands)
    if facts.calls is not None:
        callee = facts.calls.callee(op)
        summary, all_of_it = kept.get(callee), range(len(operands_of(op)))
        captured, returned = summary or (all_of_it, all_of_it)
        why = f"captured by @{callee}" if summary else f"an operand of a call of @{callee}"
        values = [*enumerate(operands_of(op))]
        named = [(result, v) for i, v in values if i in returned for result in results]
        return Flow(named, [(v, why) for i, v in values if i in captured], True)
    if facts.passes is not None:
        return Flow(facts.passes.passed(op))
    if is_yield(op):
        return Flow()
    if isinstance(op, func.ReturnOp):
        return Flow((), [(value, RETURNED) for value in operands])
    if not facts.is_known or facts.captures:
        why = facts.captures.why if facts.captures else "whose effects are not known"
        why = f"an operand of {op.name}, {why}"
        return Flow(every, [(value, why) for value in operands], True)
    if facts.aliasing is not None:
        return Flow(facts.aliasing.aliases(op), (), facts.allocates or not operands)
    values = [*operands, *results]
    stores = len(values) > 1 and any(holds_names(value.type) for value in values)
    captured = [(value, f"may be stored by {op.name}") for value in operands if stores]
    return Flow(() if facts.allocates else every, captured, facts.allocates or not operands)


def callees_first(module: ModuleOp) -> Iterator[tuple[str, func.FuncOp]]:
    """Yield the functions of a module by name, each after those that it names."""
    graph = CallGraph.of(module)
    for name in graph.callees_first():
        if isinstance(function := graph.symbols[name], func.FuncOp):
            yield name, function
