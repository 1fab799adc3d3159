"""Operators that change the shape, repeat elements, or return the shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ..convert.folding import MAX_END
from ..convert.node import Node
from ..convert.onnx_builder import Builder
from ..convert.onnx_values import Dim, Value, dims_of, has_static_shape, rank_of, shape_of
from .rule import Rules, since


def reshape(node: Node, b: Builder) -> Value:
    """Reshape; 0 copies the dim of the input (unless `allowzero`), -1 infers the remaining one."""
    x = node.input(0)
    if not node.is_known(1):
        allowzero = node.flag("allowzero", False)
        shape, _ = b.vector(1, "shape", node.output_rank())
        return b.op("dyn.reshape", x, shape, allowzero=allowzero)
    wanted = node.required_ints(1, "shape")
    if min(wanted, default=0) < -1 or wanted.count(-1) > 1:  # these mean more in Relay
        raise node.error(f"shape is {wanted}; supported: dims of at least 0, and one -1")
    dims = dims_of(x)
    if node.flag("allowzero", False):
        return b.reshape(x, wanted)
    if any(n == 0 and i >= len(dims) for i, n in enumerate(wanted)):
        raise node.error(
            f"shape {wanted} copies a dim that an input of rank {len(dims)} does not have"
        )
    return b.reshape(x, [dims[i] if n == 0 else n for i, n in enumerate(wanted)])


def flatten(node: Node, b: Builder) -> Value:
    """Flatten the dims before `axis` into one, and the others into another."""
    x = node.input(0)
    rank = rank_of(x)
    given = node.integer("axis", 1)
    axis = given if given == rank else node.axis(given, rank)
    if axis == 1 and rank > 1:
        return x if rank == 2 else b.op("nn.batch_flatten", x)
    return as_matrix(x, axis, b)


def as_matrix(x: Value, axis: int, b: Builder) -> Value:
    """Flatten the dims before `axis` into one, and the others into another."""
    before, after = (_product(dims) for dims in (dims_of(x)[:axis], dims_of(x)[axis:]))
    if before is not None and after is not None:
        return b.reshape(x, (before, after))
    if before != 0 and after != 0 and (before is not None or after is not None):
        return b.op("reshape", x, newshape=(before or -1, after or -1))
    counts = [
        b.op("prod", b.sizes(dims), axis=(0,), keepdims=True)
        for dims in (dims_of(x)[:axis], dims_of(x)[axis:])
    ]
    return b.op("dyn.reshape", x, b.joined(counts), allowzero=True)


def merged(x: Value, count: int, b: Builder) -> Value:
    """Flatten the first `count` dims into one; add a dim of 1 if there are none."""
    dims = dims_of(x)
    if count == 0:
        return b.reshape(x, (1, *dims)) if has_static_shape(x) else b.op("expand_dims", x, axis=0)
    first = _product(dims[:count])
    if first is not None:
        return b.reshape(x, (first, *dims[count:]))
    for _ in range(count - 1):
        x = b.op("reshape", x, newshape=(-3, -2))  # merges the first two dims
    return x


def _product(dims: Sequence[Dim]) -> int | None:
    """Return the product of `dims`; None if one is dynamic."""
    static = [dim for dim in dims if isinstance(dim, int)]
    return prod(static) if len(static) == len(dims) else None


def squeeze(node: Node, b: Builder) -> Value:
    """Remove the given dims of 1, or all of them."""
    x = node.input(0)
    if not node.is_known(1):
        rank = node.output_rank()
        count = None if rank is None else rank_of(x) - rank
        return b.op("dyn.squeeze", x, b.vector(1, "axes", count)[0])
    named = node.int_list("axes", 1)
    if named is not None and not has_static_shape(x):
        return b.op("squeeze", x, axis=node.axes(named, rank_of(x)))
    shape = shape_of(x)
    if named is None:
        named = [i for i, n in enumerate(shape) if n == 1]
    axes = node.axes(named, len(shape))
    if any(shape[a] != 1 for a in axes):
        raise node.error(f"axes {named} of shape {list(shape)} are not all 1")
    return b.reshape(x, [n for i, n in enumerate(shape) if i not in axes])


def unsqueeze(node: Node, b: Builder) -> Value:
    """Insert dims of 1, such that they are at `axes` of the result."""
    x = node.input(0)
    if not node.is_known(1):
        rank = node.output_rank()
        count = None if rank is None else rank - rank_of(x)
        return _unsqueezed_at_run_time(x, *b.vector(1, "axes", count), b)
    named = node.int_list("axes", 1)
    if named is None:
        raise node.error("the axes are missing")
    rank = rank_of(x) + len(named)
    axes = node.axes(named, rank)
    if not has_static_shape(x):
        for axis in sorted(axes):
            x = b.op("expand_dims", x, axis=axis)
        return x
    old = iter(shape_of(x))
    return b.reshape(x, [1 if i in axes else next(old) for i in range(rank)])


def _unsqueezed_at_run_time(x: Value, axes: Value, count: int, b: Builder) -> Value:
    """Insert dims one after the other, the first axis first."""
    rank = b.scalar(rank_of(x) + count, np.dtype(np.int64))
    axes = b.op("floor_mod", axes, rank)
    if count > 1:
        axes = b.op("topk", axes, k=count, ret_type="values", is_ascend=True, dtype="int64")
    for i in range(count):
        x = b.op("dyn.expand_dims", x, b.reshape(b.slice(axes, 0, i, i + 1), ()))
    return x


def expand(node: Node, b: Builder) -> Value:
    """Broadcast together with a shape, of which either may be the larger one."""
    x = node.input(0)
    rank = rank_of(x)
    if not node.is_known(1) and node.output_rank() == rank:  # the shape may be shorter
        shape = b.joined([b.ints([1] * rank), b.integers(1, "shape")])
        shape = b.op("strided_slice", shape, begin=(-rank,), end=(MAX_END,), strides=(1,))
        shape, count = b.reshape(shape, (rank,)), rank
    else:
        shape, count = b.vector(1, "shape", node.output_rank())
    dims = b.joined([b.ints([1] * (count - rank)), b.shape(x)])
    shape = b.joined([b.ints([1] * (rank - count)), shape])
    same = b.op("equal", shape, b.scalar_like(1, shape))
    return b.op("dyn.broadcast_to", x, b.op("where", same, dims, shape))


def tile(node: Node, b: Builder) -> Value:
    x = node.input(0)
    rank = rank_of(x)
    reps, count = b.vector(1, "repeats", rank)
    if count != rank:
        raise node.error(f"there are {count} repeats; supported: {rank}")
    return b.op("dyn.tile", x, reps) if rank else x


def transpose(node: Node, b: Builder) -> Value:
    x = node.input(0)
    rank = rank_of(x)
    given = node.ints("perm")
    axes = list(reversed(range(rank))) if given is None else given
    if sorted(axes) != list(range(rank)):
        raise node.error(f"attribute perm is {axes}; supported: an order of {rank} axes")
    return b.transpose(x, axes)


def shape(node: Node, b: Builder) -> Value:
    """Return the shape, or a part of it; what is static is known at compile time."""
    x = node.input(0)
    start, end = node.integer("start", 0), node.optional_int("end")
    chosen = range(rank_of(x))[start:end]
    part = dims_of(x)[start:end]
    if all(isinstance(dim, int) for dim in part):
        return b.sizes(part)
    return b.slice(b.shape(x), 0, chosen.start, chosen.stop)


def size(node: Node, b: Builder) -> Value:
    """Return the number of elements, which is known at compile time if the shape is static."""
    x = node.input(0)
    if not has_static_shape(x):
        return b.op("prod", b.shape(x), axis=(0,), keepdims=False)
    count = prod(shape_of(x))
    if count >= 2**63:
        raise node.error(f"there are {count} elements; supported: fewer than 2**63")
    return b.constant(np.asarray(count, np.int64))


def depth_to_space(node: Node, b: Builder) -> Value:
    """Move blocks of channels to blocks of pixels: depth first (DCR) or column first (CRD)."""
    x = node.input(0)
    node.require_rank(x, [4], "the input")
    mode = node.choice("mode", "DCR", ("DCR", "CRD"))
    n, c, h, w = dims_of(x)
    block = _block_size(node)
    if not isinstance(c, int):
        how = "DCR" if mode == "DCR" else "CDR"
        return b.op("nn.depth_to_space", x, block_size=block, layout="NCHW", mode=how)
    if c % block**2:
        raise node.error(f"{c} channels do not divide into blocks of {block} by {block}")
    depth = c // block**2
    if mode == "DCR":
        x = b.transpose(b.reshape(x, (n, block, block, depth, h, w)), (0, 3, 4, 1, 5, 2))
    else:
        x = b.transpose(b.reshape(x, (n, depth, block, block, h, w)), (0, 1, 4, 2, 5, 3))
    if isinstance(h, int) and isinstance(w, int):
        return b.reshape(x, (n, depth, h * block, w * block))
    return b.op("reshape", x, newshape=(0, 0, -3, -3))  # joins rows with blocks, and columns


def space_to_depth(node: Node, b: Builder) -> Value:
    """Move blocks of pixels to blocks of channels: the inverse of `depth_to_space`."""
    x = node.input(0)
    node.require_rank(x, [4], "the input")
    mode = node.choice("mode", "DCR", ("DCR", "CRD"))
    block = _block_size(node)
    if mode == "DCR" and not has_static_shape(x):
        return b.op("nn.space_to_depth", x, block_size=block, layout="NCHW")
    n, c, h, w = shape_of(x)
    if h % block or w % block:
        raise node.error(f"{h} by {w} pixels do not divide into blocks of {block} by {block}")
    x = b.reshape(x, (n, c, h // block, block, w // block, block))
    x = b.transpose(x, (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4))
    return b.reshape(x, (n, c * block**2, h // block, w // block))


def _block_size(node: Node) -> int:
    block = node.integer("blocksize", 0)
    if block < 1:
        raise node.error(f"attribute blocksize is {block}; supported: 1 and more")
    return block


RULES: Rules = {
    "DepthToSpace": since(1, depth_to_space),
    "Expand": since(8, expand),
    "Flatten": since(1, flatten),
    "Reshape": since(5, reshape),
    "Shape": since(1, shape),
    "Size": since(1, size),
    "SpaceToDepth": since(1, space_to_depth),
    "Squeeze": since(1, squeeze),
    "Tile": since(6, tile),
    "Transpose": since(1, transpose),
    "Unsqueeze": since(1, unsqueeze),
}
