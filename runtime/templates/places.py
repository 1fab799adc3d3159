"""
Arrays that are traced through the `bind` of kernels: places in memory instead of elements.

    x = Place(code, root, 64 * n, float32, (n, 16))
    y = x.reshape(n, 4, 4).transpose((0, 2, 1))           v0 = nd((s0, 4, 4), k0, M0, s1)
    partial(np.add, y, y, z)                              v1 = v0.transpose((0, 2, 1))
                                                          k1(v1, v1, v2)

A place has those attributes of a NumPy array that kernels use while they are bound. What it lacks
raises `NoTemplate`, and the kernel is bound to arrays whenever the template runs.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..program.dtypes import element_type
from .sizes import NoTemplate, Number, Trace, Traced, code_of, plain, shorten


@dataclass(eq=False)
class Root:
    """
    A storage that is allocated from byte `at` of a device's memory on.

    `number` counts the storages of a template.
    """

    number: int
    device: int
    at: Number
    size: Number


class Line(NamedTuple):
    """
    A line of a template that runs after its sizes are known.

    It defines a view, `name`, or calls what an instruction does. Lines of a later `phase` run after
    sizes were read from memory.
    """

    name: str
    code: str
    phase: int


class Body:
    """The lines of a template that use memory; views are made once each."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.lines: list[Line] = []
        self.phase = 0
        self._views: dict[str, str] = {}
        self._count = 0

    def saved(self) -> tuple[int, int]:
        """Return the state, for `restore`."""
        return len(self.lines), len(self._views)

    def restore(self, state: tuple[int, int]) -> None:
        """Forget what was added since `saved` returned `state`."""
        shorten(self.lines, state[0])
        shorten(self._views, state[1])

    def add(self, code: str) -> None:
        """Append a line."""
        self.lines.append(Line("", code, self.phase))

    def view(self, code: str) -> str:
        """Return the name of the array that `code` makes."""
        name = self._views.get(code)
        if name is None:
            self._views[code] = name = self.define("v", code)
        return name

    def define(self, kind: str, code: str) -> str:
        """Return the name of a new array that `code` makes."""
        self._count += 1
        name = f"{kind}{self._count}"
        self.lines.append(Line(name, code, self.phase))
        return name


def shape_code(shape: Sequence[Number]) -> str:
    """Return the expression for a tuple of sizes."""
    return f"({', '.join(map(code_of, shape))}{',' if len(shape) == 1 else ''})"


class Flags:
    """The flags of a place."""

    def __init__(self, contiguous: bool = True, writeable: bool = True) -> None:
        self.c_contiguous, self.writeable = contiguous, writeable


class Address(NamedTuple):
    """The first byte of a place, to compare places of one base."""

    data: Number


Base: TypeAlias = "Root | str"
"""The memory of a place: a storage, scratch memory `W`, or the array of this name."""


