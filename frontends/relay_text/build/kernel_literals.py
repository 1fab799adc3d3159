"""
Name the function literals that calls of kernels name, once the program has been read.

    %f = relay.fn (%a: T, Primitive=1) {…}           func.func @fused_add(%a: T) -> T {…}
    relay.call_lowered ?(%x)                   ->    relay.call_lowered @fused_add(%x)

A literal is named after its operators and placed at the end of the module, where the pass
`make-kernels` turns it, as all functions that such calls name, into a kernel. A function with
`Primitive` that no such call names stays a function.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Region, SSAValue

from ....dialects import relay
from ....dialects.device import DEVICE
from ....dialects.relay.language.annotations import ATTRS
from ....dialects.relay.language.primitive import kernel_symbol
from ....dialects.xdsl_extras.walking import walk
from ..errors import RelayTextError, location_of
from .build_context import Context


def name_literals(context: Context) -> list[FuncOp]:
    """Return the functions that the literals become; erase what has become unused."""
    explicit = context.explicit
    functions: dict[relay.FnOp, FuncOp] = {}
    for op, fn in explicit.calls_of_literals:
        if fn not in functions:
            taken = {k.sym_name.data for k in functions.values()} | {*context.program.functions}
            functions[fn] = _function_of(fn, taken)
        op.properties["callee"] = SymbolRefAttr(functions[fn].sym_name.data)
    for op in (*functions, *explicit.folded):
        if op.parent is not None and all(r.first_use is None for r in op.results):
            op.parent.erase_op(op)
    return [*functions.values()]


def _function_of(fn: relay.FnOp, taken: set[str]) -> FuncOp:
    location = location_of(fn)
    if fn.recursive is not None:
        raise RelayTextError("a kernel cannot call itself", location)
    outside = _first_capture(fn.body)
    if outside is not None:
        name = f"%{outside.name_hint}" if outside.name_hint else "a value from outside"
        raise RelayTextError(
            f"a kernel can only use its parameters, but this one uses {name}", location
        )
    region = fn.body
    if fn.result.first_use is not None:  # also used as a closure
        region = region.clone()
        for old, new in zip(walk(fn.body), walk(region), strict=True):
            new.location = old.location
    block = region.block
    region.detach_block(block)
    base = kernel_symbol(block.ops)
    names = chain((base,), (f"{base}_{i}" for i in count(1)))
    name = next(name for name in names if name not in taken)
    type = fn.result.type
    assert isinstance(type, FunctionType)
    params: Sequence[Attribute] = () if fn.param_devices is None else fn.param_devices.data
    result = () if fn.result_device is None else (fn.result_device,)
    op = FuncOp(
        name, type, Region(block), arg_attrs=_device_attrs(params), res_attrs=_device_attrs(result)
    )
    op.location = location
    if fn.attrs is not None:
        op.attributes[ATTRS] = fn.attrs
    return op


def _device_attrs(devices: Sequence[Attribute]) -> ArrayAttr[DictionaryAttr] | None:
    return ArrayAttr(DictionaryAttr({DEVICE: device}) for device in devices) if devices else None


def _first_capture(region: Region) -> SSAValue | None:
    """Return the first value that `region` uses but does not define."""
    inside: set[SSAValue] = {*region.block.args}
    for op in walk(region):
        inside.update(op.results)
        inside.update(a for inner in op.regions for b in inner.blocks for a in b.args)
    operands = (operand for op in walk(region) for operand in op.operands)
    return next((operand for operand in operands if operand not in inside), None)
