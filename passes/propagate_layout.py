"""
Put the channels of images last, from the first convolution to the last operator that can follow.

    %y = relay.nn.conv2d %x, %w             %l = relay.transpose %x {axes = [0, 2, 3, 1]}
    %z = relay.nn.relu %y                   %v = relay.transpose %w {axes = [2, 3, 1, 0]}
    return %z                         ->    %c = relay.nn.conv2d %l, %v {NHWC, HWIO}
                                            %r = relay.nn.relu %c
                                            %z = relay.transpose %r {axes = [0, 3, 1, 2]}
                                            return %z

So one vector of channels is contiguous at each pixel: convolutions, depthwise ones too, pooling and
arithmetic all vectorise along it, whatever the image's size.

A convolution with constant weights starts it, unless its result has few channels in long rows: then
rows are vectors as they are. After it, an operator on a value that was moved back to the front is
applied before that move, with its axes and layouts renamed, and the move goes after
it; moves that nothing uses are removed. So what cannot follow reads a value in the old order, and
every step is correct by itself. Through go elementwise operators, broadcasts, pooling, padding,
slices, splits, concatenations, reductions, normalizations along an axis, reshapes that only split
or merge channels and transpositions that only permute them (a channel shuffle), and a flattening
before a dense layer, whose weights follow.

What this does to weights is for `fold-constants` and `fold-weights` after it. Before device
planning and fusion, after `simplify-inference`. Level: `relay`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.interfaces import Fusible, FusionKind, has_effects, only_reshapes
from ..dialects.relay import (
    broadcast,
    convolution,
    matmul,
    normalization,
    pooling,
    rearrange,
    reduce,
    reshape,
    upsampling,
)
from ..dialects.relay.operator import Operator
from ..dialects.relay.properties import Int, Ints, ints
from ..dialects.tensors import as_tensor, is_static, tensor_of
from ..dialects.xdsl_extras.walking import walk
from .support.changes import LevelPass
from .support.operator_steps import rank_of, reshaped, transposed
from .support.rewriting import apply_patterns, erase_unused

Properties: TypeAlias = Mapping[str, Attribute]
Rename: TypeAlias = Callable[[Operation, int], Properties | None]
"""Returns the properties that change when an operator on values of this rank has channels last."""

SPATIAL = 2
"""The last dims of an image: height and width. Between the first dim and them are channels."""


def last_order(rank: int) -> tuple[int, ...]:
    """Return the axes of a value with channels last, as those of the value with channels first."""
    return (0, *range(rank - SPATIAL, rank), *range(1, rank - SPATIAL))


def first_order(rank: int) -> tuple[int, ...]:
    """Return the permutation that undoes `last_order`."""
    return (0, *range(1 + SPATIAL, rank), *range(1, 1 + SPATIAL))


def renamed(axis: int, rank: int) -> int:
    """Return where `axis`, which may count from the end, is with channels last."""
    return last_order(rank).index(axis % rank)


def shape_of(value: SSAValue) -> tuple[int, ...] | None:
    """Return the dims of a tensor that are all known."""
    type = as_tensor(value.type)
    return type.get_shape() if type is not None and is_static(type) else None


def moved_from(value: SSAValue) -> SSAValue | None:
    """Return the value with channels last that `value` is, moved to the front."""
    rank = rank_of(value)
    if not isinstance(value.owner, rearrange.TransposeOp) or rank is None or rank < 2 + SPATIAL:
        return None
    axes = value.owner.axes
    if axes is None or tuple(a % rank for a in axes.get_values()) != first_order(rank):
        return None
    return value.owner.data


def is_weight(value: SSAValue) -> bool:
    return isinstance(value.owner, relay.ConstantOp | relay.ParamOp)


@dataclass
class Moves:
    """The values that have been moved so that channels are last, in each block."""

    made: dict[tuple[SSAValue, Block], SSAValue] = field(default_factory=lambda: {})

    def last(self, value: SSAValue, op: Operation, rewriter: PatternRewriter) -> SSAValue:
        """Return `value` with channels last, for `op`."""
        rank, known, block = rank_of(value), moved_from(value), op.parent
        if known is not None:
            return known
        assert rank is not None
        assert block is not None
        if (value, block) not in self.made:
            move = transposed(value, last_order(rank))
            move.result.name_hint = value.name_hint
            rewriter.insert(move, InsertPoint.before(op))
            self.made[value, block] = move.result
        return self.made[value, block]

    def broadcast(
        self, value: SSAValue, rank: int, op: Operation, rewriter: PatternRewriter
    ) -> SSAValue:
        """Return `value`, which broadcasts to `rank` dims, so that it does with channels last."""
        type = tensor_of(value)
        missing = rank - type.get_num_dims()
        if all(dim == 1 for dim in type.get_shape()):
            return value
        if missing:
            count = IntegerAttr(missing, i64)
            wide = reshape.ExpandDimsOp.on(
                [value], {"axis": IntegerAttr(0, i64), "num_newaxis": count}
            )
            rewriter.insert(wide, InsertPoint.before(op))
            value = wide.result
        return self.last(value, op, rewriter)


def replace_with_moved(op: Operation, by: Operation, rewriter: PatternRewriter) -> None:
    """Replace `op` by `by`, the same with channels last, whose results are moved to the front."""
    moves = [transposed(r, first_order(cast(int, rank_of(r)))) for r in by.results]
    for old, new, move in zip(op.results, by.results, moves, strict=True):
        new.name_hint = move.result.name_hint = old.name_hint
    rewriter.replace(op, [by, *moves], [move.result for move in moves])


FEW, LONG = 4, 16
"""A vector has at least `FEW` channels, or the pixels of a row of at least `LONG`."""


def has_long_rows(op: convolution.Conv2dOp) -> bool:
    """Test whether rows of the result of `op` are vectors that channels, if last, would not be."""
    shape, strides = shape_of(op.result), op.strides.get_values()
    return shape is not None and shape[1] < FEW and shape[-1] >= LONG and strides[1] == 1


@dataclass(frozen=True)
class StartAtConvolution(RewritePattern):
    """Give a convolution with constant weights its channels last."""

    moves: Moves

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: convolution.Conv2dOp, rewriter: PatternRewriter, /) -> None:
        if op.data_layout.data != "NCHW" or not is_weight(op.weight) or has_long_rows(op):
            return
        weight = op.weight
        if op.kernel_layout.data == "OIHW":
            move = transposed(weight, (2, 3, 1, 0))
            move.result.name_hint = weight.name_hint
            rewriter.insert(move, InsertPoint.before(op))
            weight = move.result
        layouts = {"data_layout": StringAttr("NHWC"), "kernel_layout": StringAttr("HWIO")}
        data = self.moves.last(op.data, op, rewriter)
        made = convolution.Conv2dOp.on([data, weight], {**op.properties, **layouts})
        replace_with_moved(op, made, rewriter)


def rename_axis(op: Operation, rank: int) -> Properties:
    axis = cast(Int, op.properties["axis"]).value.data
    return {"axis": IntegerAttr(renamed(axis, rank), i64)}


def rename_layout(op: Operation, rank: int) -> Properties | None:
    return {"layout": StringAttr("NHWC")} if op.properties["layout"] == NCHW else None


def rename_padding(op: Operation, rank: int) -> Properties:
    widths = cast(Ints, op.properties["pad_width"]).get_values()
    pairs = [widths[2 * axis : 2 * axis + 2] for axis in last_order(rank)]
    return {"pad_width": ints([width for pair in pairs for width in pair])}


def rename_slices(op: Operation, rank: int) -> Properties:
    assert isinstance(op, rearrange.StridedSliceOp)
    axes = range(len(op.begin)) if op.axes is None else op.axes.get_values()
    return {"axes": ints([renamed(axis, rank) for axis in axes])}


NCHW = StringAttr("NCHW")

RENAMES: Mapping[type[Operation], Rename] = {
    broadcast.BiasAddOp: rename_axis,
    broadcast.PreluOp: rename_axis,
    normalization.LrnOp: rename_axis,
    normalization.SoftmaxOp: rename_axis,
    normalization.LogSoftmaxOp: rename_axis,
    rearrange.SplitOp: rename_axis,
    pooling.MaxPool2dOp: rename_layout,
    pooling.AvgPool2dOp: rename_layout,
    pooling.GlobalAvgPool2dOp: rename_layout,
    pooling.GlobalMaxPool2dOp: rename_layout,
    upsampling.UpsamplingOp: rename_layout,
    rearrange.PadOp: rename_padding,
    rearrange.StridedSliceOp: rename_slices,
}
"""The operators that name axes; operand 0 and the results have channels."""


class FollowData(RewritePattern):
    """Apply an operator with channels first to the same value with channels last."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        rename = RENAMES.get(type(op))
        if rename is None:
            return
        data, rank = moved_from(op.operands[0]), rank_of(op.operands[0])
        if data is None or rank is None:
            return
        properties = rename(op, rank)
        if properties is not None:
            replace_with_moved(op, remade(op, [data, *op.operands[1:]], properties), rewriter)


