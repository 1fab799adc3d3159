"""
The linalg of an operator, from its meaning.

    ByIndex: one `linalg.generic` that extracts elements at computed indices
    Folded: another one, which has loops for the box, too
    SameOrder: `tensor.collapse_shape` and `tensor.expand_shape`
    Sums: `scf.for` along the axis, on slices
    Composed: the linalg of each operator
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.attributes import plain_attributes
from ...dialects.tensors import signless
from ...dialects.type_rules import element_of as type_element
from ...operators.meaning.forms import (
    ByIndex,
    Composed,
    Elementwise,
    Folded,
    Meaning,
    SameOrder,
    Sums,
    keywords,
)
from ...operators.meaning.number import INT64, Source
from ...operators.signature import Element
from ...passes.support.operator_steps import OperatorSteps
from .builder import INDEX, Builder, Rule, Size, element_of, element_type
from .elementwise import meant
from .moving import placed, rank_of
from .numbers import Scalar, number_of, type_of
from .rules.reduce import count_of
from .rules.reshape import reshape, reshaped
from .sums import combining, rounded, sum_type
from .traced_sizes import result_sizes


def derived(meaning: Meaning, rules: Mapping[str, Rule]) -> Rule:
    """Return the rule of an operator of this meaning, which may apply operators of `rules`."""
    match meaning:
        case Elementwise():
            return meant(meaning)
        case ByIndex():
            return by_index(meaning)
        case Folded():
            return folded(meaning)
        case Composed():
            return composed(meaning, rules)
        case SameOrder():
            return reshape
        case Sums():
            return sums_of_parts
        case _:
            raise AssertionError(f"{meaning} has no linalg")


# -------------------------------------------------------------------------------- by index


@dataclass(eq=False)
class Body:
    """The body of a `linalg.generic` that is being built, and what it reads through maps."""

    b: Builder
    sizes: Sequence[Size]
    index: Sequence[Scalar] = ()
    ins: list[SSAValue] = field(default_factory=list[SSAValue])
    reads: list[Sequence[int]] = field(default_factory=list[Sequence[int]])
    """The loops of each."""

    def read(self, tensor: SSAValue, index: Sequence[Scalar]) -> SSAValue | None:
        """Return an element that an indexing map finds, of all loops' turns; None if none does."""
        loops = [self.index.index(number) for number in index if number in self.index]
        if len(loops) < len(index) or len(set(loops)) < len(loops):
            return None
        for loop, dim in zip(loops, self.b.dims(tensor), strict=True):
            size = self.sizes[loop]
            if dim is not size and not (isinstance(dim, int) and dim == size):
                return None
        self.ins.append(tensor)
        self.reads.append(loops)
        return self.b.block.insert_arg(element_of(tensor), len(self.ins) - 1)


@dataclass(frozen=True)
class Elements(Source):
    """An operand, of which a body reads elements: at indices of loops by a map."""

    body: Body
    tensor: SSAValue
    element: Element

    @property
    def dims(self) -> Sequence[Scalar]:
        return [number_of(self.body.b, dim, i64) for dim in self.body.b.dims(self.tensor)]

    def integer(self, value: int) -> Scalar:
        return number_of(self.body.b, value, i64)

    def __getitem__(self, index: Sequence[Scalar]) -> Scalar:
        b, element = self.body.b, self.body.read(self.tensor, index)
        if element is None:
            element = b.extract(self.tensor, [b.index(number.value) for number in index])
        return Scalar(b, element, self.element)


def _computed(
    inner: Builder,
    body: Body,
    op: Operation,
    operands: Sequence[SSAValue],
    compute: Callable[[Sequence[Scalar], Sequence[Elements]], Scalar],
) -> Sequence[SSAValue]:
    """Append what a formula computes from the index of all loops, and elements of operands."""
    loops = [inner.loop_index(i) for i in range(len(body.sizes))]
    casts = [inner.insert(arith.IndexCastOp(loop, i64)) for loop in loops]
    body.b, body.index = inner, [Scalar(inner, cast, INT64) for cast in casts]
    sources = [
        Elements(body, value, type_element(element_type(operand)))
        for value, operand in zip(operands, op.operands, strict=True)
    ]
    computed = compute(body.index, sources)
    for value in (*casts, *loops):
        if not value.uses and isinstance(value.owner, Operation):
            value.owner.detach()
            value.owner.erase()
    return [computed.value]


