"""Kernels in the reference machine: step by step, each value in an array of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from helpers.machine.reference_frame import overwrite, require_written

from xrelay.operators import storage_errors
from xrelay.runtime.calls.value_checks import fits
from xrelay.runtime.errors import MachineError, described
from xrelay.runtime.kernels.bind import Bind
from xrelay.runtime.kernels.loading import no_kernel
from xrelay.runtime.machine.binding import bind_step
from xrelay.runtime.memory.limits import POISON
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.dtypes import element_type
from xrelay.runtime.program.kernel_shapes import (
    data_operands,
    host_input_faults,
    size_inputs,
    specs_on,
)
from xrelay.runtime.program.objects import Tensor
from xrelay.runtime.program.program import Array, Kernel, Step, spec_of


class KernelError(MachineError):
    """An error of a kernel that runs."""


def copy_tensor(i: vm.DeviceCopy, src: Tensor, out: Tensor, devices: Sequence[str]) -> None:
    """Copy `src` into `out`."""
    for what, tensor, device in (("source", src, i.src_device), ("target", out, i.dst_device)):
        if tensor.device != device:
            names = devices[device], devices[tensor.device]
            raise MachineError(storage_errors.copy_elsewhere(what, *names))
    source, target = spec_of(src.array), spec_of(out.array)
    if source != target:
        raise MachineError(storage_errors.copy_of_other_type(source, target))
    if out.constant:
        raise MachineError(storage_errors.COPY_TO_CONSTANT)
    require_written(src)
    overwrite(out, src.array)


def copy_rows(src: Tensor, start: int, out: Tensor, out_start: int, axis: int, count: int) -> None:
    """
    Copy rows along an axis; those of `out` that stay as they are must be written.

    A scalar is written over all elements of these rows.
    """
    if src.array.ndim == 0 and out.array.ndim > 0:
        dims = [*out.array.shape]
        dims[axis : axis + 1] = [max(count, 0)]
        src, start = replace(src, array=np.broadcast_to(src.array, dims)), 0
    for tensor, first in ((out, out_start), (src, start)):
        dims = tensor.array.shape
        if not 0 <= axis < len(dims) or min(first, count) < 0 or first + count > dims[axis]:
            spec = spec_of(tensor.array)
            raise MachineError(storage_errors.no_rows(spec, axis, first, count))
    source, target = (
        np.moveaxis(tensor.array, axis, 0)[first : first + count]
        for tensor, first in ((src, start), (out, out_start))
    )
    specs = [spec_of(np.moveaxis(rows, 0, axis)) for rows in (source, target)]
    if specs[0] != specs[1] or src.device != out.device:
        raise MachineError(storage_errors.other_type_of_rows(*specs))
    if out.constant:
        raise MachineError(storage_errors.COPY_TO_CONSTANT)
    if not count:
        return
    require_written(src)
    if count < out.array.shape[axis]:
        require_written(out)
    whole = out.array.copy()
    np.moveaxis(whole, axis, 0)[out_start : out_start + count] = source
    overwrite(out, whole)


def require_scalar(fill: Tensor) -> None:
    if fill.array.ndim:
        raise MachineError(storage_errors.no_scalar_to_fill(spec_of(fill.array)))


def parts_of(start: int, rows: int, bound: int) -> tuple[list[int], list[int], list[int]]:
    """Return which of `rows` from `start` on are before `bound` ones, among them, and after."""
    numbers = range(rows)
    before = [row for row in numbers if start + row < 0]
    return (
        before,
        [row for row in numbers if 0 <= start + row < bound],
        [row for row in numbers if start + row >= bound and row not in before],
    )


def rows_in(tensor: Tensor, axis: int) -> int:
    return tensor.array.shape[axis] if 0 <= axis < tensor.array.ndim else 0


def read_rows(src: Tensor, start: int, out: Tensor, axis: int, fill: Tensor) -> None:
    """Copy rows over all of `out`; those that `src` does not have are `fill`."""
    require_scalar(fill)
    before, there, after = parts_of(start, rows_in(out, axis), rows_in(src, axis))
    whole = Tensor(out.array.copy(), out.device, constant=out.constant)
    copy_rows(fill, 0, whole, 0, axis, len(before))
    first = (start + there[0], there[0]) if there else (0, 0)
    copy_rows(src, first[0], whole, first[1], axis, len(there))
    copy_rows(fill, 0, whole, len(before) + len(there), axis, len(after))
    if rows_in(out, axis):
        overwrite(out, whole.array)


def write_rows(src: Tensor, source: int, out: Tensor, start: int, axis: int, count: int) -> None:
    """Copy those of `count` rows that `out` has."""
    _, there, _ = parts_of(start, count, rows_in(out, axis))
    first = (source + there[0], start + there[0]) if there else (0, 0)
    copy_rows(src, first[0], out, first[1], axis, len(there))


def fill_rows(fill: Tensor, out: Tensor, start: int, axis: int, bound: int) -> None:
    """Write `fill` over the rows that are not among `bound` ones."""
    require_scalar(fill)
    before, there, after = parts_of(start, rows_in(out, axis), bound)
    if not there:
        copy_rows(fill, 0, out, 0, axis, rows_in(out, axis))
        return
    copy_rows(fill, 0, out, 0, axis, len(before))
    copy_rows(fill, 0, out, len(before) + len(there), axis, len(after))


def _operand_faults(
    kernel: Kernel, ins: Sequence[Tensor], outs: Sequence[Tensor], devices: Sequence[str]
) -> Iterator[str]:
    """Yield why `kernel` does not accept its operands."""
    for what, given, specs in (("input", ins, kernel.ins), ("output", outs, kernel.outs)):
        if len(given) != len(specs):
            yield f"kernel {kernel.name} expects {len(specs)} {what}s, but got {len(given)}"
        for number, (tensor, spec) in enumerate(zip(given, specs, strict=False)):
            if not fits(spec, tensor.array):
                name = f"{what} {number} of kernel {kernel.name}"
                yield f"{name} must be {spec}, but is {spec_of(tensor.array)}"
    on_host = {n for n in kernel.host_ins if not ins[n].device}
    placed = [(f"input {n}", tensor) for n, tensor in enumerate(ins) if n not in on_host]
    placed += ((f"output {n}", tensor) for n, tensor in enumerate(outs))
    place = (outs or [tensor for _, tensor in placed] or [Tensor(np.zeros(0), 0)])[0].device
    for name, tensor in placed:
        if tensor.device != place:
            here, there = devices[place], devices[tensor.device]
            yield f"kernel {kernel.name} runs on {here}, but its {name} is on {there}"
    if any(out.constant for out in outs):
        yield f"kernel {kernel.name} must not write to a constant"


def run_kernel(
    kernel: Kernel,
    ins: Sequence[Tensor],
    outs: Sequence[Tensor],
    binds: Mapping[str, Bind],
    devices: Sequence[str],
) -> None:
    """Compute each step of `kernel` into a new array, then write the results to `outs`."""
    for fault in host_input_faults(kernel, binds):
        raise MachineError(f"kernel {kernel.name}: {fault}")
    for fault in _operand_faults(kernel, ins, outs, devices):
        raise MachineError(fault)
    require_written(*ins)
    values = dict(enumerate([*(tensor.array for tensor in ins), *kernel.constants]))
    values = {number: np.array(array) for number, array in values.items()}
    sizes = {number: values[number] for number in size_inputs(kernel, binds)}
    types = [spec_of(t.array) for t in ins], [spec_of(t.array) for t in outs]
    specs = specs_on(kernel, *types, binds, sizes)
    for step in kernel.steps:
        for value in step.outs:
            values[value] = np.empty(specs[value].dims, element_type(specs[value].dtype))
        operands, results = [values[v] for v in step.ins], [values[v] for v in step.outs]
        empty = not any(result.size for result in results)
        if step.op not in binds and not empty:
            raise MachineError(f"kernel {kernel.name}: {no_kernel(step.op)}", step.location)
        if step.op in binds and (not empty or data_operands(step.op, binds)):
            run_step(kernel, step, binds[step.op], operands, results)
    for out, value in zip(outs, kernel.results, strict=True):
        overwrite(out, values[value])


def skip_kernel(kernel: Kernel, outs: Sequence[Tensor]) -> None:
    """Write what nothing depends on to `outs`: `kernel` is not needed in this turn."""
    if any(out.constant for out in outs):
        raise MachineError(f"kernel {kernel.name} must not write to a constant")
    for out in outs:
        bytes = np.full(out.array.nbytes, POISON, np.uint8)
        overwrite(out, bytes.view(out.array.dtype).reshape(out.array.shape))


def run_step(
    kernel: Kernel, step: Step, bind: Bind, ins: Sequence[Array], outs: Sequence[Array]
) -> None:
    """Compute `outs` from `ins`."""
    thunk = bind_step(kernel, step, bind, ins, outs)
    try:
        thunk()
    except Exception as error:  # of a kernel, possibly a plug-in's
        raise KernelError(described(error), step.location) from error
