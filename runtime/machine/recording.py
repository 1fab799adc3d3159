"""
Record a function's instructions from a point of a path to the next decision.

Instructions that do not compute (allocate, view, build tuples, kill) are executed here, once;
those that compute leave callables in the segment, bound to their arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...operators import storage_errors
from ...operators.sizes import Check
from ..calls.value_checks import check_arguments, scalar
from ..errors import MachineError, Note, described
from ..memory.limits import OutOfMemory
from ..memory.packing import Layout, all_sizes
from ..observe.segment_details import Operands
from ..program import instructions as vm
from ..program.kernel_shapes import MAX_SIZES, UnknownShape, size_inputs
from ..program.objects import Closure, Computation, Data, Object, Ref, Storage, Tensor
from ..program.program import Array, Function, Kernel, spec_of
from ..program.size_operations import SCALARS, Relation
from . import tail_calls
from .binding import Bound
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
    Loop,
    Read,
    Return,
    Segment,
    TailCall,
)
from .segment_builder import NeedsValues, wrong_object
from .storage_instructions import StorageInstructions


def fault(function: Function, pc: int, error: Exception, what: str = "") -> MachineError:
    """Return `error` with its own location or, if it has none, that of instruction `pc`."""
    location, notes = None, ()
    if isinstance(error, MachineError):
        location, notes = error.location, error.notes
    if isinstance(error, KilledRegister) and (killed := function.location(error.killer)):
        notes = (Note("killed here", killed),)
    text = f"{function.where(pc)}{what}: {error}"
    return MachineError(text, location or function.location(pc), notes)


class Recorder(StorageInstructions):
    """
    Records `function` from `pc`, starting in `state`.

    Each instruction has a method, which returns how the segment ends, or None if it continues.
    """

    def record(self) -> Segment:
        """Record up to the next decision; raise `MachineError` with the position of a fault."""
        end = self.follow()
        self.counters.peak = {d: size for d, size in enumerate(self.state.peak) if size}
        self.counters.share(self.context.counters)
        frame = self.state.frame
        state = None if isinstance(end, Return) else self.state
        count = len(self.executed)
        segment = Segment(
            frame, self.steps, self.origins, self.counters, end, self.pc, state, count
        )
        segment.details = self.details
        frame.trace_size.size += segment.trace_size
        return segment

    def follow(self) -> End:
        """Follow the instructions up to the next decision, at `pc` then, and return it."""
        code, executed = self.function.instructions, self.executed
        is_watched = self.guard is not None or self.details is not None
        while True:
            instruction = code[self.pc]
            kind = type(instruction)
            try:
                end = _FOLLOW[kind](self, instruction)
            except NeedsValues as needs:
                end = Read(needs.tensors, self.pc)
            except (MachineError, OutOfMemory) as error:
                raise fault(self.function, self.pc, error) from error
            except (ValueError, OverflowError, MemoryError, TypeError) as error:  # NumPy's limits
                raise fault(self.function, self.pc, MachineError(described(error))) from error
            executed.append(kind)
            if is_watched:
                self.note_memory()
            if end is not None:
                break
            if self.known:
                self.known = {}
            self.pc += 1
        if isinstance(end, Read):
            executed.pop()  # the next segment executes it
        for kind, times in Counter(executed).items():
            self.counters.instructions[kind.mnemonic] += times
        return end

    def note_memory(self) -> None:
        """Note the storages that the instruction has freed, and the live bytes after it."""
        if self.guard is not None and self.guard.freed:
            self.compute(self.guard.frees(self.site()))
        if self.details is not None:
            self.details.note_memory(len(self.steps), self.pc, self.state.live)

    def move(self, i: vm.Move) -> None:
        self.state.write(i.dst, self.state.read(i.src))

    def ret(self, i: vm.Ret) -> End:
        result = self.state.read(i.result)
        self.hand_over(result)
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
        if (end := self.tail_call(dst, function, args)) is not None:
            return end
        roots = dict.fromkeys(storage.root for storage in lent)
        caller = self.state.frame
        frame = Frame(
            function,
            args,
            self.state.spaces,
            caller.workspace,
            tuple(self.state.live),
            caller.trace_size,
            guard=caller.guard,
            unwritten={
                root: list(gaps) for root in roots if (gaps := self.state.unwritten.get(root))
            },
        )
        return Call(frame, dst, self.pc + 1)

    def tail_call(self, dst: int, function: int, args: tuple[Object, ...]) -> TailCall | None:
        """Copy `args` to a frame that runs in place of this one, or return None: the call nests."""
        frame = self.state.frame
        if self.context.has_references or self.guard is not None:
            return None
        registers = self.state.registers
        rest = self.context.cycles.after_tail_call(
            *(frame.function, self.pc, dst, function),
            lambda register: isinstance(registers.get(register), Object),
        )
        if rest is None:
            return None
        loop = frame.loop or Loop(frame)
        given = tail_calls.arguments(args, frame, loop.first, function == frame.function)
        target = given and tail_calls.target(loop, function, given.items)
        if target is None or given is None:
            return None
        frame.loop = loop
        for thunk in tail_calls.copies(given.tensors, target.tensors, frame.workspace):
            self.compute(thunk)
        self.executed += map(type, rest)
        return TailCall(target.frame)

    def invoke(self, i: vm.Invoke) -> End:
        return self.call(i.dst, i.function, tuple(map(self.state.read, i.args)))

    def invoke_closure(self, i: vm.InvokeClosure) -> End:
        closure = self.state.read(i.closure)
        if not isinstance(closure, Closure):
            raise wrong_object(i.closure, "a closure", closure)
        args = tuple(map(self.state.read, i.args))
        return self.call(i.dst, closure.function, (*closure.parts, *args))

    def invoke_packed(self, i: vm.InvokePacked) -> None:
        kernel = self.context.kernel(i.kernel)
        ins, outs = self.tensors(i.ins), self.tensors(i.outs)
        arrays = [t.array for t in ins], [t.array for t in outs]
        plan = self.kernel_plan(kernel, ins, *arrays)
        self.require_one_device(kernel, ins, outs)
        for out in outs:
            if out.constant or not out.array.flags.writeable:
                raise MachineError(f"kernel {kernel.name} must not write to a constant")
        self.require_own(*outs)
        self.require_written(*ins)
        workspace = self.state.frame.workspace
        bind = self.bind_plan
        fixed = [n for n, tensor in enumerate(ins) if self.known_elements(tensor) is not None]
        if self.details is not None:
            device = (outs or ins)[0].device if outs or ins else 0
            self.details.operands[self.pc] = Operands(device, plan.types)
            bind = self.details.timed(bind)
        if self.guard is not None:
            from ..observe.guarded_kernels import guarded

            bind = partial(bind, plan, workspace=workspace)
            self.compute(guarded(kernel, bind, ins, outs, workspace))
        else:
            if self.context.memory.poison:
                self.compute(workspace.poison)
            for thunk, step in bind(plan, *arrays, workspace, fixed):
                self.compute(thunk, step)
        self.wrote(*outs)

    @property
    def bind_plan(self) -> Callable[..., Bound]:
        """Binds the steps of a kernel to arrays."""
        return self.context.bind_plan

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
        self.build(i.dst, Data(i.tag, tuple(map(self.state.read, i.fields))))

    def alloc_closure(self, i: vm.AllocClosure) -> None:
        self.build(i.dst, Closure(i.function, tuple(map(self.state.read, i.captured))))

    def alloc_ref(self, i: vm.AllocRef) -> None:
        ref = Ref()
        self.store(ref, self.state.read(i.src))
        self.state.write(i.dst, ref)

    def write_ref(self, i: vm.WriteRef) -> None:
        self.store(self.ref(i.ref), self.state.read(i.src))

    def store(self, ref: Ref, value: Object) -> None:
        """Let `ref`, which another activation may read, hold `value`."""
        self.hand_over(value)
        self.state.retain(value)  # until the activation ends, as other paths may overwrite it
        self.compute(partial(ref.write, value))

    def read_ref(self, i: vm.ReadRef) -> End:
        return Contents(self.ref(i.ref), i.dst, self.pc + 1)

    def get_field(self, i: vm.GetField) -> None:
        data = self.data(i.data)
        if i.field >= len(data.parts):
            raise MachineError(f"field {i.field} is out of range [0, {len(data.parts)})")
        self.state.write(i.dst, data.parts[i.field])

    def get_tag(self, i: vm.GetTag) -> None:
        tag = np.array(self.data(i.data).tag, np.int32)
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
        known = [self.known_elements(arg) for arg in args]
        elements = [array for array in known if array is not None]
        if len(elements) == len(known):
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
        known = [self.known_elements(tensor) for tensor in operands]
        if any(elements is None for elements in known):
            self.compute(partial(relation.verify, tuple(arrays)))
        else:
            relation.verify([elements for elements in known if elements is not None])

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
        if out.constant or not out.array.flags.writeable:
            raise MachineError(storage_errors.COPY_TO_CONSTANT)
        self.require_own(out)
        if self.details is not None:
            operands = Operands(i.dst_device, (source,))
            self.details.operands[self.pc] = operands
        self.require_written(src)
        self.compute(partial(np.copyto, out.array, src.array))
        self.wrote(out)
        self.counters.copies[i.src_device, i.dst_device] += 1
        self.counters.copied[i.src_device, i.dst_device] += src.array.nbytes

    def kill_register(self, i: vm.KillRegister) -> None:
        self.state.kill(i.register, self.pc)


def _holds(scalars: list[Array]) -> bool:
    """Test whether the first scalar equals the second or, if it is the only one, is not 0."""
    first = scalars[0].item()
    return first == scalars[1].item() if len(scalars) == 2 else first != 0


_Follow = Callable[[Recorder, Any], End | None]


def method_of(kind: type[vm.Instruction]) -> _Follow:
    """Return the method that records `kind`: its mnemonic, followed by `_` where that is taken."""
    return getattr(Recorder, f"{kind.mnemonic}_", None) or getattr(Recorder, kind.mnemonic)


_FOLLOW = {kind: method_of(kind) for kind in vm.INSTRUCTIONS.values()}
