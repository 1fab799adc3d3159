"""
Rules of the operators of `dyn`: what the others get as attributes, these compute at run time.

A size that is known becomes a dim of the result; the others are only known when the program runs.
"""

from collections.abc import Sequence
from typing import Literal

from .operands import normalized_axes, require_rank, require_same_element
from .rules import Ints, rule
from .signature import MAX_RANK, Data, Tensor, ranked
from .sizes import (
    Check,
    Shape,
    SignatureError,
    Size,
    divided,
    maximum,
    measure,
    minimum,
    product,
    require,
    require_at_least,
    require_equal,
)


def known_integers(sizes: Sequence[Size]) -> list[int] | None:
    """Return `sizes` if all of them are integers."""
    found = [size for size in sizes if isinstance(size, int)]
    return found if len(found) == len(sizes) else None


@rule("relay.dyn.reshape")
def reshape(data: Tensor, shape: Data, *, allowzero: bool) -> Tensor:
    """Infer `data` in `shape`: 0 copies a dim (unless `allowzero`), -1 is inferred."""
    entries = shape.sizes("shape")
    known = known_integers(entries)
    if known is not None:
        return ranked(data.element, _reshaped(data.dims, known, allowzero))
    dims: list[Size] = []
    for axis, entry in enumerate(entries):
        if isinstance(entry, int) and entry > 0:
            dims.append(entry)
        elif entry == 0 and not allowzero and axis < data.rank:
            dims.append(data.dims[axis])
        else:
            args = (axis, int(allowzero), data.rank, *data.dims, *entries)
            dims.append(measure("reshaped_dim", *args))
    return ranked(data.element, tuple(dims))


def _reshaped(dims: Shape, entries: Sequence[int], allowzero: bool) -> Shape:
    """Return the shape that `entries` describe; the dims they copy need not be known."""
    result: list[Size] = []
    left, made, empty = dict(enumerate(dims)), list[Size](), False
    for axis, entry in enumerate(entries):
        if entry == 0 and not allowzero:
            if axis not in left:
                raise SignatureError(
                    f"shape entry {axis} is 0, which copies dim {axis} of data, "
                    f"but its rank is {len(dims)}"
                )
            result.append(left.pop(axis))
            empty = empty or result[-1] == 0
        elif entry < -1:
            raise SignatureError(
                f"an entry of shape must be at least -1, but entry {axis} is {entry}"
            )
        else:
            result.append(entry)
            if entry >= 0:
                made.append(entry)
    before, after = product(list(left.values())), product(made)
    if entries.count(-1) > 1:
        raise SignatureError(f"shape must have at most one -1, but is {list(entries)}")
    if -1 not in entries:
        if not empty:  # a copied 0: no elements, whatever the other dims are
            require_equal(before, after, "cannot reshape {0} elements to {1}")
    elif after == 0:
        raise SignatureError("cannot infer the -1 in shape: another dim is 0")
    else:
        inferred = divided(before, after, "cannot infer the -1 in shape: {1} does not divide {0}")
        result[entries.index(-1)] = inferred
    return tuple(result)


@rule("relay.dyn.squeeze")
def squeeze(data: Tensor, axis: Data) -> Tensor:
    """Infer `data` without the dims `axis`, which must be 1."""
    require_rank(axis.tensor, 1, "axis")
    axes = axis.sizes("axis")
    if len(axes) > data.rank:
        raise SignatureError(f"axis must have at most {data.rank} entries, but has {len(axes)}")
    known = known_integers(axes)
    if known is None:
        args = (data.rank, *data.dims, *axes)
        count = data.rank - len(axes)
        if not count:
            for i, dim in enumerate(data.dims):
                require_equal(dim, 1, f"dim {i} must be {{1}} to be squeezed, but is {{0}}")
        return ranked(data.element, tuple(measure("squeezed_dim", i, *args) for i in range(count)))
    removed = normalized_axes(known, data.rank)
    for i in removed:
        require_equal(data.dims[i], 1, f"dim {i} must be {{1}} to be squeezed, but is {{0}}")
    return ranked(data.element, tuple(d for i, d in enumerate(data.dims) if i not in removed))


