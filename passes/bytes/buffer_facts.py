"""The facts of op classes and types that decide which bytes values of programs on memrefs name."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    NoneType,
    TensorType,
    UnrankedMemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.traits import (
    MemoryAllocEffect,
    MemoryEffect,
    MemoryFreeEffect,
    MemoryWriteEffect,
    RecursiveMemoryEffect,
)

from ...dialects.interfaces import (
    Aliasing,
    AllocatesResults,
    CallsFunction,
    CapturesOperands,
    HoldsNoTensors,
    PassesValues,
    Runs,
    RunsRegions,
)
from ...dialects.memory import parameter_attributes
from ..functions.call_graph import CallGraph

NO_CAPTURE = "llvm.nocapture"
"""Marks a parameter that a function does not keep."""

NUMBERS = (
    IntegerType | IndexType | AnyFloat | ComplexType | VectorType | NoneType | HoldsNoTensors
) | FunctionType


def names_bytes(type: Attribute) -> bool:
    """Test whether values of `type` may name bytes in memory: memrefs, and what is not a number."""
    return _of_class(type.__class__)


@cache
def _of_class(kind: builtins.type[Attribute]) -> bool:
    return not issubclass(kind, NUMBERS)


def holds_names(type: Attribute) -> bool:
    """Test whether values of `type` name bytes in which others that name bytes may be stored."""
    if isinstance(type, MemRefType | UnrankedMemRefType | TensorType):
        return names_bytes(cast("MemRefType[Attribute]", type).element_type)
    return names_bytes(type)


class Facts(NamedTuple):
    """The traits of an op class that matter here."""

    aliasing: Aliasing | None
    passes: PassesValues | None
    calls: CallsFunction | None
    captures: bool
    is_known: bool
    """True if its effects are known, apart from those of what its regions hold."""
    writes: bool
    frees: bool
    allocates: bool


_FACTS: dict[type[Operation], Facts] = {}


def facts_of(op: Operation) -> Facts:
    """Return the facts of the class of `op`, cached."""
    kind = type(op)
    if kind not in _FACTS:
        effects = {type(effect) for effect in kind.get_traits_of_type(MemoryEffect)}
        passes = kind.get_trait(PassesValues)
        _FACTS[kind] = Facts(
            kind.get_trait(Aliasing),
            passes,
            kind.get_trait(CallsFunction),
            kind.get_trait(CapturesOperands) is not None,
            passes is not None or bool(effects - {RecursiveMemoryEffect}),
            not effects or not effects.isdisjoint({MemoryWriteEffect, RecursiveMemoryEffect}),
            MemoryFreeEffect in effects,
            not effects.isdisjoint({MemoryAllocEffect, AllocatesResults}),
        )
    return _FACTS[kind]


def runs_of(op: Operation) -> Runs | None:
    """Return how `op` runs its regions, if it says so."""
    passes = facts_of(op).passes
    return passes.runs(op) if isinstance(passes, RunsRegions) else None


def is_yield(op: Operation) -> bool:
    """Test whether `op` ends a region of an op that says what this yields."""
    around = op.parent_op()
    is_last = op.next_op is None and not op.successors
    return is_last and around is not None and facts_of(around).passes is not None


def callees_first(module: ModuleOp) -> Iterator[tuple[str, func.FuncOp]]:
    """Yield the functions of a module by name, each after those that it names."""
    graph = CallGraph.of(module)
    for name in graph.callees_first():
        if isinstance(function := graph.symbols[name], func.FuncOp):
            yield name, function


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
