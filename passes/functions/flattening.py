"""
The fields of tuples as values of their own.

    func.func @f(%p: tuple<T, U>) -> tuple<T>       func.func @f(%p.0: T, %p.1: U) -> T
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects.relay.device_ops import DeviceCopyOp, OnDeviceOp
from ...dialects.relay.language.annotations import NAME
from ...dialects.relay.language.tuples import (
    TupleOp,
    erase_unused,
    flatten,
    fold_projections,
    rebuild,
)
from .calls import cast_values
from .signatures import erase_parameters, insert_parameters, set_types


def leaves_of(type: Attribute) -> Iterator[Attribute]:
    """Yield the types in `type` that are not tuples, from left to right."""
    if not isinstance(type, TupleType):
        yield type
        return
    for field in type.types:
        yield from leaves_of(field)


def flat(types: Sequence[Attribute]) -> list[Attribute]:
    """Return the types in `types` that are not tuples."""
    return [leaf for type in types for leaf in leaves_of(type)]


def has_tuple(types: Sequence[Attribute]) -> bool:
    return any(isinstance(type, TupleType) for type in types)


def flat_attrs(
    attrs: ArrayAttr[DictionaryAttr] | None, types: Sequence[Attribute]
) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of parameters or results of `types` for each of their fields."""
    if attrs is None:
        return None
    entries: list[DictionaryAttr] = []
    for entry, type in zip(attrs, types, strict=True):
        count = sum(1 for _ in leaves_of(type))
        name = entry.data.get(NAME)
        if not isinstance(type, TupleType) or not isinstance(name, StringAttr):
            entries += [entry] * count
            continue
        for i in range(count):
            entries.append(DictionaryAttr({**entry.data, NAME: StringAttr(f"{name.data}.{i}")}))
    return ArrayAttr(entries)


@dataclass
class Inserter:
    """Inserts ops at one place, in order."""

    rewriter: PatternRewriter
    place: InsertPoint

    def __call__(self, op: Operation) -> None:
        self.rewriter.insert(op, self.place)

    def flat(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the fields of `values`."""
        return [leaf for value in values for leaf in flatten(value, self)]

    def cast(self, values: Sequence[SSAValue], types: Sequence[Attribute]) -> list[SSAValue]:
        """Return `values` as values of `types`, which differ in their dims."""
        casts, ops = cast_values(values, types)
        self.rewriter.insert(ops, self.place)
        return casts

    def like(self, op: Operation, operand: SSAValue, type: Attribute) -> SSAValue:
        """Return the result of what `op` does to `operand`, of `type`."""
        copy = op.create(operands=[operand], properties=dict(op.properties), result_types=[type])
        self(copy)
        return copy.results[0]

    def rebuilt(self, types: Sequence[Attribute], leaves: Iterable[SSAValue]) -> list[SSAValue]:
        """Return values of `types` with the fields `leaves`."""
        rest = iter(leaves)
        return [rebuild(type, rest, self) for type in types]


def name_fields(values: Sequence[SSAValue], name: str | None) -> None:
    """Name `values`, the fields of a value with the hint `name`."""
    if name is not None:
        for i, value in enumerate(values):
            value.name_hint = f"{name}.{i}"


def flatten_signature(op: func.FuncOp, rewriter: PatternRewriter) -> None:
    """Give a function a parameter, and a result, for each field."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    op.res_attrs = flat_attrs(op.res_attrs, outputs)
    set_types(op, outputs=flat(outputs))
    given = op.arg_attrs
    for i in reversed(range(len(inputs))):
        if isinstance(type := inputs[i], TupleType):
            attrs = flat_attrs(given and ArrayAttr([given.data[i]]), [type])
            fields = insert_parameters(op, i + 1, flat([type]), attrs)
            if op.body.blocks:
                insert = Inserter(rewriter, InsertPoint.at_start(op.body.block))
                name_fields(fields, op.args[i].name_hint)
                op.args[i].replace_all_uses_with(*insert.rebuilt([type], fields))
            erase_parameters(op, [i])
    for last in (block.last_op for block in op.body.blocks):
        if isinstance(last, func.ReturnOp) and has_tuple(last.operand_types):
            values = Inserter(rewriter, InsertPoint.before(last)).flat(last.operands)
            rewriter.replace(last, func.ReturnOp(*values))


def fold_tuple(op: Operation) -> None:
    """Replace projections of a tuple, and of tuples in it, by the fields; erase it if unused."""
    if not isinstance(op, TupleOp):
        return
    fold_projections(op)
    for field in op.operands:
        if isinstance(field.owner, TupleOp):
            fold_tuple(field.owner)
    erase_unused(op)


class FlattenCopy(RewritePattern):
    """Copy, or hint at, each field of a tuple."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: OnDeviceOp | DeviceCopyOp, rewriter: PatternRewriter, /
    ) -> None:
        if not isinstance(op.result.type, TupleType):
            return
        type, insert = op.result.type, Inserter(rewriter, InsertPoint.before(op))
        fields = zip(flatten(op.operands[0], insert), leaves_of(type), strict=True)
        rewriter.replace(op, [], insert.rebuilt([type], (insert.like(op, *at) for at in fields)))
