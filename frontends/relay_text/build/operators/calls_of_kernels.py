"""
Calls of kernels, the functions of tensors that TVM calls primitive.

    vm.invoke_tvm_op(@f, (%x, %y), (%t,))             vm.invoke_tvm_op @f ins(%x, %y) outs(%t)
    vm.shape_func(@f, (%n,), (%t,), is_input=[0])  -> vm.shape_func @f ins(%n) outs(%t)
    call_lowered(@f, (%x, %y))                        relay.call_lowered @f(%x, %y)

The callee is a `def @f(…, Primitive=1)`, or a function literal with that attribute; that of
`call_lowered` is any `def`, which is lowered because it is called so. A function literal is named
after its operators once the program has been read, and placed at its end. The pass `make-kernels`
makes the kernels; a function with `Primitive` that no such call names stays one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from .....dialects import relay, vm
from .....dialects.attributes import plain_value
from .....dialects.device import VirtualDeviceAttr
from .....dialects.relay.language.primitive import kernel_symbol
from .....dialects.relay.language.tuples import fields_of, flatten
from .....dialects.type_algebra import tuple_of
from .....dialects.xdsl_extras.walking import walk
from .....passes.functions.captures import function_with
from .....passes.functions.symbols import SymbolNames
from ...errors import RelayTextError, location_of
from ...text import syntax as ast
from ..build_context import Context, called
from ..function_rules import signature_of
from .call_site import Rule, Site
from .explicit_memory import unit_result

# --------------------------------------------------------------------- callees


Devices: TypeAlias = Sequence[VirtualDeviceAttr | None]


@dataclass(frozen=True)
class _Callee:
    """A global function, or a function literal, whose name is not known yet."""

    type: FunctionType
    shown: str
    symbol: str
    attrs: Mapping[str, Any]
    devices: Devices
    """Those of the parameters, and of the result."""
    literal: relay.FnOp | None = None

    def is_set(self, name: str) -> bool:
        """Return whether an attribute is a nonzero integer."""
        return _is_true(self.attrs.get(name))


def _is_true(value: Any) -> bool:
    return isinstance(value, int) and value != 0


def _callee(site: Site, must_be_primitive: bool = True) -> _Callee:
    """Return the callee; a global function says that it is a kernel, if it `must_be_primitive`."""
    expr = site.call.args[0]
    if isinstance(expr, ast.Global):
        signature = signature_of(site.context, expr)
        function = signature.definition.function
        shown, devices = f"@{expr.name}", [*(p.device for p in function.params), function.device]
        callee = _Callee(signature.type, shown, expr.name, function.attrs, devices)
        if must_be_primitive and not callee.is_set("Primitive"):
            raise site.problem(f"{shown} is not a kernel; add the attribute Primitive=1")
        if signature.type_params:
            raise site.problem(f"a kernel cannot be generic, but {shown} is")
        return callee
    callee = _literal(site.context.emit(expr))
    if callee is None:
        raise site.problem(
            "the callee must be a global kernel, or a function literal with Primitive=1, "
            "given here or bound to a variable"
        )
    if not callee.is_set("Primitive"):
        raise site.problem("the function is not a kernel; add the attribute Primitive=1")
    return callee


def _literal(value: SSAValue) -> _Callee | None:
    """Return the function literal that `value` is, or None."""
    if not isinstance(value, OpResult) or not isinstance(value.op, relay.FnOp):
        return None
    fn, type = value.op, value.type
    assert isinstance(type, FunctionType), "a closure is a function"
    attrs = {} if fn.attrs is None else {k: plain_value(a) for k, a in fn.attrs.data.items()}
    devices = [*(fn.param_devices or [None] * len(type.inputs)), fn.result_device]
    return _Callee(type, "the kernel", "?", attrs, devices, fn)


def _note(site: Site, op: Operation, callee: _Callee) -> None:
    explicit = site.context.explicit
    explicit.has_calls = True
    if callee.literal is not None:
        explicit.calls_of_literals.append((op, callee.literal))


# ------------------------------------------------------------------- arguments


def _fields(site: Site, index: int) -> Sequence[SSAValue]:
    """Return the fields of the tuple argument `index`."""
    context, expr = site.context, site.call.args[index]
    value = context.emit(expr)
    if not isinstance(value.type, TupleType):
        given = context.text(value.type)
        raise site.problem(f"argument {index} must be a tuple, but is of type {given}")
    return [*fields_of(value, lambda op: context.add(op, expr.offset))]


def _leaves(context: Context, value: SSAValue, at: int) -> Sequence[SSAValue]:
    """Return the tensors in `value`, flattening known tuples."""
    return [*flatten(value, lambda op: context.add(op, at))]


def _arguments(
    site: Site, callee: _Callee, fields: Sequence[SSAValue], at: int, devices: Devices = ()
) -> list[SSAValue]:
    """
    Return the tensors in `fields`, the arguments of a kernel.

    With `devices`, each argument is fixed on that of its parameter.
    """
    context, name, wanted = site.context, callee.shown, callee.type.inputs.data
    if len(fields) != len(wanted):
        raise site.problem(f"{name} expects {len(wanted)} arguments, but got {len(fields)}")
    for i, (given, param) in enumerate(zip(fields, wanted, strict=True)):
        context.require(given.type, param, f"argument {i} of {name}", at)
    places = devices or [None] * len(fields)
    return [
        _fixed(site, leaf, place, at)
        for given, place in zip(fields, places, strict=True)
        for leaf in _leaves(context, given, at)
    ]


def _fixed(site: Site, value: SSAValue, device: VirtualDeviceAttr | None, at: int) -> SSAValue:
    """Return `value`, fixed on the device; the memory scope is left to the kernel."""
    if device is None:
        return value
    place = VirtualDeviceAttr(device.device_type, device.device_id, device.target)
    if place.is_unconstrained:
        return value
    return site.context.value(relay.OnDeviceOp(value, place, True, True), at)


# ----------------------------------------------------------------------- calls


def _destination_call(
    site: Site, op: type[vm.DestinationCall], **properties: Attribute
) -> SSAValue:
    """Build a call that writes into given tensors and returns unit."""
    context, callee = site.context, _callee(site)
    ins = _arguments(site, callee, _fields(site, 1), site.call.args[1].offset)
    at = site.call.args[2].offset
    outs = [o for value in _fields(site, 2) for o in _leaves(context, value, at)]
    (result,) = callee.type.outputs.data
    types = [out.type for out in outs]
    single = len(outs) == 1 and not isinstance(result, TupleType)
    fields = result.types.data if isinstance(result, TupleType) else ()
    if not any(isinstance(field, TupleType) for field in fields):  # else outs form a flat list
        given = types[0] if single else tuple_of(types)
        context.require(given, result, f"the destination of {callee.shown}", at)
    call = op.on(SymbolRefAttr(callee.symbol), ins, outs)
    call.properties |= properties
    _note(site, call, callee)
    return unit_result(site, call)


def _shape_func(site: Site) -> SSAValue:
    """Build `vm.shape_func`; `is_input` has a flag for each tensor argument."""
    flags = site.attributes(is_input=None)["is_input"]
    numbers = cast("tuple[Any, ...]", flags if isinstance(flags, tuple) else (None,))
    if any(flag not in (0, 1) for flag in numbers):
        raise site.problem("is_input must be a list of 0 and 1")
    is_input = DenseArrayBase.from_list(i64, [int(flag) for flag in numbers])
    return _destination_call(site, vm.ShapeFuncOp, is_input=is_input)


def _call_lowered(site: Site) -> SSAValue:
    """
    Build `relay.call_lowered`, which returns what the kernel computes.

    Where a function is lowered after devices are planned, its devices are those of the call.
    """
    metadata = site.attributes(metadata=None)["metadata"]
    callee = _callee(site, must_be_primitive=False)  # TVM needs no attribute
    ins = site.call.args[1]
    return _lowered(site, callee, _fields(site, 1), ins.offset, _reshapes_only(metadata))


def _lowered(
    site: Site, callee: _Callee, fields: Sequence[SSAValue], at: int, reshapes: bool = False
) -> SSAValue:
    *devices, place = callee.devices
    ins = _arguments(site, callee, fields, at, devices)
    op = relay.CallLoweredOp.on(SymbolRefAttr(callee.symbol), ins, callee.type.outputs.data)
    if reshapes or callee.is_set(_RESHAPE_ONLY):
        op.properties["reshape_only"] = UnitAttr()
    _note(site, op, callee)
    return _fixed(site, site.add(op), place, site.call.offset)


def call_of_scopes(
    context: Context, function: SSAValue, args: Sequence[SSAValue], call: ast.Call
) -> SSAValue | None:
    """
    Build a call of a function literal that is a kernel with memory scopes; None for any other.

    As in TVM's planner, the scopes are those of its parameters and its result alone.
    """
    callee = _literal(function)
    if callee is None or call.attrs or not callee.is_set("Primitive"):
        return None
    if not any(device and isinstance(device.scope, StringAttr) for device in callee.devices):
        return None
    name = ast.Name(call.offset, "call_lowered")
    return _lowered(Site(context, replace(call, callee=name)), callee, args, call.offset)


_RESHAPE_ONLY = "relay.reshape_only"


def _reshapes_only(metadata: Any) -> bool:
    """Return whether TVM's metadata map declares that the result can be a view."""
    pending = [metadata]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            entries = cast("Mapping[str, Any]", value)
            if _is_true(entries.get(_RESHAPE_ONLY)):
                return True
            pending += entries.values()
    return False


