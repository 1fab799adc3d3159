"""
Check the named dims of a function's parameters when it is entered.

    func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]},
                    %y: tensor<?xf32> {relay.dims = ["n"]})
    ->
    %0 = tensor.dim %x, %c0    %2 = arith.cmpi eq, %0, %1
    %1 = tensor.dim %y, %c0    cf.assert %2, "dim 0 (n) of 'y' must be that of 'x'"
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names, parameter_names
from .builder import Builder
from .structural_rules import assert_that


def check_entry(b: Builder, function: FuncOp, arguments: Sequence[SSAValue]) -> None:
    """Assert that dims of one name are equal in `arguments`, and within their bounds."""
    bounds = dim_bounds(function)
    first: dict[str, tuple[SSAValue, str]] = {}
    parameters = zip(parameter_names(function), dim_names(function), arguments, strict=True)
    for parameter, dims, value in parameters:
        for axis, dim in enumerate(dims):
            if not dim:
                continue
            size, here = b.index(b.dim(value, axis)), f"dim {axis} ({dim}) of '{parameter.data}'"
            if dim in first:
                known, there = first[dim]
                same = b.insert(arith.CmpiOp(size, known, "eq"))
                assert_that(b, same, f"{here} must be equal to {there}")
                continue
            first[dim] = size, here
            limits = bounds.get(dim)
            if limits is None:
                continue
            if limits.low > 0:
                enough = b.insert(arith.CmpiOp(size, b.index(limits.low), "sge"))
                assert_that(b, enough, f"{here} must be {limits}")
            if limits.high is not None:
                fits = b.insert(arith.CmpiOp(size, b.index(limits.high), "sle"))
                assert_that(b, fits, f"{here} must be {limits}")
