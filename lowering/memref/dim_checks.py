"""
Checks of the named dims of functions that are called from inside.

    func.func private @f(%x: tensor<?xf32> {relay.dims = ["n"]},
                         %y: tensor<?xf32> {relay.dims = ["n"]})
    ->
    func.func private @f(%x: memref<?xf32>, %y: memref<?xf32>) {
      %n = memref.dim %x, %c0
      %m = memref.dim %y, %c0
      %ok = arith.cmpi eq, %n, %m
      func.call @xrelay_require(%ok, %code, %n, %m)

Analyses of sizes rely on the names. Calls from outside are checked by the C interface.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names, parameter_names
from ...operators.named_dims import Bounds
from ..upstream_sizes.checked_arithmetic import require
from .conversion_state import Conversion, Inserter


@dataclass(frozen=True)
class NamedDim:
    """A dim of a parameter that has a name."""

    name: str
    parameter: int
    axis: int
    text: str
    """Its description in messages, with `{}` for its size."""


@dataclass(frozen=True)
class Named:
    """The named dims of a function, and their bounds."""

    dims: Sequence[NamedDim]
    bounds: Mapping[str, Bounds]


def named(function: func.FuncOp) -> Named:
    """Return the named dims of a function, before its types are converted."""
    parameters = zip(parameter_names(function), dim_names(function), strict=False)
    dims = [
        NamedDim(name, i, axis, f"parameter '{parameter.data}' has dim {axis} ({name}) of {{}}")
        for i, (parameter, names) in enumerate(parameters)
        for axis, name in enumerate(names)
        if name is not None
    ]
    return Named(dims, dim_bounds(function))


@dataclass(frozen=True)
class CheckNamedDims(RewritePattern):
    """Check the named dims of a function where it starts."""

    state: Conversion
    named: Mapping[func.FuncOp, Named]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        end = op.body.block.last_op
        first = next(o for o in op.body.block.ops if not isinstance(o, arith.ConstantOp))
        assert end is not None
        insert = Inserter(rewriter, InsertPoint.before(first))
        found: dict[str, tuple[SSAValue, NamedDim]] = {}
        for dim in self.named[op].dims:
            param = op.body.block.args[dim.parameter]
            index = insert.value(memref.DimOp(param, self.state.index(dim.axis, end)))
            size = insert.value(arith.IndexCastOp(index, i64))
            if dim.name not in found:
                found[dim.name] = size, dim
                self._check_bounds(op, dim, size, end, insert)
                continue
            known, other = found[dim.name]
            ok = insert.value(arith.CmpiOp(known, size, "eq"))
            message = f"{op.sym_name.data}: {shown(other, 0)}, but {shown(dim, 1)}"
            require(self.state, end, ok, message, [known, size], insert)

    def _check_bounds(
        self, op: func.FuncOp, dim: NamedDim, size: SSAValue, end: Operation, insert: Inserter
    ) -> None:
        bounds = self.named[op].bounds.get(dim.name)
        for predicate, limit in limits(bounds):
            ok = insert.value(arith.CmpiOp(size, self.state.number64(limit, end), predicate))
            message = f"{op.sym_name.data}: {shown(dim, 0)}, but {dim.name} must be {bounds}"
            require(self.state, end, ok, message, [size], insert)


def shown(dim: NamedDim, number: int) -> str:
    return dim.text.replace("{}", f"{{{number}}}")


def limits(bounds: Bounds | None) -> Iterator[tuple[str, int]]:
    """Yield the comparisons that hold for sizes within `bounds`."""
    if bounds is not None:
        yield "sge", bounds.low
        if bounds.high is not None:
            yield "sle", bounds.high
