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

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from .....dialects.tensors import as_tensor, is_static
from ...text import syntax as ast
from ...tvm_layouts import Layout, parse_layout
from ..build_context import Context, Value
from .call_operands import attributes_given, not_a_tensor, problem, values_of
from .relay_operators import operator


def layout_transform(context: Context, call: ast.Call, args: Sequence[Value]) -> Value:
    """Reorder axes, and split them into blocks or join them."""
    (data,) = values_of(context, call, args, 1)
    given = attributes_given(context, call, {"src_layout": None, "dst_layout": None})
    layouts: list[Layout] = []
    for name, text in given.items():
        layout = parse_layout(text) if isinstance(text, str) else None
        if layout is None:
            raise problem(context, call, f'{name} must be a layout such as "NCHW", but is {text!r}')
        layouts.append(layout)
    source, target = layouts
    if not target.has_axes("".join(axis for axis in source.axes if axis.isupper())):
        raise problem(context, call, "src_layout and dst_layout must have the same axes")
    return _through_whole_axes(context, call, data, source, target)


def change_layout(
    context: Context, call: ast.Call, data: SSAValue, source: str, target: str
) -> SSAValue:
    """Return `data`, a tensor in the layout `source`, in the layout `target` of the same axes."""
    from_, to = parse_layout(source), parse_layout(target)
    assert from_ is not None, "a layout"
    assert to is not None, "a layout"
    return _through_whole_axes(context, call, data, from_, to)


def _through_whole_axes(
    context: Context, call: ast.Call, data: SSAValue, source: Layout, target: Layout
) -> SSAValue:
    """Convert `data` to another layout; blocks that change their size are joined before."""
    both = source.blocks.keys() & target.blocks.keys()
    if all(source.blocks[letter] == target.blocks[letter] for letter in both):
        return _convert(context, call, data, source, target)
    joined = Layout(tuple(letter for letter in source.axes if letter.isupper()), {})
    between = _convert(context, call, data, source, joined)
    return _convert(context, call, between, joined, target)


def _convert(
    context: Context, call: ast.Call, data: SSAValue, source: Layout, target: Layout
) -> SSAValue:
    """Convert `data` to another layout; an axis in blocks on both sides has equal ones."""

    def made(name: str, value: SSAValue, attribute: str, numbers: Sequence[int]) -> SSAValue:
        attributes: dict[str, Any] = {attribute: tuple(numbers)}
        if name == "reshape" and 0 in numbers:
            attributes["allowzero"] = True
        return context.ssa(operator(context, name, [value], attributes, call.offset))

    size = _sizes(context, call, data, source, target)
    split: list[str] = []
    for letter in source.axes:
        split.append(letter)
        if letter.isupper() and letter.lower() in target.blocks.keys() - source.blocks.keys():
            split.append(letter.lower())
    order: list[str] = []
    for letter in target.axes:
        order.append(letter)
        if letter.isupper() and letter.lower() in source.blocks.keys() - target.blocks.keys():
            order.append(letter.lower())
    value = data
    if len(split) > len(source.axes):
        value = made("reshape", value, "newshape", [size[letter] for letter in split])
    if order != split:
        value = made("transpose", value, "axes", [split.index(letter) for letter in order])
    if len(order) > len(target.axes):
        joined = [
            size[letter] * (1 if letter.lower() in target.axes else size.get(letter.lower(), 1))
            if letter.isupper()
            else size[letter]
            for letter in target.axes
        ]
        value = made("reshape", value, "newshape", joined)
    return value


def _sizes(
    context: Context, call: ast.Call, data: SSAValue, source: Layout, target: Layout
) -> dict[str, int]:
    """Return the size of each axis, with the blocks of both sides as separate axes."""
    type = as_tensor(data.type)
    if type is None:
        raise not_a_tensor(context, call, data)
    dims = type.get_shape()
    if len(dims) != len(source.axes):
        raise problem(
            context,
            call,
            f"src_layout has {len(source.axes)} axes, but the tensor has rank {len(dims)}",
        )
    if source.blocks.keys() != target.blocks.keys() and not is_static(type):
        given = context.text(type)
        raise problem(context, call, f"the shape must be static, but the tensor is of type {given}")
    size = dict(zip(source.axes, dims, strict=True))
    for letter, block in source.blocks.items():
        if size[letter] != block:
            raise problem(context, call, f"axis {letter} must be {block}, but is {size[letter]}")
    for letter, block in target.blocks.items():
        if letter not in source.blocks:
            outer = letter.upper()
            if size[outer] % block:
                raise problem(
                    context,
                    call,
                    f"axis {outer} must be a multiple of {block}, but is {size[outer]}",
                )
            size[outer], size[letter] = size[outer] // block, block
    return size
