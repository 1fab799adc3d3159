"""
The steps of a block, the order that they must keep, and the bytes that they use.

    %c = relay.constant …                 on demand: right before its first user
    %s = memory.alloc_storage 64 …        on demand
    %t = memory.alloc_tensor %s[0]        on demand
    %y = vm.invoke_tvm_op @f …            step 0, the first to use the bytes of %s
    relay.require eq %n, %m, …            step 1: steps after it stay after it
    func.call @g(%y)                      step 2: no step crosses it, its effects are not known
    relay.yield %y                        the bytes of %s are in use at the end

Constants, arithmetic and allocations are not steps: they have no effects, use no bytes, and are
executed when a step needs them. A branch is one step of the block around it, and each of its arms
has steps of its own. What a step must come after: the definitions of its operands; what it
conflicts with by its effects on cells, on tensors that share a storage, or by a kill; checks before
it; and steps of unknown effects. Nearly linear: an op counts once for each block around it in which
it is the first to use something.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, MemoryEffectKind, get_effects
from xdsl.utils.disjoint_set import IntDisjointSet

from ...dialects import memory, relay
from ...dialects.interfaces import AllocatesResults, DestinationPassing, KernelEffects
from ..support.walk import run_nested
from .aliases import AliasClasses
from .op_facts import facts_of, is_choice, root_of
from .storages import is_destination_of_shapes

MAX_REASONS = 8
"""The number of steps that an op may need and still be executed on demand."""


class Effects(NamedTuple):
    """The effects of an op that order it."""

    stops: bool = False
    """True if they are not known, or are not those on bytes."""
    checks: bool = False
    """True if it may stop the program on purpose."""
    writes: tuple[SSAValue, ...] = ()
    """The operands whose bytes it changes, but for tensors in a storage of their own."""


NO_EFFECTS = Effects()


@dataclass(eq=False)
class _Step:
    """A step that is being read."""

    op: Operation
    reasons: dict[int, None] = field(default_factory=lambda: {})
    """The steps before it."""
    keys: dict[int, bool] = field(default_factory=lambda: {})
    """The bytes that it uses; True if it changes them."""
    needs: dict[Operation, None] = field(default_factory=lambda: {})
    """The ops on demand that it uses."""
    stops: bool = False
    checks: bool = False


@dataclass(eq=False)
class Steps:
    """The steps of a block. Bytes have a key: the number of their class, or of classes together."""

    block: Block
    around: Steps | None
    """The steps of the block that holds the branch whose arm this is."""
    at: int
    """The step of `around` that is the branch."""
    ops: list[Operation] = field(default_factory=lambda: [])
    before: list[list[int]] = field(default_factory=lambda: [])
    needs: list[list[Operation]] = field(default_factory=lambda: [])
    """For each step, the ops on demand that it uses."""
    on_demand: dict[Operation, tuple[int, ...]] = field(default_factory=lambda: {})
    """The ops that are not steps, and the steps that they need."""
    uses: dict[int, list[int]] = field(default_factory=lambda: {})
    """For each of the bytes, the steps that use them."""
    at_end: set[int] = field(default_factory=lambda: set())
    """The bytes that the terminator uses, or that are used after the block."""
    storages: dict[memory.AllocStorageOp, list[int]] = field(default_factory=lambda: {})
    """The storages that the block allocates, and for each the steps that write it."""


@dataclass(eq=False)
class Bytes:
    """The bytes of a body: which have a storage, and which are used in order."""

    keys: dict[int, int] = field(default_factory=lambda: {})
    """The key of each alias class that has a storage, or whose uses have an order."""
    storages: dict[SSAValue, memory.AllocStorageOp] = field(default_factory=lambda: {})
    """The storage of each tensor that is allocated in one."""
    key_of: dict[memory.AllocStorageOp, int] = field(default_factory=lambda: {})
    ordered: set[int] = field(default_factory=lambda: set())
    """The keys of bytes that are not only written when they are defined."""
    effects: dict[Operation, Effects] = field(default_factory=lambda: {})
    """The effects of ops that have any."""
    last: dict[int, int] = field(default_factory=lambda: {})
    """The position of the last use of the bytes with each key."""


def effects_of(op: Operation, alone: Container[SSAValue]) -> Effects:
    """
    Return the effects of `op`, which is not a branch.

    What is written to one of the tensors `alone` has no other user before.
    """
    facts = facts_of(op)
    if facts.frees:
        return Effects(writes=tuple(op.operands[:1]))
    if isinstance(op, relay.RequireOp):
        return Effects(checks=True)
    if facts.pure or facts.constant or op.has_trait(IsTerminator, value_if_unregistered=False):
        return Effects()
    if op.has_trait(DestinationPassing, value_if_unregistered=False):
        writes = tuple(v for v in DestinationPassing.outs(op) if v not in alone)
        return Effects(stops=facts.calls_kernel and KernelEffects.has_any(op), writes=writes)
    if op.has_trait(AllocatesResults, value_if_unregistered=False):
        return Effects()
    effects = get_effects(op)
    if effects is None or any(effect.value is None for effect in effects):
        return Effects(stops=True)
    kinds = (MemoryEffectKind.WRITE, MemoryEffectKind.FREE)
    changed = {effect.value for effect in effects if effect.kind in kinds}
    return Effects(writes=tuple(value for value in op.operands if value in changed))


def may_be_on_demand(op: Operation) -> bool:
    """Test whether `op` has no effects."""
    if isinstance(op, memory.AllocStorageOp | memory.AllocTensorOp):
        return True
    return not op.regions and (facts_of(op).pure or facts_of(op).constant)


def bytes_of(classes: AliasClasses) -> Bytes:
    """Return the bytes of a body."""
    bytes = Bytes()
    ops = [row.op for row in classes.body.rows]
    inside = set(ops)
    roots = IntDisjointSet(size=len(classes.class_of))
    joined: list[int] = []
    together: dict[SSAValue, list[memory.AllocTensorOp]] = {}
    """The tensors in each storage that is not a slice of another."""
    for op in ops:
        if isinstance(op, memory.AllocTensorOp):
            together.setdefault(root_of(op.storage), []).append(op)
    alone: set[SSAValue] = set()
    firsts: dict[memory.AllocStorageOp, int] = {}
    for storage, tensors in together.items():
        op = storage.owner
        first = classes.of(tensors[0].tensor)
        for tensor in tensors:
            other = roots[classes.of(tensor.tensor)]
            if roots.union_left(first, other):
                joined.append(other)
        if not isinstance(op, memory.AllocStorageOp) or op not in inside:
            continue
        if len(tensors) == 1 and storage.has_one_use():
            alone.add(tensors[0].tensor)
        users = [use.operation for use in storage.uses]
        only_tensors = inside.issuperset(users) and set(users) == set(tensors)
        if only_tensors and not all(map(is_destination_of_shapes, tensors)):
            firsts[op] = first
            bytes.storages.update((tensor.tensor, op) for tensor in tensors)
    written: list[int] = []
    for op in ops:
        if not is_choice(op):
            effects = effects_of(op, alone)
            if any(effects):
                bytes.effects[op] = effects
                written += map(classes.of, effects.writes)
    for number in (*written, *joined, *firsts.values()):
        bytes.keys[number] = roots[number]
    bytes.key_of = {op: roots[number] for op, number in firsts.items()}
    bytes.ordered = {roots[number] for number in written}
    for position, op in enumerate(ops):
        for value in (*classes.uses(op), *op.operands, *op.results):
            key = bytes.keys.get(classes.of(value))
            if key is not None:
                bytes.last[key] = position
    for value in list(classes.values):
        key = bytes.keys.get(classes.of(value))
        if key is not None and classes.is_kept(value):
            bytes.last[key] = len(ops)
    return bytes


@dataclass(eq=False)
class _Open:
    """A block that is being read."""

    steps: Steps
    current: _Step | None = None
    since: list[int] = field(default_factory=lambda: [])
    """The steps since the last one of unknown effects."""
    stop: int | None = None
    """That step."""
    check: int | None = None
    """The last check."""
    writers: dict[int, int] = field(default_factory=lambda: {})
    """The last step that changed each class of ordered bytes."""
    readers: dict[int, list[int]] = field(default_factory=lambda: {})
    """The steps that used them since."""
    number: dict[Operation, int] = field(default_factory=lambda: {})

    def reasons_of(self, op: Operation) -> tuple[int, ...]:
        """Return the steps that must come before a use of the results of `op`."""
        step = self.number.get(op)
        return self.steps.on_demand.get(op, ()) if step is None else (step,)

    def use(self, op: Operation) -> None:
        """Let the current step use a result of `op`."""
        if self.current is not None:
            self.current.reasons.update(dict.fromkeys(self.reasons_of(op)))
            if op in self.steps.on_demand:
                self.current.needs[op] = None

    def finish(self, ordered: Container[int]) -> None:
        """Add the current step."""
        finished, self.current = self.current, None
        assert finished is not None, "a step was started"
        step, reasons = len(self.steps.ops), finished.reasons
        for key, changes in finished.keys.items():
            self.steps.uses.setdefault(key, []).append(step)
            if key in ordered:
                self.order(step, key, changes, reasons)
        reasons.update((other, None) for other in (self.stop, self.check) if other is not None)
        if finished.stops:
            reasons.update(dict.fromkeys(self.since))
            self.since, self.stop = [], step
        if finished.checks:
            self.check = step
        self.since.append(step)
        self.number[finished.op] = step
        self.steps.ops.append(finished.op)
        self.steps.before.append(sorted(reasons))
        self.steps.needs.append(list(finished.needs))

    def order(self, step: int, key: int, changes: bool, reasons: dict[int, None]) -> None:
        """Put `step` after those that changed what it uses, or used what it changes."""
        if key in self.writers:
            reasons[self.writers[key]] = None
        readers = self.readers.setdefault(key, [])
        if changes:
            reasons.update(dict.fromkeys(readers))
            self.writers[key] = step
            readers.clear()
        else:
            readers.append(step)


@dataclass(eq=False)
class _Reader:
    classes: AliasClasses
    bytes: Bytes
    path: list[_Open] = field(default_factory=lambda: [])
    """The blocks that are being read, outermost first."""
    open: dict[Block, _Open] = field(default_factory=lambda: {})
    position: int = -1
    blocks: list[Steps] = field(default_factory=lambda: [])

    def read(self) -> list[Steps]:
        run_nested(self.read_block(self.classes.block))
        return self.blocks

    def read_block(self, block: Block) -> Iterator[Any]:
        """Read a block; yield what reads the arms of its branches."""
        around = self.path[-1].steps if self.path else None
        steps = Steps(block, around, -1 if around is None else len(around.ops))
        top = self.open[block] = _Open(steps)
        self.path.append(top)
        for op in block.ops:
            self.position += 1
            if isinstance(op, memory.AllocStorageOp) and op in self.bytes.key_of:
                top.steps.storages[op] = []
            if self.is_on_demand(op, top):
                continue
            is_end = op.next_op is None and op.has_trait(IsTerminator, value_if_unregistered=False)
            if not is_end:
                top.current = _Step(op)
            self.use(op, top, is_end)
            for region in op.regions if is_choice(op) else ():
                yield self.read_block(region.block)
            if not is_end:
                top.finish(self.bytes.ordered)
        self.path.pop()
        steps.at_end.update(key for key in steps.uses if self.bytes.last[key] > self.position)
        self.blocks.append(steps)

    def is_on_demand(self, op: Operation, top: _Open) -> bool:
        """Test whether `op` is executed when it is needed; record it then."""
        if (
            not may_be_on_demand(op)
            or op in self.bytes.effects
            or op.has_trait(IsTerminator, value_if_unregistered=False)
        ):
            return False
        values = (
            op.operands if isinstance(op, memory.AllocTensorOp) else (*op.operands, *op.results)
        )
        if any(self.classes.of(value) in self.bytes.keys for value in values):
            return False
        reasons: dict[int, None] = {}
        for value in op.operands:
            if isinstance(value.owner, Operation) and value.owner.parent is op.parent:
                reasons.update(dict.fromkeys(top.reasons_of(value.owner)))
        if len(reasons) > MAX_REASONS:
            return False
        top.steps.on_demand[op] = tuple(reasons)
        self.use_operands(op.operands, besides=top)
        return True

    def use(self, op: Operation, top: _Open, is_end: bool) -> None:
        """Record what a step, or the terminator, uses and changes."""
        effects = self.bytes.effects.get(op, NO_EFFECTS)
        values = self.classes.uses(op) or op.operands
        self.use_operands(values)
        for opened in self.path:
            if opened.current is not None:
                opened.current.stops |= effects.stops
                opened.current.checks |= effects.checks
        changed = {self.classes.of(value) for value in effects.writes}
        arguments = [a for region in op.regions for block in region.blocks for a in block.args]
        for value in (*values, *op.results, *(arguments if is_choice(op) else ())):
            number = self.classes.of(value)
            key = self.bytes.keys.get(number)
            if key is not None:
                self.touch(key, number in changed)
                if is_end:
                    top.steps.at_end.add(key)
            if not (is_end or facts_of(op).frees) and value in self.bytes.storages:
                self.write(self.bytes.storages[value])

    def use_operands(self, values: Iterable[SSAValue], besides: _Open | None = None) -> None:
        """Let the current steps of the blocks that define `values` use them."""
        for value in values:
            owner = value.owner
            if isinstance(owner, Operation) and owner.parent is not None:
                opened = self.open.get(owner.parent)
                if opened is not None and opened is not besides:
                    opened.use(owner)

    def touch(self, key: int, changes: bool) -> None:
        """Let the current steps use bytes, the innermost first."""
        for opened in reversed(self.path):
            if opened.current is None:
                continue
            known = opened.current.keys.get(key)
            if known is not None and known >= changes:
                return
            opened.current.keys[key] = changes

    def write(self, storage: memory.AllocStorageOp) -> None:
        """Let the current step of the block that allocates `storage` be one that writes it."""
        opened = None if storage.parent is None else self.open.get(storage.parent)
        if opened is not None and storage in opened.steps.storages:
            users = opened.steps.storages[storage]
            step = len(opened.steps.ops)
            if not users or users[-1] != step:
                users.append(step)


def steps_of(classes: AliasClasses) -> tuple[Bytes, list[Steps]]:
    """Return the bytes of a body, and the steps of its blocks, those in a branch before it."""
    bytes = bytes_of(classes)
    return bytes, _Reader(classes, bytes).read()
