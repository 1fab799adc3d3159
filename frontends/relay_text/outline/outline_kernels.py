"""
Turn functions that kernel calls name into kernels, once the program has been read.

    def @f(%p: (T, T), Primitive=1) -> T {      relay.prim_func @f(%a: T, %b: T) -> T {
      concatenate(%p)                       ->    %r = relay.concatenate %a, %b : …
    }                                             relay.yield %r : T
                                                }

Kernels take and return tensors only, so tuples among their parameters and results are flattened.
A function literal is named after its operators and placed at the end of the module. A function
with `Primitive` that no such call names stays a function.

A lowered call has one result per tensor; the tuple is rebuilt for users that expect one.

    %t = relay.call_lowered @f(%x) : (T) -> tuple<T, T>        %a, %b = relay.call_lowered @f(%x)
    %b = relay.tuple_get_item %t[1]                      ->
    %n = relay.negative %b                                     %n = relay.negative %b
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    TupleType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ....dialects.device import UNCONSTRAINED, VirtualDeviceAttr
from ....dialects.relay.language.annotations import ATTRS
from ....dialects.relay.language.closures import FnOp
from ....dialects.relay.language.control import YieldOp
from ....dialects.relay.language.primitive import CallLoweredOp, PrimFuncOp, kernel_symbol
from ....dialects.relay.language.tuples import (
    TupleOp,
    erase_unused,
    flatten,
    fold_projections,
    rebuild,
)
from ....dialects.tensors import as_tensor
from ....dialects.vm import DestinationCall
from ....dialects.xdsl_extras.walking import walk
from ..build.build_context import Context, KernelCall
from ..build.definitions_of_program import Signature
from ..build.function_attributes import attributes_of
from ..errors import RelayTextError, location_of


class Kernels:
    """The kernels of a program: named definitions and function literals."""

    def __init__(self, context: Context):
        self.context = context
        self.defined: dict[str, PrimFuncOp] = {}
        self.literals: dict[FnOp, PrimFuncOp] = {}
        self._others: Mapping[str, Operation] = {}

    def complete(self) -> None:
        """Build the kernels and set the callee of every call; raises `RelayTextError`."""
        explicit = self.context.explicit
        if explicit.calls:
            self._others = self._other_uses()
        callees = [self._kernel(call) for call in explicit.calls]
        for call, callee in zip(explicit.calls, callees, strict=True):
            call.op.properties["callee"] = SymbolRefAttr(callee.sym_name.data)
            if callee.impure is not None:
                call.op.properties["impure"] = callee.impure
            if isinstance(call.op, CallLoweredOp):
                call.op = flatten_results(call.op, callee.function_type.outputs.data)
            _check_types(self.context, call, callee)
        for fn in self.literals:
            if fn.result.first_use is None:
                block = fn.parent
                assert block is not None, "a literal is in a block"
                block.erase_op(fn)
        for op in explicit.folded:
            if op.parent is not None and all(r.first_use is None for r in op.results):
                op.parent.erase_op(op)

    def _kernel(self, call: KernelCall) -> PrimFuncOp:
        callee = call.callee
        if isinstance(callee, FnOp):
            made = self.literals.get(callee)
            if made is None:
                made = self.literals[callee] = self._kernel_of_literal(callee)
            return made
        made = self.defined.get(callee.definition.name)
        if made is None:
            made = self.defined[callee.definition.name] = self._kernel_of_definition(callee, call)
        return made

    # ------------------------------------------------------------ definitions

    def _kernel_of_definition(self, signature: Signature, call: KernelCall) -> PrimFuncOp:
        definition = signature.definition
        other = self._others.get(definition.name)
        if other is not None:
            raise RelayTextError(
                f"@{definition.name} is called as a kernel here, but used as a function elsewhere",
                location_of(call.op),
                notes=[("used as a function here", location_of(other))],
            )
        function, location = definition.function, signature.source_map.location(definition.offset)
        devices = [p.device or UNCONSTRAINED for p in function.params]
        is_lowered = isinstance(call.op, CallLoweredOp)  # the call has the devices
        scopes = self._scopes(devices, function.device, f"@{definition.name}", location, is_lowered)
        self.context.source_map = signature.source_map
        attrs = attributes_of(self.context, function.attrs, definition.offset) or DictionaryAttr({})
        op = self._build_kernel(definition.name, signature.block, attrs.data, scopes)
        op.location = location
        return op

    def _other_uses(self) -> dict[str, Operation]:
        """Return, for each function used other than as a kernel, an op that uses it."""
        found: dict[str, Operation] = {}
        for signature in self.context.program.functions.values():
            for op in walk(signature.block):
                symbol = op.properties.get("callee")
                if not isinstance(symbol, SymbolRefAttr):
                    continue
                if not isinstance(op, DestinationCall | CallLoweredOp):
                    found.setdefault(symbol.string_value(), op)
        return found

    def _scopes(
        self,
        devices: Sequence[VirtualDeviceAttr],
        result: VirtualDeviceAttr | None,
        name: str,
        location: FileLineColLoc,
        is_placed: bool = False,
    ) -> list[str]:
        """
        Return the memory scope of each parameter, then that of the result; "" where none is given.

        Anything else in a device is an error, unless the kernel `is_placed` on it.
        """
        scopes: list[str] = []
        for device in (*devices, result or UNCONSTRAINED):
            scope = device.scope.data if isinstance(device.scope, StringAttr) else ""
            if not is_placed and device != VirtualDeviceAttr(scope=device.scope):
                raise RelayTextError(
                    f"{name} is a kernel, which runs on the device of its caller: "
                    "its virtual_devices may only have a memory scope",
                    location,
                )
            scopes.append(scope)
        return scopes

    # --------------------------------------------------------------- literals

    def _kernel_of_literal(self, fn: FnOp) -> PrimFuncOp:
        if fn.recursive is not None:
            raise RelayTextError("a kernel cannot call itself", location_of(fn))
        known = fn.param_devices
        devices = [UNCONSTRAINED] * len(fn.params) if known is None else list(known)
        scopes = self._scopes(devices, fn.result_device, "this", location_of(fn))
        outside = _first_capture(fn.body)
        if outside is not None:
            name = f"%{outside.name_hint}" if outside.name_hint else "a value from outside"
            raise RelayTextError(
                f"a kernel can only use its parameters, but this one uses {name}", location_of(fn)
            )
        region = fn.body
        if fn.result.first_use is not None:  # also used as a closure
            region = region.clone()
            for old, new in zip(walk(fn.body), walk(region), strict=True):
                new.location = old.location
        else:
            region = fn.detach_region(fn.body)
        block = region.block
        region.detach_block(block)
        attrs = DictionaryAttr({}) if fn.attrs is None else fn.attrs
        op = self._build_kernel(
            self._unique_name(kernel_symbol(block.ops)), block, attrs.data, scopes
        )
        op.location = fn.location
        return op

    def _unique_name(self, base: str) -> str:
        taken = {k.sym_name.data for k in self.literals.values()}
        taken.update(self.context.program.functions)
        name, number = base, 0
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name

    # ------------------------------------------------------------------- both

    def _build_kernel(
        self, name: str, block: Block, attrs: Mapping[str, Attribute], scopes: Sequence[str]
    ) -> PrimFuncOp:
        """
        Build a kernel from the body of a function, which ends in returning its one value.

        `scopes` are those of the function's parameters, then that of its result.
        """
        last = block.last_op
        assert last is not None, "a function returns a value"
        location = location_of(last)
        tuples: list[TupleOp] = []
        every: list[str] = []
        for argument, scope in zip(list(block.args), scopes, strict=False):
            before = len(block.args)
            self._flatten_parameter(argument, tuples, location)
            every += [scope] * (1 + len(block.args) - before)
        whole = last.operands[0]
        results = self._flatten_value(whole, last)
        block.erase_op(last)
        end = YieldOp(*results)
        end.location = location
        block.add_op(end)
        for made in (whole.owner, *tuples):
            if isinstance(made, Operation):
                erase_unused(made)
        type = FunctionType.from_lists(block.arg_types, [r.type for r in results])
        target = attrs.get("target")
        target = target if isinstance(target, StringAttr) else None
        every += [scopes[-1]] * len(results)
        op = PrimFuncOp(name, type, Region(block), target, every if any(every) else None)
        said = ("Primitive",) if target is None else ("Primitive", "target")
        left = {key: value for key, value in attrs.items() if key not in said}
        if left:
            op.attributes[ATTRS] = DictionaryAttr(left)
        return op

    def _flatten_parameter(
        self, argument: BlockArgument, tuples: list[TupleOp], location: FileLineColLoc
    ) -> None:
        """
        Split a tuple parameter into one per field; the tuple is rebuilt if it is used as a whole.
        """
        type = argument.type
        if as_tensor(type) is not None:
            return
        name = f"parameter %{argument.name_hint}" if argument.name_hint else "a parameter"
        if not isinstance(type, TupleType):
            raise self._not_a_tensor(name, type, location)
        block, hint = argument.block, argument.name_hint
        parts: list[BlockArgument] = []
        for i, part in enumerate(type.types):
            inner = block.insert_arg(part, argument.index + i)
            inner.name_hint = None if hint is None else f"{hint}_{i}"
            parts.append(inner)
        whole = TupleOp(parts)
        whole.location = location
        block.insert_ops_before([whole], cast(Operation, block.first_op))
        argument.replace_all_uses_with(whole.result)
        block.erase_arg(argument)
        fold_projections(whole)
        tuples.append(whole)
        for inner in parts:
            self._flatten_parameter(inner, tuples, location)

    def _flatten_value(self, value: SSAValue, before: Operation) -> Sequence[SSAValue]:
        """Return the tensors in `value`; projections that extract them are inserted at `before`."""

        def write(op: Operation) -> None:
            op.location = before.location
            assert before.parent is not None
            before.parent.insert_ops_before([op], before)

        leaves = flatten(value, write)
        for leaf in leaves:
            if as_tensor(leaf.type) is None:
                raise self._not_a_tensor("its result", leaf.type, location_of(before))
        return leaves

    def _not_a_tensor(self, what: str, type: Attribute, location: FileLineColLoc) -> RelayTextError:
        given = self.context.text(type)
        return RelayTextError(
            f"a kernel accepts and returns tensors only, but {what} is of type {given}", location
        )


def _first_capture(region: Region) -> SSAValue | None:
    """Return the first value that `region` uses but does not define."""
    inside: set[SSAValue] = set()
    for op in walk(region):
        inside.update(op.results)
        inside.update(a for inner in op.regions for b in inner.blocks for a in b.args)
    inside.update(region.block.args)
    operands = (operand for op in walk(region) for operand in op.operands)
    return next((operand for operand in operands if operand not in inside), None)


def _check_types(context: Context, call: KernelCall, callee: PrimFuncOp) -> None:
    """Require that a call's types equal those of the kernel, including unknown dims."""
    op, type = call.op, callee.function_type
    ins = list(op.ins) if isinstance(op, DestinationCall) else list(op.operands)
    outs = list(op.outs) if isinstance(op, DestinationCall) else list(op.results)
    name = callee.sym_name.data
    for what, given, wanted in (
        ("argument", ins, type.inputs.data),
        ("result", outs, type.outputs.data),
    ):
        if len(given) != len(wanted):
            raise RelayTextError(
                f"kernel @{name} has {len(wanted)} tensor {what}s, but the call has {len(given)}",
                location_of(op),
            )
        for i, (value, expected) in enumerate(zip(given, wanted, strict=True)):
            if value.type != expected:
                raise RelayTextError(
                    f"{what} {i} of the kernel @{name} must be of type {context.text(expected)}, "
                    f"but is of type {context.text(value.type)}: a kernel has exactly one type",
                    location_of(op),
                )


# ---------------------------------------------------------------- tuples of results


def flatten_results(op: CallLoweredOp, types: Sequence[Attribute]) -> CallLoweredOp:
    """Give the call one result per tensor; rebuild their tuple where it is used."""
    (result,) = op.results
    if [result.type] == list(types):
        return op
    block = op.parent
    assert block is not None
    made = CallLoweredOp.on(op.callee, op.operands, types, op.reshape_only, op.impure)
    made.location = op.location
    ops: list[Operation] = [made]
    whole = rebuild(result.type, iter(made.results), ops.append)
    for each in ops[1:]:
        each.location = op.location
    block.insert_ops_before(ops, op)
    whole.name_hint = result.name_hint
    result.replace_all_uses_with(whole)
    block.erase_op(op)
    for each in reversed(ops[1:]):
        assert isinstance(each, TupleOp)
        fold_projections(each)
    for each in reversed(ops[1:]):
        if each.results[0].first_use is None:
            block.erase_op(each)
    return made
