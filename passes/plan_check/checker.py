"""
Check one body: follow what each value names, in program order, on every path.

`verify_memory_plan` says what is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects import func
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects import memory, vm
from ...dialects.interfaces import AllocatesResults, DestinationPassing, OverwritesOperands
from ...dialects.tensors import as_tensor, has_dynamic, storage_alignment
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ...operators.sizes.size_expressions import Dims, Expr
from ..sizes.reader import PACK
from ..support.diagnostics import PassError
from .faults import NotShown, fault_in_place, fault_of_kill, fault_of_use, place_note
from .held import OVERLAPPING, Held
from .lent import Need, Needs
from .live_contents import Changes, End, How, State
from .names import (
    Summaries,
    is_storage,
    may_hold_cells,
    names_bytes,
    sources,
    stores,
    traits_of,
    upwards,
)
from .operations import ZERO
from .overwriting_kernels import may_lie_over
from .sharing import Names
from .slots import Relation, Room, Slot, Slots, bytes_of_element


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
    overwritable: dict[tuple[str, int, int], bool] = field(
        default_factory=dict[tuple[str, int, int], bool]
    )
    """For each kernel, result and parameter, true if one may be written over the other."""
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
        self.names.add_choice(left.choice)
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
            for source in self.names.above.get(origin, ()):
                if isinstance(source.owner, memory.AllocTensorOp):
                    ends.set(source, end)
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
        name = op.callee.string_value()
        return all(self.may_lie_over(name, index, k) for k in places)

    def may_lie_over(self, name: str, result: int, parameter: int) -> bool:
        """Test whether a result of the kernel `name` may be written over a parameter."""
        key = name, result, parameter
        if key not in self.overwritable:
            kernel = self.kernels.get(name)
            self.overwritable[key] = (
                kernel is not None
                and len(kernel.regions) > 0
                and len(kernel.regions[0].blocks) == 1
                and may_lie_over(kernel.regions[0].block, result, parameter)
            )
        return self.overwritable[key]

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
        found = self.names.sharing(value)
        for shared in found:
            before = ends.now.get(shared)
            if before is None or before.how is not How.KILLED:
                ends.set(shared, killed)
        for origin in found:
            self.forget_if_ended(origin)

    def forget_if_ended(self, origin: SSAValue) -> None:
        """Drop `origin` from its slots if no intact value names it: any op may overwrite it."""
        held, ends = self.state.held, self.state.ends.now
        slots = held.slots_of(origin)
        if slots and all(name in ends for name in self.names.naming(origin)):
            for slot in slots:
                held.drop(slot, origin)

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
        first = slot.start - room.start if room.start.terms else slot.start
        if not proofs.at_least(first, ZERO):
            raise NotShown(f"cannot show that offset {first} is at least 0", op)
        if not proofs.is_multiple(first, alignment):
            is_known = first.constant is not None
            raise (PassError if is_known else NotShown)(
                f"the offset of a tensor of {type.element_type} must be a multiple of {alignment}, "
                f"but {first} {'is not' if is_known else 'cannot be shown to be'}",
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
            raise NotShown(
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
            raise NotShown(
                f"cannot show that the offset and the size of a slice, {first} and {room.size}, "
                "are at least 0",
                op,
            )
        notes = [place_note(op.storage)]
        if not proofs.is_multiple(first, room.alignment):
            raise NotShown(
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
            raise NotShown(
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
            here = [sizes.translated(dim, callee.body, op.operands) for dim in dims]
            known = tuple(dim for dim in here if dim is not None)
            if len(known) == len(dims):
                sizes.know_dims(result, known)

    def dims_of_results(self) -> list[Dims | None]:
        """Return the dims of the tensors that the body returns."""
        last, sizes = self.block.last_op, self.slots.sizes
        values = () if last is None else last.operands
        return [None if as_tensor(v.type) is None else sizes.dims(v) for v in values]

    def need(self, room: Room, end: Expr, alignment: int, op: Operation) -> None:
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
        self, size: Expr | None, function: Operation | None, i: int, call: Operation
    ) -> bool:
        """Test whether `size` is at least the `memory.workspace_size` of storage `i` of a call."""
        if size is None or not isinstance(function, func.FuncOp):
            return False
        listed = memory.shapes_of_workspace(function, i) or ()
        sizes = self.slots.sizes
        needed = sizes.workspace_size(function, i, lambda k: sizes.dims(call.operands[k]))
        if needed is not None:
            return self.slots.proofs.at_least(size, needed)
        for symbol in size.symbols():
            value = symbol.args[0] if symbol.kind == "value" else None
            op = value.owner if isinstance(value, OpResult) else None
            if not isinstance(op, memory.WorkspaceSizeOp) or op.param.value.data != i:
                continue
            if op.function.string_value() != function.sym_name.data:
                continue
            shapes = [sizes.shape(shape) for shape in op.shapes]
            if shapes == [sizes.dims(call.operands[k]) for k in listed]:
                return self.slots.proofs.at_least(size, sizes.size(op.bytes))
        return False

    def require_apart(self, op: Operation, i: int, j: int, one: Slot, other: Slot) -> None:
        """Check that operands `i` and `j` of a call do not overlap."""
        relation = self.slots.relation(one, other)
        if relation in OVERLAPPING:
            raise (NotShown if relation is Relation.UNKNOWN else PassError)(
                f"{op.name} is given storages {i} and {j} that overlap, or cannot be shown not to: "
                f"bytes {one} and {other} of one storage",
                op,
                notes=[(op.operands[i], "one is this"), (op.operands[j], "the other is this")],
            )

    def check_lent(self, op: Operation, name: str, storages: Sequence[int]) -> None:
        """Check that storages that a call lends are as large and aligned as its callee needs."""
        if name not in self.lent:
            raise NotShown(
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
                size = self.slots.sizes.translated(end, body, op.operands)
                whole = size is None and end.symbol is not None and end.symbol.kind == PACK
                if whole and self.is_workspace_size(room.size, body.parent_op(), i, op):
                    continue
                if size is None:
                    raise NotShown(
                        f"cannot tell how many bytes @{name} needs in its storage {i}: {end} "
                        "depends on more than the shapes of arguments",
                        op,
                        notes=[(user, "they are needed here")],
                    )
                if room.size is None:
                    self.need(room, room.start + size, need.alignment, op)
                elif not self.slots.proofs.at_least(room.size, size):
                    raise NotShown(
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
