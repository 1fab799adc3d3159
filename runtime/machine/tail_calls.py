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
from typing import Any, TypeAlias

import numpy as np

from ..kernels.bind import Thunk
from ..memory.limits import ALIGNMENT, SMALL
from ..memory.scratch import Workspace, scratch
from ..program.objects import Closure, Data, Object, Storage, Tensor
from .paths import Frame, Loop

MAX_FRAMES = 16
"""Number of frames for the tail calls that follow one call."""
MAX_OBJECTS = 64
"""Number of objects in arguments that are copied."""


Item: TypeAlias = tuple[Any, ...] | Object
"""
An object in arguments: itself or, if it is copied, its class and what the copy must equal.

That is the device, element type and shape of a tensor; the tag or function, and the number of
fields or captured values, of data and closures.
"""


def arguments(
    args: Sequence[Object], frame: Frame, first: Frame, repeats: bool
) -> tuple[tuple[Item, ...], list[Tensor]] | None:
    """
    Return `args` of a tail call from `frame`, which replaced `first`: depth first, and the tensors.

    None if the call has to nest. `repeats` if it is a call of the function that runs in `frame`.
    """
    items: list[Item] = []
    tensors: list[Tensor] = []
    pairs = zip(frame.args, args, strict=True) if repeats else ()
    unchanged = {id(old) for old, new in pairs if old is new}
    rest: list[Object] = list(reversed(args))
    while rest and len(items) <= MAX_OBJECTS:
        item = rest.pop()
        given = item.born < first.born
        match item:
            case Tensor(array=array):
                if (item.constant and array.nbytes > SMALL) or (given and id(item) in unchanged):
                    items.append(item)
                else:
                    items.append((Tensor, item.device, array.dtype, array.shape))
                    tensors.append(item)
            case Data() | Closure() if given:
                items.append(item)
            case Data(tag=fact) | Closure(function=fact):
                items.append((type(item), fact, len(item.parts)))
                rest.extend(reversed(item.parts))
            case _:
                return None
    return None if len(items) > MAX_OBJECTS else (tuple(items), tensors)


def target(
    loop: Loop, function: int, items: tuple[Item, ...]
) -> tuple[Frame, Sequence[Tensor]] | None:
    """Return the frame of `function` for such arguments; None if there are too many others."""
    key = (function, items)
    if key in loop.targets or len(loop.targets) >= MAX_FRAMES:
        return loop.targets.get(key)
    first = loop.first
    spaces = tuple(space.copy() for space in first.spaces)
    frame = Frame(function, (), spaces, first.workspace, first.base, first.trace_size, loop=loop)
    made: list[Object] = []
    tensors: list[Tensor] = []
    for item in reversed(items):
        match item:
            case (_, int() as device, dtype, shape):
                size, what = prod(shape) * dtype.itemsize, f"an argument {dtype}{list(shape)}"
                at, memory = spaces[device].take(size, ALIGNMENT, what)
                storage = Storage(size, device, memory, at, ALIGNMENT)
                tensors.append(Tensor(np.ndarray(shape, dtype, memory), device, parts=(storage,)))
                made.append(tensors[-1])
            case (kind, fact, count):
                made.append(kind(fact, tuple(made.pop() for _ in range(count))))
            case Tensor() | Data() | Closure():
                made.append(item)
            case _:
                raise AssertionError("calls with other arguments nest")
    frame.args = tuple(reversed(made))
    loop.targets[key] = frame, tensors[::-1]
    return loop.targets[key]


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
