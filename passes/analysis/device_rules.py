"""
The device constraints of functions, calls and returns: a dict from op to rule.

These ops tie values to what is no value, signatures and the insides of function values; all others
say what they want through `dialects.interfaces.DeviceRule`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Operation

from ...dialects import relay
from ...dialects.device import VirtualDeviceAttr
from ...dialects.relay.control import yielded
from .device_conflicts import Cause
from .device_shapes import FunctionDomain

if TYPE_CHECKING:
    from .device_constraints import DeviceConstraints


def is_free(hint: relay.OnDeviceOp) -> bool:
    """Whether the hint asks for nothing but the freedom to copy."""
    return not (hint.constrain_body or hint.constrain_result)


def read_return(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    name = function.sym_name.data
    domains = [to.results[name, i] for i in range(len(function.function_type.outputs))]
    to.bind(op, op.operands, domains, f"result {{i}} of @{name} is returned here")


def read_global_call(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    """`func.call` and `relay.invoke`: the function has one signature for all its calls."""
    name = cast("relay.InvokeOp | func.CallOp", op).callee.string_value()
    callee = to.functions.get(name)
    if callee is None:
        return
    params = [to.parameters[name, i] for i in range(len(callee.function_type.inputs))]
    to.bind(op, op.operands, params, f"argument {{i}} is where parameter {{i}} of @{name} is")
    results = [to.results[name, i] for i in range(len(callee.function_type.outputs))]
    to.bind(op, op.results, results, f"result {{i}} of the call is where that of @{name} is")


def read_global(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    assert isinstance(op, relay.GlobalOp)
    name = op.callee.string_value()
    callee = to.functions.get(name)
    if callee is None or len(callee.function_type.outputs) != 1:
        return
    params = tuple(to.parameters[name, i] for i in range(len(callee.function_type.inputs)))
    domain = FunctionDomain(params, to.results[name, 0])
    to.bind(op, op.results, [domain], f"the value is the function @{name}")


def read_closure(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    assert isinstance(op, relay.FnOp)
    domain = to.of(op.result, op)
    if not isinstance(domain, FunctionDomain):
        return
    to.bind(op, op.params, domain.params, "parameter {i} of the closure is the region's argument")
    if op.recursive is not None:
        to.bind(op, op.body.block.args[:1], [domain], "the closure itself is the region's argument")
    to.bind(op, yielded(op.body), [domain.result], "the closure gives what its region yields")
    for i, device in enumerate(op.param_devices or ()):
        if not device.is_unconstrained:
            cause = Cause(op, f"parameter {i} of the closure is annotated")
            to.demand(domain.params[i], device, cause)
    if op.result_device is not None:
        to.demand(domain, op.result_device, Cause(op, "the closure's result is annotated"))


def read_call(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    assert isinstance(op, relay.CallOp)
    domain = to.of(op.callee, op)
    if isinstance(domain, FunctionDomain):
        reason = "argument {i} is where the callee's parameter {i} is"
        to.bind(op, op.args, domain.params, reason, first=1)
        to.bind(op, op.results, [domain.result], "the call's result is where the callee's is")


def read_function_hint(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    """A hint on a function value joins both its sides: a function cannot be copied."""
    assert isinstance(op, relay.OnDeviceOp)
    domain = to.of(op.value, op)
    if isinstance(domain, FunctionDomain):
        to.bind(op, op.results, [domain], "a hint on a function is about the function itself")


def read_scalar(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    """An element of a tensor that becomes a number, such as a size, is read on the host."""
    assert isinstance(op, ExtractOp)
    to.demand(to.used(op.tensor, op), to.host, Cause(op, "numbers are read on the host", op.tensor))


def read_lowered_call(to: DeviceConstraints, op: Operation, function: func.FuncOp) -> None:
    """What a kernel wants in a memory scope is there; nothing else is said about its tensors."""
    assert isinstance(op, relay.CallLoweredOp)
    name = op.callee.string_value()
    kernel = to.kernels.get(name)
    if kernel is None or kernel.scopes is None:
        return
    for i, (value, scope) in enumerate(zip((*op.args, *op.results), kernel.scopes, strict=True)):
        if scope.data:
            what = f"parameter {i}" if i < len(op.args) else f"result {i - len(op.args)}"
            cause = Cause(op, f"{what} of @{name} is in the scope {scope.data}", value, i)
            to.demand(to.used(value, op, i), VirtualDeviceAttr(scope=scope), cause)


Read: TypeAlias = "Callable[[DeviceConstraints, Operation, func.FuncOp], None]"

READERS: Mapping[type[Operation], Read] = {
    func.ReturnOp: read_return,
    func.CallOp: read_global_call,
    relay.InvokeOp: read_global_call,
    relay.GlobalOp: read_global,
    relay.FnOp: read_closure,
    relay.CallOp: read_call,
    relay.OnDeviceOp: read_function_hint,
    ExtractOp: read_scalar,
    relay.CallLoweredOp: read_lowered_call,
}
"""Ops that tie values to what is no value: signatures and functions."""
