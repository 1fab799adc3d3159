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
operand is already is removed, as is a slice of all elements. `fold-constants` computes what is
constant afterwards. (TVM: SimplifyInference, FoldScaleAxis.) Level: `relay`.
"""

from dataclasses import dataclass
from types import UnionType

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from ..dialects.relay import convolution, elementwise, matmul, normalization, rearrange, reshape
from ..dialects.tensors import Tensor, as_tensor, tensor_of
from ..operators.normalization import Normalized, scale_and_shift
from .support.changes import ReportingPass
from .support.operator_steps import OperatorSteps
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
        case convolution.Conv1dOp() | convolution.Conv2dOp() | convolution.Conv3dOp():
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
        steps, rank = OperatorSteps(), type.get_num_dims()
        axis = axis_of(op.axis.value.data, rank)
        norm = Normalized(
            axis, op.epsilon.value.data, bool(op.center.value.data), bool(op.scale.value.data)
        )
        scale, shift = scale_and_shift(steps, norm, *op.operands[1:])
        scale.name_hint, shift.name_hint = "scale", "shift"
        layer = scalable_layer(op, self.known)
        if layer is None:
            scaled = steps.apply("multiply", op.data, steps.along(scale, axis, rank))
        else:
            scaled = scaled_layer(*layer, scale, steps)
        result = steps.apply("add", scaled, steps.along(shift, axis, rank))
        steps.replace(op, [result, op.moving_mean, op.moving_var], rewriter)
        if layer is not None:
            rewriter.erase(layer[0])


def scaled_layer(layer: Operation, axis: int, scale: SSAValue, steps: OperatorSteps) -> SSAValue:
    """Append `layer` with its weights multiplied by `scale` along `axis`."""
    data, weights = layer.operands
    factors = steps.along(scale, axis, tensor_of(weights).get_num_dims())
    scaled = steps.apply("multiply", weights, factors)
    return steps.add(
        layer.create(
            operands=[data, scaled],
            result_types=layer.result_types,
            properties=layer.properties,
            attributes=layer.attributes,
            location=layer.location,
        )
    )


class UnpackLayerNorm(RewritePattern):
    """Replace a layer norm by reductions and arithmetic."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: normalization.LayerNormOp, rewriter: PatternRewriter, /
    ) -> None:
        if wide_floats(op) is not None:
            OperatorSteps().replace_by_meaning(op, rewriter)


CANONICALIZATIONS = (
    *rearrange.TransposeOp.get_canonicalization_patterns(),
    *rearrange.StridedSliceOp.get_canonicalization_patterns(),
    *reshape.Reshaping.get_canonicalization_patterns(),
    *elementwise.CastOp.get_canonicalization_patterns(),
)


@dataclass(frozen=True)
class SimplifyInferencePass(ReportingPass):
    """Replace normalizations by arithmetic, and remove operators that do nothing."""

    name = "simplify-inference"
    accepts = "relay"

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
