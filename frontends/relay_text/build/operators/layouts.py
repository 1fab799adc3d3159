"""
Decompose `layout_transform` into reshapes and a transposition.

    layout_transform(%x, src_layout="NCHW", dst_layout="NHWC4c")
    ->
    %a = relay.reshape %x {newshape = array<i64: 1, 2, 4, 5, 5>}     a 1x8x5x5 tensor
    %b = relay.transpose %a {axes = array<i64: 0, 3, 4, 1, 2>}

A layout names the axes: `C` is a whole axis, or, if `4c` appears too, the index of a block of 4,
within which `4c` counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from .....dialects.tensors import is_static
from ...tvm_layouts import Layout, parse_layout
from .call_site import Site


def layout_transform(site: Site) -> SSAValue:
    """Reorder axes, and split them into blocks or join them."""
    (data,) = site.values(1)
    layouts: list[Layout] = []
    for name, text in site.attributes(src_layout=None, dst_layout=None).items():
        layout = parse_layout(text) if isinstance(text, str) else None
        if layout is None:
            raise site.problem(f'{name} must be a layout such as "NCHW", but is {text!r}')
        layouts.append(layout)
    source, target = layouts
    if not target.has_axes("".join(source.whole_axes)):
        raise site.problem("src_layout and dst_layout must have the same axes")
    return _through_whole_axes(site, data, source, target)


def change_layout(site: Site, data: SSAValue, source: str, target: str) -> SSAValue:
    """Return `data`, a tensor in the layout `source`, in the layout `target` of the same axes."""
    if source == target:
        return data
    from_, to = parse_layout(source), parse_layout(target)
    assert from_ is not None, "a layout"
    assert to is not None, "a layout"
    return _through_whole_axes(site, data, from_, to)


def _through_whole_axes(site: Site, data: SSAValue, source: Layout, target: Layout) -> SSAValue:
    """Convert `data` to another layout; blocks that change their size are joined before."""
    both = source.blocks.keys() & target.blocks.keys()
    if all(source.blocks[letter] == target.blocks[letter] for letter in both):
        return _convert(site, data, source, target)
    joined = Layout(source.whole_axes, {})
    return _convert(site, _convert(site, data, source, joined), joined, target)


def _convert(site: Site, value: SSAValue, source: Layout, target: Layout) -> SSAValue:
    """Convert a tensor to another layout; an axis in blocks on both sides has equal ones."""
    size = _sizes(site, value, source, target)
    split = [*_with_blocks(source.axes, target.blocks.keys() - source.blocks.keys())]
    order = [*_with_blocks(target.axes, source.blocks.keys() - target.blocks.keys())]

    is_open = not is_static(site.tensor(value))

    def reshaped(value: SSAValue, shape: list[int], codes: Sequence[Sequence[int]]) -> SSAValue:
        """Reshape; dims that may be unknown are copied, split or joined."""
        if is_open:
            return site.value("reshape", value, newshape=tuple(chain(*codes)))
        zeros = {"allowzero": True} if 0 in shape else {}
        return site.value("reshape", value, newshape=tuple(shape), **zeros)

    if len(split) > len(source.axes):
        new = {letter.upper(): size[letter] for letter in {*split} - {*source.axes}}
        codes = [(-4, -1, new[axis]) if axis in new else (0,) for axis in source.axes]
        value = reshaped(value, [size[letter] for letter in split], codes)
    if order != split:
        axes = tuple(split.index(letter) for letter in order)
        value = site.value("transpose", value, axes=axes)
    if len(order) > len(target.axes):
        inner = {
            axis: axis.lower() for axis in target.whole_axes if axis.lower() not in target.axes
        }
        inner = {axis: block for axis, block in inner.items() if block in order}
        codes = [(-3,) if axis in inner else (0,) for axis in target.axes]
        shape = [size[a] * size.get(inner.get(a, ""), 1) for a in target.axes]
        value = reshaped(value, shape, codes)
    return value


def _with_blocks(axes: tuple[str, ...], blocks: Set[str]) -> Iterator[str]:
    """Yield `axes`, each followed by its block if that is one of `blocks`."""
    for axis in axes:
        yield axis
        if axis.isupper() and axis.lower() in blocks:
            yield axis.lower()


def _sizes(site: Site, data: SSAValue, source: Layout, target: Layout) -> dict[str, int]:
    """Return the size of each axis, with the blocks of both sides as separate axes."""
    type = site.tensor(data)
    dims = type.get_shape()
    if len(dims) != len(source.axes):
        message = f"src_layout has {len(source.axes)} axes, but the tensor has rank {len(dims)}"
        raise site.problem(message)
    size = dict(zip(source.axes, dims, strict=True))
    for letter, block in source.blocks.items():
        if size[letter] not in (block, DYNAMIC_INDEX):
            raise site.problem(f"axis {letter} must be {block}, but is {size[letter]}")
    for letter, block in target.blocks.items():
        outer = letter.upper()
        if letter in source.blocks:
            continue
        if size[outer] == DYNAMIC_INDEX:
            size[letter] = block
            continue
        if size[outer] % block:
            text = f"axis {outer} must be a multiple of {block}, but is {size[outer]}"
            raise site.problem(text)
        size[outer], size[letter] = size[outer] // block, block
    return size
