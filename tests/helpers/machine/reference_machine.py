"""
The specification of the machine: what each instruction does, one at a time.

`Machine` records paths, binds kernels to arrays once and reuses memory. It must return what
`ReferenceMachine` returns, which prepares nothing and shares no memory, and fail when it fails:
random programs hold it to that.

Bytes of a storage can be read once they are written. So must those be of a tensor that a function
is given or returns, or that a reference receives. Of a storage there, the other bytes are
unspecified from then on, except in an argument that is a storage and in a program without
references: it is lent, and the callee writes before it reads.

Calls use an explicit stack; one in tail position replaces its caller. Memory is not limited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from helpers.machine.reference_frame import Frame, Storage, joined, reshaped, rows_of
from helpers.machine.reference_kernels import (
    KernelError,
    copy_rows,
    copy_tensor,
    fill_rows,
    read_rows,
    run_kernel,
    skip_kernel,
    write_rows,
)

from xrelay.operators import storage_errors
from xrelay.operators.sizes import Check
from xrelay.runtime.calls.argument_types import check_types
from xrelay.runtime.calls.call_arguments import flattened
from xrelay.runtime.calls.value_checks import check_arguments, scalar
from xrelay.runtime.calls.values import Value, built, copy_out, leaves
from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels.bind import Bind
from xrelay.runtime.kernels.loading import load_kernels
from xrelay.runtime.memory.limits import Memory, Owner
from xrelay.runtime.memory.packing import all_sizes, plan
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.checking import check_program
from xrelay.runtime.program.dtypes import element_type, has_element_type
from xrelay.runtime.program.instructions import Reg
from xrelay.runtime.program.objects import Closure, Data, Object, Ref, Tensor, tensors_in
from xrelay.runtime.program.program import Array, Late, Program, homes_of, spec_of
from xrelay.runtime.program.size_operations import SCALARS, Relation


class ReferenceMachine:
    """
    A program that is run instruction by instruction.

    `constants` are the values of late-bound constants, by name. `max_instructions` limits a call.
    Raises `MachineError` if the program is not well-formed.
    """

    def __init__(
        self,
        program: Program,
        constants: Mapping[str, Array] | None = None,
        kernels: Mapping[str, Bind] | None = None,
        *,
        max_instructions: int | None = None,
    ) -> None:
        check_program(program)
        given = constants or {}
        self.program = program
        self.binds = load_kernels() if kernels is None else kernels
        self.constants = [given[c.name] if isinstance(c, Late) else c for c in program.constants]
        self.max_instructions = max_instructions
        self.lends = not any(
            isinstance(i, vm.AllocRef) for f in program.functions for i in f.instructions
        )

    def run(self, function: str = "main", *args: object) -> list[Array]:
        """Call `function` and return the tensors of its result, depth first."""
        return list(leaves(self.evaluate(function, *args)))

    def evaluate(self, function: str = "main", *args: object) -> Value:
        """Call `function` and return its result; raise `MachineError` if the program fails."""
        names = [f.name for f in self.program.functions]
        if function not in names:
            raise MachineError(f"unknown function {function} (defined: {', '.join(names)})")
        called = self.program.functions[names.index(function)]
        homes = [param.device for param in called.params] + [0] * len(args)
        values = flattened(called, args)
        arrays = (array for value in values for array in value.arrays)
        placed = [
            built(value.structure, lambda leaf: Tensor(np.array(next(arrays), leaf.dtype), home))[0]
            for value, home in zip(values, homes, strict=False)
        ]
        frames = [self._enter(names.index(function), placed, 0)]
        check_types(self.program, called, placed)
        for param, value in zip(called.params, values, strict=True):
            for array in value.arrays:
                if not has_element_type(array.dtype):
                    name = f"parameter '{param.name}' of {function}"
                    raise MachineError(f"{name} has unsupported type {spec_of(array)}")
        with np.errstate(all="ignore"):
            return copy_out(self._execute(frames), Owner(Memory()))

    def _execute(self, frames: list[Frame]) -> Object:
        """Run the last of `frames`, and return the result of the first."""
        left = self.max_instructions
        while True:
            frame = frames[-1]
            try:
                if left == 0:
                    limit = f"{self.max_instructions} instructions (--max-instructions)"
                    raise MachineError(f"exceeded the limit of {limit}")
                if (result := self._step(frame, frames)) is not None:
                    return result
            except (MachineError, ValueError, OverflowError, MemoryError, TypeError) as error:
                raise self._located(error, frame) from error
            frame.pc += 1
            left = left and left - 1

    def _located(self, error: Exception, frame: Frame) -> MachineError:
        """Return `error` as an error at the instruction that `frame` has reached."""
        what, i = "", frame.function.instructions[frame.pc]
        if isinstance(error, KernelError) and isinstance(i, vm.InvokePacked):
            what = f" {self.program.kernels[i.kernel].name}"
        place = error.location if isinstance(error, MachineError) else None
        return MachineError(
            f"{frame.function.where(frame.pc)}{what}: {error}",
            place or frame.function.location(frame.pc),
        )

    def _enter(self, index: int, args: Sequence[Any], dst: int) -> Frame:
        function = self.program.functions[index]
        check_arguments(self.program, function, tuple(args))
        return Frame(function, dict(enumerate(args)), dst)

    def _call(self, frames: list[Frame], index: int, args: Sequence[Any], dst: int) -> None:
        caller = frames[-1]
        callee = self._enter(index, args, dst)
        caller.hand_over(*(a for a in args if not (self.lends and isinstance(a, Storage))))
        if caller.returns(dst):
            frames.pop()
            callee.dst = caller.dst
        frames.append(callee)

    def _step(  # noqa: C901, one `match` over the instructions
        self, frame: Frame, frames: list[Frame]
    ) -> Object | None:
        """Run the instruction at `frame.pc`; return the result of the outermost call."""
        program, devices = self.program, self.program.devices
        match i := frame.function.instructions[frame.pc]:
            case vm.Move():
                frame.write(i.dst, frame.read(i.src))
            case vm.Ret():
                value = frame.read(i.result)
                frame.hand_over(value)
                frames.pop()
                if not frames:
                    return value
                frames[-1].write(frame.dst, value)
            case vm.Invoke():
                self._call(frames, i.function, frame.read_all(i.args), i.dst)
            case vm.InvokeClosure():
                closure: Closure = frame.read(i.closure, Closure, "a closure")
                args = (*closure.parts, *frame.read_all(i.args))
                self._call(frames, closure.function, args, i.dst)
            case vm.InvokePacked():
                ins, outs = (tensors_in(frame.read_all(r)) for r in (i.ins, i.outs))
                if ins is None or outs is None:
                    raise MachineError("operands of a kernel must be tensors or data of tensors")
                kernel = program.kernels[i.kernel]
                if i.turn is None or frame.number(Reg(i.turn)) in range(*i.turns):
                    run_kernel(kernel, ins, outs, self.binds, devices)
                else:
                    skip_kernel(kernel, outs)
            case vm.AllocTensor():
                frame.view(
                    i.dst, frame.storage(i.storage), frame.number(i.offset), i.shape, i.dtype
                )
            case vm.AllocTensorReg():
                shape, offset = frame.shape(Reg(i.shape)), frame.number(i.offset)
                frame.view(i.dst, frame.storage(i.storage), offset, shape, i.dtype)
            case vm.AllocADT():
                frame.build(i.dst, Data(i.tag, frame.read_all(i.fields)))
            case vm.AllocClosure():
                frame.build(i.dst, Closure(i.function, frame.read_all(i.captured)))
            case vm.AllocRef():
                value = frame.read(i.src)
                frame.hand_over(value)
                frame.write(i.dst, Ref(value))
            case vm.ReadRef():
                frame.write(i.dst, frame.read(i.ref, Ref, "a reference").contents)
            case vm.WriteRef():
                ref: Ref = frame.read(i.ref, Ref, "a reference")
                value = frame.read(i.src)
                frame.hand_over(value)
                ref.write(value)
            case vm.GetField():
                parts = frame.data(i.data).parts
                if i.field >= len(parts):
                    raise MachineError(f"field {i.field} is out of range [0, {len(parts)})")
                frame.write(i.dst, parts[i.field])
            case vm.If():
                test = scalar(frame.elements(i.test)).item()
                if i.target is None:
                    holds = test != 0
                else:
                    holds = test == scalar(frame.elements(i.target)).item()
                frame.pc += (i.true_offset if holds else i.false_offset) - 1
            case vm.Goto():
                frame.pc += i.offset - 1
            case vm.LoadConst():
                frame.write(i.dst, Tensor(self.constants[i.constant], i.device, constant=True))
            case vm.LoadConsti():
                frame.write_size(i.dst, i.value)
            case vm.GetTag():
                frame.write_size(i.dst, frame.data(i.data).tag, "int32")
            case vm.Fatal():
                raise MachineError("no clause of a match applies")
            case vm.AllocStorage():
                size = frame.number(i.size)
                if size < 0:
                    raise MachineError(storage_errors.negative_size(size))
                memory, written = np.full(size, 0xFF, np.uint8), np.zeros(size, bool)
                home = homes_of(program)[i.device]
                frame.write(i.dst, Storage(memory, written, home, i.alignment))
            case vm.SliceStorage():
                frame.write(i.dst, frame.slice(i))
            case vm.ShapeOf():
                frame.write_size(i.dst, frame.tensor(i.tensor).array.shape)
            case vm.Compute():
                operation, operands = SCALARS[i.operation], frame.sizes(i.args, devices)
                spec = operation.result(operation, operands)
                out = np.empty([dim or 0 for dim in spec.shape], element_type(spec.dtype))
                operation.store(operands, out)
                frame.write_size(i.dst, out, spec.dtype)
            case vm.Require():
                operands = frame.sizes((i.lhs, i.rhs, *i.values), devices)
                Relation(Check(i.check), i.message).verify(list(map(scalar, operands)))
            case vm.Pack():
                given = [size.index for size in i.sizes if isinstance(size, Reg)]
                operands = (int(scalar(a).item()) for a in frame.sizes(given, devices))
                total, offsets = plan(i, all_sizes(i, operands))
                for register, number in zip((i.total, *i.offsets), (total, *offsets), strict=True):
                    frame.write_size(register, number)
            case vm.ReshapeTensor():
                source, shape = frame.tensor(i.tensor), frame.shape(i.shape)
                if any(dim < 0 for dim in shape) or prod(shape) != source.array.size:
                    raise MachineError(storage_errors.other_elements(spec_of(source.array), shape))
                frame.write(i.dst, replace(source, array=reshaped(source.array, shape)))
            case vm.SliceTensor():
                source = frame.tensor(i.tensor)
                frame.write(i.dst, rows_of(source, frame.number(i.start), frame.shape(i.shape)))
            case vm.JoinTensors():
                parts = list(map(frame.tensor, i.parts))
                frame.write(i.dst, joined(parts, frame.shape(i.shape)))
            case vm.DeviceCopy():
                copy_tensor(i, frame.tensor(i.src), frame.tensor(i.out), devices)
            case vm.CopyRows():
                src, out = frame.tensor(i.src), frame.tensor(i.out)
                start, out_start, rows = map(frame.number, (i.start, i.out_start, i.rows))
                copy_rows(src, start, out, out_start, i.axis, rows)
            case vm.ReadRows():
                src, out, fill = frame.tensor(i.src), frame.tensor(i.out), frame.tensor(i.fill)
                read_rows(src, frame.number(i.start), out, i.axis, fill)
            case vm.WriteRows():
                src, out = frame.tensor(i.src), frame.tensor(i.out)
                write_rows(src, i.source, out, frame.number(i.start), i.axis, i.rows)
            case vm.FillRows():
                fill, out = frame.tensor(i.fill), frame.tensor(i.out)
                fill_rows(fill, out, frame.number(i.start), i.axis, frame.number(i.bound))
            case vm.KillRegister():
                frame.kill(i.register)
            case _:
                raise AssertionError(f"no case for {i.mnemonic}")
        return None
