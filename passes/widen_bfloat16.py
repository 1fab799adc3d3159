"""
Compute operators on bf16 in f32, and round their results.

                                                        %a = relay.cast %x {dtype = f32}
    %z = relay.add %x, %y : (tensor<4xbf16>, …)   ->    %b = relay.cast %y {dtype = f32}
                                                        %c = relay.add %a, %b : (tensor<4xf32>, …)
                                                        %z = relay.cast %c {dtype = bf16}

No kernel computes with bf16 then: tensors of it are stored, moved, reshaped, and converted from and
to f32, which is exact in one direction. (TVM: BF16ComputeLegalize, which also rounds each sum of a
contraction.) Conversions between bf16 and other types go through f32. Level: `relay`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, Float32Type, ModuleOp, bf16, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.device import device_of, tensor_type
from ..dialects.interfaces import ReadsOnlySizes
from ..dialects.relay.operator import Operator, RelayOperator
from ..dialects.tensors import as_tensor
from ..operators.meaning.forms import MEANINGS, SameOrder
from .support.changes import ReportingPass
from .support.levels import Level
from .support.rewriting import apply_patterns

Values: TypeAlias = tuple[list[SSAValue], list[Operator]]
"""Values, and the casts that make some of them."""


def is_bfloat16(type: Attribute) -> bool:
    tensor = as_tensor(type)
    return tensor is not None and isinstance(tensor.element_type, BFloat16Type)


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """Return a tensor type with other elements."""
    tensor = as_tensor(type)
    assert tensor is not None, "a tensor of bf16"
    return tensor_type(element, list(tensor.get_shape()), device_of(tensor))


def cast(value: SSAValue, element: Attribute) -> Operator:
    return relay.BY_NAME["cast"].create(
        operands=[value],
        properties={"dtype": element},
        result_types=[with_element(value.type, element)],
    )


def stays(op: RelayOperator) -> bool:
    """Test whether an operator on bf16 only converts from or to f32, or moves no element."""
    if op.name == "relay.cast":
        types = [as_tensor(type) for type in (op.operand_types[0], op.result_types[0])]
        return any(t is not None and isinstance(t.element_type, Float32Type) for t in types)
    return isinstance(MEANINGS.get(op.name), SameOrder) or op.has_trait(ReadsOnlySizes)


def with_casts(values: Sequence[SSAValue], narrow: Sequence[bool], to: Attribute) -> Values:
    """Return the values, the narrow ones cast, and the casts."""
    casts = [
        cast(v, to) if is_narrow else None for v, is_narrow in zip(values, narrow, strict=True)
    ]
    widened = [v if c is None else c.results[0] for v, c in zip(values, casts, strict=True)]
    return widened, [c for c in casts if c is not None]


class WidenOperator(RewritePattern):
    """Compute an operator on tensors of bf16 in f32."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        ins, outs = ([is_bfloat16(v.type) for v in part] for part in (op.operands, op.results))
        if not any((*ins, *outs)) or not isinstance(op, RelayOperator) or stays(op):
            return
        operands, before = with_casts(op.operands, ins, f32)
        wide = type(op).create(
            operands=operands,
            properties={k: f32 if v == bf16 else v for k, v in op.properties.items()},
            attributes=op.attributes,
            result_types=[
                with_element(type, f32) if is_narrow else type
                for type, is_narrow in zip(op.result_types, outs, strict=True)
            ],
        )
        results, after = with_casts(wide.results, outs, bf16)
        rewriter.insert([*before, wide, *after], InsertPoint.before(op))
        rewriter.replace(op, [], results)


@dataclass(frozen=True)
class WidenBfloat16Pass(ReportingPass):
    """Compute operators on bf16 in f32, and round their results."""

    name = "widen-bfloat16"
    accepts: ClassVar[Level] = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        return apply_patterns(op, WidenOperator())
