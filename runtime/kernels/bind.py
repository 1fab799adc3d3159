"""
The form of kernels: `bind(attrs, ins, outs)` returns a callable that computes `outs` from `ins`.

A kernel is bound once and runs many times: everything that depends on shapes (views, blocking,
scratch memory) is computed in `bind`. `attrs` has all attributes of the operator except optional
ones that are absent. `ins` and `outs` are C-contiguous arrays of fixed shape, and at least one
output has elements, unless the result shape depends on elements of an operand: then the kernel
itself checks, before it writes anything, that the outputs have that shape, and raises `ValueError`
if they do not. No output overlaps an input, except that the output of an elementwise kernel
may *be* one of its inputs. The caller silences floating-point errors (`numpy.errstate`).
Whatever the attributes, a kernel cannot access bytes outside its arrays: views are made by
NumPy's indexing, never from strides.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from typing import TypeAlias

import numpy as np

from ...operators.element_types import NUMBER_TYPES, ElementKind
from ...operators.records import record
from ..memory.scratch import scratch
from ..program.dtypes import element_type
from ..program.program import Array as Array  # for plug-ins
from ..program.program import AttrValue

Attrs: TypeAlias = Mapping[str, AttrValue]
Thunk: TypeAlias = Callable[[], object]
Bind: TypeAlias = Callable[[Attrs, Sequence[Array], Sequence[Array]], Thunk]


def integer(attrs: Attrs, name: str) -> int:
    """Return the integer attribute `name`."""
    value = attrs[name]
    assert isinstance(value, int), f"{name} must be an integer, but is {value!r}"
    return value


def number(attrs: Attrs, name: str) -> float:
    """Return the float attribute `name`; integers are accepted."""
    value = attrs[name]
    assert isinstance(value, int | float), f"{name} must be a number, but is {value!r}"
    return value


def flag(attrs: Attrs, name: str) -> bool:
    """Return the boolean attribute `name`."""
    return bool(attrs[name])


def word(attrs: Attrs, name: str) -> str:
    """Return the string attribute `name`."""
    value = attrs[name]
    assert isinstance(value, str), f"{name} must be a string, but is {value!r}"
    return value


def integers(attrs: Attrs, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """Return the integer-list attribute `name`; `default` if it is optional and absent."""
    value = attrs[name] if default is None else attrs.get(name, default)
    assert isinstance(value, Sequence), f"{name} must be a list, but is {value!r}"
    return tuple(int(v) for v in value)


def pair(attrs: Attrs, name: str) -> tuple[int, int]:
    """Return a (height, width) attribute."""
    height, width = integers(attrs, name)
    return height, width


def borders(attrs: Attrs) -> tuple[int, int, int, int]:
    """Return the attribute `padding`: (top, left, bottom, right)."""
    top, left, bottom, right = integers(attrs, "padding")
    return top, left, bottom, right


def along(vector: Array, axis: int, rank: int) -> Array:
    """Return a view of `vector` that broadcasts along `axis` of a tensor of `rank`."""
    shape = [1] * rank
    shape[axis] = vector.size
    return vector.reshape(shape)


def nothing() -> None:
    """Do nothing: the kernel of outputs without elements."""


@record
class InOrder:
    """Runs `thunks` in order; `flattened` replaces it by them."""

    thunks: tuple[Thunk, ...]

    def __call__(self) -> None:
        for thunk in self.thunks:
            thunk()


def flattened(thunk: Thunk) -> Iterator[Thunk]:
    """Yield the thunks that `thunk` runs, in order: itself, unless it is an `InOrder`."""
    if isinstance(thunk, InOrder):
        for part in thunk.thunks:
            yield from flattened(part)
    elif thunk is not nothing:
        yield thunk


def sequence(*thunks: Thunk) -> Thunk:
    """Return a thunk that runs `thunks` in order."""
    return thunks[0] if len(thunks) == 1 else InOrder(thunks)


def apply(function: np.ufunc, *ins: Array, out: Array) -> Thunk:
    """Return a thunk that applies `function` to `ins` elementwise, into `out`."""
    if function in (np.maximum, np.minimum):  # NumPy deprecates their third positional argument
        return partial(function, *ins, out=out)
    return partial(function, *ins, out)


CLAMPED = 2048
"""Elements from which `numpy.ndarray.clip`, which has a higher fixed cost, is faster."""


def clamp(x: Array, low: Array, high: Array, y: Array) -> Thunk:
    """
    Return a thunk that writes min(max(`x`, `low`), `high`) to `y`; NaN stays.

    `low` and `high` are numbers of the type of `x`. NumPy's maximum and minimum with a number take
    up to 15 times as long (3.5 for float32), except for small arrays and float16.
    """
    if x.size >= CLAMPED and x.dtype != np.float16:
        return partial(x.clip, low, high, y)
    least = apply(np.maximum, x, low, out=y)
    extreme = np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max
    return least if high == extreme else sequence(least, apply(np.minimum, y, high, out=y))


def fold(function: np.ufunc, x: Array, axes: int | tuple[int, ...], y: Array, keep: bool) -> Thunk:
    """Return a thunk that folds `axes` of `x` into `y`, in its element type; `keep` them as 1."""
    reduce: Callable[..., object] = function.reduce
    return partial(reduce, x, axes, y.dtype, y, keep)


HALVES: Mapping[str, str] = {"float16": "float32"}
INTEGERS: Mapping[str, str] = {
    name: "uint64" if row.mlir.startswith("u") else "int64"
    for name, row in NUMBER_TYPES.items()
    if row.kind is ElementKind.INTEGER and row.bits < 64
}


def widen(bind: Bind, wider: Mapping[str, str]) -> Bind:
    """
    Compute in the wider element types that `wider` maps to, and convert the results at the end.

    For kernels whose intermediate results would otherwise overflow or lose precision.
    """

    types = {element_type(narrow): element_type(wide) for narrow, wide in wider.items()}

    def wide(array: Array) -> Array:
        dtype = types.get(array.dtype)
        return array if dtype is None else scratch(array.shape, dtype)

    @wraps(bind)
    def bound(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        if types.keys().isdisjoint([array.dtype for array in (*ins, *outs)]):
            return bind(attrs, ins, outs)
        wide_ins, wide_outs = [wide(x) for x in ins], [wide(y) for y in outs]
        loads = [partial(np.copyto, w, x) for w, x in zip(wide_ins, ins, strict=True) if w is not x]
        stores = [
            partial(np.copyto, y, w, "same_kind")
            for y, w in zip(outs, wide_outs, strict=True)
            if w is not y
        ]
        return sequence(*loads, bind(attrs, wide_ins, wide_outs), *stores)

    return bound


def widen_half(bind: Bind) -> Bind:
    """Compute float16 operands in float32, and round once at the end."""
    return widen(bind, HALVES)
