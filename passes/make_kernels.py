"""
Turn the functions that calls of kernels name into kernels.

    func.func @f(%p: tuple<T, T>) -> tuple<T, U> {
      …
      func.return %r : tuple<T, U>
    }
    %r = relay.call_lowered @f(%x, %y) : (T, T) -> tuple<T, U>
    %b = relay.tuple_get_item %r[1] : …
    relay.exp %b : …
    ->
    relay.prim_func @f(%p.0: T, %p.1: T) -> (T, U) {
      …
      relay.yield %a, %b : T, U
    }
    %0, %1 = relay.call_lowered @f(%x, %y) : (T, T) -> (T, U)
    relay.exp %1 : …

Kernels accept and return tensors only, so tuples among their parameters and results are flattened;
calls of kernels pass tensors already. The memory scopes of `relay.device` annotations become those
of the kernel; `Primitive` and `target` among its `relay.attrs` are implied by the kernel. These are
errors: a function that is also called as a function; a parameter or result without tensors; a
device, as a kernel runs on that of its caller (a `relay.call_lowered` has devices of its own); a
call whose types are not those of the kernel. The verifier refuses what this pass removes, so run it
first, with `--disable-verify`; the reader of Relay text runs it on programs with calls of kernels.
Level: any; the level stays.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TupleType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, Region
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.device import DEVICE, VirtualDeviceAttr
from ..dialects.relay.language.annotations import ATTRS
from ..dialects.tensors import as_tensor
from ..dialects.vm import DestinationCall
from ..dialects.xdsl_extras.walking import walk
from .functions.flattening import Inserter, flat, flatten_signature, fold_tuple
from .support.changes import LevelPass
from .support.diagnostics import PassError
from .support.rewriting import rewrite_each

KernelCall: TypeAlias = DestinationCall | relay.CallLoweredOp
TypeText = Callable[[Attribute], str]
"""Returns a type as text, for messages."""


def other_uses(module: ModuleOp) -> dict[str, Operation]:
    """Return, for each function used other than as a kernel, an op that uses it."""
    users: dict[str, Operation] = {}
    for op in walk(module):
        symbol = op.properties.get("callee")
        is_kernel = isinstance(op, DestinationCall | relay.CallLoweredOp)
        if isinstance(symbol, SymbolRefAttr) and not is_kernel:
            users.setdefault(symbol.string_value(), op)
    return users


def scopes_of(
    attrs: ArrayAttr[DictionaryAttr] | None, count: int, function: FuncOp, is_placed: bool
) -> list[str]:
    """
    Return the memory scope of each of `count` parameters or results; "" where none is given.

    Anything else in a device is an error, unless the kernel `is_placed` on it.
    """
    scopes: list[str] = []
    for entry in [None] * count if attrs is None else attrs:
        device = None if entry is None else entry.data.get(DEVICE)
        scope = ""
        if isinstance(device, VirtualDeviceAttr):
            scope = device.scope.data if isinstance(device.scope, StringAttr) else ""
            if not is_placed and device != VirtualDeviceAttr(scope=device.scope):
                raise PassError(
                    f"@{function.sym_name.data} is a kernel, which runs on the device of its "
                    "caller: its virtual_devices may only have a memory scope",
                    function,
                )
        scopes.append(scope)
    return scopes


def require_tensors(function: FuncOp, text: TypeText) -> None:
    """Require that the parameters and results of a function are made of tensors."""
    last = function.body.block.last_op
    assert last is not None, "a function returns a value"
    for value in (*function.args, *last.operands):
        name = value.name_hint if isinstance(value, BlockArgument) else None
        for i, type in enumerate(flat([value.type])):
            if as_tensor(type) is None:
                field = f".{i}" if isinstance(value.type, TupleType) else ""
                what = f"parameter %{name}{field}" if name else "a parameter"
                what = what if isinstance(value, BlockArgument) else "its result"
                raise PassError(
                    f"a kernel accepts and returns tensors only, but {what} is of type "
                    f"{text(type)}",
                    last,
                )


def kernel_of(
    function: FuncOp, is_placed: bool, text: TypeText, rewriter: PatternRewriter
) -> relay.PrimFuncOp:
    """Build a kernel with the body of a function, which is left without one."""
    require_tensors(function, text)
    flatten_signature(function, rewriter)
    type, block = function.function_type, function.body.block
    scopes = scopes_of(function.arg_attrs, len(type.inputs), function, is_placed)
    scopes += scopes_of(function.res_attrs, len(type.outputs), function, is_placed)
    for op in (*block.ops,):
        fold_tuple(op)
    assert block.last_op is not None, "a function returns a value"
    rewriter.replace(block.last_op, relay.YieldOp(*block.last_op.operands))
    function.body.detach_block(block)
    attrs = function.attributes.get(ATTRS)
    known: Mapping[str, Attribute] = attrs.data if isinstance(attrs, DictionaryAttr) else {}
    target = known.get("target")
    target = target if isinstance(target, StringAttr) else None
    name, region = function.sym_name.data, Region(block)
    kernel = relay.PrimFuncOp(name, type, region, target, scopes if any(scopes) else None)
    implied = ("Primitive",) if target is None else ("Primitive", "target")
    others = {key: value for key, value in known.items() if key not in implied}
    if others:
        kernel.attributes[ATTRS] = DictionaryAttr(others)
    kernel.location = function.location
    return kernel


def flatten_results(
    op: relay.CallLoweredOp, types: Sequence[Attribute], rewriter: PatternRewriter
) -> relay.CallLoweredOp:
    """Give a call one result per tensor; rebuild their tuple where it is used."""
    if op.result_types == tuple(types) or len(flat(op.result_types)) != len(types):
        return op
    insert = Inserter(rewriter, InsertPoint.before(op))
    flattened = relay.CallLoweredOp.on(op.callee, op.operands, types, op.reshape_only, op.impure)
    insert(flattened)
    values = insert.rebuilt(op.result_types, flattened.results)
    rewriter.replace(op, [], values)
    for value in values:
        if isinstance(value.owner, Operation):
            fold_tuple(value.owner)
    return flattened


def require_types(op: Operation, callee: relay.PrimFuncOp, text: TypeText) -> None:
    """Require that a call's types equal those of the kernel, including unknown dims."""
    type, name = callee.function_type, callee.sym_name.data
    is_destination = isinstance(op, DestinationCall)
    ins, outs = (op.ins, op.outs) if is_destination else (op.operands, op.results)
    for what, given, wanted in (("argument", ins, type.inputs), ("result", outs, type.outputs)):
        if len(given) != len(wanted):
            raise PassError(
                f"kernel @{name} has {len(wanted)} tensor {what}s, but the call has {len(given)}",
                op,
            )
        for i, (value, expected) in enumerate(zip(given, wanted, strict=True)):
            if value.type != expected:
                raise PassError(
                    f"{what} {i} of the kernel @{name} must be of type {text(expected)}, "
                    f"but is of type {text(value.type)}: a kernel has exactly one type",
                    op,
                )


