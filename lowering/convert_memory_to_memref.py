"""
Convert explicit memory, functions and branches to upstream dialects, on buffers.

    func.func @main(%x: tensor<4xf32>, %w: !memory.storage {memory.size = 16 : i64},
                    %r: !memory.storage {memory.result = 0 : i64}) -> tensor<4xf32> {
      %t = memory.alloc_tensor %w[0] : tensor<4xf32>
      %y = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
      …
      func.return %z : tensor<4xf32>
    }
    relay.prim_func @exp(%a: tensor<4xf32>) -> tensor<4xf32> { … relay.yield %b : tensor<4xf32> }
    ->
    func.func @main(%x: memref<4xf32>, %w: memref<?xi8> {…}, %r: memref<?xi8> {…}) {
      %t = memref.view %w[%c0][] : memref<?xi8> to memref<4xf32>
      func.call @exp(%x, %t) : (memref<4xf32>, memref<4xf32>) -> ()
      …
      func.return
    }
    func.func private @exp(%a: memref<4xf32>, %out: memref<4xf32>) attributes {xrelay.kernel} {
      %0 = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
      …
      bufferization.materialize_in_destination %b in restrict writable %out : …
      func.return
    }

`convert-relay-to-linalg` runs before; a kernel with operators that it does not lower is declared
only, and called through the runtime. Constants become globals, those of the side file without
contents. What can fail at run time calls `@xrelay_require` (see `checked_functions`). Memory that
is not lent by the caller is freed after its last use (see `memref.deallocation`). Programs with
tuples between functions go through `flatten-tuples` first; those with closures, data types or
references run in the machine only.

From level `memory-planned` (or `manifest`) to `memref`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects import memory, relay
from ..dialects.relay.language.dims_attributes import dim_bounds, dim_names, parameter_names
from ..dialects.xdsl_extras.walking import walk
from ..operators.sizes import Check
from ..passes.devices.options import device_option
from ..passes.functions.symbols import SymbolNames
from ..passes.sizes.size_code import SizeCode
from ..passes.support.changes import LevelPass
from ..passes.support.rewriting import apply_patterns
from .memref.booleans import store_booleans_as_bytes
from .memref.conversion_state import Conversion, ConvertOp
from .memref.deallocation import free_allocations
from .memref.functions_and_kernels import (
    convert_arguments,
    convert_signature,
    lent_results,
    reject_objects,
)
from .memref.loops_and_rows import enclose_loops
from .memref.memref_types import MemRefTypes
from .memref.storages_and_shapes import erase_unused_sizes
from .upstream_sizes import checked_arithmetic


def require_named_dims(function: func.FuncOp) -> None:
    """
    Check the named dims of `function`, whose types are tensors, where it starts.

        %n = tensor.dim %x, %c0
        %m = tensor.dim %y, %c0
        relay.require eq %n, %m, "f: parameter 'x' has dim 0 (n) of {0}, but …"

    Analyses of sizes rely on the names. Calls from outside are checked by the C interface.
    """
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


RULES_OF = (checked_arithmetic,)
"""The file whose rules `ConvertOp` applies, besides those imported above."""


def code_of(module: ModuleOp) -> list[Operation]:
    """Return the ops that are not in kernels, each after those in its regions."""
    return [
        op
        for top in module.ops
        if not isinstance(top, relay.PrimFuncOp)
        for op in walk(top, region_first=True)
    ]


@dataclass(frozen=True)
class ConvertMemoryToMemrefPass(LevelPass):
    name = "convert-memory-to-memref"
    accepts = "expanded"

    host: str = "cpu:0"
    """The device whose memory is the default memory space."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        types = MemRefTypes(device_option(self.host, "host"), memory.pools_of(op))
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        lent = {name: lent_results(f) for name, f in functions.items()}
        called = {o.callee.string_value() for o in code_of(op) if isinstance(o, func.CallOp)}
        for name, function in functions.items():
            if name in called and function.body.blocks:
                require_named_dims(function)
        enclose_loops(op)
        code = code_of(op)
        measured = {o: [*o.args.types] for o in code if isinstance(o, relay.MeasureOp)}
        state = Conversion(op, types, SymbolNames.of(op), functions, lent, measured)
        for o in code:
            reject_objects(o)
            if isinstance(o, func.FuncOp):
                convert_signature(o, state)
            elif isinstance(o, relay.ShapeFuncOp):
                convert_arguments(o.body.block, state)
            elif isinstance(o, relay.TypeDataOp):
                Rewriter.erase_op(o)
        kernels = [kernel for kernel in op.ops if isinstance(kernel, relay.PrimFuncOp)]
        apply_patterns(op, ConvertOp(state), only=[*kernels, *code])
        for function in functions.values():
            if function.body.blocks:
                free_allocations(function)
        erase_unused_sizes(code_of(op)[::-1])
        state.finish()
        store_booleans_as_bytes(op)
