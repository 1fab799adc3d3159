"""
The values that may name the same bytes, op by op.

    %v = vm.reshape_tensor %y                   %v names bytes of %y
    %p = relay.tuple(%a, %b)                    %p names bytes of %a and %b
    %y = vm.invoke_tvm_op … outs(%t)            %y names bytes of %t
    %r = func.call @f(%a, %b)                   %r names bytes of what @f may return of %a, %b
    relay.ref_write %c, %a                      %c, and all that %c may be, names bytes of %a

Ops are asked through their interfaces. An op of unknown effects may return any operand; so may a
function that is not in the module. The results of `relay.if` and `relay.match` are left to the
reader, who knows which region was executed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, NoneType, TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import MemoryEffect, MemoryEffectKind, get_effects

from ...dialects import memory
from ...dialects.interfaces import (
    Aliasing,
    CallsFunction,
    ChoosesRegion,
    DestinationPassing,
    FreesOperand,
    Rematerializable,
)
from ...dialects.memory.destination_ops import ResultIsOuts
from ...dialects.xdsl_extras.walking import walk

NO_BYTES = (IntegerType, IndexType, AnyFloat, NoneType, memory.StorageType)


class Traits(NamedTuple):
    """The interfaces of an op class that matter here."""

    chooses: ChoosesRegion | None
    aliasing: Aliasing | None
    """None of an op in destination-passing style whose results name the bytes of `outs` alone."""
    calls: CallsFunction | None
    writes: bool
    frees: bool
    constant: bool
    unknown: bool


_TRAITS: dict[type[Operation], Traits] = {}


def traits_of(op: Operation) -> Traits:
    """Return the interfaces of the class of `op`, cached."""
    kind = type(op)
    found = _TRAITS.get(kind)
    if found is None:
        aliasing = kind.get_trait(Aliasing)
        writes = kind.get_trait(DestinationPassing) is not None
        found = _TRAITS[kind] = Traits(
            kind.get_trait(ChoosesRegion),
            None if writes and type(aliasing) is ResultIsOuts else aliasing,
            kind.get_trait(CallsFunction),
            writes,
            kind.get_trait(FreesOperand) is not None,
            kind.get_trait(Rematerializable) is not None,
            kind.get_trait(MemoryEffect) is None,
        )
    return found


_HAS_BYTES: dict[type[Attribute], bool] = {}


def has_bytes(type: Attribute) -> bool:
    """Test whether a value of `type` may name bytes; cached by class, as are the tests below."""
    kind = type.__class__
    found = _HAS_BYTES.get(kind)
    if found is None:
        found = _HAS_BYTES[kind] = not isinstance(type, NO_BYTES)
    return found and (kind is not TupleType or bool(cast(TupleType, type).types.data))


def names_bytes(value: SSAValue) -> bool:
    """Test whether `value` may name bytes that have a lifetime; a constant has none."""
    if not has_bytes(value.type):
        return False
    owner = value.owner
    return owner.__class__ is Block or not traits_of(cast(Operation, owner)).constant


def is_storage(value: SSAValue) -> bool:
    """Test whether `value` is a storage."""
    return value.type.__class__ is memory.StorageType


def may_lead_to_bytes(value: SSAValue) -> bool:
    """Test whether `value` may name bytes, or is a storage that has some."""
    return is_storage(value) or names_bytes(value)


def may_hold_cells(type: Attribute) -> bool:
    """Test whether a value of `type` may hold a cell, which can be written."""
    if type.__class__ is TensorType:
        return False
    pending = [type]
    while pending:
        part = pending.pop()
        if isinstance(part, TupleType):
            pending += part.types.data
        elif part.__class__ is not TensorType and has_bytes(part):
            return True
    return False


class Returned(NamedTuple):
    """The results of a function, and what they may name."""

    params: tuple[frozenset[int], ...]
    """The parameters, by index, that each result may name, or in which it may lie."""
    shared: bool
    """True if two results may name the same bytes."""


Summaries = Mapping[str, Returned]


def sources(op: Operation, returned: Summaries) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yield the results of `op`, which chooses no region, each with an operand it may name."""
    traits = traits_of(op)
    if traits.calls is not None:
        found = returned.get(traits.calls.callee(op))
        for i, result in enumerate(op.results):
            for j, operand in enumerate(op.operands):
                if found is None or j in found.params[i]:
                    yield result, operand
            if found is None or found.shared:
                yield from ((result, other) for other in op.results[:i])
        return
    if traits.writes:
        yield from zip(op.results, DestinationPassing.outs(op), strict=True)
    if traits.unknown:
        yield from ((result, operand) for result in op.results for operand in op.operands)
    elif traits.aliasing is not None:
        yield from traits.aliasing.aliases(op)