def remade(op: Operation, operands: Sequence[SSAValue], properties: Properties) -> Operation:
    """Return the operator of `op` on other operands, with some other properties."""
    assert isinstance(op, Operator)
    return type(op).on(operands, {**op.properties, **properties})


@dataclass(frozen=True)
class FollowElementwise(RewritePattern):
    """Apply an operator on elements of equal place, or that broadcasts, with channels last."""

    moves: Moves

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        kind = op.get_trait(Fusible)
        if kind is None or kind.kind > FusionKind.BROADCAST or not isinstance(op, Operator):
            return
        if has_effects(op):
            return
        if len(op.results) != 1 or not op.operands or not names_no_axes(op):
            return
        rank = rank_of(op.results[0])
        ranks = [rank_of(operand) for operand in op.operands]
        if rank is None or None in ranks or max(cast("list[int]", ranks)) != rank:
            return
        if len(op.operands) == 1 and not same_shape(op.operands[0], op.results[0]):
            return
        if not any(r == rank and moved_from(v) for r, v in zip(ranks, op.operands, strict=True)):
            return
        operands = [self.moves.broadcast(o, rank, op, rewriter) for o in op.operands]
        replace_with_moved(op, remade(op, operands, {}), rewriter)


def names_no_axes(op: Operation) -> bool:
    """Test whether no property of `op` depends on the order of dims."""
    return not any(name in ("axis", "axes", "shape", "newshape") for name in op.properties)


