"""Activations of functions in the reference machine: their registers, and the bytes in storages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from xrelay.operators import storage_errors
from xrelay.runtime.calls.value_checks import dimensions, scalar
from xrelay.runtime.errors import MachineError
from xrelay.runtime.memory.regions import side_by_side
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.dtypes import element_type
from xrelay.runtime.program.instructions import Reg
from xrelay.runtime.program.objects import Closure, Data, Tensor
from xrelay.runtime.program.program import Array, Function, spec_of


@dataclass(eq=False, slots=True)
class Storage:
    """Bytes on a device, and which of them were written."""

    memory: Array
    written: Array
    device: int
    alignment: int

    kind = "a storage"


@dataclass(eq=False, slots=True)
class View(Tensor):
    """A tensor in a storage, and which of its bytes were written."""

    written: Array = field(default_factory=lambda: np.ones(0, bool))


def require_written(*tensors: Tensor) -> None:
    """Raise `MachineError` unless all bytes of `tensors` were written."""
    for tensor in tensors:
        if isinstance(tensor, View) and not tensor.written.all():
            raise MachineError(storage_errors.unwritten_bytes(f"a tensor {spec_of(tensor.array)}"))


def reshaped(array: Array, shape: Sequence[int]) -> Array:
    """Return `array` in `shape`, which has as many elements."""
    try:
        return array.reshape(shape)
    except ValueError as error:
        raise MachineError(storage_errors.no_array(shape, error)) from error


def rows_of(tensor: Tensor, start: int, shape: Sequence[int], axis: int = 0) -> Tensor:
    """Return the rows of `tensor` along `axis` from `start` on, as many as `shape` says."""
    dims, shape = tensor.array.shape, tuple(shape)
    is_there = 0 <= axis < len(dims) == len(shape)
    rows, count = (dims[axis], shape[axis]) if is_there else (0, -1)
    others = [(*of[:axis], *of[axis + 1 :]) for of in (dims, shape)]
    fits = min(start, count) >= 0 and (start + count <= rows or not count)
    if not fits or others[0] != others[1] or any(dim != 1 for dim in dims[:axis]):
        raise MachineError(storage_errors.other_rows(spec_of(tensor.array), start, shape))
    per_row = prod(dims[axis + 1 :])
    first, last = min(start, rows) * per_row, min(start + count, rows) * per_row
    array = reshaped(tensor.array.reshape(-1)[first:last], shape)
    if not isinstance(tensor, View):
        return replace(tensor, array=array)
    size = tensor.array.itemsize
    return replace(tensor, array=array, written=tensor.written[first * size : last * size])


def joined(parts: Sequence[Tensor], shape: Sequence[int]) -> Tensor:
    """Return tensors that lie side by side in one storage as one of `shape`."""
    count = sum(part.array.size for part in parts)
    if not parts or prod(shape) != count or any(dim < 0 for dim in shape):
        raise MachineError(storage_errors.other_elements_of_join(count, shape))
    inside = [part for part in parts if part.array.size] or [parts[0]]
    first = inside[0]
    bytes = side_by_side([part.array for part in inside])
    if bytes is None or any(part.array.dtype != first.array.dtype for part in parts):
        raise MachineError(storage_errors.apart([spec_of(part.array) for part in parts]))
    array = reshaped(bytes.view(first.array.dtype), shape)
    if not isinstance(first, View):
        return replace(first, array=array)
    flags = [part.written for part in inside if isinstance(part, View)]
    written = side_by_side(flags)
    assert written is not None, "flags lie as their bytes do"
    return replace(first, array=array, written=written.view(bool))


def overwrite(out: Tensor, array: Array) -> None:
    """Write the elements of `array` to `out`."""
    np.copyto(out.array, array)
    if isinstance(out, View):
        out.written[:] = True


@dataclass(eq=False, slots=True)
class Frame:
    """
    A call of `function`, at instruction `pc`; its result goes to `dst` of the caller.

    `unwritten` are data and closures built here of bytes that were not written then.
    """

    function: Function
    registers: dict[int, Any]
    dst: int
    pc: int = 0
    killed: dict[int, int] = field(default_factory=dict[int, int])
    unwritten: set[object] = field(default_factory=set[object])

    def read(self, register: int, kind: type[Any] = object, what: str = "") -> Any:
        """Return the object in `register`, which must be a `kind`."""
        if register in self.killed:
            killer = self.killed[register]
            raise MachineError(f"register r{register} is read after instruction {killer} killed it")
        if register not in self.registers:
            raise MachineError(f"register r{register} is read before it is written")
        value = self.registers[register]
        if not isinstance(value, kind):
            raise MachineError(f"register r{register} must hold {what}, but holds {value.kind}")
        return value

    def read_all(self, registers: Sequence[int]) -> tuple[Any, ...]:
        return tuple(map(self.read, registers))

    def tensor(self, register: int) -> Tensor:
        return self.read(register, Tensor, "a tensor")

    def data(self, register: int) -> Data:
        return self.read(register, Data, "data")

    def storage(self, register: int) -> Storage:
        return self.read(register, Storage, "a storage")

    def write(self, register: int, value: object) -> None:
        self.killed.pop(register, None)
        self.registers[register] = value

    def write_size(self, register: int, value: Any, dtype: str = "int64") -> None:
        """Write a tensor that no kernel may write to."""
        self.write(register, Tensor(np.array(value, dtype), 0, constant=True))

    def kill(self, register: int) -> None:
        self.read(register)
        del self.registers[register]
        self.killed[register] = self.pc

    def kill_storage(self, register: int) -> None:
        """Clear the registers with bytes of a storage, or of what this is a slice of."""
        memory = self.storage(register).memory
        whole = memory if memory.base is None else memory.base
        for other, value in [*self.registers.items()]:
            bytes = value.memory if isinstance(value, Storage) else None
            bytes = value.array if isinstance(value, View) else bytes
            if bytes is not None and (bytes is whole or bytes.base is whole):
                self.kill(other)

    def sizes(self, registers: Sequence[int], devices: Sequence[str]) -> list[Array]:
        """Return the elements of tensors on the host."""
        tensors = list(map(self.tensor, registers))
        for number, tensor in enumerate(tensors):
            if tensor.device:
                here, there = devices[0], devices[tensor.device]
                raise MachineError(f"operand {number} must be on {here}, but is on {there}")
        require_written(*tensors)
        return [tensor.array for tensor in tensors]

    def elements(self, register: int) -> Array:
        tensor = self.tensor(register)
        require_written(tensor)
        return tensor.array

    def number(self, value: int | Reg) -> int:
        if isinstance(value, Reg):
            return int(scalar(self.elements(value.index)).item())
        return value

    def shape(self, value: tuple[int, ...] | Reg) -> tuple[int, ...]:
        return dimensions(self.elements(value.index)) if isinstance(value, Reg) else value

    def build(self, register: int, value: Data | Closure) -> None:
        if any(self.may_be_unwritten(part) for part in value.parts):
            self.unwritten.add(value)
        self.write(register, value)

    def may_be_unwritten(self, value: object) -> bool:
        if isinstance(value, View | Storage):
            return not value.written.all()
        return value in self.unwritten

    def hand_over(self, *roots: object) -> None:
        """Check, or specify, the bytes in objects that other activations receive."""
        rest = list(roots)
        while rest:
            item = rest.pop()
            if isinstance(item, View):
                require_written(item)
            elif isinstance(item, Storage):
                item.written[:] = True
            elif item in self.unwritten:
                assert isinstance(item, Data | Closure)
                self.unwritten.discard(item)
                rest += item.parts

    def view(self, dst: int, source: Storage, start: int, shape: Sequence[int], dtype: str) -> None:
        """Write a tensor at byte `start` of `source` to `dst`."""
        if any(dim < 0 for dim in shape):
            raise MachineError(storage_errors.negative_dims(shape))
        kind = element_type(dtype)
        size = prod(shape) * kind.itemsize
        if start < 0 or start + size > len(source.memory):
            raise MachineError(
                storage_errors.outside_storage("a tensor", size, start, len(source.memory))
            )
        array = reshaped(source.memory[start : start + size].view(kind), shape)
        written = source.written[start : start + size]
        self.write(dst, View(array, source.device, written=written))

    def slice(self, i: vm.SliceStorage) -> Storage:
        """Return part of a storage as a storage."""
        whole, offset, size = self.storage(i.storage), self.number(i.offset), self.number(i.size)
        if size < 0:
            raise MachineError(storage_errors.negative_size(size))
        if offset < 0 or offset + size > len(whole.memory):
            raise MachineError(
                storage_errors.outside_storage("a slice", size, offset, len(whole.memory))
            )
        if i.alignment > whole.alignment or offset % i.alignment:
            raise MachineError(
                storage_errors.misaligned_slice(offset, whole.alignment, i.alignment)
            )
        stop = offset + size
        memory, written = whole.memory[offset:stop], whole.written[offset:stop]
        return Storage(memory, written, whole.device, i.alignment)

    def returns(self, register: int) -> bool:
        """Test whether nothing but a return of `register` follows this instruction."""
        pc, code = self.pc + 1, self.function.instructions
        for _ in code:
            match code[pc]:
                case vm.Move(dst, src) if src == register:
                    register, pc = dst, pc + 1
                case vm.KillRegister(other) if other != register and other in self.registers:
                    pc += 1
                case vm.Goto(offset):
                    pc += offset
                case vm.Ret(result):
                    return result == register
                case _:
                    return False
        return False