def by_index(meaning: ByIndex) -> Rule:
    """Return the rule of an operator of this meaning."""

    def convert(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        (sizes,) = result_sizes(b, op, operands)
        for operand in operands:
            b.dims(operand)  # outside of the loops
        out = b.empty(sizes, signless(element_type(op.results[0])))
        body = Body(b, sizes)

        def build(inner: Builder, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            attributes = meaning.keywords(plain_attributes(op))
            return _computed(
                inner, body, op, operands, lambda i, x: meaning.formula(i, *x, **attributes)
            )

        return b.nest(body.ins, body.reads, [out], range(len(sizes)), build)

    return convert


def folded(meaning: Folded) -> Rule:
    """Return the rule of an operator of this meaning."""

    def convert(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        (sizes,), attributes = result_sizes(b, op, operands), plain_attributes(op)
        box = meaning.dims([b.dims(operand) for operand in operands], attributes)
        result = type_element(element_type(op.results[0]))
        element, finish = meaning.element(result), meaning.finish
        rank, loops = len(sizes), len(sizes) + len(box)
        out = b.full(sizes, meaning.identity(element), signless(type_of(element)))
        body = Body(b, [*sizes, *box], ins=[b.empty(box, i1)], reads=[range(rank, loops)])

        def build(inner: Builder, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            def compute(index: Sequence[Scalar], sources: Sequence[Elements]) -> Scalar:
                term = meaning.formula(index, *sources, **meaning.keywords(attributes))
                total = Scalar(inner, inner.block.args[-1], element)
                return total.apply(meaning.by, term.converted(element))

            return _computed(inner, body, op, operands, compute)

        (total,) = b.nest(body.ins, body.reads, [out], range(rank), build, loops)
        if finish is None and element is result:
            return [total]
        end = Body(b, sizes, ins=[total], reads=[range(rank)])

        def close(inner: Builder, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            def compute(index: Sequence[Scalar], sources: Sequence[Elements]) -> Scalar:
                total = Scalar(inner, inner.block.args[0], element)
                if finish is not None:
                    total = finish(total, index, *sources, **keywords(finish, attributes))
                return total.converted(result)

            return _computed(inner, end, op, operands, compute)

        out = b.empty(sizes, signless(type_of(result)))
        return b.nest(end.ins, end.reads, [out], range(rank), close)

    return convert


# ---------------------------------------------------------------------------- sums of parts


def sums_of_parts(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Add a slice at a time to the sum of those before it, and insert the sum."""
    (x,), attributes = operands, plain_attributes(op)
    source, target = element_type(op.operands[0]), element_type(op.results[0])
    summed = sum_type(target)
    if "axis" not in attributes:
        x = reshaped(b, x, [count_of(b, x, range(rank_of(x)))])
    axis = attributes.get("axis", 0)
    assert isinstance(axis, int), "an axis is an integer"
    axis %= rank_of(x)
    sizes = b.dims(x)
    one = [*sizes[:axis], 1, *sizes[axis + 1 :]]
    exclusive = bool(attributes["exclusive"])
    initial = [b.full(one, 0, signless(summed)), b.empty(sizes, signless(target))]

    block = Block(arg_types=[INDEX, *(value.type for value in initial)])
    step = Builder(block, b)
    at, total, result = block.args
    offsets: list[Size] = [0] * len(sizes)
    offsets[axis] = at
    step.has_dims(total, one)
    step.has_dims(result, sizes)
    part = step.extract_slice(x, offsets, one)

    every = range(len(sizes))

    def write(value: SSAValue) -> SSAValue:
        return placed(step, rounded(step, value, signless(target)), result, offsets)

    in_order = combining(lambda x, total: total + x, summed, source)
    written = write(total) if exclusive else None
    (total,) = step.nest([part], [every], [total], every, in_order)
    step.insert_all(scf.YieldOp(total, written or write(total)))
    start, stop, by = b.index(0), b.index(sizes[axis]), b.index(1)
    loop = scf.ForOp(start, stop, by, initial, Region(block))
    _, result = b.insert_all(loop)
    return [b.has_dims(result, sizes)]


# ------------------------------------------------------------------------------ composition


def composed(meaning: Composed, rules: Mapping[str, Rule]) -> Rule:
    """Return the rule of an operator of this meaning."""

    def convert(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        steps, values = OperatorSteps(), dict(zip(op.operands, operands, strict=True))
        results = meaning.results(steps, op.operands, plain_attributes(op))
        for step in steps.ops:
            lowered = rules[step.name](b, step, [values[value] for value in step.operands])
            values.update(zip(step.results, lowered, strict=True))
        for step in reversed(steps.ops):
            step.erase()
        return [values[result] for result in results]

    return convert
