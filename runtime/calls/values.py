"""
Arguments and results of programs: arrays, tuples and data.

Nothing here recurses, as data (a long list, say) may be nested deeper than Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from ...operators.records import record
from ..errors import MachineError
from ..memory.limits import ALIGNMENT, Owner, default_limit
from ..memory.spaces import Space
from ..program.objects import Closure, Data, Object, Storage, Tensor, fields_of
from ..program.program import Array, spec_of

ITEM = 256
"""The approximate bytes of an item of data for callers: a tensor without its elements, a tuple."""
FEW = 1000
"""So many items are copied without being counted first."""
MOST = 1 << 62
"""Counts end here, so that data that is deep and shared is counted in linear time."""


def unfolded_size(root: object, fields_of: Callable[[Any], Sequence[object]]) -> int:
    """
    Return the number of items in `root` and below, each as often as it is reached, up to `MOST`.

        a = (x, x), b = (a, a), c = (b, b)     4 objects that unfold to 15 items

    Takes time for each object once. Raises `MachineError` for data that contains itself.
    """
    sizes: dict[int, int] = {}  # 0 for those whose fields are being counted
    pending = [root]
    while pending:
        item = pending[-1]
        key = id(item)
        if sizes.get(key):
            pending.pop()
            continue
        fields = fields_of(item)
        if key in sizes or not fields:
            sizes[key] = min(1 + sum(sizes[id(field)] for field in fields), MOST)
            pending.pop()
            continue
        sizes[key] = 0
        for field in fields:
            size = sizes.get(id(field))
            if size is None:
                pending.append(field)
            elif not size:
                raise MachineError("data that contains itself is not a value")
    return sizes[id(root)]


def tuple_fields(value: object) -> Sequence[object]:
    """Return the fields of a tuple or list; nothing for anything else."""
    return cast("Sequence[object]", value) if isinstance(value, tuple | list) else ()


def charge(items: int, owner: Owner) -> None:
    """Charge `items` items of data to `owner`; raises `OutOfMemory`."""
    owner.reserve(items * ITEM, f"data of {items if items < MOST else f'over {MOST}'} items")


class Tagged(tuple["Value", ...]):
    """The fields of data whose constructor has this `tag`; compares like a tuple."""

    tag: int

    def __new__(cls, tag: int, fields: Iterable[Value]) -> Tagged:
        data = super().__new__(cls, fields)
        data.tag = tag
        return data

    def __repr__(self) -> str:
        return f"Tagged({self.tag}, {tuple(self)!r})"


class Captured(Tagged):
    """A closure of function `tag`, which stays inside the machine, with what it has captured."""


Value: TypeAlias = "Array | tuple[Value, ...]"
"""A tensor, or data; data of tag 0 is a plain tuple, and the reverse."""


class Leaf(NamedTuple):
    """A tensor in a `FlatValue`; on this `device` if it is the result of a loop of tail calls."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    device: int = 0


class Node(NamedTuple):
    """Data or a closure in a `FlatValue`; its `size` fields follow."""

    tag: int
    size: int
    kind: type[Data | Closure] = Data


Structure: TypeAlias = tuple[Leaf | Node, ...]


@record
class FlatValue:
    """
    A flattened value: its structure, depth first, and its arrays.

    Values of equal structure can use the same memory.
    """

    structure: Structure
    arrays: list[Array]


def flatten(argument: object, limit: int | None = None) -> FlatValue:
    """
    Flatten a tuple, list or `Tagged` data of arrays, or an array.

    Anything NumPy converts to an array, or that has DLPack's protocol, is one. Raises
    `MachineError` if an array cannot be used, if the argument contains itself, and if its items
    take more than `limit` bytes (default: that of a program), each as often as it is reached.
    """
    structure: list[Leaf | Node] = []
    arrays: list[Array] = []
    pending = [argument]
    is_counted = False
    while pending:
        item = pending.pop()
        if isinstance(item, tuple | list):
            fields = cast(Sequence[object], item)
            if not is_counted and len(structure) + len(pending) + len(fields) > FEW:
                _require_room(argument, default_limit() if limit is None else limit)
                is_counted = True
            tag = item.tag if isinstance(item, Tagged) else 0
            kind = Closure if isinstance(item, Captured) else Data
            structure.append(Node(tag, len(fields), kind))
            pending.extend(reversed(fields))
        else:
            array = as_array(item)
            dtype = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
            structure.append(Leaf(dtype, array.shape))
            arrays.append(array)
    return FlatValue(tuple(structure), arrays)


