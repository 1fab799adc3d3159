"""
Replace normalizations by arithmetic that fuses with its neighbours, and remove operators that do
nothing.

    %y, %m, %v = relay.nn.batch_norm %x, %gamma, %beta, %mean, %var
    ->
    %scale = gamma / sqrt(var + epsilon)
    %shift = beta - mean * scale
    %y = %x * %scale + %shift               %m = %mean, %v = %var

The scale of a batch norm right after a convolution or dense layer of constant weights, all
statistics constant, is multiplied into the weights. Weights in a side file (`relay.param`) have no
value at compile time: after these the multiplication stays, and fuses with the layer. With
`scale-weights`, it is multiplied into these, too, for `fold-weights` to compute when they are read.

With `layer-norm`, a layer norm is replaced, too; by default it stays one kernel. Float types
narrower than 32 bits stay: the kernels of normalizations compute in f32. A reshape of a reshape is
one reshape, two transpositions are one or none, and a cast, reshape or transposition to what its
operand is already is removed. `fold-constants` computes what is constant afterwards. (TVM:
SimplifyInference, FoldScaleAxis.) Level: `relay`.
"""

from dataclasses import dataclass
from types import UnionType
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BoolAttr,
    Float32Type,
    Float64Type,
    IntegerAttr,
    ModuleOp,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.dense import scalar
from ..dialects.relay import (
    broadcast,
    convolution,
    elementwise,
    matmul,
    normalization,
    rearrange,
    reduce,
    reshape,
)
from ..dialects.relay.operator import Operator
from ..dialects.relay.properties import ints
from ..dialects.tensors import Tensor, as_tensor, dtype_name
from .support.changes import ReportingPass
from .support.levels import Level
from .support.rewriting import apply_patterns


def wide_float(value: SSAValue) -> Tensor | None:
    """Return the type of `value` if it is a tensor of f32 or f64."""
    type = as_tensor(value.type)
    if type is None or not isinstance(type.element_type, Float32Type | Float64Type):
        return None
    return type


def wide_floats(op: Operation) -> Tensor | None:
    """Return the type of operand 0 if all operands are tensors of wide floats."""
    types = [wide_float(operand) for operand in op.operands]
    return types[0] if all(types) else None


def axis_of(axis: int, rank: int) -> int:
    """Return `axis`, which may count from the end, as an index."""
    return axis + rank if axis < 0 else axis


def output_channels(op: Operation) -> tuple[int, int] | None:
    """
    Return the axes of the output channels in the result and in the weights (operand 1) of `op`.

    None if scaling the weights along the latter does not scale the result along the former.
    """
    match op:
        case matmul.DenseOp():
            type = as_tensor(op.result.type)
            return None if type is None else (type.get_num_dims() - 1, 0)
        case convolution.Conv2dOp():
            data, kernel = op.data_layout.data, op.kernel_layout.data
            return data.find("C"), kernel.find("O")
        case _:
            return None


def scalable_layer(
    op: normalization.BatchNormOp, known: type[Operation] | UnionType
) -> tuple[Operation, int] | None:
    """
    Return the layer before `op` whose weights can take its scale, and their axis.

    Its result has no other use; ops of the kinds `known` make the weights and statistics.
    """
    layer = op.data.owner
    if not isinstance(layer, Operation) or not op.data.has_one_use():
        return None
    channels, type = output_channels(layer), wide_float(op.data)
    if channels is None or type is None or layer.parent is not op.parent:
        return None
    weights = layer.operands[1]
    if channels[0] != axis_of(op.axis.value.data, type.get_num_dims()):
        return None
    same = wide_float(weights)
    factors = (weights, op.moving_var, *((op.gamma,) if op.scale.value.data else ()))
    if same is None or same.element_type != type.element_type:
        return None
    if not all(isinstance(factor.owner, known) for factor in factors):
        return None
    return layer, channels[1]


@dataclass(frozen=True)
class Arithmetic:
    """Inserts operators before `op`, each with the type that it infers."""

    op: Operation
    rewriter: PatternRewriter

    def apply(self, kind: type[Operator], *operands: SSAValue, **properties: Attribute) -> OpResult:
        """Insert an operator and return its result."""
        made = kind.on(operands, properties)
        self.rewriter.insert(made, InsertPoint.before(self.op))
        return made.results[0]

    def scalar(self, value: float, like: Tensor) -> SSAValue:
        """Insert a constant of rank 0."""
        dtype = dtype_name(like.element_type)
        constant = None if dtype is None else scalar(value, dtype)
        assert constant is not None, "a wide float has a dtype"
        made = relay.ConstantOp(constant)
        self.rewriter.insert(made, InsertPoint.before(self.op))
        return made.result

    def along(self, vector: SSAValue, axis: int, rank: int) -> SSAValue:
        """Insert dims after the one of `vector`, so that it broadcasts along `axis`."""
        behind = rank - 1 - axis
        if not behind:
            return vector
        count = IntegerAttr(behind, i64)
        return self.apply(reshape.ExpandDimsOp, vector, axis=IntegerAttr(1, i64), num_newaxis=count)

    def inverse_deviation(self, variance: SSAValue, epsilon: float) -> OpResult:
        """Insert 1 / sqrt(variance + epsilon)."""
        type = as_tensor(variance.type)
        assert type is not None
        return self.apply(
            elementwise.RsqrtOp, self.apply(broadcast.AddOp, variance, self.scalar(epsilon, type))
        )


