"""The memory that functions plan, as executables store it."""

from collections.abc import Iterator

from ...operators.records import record
from .data_types import Natural
from .instructions import AllocStorage, Reg
from .program import Function, Program


@record
class PlannedMemory:
    """
    The memory planned for a function on a device, without that of functions that it calls.

    Amounts are bytes, or None if they depend on the sizes of dims: then the text is a formula.
    """

    function: str
    device: str
    tensors: Natural
    """The number of tensors, of which `sum` is the total size."""
    allocations: Natural
    """The number of storages, which hold all of them."""
    sum: tuple[int | None, str]
    lower_bound: tuple[int | None, str]
    """The most bytes of tensors that are alive at once."""
    planned: tuple[int | None, str]
    """The most bytes of storages that are allocated at once."""


def storages_of(program: Program) -> Iterator[PlannedMemory]:
    """
    Yield what is known of the plan from the instructions alone.

    Planned is the sum of all storages, also of those on different paths.
    """
    for function in program.functions:
        for number, device in enumerate(program.devices):
            size = _storages(function, number)
            if size != 0:
                amount = size, "" if size is not None else "by shapes"
                yield PlannedMemory(function.name, device, 0, 0, (None, ""), (None, ""), amount)


def _storages(function: Function, device: int) -> int | None:
    """Return the bytes of the storages of `function` on a device; None if some are not known."""
    total = 0
    for instruction in function.instructions:
        if isinstance(instruction, AllocStorage) and instruction.device == device:
            if isinstance(instruction.size, Reg):
                return None
            total += instruction.size
    return total
