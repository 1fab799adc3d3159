"""
Prepare the memory of calls for arguments of certain types.

    f(x: float32[2], y: (float32[3], int64))  ->  x at byte 0, y.0 at byte 64, y.1 at 128
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..errors import MachineError
from ..machine.paths import Frame, TraceSize
from ..memory.arena import Arena, Entry
from ..memory.limits import ALIGNMENT
from ..memory.spaces import Space
from ..program.dtypes import has_element_type
from ..program.objects import Object, Storage, Tensor
from ..program.program import Array, Function, Program, spec_of
from .argument_types import check_types
from .value_checks import check_arguments
from .values import FlatValue, Leaf, built, flatten, stand_in


def flattened(
    function: Function, args: Sequence[object], limit: int | None = None
) -> list[FlatValue]:
    """
    Flatten the arguments of `function`, each of at most `limit` bytes.

    Raises `MachineError` for what is not a value.
    """
    values: list[FlatValue] = []
    for number, arg in enumerate(args):
        try:
            values.append(flatten(arg, limit))
        except MachineError as error:
            raise MachineError(f"{_parameter(function, number)}: {error}") from error
    return values


def _parameter(function: Function, number: int) -> str:
    """Return what argument `number` of `function` is called in errors."""
    if number >= len(function.params):
        return f"argument {number} of {function.name}"
    return f"parameter '{function.params[number].name}' of {function.name}"


def check_structures(program: Program, function: Function, values: Sequence[FlatValue]) -> None:
    """Raise `MachineError` if arguments of the structures of `values` do not fit `function`."""
    homes = [param.device for param in function.params]
    homes += [0] * (len(values) - len(homes))
    args = (
        built(value.structure, lambda leaf: Tensor(stand_in(leaf), home))[0]
        for value, home in zip(values, homes, strict=False)
    )
    objects = tuple(args)
    check_arguments(program, function, objects)
    check_types(program, function, objects)
    for number, value in enumerate(values):
        for item in value.structure:
            if isinstance(item, Leaf) and not has_element_type(item.dtype):
                type, name = spec_of(stand_in(item)), _parameter(function, number)
                raise MachineError(f"{name} has unsupported type {type}")


def allocated(leaf: Leaf, device: int, space: Space) -> Tensor:
    """Return a tensor in memory of `space`, for a copy of a value; raise `OutOfMemory`."""
    size = prod(leaf.shape) * leaf.dtype.itemsize
    at, memory = space.take(size, ALIGNMENT, f"{leaf.dtype}{list(leaf.shape)}")
    storage = Storage(size, device, memory, at, ALIGNMENT)
    return Tensor(memory.view(leaf.dtype).reshape(leaf.shape), device, parts=(storage,))


def new_entry(program: Program, arena: Arena, index: int, values: Sequence[FlatValue]) -> Entry:
    """
    Return an entry for calls of function `index` with arguments like `values`.

    Its memory starts with their copies. Raises `OutOfMemory` if they do not fit.
    """
    spaces, workspace = arena.spaces(), arena.workspace()
    args: list[Object] = []
    inputs: list[Array] = []
    for param, value in zip(program.functions[index].params, values, strict=True):
        place = param.device, spaces[param.device]
        arg, arrays = built(
            value.structure, lambda leaf, p=place: Tensor(allocated(leaf, *p).array, p[0])
        )
        args.append(arg)
        inputs += arrays
    base, size = (0,) * len(spaces), TraceSize()
    frame = Frame(index, tuple(args), spaces, workspace, base, size)
    tensors = [value.structure[0] for value in values]
    types = [item for item in tensors if isinstance(item, Leaf)]
    extents = (*(space.extent for space in spaces), workspace.extent)
    simple = types if len(types) == len(values) else None
    return Entry([value.structure for value in values], frame, inputs, simple, extents)