@dataclass(frozen=True)
class UnpackBatchNorm(RewritePattern):
    """Replace a batch norm by a multiplication and an addition."""

    known: type[Operation] | UnionType = relay.ConstantOp
    """The ops of weights and statistics that are multiplied before the program runs."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: normalization.BatchNormOp, rewriter: PatternRewriter, /
    ) -> None:
        type = wide_floats(op)
        if type is None:
            return
        build, rank = Arithmetic(op, rewriter), type.get_num_dims()
        axis = axis_of(op.axis.value.data, rank)
        scale: SSAValue = build.inverse_deviation(op.moving_var, op.epsilon.value.data)
        if op.scale.value.data:
            scale = build.apply(broadcast.MultiplyOp, scale, op.gamma)
        scale.name_hint = "scale"
        shift = build.apply(broadcast.MultiplyOp, op.moving_mean, scale)
        if op.center.value.data:
            shift = build.apply(broadcast.SubtractOp, op.beta, shift)
        else:
            shift = build.apply(elementwise.NegativeOp, shift)
        shift.name_hint = "shift"
        layer = scalable_layer(op, self.known)
        if layer is None:
            scaled = build.apply(broadcast.MultiplyOp, op.data, build.along(scale, axis, rank))
        else:
            scaled = scaled_layer(*layer, scale, build)
        result = build.apply(broadcast.AddOp, scaled, build.along(shift, axis, rank))
        result.name_hint = op.result.name_hint
        rewriter.replace(op, [], [result, op.moving_mean, op.moving_var])
        if layer is not None:
            rewriter.erase(layer[0])


def scaled_layer(layer: Operation, axis: int, scale: SSAValue, build: Arithmetic) -> SSAValue:
    """Insert `layer` with its weights multiplied by `scale` along `axis`."""
    data, weights = layer.operands
    type = as_tensor(weights.type)
    assert type is not None
    factors = build.along(scale, axis, type.get_num_dims())
    scaled = build.apply(broadcast.MultiplyOp, weights, factors)
    made = layer.create(
        operands=[data, scaled],
        result_types=layer.result_types,
        properties=layer.properties,
        attributes=layer.attributes,
        location=layer.location,
    )
    build.rewriter.insert(made, InsertPoint.before(build.op))
    return made.results[0]


class UnpackLayerNorm(RewritePattern):
    """Replace a layer norm by reductions and arithmetic."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: normalization.LayerNormOp, rewriter: PatternRewriter, /
    ) -> None:
        type = wide_floats(op)
        if type is None:
            return
        build, rank = Arithmetic(op, rewriter), type.get_num_dims()
        axis = axis_of(op.axis.value.data, rank)

        def mean(value: SSAValue) -> SSAValue:
            keep = BoolAttr.from_bool(True)
            return build.apply(reduce.MeanOp, value, axis=ints((axis,)), keepdims=keep)

        centered = build.apply(broadcast.SubtractOp, op.data, mean(op.data))
        variance = mean(build.apply(broadcast.MultiplyOp, centered, centered))
        factor = build.inverse_deviation(variance, op.epsilon.value.data)
        result = build.apply(broadcast.MultiplyOp, centered, factor)
        if op.scale.value.data:
            gamma = build.along(op.gamma, axis, rank)
            result = build.apply(broadcast.MultiplyOp, result, gamma)
        if op.center.value.data:
            result = build.apply(broadcast.AddOp, result, build.along(op.beta, axis, rank))
        result.name_hint = op.result.name_hint
        rewriter.replace(op, [], [result])


CANONICALIZATIONS = (
    *rearrange.TransposeOp.get_canonicalization_patterns(),
    *reshape.Reshaping.get_canonicalization_patterns(),
    *elementwise.CastOp.get_canonicalization_patterns(),
)


@dataclass(frozen=True)
class SimplifyInferencePass(ReportingPass):
    """Replace normalizations by arithmetic, and remove operators that do nothing."""

    name = "simplify-inference"
    accepts: ClassVar[Level] = "relay"

    layer_norm: bool = False
    """Replace layer norms, too."""

    scale_weights: bool = False
    """Multiply weights in a side file by scales, too."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        known = relay.ConstantOp | relay.ParamOp if self.scale_weights else relay.ConstantOp
        return apply_patterns(
            op,
            UnpackBatchNorm(known),
            *([UnpackLayerNorm()] if self.layer_norm else []),
            *CANONICALIZATIONS,
        )
