"""
Functions that kernel calls name become kernels, once the program has been read.

    def @f(%p: (T, T), Primitive=1) -> T {      relay.prim_func @f(%a: T, %b: T) -> T {
      concatenate(%p)                       ->    %r = relay.concatenate %a, %b : …
    }                                             relay.yield %r : T
                                                }

Kernels take and give tensors: tuples among parameters and results are taken apart. A literal
gets a name made of its operators, and stands at the end of the module. A function with
`Primitive` that no such call names stays a function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    TupleType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ...dialects.device import UNCONSTRAINED, VirtualDeviceAttr
from ...dialects.relay.annotations import ATTRS
from ...dialects.relay.closures import FnOp
from ...dialects.relay.control import YieldOp
from ...dialects.relay.primitive import CallLoweredOp, PrimFuncOp, kernel_symbol
from ...dialects.relay.tuples import TupleOp, erase_unused, flatten
from ...dialects.tensors import as_tensor
from ...dialects.vm import DestinationCall
from ...dialects.walking import walk
from .errors import RelayTextError, location_of
from .functions import attributes_of
from .kernel_calls import KernelCall
from .kernel_tuples import fold_projections, with_results
from .program import Signature

if TYPE_CHECKING:
    from .emit import Emitter

"""The most characters of the name of a kernel that has none."""


class Kernels:
    """The kernels of a program: those that are defined, by name, and those of literals."""

    def __init__(self, emitter: Emitter):
        self.emitter = emitter
        self.defined: dict[str, PrimFuncOp] = {}
        self.literals: dict[FnOp, PrimFuncOp] = {}
        self._others: Mapping[str, Operation] = {}

    def complete(self) -> None:
        """Make the kernels and let every call name its own; raises `RelayTextError`."""
        explicit = self.emitter.explicit
        if explicit.calls:
            self._others = self._other_uses()
        callees = [self._kernel(call) for call in explicit.calls]
        for call, callee in zip(explicit.calls, callees, strict=True):
            call.op.properties["callee"] = SymbolRefAttr(callee.sym_name.data)
            if isinstance(call.op, CallLoweredOp):
                call.op = with_results(call.op, callee.function_type.outputs.data)
            _check_types(self.emitter, call, callee)
        for fn in self.literals:
            if fn.result.first_use is None:
                block = fn.parent
                assert block is not None, "a literal stands in a block"
                block.erase_op(fn)
        for op in explicit.folded:
            if op.parent is not None and all(r.first_use is None for r in op.results):
                op.parent.erase_op(op)

    def _kernel(self, call: KernelCall) -> PrimFuncOp:
        callee = call.callee
        if isinstance(callee, FnOp):
            made = self.literals.get(callee)
            if made is None:
                made = self.literals[callee] = self._of_literal(callee)
            return made
        made = self.defined.get(callee.definition.name)
        if made is None:
            made = self.defined[callee.definition.name] = self._of_definition(callee, call)
        return made

    # ------------------------------------------------------------ definitions

    def _of_definition(self, signature: Signature, call: KernelCall) -> PrimFuncOp:
        definition = signature.definition
        other = self._others.get(definition.name)
        if other is not None:
            raise RelayTextError(
                f"@{definition.name} is called as a kernel here, but is a function elsewhere",
                location_of(call.op),
                notes=[("it is a function here", location_of(other))],
            )
        function, location = definition.function, signature.places.location(definition.at)
        devices = [p.device or UNCONSTRAINED for p in function.params]
        scopes = self._scopes(devices, function.device, f"@{definition.name}", location)
        self.emitter.places = signature.places
        attrs = attributes_of(self.emitter, function.attrs, definition.at) or DictionaryAttr({})
        op = self._made(definition.name, signature.block, attrs.data, scopes)
        op.location = location
        return op

    def _other_uses(self) -> dict[str, Operation]:
        """For each function that is called or named, but not as a kernel, an op that does."""
        found: dict[str, Operation] = {}
        for signature in self.emitter.program.functions.values():
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
    ) -> list[str]:
        """The memory scope of each parameter, then that of the result; "" where none is said."""
        scopes: list[str] = []
        for device in (*devices, result or UNCONSTRAINED):
            scope = device.scope.data if isinstance(device.scope, StringAttr) else ""
            if device != VirtualDeviceAttr(scope=device.scope):
                raise RelayTextError(
                    f"{name} is a kernel, which runs wherever it is called: "
                    "a virtual_device of it has a memory scope only",
                    location,
                )
            scopes.append(scope)
        return scopes

    # --------------------------------------------------------------- literals

    def _of_literal(self, fn: FnOp) -> PrimFuncOp:
        if fn.recursive is not None:
            raise RelayTextError("a kernel cannot call itself", location_of(fn))
        known = fn.param_devices
        devices = [UNCONSTRAINED] * len(fn.params) if known is None else list(known)
        scopes = self._scopes(devices, fn.result_device, "this", location_of(fn))
        outside = _from_outside(fn.body)
        if outside is not None:
            name = f"%{outside.name_hint}" if outside.name_hint else "a value from outside"
            raise RelayTextError(
                f"a kernel sees its parameters only, but this one uses {name}", location_of(fn)
            )
        region = fn.body
        if fn.result.first_use is not None:  # a closure as well
            region = region.clone()
            for old, new in zip(walk(fn.body), walk(region), strict=True):
                new.location = old.location
        else:
            region = fn.detach_region(fn.body)
        block = region.block
        region.detach_block(block)
        attrs = DictionaryAttr({}) if fn.attrs is None else fn.attrs
        op = self._made(self._unique(kernel_symbol(block.ops)), block, attrs.data, scopes)
        op.location = fn.location
        return op

    def _unique(self, base: str) -> str:
        taken = {k.sym_name.data for k in self.literals.values()}
        taken.update(self.emitter.program.functions)
        name, number = base, 0
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        return name

    # ------------------------------------------------------------------- both

    def _made(
        self, name: str, block: Block, attrs: Mapping[str, Attribute], scopes: Sequence[str]
    ) -> PrimFuncOp:
        """
        The kernel of a function's body, which ends in what gives its one value.

        `scopes` are those of the function's parameters, then that of its result.
        """
        last = block.last_op
        assert last is not None, "a function gives a value"
        location = location_of(last)
        tuples: list[TupleOp] = []
        every: list[str] = []
        for argument, scope in zip(list(block.args), scopes, strict=False):
            before = len(block.args)
            self._take_apart(argument, tuples, location)
            every += [scope] * (1 + len(block.args) - before)
        whole = last.operands[0]
        results = self._leaves(whole, last)
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

    def _take_apart(
        self, argument: BlockArgument, tuples: list[TupleOp], location: FileLineColLoc
    ) -> None:
        """Let a parameter that is a tuple be several; the tuple is made if it is used as one."""
        type = argument.type
        if as_tensor(type) is not None:
            return
        name = f"parameter %{argument.name_hint}" if argument.name_hint else "a parameter"
        if not isinstance(type, TupleType):
            raise self._no_tensor(name, type, location)
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
            self._take_apart(inner, tuples, location)

    def _leaves(self, value: SSAValue, before: Operation) -> Sequence[SSAValue]:
        """The tensors that `value` is made of; projections that find them stand before an op."""

        def write(op: Operation) -> None:
            op.location = before.location
            assert before.parent is not None
            before.parent.insert_ops_before([op], before)

        leaves = flatten(value, write)
        for leaf in leaves:
            if as_tensor(leaf.type) is None:
                raise self._no_tensor("its result", leaf.type, location_of(before))
        return leaves

    def _no_tensor(self, what: str, type: Attribute, location: FileLineColLoc) -> RelayTextError:
        given = self.emitter.text(type)
        return RelayTextError(
            f"a kernel takes and gives tensors, but {what} is of type {given}", location
        )


def _from_outside(region: Region) -> SSAValue | None:
    """The first value that `region` uses and does not define."""
    inside: set[SSAValue] = set()
    for op in walk(region):
        inside.update(op.results)
        inside.update(a for inner in op.regions for b in inner.blocks for a in b.args)
    inside.update(region.block.args)
    operands = (operand for op in walk(region) for operand in op.operands)
    return next((operand for operand in operands if operand not in inside), None)


def _check_types(emitter: Emitter, call: KernelCall, callee: PrimFuncOp) -> None:
    """Kernels are called with the types that they have: dims that are not known are no others."""
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
                f"the kernel @{name} has {len(wanted)} tensors as {what}s, "
                f"but {len(given)} are given",
                location_of(op),
            )
        for i, (value, expected) in enumerate(zip(given, wanted, strict=True)):
            if value.type != expected:
                raise RelayTextError(
                    f"{what} {i} of the kernel @{name} is of type {emitter.text(expected)}, "
                    f"but {emitter.text(value.type)} is given: a kernel has one type",
                    location_of(op),
                )
