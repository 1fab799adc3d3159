"""Weights with their elements rearranged, for passes that change how weights are stored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects import relay
from ...dialects.relay import rearrange, reshape


def is_weight(value: SSAValue) -> bool:
    """Test whether `value` is a constant or a weight, possibly with its elements rearranged."""
    owner = value.owner
    while isinstance(owner, rearrange.TransposeOp | reshape.ReshapeOp) and len(owner.operands) == 1:
        owner = owner.operands[0].owner
    return isinstance(owner, relay.ConstantOp | relay.ParamOp)


@dataclass(frozen=True)
class RearrangedWeights:
    """Weights that were rearranged in one way, each once."""

    rearrange: Callable[[SSAValue], Sequence[Operation]]
    """Returns the ops that rearrange a weight; the result of the last is the new one."""
    found: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def of(self, weight: SSAValue, rewriter: PatternRewriter) -> SSAValue:
        """Return `weight` rearranged, by ops right after it."""
        if weight not in self.found:
            assert isinstance(weight.owner, Operation), "weights are results of ops"
            ops = self.rearrange(weight)
            (rearranged,) = ops[-1].results
            rearranged.name_hint = weight.name_hint
            rewriter.insert(ops, InsertPoint.after(weight.owner))
            self.found[weight] = rearranged
        return self.found[weight]