def same_shape(value: SSAValue, other: SSAValue) -> bool:
    one, two = as_tensor(value.type), as_tensor(other.type)
    return one is not None and two is not None and one.get_shape() == two.get_shape()


@dataclass(frozen=True)
class FollowJoin(RewritePattern):
    """Concatenate with channels last if the first value that is joined has them there."""

    moves: Moves

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: rearrange.ConcatenateOp, rewriter: PatternRewriter, /) -> None:
        rank = rank_of(op.result)
        if rank is None or not any(moved_from(tensor) for tensor in op.tensors):
            return
        tensors = [self.moves.last(tensor, op, rewriter) for tensor in op.tensors]
        replace_with_moved(op, remade(op, tensors, rename_axis(op, rank)), rewriter)


class FollowReduction(RewritePattern):
    """Reduce the value with channels last; what is left must be in the old order, or movable."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op, reduce.Reduction):
            return
        data, rank = moved_from(op.data), rank_of(op.data)
        if data is None or rank is None:
            return
        given = None if op.axis is None else [axis % rank for axis in op.axis.get_values()]
        axes = list(range(rank)) if given is None else given
        if given is not None and op.exclude.value.data:
            axes = [axis for axis in range(rank) if axis not in given]
        properties: Properties = {
            "axis": ints(sorted(renamed(axis, rank) for axis in axes)),
            "exclude": BoolAttr.from_bool(False),
        }
        if op.keepdims.value.data:
            replace_with_moved(op, remade(op, [data], properties), rewriter)
            return
        left = [axis for axis in last_order(rank) if axis not in axes]
        if left == sorted(left):
            rewriter.replace(op, remade(op, [data], properties))


class FollowTranspose(RewritePattern):
    """Permute channels where they are last; a transposition that moves them there does nothing."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: rearrange.TransposeOp, rewriter: PatternRewriter, /) -> None:
        data, rank = moved_from(op.data), rank_of(op.data)
        if data is None or rank is None or op.axes is None:
            return
        axes = tuple(axis % rank for axis in op.axes.get_values())
        if axes == last_order(rank):
            rewriter.replace(op, [], [data])
            return
        channels, spatial = axes[1:-SPATIAL], axes[-SPATIAL:]
        if axes[0] != 0 or spatial != (rank - 2, rank - 1):
            return
        order = (0, 1, SPATIAL, *(axis + SPATIAL for axis in channels))
        replace_with_moved(op, transposed(data, order), rewriter)


class FollowReshape(RewritePattern):
    """Split or merge channels where they are last; a reshape of one pixel needs no move."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not only_reshapes(op) or len(op.operands) != 1:
            return
        data, before = moved_from(op.operands[0]), shape_of(op.operands[0])
        after = shape_of(op.results[0])
        if data is None or before is None or after is None:
            return
        image, to = before[-SPATIAL:], after[-SPATIAL:]
        if prod(image) == 1:
            rewriter.replace(op, reshaped(data, after))
        elif len(after) >= 2 + SPATIAL and (before[0], image) == (after[0], to):
            channels = after[1:-SPATIAL]
            replace_with_moved(op, reshaped(data, (after[0], *image, *channels)), rewriter)


class FollowFlattening(RewritePattern):
    """Let the weights of a dense layer on flattened images have their channels last."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matmul.DenseOp, rewriter: PatternRewriter, /) -> None:
        flat = op.operands[0].owner
        if not isinstance(flat, Operation) or not is_weight(op.operands[1]):
            return
        if not only_reshapes(flat):
            return
        data, image = moved_from(flat.operands[0]), shape_of(flat.operands[0])
        weights, rows = shape_of(op.operands[1]), shape_of(flat.results[0])
        if data is None or image is None or weights is None or rows is None or len(image) != 4:
            return
        if rows != (image[0], prod(image[1:])):
            return
        images = reshaped(op.operands[1], (weights[0], *image[1:]))
        moved = transposed(images.result, last_order(4))
        matrix = reshaped(moved.result, weights)
        flattened = reshaped(data, rows)
        made = remade(op, [flattened.result, matrix.result, *op.operands[2:]], {})
        rewriter.replace(op, [images, moved, matrix, flattened, made])


class PropagateLayoutPass(LevelPass):
    """Put the channels of images last."""

    name = "propagate-layout"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        moves = Moves()
        changed = apply_patterns(
            op,
            StartAtConvolution(moves),
            FollowData(),
            FollowJoin(moves),
            FollowReduction(),
            FollowTranspose(),
            FollowReshape(),
            FollowFlattening(),
            FollowElementwise(moves),
        )
        if changed:
            erase_unused(
                o for o in walk(op) if isinstance(o, rearrange.TransposeOp) or only_reshapes(o)
            )
