"""
Operators that create tensors: rules and meanings.

A generator of counter-based random numbers is 10 words, and is never changed.
"""

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Annotated

from .meaning.forms import ByIndex, defined, elementwise
from .meaning.number import FLOAT64, INT64, Number, Source
from .operands import (
    StatedDims,
    normalized_axis,
    require_integer,
    require_number,
    require_rank,
    require_same_element,
    shape_from,
)
from .rules import AtLeast, Ints, Work, rule
from .signature import ELEMENTS, Data, Element, Tensor, measure_data, ranked
from .sizes import SignatureError, require_at_least, require_equal


@rule("relay.zeros", "relay.ones", work=Work.LINEAR)
@rule("relay.dyn.zeros", "relay.dyn.ones", types={"shape": Data})
def filled(*, shape: StatedDims, dtype: Element) -> Tensor:
    """Infer elements of `dtype` in `shape`."""
    return ranked(dtype, shape_from(shape))


@rule("relay.arange")
def arange(start: Data, stop: Data, step: Data, *, dtype: Element) -> Tensor:
    """Infer a vector of ceil((stop - start) / step) elements of `dtype`."""
    require_number(dtype, "the result of {op}")
    for name, operand in (("start", start), ("stop", stop), ("step", step)):
        require_rank(operand.tensor, 0, name)
        if operand.element is not dtype:
            raise SignatureError(f"{name} must have dtype {dtype}, but has {operand.element}")
    return ranked(dtype, (measure_data("arange_length", start, stop, step),))


@defined(ByIndex, "relay.arange")
def counted(
    index: Sequence[Number], start: Source, _: Source, step: Source, *, dtype: Element
) -> Number:
    """start + i step, in 64 bits: integers wrap around."""
    first = start[[]]
    wide = FLOAT64 if first.is_float else INT64
    distance = index[0].converted(wide) * step[[]].converted(wide)
    return (first.converted(wide) + distance).converted(dtype)


@rule("relay.one_hot")
@rule("relay.dyn.one_hot", types={"depth": Data})
def one_hot(
    indices: Tensor,
    on_value: Tensor,
    off_value: Tensor,
    *,
    depth: Annotated[int, AtLeast(0)] | Data,
    axis: int,
    dtype: Element,
) -> Tensor:
    """Infer the dims of `indices` with one of `depth`, a scalar, inserted at `axis`."""
    if isinstance(depth, Data):
        require_rank(depth.tensor, 0, "depth")
        (size,) = depth.sizes("depth")
        require_at_least(size, 0, "depth must be at least 0, but is {0}")
    else:
        size = depth
    require_integer(indices.element, "indices")
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        require_rank(value, 0, name)
        if value.element is not dtype:
            raise SignatureError(f"{name} must have dtype {dtype}, but has {value.element}")
    at = normalized_axis(axis, indices.rank + 1)
    return ranked(dtype, (*indices.dims[:at], size, *indices.dims[at:]))


@defined(ByIndex, "relay.one_hot", "relay.dyn.one_hot")
def chosen(
    index: Sequence[Number], indices: Source, on: Source, off: Source, *_: Source, axis: int
) -> Number:
    """on if indices[i, …] is the index along the axis, else off"""
    at = list(index)
    place = at.pop(axis)
    wanted = indices[at]
    if wanted.is_unsigned and wanted.element.bits == 64:
        wanted = wanted.apply("minimum", wanted.constant(2**63 - 1))
    return wanted.converted(INT64).equals(place).select(on[[]], off[[]])


@rule("relay.shape_of")
def shape_of(data: Tensor, *, dtype: Element) -> Tensor:
    """Infer a vector of one integer of `dtype` for each dim of `data`."""
    require_integer(dtype, "the result of {op}")
    return Tensor(dtype, (data.rank,))


@rule("relay.ndarray_size")
def ndarray_size(data: Tensor, *, dtype: Element) -> Tensor:
    """Infer a scalar of `dtype`."""
    require_integer(dtype, "the result of {op}")
    return Tensor(dtype, ())


@defined(ByIndex, "relay.ndarray_size")
def count(index: Sequence[Number], data: Source, *, dtype: Element) -> Number:
    """The product of the dims."""
    return reduce(mul, data.dims, data.integer(1)).converted(dtype)


# --------------------------------------------------------------- of the type of another tensor


@rule("relay.cast_like", work=Work.LINEAR)
def cast_like(data: Tensor, dtype_like: Tensor) -> Tensor:
    """Infer the shape of `data` with the element type of `dtype_like`."""
    return Tensor(dtype_like.element, data.dims)


@elementwise("relay.cast_like", typed=(1,))
def converted_like(x: Number, like: Number) -> Number:
    """x as the type of like"""
    return x.converted(like.element)


@rule("relay.full_like", work=Work.LINEAR)
def full_like(data: Tensor, fill_value: Tensor) -> Tensor:
    """Infer the type of `data` from it and the scalar `fill_value` of its element type."""
    require_rank(fill_value, 0, "fill_value")
    require_same_element((data, fill_value))
    return data


@elementwise("relay.full_like", typed=(0,))
def filled_like(data: Number, fill_value: Number) -> Number:
    """fill_value"""
    return fill_value


WORDS = 10
"""The words of a generator."""
UINT64 = ELEMENTS["uint64"]


def _require_generator(gen: Tensor) -> None:
    require_rank(gen, 1, "gen")
    if gen.element is not UINT64:
        raise SignatureError(f"gen must have {UINT64} elements, but has {gen.element}")
    require_equal(gen.dims[0], WORDS, "gen must have {1} elements, but has {0}")


@rule("relay.random.threefry_generate")
def threefry_generate(gen: Tensor, *, out_shape: Annotated[Ints, AtLeast(0)]) -> Sequence[Tensor]:
    """Infer the next generator, and words of `out_shape`."""
    _require_generator(gen)
    return gen, ranked(UINT64, out_shape)


@rule("relay.random.threefry_split")
def threefry_split(gen: Tensor) -> Sequence[Tensor]:
    """Infer two generators."""
    _require_generator(gen)
    return gen, gen
