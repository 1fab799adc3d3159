"""
The loops of a kernel's reduction, and how its operands lie along them.

    (n, h, w, o, [kh, kw, c]):  x (n, h + kh, w + kw, c),  weight (kh, kw, c, o)

The last parallel loop must run along the last dim of each operand that it moves in; then its
elements are vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import bufferization, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, FixedBitwidthType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ...linalg.builder import tensor_of
from ..linalg_generics import TRANSPOSING, UNTILED, is_panel, maps_of, ops_of

PARALLEL, REDUCTION = "parallel", "reduction"

OPAQUE = frozenset({"tensor.extract", "scf.if", "scf.for", "scf.while", "func.call"})
"""Ops that cannot become vectors in the body of a generic op."""

RESHAPES = tensor.ExpandShapeOp, tensor.CollapseShapeOp, tensor.InsertSliceOp, tensor.ExtractSliceOp
"""Ops through which loops cannot be fused."""


@dataclass(frozen=True)
class Nest:
    """The loops of a reduction."""

    iterators: tuple[str, ...]
    sizes: tuple[int | None, ...]
    """Of the parallel loops in order; None is unknown."""
    parallel: tuple[int, ...]
    """The numbers of the parallel loops, in the order of the result's dims."""
    inputs: tuple[AffineMap, ...]
    bits: int
    """Of an element of the result."""
    depth: int | None
    """The number of elements that one sum has; None is unknown."""
    has_consumer: bool
    """True if an elementwise op reads the result."""
    work_after: int = 0
    """The number of its ops."""
    panel: int | None = None
    """The operand that a loop copies, a tile of columns at a time; None if there is none."""

    @property
    def has_product(self) -> bool:
        """True if each term is a product of two operands."""
        return len(self.inputs) == 2

    def moves(self, map: AffineMap, loop: int) -> bool:
        """Test whether the operand of `map` depends on `loop`."""
        return any(_coefficient(result, loop) != 0 for result in map.results)

    def stride(self, loop: int) -> int:
        """Return the largest stride of any operand along `loop`, in elements of a dim."""
        strides = [abs(_coefficient(r, loop)) for map in self.inputs for r in map.results]
        return max(strides, default=0)


def nest_of(kernel: FuncOp) -> Nest | None:
    """Return the loops of the only reduction of `kernel`, if they can be tiles of vectors."""
    generics = [op for op in ops_of(kernel, linalg.GenericOp) if UNTILED not in op.attributes]
    stores = ops_of(kernel, bufferization.MaterializeInDestinationOp)
    reductions = [op for op in generics if REDUCTION in _iterators(op)]
    if len(reductions) != 1 or len(stores) != 1 or any(map(_is_opaque, generics)):
        return None
    (reduction,), (store,) = reductions, stores
    root = store.source.owner
    if not isinstance(root, linalg.GenericOp) or not _is_chain(kernel, reduction, root):
        return None
    return nest_between(reduction, root)


def nest_between(reduction: linalg.GenericOp, root: linalg.GenericOp) -> Nest | None:
    """Return the loops of `reduction` in the tiles of `root`, if they can be tiles of vectors."""
    iterators = _iterators(reduction)
    parallel = tuple(i for i, kind in enumerate(iterators) if kind == PARALLEL)
    *inputs, written = maps_of(reduction)
    result = tensor_of(root.results[0])
    element, shape = result.element_type, result.get_shape()
    if (
        not parallel
        or len(reduction.results) != 1
        or not _is_permutation(written, parallel)
        or len(shape) != len(parallel)
        or not all(_is_vector(map, parallel[-1]) for map in inputs)
        or not isinstance(element, FixedBitwidthType)
    ):
        return None
    sizes = tuple(None if size == DYNAMIC_INDEX else size for size in shape)
    depth, after = _depth(reduction), 0 if root is reduction else len(root.body.block.ops)
    panels = [i for i, value in enumerate(reduction.inputs) if is_panel(value.owner)]
    panel, bits = panels[0] if panels else None, element.bitwidth
    return Nest(iterators, sizes, parallel, tuple(inputs), bits, depth, after > 0, after, panel)


def _depth(reduction: linalg.GenericOp) -> int | None:
    """Return the trip count of the reduction loops together, if it is known."""
    trip_counts: dict[int, int] = {}
    for operand, map in zip(reduction.inputs, maps_of(reduction), strict=False):
        shape = tensor_of(operand).get_shape()
        for expr, size in zip(map.results, shape, strict=True):
            if isinstance(expr, AffineDimExpr):
                trip_counts[expr.position] = size
    kinds = _iterators(reduction)
    sizes = [trip_counts.get(i, DYNAMIC_INDEX) for i, kind in enumerate(kinds) if kind == REDUCTION]
    return None if DYNAMIC_INDEX in sizes else prod(sizes)


def _is_chain(kernel: FuncOp, reduction: Operation, root: linalg.GenericOp) -> bool:
    """Test whether all elementwise ops are between `reduction` and `root`, in one shape."""
    after: set[Operation] = {reduction}
    for op in kernel.body.block.ops:
        if any(operand.owner in after for operand in op.operands):
            if isinstance(op, RESHAPES):
                return False
            after.add(op)
        elif isinstance(op, linalg.GenericOp) and op is not reduction:
            if not {TRANSPOSING, UNTILED} & op.attributes.keys() and not is_panel(op):
                return False
    if root is reduction:
        return True
    *_, written = maps_of(root)
    return root in after and _is_permutation(written, range(len(_iterators(root))))


def _is_opaque(op: linalg.GenericOp) -> bool:
    return any(inner.name in OPAQUE for inner in op.body.walk())


def _iterators(op: linalg.GenericOp) -> tuple[str, ...]:
    return tuple(str(attribute.data) for attribute in op.iterator_types)


def _is_permutation(map: AffineMap, loops: Sequence[int]) -> bool:
    return list(map.results) == [AffineExpr.dimension(loop) for loop in loops]


def _is_vector(map: AffineMap, loop: int) -> bool:
    """Test whether a turn of `loop` is a step to the next element, or none at all."""
    *others, last = map.results or (AffineExpr.constant(0),)
    return _coefficient(last, loop) in (0, 1) and not any(_coefficient(o, loop) for o in others)


def _coefficient(expr: AffineExpr, loop: int) -> int:
    """Return the factor of `loop` in a linear expression."""
    if isinstance(expr, AffineDimExpr):
        return int(expr.position == loop)
    if isinstance(expr, AffineBinaryOpExpr):
        if expr.kind == AffineBinaryOpKind.Add:
            return _coefficient(expr.lhs, loop) + _coefficient(expr.rhs, loop)
        if expr.kind == AffineBinaryOpKind.Mul and isinstance(expr.rhs, AffineConstantExpr):
            return _coefficient(expr.lhs, loop) * expr.rhs.value
        return 2 if _coefficient(expr.lhs, loop) or _coefficient(expr.rhs, loop) else 0
    return 0
