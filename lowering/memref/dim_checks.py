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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names, parameter_names
from ...operators.named_dims import Bounds
from .conversion_state import Conversion, Writer


@dataclass(frozen=True)
class NamedDim:
    """A dim of a parameter that has a name."""

    name: str
    parameter: int
    axis: int
    text: str
    """Its description in messages, with `{}` for its size."""

    def shown(self, number: int) -> str:
        """Return its description, in which the size is value `number` of the message."""
        return self.text.replace("{}", f"{{{number}}}")


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
        first = next(o for o in op.body.block.ops if not isinstance(o, arith.ConstantOp))
        w, named, function = Writer(self.state, rewriter, first), self.named[op], op.sym_name.data
        found: dict[str, tuple[SSAValue, NamedDim]] = {}
        for dim in named.dims:
            size = w.as_number(w.dim(op.body.block.args[dim.parameter], dim.axis))
            if dim.name in found:
                known, other = found[dim.name]
                ok = w.value(arith.CmpiOp(known, size, "eq"))
                message = f"{function}: {other.shown(0)}, but {dim.shown(1)}"
                w.require(ok, message, [known, size])
                continue
            found[dim.name] = size, dim
            bounds = named.bounds.get(dim.name)
            limits = () if bounds is None else (("sge", bounds.low), ("sle", bounds.high))
            for predicate, limit in limits:
                if limit is not None:
                    ok = w.value(arith.CmpiOp(size, w.number64(limit), predicate))
                    message = f"{function}: {dim.shown(0)}, but {dim.name} must be {bounds}"
                    w.require(ok, message, [size])
