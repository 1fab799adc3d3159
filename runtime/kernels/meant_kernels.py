"""The kernel of an operator, from its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ...operators.all_rules import RULES
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
from ..program.program import AttrValue
from .bind import Array, Attrs, Bind, Thunk, flag, integer, nothing, sequence
from .checked import Reuse, call_on
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


@dataclass(eq=False)
class Steps:
    """The kernels of the operators that a formula applies."""

    kernels: Mapping[str, Bind]
    thunks: list[Thunk] = field(default_factory=list[Thunk])

    def __call__(self, name: str, *operands: Array | float, **given: AttrValue) -> Array:
        full = f"relay.{name}"
        dtype = getattr(operands[0], "dtype", None)
        ins: list[Any] = [x if hasattr(x, "dtype") else np.array(x, dtype) for x in operands]
        (result,) = RULES[full](call_on(full, given, ins))
        dims: Any = tuple(result.dims)  # of a template, traced ones
        out = scratch(dims, dtype_of(result.element))
        self.thunks.append(self.kernels[full](given, ins, [out]) if out.size else nothing)
        return out

    def tensor(self, operand: Array) -> Tensor:
        return Tensor(element_of(operand), operand.shape)


def composed(meaning: Composed, kernels: Mapping[str, Bind]) -> Bind:
    """Return the kernel of an operator of this meaning."""

    def bind(attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        steps = Steps(kernels)
        result = meaning.formula(steps, *ins, **meaning.keywords(attrs))
        return sequence(*steps.thunks, partial(np.copyto, outs[0], result))

    return bind