def _require_room(argument: object, limit: int) -> None:
    """Raise `MachineError` if the items of `argument` take more than `limit` bytes."""
    size = unfolded_size(argument, tuple_fields) * ITEM
    if size > limit:
        raise MachineError(
            f"its {size // ITEM} items need {size} bytes, but the memory limit is {limit} "
            "(--memory-limit)"
        )


def as_array(item: object) -> Array:
    """Return `item` as a plain array, sharing its memory if possible."""
    if type(item) is np.ndarray:
        return item
    try:
        if hasattr(item, "__dlpack__") and not hasattr(item, "__array__"):
            return np.from_dlpack(cast(Any, item))
        if isinstance(item, np.ma.MaskedArray) and np.ma.is_masked(cast(Any, item)):
            raise MachineError("elements are masked")
        return np.asarray(cast(Any, item))
    except (BufferError, TypeError, ValueError, RuntimeError) as error:
        kind = type(cast(object, item)).__name__
        raise MachineError(f"{kind} is not an array: {error}") from error


def plain_value(argument: object) -> Value:
    """Return `argument`, whose data are not nested deeply, as arrays and tuples of them."""
    if type(argument) is np.ndarray:
        return argument
    if not isinstance(argument, tuple | list):
        return as_array(argument)
    fields = map(plain_value, cast(Sequence[object], argument))
    kind = type(argument) if isinstance(argument, Tagged) else None
    return tuple(fields) if kind is None else kind(cast(Any, argument).tag, fields)


def built(structure: Structure, allocate: Callable[[Leaf], Tensor]) -> tuple[Object, list[Array]]:
    """Return an object of this structure, of tensors that `allocate` returns, and their arrays."""
    tensors = [allocate(item) for item in structure if isinstance(item, Leaf)]
    left = list(tensors)
    done: list[Object] = []
    for item in reversed(structure):
        if isinstance(item, Leaf):
            done.append(left.pop())
            continue
        parts = tuple(done.pop() for _ in range(item.size))
        done.append(item.kind(item.tag, parts))
    return done.pop(), [tensor.array for tensor in tensors]


def devices_of(result: Object) -> tuple[int, ...]:
    """Return the devices of the tensors in `result`, depth first; nothing if all are the host."""
    devices: list[int] = []
    pending = [result]
    while pending:
        item = pending.pop()
        if isinstance(item, Tensor):
            devices.append(item.device)
        else:
            pending += reversed(item.parts)
    return tuple(devices) if any(devices) else ()


def placed(structure: Structure, devices: Sequence[int]) -> Structure:
    """Return a structure whose tensors are on these `devices`, or on the host if there are none."""
    left = iter(devices)
    return tuple(x._replace(device=next(left, 0)) if isinstance(x, Leaf) else x for x in structure)


def allocated(leaf: Leaf, device: int, space: Space) -> Tensor:
    """Return a tensor in memory of `space`, for a copy of a value; raise `OutOfMemory`."""
    size = prod(leaf.shape) * leaf.dtype.itemsize
    at, memory = space.take(size, ALIGNMENT, f"{leaf.dtype}{list(leaf.shape)}")
    storage = Storage(size, device, memory, at, ALIGNMENT)
    return Tensor(memory.view(leaf.dtype).reshape(leaf.shape), device, parts=(storage,))


CURES = {"a closure": "return what it computes", "a reference": "return what it refers to"}
"""The cure for a result of such a kind."""


class StaysInsideError(MachineError):
    """A result contains an object that only the machine can use."""

    def __init__(self, item: Object) -> None:
        cure = f": {CURES[item.kind]}" if item.kind in CURES else ""
        super().__init__(f"the result contains {item.kind}, which cannot leave the machine{cure}")


def stand_in(leaf: Leaf) -> Array:
    """Return an array of the type of `leaf` that takes no memory."""
    return np.broadcast_to(np.empty((), leaf.dtype), leaf.shape)