def make_kernels(module: ModuleOp, text: TypeText = str) -> None:
    """Turn the functions that calls of kernels name into kernels."""
    calls = [op for op in walk(module) if isinstance(op, DestinationCall | relay.CallLoweredOp)]
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    others = other_uses(module) if calls else {}
    kernels: dict[str, relay.PrimFuncOp] = {}

    def make(call: KernelCall, rewriter: PatternRewriter) -> None:
        name = call.callee.string_value()
        function = functions.pop(name, None)
        if function is not None:
            if name in others:
                raise PassError(
                    f"@{name} is called as a kernel here, but used as a function elsewhere",
                    call,
                    notes=[(others[name], "used as a function here")],
                )
            is_lowered = isinstance(call, relay.CallLoweredOp)  # which has the devices
            kernels[name] = kernel_of(function, is_lowered, text, rewriter)
            rewriter.replace(function, kernels[name])

    def complete(call: KernelCall, rewriter: PatternRewriter) -> None:
        callee = kernels.get(call.callee.string_value())
        if callee is None:
            return
        if callee.impure is not None:
            call.properties["impure"] = callee.impure
        if isinstance(call, relay.CallLoweredOp):
            call = flatten_results(call, callee.function_type.outputs.data, rewriter)
        require_types(call, callee, text)

    rewrite_each(calls, make)
    calls = [op for op in walk(module) if isinstance(op, DestinationCall | relay.CallLoweredOp)]
    rewrite_each(calls, complete)


class MakeKernelsPass(LevelPass):
    name = "make-kernels"
    accepts = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        make_kernels(op)
