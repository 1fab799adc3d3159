"""
Write only the new rows of a result that is in the buffer of a parameter.

    %t = memory.alloc_tensor %s[0]              %h = memory.alloc_tensor %s[0]
    %y = vm.invoke_tvm_op @concatenate          %a = memory.copy ins(%past) outs(%h) {memory.lent}
           ins(%past, %new) outs(%t)      ->    %r = memory.alloc_tensor %s[%end]
                                                %b = memory.copy ins(%new) outs(%r)
                                                %y = vm.join_tensors %a, %b

`lend-caches` marked the result of the function, `relay.cached`. A caller from outside may lend the
memory of `%past` for it: then the copy that is marked `memory.lent` finds its bytes in place, and
does nothing. To the plan both are memory of their own, of which only the rows after those of the
parameter are written twice. From level `manifest` to the same, right after `manifest-alloc`:
`simplify-shapes` computes the shapes that are read here.
"""

from __future__ import annotations

from math import prod

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ..dialects import memory, vm
from ..dialects.device import device_of
from ..dialects.relay.cache_attributes import cached_results
from ..dialects.tensors import element_size, is_static, tensor_of
from .bytes.joins import joined_by
from .functions.symbols import symbols_of
from .sizes.size_code import SizeCode, shape_of_op
from .support.changes import ReportingPass
from .support.diagnostics import PassError
from .support.rewriting import rewrite_each


def append(call: vm.InvokeTvmOp, parts: list[SSAValue], rewriter: PatternRewriter) -> None:
    """Write `parts` but the first, which `call` joins, after the first; it is a parameter."""
    tensor = call.outs[0].owner
    assert isinstance(tensor, memory.AllocTensorOp)
    assert tensor.shape is not None, "a cache is dynamic"
    storage, end = tensor.start
    ops: list[Operation] = []
    code = SizeCode(ops.append)
    copies: list[SSAValue] = []
    for value in parts:
        type = tensor_of(value)
        shape, bytes = None, type.get_shape()[0]
        row = prod(type.get_shape()[1:]) * element_size(type.element_type)
        if not is_static(type):
            shape = code.emit(shape_of_op(value, device_of(tensor.shape.type)), "rows_shape")
            bytes = code.extract(shape, [0], "rows")
        room = memory.AllocTensorOp(storage, end, type, shape)
        lent = {} if copies else {memory.LENT: UnitAttr()}
        copy = memory.CopyOp.create(
            operands=[value, code.emit(room, "room")], result_types=[type], attributes=lent
        )
        copies.append(code.emit(copy, value.name_hint))
        end = code.apply("add", end, code.apply("mul", bytes, row))
    rewriter.replace(call, [*ops, vm.JoinTensorsOp(copies, tensor.tensor.type, tensor.shape)])
    rewriter.erase(tensor)


class AppendInPlacePass(ReportingPass):
    name = "append-in-place"
    accepts = "manifest"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        appended: dict[vm.InvokeTvmOp, list[SSAValue]] = {}
        functions = [f for f in op.ops if isinstance(f, func.FuncOp) and f.body.blocks]
        marked = [(f, cached) for f in functions for cached in cached_results(f)]
        kernels = symbols_of(op) if marked else {}
        for function, cached in marked:
            end = function.body.block.last_op
            value = None if end is None else end.operands[cached.result]
            call = None if value is None else value.owner
            if isinstance(call, vm.JoinTensorsOp):
                continue  # a second run
            parts: list[SSAValue] = []
            if isinstance(call, vm.InvokeTvmOp):
                numbers = joined_by(kernels[call.callee.string_value()])
                parts = [call.ins[number] for number in numbers]
            if parts[:1] != [function.args[cached.parameter]]:
                raise PassError(
                    f"result {cached.result} of @{function.sym_name.data} is in a cache, but is "
                    "not a concatenation with it along the outermost dim, on its device",
                    function,
                )
            assert isinstance(call, vm.InvokeTvmOp)
            appended[call] = parts
        return rewrite_each(appended, lambda call, rewriter: append(call, appended[call], rewriter))