def stores(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yield the operands of `op` that may hold cells, each with a value it may write there."""
    traits = traits_of(op)
    if traits.writes or traits.chooses is not None or len(op.operands) < 2:
        return
    into: Iterable[SSAValue] = op.operands
    if not (traits.unknown or traits.calls is not None):
        effects = get_effects(op) or ()
        into = [
            effect.value
            for effect in effects
            if effect.kind is MemoryEffectKind.WRITE and isinstance(effect.value, SSAValue)
        ]
    for cell in into:
        if may_hold_cells(cell.type):
            yield from ((cell, value) for value in op.operands if value is not cell)


def upwards(value: SSAValue, above: Mapping[SSAValue, Iterable[SSAValue]]) -> dict[SSAValue, None]:
    """Return `value` and all whose bytes it may name."""
    found = {value: None}
    pending = [value]
    while pending:
        for source in above.get(pending.pop(), ()):
            if source not in found:
                found[source] = None
                pending.append(source)
    return found


@dataclass(eq=False)
class Function:
    """A function with a body: its block, and the functions that it calls."""

    block: Block
    callees: dict[str, None]


def summary(block: Block, returned: Summaries) -> Returned:
    """Return what the function of `block` may return."""
    above: dict[SSAValue, dict[SSAValue, None]] = {}
    stored: list[tuple[SSAValue, SSAValue]] = []

    def add(name: SSAValue, source: SSAValue) -> None:
        if may_lead_to_bytes(name) and may_lead_to_bytes(source):
            above.setdefault(name, {})[source] = None

    for op in walk(block, enters=lambda op: traits_of(op).chooses is not None):
        chooses = traits_of(op).chooses
        if isinstance(op, memory.AllocTensorOp):
            add(op.tensor, op.storage)
        elif chooses is None:
            for name, source in sources(op, returned):
                add(name, source)
            stored += stores(op)
        if chooses is None:
            continue
        for argument, operand in chooses.entering(op):
            add(argument, operand)
        for result, value in yields(op):
            add(result, value)
    changed = True
    while changed:
        changed = False
        for cell, value in stored:
            for name in upwards(cell, above):
                if may_hold_cells(name.type) and value not in above.get(name, ()):
                    add(name, value)
                    changed = changed or value in above.get(name, ())
    last = block.last_op
    reached = [
        upwards(value, above) if names_bytes(value) else {}
        for value in (last.operands if last else ())
    ]
    params: dict[SSAValue, int] = {argument: i for i, argument in enumerate(block.args)}
    seen: set[SSAValue] = set()
    shared = False
    for found in ({value for value in values if names_bytes(value)} for values in reached):
        shared = shared or not seen.isdisjoint(found)
        seen.update(found)
    return Returned(
        tuple(frozenset(params[v] for v in found if v in params) for found in reached), shared
    )


def yields(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yield the results of a choice, each with a value that a region yields for it."""
    for region in op.regions:
        last = region.block.last_op
        if last is not None:
            yield from zip(op.results, last.operands, strict=False)


def summaries(functions: Mapping[str, func.FuncOp]) -> dict[str, Returned]:
    """
    Return what each function that has a body and is called may return.

    In a recursion the assumption that it returns nothing of its own is corrected until it holds.
    """
    bodies = {name: op.body.block for name, op in functions.items()}
    called = {name: callees(block) for name, block in bodies.items()}
    needed = {callee for found in called.values() for callee in found}
    blocks = {name: block for name, block in bodies.items() if name in needed}
    callers: dict[str, list[str]] = {}
    for name in blocks:
        for callee in called[name]:
            callers.setdefault(callee, []).append(name)
    returned = {
        name: Returned(tuple(frozenset[int]() for _ in op.function_type.outputs), False)
        for name, op in functions.items()
        if name in blocks
    }
    pending = deque(reversed(blocks))
    queued = set(pending)
    while pending:
        name = pending.popleft()
        queued.discard(name)
        found = summary(blocks[name], returned)
        if found != returned[name]:
            returned[name] = found
            again = [c for c in callers.get(name, ()) if c not in queued]
            pending += again
            queued.update(again)
    return returned


def callees(block: Block) -> dict[str, None]:
    """Return the names of the functions that are called in `block`."""
    found: dict[str, None] = {}
    for op in walk(block):
        calls = traits_of(op).calls
        if calls is not None:
            found[calls.callee(op)] = None
    return found
