"""The kernel of an operator, from its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast

import numpy as np

from ...operators.meaning.access import Steps, Traced
from ...operators.meaning.forms import (
    ByIndex,
    Composed,
    Elementwise,
    Folded,
    Meaning,
    SameOrder,
    Sums,
)
from ...operators.signature import Tensor
from ..memory.scratch import scratch
from .bind import Array, Attrs, Bind, Thunk, flag, integer, nothing, sequence
from .checked import Reuse, reuse_of
from .conversions import bind_cast
from .recorded_formulas import by_index, dtype_of, element_of, elementwise, folded


def derived(meaning: Meaning, kernels: Mapping[str, Bind]) -> tuple[Bind, Reuse]:
    """Return the kernel of a meaning, which may apply `kernels`, and what it may overwrite."""
    match meaning:
        case Elementwise():
            return elementwise(meaning), Reuse.SAME_SIZE
        case ByIndex():
            return by_index(meaning), Reuse.NONE
        case Folded():
            return folded(meaning), Reuse.NONE
        case SameOrder():
            return reshape, Reuse.RESHAPE
        case Sums():
            return sums_of_parts, Reuse.NONE
        case Composed():
            return composed(meaning, kernels), Reuse.NONE
        case _:
            raise AssertionError(f"{meaning} has no kernel")


def reshape(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Copy the elements in order, into another shape."""
    return partial(np.copyto, outs[0], ins[0].reshape(outs[0].shape))


def sums_of_parts(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
    """Add the elements along the axis, in order."""
    (x,), (y,) = ins, outs
    x = x if "axis" in attrs else x.reshape(-1)
    axis = integer(attrs, "axis") % x.ndim if "axis" in attrs else 0
    dtype = np.dtype(np.float32) if y.dtype == np.float16 else y.dtype
    terms, sums = scratch(x.shape, dtype), scratch(x.shape, dtype)
    steps = [bind_cast(x, terms), partial(np.add.accumulate, terms, axis, dtype, sums)]
    if not flag(attrs, "exclusive"):
        return sequence(*steps, bind_cast(sums, y))
    before, after = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    return sequence(
        *steps,
        partial(y.fill, 0),
        partial(np.copyto, y[tuple(after)], sums[tuple(before)], "unsafe"),
    )


def composed(meaning: Composed, kernels: Mapping[str, Bind]) -> Bind:
    """Return the kernel of an operator of this meaning."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        steps, operands = Steps(), [Traced(Tensor(element_of(x), x.shape)) for x in ins]
        results = meaning.results(steps, operands, attrs)
        arrays = dict(zip(operands, ins, strict=True))
        thunks = _bound(steps.applied, arrays, results[0], outs[0], kernels)
        copies = (
            partial(np.copyto, y, arrays[result])
            for result, y in zip(results, outs, strict=True)
            if arrays[result] is not y
        )
        return sequence(*thunks, *copies)

    return bind


def _bound(
    applied: Sequence[Traced],
    arrays: dict[Traced, Array],
    result: Traced,
    y: Array,
    kernels: Mapping[str, Bind],
) -> Sequence[Thunk]:
    """
    Bind the operators, each to scratch memory that is free then: `arrays` gets what they compute.

    `y`, for the result, is free once no operand in its memory is read any more; an elementwise
    kernel may write over what it reads last.
    """
    last = {x: i for i, step in enumerate(applied) for x in step.operands}
    last[result] = len(applied)
    own = max((last.get(x, -1) for x, a in arrays.items() if np.may_share_memory(a, y)), default=-1)
    thunks, free = list[Thunk](), [y] if own < 0 else list[Array]()
    for i, step in enumerate(applied):
        arrays |= {x: _constant(x) for x in step.operands if x not in arrays}
        done = [arrays[x] for x in dict.fromkeys(step.operands) if x.name and last[x] == i]
        done += [y] if i == own else []
        kernel, dims = kernels[step.name], cast("tuple[int, ...]", tuple(step.tensor.dims))
        kind = dims, dtype_of(step.tensor.element)
        usable = [*free, *done] if reuse_of(kernel) in _OVER_OPERANDS else free
        wanted = [y] if step is result else usable
        fitting = (a for a in usable if (a.shape, a.dtype) == kind and any(a is w for w in wanted))
        out = next(fitting, None)
        out = arrays[step] = scratch(*kind) if out is None else out
        free = [a for a in (*free, *done) if a is not out]
        ins = [arrays[x] for x in step.operands]
        thunks.append(kernel(cast(Attrs, step.attributes), ins, [out]) if out.size else nothing)
    return thunks


_OVER_OPERANDS = (Reuse.ELEMENTWISE, Reuse.SAME_SIZE)


def _constant(operand: Traced) -> Array:
    """Return the number that a formula gives as an operand."""
    with np.errstate(over="ignore"):
        return np.array(operand.number).astype(dtype_of(operand.tensor.element))
