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
    relay.prim_func @f(%p_0: T, %p_1: T) -> (T, U) {
      …
      relay.yield %a, %b : T, U
    }
    %0, %1 = relay.call_lowered @f(%x, %y) : (T, T) -> (T, U)
    relay.exp %1 : …

Kernels take and return tensors only, so tuples among their parameters and results are flattened; a
call of a kernel already gives it tensors. The memory scopes of `relay.device` annotations become
those of the kernel, `Primitive` and `target` among its `relay.attrs` are what a kernel has anyway.
Errors are: a function that is called as a function, too; a parameter or result without tensors; a
device, which is that of the caller (a `relay.call_lowered` has devices of its own); a call whose
types are not those of the kernel. The verifier refuses what this pass removes, so run it first,
with `--disable-verify`; the reader of Relay text runs it on programs with calls of kernels. Level:
any; the level stays.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TupleType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.passes import ModulePass

from ..dialects import relay
from ..dialects.device import DEVICE, VirtualDeviceAttr
from ..dialects.relay.language.annotations import ATTRS
from ..dialects.relay.language.tuples import erase_unused, flatten, fold_projections, rebuild
from ..dialects.tensors import as_tensor
from ..dialects.vm import DestinationCall
from ..dialects.xdsl_extras.walking import walk
from .support.diagnostics import PassError
from .support.levels import Level

TypeText = Callable[[Attribute], str]
"""Returns a type as text, for messages."""


def other_uses(module: ModuleOp) -> dict[str, Operation]:
    """Return, for each function used other than as a kernel, an op that uses it."""
    found: dict[str, Operation] = {}
    for op in walk(module):
        symbol = op.properties.get("callee")
        is_kernel = isinstance(op, DestinationCall | relay.CallLoweredOp)
        if isinstance(symbol, SymbolRefAttr) and not is_kernel:
            found.setdefault(symbol.string_value(), op)
    return found


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


def leaves(type: Attribute, name: str | None) -> Iterator[tuple[Attribute, str | None]]:
    """Yield the types in `type` that are not tuples, with names after that of the whole."""
    if not isinstance(type, TupleType):
        yield type, name
        return
    for i, field in enumerate(type.types):
        yield from leaves(field, name and f"{name}_{i}")


def insert_before(op: Operation, inserted: list[Operation]) -> Callable[[Operation], None]:
    """Return what inserts ops before `op`, at its location, and appends them to `inserted`."""

    def write(new: Operation) -> None:
        new.location = op.location
        assert op.parent is not None, "an op is in a block"
        op.parent.insert_op_before(new, op)
        inserted.append(new)

    return write


def fold(tuples: Sequence[Operation]) -> None:
    """Replace the fields of `tuples`, innermost first, by what they are made of."""
    for op in reversed(tuples):
        assert isinstance(op, relay.TupleOp)
        fold_projections(op)


def not_a_tensor(what: str, type: Attribute, at: Operation, text: TypeText) -> PassError:
    """Return the error about a parameter or result that is not made of tensors."""
    return PassError(
        f"a kernel accepts and returns tensors only, but {what} is of type {text(type)}", at
    )


def flatten_parameter(argument: BlockArgument, at: Operation, text: TypeText) -> list[Operation]:
    """Split a tuple parameter into one per tensor; return the tuples that rebuild it."""
    block, type = argument.block, argument.type
    fields = [*leaves(type, argument.name_hint)]
    for field, name in fields:
        if as_tensor(field) is None:
            raise not_a_tensor(f"parameter %{name}" if name else "a parameter", field, at, text)
    if not isinstance(type, TupleType):
        return []
    parts: list[BlockArgument] = []
    for i, (field, name) in enumerate(fields):
        parts.append(block.insert_arg(field, argument.index + i))
        parts[-1].name_hint = name
    first, tuples = block.first_op, list[Operation]()
    assert first is not None, "a function returns a value"
    argument.replace_all_uses_with(rebuild(type, iter(parts), insert_before(first, tuples)))
    block.erase_arg(argument)
    for op in tuples:
        op.location = at.location
    fold(tuples)
    return tuples[::-1]