@rule("relay.dyn.expand_dims")
def expand_dims(data: Tensor, axis: Data, *, num_newaxis: int = 1) -> Tensor:
    """Infer `data` with `num_newaxis` dims of 1 inserted at the scalar `axis`."""
    require_rank(axis.tensor, 0, "axis")
    if not 0 <= num_newaxis <= MAX_RANK:
        raise SignatureError(f"num_newaxis must be in [0, {MAX_RANK}], but is {num_newaxis}")
    (at,) = axis.sizes("axis")
    rank = data.rank + num_newaxis
    if not isinstance(at, int):
        args = (at, num_newaxis, *data.dims)
        return ranked(data.element, tuple(measure("expanded_dim", i, *args) for i in range(rank)))
    if not -data.rank - 1 <= at <= data.rank:
        raise SignatureError(f"axis must be in [{-data.rank - 1}, {data.rank}], but is {at}")
    at = at if at >= 0 else at + data.rank + 1
    return ranked(data.element, (*data.dims[:at], *(1,) * num_newaxis, *data.dims[at:]))


@rule("relay.dyn.strided_slice")
def strided_slice(
    data: Tensor,
    begin: Data,
    end: Data,
    strides: Data,
    *,
    axes: Ints | None = None,
    slice_mode: Literal["end", "size"],
) -> Tensor:
    """Infer `data[begin:end:strides]` along `axes` (by default the first ones)."""
    begins, ends = begin.sizes("begin"), end.sizes("end")
    steps = strides.sizes("strides")
    bound = data.rank if axes is None else len(axes)
    if not len(begins) == len(ends) == len(steps):
        raise SignatureError(
            "begin, end and strides must have one length, "
            f"but have {len(begins)}, {len(ends)} and {len(steps)} entries"
        )
    if len(begins) > bound or (axes is not None and len(begins) != bound):
        at_most = "at most " if axes is None else ""
        raise SignatureError(f"begin must have {at_most}{bound} entries, but has {len(begins)}")
    where = range(len(begins)) if axes is None else normalized_axes(axes, data.rank, "axes entry")
    dims = list(data.dims)
    for axis, first, last, step in zip(where, begins, ends, steps, strict=True):
        if slice_mode == "size":
            require_at_least(last, -1, "a size must be at least -1, but is {0}")
            dims[axis] = measure("sized_slice_length", dims[axis], first, last)
        elif step == 0:
            raise SignatureError("strides must not be 0")
        else:
            dims[axis] = measure("slice_length", dims[axis], first, last, step)
    return ranked(data.element, tuple(dims))


@rule("relay.dyn.nn.pad")
def pad(
    data: Tensor,
    pad_width: Data,
    pad_value: Tensor,
    *,
    pad_mode: Literal["constant", "edge", "reflect"],
) -> Tensor:
    """Infer `data` with `pad_width[i]` (before, after) more elements on axis i."""
    element = require_same_element((data, pad_value))
    require_rank(pad_value, 0, "pad_value")
    widths = pad_width.rows("pad_width", data.rank, 2)
    dims: list[Size] = []
    for axis, (dim, (before, after)) in enumerate(zip(data.dims, widths, strict=True)):
        for width in (before, after):
            require_at_least(width, 0, "pad_width must be at least 0, but is {0}")
            if pad_mode == "reflect":
                message = f"pad_width at axis {axis} must be at most {{1}} to reflect, but is {{0}}"
                require(Check.AT_MOST, width, maximum(dim - 1, 0), message)
        if pad_mode == "edge":
            message = f"cannot edge-pad axis {axis}: it has {{1}} elements"
            require(Check.AT_MOST, minimum(before + after, 1), dim, message)
        dims.append(dim + before + after)
    return ranked(element, tuple(dims))
