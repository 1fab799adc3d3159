"""
Compute operators on narrow element types in wide ones, and round their results.

                                                        %a = relay.cast %x {dtype = f32}
    %z = relay.add %x, %y : (tensor<4xbf16>, …)   ->    %b = relay.cast %y {dtype = f32}
                                                        %c = relay.add %a, %b : (tensor<4xf32>, …)
                                                        %z = relay.cast %c {dtype = bf16}

Narrow are bf16 and floats of 8 and 4 bits, which are computed with in f32, and integers of 4 and 2
bits, in i8 or ui8. No kernel computes with them then: tensors of them are stored, moved, reshaped,
and converted from and to the wide type, which is exact in one direction. (TVM: BF16ComputeLegalize,
which also rounds each sum of a contraction.) Other conversions go through the wide type; floats are
limited to the integers of a narrow one. Level: `relay`.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, FloatAttr, IntegerType, ModuleOp, f64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.attributes import ELEMENT_TYPES
from ..dialects.device import device_of, tensor_type
from ..dialects.interfaces import ReadsOnlySizes
from ..dialects.relay.operator import Operator, RelayOperator
from ..dialects.tensors import as_tensor, dtype_name
from ..dialects.xdsl_extras.identity import by_identity
from ..dialects.xdsl_extras.walking import walk
from ..dialects.xdsl_extras.xdsl_internals import operands_of
from ..operators.element_types import ELEMENT_TABLE, ElementKind, wide_dtype
from ..operators.meaning.forms import MEANINGS, SameOrder
from ..operators.signature import ALL_ELEMENTS
from .support.changes import ReportingPass
from .support.rewriting import apply_patterns


@by_identity
def narrow_element(type: Attribute) -> Attribute | None:
    """Return the element type of a tensor whose elements are only stored; None for any other."""
    tensor = as_tensor(type)
    return None if tensor is None or wide(tensor.element_type) is None else tensor.element_type


def wide(element: Attribute) -> Attribute | None:
    """Return the type to compute in for elements of a narrow type; None for any other type."""
    name = None if type(element) is Float32Type else dtype_name(element)
    if name is None or name not in ELEMENT_TABLE or wide_dtype(name) == name:
        return None
    return ELEMENT_TYPES[wide_dtype(name)]


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """Return a tensor type with other elements."""
    tensor = as_tensor(type)
    assert tensor is not None, "a tensor of narrow elements"
    return tensor_type(element, list(tensor.get_shape()), device_of(tensor))


def cast(value: SSAValue, element: Attribute) -> Operator:
    return relay.BY_NAME["cast"].create(
        operands=[value],
        properties={"dtype": element},
        result_types=[with_element(value.type, element)],
    )


def limited(value: SSAValue, narrow: Attribute) -> Operator | None:
    """Return the operator that limits floats to the integers of a narrow type."""
    tensor, element = as_tensor(value.type), ALL_ELEMENTS[dtype_name(narrow) or ""]
    if element.kind is ElementKind.FLOAT or tensor is None:
        return None
    if isinstance(tensor.element_type, IntegerType):
        return None
    low, high = element.integers
    return relay.BY_NAME["clip"].create(
        operands=[value],
        properties={"a_min": FloatAttr(float(low), f64), "a_max": FloatAttr(float(high), f64)},
        result_types=[value.type],
    )


def stays(op: RelayOperator) -> bool:
    """Test whether an operator only converts from or to the wide type, or moves no element."""
    if op.name == "relay.cast":
        source, target = (as_tensor(type) for type in (op.operand_types[0], op.result_types[0]))
        if source is None or target is None:
            return False
        a, b = source.element_type, target.element_type
        return wide(a) == b or wide(b) == a
    is_same = isinstance(MEANINGS.get(op.name), SameOrder) or op.name == "relay.reinterpret"
    return is_same or op.has_trait(ReadsOnlySizes)


def with_casts(
    values: Sequence[SSAValue], to: Sequence[Attribute | None]
) -> tuple[list[SSAValue], list[Operator]]:
    """Return the values, those with a type cast to it, and the casts."""
    pairs = zip(values, to, strict=True)
    casts = [None if element is None else cast(v, element) for v, element in pairs]
    results = [v if c is None else c.results[0] for v, c in zip(values, casts, strict=True)]
    return results, [c for c in casts if c is not None]


class WidenOperator(RewritePattern):
    """Compute an operator on tensors of narrow elements in wide ones."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        ins, outs = ([narrow_element(v.type) for v in part] for part in (op.operands, op.results))
        if not any((*ins, *outs)) or not isinstance(op, RelayOperator) or stays(op):
            return
        operands, before = with_casts(op.operands, [e and wide(e) for e in ins])
        if op.name == "relay.cast" and outs[0] is not None:
            clip = limited(operands[0], outs[0])
            if clip is not None:
                operands, before = [*clip.results], [*before, clip]
        computed = type(op).create(
            operands=operands,
            properties={k: wide(v) or v for k, v in op.properties.items()},
            attributes=op.attributes,
            result_types=[
                type if element is None else with_element(type, wide(element) or element)
                for type, element in zip(op.result_types, outs, strict=True)
            ],
        )
        results, after = with_casts(computed.results, outs)
        rewriter.insert([*before, computed, *after], InsertPoint.before(op))
        rewriter.replace(op, [], results)


class WidenNarrowTypesPass(ReportingPass):
    name = "widen-narrow-types"
    accepts = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        only = [
            inside
            for inside in walk(op)
            if any(narrow_element(v.type) for v in (*operands_of(inside), *inside.results))
        ]
        return apply_patterns(op, WidenOperator(), only=only)
