"""Weights with their elements rearranged, for passes that change how weights are stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects import relay
from ...dialects.relay import rearrange, reshape
from ...dialects.relay.properties import ints
from ...dialects.tensors import as_tensor


def is_weight(value: SSAValue) -> bool:
    """Test whether `value` is a constant or a weight, possibly with its elements rearranged."""
    owner = value.owner
    while isinstance(owner, rearrange.TransposeOp | reshape.ReshapeOp) and len(owner.operands) == 1:
        owner = owner.operands[0].owner
    return isinstance(owner, relay.ConstantOp | relay.ParamOp)


def rank_of(value: SSAValue) -> int | None:
    """Return the rank of a tensor; None for another value."""
    type = as_tensor(value.type)
    return None if type is None else type.get_num_dims()


def transposed(value: SSAValue, axes: Sequence[int]) -> rearrange.TransposeOp:
    """Return an op that permutes the dims of `value`."""
    return rearrange.TransposeOp.on([value], {"axes": ints(axes)})


def reshaped(value: SSAValue, shape: Sequence[int]) -> reshape.ReshapeOp:
    """Return an op that gives `value` another shape, which is known."""
    zero = BoolAttr.from_bool(0 in shape)
    return reshape.ReshapeOp.on([value], {"newshape": ints(shape), "allowzero": zero})


@dataclass(frozen=True)
class RearrangedWeights:
    """Weights that were rearranged in one way, each once."""

    rearrange: Callable[[SSAValue], Sequence[Operation]]
    """Returns the ops that rearrange a weight; the result of the last is the new one."""
    params: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})

    def of(self, weight: SSAValue, rewriter: PatternRewriter) -> SSAValue:
        """Return `weight` rearranged, by ops right after it."""
        if weight not in self.params:
            assert isinstance(weight.owner, Operation), "weights are results of ops"
            ops = self.rearrange(weight)
            (rearranged,) = ops[-1].results
            rearranged.name_hint = weight.name_hint
            rewriter.insert(ops, InsertPoint.after(weight.owner))
            self.params[weight] = rearranged
        return self.params[weight]
