"""
Checks of the named dims of functions that are called from inside.

    func.func private @f(%x: tensor<?xf32> {relay.dims = ["n"]},
                         %y: tensor<?xf32> {relay.dims = ["n"]})
    ->
    func.func private @f(%x: tensor<?xf32> {…}, %y: tensor<?xf32> {…}) {
      %n = tensor.dim %x, %c0
      %m = tensor.dim %y, %c0
      relay.require eq %n, %m, "f: parameter 'x' has dim 0 (n) of {0}, but …"

Analyses of sizes rely on the names. Calls from outside are checked by the C interface.
"""

from __future__ import annotations

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relay
from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names, parameter_names
from ...operators.sizes import Check
from ...passes.sizes.size_code import SizeCode


def require_named_dims(function: func.FuncOp) -> None:
    """Check the named dims of `function`, whose types are tensors, where it starts."""
    ops: list[Operation] = []
    code, first = SizeCode(ops.append), dict[str, tuple[SSAValue, str]]()
    bounds = dim_bounds(function)

    def require(check: Check, a: SSAValue, b: SSAValue, text: str) -> None:
        ops.append(relay.RequireOp(check, a, b, f"{function.sym_name.data}: {text}"))

    parameters = zip(parameter_names(function), dim_names(function), function.args, strict=False)
    for parameter, names, value in parameters:
        for axis, name in enumerate(names):
            if name is None:
                continue
            size = code.emit(tensor.DimOp(value, code.index(axis)))
            size = code.emit(arith.IndexCastOp(size, i64))
            text = f"parameter '{parameter.data}' has dim {axis} ({name}) of"
            if name in first:
                other, there = first[name]
                require(Check.EQUAL, other, size, f"{there} {{0}}, but {text} {{1}}")
                continue
            first[name] = size, text
            bound = bounds.get(name)
            limits = () if bound is None else (bound.low, bound.high)
            for check, limit in zip((Check.AT_LEAST, Check.AT_MOST), limits, strict=False):
                if limit is not None:
                    must = f"{text} {{0}}, but {name} must be {bound}"
                    require(check, size, code.value(limit), must)
    for op in ops:
        op.location = function.location
    ops.sort(key=lambda op: not isinstance(op, arith.ConstantOp))
    Rewriter.insert_op(ops, InsertPoint.at_start(function.body.block))