class Place:
    """
    An array of `dtype` and `shape`, from byte `start` of `base` on.

    `make` returns the name of a view of another place; it is None for a place in memory that is
    laid out in row-major order. Places of different bases never overlap.
    """

    elements: Sequence[Number] | None = None
    """The elements, if they are sizes of the call."""

    def __init__(
        self,
        body: Body,
        base: Base,
        start: Number,
        dtype: Any,
        shape: Sequence[Number],
        make: Callable[[], str] | None = None,
        flags: Flags | None = None,
    ) -> None:
        self.body, self.base, self.start = body, base, start
        self.dtype = _element(dtype)
        self.shape = tuple(plain(dim) for dim in shape)
        self._make = make
        self.flags = flags or Flags(contiguous=make is None)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: prod(self.shape))
    ctypes = property(lambda self: Address(self.start))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)

    @property
    def T(self) -> Place:
        return self.transpose(tuple(range(self.ndim))[::-1])

    @property
    def is_laid_out(self) -> bool:
        """True unless it is an array of its own name, or a view of another place."""
        return self._make is None and (isinstance(self.base, Root) or self.base == "W")

    def name(self) -> str:
        """Return the name of the array in the template."""
        if self._make is not None:
            return self._make()
        if isinstance(self.base, Root):
            absolute = code_of(self.base.at + self.start)
            where = f"<{self.base.number}|{absolute}|{code_of(self.start)}>"
        elif self.base == "W":
            where = f"W, {code_of(self.start)}"
        else:
            return self.base
        dtype = self.body.trace.constant(self.dtype)
        return self.body.view(f"nd({shape_code(self.shape)}, {dtype}, {where})")

    def _derived(self, shape: Sequence[Number], method: str, contiguous: bool = False) -> Place:
        def make() -> str:
            return self.body.view(f"{self.name()}{method}")

        flags = Flags(contiguous, self.flags.writeable)
        return Place(self.body, self.base, self.start, self.dtype, shape, make, flags)

    def reshape(self, *dims: Any) -> Place:
        shape = dims[0] if len(dims) == 1 and isinstance(dims[0], tuple | list) else dims
        shape = tuple(shape)
        if any(isinstance(dim, int) and dim < 0 for dim in shape):
            known = prod(dim for dim in shape if not (isinstance(dim, int) and dim < 0))
            inferred = self.size // known
            shape = tuple(inferred if isinstance(d, int) and d < 0 else d for d in shape)
        if prod(shape) != self.size:
            raise NoTemplate("a reshape that does not fit")
        if len(shape) == self.ndim and all(
            a is b or a == b for a, b in zip(shape, self.shape, strict=True)
        ):
            return self
        if self.is_laid_out:
            return Place(self.body, self.base, self.start, self.dtype, shape, flags=self.flags)
        if self.flags.c_contiguous:
            return self._derived(shape, f".reshape({shape_code(shape)})", True)
        raise NoTemplate("a reshape of a view may copy")

    def view(self, dtype: Any = None) -> Place:
        kind = self.dtype if dtype is None else _element(dtype)
        if kind == self.dtype:
            flags = Flags(self.flags.c_contiguous, self.flags.writeable)
            place = Place(self.body, self.base, self.start, kind, self.shape, self._make, flags)
            place.elements = self.elements
            return place
        if not self.is_laid_out:
            raise NoTemplate("a view of an argument as another type")
        if kind.itemsize == self.dtype.itemsize:
            shape = self.shape
        elif len(self.shape) == 1:
            shape = (self.nbytes // kind.itemsize,)
        else:
            raise NoTemplate("a view of another element size")
        return Place(self.body, self.base, self.start, kind, shape)

    def transpose(self, *axes: Any) -> Place:
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = tuple(axis % self.ndim for axis in order)
        if order == tuple(range(self.ndim)):
            return self
        return self._derived([self.shape[axis] for axis in order], f".transpose({order})")

    def swapaxes(self, a: int, b: int) -> Place:
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(tuple(order))

    def __getitem__(self, key: Any) -> Place:
        items = list(key) if isinstance(key, tuple) else [key]
        if not all(isinstance(item, slice | int | Traced) or item is ... for item in items):
            raise NoTemplate("an index")
        dots = [at for at, item in enumerate(items) if item is ...]
        at = dots[0] if dots else len(items)
        items[at : at + 1] = [slice(None)] * (self.ndim - len(items) + len(dots))
        taken = [_taken(item, dim) for item, dim in zip(items, self.shape, strict=True)]
        shape = [count for _, _, count in taken if count is not None]
        if not shape and not dots:
            raise NoTemplate("an element of an array")
        first_only = bool(taken) and all(code == ":" for code, _, _ in taken[1:])
        is_rows = first_only and ":" not in taken[0][0].partition(":")[2]
        if is_rows and self.is_laid_out:
            row = prod(self.shape[1:]) * self.dtype.itemsize
            start = self.start + taken[0][1] * row
            return Place(self.body, self.base, start, self.dtype, shape, flags=self.flags)
        code = ", ".join([*(code for code, _, _ in taken), "..."])
        return self._derived(shape, f"[{code}]", is_rows and self.flags.c_contiguous)

    def __len__(self) -> int:
        return self.shape[0].__index__()

    def item(self) -> Number:
        """Return the element, which must be a size of the call."""
        if self.elements is None or len(self.elements) != 1:
            raise NoTemplate("an element of an array")
        return self.elements[0]

    def tolist(self) -> list[Number]:
        """Return the elements of a vector, which must be sizes of the call."""
        if self.elements is None:
            raise NoTemplate("the elements of an array")
        return list(self.elements)

    def __getattr__(self, name: str) -> Any:
        if name in ("fill", "clip"):
            return Method(self, name)
        raise NoTemplate(f"an array's {name}")

    def __array__(self, *args: Any, **named: Any) -> Any:
        raise NoTemplate("the elements of an array")

    def __array_ufunc__(self, *args: Any, **named: Any) -> Any:
        raise NoTemplate("a computation while a kernel is bound")

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        meaning = _FUNCTIONS.get(function)
        if meaning is None:
            raise NoTemplate(f"{function.__name__} while a kernel is bound")
        return meaning(self, *args, **named)


class Sizes(Place):
    """An array of sizes of the call, made where a kernel needs it."""

    def __init__(self, body: Body, elements: Sequence[Number], shape: tuple[int, ...]) -> None:
        super().__init__(body, "", 0, np.int64, shape, self._made, Flags(True, False))
        self.elements = [plain(element) for element in elements]

    def _made(self) -> str:
        assert self.elements is not None
        listed = shape_code(self.elements) if self.shape else code_of(self.elements[0])
        code = f"array({listed}, int64)"
        if len(self.shape) > 1:
            code += f".reshape({shape_code(self.shape)})"
        return self.body.view(code)


def _taken(item: Any, dim: Any) -> tuple[str, Any, Any]:
    """Return the code of an index or slice of an axis, its start, and the count of a slice."""

    def clamped(bound: Any, default: Number) -> Any:
        if bound is None:
            return default
        if bound < 0:
            bound = bound + dim
            return bound if bound >= 0 else 0
        return bound if bound <= dim else dim

    if not isinstance(item, slice):
        start = item if item >= 0 else item + dim
        if not 0 <= start < dim:
            raise NoTemplate("an index out of range")
        return code_of(start), start, None
    if item == slice(None):
        return ":", 0, dim
    step = 1 if item.step is None else item.step
    if step <= 0:
        raise NoTemplate("a slice backwards")
    start, stop = clamped(item.start, 0), clamped(item.stop, dim)
    stop = stop if stop >= start else start
    code = f"{code_of(start)}:{code_of(stop)}"
    if step == 1:
        return code, start, stop - start
    return f"{code}:{code_of(step)}", start, (stop - start + (step - 1)) // step


def _expand_dims(_: Place, x: Any, axis: int) -> Any:
    at = axis % (x.ndim + 1)
    return x.reshape(*x.shape[:at], 1, *x.shape[at:])


def _element(dtype: Any) -> np.dtype[Any]:
    """Return a NumPy type, which may be given by its name in a program."""
    return element_type(dtype) if isinstance(dtype, str) else np.dtype(dtype)


def _arange(like: Place, count: Number, *, dtype: Any) -> Place:
    kind = like.body.trace.constant(_element(dtype))
    name = like.body.view(f"arange({code_of(plain(count))}, dtype={kind})")
    return Place(like.body, name, 0, dtype, (count,), flags=Flags(True, False))


def _broadcast_to(_: Place, x: Any, shape: Any) -> Any:
    code = f"broadcast_to({x.name()}, {shape_code(shape)})"
    view = x.body.view
    return Place(x.body, x.base, x.start, x.dtype, shape, lambda: view(code), Flags(False, False))


def _flip(_: Place, x: Any, axis: int) -> Any:
    return x._derived(x.shape, f"[{':, ' * (axis % x.ndim)}::-1]")


def _moveaxis(_: Place, x: Any, source: int, to: int) -> Any:
    order = [axis for axis in range(x.ndim) if axis != source % x.ndim]
    order.insert(to % x.ndim, source % x.ndim)
    return x.transpose(tuple(order))


def _split(_: Place, x: Any, points: Any, axis: int) -> Any:
    if isinstance(points, int):
        raise NoTemplate("a split into equal parts")
    edges = [0, *points, x.shape[axis]]
    before = (slice(None),) * (axis % x.ndim)
    return [x[(*before, slice(a, b))] for a, b in pairwise(edges)]


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.arange: _arange,
    np.broadcast_to: _broadcast_to,
    np.expand_dims: _expand_dims,
    np.flip: _flip,
    np.moveaxis: _moveaxis,
    np.may_share_memory: lambda _, a, b: meet(a, b),
    np.split: _split,
}
"""NumPy's functions that kernels call while they are bound."""


class Method:
    """A method of an array, to be called when the template runs."""

    def __init__(self, place: Place, name: str) -> None:
        self.place, self.name = place, name

    def __call__(self, *args: object) -> None:
        raise NoTemplate("a method called while a kernel is bound")


def meet(a: object, b: object) -> bool:
    """Test whether two arrays share bytes, and require that they do so in all calls."""
    if not (isinstance(a, Place) and isinstance(b, Place)) or a.base is not b.base or a.base == "":
        return False
    if a.start is b.start or a.start == b.start:
        return True
    return bool(a.start < b.start + b.nbytes and b.start < a.start + a.nbytes)
