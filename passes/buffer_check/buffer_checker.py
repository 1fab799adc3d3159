"""
Check the buffers of a function: no use of one is a use of bytes that another one needs.

    %a = memory.buffer %s[0] : memref<8xf32>
    memref.copy %x, %a
    %b = memory.buffer %s[16] : memref<8xf32>
    memref.copy %x, %b                            <- error: %a is needed, and overlaps %b
    memref.copy %a, %y                            <- note: it is needed here

Facts, each by code that the planner does not use, but for what each op does (`flow_of`):

- `names`: the buffers and parameters that a value may name, a set of numbers as the bits of an int;
  a fixed point over what ops pass on, in any order.
- *Needed*: what values name that are used on some path from here, before they are defined anew.
  Backwards over a graph of single ops, loops and branches of regions and of blocks alike, to a
  fixed point.
- Which of them may share a byte: `plan_check`, as for tensors. The needed ones are what is held.

At each op, no buffer that it uses overlaps one that is needed there, unless the two are in arms of
which one runs. A buffer is not needed where its storage is freed, nor captured, nor freed, nor
carried to the next turn of a loop in which it is defined. It is aligned, and lies in its storage.
A storage that a call lends is a buffer: the callee may write all of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import memory
from ...dialects.interfaces import CallsFunction, Runs
from ...dialects.interfaces.memory_effects import ends_of_storage
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ...runtime.program.components import reached
from ..analysis.dominance import successors
from ..bytes.buffer_facts import Kept, callees_first, facts_of, flow_of, runs_of
from ..bytes.op_facts import has_bytes, is_storage, part_of
from ..plan_check.faults import End, How, NotShown, overlap_fault
from ..plan_check.held import Held
from ..plan_check.lent import Checked, Lending
from ..plan_check.slots import Slot, Slots
from ..support.diagnostics import PassError, Place


def may_name(value: SSAValue) -> bool:
    """Test whether a value may name bytes, or is a storage."""
    return has_bytes(value.type) or is_storage(value)


def bits(number: int) -> Iterator[int]:
    """Yield the members of a set."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


@dataclass(eq=False)
class Flow:
    """The ops of a function in program order, and those that may run next after each."""

    ops: list[Operation] = field(default_factory=list[Operation])
    index: dict[Operation, int] = field(default_factory=dict[Operation, int])

    @staticmethod
    def of(function: func.FuncOp) -> Flow:
        ops = [*walk(function.body)]
        return Flow(ops, {op: i for i, op in enumerate(ops)})

    def next(self, op: Operation) -> Iterable[int]:
        """Yield the ops that may run after `op` begins."""
        yield from self._entries(op)
        yield from self._after(op)

    def _after(self, op: Operation) -> Iterable[int]:
        """Yield the ops that may run after `op` and its regions, which may end regions around."""
        if op.next_op is not None:
            yield self.index[op.next_op]
        elif op.successors:
            yield from self._first(op.successors)
        elif (around := op.parent_op()) in self.index:
            assert around is not None
            if runs_of(around) is not Runs.ONE:
                yield from self._entries(around)
            yield from self._after(around)

    def _entries(self, op: Operation) -> Iterable[int]:
        """Yield the ops at which the regions of `op` begin."""
        for region in op.regions:
            if region.first_block is not None:
                yield from self._first((region.first_block,))

    def _first(self, blocks: Iterable[Block]) -> Iterable[int]:
        for block in blocks:
            if block.first_op is not None:
                yield self.index[block.first_op]


