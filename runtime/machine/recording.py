"""
Record a function's instructions from a point of a path to the next decision. (One class, so long.)

    state    r0 -> Tensor, r1 -> Storage, its unwritten bytes ...   read and changed while recording
    steps    [add, softmax, ...]                                    callables for each run

Instructions that do not compute (allocate, view, build tuples, kill) are executed here, once: a
storage gets its place once for each path. Those that compute leave callables in the segment,
bound to their arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any, TypeVar

import numpy as np

from ...operators import storage_errors
from ...operators.sizes import Check
from ..calls.value_checks import check_arguments, dimensions, scalar
from ..errors import MachineError, Note, described
from ..kernels.bind import Thunk
from ..memory.gaps import cut
from ..memory.limits import POISON, OutOfMemory
from ..memory.packing import Layout, all_sizes
from ..observe.counters import AllocationSite, Counters
from ..observe.observer import KernelCall, Observer
from ..program import instructions as vm
from ..program.dtypes import element_type
from ..program.kernel_shapes import MAX_SIZES, UnknownShape, size_inputs
from ..program.objects import Closure, Computation, Data, Object, Ref, Storage, Tensor, tensors_in
from ..program.program import Array, Function, Kernel, Param, Step, TensorSpec, spec_of
from ..program.size_operations import SCALARS, Relation, Scalar
from .binding import Bound
from .context import Context
from .kernel_plan import KernelPlan
from .paths import (
    Branch,
    Call,
    Contents,
    Decision,
    End,
    Frame,
    Jump,
    KilledRegister,
    Known,
    Read,
    Return,
    Segment,
    State,
    TailCall,
)

ObjectT = TypeVar("ObjectT", Tensor, Data, Ref, Storage, Closure)
MAX_OBJECTS = 64
"""Limit on the objects in arguments of a call that runs in place of its caller."""


class NeedsValues(Exception):
    """An instruction cannot be recorded before the elements of `tensors` are known."""

    def __init__(self, *tensors: Tensor) -> None:
        super().__init__()
        self.tensors = tensors


def fault(function: Function, pc: int, error: Exception, what: str = "") -> MachineError:
    """Return `error` with its own location or, if it has none, that of instruction `pc`."""
    location, notes = None, ()
    if isinstance(error, MachineError):
        location, notes = error.location, error.notes
    if isinstance(error, KilledRegister) and (killed := function.location(error.killer)):
        notes = (Note("killed here", killed),)
    text = f"{function.where(pc)}{what}: {error}"
    return MachineError(text, location or function.location(pc), notes)


@dataclass(eq=False)
class Recorder:
    """
    Records a function from instruction `pc`, starting in `state`.

    Each instruction has a method, which returns how the segment ends, or None if it continues.
    `known` are the values for which a path has stopped at this instruction.
    """

    context: Context
    state: State
    pc: int
    known: Known
    steps: list[Thunk] = field(default_factory=list[Thunk])
    origins: list[tuple[int, Step | None]] = field(default_factory=list[tuple[int, Step | None]])
    executed: list[type[vm.Instruction]] = field(default_factory=list[type[vm.Instruction]])
    counters: Counters = field(default_factory=Counters)
    observers: Sequence[Observer] = field(init=False)

    def __post_init__(self) -> None:
        self.observers = self.context.observers

    def record(self) -> Segment:
        """Record up to the next decision; raise `MachineError` with the position of a fault."""
        for observer in self.observers:
            observer.prepares(self.function.name)
        try:
            end = self.follow()
        finally:
            for observer in self.observers:
                observer.prepared()
        self.counters.peak = {d: size for d, size in enumerate(self.state.peak) if size}
        self.counters.share(self.context.counters)
        frame = self.state.frame
        state = None if isinstance(end, Return) else self.state
        count = len(self.executed)
        segment = Segment(
            frame, self.steps, self.origins, self.counters, end, self.pc, state, count
        )
        frame.trace_size.size += segment.trace_size
        return segment

    def follow(self) -> End:
        """Follow the instructions up to the next decision, at `pc` then, and return it."""
        code, executed, observers = self.function.instructions, self.executed, self.observers
        self.state.freed = [] if observers else None
        for observer in observers:
            observer.follows(self)
        while True:
            instruction = code[self.pc]
            kind = type(instruction)
            try:
                end = _FOLLOW[kind](self, instruction)
                for observer in observers:
                    observer.executed(self)
                if self.state.freed:
                    self.state.freed.clear()
            except NeedsValues as needs:
                end = Read(needs.tensors, self.pc)
            except (MachineError, OutOfMemory) as error:
                raise fault(self.function, self.pc, error) from error
            except (ValueError, OverflowError, MemoryError, TypeError) as error:  # NumPy's limits
                raise fault(self.function, self.pc, MachineError(described(error))) from error
            if not isinstance(end, Read):  # the next segment executes it
                executed.append(kind)
            if end is not None:
                break
            if self.known:
                self.known = {}
            self.pc += 1
        for kind, times in Counter(executed).items():
            self.counters.instructions[kind.mnemonic] += times
        return end

    # Objects

    @property
    def function(self) -> Function:
        return self.context.program.functions[self.state.frame.function]

    def device(self, index: int) -> str:
        return self.context.program.devices[index]

    def object(self, register: int, kind: type[ObjectT]) -> ObjectT:
        """Return the object in `register`, which must be of this kind."""
        found = self.state.read(register)
        if not isinstance(found, kind):
            raise MachineError(
                f"register r{register} must hold {kind.kind}, but holds {found.kind}"
            )
        return found

    def tensor(self, register: int) -> Tensor:
        return self.object(register, Tensor)

    def objects(self, registers: Sequence[int]) -> tuple[Object, ...]:
        return tuple(map(self.state.read, registers))

    def tensors(self, registers: tuple[int, ...]) -> list[Tensor]:
        """Return the operands of a kernel, which may be in data."""
        found = tensors_in(self.objects(registers))
        if found is None:
            raise MachineError("operands of a kernel must be tensors or data of tensors")
        return found

    def compute(self, thunk: Thunk, step: Step | None = None) -> None:
        """Leave a callable for each run, which all observers see."""
        self.leave(thunk, step)
        for observer in self.observers:
            observer.computed(self, step)

    def leave(self, thunk: Thunk, step: Step | None = None) -> None:
        """Leave a callable that no observer sees."""
        self.steps.append(thunk)
        self.origins.append((self.pc, step))

    # Sizes

    def values(self, *tensors: Tensor) -> list[Array]:
        """Return the elements of `tensors`, on which this instruction depends."""
        self.require_written(*tensors)
        unknown = self._unknown(tensors)
        # Sizes that are computed from data are read, not the data: a size has fewer values, so that
        # fewer paths are recorded.
        read = [item for item in unknown if self._is_read(item)]
        if read:
            raise NeedsValues(*read)
        for item in unknown:
            assert item.source is not None, "it is computed"
            args = [self.elements(arg) for arg in item.source.args]
            self.state.known[item] = self.evaluate(item.source.scalar, args)
        return [self.elements(tensor) for tensor in tensors]

    def _unknown(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Return the unknown tensors that those of `tensors` follow from, operands first."""
        order: dict[Tensor, None] = {}
        rest = list(reversed(tensors))
        while rest:
            item = rest[-1]
            args = () if item.source is None or self._is_read(item) else item.source.args
            missing = [arg for arg in args if self.known_elements(arg) is None and arg not in order]
            rest += reversed(missing)
            if not missing:
                rest.pop()
                if self.known_elements(item) is None:
                    order[item] = None
        return list(order)

    def _is_read(self, item: Tensor) -> bool:
        """Test whether `item`, which is not known, is data or computed from data."""
        source = item.source
        return source is None or any(arg.source is None and not arg.constant for arg in source.args)

    def known_elements(self, tensor: Tensor) -> Array | None:
        """Return the elements of `tensor` if they are the same whenever this path is taken."""
        if tensor.constant:
            return tensor.array
        found = self.state.known.get(tensor)
        return self.known.get(tensor) if found is None else found

    def elements(self, tensor: Tensor) -> Array:
        """Return the elements of `tensor`, which are known."""
        found = self.known_elements(tensor)
        assert found is not None, "the elements are known"
        return found

    def immediate(self, value: int | vm.Reg) -> int:
        """Return an integer operand: `value`, or the element of the scalar in that register."""
        return self.immediates(value)[0]

    def immediates(self, *operands: int | vm.Reg) -> list[int]:
        registers = [value.index for value in operands if isinstance(value, vm.Reg)]
        read = iter(self.values(*map(self.tensor, registers))) if registers else iter(())
        return [v if isinstance(v, int) else scalar(next(read)).item() for v in operands]

    def shape(self, dims: tuple[int, ...] | vm.Reg) -> tuple[int, ...]:
        """Return the dims of an operand that is a shape."""
        if isinstance(dims, vm.Reg):
            return dimensions(self.values(self.tensor(dims.index))[0])
        return dims

    def size_tensor(self, sizes: int | tuple[int, ...]) -> Tensor:
        """Return a tensor of sizes that the path knows."""
        return Tensor(np.array(sizes, np.int64), 0, constant=True)

    def evaluate(self, scalar: Scalar, args: Sequence[Array]) -> Array:
        """Return the result of an operation on sizes that the path knows."""
        spec = scalar.result(scalar, args)
        out = np.empty(spec.dims, element_type(spec.dtype))
        scalar.store(args, out)
        return out

    def computed_size(self, spec: TensorSpec) -> Array:
        """Return memory for a size that is computed whenever the path is taken."""
        return self.context.memory.array(spec.dims, spec.dtype, "a size")

    def sizes(self, registers: tuple[int, ...]) -> tuple[Tensor, ...]:
        """Return the tensors in `registers`, operands of an operation on the host."""
        found = tuple(map(self.tensor, registers))
        for number, tensor in enumerate(found):
            if tensor.device:
                here, there = self.device(0), self.device(tensor.device)
                raise MachineError(f"operand {number} must be on {here}, but is on {there}")
        self.require_written(*found)
        return found

    # Bytes

    def require_written(self, *tensors: Tensor) -> None:
        """Raise `MachineError` unless all bytes of `tensors` were written."""
        self.check_written(tensors)
        for observer in self.observers:
            observer.reads(self, tensors)

    def check_written(self, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors if self.state.unwritten else ():
            if self.state.has_unwritten(tensor):
                what = f"a tensor {spec_of(tensor.array)}"
                raise MachineError(storage_errors.unwritten_bytes(what))

    def require_writable(self, targets: Sequence[Tensor], message: str) -> None:
        for tensor in targets:
            if tensor.constant or not tensor.array.flags.writeable:
                raise MachineError(message)
        for observer in self.observers:
            observer.writes(self, targets)

    def wrote(self, *tensors: Tensor) -> None:
        """Mark all bytes of `tensors` as written."""
        self.mark_written(tensors)
        for observer in self.observers:
            observer.wrote(self, tensors)

    def mark_written(self, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors:
            self.state.wrote(tensor)

    def mark_unwritten(self, storage: Storage) -> None:
        """Note that no byte of `storage`, which is new, was written."""
        if storage.size:
            self.state.unwritten[storage] = [0, storage.size]

    def hand_over(self, *roots: Object) -> None:
        """
        Ensure that `roots`, which another activation receives, contain no unwritten bytes.

        Tensors must be written. Storages, which are not read here, are cleared where they are
        not.
        """
        rest = [root for root in roots if self.state.has_unwritten(root)]
        while rest:
            item = rest.pop()
            if isinstance(item, Tensor):
                self.require_written(item)
            elif isinstance(item, Storage):
                gaps = self.state.unwritten[item.root]
                for start, stop in zip(gaps[::2], gaps[1::2], strict=True):
                    first, last = max(start, item.start), min(stop, item.stop)
                    if first < last:
                        memory = item.memory[first:last]
                        self.compute(partial(memory.fill, self.context.memory.blank))
                cut(gaps, item.start, item.stop)
            else:
                self.state.with_unwritten.discard(item)
                rest += filter(self.state.has_unwritten, item.parts)

    # Instructions on storages, and on tensors in them

    def alloc_storage(self, i: vm.AllocStorage) -> None:
        size = self.immediate(i.size)
        if size < 0:
            raise MachineError(storage_errors.negative_size(size))
        capacity = self.context.capacities.get(i.device)
        if capacity is not None and (live := self.state.live[i.device]) + size > capacity:
            raise MachineError(
                storage_errors.pool_is_full(size, self.device(i.device), live, capacity)
            )
        what = f"a storage of {size} bytes on {self.device(i.device)}"
        at, memory = self.state.spaces[i.device].take(size, i.alignment, what)
        site = AllocationSite(self.state.frame.function, self.pc, i.device)
        self.counters.storages[site] += 1
        self.counters.storage_bytes[site] += size
        storage = Storage(size, i.device, memory, at, i.alignment)
        self.mark_unwritten(storage)
        self.state.write(i.dst, storage)
        for observer in self.observers:
            observer.allocated(self, storage)

    def slice_storage(self, i: vm.SliceStorage) -> None:
        storage = self.object(i.storage, Storage)
        offset, size = self.immediates(i.offset, i.size)
        if size < 0:
            raise MachineError(storage_errors.negative_size(size))
        if offset < 0 or offset + size > storage.size:
            raise MachineError(
                storage_errors.outside_storage("a slice", size, offset, storage.size)
            )
        if i.alignment > storage.alignment or offset % i.alignment:
            raise MachineError(
                storage_errors.misaligned_slice(offset, storage.alignment, i.alignment)
            )
        place = (size, storage.device, storage.memory, storage.at, i.alignment)
        start = storage.start + offset
        self.state.write(i.dst, Storage(*place, start, storage.root, (storage,)))

    def alloc_tensor(self, i: vm.AllocTensor) -> None:
        self.view_storage(i.dst, i.storage, self.immediate(i.offset), i.shape, i.dtype)

    def alloc_tensor_reg(self, i: vm.AllocTensorReg) -> None:
        shape = self.tensor(i.shape)
        if isinstance(i.offset, int):
            (dims,), offset = self.values(shape), i.offset
        else:
            dims, at = self.values(shape, self.tensor(i.offset.index))
            offset = scalar(at).item()
        self.view_storage(i.dst, i.storage, offset, dimensions(dims), i.dtype)

    def view_storage(
        self, dst: int, register: int, offset: int, shape: tuple[int, ...], dtype: str
    ) -> None:
        storage = self.object(register, Storage)
        if any(dim < 0 for dim in shape):
            raise MachineError(storage_errors.negative_dims(shape))
        kind = element_type(dtype)
        size = prod(shape) * kind.itemsize
        if offset < 0 or offset + size > storage.size:
            raise MachineError(
                storage_errors.outside_storage("a tensor", size, offset, storage.size)
            )
        start = storage.start + offset
        try:
            array = self.array_at(storage, start, shape, kind)
        except ValueError as error:
            raise MachineError(storage_errors.no_array(shape, error)) from error
        home = self.context.homes[storage.device]
        self.state.write(dst, Tensor(array, home, False, (storage,), start))

    def array_at(
        self, storage: Storage, start: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Array:
        """Return the bytes of `storage` from byte `start` of its memory as an array."""
        return np.ndarray(shape, dtype, storage.memory, start)

    def reshape_tensor(self, i: vm.ReshapeTensor) -> None:
        source, shape = self.tensor(i.tensor), self.shape(i.shape)
        if any(dim < 0 for dim in shape) or prod(shape) != source.array.size:
            raise MachineError(storage_errors.other_elements(spec_of(source.array), shape))
        try:
            array = source.array.reshape(shape)
        except ValueError as error:
            raise MachineError(storage_errors.no_array(shape, error)) from error
        self._write_view(i.dst, source, array, source.offset)

    def slice_tensor(self, i: vm.SliceTensor) -> None:
        source = self.tensor(i.tensor)
        start, shape, whole = self.immediate(i.start), self.shape(i.shape), source.array
        if not are_rows(whole.shape, start, shape, i.axis):
            raise MachineError(storage_errors.other_rows(spec_of(whole), start, shape))
        at = source.offset + start * prod(whole.shape[i.axis + 1 :]) * whole.dtype.itemsize
        rows = whole[*(i.axis * [slice(None)]), start : start + shape[i.axis]]
        self._write_view(i.dst, source, rows, at)

    def join_tensors(self, i: vm.JoinTensors) -> None:
        parts, shape = tuple(map(self.tensor, i.parts)), self.shape(i.shape)
        count = sum(part.array.size for part in parts)
        if not parts or any(dim < 0 for dim in shape) or prod(shape) != count:
            raise MachineError(storage_errors.other_elements_of_join(count, shape))
        inside = [part for part in parts if part.array.size] or [parts[0]]
        first, dtype = inside[0], inside[0].array.dtype
        storage, at = self._storage_of(first), first.offset
        is_joined = all(part.array.dtype == dtype for part in parts)
        for part in inside if len(inside) > 1 else ():
            is_joined &= storage is not None and self._storage_of(part) is storage
            is_joined = is_joined and part.offset == at
            at += part.array.nbytes
        if not is_joined:
            raise MachineError(storage_errors.apart([spec_of(part.array) for part in parts]))
        if storage is None or len(inside) == 1:
            array = first.array.reshape(shape)
        else:
            array = self.array_at(storage, first.offset, shape, dtype)
        constant = any(part.constant for part in parts)
        kept = tuple(dict.fromkeys(s for part in parts for s in part.parts))
        joined = Tensor(array, first.device, constant, kept, first.offset, joined=parts)
        self.state.write(i.dst, joined)
        self.mark_joined(parts, joined)

    def mark_joined(self, parts: Sequence[Tensor], joined: Tensor) -> None:
        """Note that `joined` was written where its parts were."""

    def _storage_of(self, tensor: Tensor) -> Storage | None:
        """Return the storage, not part of another, that a tensor is in, if it is in one."""
        storage = tensor.parts[0] if tensor.parts else None
        return storage.root if isinstance(storage, Storage) else None

    def _write_view(self, dst: int, source: Tensor, array: Array, offset: int) -> None:
        kept = (source.device, source.constant, source.parts, offset)
        self.state.write(dst, Tensor(array, *kept, viewed=source.origin))

    # Instructions on other objects, calls, and decisions

    def move(self, i: vm.Move) -> None:
        self.state.write(i.dst, self.state.read(i.src))

    def ret(self, i: vm.Ret) -> End:
        result = self.state.read(i.result)
        self.hand_over(result)
        for observer in self.observers:
            observer.returns(self, result)
        kept, spaces = self.state.leave(result), self.state.spaces
        decision: Decision = result
        if self.context.has_references:  # they may keep more alive than the result
            decision = (result, tuple(space.contents for space in spaces))
        return Return(result, kept, spaces, decision)

    def call(self, dst: int, function: int, args: tuple[Object, ...]) -> End:
        callee = self.context.program.functions[function]
        check_arguments(self.context.program, callee, args)
        lent = [arg for arg in args if isinstance(arg, Storage)]
        if self.context.has_references:  # what is in a storage may come back through them
            lent = []
        self.hand_over(*(arg for arg in args if arg not in lent))
        roots = dict.fromkeys(storage.root for storage in lent)
        caller = self.state.frame
        gaps = self.state.unwritten
        frame = Frame(
            function,
            args,
            self.state.spaces,
            caller.workspace,
            tuple(self.state.live),
            caller.trace_size,
            unwritten={root: list(gaps[root]) for root in roots if gaps.get(root)},
            is_nested=True,
        )
        rest = self.after_tail_call(dst, function, args)
        if rest is None:
            return Call(frame, dst, self.pc + 1)
        counters = Counters(Counter(instruction.mnemonic for instruction in rest))
        return TailCall(frame, dst, self.pc + 1, counters, len(rest))

    def after_tail_call(
        self, dst: int, function: int, args: tuple[Object, ...]
    ) -> Sequence[vm.Instruction] | None:
        """
        Return the instructions that return the result of a call that may run in place of this one.

        Calls of a function by itself nest if the structure of data changes: a loop that builds a
        list needs its memory in any case, and one that folds a list need not copy it.
        """
        frame, registers = self.state.frame, self.state.registers
        if not self.context.may_jump or any(o.keeps_frames for o in self.observers):
            return None
        params = self.context.program.functions[function].params
        kinds = _kinds(args, params)
        if kinds is None or (function == frame.function and kinds != _kinds(frame.args, params)):
            return None
        return self.context.cycles.after_tail_call(
            *(frame.function, self.pc, dst, function),
            lambda register: isinstance(registers.get(register), Object),
        )

    def invoke(self, i: vm.Invoke) -> End:
        return self.call(i.dst, i.function, self.objects(i.args))

    def invoke_closure(self, i: vm.InvokeClosure) -> End:
        closure = self.object(i.closure, Closure)
        return self.call(i.dst, closure.function, (*closure.parts, *self.objects(i.args)))

    def invoke_packed(self, i: vm.InvokePacked) -> None:
        kernel = self.context.kernel(i.kernel)
        ins, outs = self.tensors(i.ins), self.tensors(i.outs)
        if i.turn is not None and self.immediate(vm.Reg(i.turn)) not in range(*i.turns):
            self.require_writable(outs, f"kernel {kernel.name} must not write to a constant")
            for out in outs if self.context.memory.poison else ():
                self.leave(partial(out.array.reshape(-1).view(np.uint8).fill, POISON))
            self.wrote(*outs)
            return
        arrays = [t.array for t in ins], [t.array for t in outs]
        plan = self.kernel_plan(kernel, ins, *arrays)
        self.require_one_device(kernel, ins, outs)
        self.require_writable(outs, f"kernel {kernel.name} must not write to a constant")
        self.require_written(*ins)
        workspace = self.state.frame.workspace
        fixed = [n for n, tensor in enumerate(ins) if self.known_elements(tensor) is not None]
        bind = partial(self.bind_plan, plan)
        for observer in self.observers:
            bind = observer.binder(self, KernelCall(kernel, plan.types, ins, outs, workspace), bind)
        for thunk, step in bind(*arrays, workspace, fixed):
            self.compute(thunk, step)
        self.wrote(*outs)

    def bind_plan(self, plan: KernelPlan, *operands: Any) -> Bound:
        """Bind the steps of a kernel to arrays."""
        return self.context.bind_plan(plan, *operands)

    def plan_kernel(
        self, kernel: Kernel, ins: Sequence[Array], outs: Sequence[Array], known: dict[int, Array]
    ) -> KernelPlan:
        """Plan `kernel` for such operands; `known` are the elements of inputs, by number."""
        return self.context.kernel_plans.of(kernel, ins, outs, known)

    def kernel_plan(
        self, kernel: Kernel, tensors: Sequence[Tensor], ins: Sequence[Array], outs: Sequence[Array]
    ) -> KernelPlan:
        """Plan `kernel`, reading sizes among its inputs `tensors` if shapes depend on them."""
        try:
            return self.plan_kernel(kernel, ins, outs, {})
        except UnknownShape:
            sizes = size_inputs(kernel, self.context.binds)
            numbers = [n for n in sizes if ins[n].size <= MAX_SIZES]
            if not numbers:
                raise
            values = self.values(*(tensors[number] for number in numbers))
        return self.plan_kernel(kernel, ins, outs, dict(zip(numbers, values, strict=True)))

    def require_one_device(
        self, kernel: Kernel, ins: Sequence[Tensor], outs: Sequence[Tensor]
    ) -> None:
        """Raise `MachineError` unless all operands are on one device, but for sizes on the host."""
        if len({tensor.device for tensor in (*ins, *outs)}) < 2:
            return
        placed = [
            (f"input {number}", tensor)
            for number, tensor in enumerate(ins)
            if tensor.device or number not in kernel.host_ins
        ]
        placed += ((f"output {number}", tensor) for number, tensor in enumerate(outs))
        place = (outs or [tensor for _, tensor in placed])[0].device
        for name, tensor in placed:
            if tensor.device != place:
                here, there = self.device(place), self.device(tensor.device)
                message = f"kernel {kernel.name} runs on {here}, but its {name} is on {there}"
                raise MachineError(message)

    def alloc_adt(self, i: vm.AllocADT) -> None:
        self.build(i.dst, Data(i.tag, self.objects(i.fields)))

    def alloc_closure(self, i: vm.AllocClosure) -> None:
        self.build(i.dst, Closure(i.function, self.objects(i.captured)))

    def build(self, dst: int, value: Data | Closure) -> None:
        if any(map(self.state.has_unwritten, value.parts)):
            self.state.with_unwritten.add(value)
        self.state.write(dst, value)

    def alloc_ref(self, i: vm.AllocRef) -> None:
        ref = Ref()
        self.store(ref, self.state.read(i.src))
        self.state.write(i.dst, ref)

    def write_ref(self, i: vm.WriteRef) -> None:
        self.store(self.object(i.ref, Ref), self.state.read(i.src))

    def store(self, ref: Ref, value: Object) -> None:
        """Let `ref`, which another activation may read, hold `value`."""
        self.hand_over(value)
        self.state.retain(value)  # until the activation ends, as other paths may overwrite it
        self.compute(partial(ref.write, value))

    def read_ref(self, i: vm.ReadRef) -> End:
        return Contents(self.object(i.ref, Ref), i.dst, self.pc + 1)

    def get_field(self, i: vm.GetField) -> None:
        data = self.object(i.data, Data)
        if i.field >= len(data.parts):
            raise MachineError(f"field {i.field} is out of range [0, {len(data.parts)})")
        self.state.write(i.dst, data.parts[i.field])

    def get_tag(self, i: vm.GetTag) -> None:
        tag = np.array(self.object(i.data, Data).tag, np.int32)
        self.state.write(i.dst, Tensor(tag, 0, constant=True))

    def load_consti(self, i: vm.LoadConsti) -> None:
        self.state.write(i.dst, Tensor(np.array(i.value, np.int64), 0, constant=True))

    def load_const(self, i: vm.LoadConst) -> None:
        self.state.write(i.dst, self.context.constant(i.constant, i.device))

    def shape_of(self, i: vm.ShapeOf) -> None:
        self.state.write(i.dst, self.size_tensor(self.tensor(i.tensor).array.shape))

    def compute_(self, i: vm.Compute) -> None:
        """Compute now if the operands are known on this path, when it runs otherwise."""
        scalar, args = SCALARS[i.operation], self.sizes(i.args)
        arrays = [arg.array for arg in args]
        elements = [e for arg in args if (e := self.known_elements(arg)) is not None]
        if len(elements) == len(args):
            self.state.write(i.dst, Tensor(self.evaluate(scalar, elements), 0, constant=True))
            return
        out = self.computed_size(scalar.result(scalar, arrays))
        shown = out.view()
        shown.flags.writeable = False
        self.compute(partial(scalar.store, tuple(arrays), out))
        self.state.write(i.dst, Tensor(shown, 0, source=Computation(scalar, args)))

    def require(self, i: vm.Require) -> None:
        operands = self.sizes((i.lhs, i.rhs, *i.values))
        arrays = [scalar(tensor.array) for tensor in operands]
        relation = Relation(Check(i.check), i.message)
        elements = [e for tensor in operands if (e := self.known_elements(tensor)) is not None]
        if len(elements) == len(operands):
            relation.verify(elements)
        else:
            self.compute(partial(relation.verify, tuple(arrays)))

    def pack(self, i: vm.Pack) -> None:
        """Plan slices, whose sizes must be known on this path."""
        registers = tuple(size.index for size in i.sizes if isinstance(size, vm.Reg))
        operands = self.sizes(registers)
        given = (scalar(array).item() for array in self.values(*operands))
        total, offsets = self.plan_slices(i, all_sizes(i, given))
        constant = all(tensor.constant for tensor in operands)
        for register, value in zip((i.total, *i.offsets), (total, *offsets), strict=True):
            tensor = self.size_tensor(value)
            if not constant:
                tensor.constant = False
                self.state.known[tensor] = tensor.array
            self.state.write(register, tensor)

    def plan_slices(self, pack: vm.Pack, sizes: tuple[int, ...]) -> Layout:
        """Plan slices of these sizes."""
        return self.context.plans.of(pack, sizes)

    def if_(self, i: vm.If) -> End | None:
        compared = [self.tensor(i.test)]
        if i.target is not None:
            compared.append(self.tensor(i.target))
        scalars = [scalar(tensor.array) for tensor in compared]
        self.require_written(*compared)
        if all(tensor.constant for tensor in compared):
            offset = i.true_offset if _holds(scalars) else i.false_offset
            return self.jump(offset)
        return Branch(partial(_holds, scalars), self.pc + i.true_offset, self.pc + i.false_offset)

    def goto(self, i: vm.Goto) -> End | None:
        return self.jump(i.offset)

    def jump(self, offset: int) -> End | None:
        if offset <= 0:  # end here, so that a segment is never longer than its function
            return Jump(self.pc + offset)
        self.pc += offset - 1  # `record` adds 1 after every instruction
        return None

    def fatal(self, i: vm.Fatal) -> None:
        raise MachineError("no clause of a match applies")

    def device_copy(self, i: vm.DeviceCopy) -> None:
        src, out = self.tensor(i.src), self.tensor(i.out)
        for what, tensor, device in (("source", src, i.src_device), ("target", out, i.dst_device)):
            if tensor.device != device:
                names = self.device(device), self.device(tensor.device)
                raise MachineError(storage_errors.copy_elsewhere(what, *names))
        source, target = spec_of(src.array), spec_of(out.array)
        if source != target:
            raise MachineError(storage_errors.copy_of_other_type(source, target))
        self.require_writable([out], storage_errors.COPY_TO_CONSTANT)
        self.require_written(src)
        for observer in self.observers:
            observer.copies(self, i.dst_device, source)
        self.compute(self.copy_of(src.array, out.array))
        self.wrote(out)
        self.counters.copies[i.src_device, i.dst_device] += 1
        self.counters.copied[i.src_device, i.dst_device] += src.array.nbytes

    def copy_of(self, source: Array, target: Array) -> Thunk:
        return partial(np.copyto, target, source)

    def copy_rows(self, i: vm.CopyRows) -> None:
        start, out_start, rows = self.immediates(i.start, i.out_start, i.rows)
        self.move_rows(self.tensor(i.out), i.axis, (self.tensor(i.src), start, out_start, rows))

    def take_rows(self, i: vm.TakeRows) -> None:
        src, (offset, start) = self.tensor(i.src), self.immediates(i.offset, i.start)
        self.view_storage(i.dst, i.storage, offset, i.shape, i.dtype)
        out = self.tensor(i.dst)
        self.move_rows(out, i.axis, (src, start, 0, number_of_rows(out.array, i.axis)))

    def read_rows(self, i: vm.ReadRows) -> None:
        src, out, fill = self.tensor(i.src), self.tensor(i.out), self.fill(i.fill)
        rows, start = number_of_rows(out.array, i.axis), self.immediate(i.start)
        low, high, first = clipped(start, rows, number_of_rows(src.array, i.axis))
        before, after = (fill, 0, 0, low), (fill, 0, high, rows - high)
        self.move_rows(out, i.axis, before, (src, first, low, high - low), after)

    def write_rows(self, i: vm.WriteRows) -> None:
        out, start = self.tensor(i.out), self.immediate(i.start)
        low, high, first = clipped(start, i.rows, number_of_rows(out.array, i.axis))
        source = i.source + low if low < high else 0
        self.move_rows(out, i.axis, (self.tensor(i.src), source, first, high - low))

    def fill_rows(self, i: vm.FillRows) -> None:
        fill, out = self.fill(i.fill), self.tensor(i.out)
        rows, (start, bound) = number_of_rows(out.array, i.axis), self.immediates(i.start, i.bound)
        low, high, _ = clipped(start, rows, bound)
        self.move_rows(out, i.axis, (fill, 0, 0, low), (fill, 0, high, rows - high))

    def fill(self, register: int) -> Tensor:
        """Return the scalar that rows are filled with."""
        if (fill := self.tensor(register)).array.ndim:
            raise MachineError(storage_errors.no_scalar_to_fill(spec_of(fill.array)))
        return fill

    def move_rows(self, out: Tensor, axis: int, *moves: tuple[Tensor, int, int, int]) -> None:
        """Copy rows over those of `out`: each tensor, its first row, that of `out`, how many."""
        copies: list[tuple[Array, Array]] = []
        for src, start, out_start, rows in moves:
            target = rows_of(out.array, axis, out_start, rows)
            is_scalar = src.array.ndim == 0
            source = np.broadcast_to(src.array, target.shape) if is_scalar else None
            source = rows_of(src.array, axis, start, rows) if source is None else source
            if spec_of(source) != spec_of(target) or src.device != out.device:
                message = storage_errors.other_type_of_rows(spec_of(source), spec_of(target))
                raise MachineError(message)
            copies += [(target, source)] if rows else []
        self.require_writable([out], storage_errors.COPY_TO_CONSTANT)
        if copies:
            is_whole = sum(rows for *_, rows in moves) == out.array.shape[axis]
            self.require_written(*(src for src, *_, rows in moves if rows))
            self.require_written(*([] if is_whole else [out]))
            for target, source in copies:
                self.compute(partial(np.copyto, target, source))
            self.wrote(out)

    def kill_register(self, i: vm.KillRegister) -> None:
        self.state.kill(i.register, self.pc)

    def kill_storage(self, i: vm.KillStorage) -> None:
        storage = self.object(i.storage, Storage).root
        for register, value in [*self.state.registers.items()]:
            inside = value.parts[0] if isinstance(value, Tensor) and value.parts else value
            if isinstance(inside, Storage) and inside.root is storage:
                self.state.kill(register, self.pc)


def _kinds(args: Sequence[Object], params: Sequence[Param]) -> list[object] | None:
    """Return the kinds of the objects in `args`, depth first; None if they cannot be copied."""
    kinds: list[object] = []
    rest = [(arg, param.device) for arg, param in zip(args, params, strict=True)]
    while rest and len(kinds) <= MAX_OBJECTS:
        item, device = rest.pop()
        match item:
            case Tensor() if item.device == device:
                kinds.append(Tensor)
            case Data(tag=fact) | Closure(function=fact):
                kinds.append((type(item), fact, len(item.parts)))
                rest += [(part, device) for part in item.parts]
            case _:
                return None
    return None if rest else kinds


def are_rows(dims: Sequence[int], start: int, shape: Sequence[int], axis: int) -> bool:
    """Test whether rows along `axis`, before which dims are 1, have this shape."""
    if not 0 <= axis < len(dims) == len(shape) or min(start, shape[axis]) < 0:
        return False
    if shape[axis] and start + shape[axis] > dims[axis]:
        return False
    outer, inner = [1] * axis, [*dims[axis + 1 :]]
    return [*dims[:axis]] == [*shape[:axis]] == outer and [*shape[axis + 1 :]] == inner


def number_of_rows(array: Array, axis: int) -> int:
    """Return the number of rows along `axis`, which may not be one of `array`."""
    return array.shape[axis] if 0 <= axis < array.ndim else 0


def clipped(start: int, rows: int, bound: int) -> tuple[int, int, int]:
    """Return which of `rows` from `start` on are among `bound` ones, and the first one there."""
    low = min(max(-start, 0), rows)
    return low, max(min(bound - start, rows), low), min(max(start, 0), max(bound, 0))


def rows_of(array: Array, axis: int, start: int, count: int) -> Array:
    """Return a view of rows along `axis`."""
    dims = array.shape
    if not 0 <= axis < len(dims) or min(start, count) < 0 or start + count > dims[axis]:
        raise MachineError(storage_errors.no_rows(spec_of(array), axis, start, count))
    return array[(slice(None),) * axis + (slice(start, start + count),)]


def _holds(scalars: list[Array]) -> bool:
    """Test whether the first scalar equals the second or, if it is the only one, is not 0."""
    first = scalars[0].item()
    return first == scalars[1].item() if len(scalars) == 2 else first != 0


_Follow = Callable[[Recorder, Any], End | None]


def method_of(kind: type[vm.Instruction]) -> _Follow:
    """Return the method that records `kind`: its mnemonic, followed by `_` where that is taken."""
    return getattr(Recorder, f"{kind.mnemonic}_", None) or getattr(Recorder, kind.mnemonic)


_FOLLOW = {kind: method_of(kind) for kind in vm.INSTRUCTIONS.values()}
