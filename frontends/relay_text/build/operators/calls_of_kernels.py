"""
Calls of kernels, the functions of tensors that TVM calls primitive.

    vm.invoke_tvm_op(@f, (%x, %y), (%t,))             vm.invoke_tvm_op @f ins(%x, %y) outs(%t)
    vm.shape_func(@f, (%n,), (%t,), is_input=[0])  -> vm.shape_func @f ins(%n) outs(%t)
    call_lowered(@f, (%x, %y))                        relay.call_lowered @f(%x, %y)

The callee is a `def @f(…, Primitive=1)`, or a function literal with that attribute; that of
`call_lowered` is any `def`, which is lowered because it is called so. The ops get their callee once
the whole program has been read (`kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    SymbolRefAttr,
    TupleType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from .....dialects import vm
from .....dialects.device import VirtualDeviceAttr
from .....dialects.relay.device_ops import OnDeviceOp
from .....dialects.relay.language.closures import FnOp
from .....dialects.relay.language.primitive import CallLoweredOp
from .....dialects.relay.language.tuples import TupleOp
from .....dialects.type_algebra import tuple_of
from ...text import syntax as ast
from ..build_context import Context, KernelCall, TupleValue, Value
from ..definitions_of_program import Signature
from ..function_rules import signature_of
from ..tuple_rules import project
from .call_operands import attributes_given, problem, require_count
from .explicit_memory import unit_result

OPEN = SymbolRefAttr("?")
"""Placeholder for a callee that is not known yet."""


# --------------------------------------------------------------------- callees


def _callee(context: Context, call: ast.Call, must_be_primitive: bool = True) -> Signature | FnOp:
    """Return the callee; a global function says that it is a kernel, if it `must_be_primitive`."""
    expr = call.args[0]
    if isinstance(expr, ast.Global):
        signature = signature_of(context, expr)
        if must_be_primitive and not is_primitive(
            signature.definition.function.attrs.get("Primitive")
        ):
            raise problem(
                context, call, f"@{expr.name} is not a kernel; add the attribute Primitive=1"
            )
        if signature.type_params:
            raise problem(context, call, f"a kernel cannot be generic, but @{expr.name} is")
        return signature
    value = context.emit(expr)
    if isinstance(value, OpResult) and isinstance(value.op, FnOp):
        if not is_primitive(_attribute(value.op, "Primitive")):
            raise problem(
                context, call, "the function is not a kernel; add the attribute Primitive=1"
            )
        return value.op
    raise problem(
        context,
        call,
        "the callee must be a global kernel, or a function literal with Primitive=1, "
        "given here or bound to a variable",
    )


def _attribute(fn: FnOp, name: str) -> int | None:
    """Return an integer attribute of a function literal, or None."""
    attr = None if fn.attrs is None else fn.attrs.data.get(name)
    return cast("IntegerAttr[Any]", attr).value.data if isinstance(attr, IntegerAttr) else None


def is_primitive(value: Any) -> bool:
    """Return whether `value` of the attribute `Primitive` is a nonzero integer."""
    return isinstance(value, int) and value != 0


def _type_of(context: Context, callee: Signature | FnOp) -> FunctionType:
    if isinstance(callee, Signature):
        return callee.type
    return cast(FunctionType, context.types.shallow(callee.result.type))


# ------------------------------------------------------------------- arguments


def _fields(context: Context, call: ast.Call, index: int) -> list[Value]:
    """Return the fields of the tuple argument `index`; a tuple literal is not built for that."""
    expr = call.args[index]
    if isinstance(expr, ast.Tuple):
        return [context.emit(field) for field in expr.fields]
    value = context.emit(expr)
    parts = parts_of(context, value, expr.offset)
    if parts is None:
        given = context.text(context.type_of(value))
        raise problem(context, call, f"argument {index} must be a tuple, but is of type {given}")
    return parts


def parts_of(context: Context, value: Value, at: int) -> list[Value] | None:
    """Return the fields of `value`; None if it is not known to be a tuple."""
    if isinstance(value, TupleValue):
        return list(value.values)
    if isinstance(value, OpResult) and isinstance(value.op, TupleOp):
        return list(value.op.operands)
    type = context.types.shallow(value.type)
    if not isinstance(type, TupleType):
        return None
    return [project(context, value, i, at) for i in range(len(type.types))]


def leaves_of(context: Context, value: Value, at: int) -> list[SSAValue]:
    """Return the tensors in `value`, flattening known tuples."""
    parts = parts_of(context, value, at)
    if parts is None:
        return [context.ssa(value)]
    return [leaf for part in parts for leaf in leaves_of(context, part, at)]


def _relay_type(context: Context, value: Value) -> Attribute:
    """Return the type of `value` without building its tuple."""
    if isinstance(value, TupleValue):
        return tuple_of([_relay_type(context, part) for part in value.values])
    return value.type


def _arguments(
    context: Context,
    call: ast.Call,
    type: FunctionType,
    callee: str,
    devices: Sequence[VirtualDeviceAttr | None] = (),
) -> list[SSAValue]:
    """
    Return the tensors passed to a kernel of `type`: argument 1 of the call.

    With `devices`, each argument is fixed on that of its parameter.
    """
    fields = _fields(context, call, 1)
    wanted = type.inputs.data
    if len(fields) != len(wanted):
        raise problem(
            context, call, f"{callee} expects {len(wanted)} arguments, but got {len(fields)}"
        )
    at = call.args[1].offset
    for i, (given, param) in enumerate(zip(fields, wanted, strict=True)):
        context.require(_relay_type(context, given), param, f"argument {i} of {callee}", at)
    places = devices or [None] * len(fields)
    return [
        _fixed(context, leaf, place, at)
        for given, place in zip(fields, places, strict=True)
        for leaf in leaves_of(context, given, at)
    ]


def _fixed(
    context: Context, value: SSAValue, device: VirtualDeviceAttr | None, at: int
) -> SSAValue:
    """Return `value`, fixed on the device; the memory scope is left to the kernel."""
    if device is None:
        return value
    place = VirtualDeviceAttr(device.device_type, device.device_id, device.target)
    if place.is_unconstrained:
        return value
    return context.value(OnDeviceOp(value, place, True, True), at)


# ----------------------------------------------------------------------- calls


def _called(callee: Signature | FnOp) -> str:
    return f"@{callee.definition.name}" if isinstance(callee, Signature) else "the kernel"


def _destination_call(
    context: Context,
    call: ast.Call,
    make: Callable[[list[SSAValue], list[SSAValue]], Operation],
) -> Value:
    """Build a call that writes into given tensors and returns unit."""
    callee = _callee(context, call)
    type = _type_of(context, callee)
    ins = _arguments(context, call, type, _called(callee))
    at = call.args[2].offset
    outs = [o for value in _fields(context, call, 2) for o in leaves_of(context, value, at)]
    (result,) = type.outputs.data
    known = context.types.shallow(result)
    types = [out.type for out in outs]
    single = len(outs) == 1 and not isinstance(known, TupleType)
    given = types[0] if single else tuple_of(types)
    if not _holds_tuples(context, known):
        context.require(given, result, f"the destination of {_called(callee)}", at)
    op = make(ins, outs)
    context.explicit.calls.append(KernelCall(op, callee, call.offset))
    return unit_result(context, op, call.offset)


def _holds_tuples(context: Context, type: Attribute) -> bool:
    """Return whether `type` is a tuple that contains tuples; its outs form one flat list."""
    return isinstance(type, TupleType) and any(
        isinstance(context.types.shallow(part), TupleType) for part in type.types
    )


def invoke_tvm_op(context: Context, call: ast.Call) -> Value:
    """Build `vm.invoke_tvm_op`; any attributes only repeat those of the kernel and are dropped."""
    return _destination_call(context, call, lambda ins, outs: vm.InvokeTvmOp.on(OPEN, ins, outs))


def shape_func(context: Context, call: ast.Call) -> Value:
    """Build `vm.shape_func`; `is_input` has a flag for each tensor argument."""
    flags = attributes_given(context, call, {"is_input": None})["is_input"]
    if not isinstance(flags, tuple) or any(
        flag not in (0, 1) for flag in cast("tuple[Any, ...]", flags)
    ):
        raise problem(context, call, "is_input must be a list of 0 and 1")
    numbers = [int(flag) for flag in cast("tuple[Any, ...]", flags)]

    def make(ins: list[SSAValue], outs: list[SSAValue]) -> Operation:
        op = vm.ShapeFuncOp.on(OPEN, ins, outs)
        op.properties["is_input"] = DenseArrayBase.from_list(i64, numbers)
        return op

    return _destination_call(context, call, make)


def call_lowered(context: Context, call: ast.Call) -> Value:
    """
    Build `relay.call_lowered`, which returns what the kernel computes.

    Where a function is lowered after devices are planned, its devices are those of the call.
    """
    attributes_given(context, call, {"metadata": None})
    callee = _callee(context, call, must_be_primitive=False)  # TVM needs no attribute here
    type = _type_of(context, callee)
    function = callee.definition.function if isinstance(callee, Signature) else None
    devices = [param.device for param in function.params] if function is not None else ()
    ins = _arguments(context, call, type, _called(callee), devices)
    op = CallLoweredOp.on(OPEN, ins, type.outputs.data)
    if _reshapes_only(call.attrs.get("metadata")) or _kernel_reshapes_only(callee):
        op.properties["reshape_only"] = UnitAttr()
    context.explicit.calls.append(KernelCall(op, callee, call.offset))
    result = context.value(op, call.offset)
    return _fixed(context, result, None if function is None else function.device, call.offset)


_RESHAPE_ONLY = "relay.reshape_only"


def _reshapes_only(metadata: Any) -> bool:
    """Return whether TVM's metadata map declares that the result can be a view."""
    pending = [metadata]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            entries = cast("Mapping[str, Any]", value)
            if is_primitive(entries.get(_RESHAPE_ONLY)):
                return True
            pending += entries.values()
    return False


def _kernel_reshapes_only(callee: Signature | FnOp) -> bool:
    if isinstance(callee, Signature):
        return is_primitive(callee.definition.function.attrs.get(_RESHAPE_ONLY))
    return is_primitive(_attribute(callee, _RESHAPE_ONLY))


EmitCall: TypeAlias = "Callable[[Context, ast.Call], Value]"


def _counted(emit: EmitCall, count: int) -> EmitCall:
    def counted(context: Context, call: ast.Call) -> Value:
        require_count(context, call, len(call.args), count)
        return emit(context, call)

    return counted


KERNEL_CALLS: Mapping[str, EmitCall] = {
    "vm.invoke_tvm_op": _counted(invoke_tvm_op, 3),
    "vm.shape_func": _counted(shape_func, 3),
    "call_lowered": _counted(call_lowered, 2),
}
"""The rule for each call, by its TVM name; it reads the syntax, as the callee is not a value."""