@dataclass(eq=False)
class BufferChecker:
    """Checks one function."""

    function: func.FuncOp
    kept: Mapping[str, Kept]
    """The functions that are called."""
    lent: Mapping[str, Checked]
    """The bytes that they need in storages that they are lent."""
    slots: Slots = field(default_factory=Slots)
    lending: Lending = field(init=False)
    flow: Flow = field(init=False)
    buffers: list[SSAValue] = field(init=False)
    """The buffers, and the storages that calls lend."""
    params: list[BlockArgument] = field(init=False)
    names: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    """The buffers, and after them the parameters, that a value may name, by its identity."""
    captured: dict[int, tuple[SSAValue, Operation]] = field(
        default_factory=dict[int, tuple[SSAValue, Operation]]
    )
    """The values that ops capture."""
    returned: list[SSAValue] = field(default_factory=list[SSAValue])

    def check(self) -> Kept:
        """Raise an error at the first fault; return what the function does with its parameters."""
        self.flow = Flow.of(self.function)
        self.lending = Lending(self.slots, self.lent)
        buffers = [op.memref for op in self.flow.ops if isinstance(op, memory.BufferOp)]
        calls = [op for op in self.flow.ops if facts_of(op).calls is not None]
        lent = [v for op in calls for v in operands_of(op) if is_storage(v)]
        self.buffers = [*buffers, *dict.fromkeys(lent)]
        self.params = [arg for arg in self.function.args if has_bytes(arg.type)]
        self.find_names()
        own = (1 << len(self.buffers)) - 1
        if own:
            self.require_known(own)
            for op in self.flow.ops:
                if isinstance(op, memory.BufferOp) or part_of(op) is not None:
                    self.require_room(op, self.slot(op.results[0]))
            for op in calls:
                storages = [i for i, v in enumerate(operands_of(op)) if is_storage(v)]
                if storages:
                    self.lending.require_lent(op, CallsFunction.callee(op), storages)
            self.require_apart()
        return self.summary()

    def slot(self, buffer: SSAValue) -> Slot:
        return self.slots.of(buffer) or self.slots.all_of(buffer)

    def definer(self, buffer: int) -> Operation:
        owner = self.buffers[buffer].owner
        return owner if isinstance(owner, Operation) else self.function

    def summary(self) -> Kept:
        """Return what the function does with its parameters."""

        def params(values: Iterable[SSAValue]) -> frozenset[int]:
            numbers = {i for value in values for i in bits(self.names[id(value)])}
            numbered = enumerate(self.params, len(self.buffers))
            return frozenset(param.index for i, param in numbered if i in numbers)

        return Kept(params(value for value, _ in self.captured.values()), params(self.returned))

    # ------------------------------------------------------------------- names

    def find_names(self) -> None:
        """Find what each value may name, and what is captured."""
        seeds: list[SSAValue] = [*self.buffers, *self.params]
        down: defaultdict[int, list[int]] = defaultdict(list)
        for op in self.flow.ops:
            for name, value in self.named_by(op):
                if may_name(name) and may_name(value):
                    down[id(value)].append(id(name))
        pending = list[int]()
        for i, seed in enumerate(seeds):
            self.names[id(seed)] |= 1 << i
            pending.append(id(seed))
        while pending:
            source = pending.pop()
            for name in down.get(source, ()):
                if self.names[source] & ~self.names[name]:
                    self.names[name] |= self.names[source]
                    pending.append(name)

    def named_by(self, op: Operation) -> Iterable[tuple[SSAValue, SSAValue]]:
        """Yield arguments and results, each with a value that it may name by what `op` does."""
        flow, at = flow_of(op, self.kept), op.parent_op()
        operands = [value for value in operands_of(op) if has_bytes(value.type)]
        yield from flow.named
        if isinstance(op, func.ReturnOp):
            self.returned += operands
            return
        self.capture((value for value, _ in flow.captured), op)
        while at in self.flow.index and at is not None:
            if not facts_of(at).is_known:
                self.capture(operands, op)
            elif runs_of(at) is Runs.LATER:
                self.capture((v for v in operands if not at.is_ancestor(v.owner)), op)
            at = at.parent_op()

    def capture(self, values: Iterable[SSAValue], op: Operation) -> None:
        self.captured.update((id(value), (value, op)) for value in values)

    def members(self, values: Iterable[SSAValue]) -> int:
        """Return the buffers that some of `values` may name."""
        named = 0
        for value in values:
            if may_name(value):
                named |= self.names.get(id(value), 0)
        return named & ((1 << len(self.buffers)) - 1)

    # ------------------------------------------------------------------ checks

    def require_known(self, own: int) -> None:
        """Check that no buffer is captured, returned, freed, or carried to another turn."""
        for value, op in self.captured.values():
            for i in bits(self.members((value,))):
                raise NotShown(
                    f"cannot tell how long a buffer is needed that {op.name} may capture",
                    op,
                    notes=[(self.definer(i), "the buffer is defined here")],
                )
        for i in bits(self.members(self.returned)):
            raise PassError("a buffer is returned, whose storage is freed", self.definer(i))
        for op in self.flow.ops:
            if facts_of(op).deallocates and (freed := self.members(operands_of(op))):
                notes = [(self.definer(next(bits(freed))), "the buffer is defined here")]
                raise PassError(f"{op.name} frees a buffer that lies in a storage", op, notes=notes)
            for block in (block for region in op.regions for block in region.blocks):
                self.require_not_carried(block, op)
        for block in self.function.body.blocks:
            self.require_not_carried(block, None)

    def require_not_carried(self, block: Block, around: Operation | None) -> None:
        """Check that no argument of `block` names a buffer that is defined on a way back to it."""
        named = self.members(block.args)
        again: dict[Block, None] | None = None
        for i in bits(named):
            buffer = self.definer(i)
            is_inside = (
                around is not None
                and runs_of(around) is not Runs.ONE
                and around.is_ancestor(buffer)
            )
            if not is_inside and block.parent is not None and len(block.parent.blocks) > 1:
                if again is None:
                    blocks = block.parent.blocks
                    again = reached((block,), {b: successors(b) for b in blocks})
                is_inside = any(b.find_ancestor_op_in_block(buffer) is not None for b in again)
            if is_inside:
                raise PassError(
                    "a buffer is carried to the next turn of a loop, where its bytes are defined "
                    "again",
                    buffer,
                )

    def require_room(self, op: Operation, slot: Slot) -> None:
        """Check that a buffer is aligned, and lies in its storage, which each thread has."""
        self.lending.require_room(op, slot)
        at: Operation | None = op
        while (at := at.parent_op()) in self.flow.index and at is not None:
            runs = runs_of(at)
            if runs is not None and runs.shares_time and not at.is_ancestor(slot.storage.owner):
                notes = [(at, "this may run it more than once at a time")]
                raise PassError("a buffer needs a storage of its own in each thread", op, notes)

    def require_apart(self) -> None:
        """Check that no op uses bytes of one buffer where another one needs them."""
        gone, held = self.ends_of_storages(), Held(self.slots)
        slots, now = [*map(self.slot, self.buffers)], 0
        for i, (op, needed) in enumerate(zip(self.flow.ops, self.needed(), strict=True)):
            if lost := needed & gone.get(op, 0):
                raise PassError(
                    "a buffer is needed after its storage is freed",
                    self.definer(next(bits(lost))),
                    notes=[(op, "the storage is freed before this")],
                )
            used = self.members(operands_of(op))
            for j in bits(now ^ (needed | used)):
                held.set((slots[j], j), None if now >> j & 1 else True)
            now = needed | used
            for j in bits(used):
                self.require_alone(i, j, slots[j], held)
        if unordered := held.unordered():  # they were taken to be apart
            self.slots.unordered = unordered
            self.require_apart()

    def require_alone(self, at: int, j: int, slot: Slot, held: Held) -> None:
        """Check that what is needed where op `at` uses buffer `j`, in `slot`, is elsewhere."""
        for _, _, k in held.near(slot):
            if self.are_both_needed(j, k):
                raise self.fault(at, j, k)

    def are_both_needed(self, j: int, k: int) -> bool:
        """Test whether buffers that are needed at one op are so on one path."""
        return j != k and not are_exclusive(self.definer(j), self.definer(k))

    def fault(self, at: int, j: int, k: int) -> PassError:
        """Return the error that op `at` uses buffer `j`, whose bytes are needed for `k`."""
        one, other = (self.slot(self.buffers[n]) for n in (j, k))
        op, later = self.flow.ops[at], self.flow.ops[at:]
        notes: list[tuple[Place, str]] = [(self.definer(n), "one is defined here") for n in (j, k)]
        used = (op for op in later if self.members(operands_of(op)) >> k & 1)
        notes += [(op, "the other is needed here") for op in islice(used, 1)]
        how = How.OVERWRITTEN if self.slots.overlap(one, other) else How.MAYBE_OVERWRITTEN
        fault = f"{op.name} uses a buffer while another one needs its bytes"
        wanted = f"{op.name} uses no bytes that another buffer needs"
        return overlap_fault(End(how, op, one, other), fault, wanted, notes)

    def live(self) -> tuple[list[int], list[int]]:
        """
        Return the values that are used on some path after each op, before they are defined anew.

        They are numbered; the identity of each is returned, too.
        """
        ops, numbers = self.flow.ops, dict[int, int]()

        def numbered(values: Iterable[SSAValue]) -> int:
            members = 0
            for value in values:
                if may_name(value):
                    members |= 1 << numbers.setdefault(id(value), len(numbers))
            return members

        uses = [numbered(operands_of(op)) for op in ops]
        ends, defines, args = [-1] * len(ops), [-1] * len(ops), [-1] * len(ops)
        for i, op in enumerate(ops):
            around, block = op.parent_op(), op.parent
            defines[i] = ~numbered(op.results)
            if block is not None and block.first_op is op:
                args[i] = ~numbered(block.args)
            if op.next_op is None and not op.successors and around in self.flow.index:
                assert around is not None
                ends[i] = ~numbered(around.results)
        following = [[*self.flow.next(op)] for op in ops]
        before, after, changed = [0] * len(ops), [0] * len(ops), True
        while changed:
            changed = False
            for i in range(len(ops) - 1, -1, -1):
                live = 0
                for j in following[i]:
                    live |= before[j]
                after[i] = live & defines[i] if ops[i].regions else live
                live = (live & ends[i] & defines[i] | uses[i]) & args[i]
                if live != before[i]:
                    before[i], changed = live, True
        return after, [*numbers]

    def needed(self) -> Iterator[int]:
        """Yield the buffers that are needed after each op."""
        after, values = self.live()
        counts, current, live = [0] * len(self.buffers), 0, 0
        own = (1 << len(self.buffers)) - 1
        for now in after:
            for i in bits(now ^ live):
                step = 1 if now >> i & 1 else -1
                for j in bits(self.names[values[i]] & own):
                    counts[j] += step
                    current = current | 1 << j if counts[j] else current & ~(1 << j)
            live = now
            yield current

    def ends_of_storages(self) -> dict[Operation, int]:
        """Return the ops at which storages are freed, each with the buffers in these."""
        buffers_at = defaultdict[Operation, int](int)
        for i, buffer in enumerate(self.buffers):
            within = buffer.owner.storage if isinstance(buffer.owner, memory.BufferOp) else buffer
            storage = self.slots.rooms.of_storage(within).root.owner
            if isinstance(storage, Operation) and storage.parent is not None:
                for end in ends_of_storage(storage.parent):
                    buffers_at[end] |= 1 << i
        return buffers_at


def are_exclusive(one: Operation, other: Operation) -> bool:
    """Test whether two ops are in regions of an op of which at most one runs."""
    at = one
    while (around := at.parent_op()) is not None and (region := at.parent_region()) is not None:
        if around.is_ancestor(other):
            return runs_of(around) is Runs.ONE and not region.is_ancestor(other)
        at = around
    return False


def check_buffers(module: ModuleOp, new: Callable[..., BufferChecker] = BufferChecker) -> None:
    """Raise an error at the first fault of the buffers in a module; callees are checked first."""
    from ...dialects.foreign.buffer_interfaces import attach_buffer_interfaces  # if there are any

    attach_buffer_interfaces()
    kept: dict[str, Kept] = {}
    lent: dict[str, Checked] = {}
    for name, function in callees_first(module):
        if not function.body.blocks:
            kept[name] = Kept.by_declaration(function)
            continue
        checker = new(function, kept, lent)
        kept[name] = checker.check()
        lent[name] = Checked(function.body.blocks[0], checker.lending.needs, ())
