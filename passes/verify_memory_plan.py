"""
Prove that a memory plan is safe on every path.

    %t = memory.alloc_tensor %s[0] : tensor<8xf32>
    %a = vm.invoke_tvm_op @f … outs(%t …)
    %u = memory.alloc_tensor %s[16] : tensor<8xf32>
    %b = vm.invoke_tvm_op @g … outs(%u …)               <- error: overwrites a tensor that is …
    %c = vm.invoke_tvm_op @h ins(%a, %b …)              <- note: used here

The pass follows what each value names through a body, in program order, without liveness: a value
is *intact* while its bytes hold what was written under its name, and then *ended*, by an op that
overwrites a byte of it or by a kill. Every use of an ended value is a fault; so no two tensors that
are live together overlap. Facts:

- Where contents lie: the slot of the tensor that an op writes, `[offset, offset + size)` of its
  storage. Numbers are compared exactly; of unknown sizes it is shown that the slots do not overlap
  whatever they are (`memory_plan.slots`), or that a `memory.pack` puts them apart. What cannot be
  shown is an error that says so.
- Which values name them: results of views, tuples, calls and cells, by interface
  (`memory_plan.names`). Overwriting ends every value that may name the contents; a kill ends every
  value that may name the same bytes. A call may return what its callee's body may.
- The lattice: intact below ended. After a choice a value is ended if it is on one of the paths.
  A result of a choice is a name of its own, intact if the value that it was on each path is; so a
  branch may kill what the other one yields.

Also: a tensor lies in its storage, and a slice in its own; offset and alignment of the storage are
multiples of what the element type needs; a view that is certainly larger than its tensor is a fault
(the machine checks the others); a tensor is written once on a path; no bytes are killed twice or
used after a kill. An op that reads bytes that it writes is a fault, unless it is a kernel that
reads each element before it writes it (`memory_plan.overwriting`) and both are in one slot.

A call may write all of the storages that it is given: they must not overlap, nothing live may be in
them, and they must be as large and aligned as the callee needs for these arguments, in its calls
too (`memory_plan.lent`). A result is in those in which the callee may allocate it.

Not promised: a storage that a function gets from outside the module has the size and alignment that
its tensors need, and does not overlap another. An op other than these that is given a storage is
taken to write all of it. A function that calls itself cannot be given storage. Elements of tuples
and data are not told apart. Proofs have budgets; an error says when one was used up. It shares no
code with the passes that plan. From level `manifest` or `memory-planned` to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from ..dialects import memory, vm
from ..dialects.interfaces import AllocatesResults, DestinationPassing, OverwritesOperands
from ..dialects.tensors import as_tensor, has_dynamic, storage_alignment
from ..dialects.walking import values_from_above, walk
from ..dialects.xdsl_internals import operands_of
from .analysis.blocks import only_block
from .analysis.polynomials import PACK, Polynomial
from .analysis.sizes import Dims
from .memory_plan.contents import Changes, End, How, State
from .memory_plan.held import OVERLAPPING, Held
from .memory_plan.lent import Need, Needs, translated
from .memory_plan.names import (
    Summaries,
    is_storage,
    may_hold_cells,
    names_bytes,
    sources,
    stores,
    summaries,
    traits_of,
    upwards,
)
from .memory_plan.overwriting import may_lie_over
from .memory_plan.proofs import MAX_STEPS, ZERO
from .memory_plan.slots import Relation, Room, Slot, Slots, bytes_of_element
from .support.diagnostics import PassError, Place
from .support.walk import is_kernel


class Edge(NamedTuple):
    """A value that another one names, or is named by; in one region of a choice, if it is one."""

    value: SSAValue
    choice: Operation | None
    region: int


class Via(NamedTuple):
    """The region of a choice that must have been executed for two values to name the same."""

    choice: Operation
    region: int


@dataclass(eq=False)
class Names:
    """The values met so far, and which of them name bytes of which."""

    above: dict[SSAValue, dict[SSAValue, None]] = field(
        default_factory=dict[SSAValue, dict[SSAValue, None]]
    )
    up: dict[SSAValue, list[Edge]] = field(default_factory=dict[SSAValue, list[Edge]])
    down: dict[SSAValue, list[Edge]] = field(default_factory=dict[SSAValue, list[Edge]])

    def add(
        self, name: SSAValue, source: SSAValue, choice: Operation | None = None, region: int = 0
    ) -> None:
        if names_bytes(name) and names_bytes(source):
            self.above.setdefault(name, {})[source] = None
            self.up.setdefault(name, []).append(Edge(source, choice, region))
            self.down.setdefault(source, []).append(Edge(name, choice, region))

    def naming(self, value: SSAValue) -> list[SSAValue]:
        """Return all values that may name the contents of `value`, itself first."""
        found = {value: None}
        pending = [value]
        while pending:
            for edge in self.down.get(pending.pop(), ()):
                if edge.value not in found:
                    found[edge.value] = None
                    pending.append(edge.value)
        return list(found)

    def sharing(self, value: SSAValue, killed: Mapping[SSAValue, End]) -> list[SSAValue]:
        """
        Return all values that may name the same bytes as `value`.

        Two results of a choice share bytes only if what they are in the same region does. Past a
        value that was killed before, which ended what shares bytes with it, only the regions that
        lead to it are followed.
        """
        found: dict[SSAValue, set[Via | None]] = {value: {None}}
        self._spread(found, [value], self.up, killed)
        self._spread(found, list(found), self.down, killed)
        return list(found)

    @staticmethod
    def _spread(
        found: dict[SSAValue, set[Via | None]],
        pending: list[SSAValue],
        edges: Mapping[SSAValue, list[Edge]],
        killed: Mapping[SSAValue, End],
    ) -> None:
        """Add what `edges` lead to from `pending`, each with the regions that lead to it."""
        while pending:
            value = pending.pop()
            vias = found[value]
            end = killed.get(value)
            is_dead = end is not None and end.how is How.KILLED
            for other, choice, region in edges.get(value, ()):
                via = None if choice is None else Via(choice, region)
                if not may_follow(via, vias, is_dead):
                    continue
                into = found.setdefault(other, set())
                new = vias if via is None else {via}
                if not into or not new <= into:
                    into |= new
                    pending.append(other)


def may_follow(via: Via | None, vias: set[Via | None], is_dead: bool) -> bool:
    """Test whether an edge can lead to a value that shares bytes on some path."""
    if via is None or via in vias:
        return True
    if is_dead:
        return False
    return any(known is None or known.choice is not via.choice for known in vias)


@dataclass(eq=False)
class Choosing:
    """A block that is being checked: its remaining ops, and the choice that it is a region of."""

    ops: Iterator[Operation]
    choice: Operation | None
    rest: list[Block]
    """The regions of `choice` after it, the next one last."""
    done: list[Changes]
    has_facts: bool = False
    """True if sizes are known to be natural in this block that are not known to be around it."""


class Checked(NamedTuple):
    """A function that was checked."""

    body: Block
    needs: Needs
    """The bytes it needs in the storages that it is lent."""
    dims: Sequence[Dims | None]
    """Those of its results that are tensors, in its sizes."""


@dataclass(eq=False)
class Checker:
    """Checks one body."""

    block: Block
    captured: Mapping[Operation, Sequence[SSAValue]]
    returned: Summaries
    kernels: Mapping[str, Operation]
    lent: Mapping[str, Checked]
    """The functions that were checked."""
    needs: Needs = field(default_factory=Needs)
    """Those of this body."""
    slots: Slots = field(default_factory=Slots)
    names: Names = field(default_factory=Names)
    state: State = field(init=False)

    def check(self) -> None:
        """Raise an error at the first fault."""
        self.state = State(Held(self.slots))
        self.slots.read(self.block, self.read_call)
        self.slots.proofs.open(self.slots.natural_in(self.block))
        path = [Choosing(iter(self.block.ops), None, [], [])]
        while path:
            op = next(path[-1].ops, None)
            if op is None:
                self.leave(path)
            elif traits_of(op).chooses is not None and op.regions:
                self.use(op, op.operands)
                self.enter(op, path, [r.block for r in reversed(op.regions)], [])
            else:
                self.execute(op)

    def enter(
        self, choice: Operation, path: list[Choosing], blocks: list[Block], done: list[Changes]
    ) -> None:
        """Go on with the last of `blocks`."""
        block = blocks.pop()
        self.state.open()
        chooses = traits_of(choice).chooses
        assert chooses is not None
        if not done:
            for argument, operand in chooses.entering(choice):
                self.names.add(argument, operand)
        has_facts = self.slots.proofs.open(self.slots.natural_in(block))
        path.append(Choosing(iter(block.ops), choice, blocks, done, has_facts))

    def leave(self, path: list[Choosing]) -> None:
        """Leave a block at its end, for the next region of its choice or for what follows."""
        left = path.pop()
        if left.choice is None:
            return
        if left.has_facts:
            self.slots.proofs.close()
        left.done.append(self.state.close())
        if left.rest:
            self.enter(left.choice, path, left.rest, left.done)
            return
        self.state.meet(left.done)
        for i, region in enumerate(left.choice.regions):
            last = region.block.last_op
            for result, value in zip(
                left.choice.results, last.operands if last is not None else (), strict=False
            ):
                self.names.add(result, value, left.choice, i)
        self.require_known_storages(left.choice)

    def execute(self, op: Operation) -> None:
        traits = traits_of(op)
        if traits.frees:
            self.kill(op)
            return
        operands = operands_of(op)
        captured = self.captured.get(op, ()) if op.regions else ()
        self.use(op, (*operands, *captured))
        if captured and any(map(is_storage, captured)):
            raise PassError(
                f"{op.name} captures a storage: the bytes that its code writes are not known", op
            )
        if type(op) is memory.AllocTensorOp:
            self.check_slot(op)
            return
        if type(op) is memory.AllocStorageOp:
            self.slots.enter_storage(op.results[0])
            return
        if type(op) is memory.SliceStorageOp:
            self.check_slice(op)
            return
        if type(op) is vm.ReshapeTensorOp:
            self.check_view(op)
        self.require_known_storages(op)
        storages = [i for i, operand in enumerate(operands) if is_storage(operand)]
        if storages and type(op) is not memory.PackOp:
            self.lend(op, storages)
        for name, source in sources(op, self.returned):
            self.names.add(name, source)
        for name in op.results if captured else ():
            for source in captured:
                self.names.add(name, source)
        for cell, value in stores(op):
            for name in upwards(cell, self.names.above):
                if may_hold_cells(name.type) and value not in self.names.above.get(name, ()):
                    self.names.add(name, value)
        if traits.writes:
            outs = operands[len(operands) - len(op.results) :]
            for result, tensor in zip(op.results, outs, strict=True):
                self.write(op, result, tensor)

    # ---------------------------------------------------------------- contents

    def use(self, op: Operation, values: Iterable[SSAValue]) -> None:
        """Raise an error if `op` uses a value that is ended."""
        for value in values:
            end = self.state.ends.now.get(value)
            if end is not None:
                raise fault_of_use(op, end)

    def write(self, op: Operation, result: OpResult, tensor: SSAValue) -> None:
        """End what lies in the bytes of `tensor`, which then hold `result`."""
        before = self.state.written.now.get(tensor)
        if before is not None:
            raise PassError(
                f"{op.name} writes a tensor that is written before on this path: a tensor is "
                "written once",
                op,
                notes=[(before, "it is written here")],
            )
        self.state.written.set(tensor, op)
        slot = self.slots.of(tensor)
        if slot is None:
            return
        self.overwrite(op, slot, result=result)
        self.state.held.put(slot, result)

    def overwrite(
        self,
        op: Operation,
        slot: Slot,
        certain: How = How.OVERWRITTEN,
        result: OpResult | None = None,
    ) -> None:
        """End the values that name contents that overlap `slot`, which then holds `result`."""
        held, ends = self.state.held, self.state.ends
        for other, relation, origin in held.near(slot):
            naming = self.names.naming(origin)
            intact = [value for value in naming if value not in ends.now]
            if not intact:
                held.drop(other, origin)
                continue
            is_certain = relation is Relation.SAME
            how = certain if is_certain else How.MAYBE_OVERWRITTEN
            end = End(how, op, slot, other, origin)
            read = set(op.operands)
            if traits_of(op).writes:
                read -= set(DestinationPassing.outs(op))
            for value in intact:
                if value in read and not (
                    slot is other
                    and result is not None
                    and self.is_in_place(op, result, value, origin)
                ):
                    raise fault_in_place(op, end)
                ends.set(value, end)
            for edge in self.names.up.get(origin, ()):
                if isinstance(edge.value.owner, memory.AllocTensorOp):
                    ends.set(edge.value, end)
            held.drop(other, origin)

    def is_in_place(
        self, op: Operation, result: OpResult, value: SSAValue, origin: SSAValue
    ) -> bool:
        """Test whether `op` reads each element of `value` before it writes that of `result`."""
        given = value
        while isinstance(value.owner, vm.ReshapeTensorOp) and value is not origin:
            value = value.owner.data
        if value is not origin:
            return False  # on some path, it may name other bytes
        index = result.index
        places = [k for k, other in enumerate(op.operands[: -len(op.results)]) if other is given]
        if not isinstance(op, vm.InvokeTvmOp):
            trait = op.get_trait(OverwritesOperands)
            allowed = trait.overwritable(op, self.kernels.get) if trait is not None else None
            return allowed is not None and allowed[index].issuperset(places)
        kernel = self.kernels.get(op.callee.string_value())
        if kernel is None or not kernel.regions or len(kernel.regions[0].blocks) != 1:
            return False
        return all(may_lie_over(kernel.regions[0].block, index, k) for k in places)

    def lend(self, op: Operation, storages: Sequence[int]) -> None:
        """End all that lies in the operands `storages`, which `op` may write and return."""
        calls = traits_of(op).calls
        name = None if calls is None else calls.callee(op)
        returned = None if name is None else self.returned.get(name)
        slots = {i: self.slots.all_of(op.operands[i]) for i in storages}
        for j, slot in slots.items():
            for i in storages:
                if i < j and slot.storage is slots[i].storage:
                    self.require_apart(op, i, j, slots[i], slot)
            self.overwrite(op, slot)
        if name is not None and returned is not None:
            self.check_lent(op, name, storages)
        for j, slot in slots.items():
            for i, result in enumerate(op.results):
                if names_bytes(result) and (returned is None or j in returned.params[i]):
                    self.state.held.put(slot, result)

    def kill(self, op: Operation) -> None:
        """End all values that may name the bytes of the operand."""
        value = op.operands[0]
        ends = self.state.ends
        if not names_bytes(value):
            return
        end = ends.now.get(value)
        if end is not None:
            raise fault_of_kill(op, end)
        slot = self.slots.of(value)
        if slot is not None and value not in self.state.written.now:
            self.overwrite(op, slot, How.KILLED)  # what lies there is of another tensor
        killed = End(How.KILLED, op)
        for shared in self.names.sharing(value, ends.now):
            before = ends.now.get(shared)
            if before is None or before.how is not How.KILLED:
                ends.set(shared, killed)

    # ------------------------------------------------------------------ places

    def require_known_storages(self, op: Operation) -> None:
        for result in op.results:
            if is_storage(result) and not op.has_trait(
                AllocatesResults, value_if_unregistered=False
            ):
                raise PassError(
                    f"cannot tell which bytes the storage is that {op.name} returns: tensors must "
                    "be allocated in a memory.alloc_storage or a parameter",
                    op,
                )

    def check_slot(self, op: memory.AllocTensorOp) -> None:
        """Check that a tensor lies in its storage, aligned."""
        slot = self.slots.of(op.results[0])
        assert slot is not None
        proofs = self.slots.proofs
        type = as_tensor(op.results[0].type)
        assert type is not None
        alignment = storage_alignment(type.element_type)
        room = self.slots.room(op.start[0])
        first = slot.start - room.start
        if not proofs.at_least(first, ZERO):
            raise PassError(f"cannot show that offset {first} is at least 0", op)
        if not proofs.is_multiple(first, alignment):
            verb = "is" if first.constant is not None else "cannot be shown to be"
            raise PassError(
                f"the offset of a tensor of {type.element_type} must be a multiple of {alignment}, "
                f"but {first} {'is not' if verb == 'is' else verb}",
                op,
            )
        if room.alignment is not None and room.alignment % alignment:
            raise PassError(
                f"a tensor of {type.element_type} needs a storage aligned to {alignment} bytes, "
                f"but its storage is aligned to {room.alignment}",
                op,
                notes=[place_note(op.storage)],
            )
        if room.size is None:
            self.need(room, slot.stop, alignment, op)
        elif not self.slots.lies_in(slot, room):
            within = f"[{first}, {slot.stop - room.start})"
            raise PassError(
                f"cannot show that a tensor at bytes {within} fits in its storage of {room.size} "
                "bytes",
                op,
                notes=[place_note(op.storage)],
            )

    def check_slice(self, op: memory.SliceStorageOp) -> None:
        """Check that a slice lies in its storage, aligned."""
        outer, room = self.slots.room(op.storage), self.slots.room(op.slice)
        proofs, first = self.slots.proofs, room.start - outer.start
        assert room.size is not None
        assert room.alignment is not None
        if not proofs.at_least(first, ZERO) or not proofs.at_least(room.size, ZERO):
            raise PassError(
                f"cannot show that the offset and the size of a slice, {first} and {room.size}, "
                "are at least 0",
                op,
            )
        notes = [place_note(op.storage)]
        if not proofs.is_multiple(first, room.alignment):
            raise PassError(
                f"cannot show that the offset of a slice, {first}, is a multiple of its alignment, "
                f"{room.alignment}",
                op,
            )
        if outer.alignment is not None and outer.alignment % room.alignment:
            raise PassError(
                f"a slice that is aligned to {room.alignment} bytes needs a storage that is, but "
                f"its storage is aligned to {outer.alignment}",
                op,
                notes=notes,
            )
        slot = self.slots.slot(room.root, room.start, room.size)
        if outer.size is None:
            self.need(outer, slot.stop, room.alignment, op)
        elif not self.slots.lies_in(slot, outer):
            raise PassError(
                f"cannot show that a slice at bytes [{first}, {first + room.size}) fits in its "
                f"storage of {outer.size} bytes",
                op,
                notes=notes,
            )

    # ------------------------------------------------------------------- calls

    def read_call(self, op: Operation) -> None:
        """Note the dims of the results of a call that follow from those of its arguments."""
        calls = traits_of(op).calls
        callee = None if calls is None else self.lent.get(calls.callee(op))
        if callee is None:
            return
        sizes = self.slots.sizes
        for result, dims in zip(op.results, callee.dims, strict=True):
            if dims is None or not has_dynamic(result.type):
                continue
            here = [translated(dim, callee.body, sizes, op.operands) for dim in dims]
            known = tuple(dim for dim in here if dim is not None)
            if len(known) == len(dims):
                sizes.know_dims(result, known)

    def dims_of_results(self) -> list[Dims | None]:
        """Return the dims of the tensors that the body returns."""
        last, sizes = self.block.last_op, self.slots.sizes
        values = () if last is None else last.operands
        return [None if as_tensor(v.type) is None else sizes.dims(v) for v in values]

    def need(self, room: Room, end: Polynomial, alignment: int, op: Operation) -> None:
        """Record what `op` needs in a parameter."""
        if not isinstance(room.root, BlockArgument):
            return
        is_packed = any(symbol.kind == PACK for symbol in end.symbols())
        for use in room.root.uses if is_packed else ():  # what lays it out names what it needs
            if isinstance(use.operation, memory.PackOp):
                total = self.slots.sizes.size(use.operation.total)
                if self.slots.proofs.at_least(total, end):
                    end = total
        self.needs.setdefault(room.root.index, Need()).add(end, alignment, op)

    def is_workspace_size(
        self, size: Polynomial | None, function: Operation | None, i: int, call: Operation
    ) -> bool:
        """Test whether `size` is at least the `memory.workspace_size` of storage `i` of a call."""
        if size is None or not isinstance(function, func.FuncOp):
            return False
        listed = memory.shapes_of_workspace(function, i) or ()
        sizes = self.slots.sizes
        for symbol in size.symbols():
            value = symbol.args[0] if symbol.kind == "value" else None
            op = value.owner if isinstance(value, OpResult) else None
            if not isinstance(op, memory.WorkspaceSizeOp) or op.param.value.data != i:
                continue
            if op.function.string_value() != function.sym_name.data:
                continue
            shapes = [sizes.elements(shape) for shape in op.shapes]
            if shapes == [sizes.dims(call.operands[k]) for k in listed]:
                return self.slots.proofs.at_least(size, sizes.size(op.bytes))
        return False

    def require_apart(self, op: Operation, i: int, j: int, one: Slot, other: Slot) -> None:
        """Check that operands `i` and `j` of a call do not overlap."""
        if self.slots.relation(one, other) in OVERLAPPING:
            raise PassError(
                f"{op.name} is given storages {i} and {j} that overlap, or cannot be shown not to: "
                f"bytes {one} and {other} of one storage",
                op,
                notes=[(op.operands[i], "one is this"), (op.operands[j], "the other is this")],
            )

    def check_lent(self, op: Operation, name: str, storages: Sequence[int]) -> None:
        """Check that storages that a call lends are as large and aligned as its callee needs."""
        if name not in self.lent:
            raise PassError(
                f"cannot tell how many bytes @{name} needs in its storage {storages[0]}: it is "
                "recursive",
                op,
            )
        body, needs, _ = self.lent[name]
        for i in storages:
            need, room = needs.get(i), self.slots.room(op.operands[i])
            if need is None:
                continue
            if room.alignment is not None and room.alignment % need.alignment:
                raise PassError(
                    f"@{name} needs storage {i} aligned to {need.alignment} bytes, but it is "
                    f"aligned to {room.alignment}",
                    op,
                    notes=[place_note(op.operands[i])],
                )
            for end, user in need.ends.items():
                size = translated(end, body, self.slots.sizes, op.operands)
                whole = size is None and end.symbol is not None and end.symbol.kind == PACK
                if whole and self.is_workspace_size(room.size, body.parent_op(), i, op):
                    continue
                if size is None:
                    raise PassError(
                        f"cannot tell how many bytes @{name} needs in its storage {i}: {end} "
                        "depends on more than the shapes of arguments",
                        op,
                        notes=[(user, "they are needed here")],
                    )
                if room.size is None:
                    self.need(room, room.start + size, need.alignment, op)
                elif not self.slots.proofs.at_least(room.size, size):
                    raise PassError(
                        f"cannot show that storage {i} is large enough for @{name}: it needs "
                        f"{size} bytes, but has {room.size}",
                        op,
                        notes=[(user, "they are needed here"), place_note(op.operands[i])],
                    )

    def check_view(self, op: vm.ReshapeTensorOp) -> None:
        """Check that a view is not certainly larger than its tensor."""
        sizes = self.slots.sizes
        data = sizes.algebra.product(sizes.dims(op.data))
        view = sizes.algebra.product(sizes.dims(op.result))
        if self.slots.proofs.at_least(view, data + 1):
            width = bytes_of_element(op.data.type)
            raise PassError(
                f"a view of {view * width} bytes is larger than its tensor of {data * width} bytes",
                op,
                notes=[(op.data, "the tensor is defined here")],
            )


def place_note(storage: SSAValue) -> tuple[Place, str]:
    is_parameter = isinstance(storage, BlockArgument)
    return storage, f"the storage is {'a parameter' if is_parameter else 'allocated'} here"


def origin_note(end: End) -> list[tuple[Place, str]]:
    return [] if end.origin is None else [(end.origin, f"bytes {end.here} are written here")]


def fault_of_use(op: Operation, end: End) -> PassError:
    """Return the error for a use of bytes that were ended before."""
    if end.how is How.KILLED:
        return PassError(
            f"{op.name} uses bytes that are killed before it",
            op,
            notes=[(end.by, "they are killed here")],
        )
    return fault_of_write(end, (op, "it is used here"))


def fault_of_kill(op: Operation, end: End) -> PassError:
    """Return the error for a kill of bytes that were ended before."""
    if end.how is How.KILLED:
        return PassError(
            "the bytes are killed twice", op, notes=[(end.by, "they are killed here before")]
        )
    return fault_of_write(end, (op, "it is killed here"))


def fault_of_write(end: End, use: tuple[Place, str]) -> PassError:
    """Return the error for a write into bytes whose contents are still needed."""
    slots = f"bytes {end.there} and {end.here} of one storage"
    verb = "writes" if traits_of(end.by).writes else "may write"
    if end.how is How.MAYBE_OVERWRITTEN:
        message = (
            f"cannot show that {end.by.name} does not overwrite a live tensor: cannot show that "
            f"{slots} do not overlap"
        )
    else:
        message = f"{end.by.name} {verb} bytes of a live tensor: {slots} overlap"
    return PassError(message, end.by, notes=[use, *origin_note(end)])


def fault_in_place(op: Operation, end: End) -> PassError:
    """Return the error for an op that reads what it writes."""
    slots = f"bytes {end.there} and {end.here} of one storage"
    if end.how is How.MAYBE_OVERWRITTEN:
        message = (
            f"cannot show that {op.name} does not read bytes that it writes: cannot show that "
            f"{slots} do not overlap"
        )
    else:
        message = f"{op.name} reads bytes that it writes: {slots} overlap"
    return PassError(message, op, notes=origin_note(end))


def bodies(module: ModuleOp) -> Iterator[Block]:
    """Yield the blocks of functions and of ops, such as closures, whose code runs apart."""
    for op in walk(module, enters=lambda op: not is_kernel(op)):
        if isinstance(op, func.FuncOp):
            if op.body.blocks:
                yield only_block(op)
        elif op.regions and not isinstance(op, ModuleOp) and not is_kernel(op):
            if traits_of(op).chooses is None:
                yield from (block for region in op.regions for block in region.blocks)


def callees_first(blocks: Sequence[Block], named: Mapping[Block, str]) -> list[Block]:
    """Return `blocks`, those of functions that are called with storages before their callers."""
    by_name = {name: block for block, name in named.items()}
    calls = {
        block: [by_name[name] for name in lent_to(block) if name in by_name] for block in blocks
    }
    found: dict[Block, None] = {}
    for block in blocks:
        pending = [block]
        path: set[Block] = set()
        while pending:
            at = pending[-1]
            left = [b for b in calls.get(at, ()) if b not in found and b not in path]
            path.add(at)
            if at in found or not left:
                found[at] = None
                pending.pop()
            else:
                pending.append(left[0])
    return list(found)


def lent_to(block: Block) -> Iterator[str]:
    """Yield the functions that are called with storages in `block`."""
    for op in walk(block, enters=lambda op: not is_kernel(op)):
        calls = traits_of(op).calls
        if calls is not None and any(is_storage(o) for o in op.operands):
            yield calls.callee(op)


@dataclass(frozen=True)
class VerifyMemoryPlanPass(ModulePass):
    """Prove that no live tensors overlap, and that tensors, views and kills are right."""

    name = "verify-memory-plan"
    changes_nothing: ClassVar[bool] = True
    """The driver need not verify after it."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        blocks = list(bodies(op))
        functions = {
            inner.sym_name.data: inner
            for inner in walk(op, enters=lambda op: isinstance(op, ModuleOp))
            if isinstance(inner, func.FuncOp) and inner.body.blocks
        }
        kernels = {
            name.data: inner
            for inner in op.ops
            if isinstance(name := inner.properties.get("sym_name"), StringAttr)
        }
        returned = summaries(functions)
        holders = [block.parent_op() for block in blocks]
        has_closures = not all(isinstance(holder, func.FuncOp) for holder in holders)
        captured = (
            values_from_above(op, lambda op: bool(op.regions) and traits_of(op).chooses is None)
            if has_closures
            else {}
        )
        lent: dict[str, Checked] = {}
        named = {only_block(inner): name for name, inner in functions.items()}
        for block in callees_first(blocks, named):
            checker = Checker(block, captured, returned, kernels, lent)
            try:
                checker.check()
            except PassError as error:
                if checker.slots.proofs.has_given_up and error.message.startswith("cannot show"):
                    error.message += (
                        f" (proofs were given up after {MAX_STEPS} steps: those of a simpler plan, "
                        "such as that of layout-slices{strategy=coalesce}, are shorter)"
                    )
                raise
            if block in named:
                dims = checker.dims_of_results()
                lent[named[block]] = Checked(block, checker.needs, dims)
