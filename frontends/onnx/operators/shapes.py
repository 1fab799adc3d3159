"""Operators that change the shape, repeat elements, or return the shape."""

from __future__ import annotations

from math import prod

import numpy as np

from ....operators.broadcast import broadcast_shapes
from ....operators.signature import SignatureError
from ..builder import Builder
from ..node import Node
from ..values import Value, shape_of
from .rule import Rules, since


def reshape(node: Node, b: Builder) -> Value:
    """Reshape; 0 copies the dim of the input (unless `allowzero`), -1 infers the remaining one."""
    x = node.input(0)
    wanted = node.required_ints(1, "shape")
    old = shape_of(x)
    shape = list(wanted)
    if not node.flag("allowzero", False):
        if any(n == 0 and i >= len(old) for i, n in enumerate(shape)):
            raise node.error(
                f"shape {wanted} copies a dim that an input of rank {len(old)} does not have"
            )
        shape = [old[i] if n == 0 else n for i, n in enumerate(shape)]
    if shape.count(-1) > 1 or any(n < -1 for n in shape):
        raise node.error(f"shape is {wanted}; supported: dims of at least 0, and one -1")
    if -1 in shape:
        known = prod(n for n in shape if n != -1)
        if known == 0 or prod(old) % known:
            raise node.error(f"{prod(old)} elements of shape {list(old)} do not fit {wanted}")
        shape[shape.index(-1)] = prod(old) // known
    return b.reshape(x, shape)


def flatten(node: Node, b: Builder) -> Value:
    """Flatten the dims before `axis` into one, and the others into another."""
    x = node.input(0)
    shape = shape_of(x)
    given = node.integer("axis", 1)
    axis = given if given == len(shape) else node.axis(given, len(shape))
    if axis == 1 and len(shape) > 1:
        return x if len(shape) == 2 else b.op("nn.batch_flatten", x)
    return b.reshape(x, (prod(shape[:axis]), prod(shape[axis:])))


def squeeze(node: Node, b: Builder) -> Value:
    """Remove the given dims of 1, or all of them."""
    x = node.input(0)
    shape = shape_of(x)
    named = node.int_list("axes", 1)
    if named is None:
        named = [i for i, n in enumerate(shape) if n == 1]
    axes = node.axes(named, len(shape))
    if any(shape[a] != 1 for a in axes):
        raise node.error(f"axes {named} of shape {list(shape)} are not all 1")
    return b.reshape(x, [n for i, n in enumerate(shape) if i not in axes])


def unsqueeze(node: Node, b: Builder) -> Value:
    """Insert dims of 1, such that they are at `axes` of the result."""
    x = node.input(0)
    shape = shape_of(x)
    named = node.int_list("axes", 1)
    if named is None:
        raise node.error("the axes are missing")
    rank = len(shape) + len(named)
    axes = node.axes(named, rank)
    old = iter(shape)
    return b.reshape(x, [1 if i in axes else next(old) for i in range(rank)])


def expand(node: Node, b: Builder) -> Value:
    """Broadcast together with a shape, of which either may be the larger one."""
    x = node.input(0)
    wanted = node.required_ints(1, "shape")
    if any(n < 0 for n in wanted):
        raise node.error(f"shape is {wanted}; supported: dims of at least 0")
    try:
        shape = broadcast_shapes([shape_of(x), wanted])
    except SignatureError as error:
        raise node.error(str(error)) from None
    return b.broadcast_to(x, shape)


def tile(node: Node, b: Builder) -> Value:
    x = node.input(0)
    repeats = node.required_ints(1, "repeats")
    if len(repeats) != len(shape_of(x)) or any(r < 0 for r in repeats):
        raise node.error(
            f"repeats are {repeats}; supported: {len(shape_of(x))} integers of at least 0"
        )
    return b.op("tile", x, reps=tuple(repeats)) if repeats else x


def transpose(node: Node, b: Builder) -> Value:
    x = node.input(0)
    rank = len(shape_of(x))
    given = node.ints("perm")
    axes = list(reversed(range(rank))) if given is None else given
    if sorted(axes) != list(range(rank)):
        raise node.error(f"attribute perm is {axes}; supported: an order of {rank} axes")
    return b.transpose(x, axes)


def shape(node: Node, b: Builder) -> Value:
    """Return the shape, or a part of it, which is known at compile time."""
    dims = shape_of(node.input(0))
    start, end = node.integer("start", 0), node.optional_int("end")
    return b.ints(dims[start:end])


def size(node: Node, b: Builder) -> Value:
    """Return the number of elements, which is known at compile time."""
    count = prod(shape_of(node.input(0)))
    if count >= 2**63:
        raise node.error(f"there are {count} elements; supported: fewer than 2**63")
    return b.constant(np.asarray(count, np.int64))


def depth_to_space(node: Node, b: Builder) -> Value:
    """Move blocks of channels to blocks of pixels: depth first (DCR) or column first (CRD)."""
    x = node.input(0)
    node.require_rank(x, [4], "the input")
    mode = node.choice("mode", "DCR", ("DCR", "CRD"))
    n, c, h, w = shape_of(x)
    block = _block_size(node)
    if c % block**2:
        raise node.error(f"{c} channels do not divide into blocks of {block} by {block}")
    depth = c // block**2
    if mode == "DCR":
        x = b.transpose(b.reshape(x, (n, block, block, depth, h, w)), (0, 3, 4, 1, 5, 2))
    else:
        x = b.transpose(b.reshape(x, (n, depth, block, block, h, w)), (0, 1, 4, 2, 5, 3))
    return b.reshape(x, (n, depth, h * block, w * block))


def space_to_depth(node: Node, b: Builder) -> Value:
    """Move blocks of pixels to blocks of channels: the inverse of `depth_to_space`."""
    x = node.input(0)
    node.require_rank(x, [4], "the input")
    mode = node.choice("mode", "DCR", ("DCR", "CRD"))
    n, c, h, w = shape_of(x)
    block = _block_size(node)
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