_RULES: Mapping[str, tuple[int, Rule]] = {
    # any attributes only repeat those of the kernel
    "vm.invoke_tvm_op": (3, lambda site: _destination_call(site, vm.InvokeTvmOp)),
    "vm.shape_func": (3, _shape_func),
    "call_lowered": (2, _call_lowered),
}
KERNEL_CALLS = frozenset(_RULES)
"""The calls of kernels, by TVM's names."""


def kernel_call(context: Context, call: ast.Call) -> SSAValue:
    """Build the call of a kernel; its rule reads the syntax, as the callee is not a value."""
    site = Site(context, call)
    count, rule = _RULES[site.name]
    site.require_count(len(call.args), count)
    return rule(site)


# -------------------------------------------------------------------- literals


def name_literals(context: Context) -> list[FuncOp]:
    """Return the functions that the literals become; erase what has become unused."""
    explicit, names = context.explicit, context.names
    functions: dict[relay.FnOp, FuncOp] = {}
    for op, fn in explicit.calls_of_literals:
        if fn not in functions:
            functions[fn] = _function_of(fn, names)
        op.properties["callee"] = SymbolRefAttr(functions[fn].sym_name.data)
    for op in (*functions, *explicit.folded):
        if op.parent is not None and all(r.first_use is None for r in op.results):
            op.parent.erase_op(op)
    return [*functions.values()]


def _function_of(fn: relay.FnOp, names: SymbolNames) -> FuncOp:
    if fn.recursive is not None:
        raise RelayTextError("a kernel cannot call itself", location_of(fn))
    for outside in fn.captured:
        name = called(outside, "a value from outside")
        text = f"a kernel can only use its parameters, but this one uses {name}"
        raise RelayTextError(text, location_of(fn))
    region = fn.body
    if fn.result.first_use is not None:  # also used as a closure
        region = region.clone()
        for old, new in zip(walk(fn.body), walk(region), strict=True):
            new.location = old.location
    block = region.block
    region.detach_block(block)
    return function_with(block, names.unique(kernel_symbol(block.ops)), fn)
