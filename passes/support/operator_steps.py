"""
Operators that are to replace an op, each with the type that it infers.

    steps = OperatorSteps()
    doubled = steps.apply("multiply", x, steps.numbers(2, "float32"))
    steps.replace(op, [doubled], rewriter)

and weights with their elements rearranged, for passes that change how weights are stored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects import relay
from ...dialects.attributes import ELEMENT_TYPES, plain_attributes, properties_of
from ...dialects.device import tensor_type
from ...dialects.relay import rearrange, reshape
from ...dialects.relay.incomplete import refine
from ...dialects.relay.properties import ints
from ...dialects.tensors import as_tensor, dtype_name, tensor_of
from ...dialects.type_rules import operand_of
from ...dialects.xdsl_extras.xdsl_internals import set_type
from ...operators.all_rules import MEANINGS
from ...operators.meaning.forms import Composed
from ...operators.signature import Tensor
from ..analysis.arrays import Array, dense_of


def tensor_rank(value: SSAValue) -> int:
    return tensor_of(value).get_num_dims()


def dtype_of(value: SSAValue) -> str:
    """Return the element type of a tensor of numbers, as NumPy names it."""
    name = dtype_name(tensor_of(value).element_type)
    assert name is not None, "verified: numbers"
    return name


@dataclass
class OperatorSteps:
    """Operators of one result, in order."""

    ops: list[Operation] = field(default_factory=lambda: [])

    def add(self, op: Operation) -> SSAValue:
        """Append `op`, and return its result."""
        self.ops.append(op)
        return op.results[0]

    def replace(
        self, op: Operation, results: Sequence[SSAValue], rewriter: PatternRewriter
    ) -> None:
        """
        Replace `op` by the operators, of which the first result gets its name.

        Each infers its type from its own operands: dims that only `op` knew are declared again.
        """
        results[0].name_hint = op.results[0].name_hint
        for result, former in zip(results, op.results, strict=True):
            type = refine(former.type, result.type)
            if type is not None and result.owner in self.ops:
                set_type(result, type)
        rewriter.insert(self.ops, InsertPoint.before(op))
        rewriter.replace(op, [], results)

    def apply(self, name: str, *operands: SSAValue | float, **attributes: Any) -> SSAValue:
        """
        Append an operator, by its name without `relay.`, with attributes as plain values.

        A number is a scalar of the element type of the first operand.
        """
        kind, first = relay.BY_NAME[name], operands[0]
        assert isinstance(first, SSAValue), "the first operand is a tensor"
        values = [
            x if isinstance(x, SSAValue) else self.numbers(x, dtype_of(first)) for x in operands
        ]
        return self.add(kind.on(values, properties_of(kind, attributes)))

    __call__ = apply

    def tensor(self, operand: SSAValue) -> Tensor:
        """Return the element type and dims of an operand of a formula, as `Apply` does."""
        tensor = operand_of(operand.type)
        assert isinstance(tensor, Tensor), "operands of operators are tensors"
        return tensor

    def replace_by_meaning(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace `op` by the operators of which it is composed."""
        meaning = MEANINGS[op.name]
        assert isinstance(meaning, Composed), f"{op.name} is not composed of operators"
        results = meaning.results(self, op.operands, plain_attributes(op))
        self.replace(op, results, rewriter)

    def numbers(self, values: float | Array, dtype: str) -> SSAValue:
        """Append a constant; a number is of rank 0."""
        array = np.asarray(values, dtype)
        type = tensor_type(ELEMENT_TYPES[dtype], array.shape)
        return self.add(relay.ConstantOp(dense_of(array, type)))

    def cast(self, x: SSAValue, dtype: str) -> SSAValue:
        """Convert the elements of `x`, unless they are of `dtype`."""
        return x if dtype_of(x) == dtype else self.apply("cast", x, dtype=dtype)

    def along(self, x: SSAValue, axis: int, rank: int) -> SSAValue:
        """Append dims to a vector, so that it broadcasts along `axis`; a scalar is as it is."""
        if not tensor_rank(x):
            return x
        if not rank:
            return self.apply("reshape", x, newshape=())
        after = rank - 1 - axis % rank
        return self.apply("expand_dims", x, axis=1, num_newaxis=after) if after else x


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

    rearrange: Callable[[OperatorSteps, SSAValue], SSAValue]
    """Returns a weight rearranged by operators that it appends."""
    params: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})

    def of(self, weight: SSAValue, rewriter: PatternRewriter) -> SSAValue:
        """Return `weight` rearranged, by ops right after it."""
        if weight not in self.params:
            assert isinstance(weight.owner, Operation), "weights are results of ops"
            steps = OperatorSteps()
            self.params[weight] = rearranged = self.rearrange(steps, weight)
            rearranged.name_hint = weight.name_hint
            rewriter.insert(steps.ops, InsertPoint.after(weight.owner))
        return self.params[weight]
