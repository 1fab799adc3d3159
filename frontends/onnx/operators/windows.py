"""Windows that slide over the last dims: kernel, strides, dilations and padding of a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convert.computed import Computed
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Constant, Dim, Value, dims_of, shape_text

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass(frozen=True)
class Windows:
    """
    Windows over one to three dims; `pads` are those before all dims, and after.

    The size of a kernel is known, unless it is that of a weight.
    """

    kernel: tuple[Dim, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the size of a kernel that is known."""
        return tuple(dim for dim in self.kernel if isinstance(dim, int))

    @property
    def reach(self) -> tuple[int, ...]:
        """Return the extent of a window in each dim."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.sizes, self.dilations, strict=True))

    def op(self, name: str, *operands: Value, b: Builder, **properties: Any) -> Value:
        """Build the operator `name` on so many dims."""
        return b.op(
            name.format(f"{len(self.kernel)}d"),
            *operands,
            strides=self.strides,
            dilation=self.dilations,
            padding=self.pads,
            **properties,
        )


def spatial_dims(node: Node, x: Value) -> tuple[Dim, ...]:
    """Return the dims after batch and channel, of which there must be one to three."""
    dims = dims_of(x)[2:]
    if len(dims) not in (1, 2, 3):
        raise node.error(
            f"the input has shape {shape_text(dims_of(x))}; supported: batch, channel and 1 to "
            "3 dims"
        )
    return dims


def per_dim(node: Node, name: str, rank: int, default: int) -> tuple[int, ...]:
    """Return the attribute `name`: one integer, at least `default`, for each of `rank` dims."""
    listed = node.ints(name)
    numbers = [default] * rank if listed is None else listed
    if len(numbers) != rank or any(n < default for n in numbers):
        raise node.error(
            f"attribute {name} is {numbers}; supported: {rank} integers of at least {default}"
        )
    return tuple(numbers)


def known_dims(node: Node, dims: Sequence[Dim], what: str, of: str = "the input") -> list[int]:
    """Return `dims`, which must be static because of `what`."""
    sizes = [dim for dim in dims if isinstance(dim, int)]
    unknown = next((dim.value for dim in dims if not isinstance(dim, int)), None)
    if unknown is not None:
        raise node.error(
            f"{what} needs the size of {of}, but dims {shape_text(dims)} are dynamic",
            unknown,
            needs_shape=True,
        )
    return sizes


def windows_of(
    node: Node, x: Value, kernel: Sequence[Dim], b: Builder, fill: float = 0.0
) -> tuple[Value, Windows]:
    """
    Return `x` and the windows of a convolution or pooling over it.

    Padding that depends on dims which are not known is part of `x`, as elements of `fill`.
    """
    dims = spatial_dims(node, x)
    rank = len(dims)
    strides = per_dim(node, "strides", rank, 1)
    dilations = per_dim(node, "dilations", rank, 1)
    auto_pad = node.choice("auto_pad", "NOTSET", AUTO_PADS)
    given = per_dim(node, "pads", 2 * rank, 0)
    pads = given if auto_pad == "NOTSET" else (0,) * (2 * rank)
    if auto_pad.startswith("SAME"):
        matter = [0 if s == 1 else n for n, s in zip(dims, strides, strict=True)]
        sizes = known_dims(node, kernel, f"attribute auto_pad {auto_pad}", "the weight")
        reach = Computed(b.ints([(k - 1) * d for k, d in zip(sizes, dilations, strict=True)]), b)
        n, s = Computed(b.sizes(matter), b), Computed(b.ints(strides), b)
        last = (n + s - 1).floor_divide(s) * s - s  # the start of the last window
        total = ((last - n + 1).where(s.greater(1), 0) + reach).maximum(0)
        less = total.floor_divide(2)
        ends = [less, total - less] if auto_pad == "SAME_UPPER" else [total - less, less]
        both = b.op("concatenate", *(end.value for end in ends), axis=0)
        if isinstance(both, Constant):
            pads = tuple(both.array.tolist())
        else:
            width = b.transpose(b.reshape(both, (2, rank)), (1, 0))
            width = b.op("concatenate", b.constant(np.zeros((2, 2), np.int64)), width, axis=0)
            x = b.op("dyn.nn.pad", x, width, b.scalar_like(fill, x), pad_mode="constant")
    return x, Windows(tuple(kernel), strides, dilations, pads)


def split_padding(totals: Sequence[int], *, upper: bool) -> tuple[int, ...]:
    """Split padding in two, before and after all dims; the odd element is after if `upper`."""
    less, more = [t // 2 for t in totals], [t - t // 2 for t in totals]
    return (*less, *more) if upper else (*more, *less)