_BOOL = np.dtype(np.bool_)


def copied(array: Array) -> Array:
    """Return a copy of `array`; bools become 0 or 1, whatever the bytes that they view."""
    if array.dtype is not _BOOL:
        return np.array(array)
    copy = np.empty(array.shape, _BOOL)
    assign(copy, array)
    return copy


def assign(target: Array, source: Array) -> None:
    """Write the elements of `source` to `target`; bools become 0 or 1."""
    if source.dtype is _BOOL:
        np.not_equal(source.view(np.uint8), 0, out=target)
    else:
        target[...] = source


def copy_out(result: Object, owner: Owner, *, stays: bool = False) -> Value:
    """
    Return a copy of `result` that shares no memory with the machine, charged to `owner`.

    Data that are shared are copied, and charged, each time that they occur. Raises
    `StaysInsideError` if `result` contains anything but tensors, data and, if the copy `stays` in
    the machine, closures.
    """
    order: list[Object] = []  # each before its fields, the last field first
    pending = [result]
    is_charged = False
    while pending:
        item = pending.pop()
        order.append(item)
        if isinstance(item, Data | Closure):
            pending.extend(item.parts)
            if not is_charged and len(order) + len(pending) > FEW:
                charge(unfolded_size(result, fields_of), owner)
                is_charged = True
    arrays = [item.array for item in order if isinstance(item, Tensor)]
    if arrays:
        what = f"{spec_of(arrays[0])}" if len(arrays) == 1 else f"its {len(arrays)} tensors"
        owner.reserve(sum(array.nbytes for array in arrays), what)
    done: list[Value] = []
    for item in reversed(order):
        if isinstance(item, Tensor):
            done.append(copied(item.array))
        elif isinstance(item, Data) or (stays and isinstance(item, Closure)):
            fields = done[len(done) - len(item.parts) :]
            del done[len(done) - len(item.parts) :]
            if isinstance(item, Closure):
                done.append(Captured(item.function, fields))
            else:
                done.append(Tagged(item.tag, fields) if item.tag else tuple(fields))
        else:
            raise StaysInsideError(item)
    return done.pop()


def object_of(value: Value) -> Object:
    """Return `value`, whose data are not nested deeply, as an object on the host."""
    if isinstance(value, tuple):
        tag = value.tag if isinstance(value, Tagged) else 0
        kind = Closure if isinstance(value, Captured) else Data
        return kind(tag, tuple(map(object_of, value)))
    return Tensor(value, 0)


def store(result: Object, out: Value) -> Value:
    """
    Write the elements of `result` to the arrays of `out`, of the same structure; return `out`.

    Raises `MachineError` before anything is written if `out` does not fit.
    """
    if isinstance(result, Tensor) and isinstance(out, np.ndarray):  # most calls
        array = result.array
        if out.shape == array.shape and out.dtype == array.dtype and out.flags.writeable:
            assign(out, array)
            return out
    copies: list[tuple[Array, Array]] = []
    pending: list[tuple[Object, object, str]] = [(result, out, "out")]
    while pending:
        item, place, name = pending.pop()
        if isinstance(item, Data):
            fields = cast(Sequence[object], place) if isinstance(place, tuple | list) else ()
            if len(fields) != len(item.parts):
                raise MachineError(f"{name} must be a tuple of {len(item.parts)}")
            pairs = enumerate(zip(item.parts, fields, strict=True))
            pending += [(part, field, f"{name}[{i}]") for i, (part, field) in pairs]
            continue
        if not isinstance(item, Tensor):
            raise StaysInsideError(item)
        if not isinstance(place, np.ndarray):
            raise MachineError(f"{name} must be an array, but is {type(place).__name__}")
        array = cast(Array, place)
        if spec_of(array) != spec_of(item.array):
            wanted = f"{spec_of(item.array)}, but is {spec_of(array)}"
            raise MachineError(f"{name} must be {wanted}")
        if not array.flags.writeable:
            raise MachineError(f"{name} is read-only")
        copies.append((array, item.array))
    for array, elements in copies:
        assign(array, elements)
    return out


def leaves(value: Value) -> Iterator[Array]:
    """Yield the arrays in `value`, depth first."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending.extend(reversed(item))
        else:
            yield item
