"""
Compute convolutions and pools over lines as those over images of one row.

    %c = relay.nn.conv1d %x, %w             %i = relay.expand_dims %x                 1x3x1x8
      {padding = array<i64: 1, 1>}          %f = relay.expand_dims %w                16x3x1x3
    %y = relay.nn.relu %c             ->    %c = relay.nn.conv2d %i, %f
                                              {padding = array<i64: 0, 1, 0, 1>}     1x16x1x8
                                            %r = relay.nn.relu %c                    1x16x1x8
                                            %y = relay.squeeze %r                      1x16x8

So what is known of images holds: their layout, channels last, panels, tiles. Elementwise operators
after them are on images, too, and fuse with them; the row is dropped where another operator reads
lines. After `simplify-inference`, which finds the batch norm after a convolution; before
`expand-transposed-convolutions`. Level: `relay`.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.attributes import Plain, plain_attributes
from ..dialects.interfaces import ReadsElementwise
from ..dialects.relay import convolution, pooling
from ..dialects.relay.operator import Operator
from ..dialects.tensors import as_tensor, is_static, tensor_of
from .support.changes import LevelPass
from .support.operator_steps import OperatorSteps, rank_of, reshaped
from .support.rewriting import apply_patterns, erase_unused, op_trait_rewrite_pattern

LAYOUTS = {"NCW": "NCHW", "NWC": "NHWC", "OIW": "OIHW", "WIO": "HWIO", "IOW": "IOHW"}
"""The layout of images, and of filters, for each of lines."""

LAYOUT_NAMES = ("layout", "data_layout", "kernel_layout")
"""Of the operands of an operator, in their order."""

RANK = 3
"""That of lines."""

OverLines = (
    convolution.Conv1dOp | convolution.Conv1dTransposeOp | pooling.MaxPool1dOp | pooling.AvgPool1dOp
)


def of_images(name: str, attribute: Plain) -> Plain:
    """Return an attribute of an operator over lines as that of one over images."""
    match attribute:
        case str():
            return LAYOUTS.get(attribute, attribute)
        case tuple():
            of_row = 0 if name.endswith("padding") else 1
            return tuple(n for number in attribute for n in (of_row, number))
        case _:
            return attribute


@dataclass
class Rows:
    """The lines that are images without their row."""

    axes: dict[SSAValue, int] = field(default_factory=lambda: {})
    """The axis of the row, by the lines."""

    def added(self, steps: OperatorSteps, lines: SSAValue, axis: int) -> SSAValue:
        """Append images of one row that are `lines`, if there are none yet."""
        owner, type = lines.owner, tensor_of(lines)
        if self.axes.get(lines) == axis and isinstance(owner, Operation):
            return owner.operands[0]
        if not is_static(type):
            return steps.apply("expand_dims", lines, axis=axis)
        return steps.add(reshaped(lines, (*type.get_shape()[:axis], 1, *type.get_shape()[axis:])))

    def drop(
        self, op: Operation, y: SSAValue, axis: int, steps: OperatorSteps, rewriter: PatternRewriter
    ) -> None:
        """Replace `op` by `y`, the result of `steps` on images, without its row."""
        result = tensor_of(op.results[0])
        y.name_hint = op.results[0].name_hint
        if is_static(result):
            lines = steps.add(reshaped(y, result.get_shape()))
        else:
            lines = steps.apply("squeeze", y, axis=(axis,))
        if lines.type == op.results[0].type:
            self.axes[lines] = axis
            steps.replace(op, [lines], rewriter)


@dataclass
class ExpandLines(RewritePattern):
    """Compute over images of one row."""

    rows: Rows

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: OverLines, rewriter: PatternRewriter, /) -> None:
        attributes, steps = plain_attributes(op), OperatorSteps()
        if not all(as_tensor(value.type) for value in (*op.operands, op.result)):
            return
        if isinstance(op, convolution.Conv1dTransposeOp) and "out_dtype" in attributes:
            return
        layouts = [str(attributes[name]) for name in LAYOUT_NAMES if name in attributes]
        axes = [layout.index("W") for layout in layouts]
        pairs = zip(op.operands, axes, strict=True)
        images = [self.rows.added(steps, lines, axis) for lines, axis in pairs]
        changed = {name: of_images(name, value) for name, value in attributes.items()}
        y = steps.apply(op.name.removeprefix("relay.").replace("1d", "2d"), *images, **changed)
        self.rows.drop(op, y, axes[0], steps, rewriter)


@dataclass
class KeepRows(RewritePattern):
    """Compute elements of images where lines are images without their row."""

    rows: Rows

    @op_trait_rewrite_pattern(ReadsElementwise)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        axes = {self.rows.axes[value] for value in op.operands if value in self.rows.axes}
        has_shape = any(isinstance(value, DenseArrayBase) for value in op.properties.values())
        if not isinstance(op, Operator) or has_shape or len(axes) != 1:
            return
        if rank_of(op.results[0]) != RANK:
            return
        (axis,), steps, properties = axes, OperatorSteps(), dict(op.properties)
        if isinstance(along := properties.get("axis"), IntegerAttr):
            place = along.value.data % RANK
            properties["axis"] = IntegerAttr(place + (place >= axis), i64)
            images = [self.rows.added(steps, op.operands[0], axis), *op.operands[1:]]
        else:
            missing = [RANK - (rank_of(operand) or 0) for operand in op.operands]
            images = [
                self.rows.added(steps, operand, axis - n) if axis > n else operand
                for operand, n in zip(op.operands, missing, strict=True)
            ]
        y = steps.add(type(op).on(images, properties))
        self.rows.drop(op, y, axis, steps, rewriter)


class ExpandLinesPass(LevelPass):
    """Compute convolutions and pools over lines as those over images of one row."""

    name = "expand-lines"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rows = Rows()
        apply_patterns(op, ExpandLines(rows), KeepRows(rows))
        erase_unused(lines.owner for lines in rows.axes if isinstance(lines.owner, Operation))