def flatten_body(block: Block, text: TypeText) -> list[int]:
    """
    Flatten the parameters and results of a function, and let it yield; return the number of tensors
    that each parameter became.
    """
    last = block.last_op
    assert last is not None, "a function returns a value"
    tuples: list[Operation] = []
    counts: list[int] = []
    for argument in block.args:
        before = len(block.args)
        tuples += flatten_parameter(argument, last, text)
        counts.append(1 + len(block.args) - before)

    returned, write = [*last.operands], insert_before(last, [])
    results = [leaf for value in returned for leaf in flatten(value, write)]
    for result in results:
        if as_tensor(result.type) is None:
            raise not_a_tensor("its result", result.type, last, text)
    end = relay.YieldOp(*results)
    end.location = last.location
    block.erase_op(last)
    block.add_op(end)
    for made in (*(value.owner for value in returned), *tuples):
        if isinstance(made, Operation):
            erase_unused(made)
    return counts


def kernel_of(function: FuncOp, is_placed: bool, text: TypeText) -> relay.PrimFuncOp:
    """Build a kernel with the body of a function, which is left without one."""
    type, block = function.function_type, function.body.block
    params = scopes_of(function.arg_attrs, len(type.inputs), function, is_placed)
    (result,) = scopes_of(function.res_attrs, 1, function, is_placed)
    function.body.detach_block(block)
    counts = flatten_body(block, text)
    end = block.last_op
    assert end is not None
    every = [scope for scope, n in zip(params, counts, strict=True) for _ in range(n)]
    every += [result] * len(end.operands)
    attrs = function.attributes.get(ATTRS)
    known: Mapping[str, Attribute] = attrs.data if isinstance(attrs, DictionaryAttr) else {}
    target = known.get("target")
    target = target if isinstance(target, StringAttr) else None
    kernel = relay.PrimFuncOp(
        function.sym_name.data,
        FunctionType.from_lists(block.arg_types, [value.type for value in end.operands]),
        Region(block),
        target,
        every if any(every) else None,
    )
    said = ("Primitive",) if target is None else ("Primitive", "target")
    others = {key: value for key, value in known.items() if key not in said}
    if others:
        kernel.attributes[ATTRS] = DictionaryAttr(others)
    kernel.location = function.location
    return kernel


def flatten_results(op: relay.CallLoweredOp, types: Sequence[Attribute]) -> relay.CallLoweredOp:
    """Give a call one result per tensor; rebuild their tuple where it is used."""
    block = op.parent
    assert block is not None, "a call is in a block"
    if op.result_types == tuple(types) or len(op.results) != 1:
        return op
    (result,) = op.results
    made = relay.CallLoweredOp.on(op.callee, op.operands, types, op.reshape_only, op.impure)
    tuples: list[Operation] = []
    write = insert_before(op, tuples)
    write(made)
    whole = rebuild(result.type, iter(made.results), write)
    whole.name_hint = result.name_hint
    result.replace_all_uses_with(whole)
    block.erase_op(op)
    fold(tuples[1:])
    for each in reversed(tuples[1:]):
        erase_unused(each)
    return made


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
    for call in calls:
        name = call.callee.string_value()
        function = functions.get(name)
        if function is None or name in kernels:
            continue
        if name in others:
            raise PassError(
                f"@{name} is called as a kernel here, but used as a function elsewhere",
                call,
                notes=[(others[name], "used as a function here")],
            )
        is_lowered = isinstance(call, relay.CallLoweredOp)  # which has the devices
        kernels[name] = kernel_of(function, is_lowered, text)
    for name, kernel in kernels.items():
        module.body.block.insert_op_before(kernel, functions[name])
        module.body.block.erase_op(functions[name])
    for call in calls:
        callee = kernels.get(call.callee.string_value())
        if callee is None:
            continue
        if callee.impure is not None:
            call.properties["impure"] = callee.impure
        if isinstance(call, relay.CallLoweredOp):
            call = flatten_results(call, callee.function_type.outputs.data)
        require_types(call, callee, text)


@dataclass(frozen=True)
class MakeKernelsPass(ModulePass):
    """Turn the functions that calls of kernels name into kernels."""

    name = "make-kernels"
    accepts: ClassVar[Level] = "every"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        make_kernels(op)
