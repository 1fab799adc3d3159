"""
Tail calls in cycles, in memory that does not grow with their number.

    @loop(n, x)                                 the first activation, on its caller's objects
    @loop(n - 1, x + x)    copied to a frame:   | n | x | memory of the activation |
    @loop(n - 2, …)        copied to it again

The arguments of a tail call are copied into a frame that was prepared for such arguments, and this
runs in place of the caller, which has ended. Data that the callers of the first activation own,
such as a list to fold, and large constants are not copied: they are part of what a frame is
prepared for, as are tags and shapes. Calls whose arguments have no frame nest if there are
`MAX_FRAMES` of them already: a loop that builds a list needs the memory of the list in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..kernels.bind import Thunk
from ..memory.limits import ALIGNMENT, SMALL
from ..memory.scratch import Workspace, scratch
from ..program.objects import Closure, Data, Object, Ref, Storage, Tensor
from ..program.program import Array
from .paths import Frame, Loop, Target

MAX_FRAMES = 16
"""Number of frames for the tail calls that follow one call."""
MAX_OBJECTS = 64
"""Number of objects in arguments that are copied."""


class TensorCopy(NamedTuple):
    """A tensor in arguments that is copied."""

    device: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class DataCopy(NamedTuple):
    """Data in arguments: a constructor's tag and fields."""

    tag: int
    fields: int


class ClosureCopy(NamedTuple):
    """A closure in arguments: its function and captured values."""

    function: int
    captured: int


Item: TypeAlias = TensorCopy | DataCopy | ClosureCopy | Object
"""An object in arguments: how it is copied or, if it is not, itself."""


class Arguments(NamedTuple):
    """Arguments, depth first: the items that describe them, and the tensors to copy."""

    items: tuple[Item, ...]
    tensors: list[Tensor]


def arguments(
    args: Sequence[Object], frame: Frame, first: Frame, repeats: bool
) -> Arguments | None:
    """
    Describe `args` of a tail call from `frame`, which replaced `first`; None if it has to nest.

    `repeats` if it is a call of the function that runs in `frame`.
    """
    items: list[Item] = []
    tensors: list[Tensor] = []
    pairs = zip(frame.args, args, strict=True) if repeats else ()
    unchanged = {id(old) for old, new in pairs if old is new}
    rest: list[Object] = list(reversed(args))
    while rest:
        item = rest.pop()
        given = item.born < first.born
        match item:
            case Tensor():
                large = item.constant and item.array.nbytes > SMALL
                if large or (given and id(item) in unchanged):
                    items.append(item)
                    continue
                items.append(TensorCopy(item.device, item.array.dtype, item.array.shape))
                tensors.append(item)
            case Data() | Closure() if given:
                items.append(item)
            case Data():
                items.append(DataCopy(item.tag, len(item.parts)))
                rest.extend(reversed(item.parts))
            case Closure():
                items.append(ClosureCopy(item.function, len(item.parts)))
                rest.extend(reversed(item.parts))
            case Storage() | Ref():
                return None
        if len(items) > MAX_OBJECTS:
            return None
    return Arguments(tuple(items), tensors)


def target(loop: Loop, function: int, items: tuple[Item, ...]) -> Target | None:
    """Return the frame of `function` for such arguments; None if there are too many others."""
    key = (function, items)
    known_target = loop.targets.get(key)
    if known_target is None and len(loop.targets) < MAX_FRAMES:
        known_target = loop.targets[key] = _target(loop, function, items)
    return known_target


def _target(loop: Loop, function: int, items: Sequence[Item]) -> Target:
    first = loop.first
    spaces = tuple(space.copy() for space in first.spaces)
    frame = Frame(function, (), spaces, first.workspace, first.base, first.trace_size, loop=loop)
    made: list[Object] = []
    tensors: list[Tensor] = []
    for item in reversed(items):
        match item:
            case TensorCopy(device, dtype, shape):
                size = prod(shape) * dtype.itemsize
                at, memory = spaces[device].take(
                    size, ALIGNMENT, f"an argument {dtype}{list(shape)}"
                )
                storage = Storage(size, device, memory, at, ALIGNMENT)
                array: Array = np.ndarray(shape, dtype, memory)
                tensors.append(Tensor(array, device, parts=(storage,)))
                made.append(tensors[-1])
            case DataCopy(tag, count):
                made.append(Data(tag, tuple(made.pop() for _ in range(count))))
            case ClosureCopy(number, count):
                made.append(Closure(number, tuple(made.pop() for _ in range(count))))
            case _:
                made.append(item)
    frame.args = tuple(reversed(made))
    return Target(frame, tensors[::-1])


def copies(sources: Sequence[Tensor], to: Sequence[Tensor], workspace: Workspace) -> list[Thunk]:
    """
    Return what copies `sources` to the tensors of a target.

    A source whose bytes another copy overwrites is copied to scratch memory first.
    """
    pairs = [(a.array, b.array) for a, b in zip(to, sources, strict=True) if a is not b]
    first: list[Thunk] = []
    then: list[Thunk] = []
    with workspace.lend():
        for i, (out, source) in enumerate(pairs):
            if any(np.may_share_memory(source, earlier) for earlier, _ in pairs[:i]):
                kept = scratch(source.shape, source.dtype)
                first.append(partial(np.copyto, kept, source))
                source = kept
            then.append(partial(np.copyto, out, source))
    return first + then
