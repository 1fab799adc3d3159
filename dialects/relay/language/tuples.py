"""Tuples of values, of the builtin tuple type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import I64, IntegerAttr, TupleType, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...interfaces import (
    Equation,
    Fresh,
    InferTypes,
    Lookup,
    ResultAliases,
    SameDevice,
    TypeEquations,
)
from ...type_algebra import tuple_of
from ...xdsl_extras.formats import FunctionTypeOf
from ...xdsl_extras.trait_patterns import Patterns, erase_if_unused
from ..incomplete import IncompleteType
from ..operator import refined_result_types


def _tuple_of_operands(op: Operation) -> Sequence[Attribute]:
    return (tuple_of([v.type for v in op.operands]),)


def _tuple_equations(op: TupleOp, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    yield Equation(op.result.type, tuple_of([v.type for v in op.fields]), "the tuple")


def _field_equations(op: TupleGetItemOp, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    type, index = op.tuple.type, op.index.value.data
    if isinstance(type, TupleType) and index < len(type.types):
        yield Equation(type.types.data[index], op.result.type, f"field {index}")


def _field_type(op: TupleGetItemOp) -> Sequence[Attribute]:
    type = op.tuple.type
    if not isinstance(type, TupleType):
        raise VerifyException(f"the operand must be a tuple, but is {type}")
    index, size = op.index.value.data, len(type.types)
    if not 0 <= index < size:
        raise VerifyException(f"field index must be in [0, {size}), but is {index}")
    return (type.types.data[index],)


@irdl_op_definition
class TupleOp(IRDLOperation):
    """
    Build a tuple of `fields`, which it aliases.

    ```mlir
    %t = relay.tuple %a, %b : (tensor<4xf32>, tensor<2xi32>) -> tuple<tensor<4xf32>, tensor<2xi32>>
    ```
    """

    name = "relay.tuple"

    fields = var_operand_def(AnyAttr())
    result = result_def(TupleType | IncompleteType)

    traits = traits_def(
        Pure(),
        SameDevice(),
        ResultAliases(),
        InferTypes(_tuple_of_operands),
        TypeEquations(_tuple_equations),
    )
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, fields: Sequence[SSAValue]):
        super().__init__(operands=[fields], result_types=[tuple_of([v.type for v in fields])])

    def verify_(self) -> None:
        refined_result_types(self)


@irdl_op_definition
class TupleGetItemOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    Get field `index` of `tuple`, counted from 0; the field aliases the tuple.

    ```mlir
    %a = relay.tuple_get_item %t[0] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<4xf32>
    ```
    """

    name = "relay.tuple_get_item"

    tuple = operand_def(AnyAttr())
    index = prop_def(IntegerAttr[I64])
    result = result_def(AnyAttr())

    traits = traits_def(
        Pure(),
        SameDevice(),
        ResultAliases(),
        InferTypes(_field_type),
        TypeEquations(_field_equations),
    )
    custom_directives = (FunctionTypeOf,)
    assembly_format = (
        "$tuple `[` $index `]` attr-dict `:` custom<FunctionTypeOf>(type($tuple), type($result))"
    )

    def __init__(self, tuple: SSAValue, index: int):
        type = tuple.type
        assert isinstance(type, TupleType), f"not a tuple: {type}"
        super().__init__(
            operands=[tuple],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[type.types.data[index]],
        )

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (FoldProjection(),)

    def verify_(self) -> None:
        refined_result_types(self)


class FoldProjection(RewritePattern):
    """Replace a projection of a `relay.tuple` by the field."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TupleGetItemOp, rewriter: PatternRewriter, /) -> None:
        whole = op.tuple.owner
        if isinstance(whole, TupleOp):
            field = whole.fields[op.index.value.data]
            if field.type == op.result.type:
                rewriter.replace(op, [], [field])
                erase_if_unused(whole, rewriter)


# ------------------------------------------------------- flattening, rebuilding

Write: TypeAlias = Callable[[Operation], object]
"""Inserts a new op where it is needed; operands come before their users."""


def fields_of(value: SSAValue, write: Write) -> Iterator[SSAValue]:
    """Yield the fields of the tuple `value`: the operands of its `relay.tuple`, or projections."""
    if isinstance(value, OpResult) and isinstance(value.op, TupleOp):
        yield from value.op.operands
        return
    assert isinstance(value.type, TupleType), f"not a tuple: {value.type}"
    for i in range(len(value.type.types)):
        item = TupleGetItemOp(value, i)
        write(item)
        yield item.result


def flatten(value: SSAValue, write: Write) -> Iterator[SSAValue]:
    """Yield the values in `value` that are not tuples, from left to right."""
    if not isinstance(value.type, TupleType):
        yield value
        return
    for field in fields_of(value, write):
        yield from flatten(field, write)


def rebuild(type: Attribute, leaves: Iterator[SSAValue], write: Write) -> SSAValue:
    """A value of `type` built from `leaves`: the inverse of `flatten`."""
    if not isinstance(type, TupleType):
        return next(leaves)
    made = TupleOp([rebuild(field, leaves, write) for field in type.types])
    write(made)
    return made.result


def fold_projections(tuple: TupleOp) -> None:
    """Replace the projections of `tuple` by its fields."""
    for use in list(tuple.result.uses):
        item = use.operation
        if isinstance(item, TupleGetItemOp) and item.parent is not None:
            item.result.replace_all_uses_with(tuple.operands[item.index.value.data])
            item.parent.erase_op(item)


def erase_unused(op: Operation) -> None:
    """Erase `op` if it is an unused tuple, and then the tuples in it that become unused."""
    pending = [op]
    while pending:
        op = pending.pop()
        if isinstance(op, TupleOp) and op.parent is not None and op.result.first_use is None:
            pending += [v.op for v in op.operands if isinstance(v, OpResult)]
            op.parent.erase_op(op)
