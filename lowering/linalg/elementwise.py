"""
The form of elementwise operators: one `linalg.generic`, made of a formula or a rule for scalars.

    meant(Elementwise(lambda x: x / 2))
    RULES = {"demo.halve": elementwise(lambda b, op, x: b.insert(arith.MulfOp(x[0], half)))}

Operands are broadcast as in NumPy, by their indexing maps where dims are static. A dim that is
known only at run time may be 1 there and the result's dim another: unless it is the same value as
the result's dim, the operand is read at `min(index, dim - 1)`, which is right in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.attributes import plain_attributes
from ...dialects.tensors import signless
from ...dialects.type_rules import element_of
from ...operators.meaning.forms import Elementwise
from ...operators.meaning.number import computed_number
from .builder import Builder, Rule, Size, element_type, tensor_of
from .moving import broadcast_size
from .numbers import Scalar
from .traced_sizes import result_sizes

ScalarRule: TypeAlias = Callable[[Builder, Operation, Sequence[SSAValue]], SSAValue]
"""Computes an element of the result of an op from an element of each operand."""

Axes: TypeAlias = Sequence[int | None]
"""For each axis of an operand the loop that indexes it; None reads index 0."""


@dataclass(frozen=True)
class _Mapped:
    """An operand that the generic op reads through an indexing map."""

    value: SSAValue
    loops: Sequence[int | AffineExpr]


@dataclass(frozen=True)
class _Extracted:
    """An operand whose elements the body extracts: some dims may be 1 at run time."""

    value: SSAValue
    axes: Axes
    last: Sequence[SSAValue | None]
    """The last index along each axis that may be broadcast."""

    def extract(self, b: Builder) -> SSAValue:
        indices: list[Size] = []
        for loop, last in zip(self.axes, self.last, strict=True):
            index: Size = 0 if loop is None else b.loop_index(loop)
            indices.append(index if last is None else b.minimum(index, last))
        return b.extract(self.value, indices)


def _read(b: Builder, value: SSAValue, sizes: Sequence[Size], axes: Axes) -> _Mapped | _Extracted:
    loops: list[int | AffineExpr] = []
    last: list[SSAValue | None] = []
    for dim, loop in zip(b.dims(value), axes, strict=True):
        if loop is None or (dim == 1 and sizes[loop] != 1):
            loops.append(AffineExpr.constant(0))
            last.append(None)
            continue
        equal = isinstance(dim, int) or dim is sizes[loop]
        loops.append(loop)
        last.append(None if equal else b.index(b.sub(dim, 1)))
    if all(bound is None for bound in last):
        return _Mapped(value, loops)
    return _Extracted(value, [None if isinstance(at, AffineExpr) else at for at in loops], last)


def elementwise(rule: ScalarRule) -> Rule:
    """Return the rule of an operator of one result that applies `rule` to broadcast operands."""

    def convert(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        sizes = broadcast_sizes(b, operands, tensor_of(op.results[0]).get_shape())
        return [compute(b, op, operands, sizes, rule)]

    return convert


def meant(meaning: Elementwise) -> Rule:
    """Return the rule of an operator of this meaning."""
    typed = meaning.typed

    def scalar(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
        values = iter(x)
        numbers = [
            Scalar(
                b,
                operand if i in typed else next(values),
                element_of(element_type(operand)),
                operand,
            )
            for i, operand in enumerate(op.operands)
        ]
        number = meaning.formula(*numbers, **meaning.keywords(plain_attributes(op)))
        return computed_number(number).value

    def convert(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        read = [operand for i, operand in enumerate(operands) if i not in typed]
        if typed:
            (sizes,) = result_sizes(b, op, operands)
        elif meaning.along is None:
            sizes = broadcast_sizes(b, operands, tensor_of(op.results[0]).get_shape())
        else:
            sizes = b.dims(operands[0])
        ranks = [len(tensor_of(operand).shape) for operand in read]
        axes = meaning.axes(ranks, len(sizes), plain_attributes(op))
        return [compute(b, op, read, sizes, scalar, axes)]

    return convert


def broadcast_sizes(
    b: Builder, operands: Sequence[SSAValue], shape: Sequence[int]
) -> Sequence[Size]:
    """Return the dims that `operands` broadcast to, of which the static ones are in `shape`."""
    sizes: list[Size] = []
    for axis in range(-len(shape), 0):
        size: Size = shape[axis]
        if size == DYNAMIC_INDEX:
            candidates = [
                b.dim(operand, axis + rank)
                for operand in operands
                if (rank := len(tensor_of(operand).shape)) >= -axis
            ]
            # The type of the result may know less than the operands.
            known = [dim for dim in candidates if isinstance(dim, int) and dim != 1]
            unknown = dict.fromkeys(dim for dim in candidates if not isinstance(dim, int))
            size = reduce(partial(broadcast_size, b), known[:1] or [*unknown] or [1])
        sizes.append(size)
    return sizes


def compute(
    b: Builder,
    op: Operation,
    operands: Sequence[SSAValue],
    sizes: Sequence[Size],
    rule: ScalarRule,
    axes: Sequence[Axes] | None = None,
) -> SSAValue:
    """
    Return a tensor of `sizes`, each element computed by `rule` from one of each operand.

    `axes` has the loops of each operand's axes; by default they are aligned at the last.
    """
    rank = len(sizes)
    if axes is None:
        ranks = [len(tensor_of(operand).shape) for operand in operands]
        axes = [range(rank - own, rank) for own in ranks]
    read = [_read(b, operand, sizes, own) for operand, own in zip(operands, axes, strict=True)]
    mapped = [entry for entry in read if isinstance(entry, _Mapped)]

    def body(inner: Builder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        given = iter(elements)
        scalars = [
            next(given) if isinstance(entry, _Mapped) else entry.extract(inner) for entry in read
        ]
        return [rule(inner, op, scalars)]

    ins, reads = [entry.value for entry in mapped], [entry.loops for entry in mapped]
    out = b.empty(sizes, signless(element_type(op.results[0])))
    return b.nest(ins, reads, [out], range(rank), body)[0]
