"""
Turn every closure into a global function, and its use into a value of that function.

    func.func @main(%x: T, %k: T) -> T {            func.func @main(%x: T, %k: T) -> T {
      %f = relay.fn rec(%self) (%a: T) -> T {         %0 = func.call @main_f(%k, %x) : (T, T) -> T
        %b = relay.multiply %a, %k : …                func.return %0 : T
        %c = relay.call %self(%b) : (T) -> T    ->  }
        relay.yield %c : T                          func.func private @main_f(%k: T, %a: T) -> T {
      }                                               %b = relay.multiply %a, %k : …
      %0 = relay.call %f(%x) : (T) -> T               %c = func.call @main_f(%k, %b) : (T, T) -> T
      func.return %0 : T                              func.return %c : T
    }                                               }

Captured values become the first parameters, in order of first use; where the closure is not only
called, it is a `relay.closure` of the function over them, or without any a `relay.global`. Calls of
known functions become direct. Constants are not captured but made again. A closure that uses a
recursive closure around it captures what that one captures, and names its function, so mutual
recursion needs no closure values. Type variables become type parameters of the function.

A closure with type parameters becomes a generic function, and its instances values of that, or
calls: it is lifted first, as it has no type itself.

    %f = relay.fn (%x: A) -> A {…} attributes {type_params = ["A"]}
    %g = relay.instantiate %f<[T]> : (A -> A) -> (T -> T)
    %y = relay.call %g(%x) : (T) -> T                 ->    %y = relay.invoke @main_f<[T]>(%x)

Equal closures share a function once their types carry devices; before planning they do not, as
they may be put on different devices. The functions are private, and named after the function and
the closure. (TVM: LambdaLift.) From level `planned` (or `relay`); the level stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from ..dialects.device import devices_in
from ..dialects.relay.incomplete import is_incomplete
from ..dialects.relay.language.annotations import TYPE_PARAMS
from ..dialects.relay.language.control import yielded
from ..dialects.relay.language.globals import generic_closure
from ..dialects.xdsl_extras.walking import walk
from .functions.calls import call_directly
from .functions.captures import MAX_CAPTURED, Closure, closures_in, function_with, itself, too_many
from .functions.symbols import SymbolNames
from .support.changes import ReportingPass
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns, erase_unused, rewrite_each


@dataclass(frozen=True, eq=False)
class Lifted:
    """The global function that a closure becomes."""

    closure: Closure
    symbol: SymbolRefAttr
    captured: tuple[SSAValue, ...]
    """The values that become the function's first parameters."""
    type_params: tuple[str, ...]
    is_shared: bool
    """True if the function is made from an earlier closure, which is equal."""

    @property
    def outer_type_params(self) -> tuple[str, ...]:
        """The type parameters of enclosing functions."""
        return self.type_params[len(self.closure.op.own_type_params) :]

    def value(
        self,
        captured: Sequence[SSAValue],
        instance: relay.InstantiateOp | None = None,
        type_args: Sequence[Attribute] = (),
    ) -> relay.GlobalOp | relay.ClosureOp:
        """Return an op, not inserted yet, that makes the closure, or an instance of it."""
        op = instance or self.closure.op
        kind = relay.ClosureOp if captured else relay.GlobalOp
        made = kind.create(
            operands=captured,
            result_types=[op.result.type],
            properties={
                "callee": self.symbol,
                "type_args": ArrayAttr(type_args or map(relay.TypeVarType, self.type_params)),
            },
            location=op.location,
        )
        made.result.name_hint = op.result.name_hint
        return made


def is_placed(closure: Closure) -> bool:
    """Test whether the types of the closure's boundary carry devices."""
    types = (closure.op.result.type, *(value.type for value in closure.free))
    devices = [device for type in types for device in devices_in(type)]
    return bool(devices) and None not in devices


def require_types(op: relay.FnOp) -> None:
    """Raise an error unless the types of a closure and of its body are complete."""
    values = (op.result, *op.body.block.args, *yielded(op.body))
    if any(is_incomplete(value.type) for value in values):
        raise PassError("the type of this closure is incomplete: run infer-types first", op)


def base_name(closure: Closure) -> str:
    """Return the name of the function that a closure becomes, if it is not taken."""
    name = closure.op.result.name_hint or "lambda"
    around = closure.top.properties.get("sym_name")
    return f"{around.data}_{name}" if isinstance(around, StringAttr) else name


def functions_of(closures: Sequence[Closure], names: SymbolNames) -> dict[relay.FnOp, Lifted]:
    """
    Choose the function of each of `closures`; closures come before those in them.

    What is in a closure that shares a function is omitted.
    """
    to_lift = {closure.op for closure in closures}
    lifted: dict[relay.FnOp, Lifted] = {}
    known: dict[object, SymbolRefAttr] = {}
    total = 0
    for closure in closures:
        require_types(closure.op)
        if closure.parent is not None and closure.parent in to_lift:
            parent = lifted.get(closure.parent)
            if parent is None or parent.is_shared:
                continue
        index: dict[SSAValue, int] = {}
        """The captured values, numbered."""
        wiring: list[object] = []
        type_params = dict.fromkeys(closure.type_params)
        for value in closure.free:
            named = itself(value) or generic_closure(value)
            callee = lifted.get(named) if named is not None else None
            needed = (value,) if callee is None else callee.captured
            wiring.append(None if callee is None else callee.symbol)
            wiring.append(tuple(index.setdefault(v, len(index)) for v in needed))
            if callee is not None:
                type_params.update(dict.fromkeys(callee.outer_type_params))
        total += len(index)
        if total > MAX_CAPTURED:
            raise too_many(closure.op)
        key = (closure.structure, *wiring)
        symbol = known.get(key) if is_placed(closure) else None
        is_shared = symbol is not None
        if symbol is None:
            symbol = known[key] = SymbolRefAttr(names.unique(base_name(closure)))
        lifted[closure.op] = Lifted(closure, symbol, (*index,), (*type_params,), is_shared)
    return lifted


@dataclass(frozen=True)
class NameFunction(RewritePattern):
    """Make an instance of a closure that is lifted a value of its function."""

    lifted: Mapping[relay.FnOp, Lifted]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.InstantiateOp, rewriter: PatternRewriter, /) -> None:
        closure = generic_closure(op.function)
        if closure is None or closure not in self.lifted:
            return
        made = self.lifted[closure]
        outer = map(relay.TypeVarType, made.outer_type_params)
        rewriter.replace(op, made.value(made.captured, op, [*op.type_args, *outer]))


def parameters_of(lifted: Lifted) -> Sequence[SSAValue]:
    """Return the values that have the types and names of the function's parameters."""
    return (*lifted.captured, *lifted.closure.op.params)


def body_of(lifted: Lifted, others: Mapping[relay.FnOp, Lifted]) -> Block:
    """
    Return the body of the function: that of the closure, in which no closure is left.

    It begins with the constants and the recursive closures that it uses from above.
    """
    closure, old = lifted.closure, lifted.closure.op.body.block
    parameters = parameters_of(lifted)
    block = Block(arg_types=[value.type for value in parameters])
    inner: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(parameters, block.args, strict=True):
        inner[value] = argument
        argument.name_hint = value.name_hint
        argument.location = value.location if isinstance(value, BlockArgument) else UNKNOWN_LOC
    for constant in closure.constants:
        block.add_op(clone := constant.op.clone())
        inner[constant] = clone.results[0]
    users = [op for op in walk(old) if op.operands]
    used = {operand for user in users for operand in user.operands}
    recursive = {
        value: others[op]
        for value in closure.free
        if (op := itself(value)) is not None and op in others
    }
    if closure.op.recursive is not None:
        recursive[old.args[0]] = lifted
    for value, function in recursive.items():
        if value in used:  # not only by closures that were in it
            block.add_op(made := function.value([inner[v] for v in function.captured]))
            made.result.name_hint = value.name_hint
            inner[value] = made.result
    for user in users:
        if any(operand in inner for operand in user.operands):
            user.operands = [inner.get(operand, operand) for operand in user.operands]
    for op in tuple(old.ops):
        op.detach()
        block.add_op(op)
    return block


def function_of(lifted: Lifted, others: Mapping[relay.FnOp, Lifted]) -> func.FuncOp:
    """Move the body of a closure into a new function."""
    op, block = lifted.closure.op, body_of(lifted, others)
    function = function_with(block, lifted.symbol.string_value(), op, len(lifted.captured))
    if not op.type_params:
        function.sym_visibility = StringAttr("private")
    if lifted.type_params:
        function.attributes[TYPE_PARAMS] = ArrayAttr(map(StringAttr, lifted.type_params))
    return function


def insert_functions(module: ModuleOp, functions: Sequence[tuple[Operation, func.FuncOp]]) -> None:
    """Insert each function after the one that it comes from, the last one first."""
    for top, function in functions:
        if isinstance(top, func.FuncOp):
            module.body.block.insert_op_after(function, top)
        else:
            module.body.block.add_op(function)


def lift(module: ModuleOp, closures: Sequence[Closure]) -> bool:
    """Turn `closures` of `module` into functions; return whether there were any."""
    lifted = functions_of(closures, SymbolNames.of(module))
    functions: list[tuple[Operation, func.FuncOp]] = []

    def move(closure: relay.FnOp, rewriter: PatternRewriter) -> None:
        made = lifted[closure]
        if not made.is_shared:
            functions.append((made.closure.top, function_of(made, lifted)))
        if closure.type_params:
            rewriter.erase(closure)
        else:
            rewriter.replace(closure, made.value(made.captured))

    apply_patterns(module, NameFunction(lifted))
    rewrite_each(reversed(lifted), move)  # inner closures first
    insert_functions(module, functions)
    changed = call_directly(module) or bool(lifted)
    constants = dict.fromkeys(c.op for one in lifted.values() for c in one.closure.constants)
    return erase_unused(constants) or changed


@dataclass(frozen=True)
class UnfoldClosure(RewritePattern):
    """
    Write a closure of a function as one of a call, as Relay text does.

    %f = relay.closure @g(%k) : …    ->    %f = relay.fn (%x: T) -> U {… relay.invoke @g(%k, %x) …}
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.ClosureOp, rewriter: PatternRewriter, /) -> None:
        type = op.result.type
        assert isinstance(type, FunctionType), "verified"
        (result,) = type.outputs.data
        block = Block(arg_types=type.inputs.data)
        call = relay.InvokeOp(op.callee, op.type_args.data, (*op.captured, *block.args), result)
        call.location = op.location
        block.add_ops((call, relay.YieldOp(call.result)))
        rewriter.replace(op, relay.FnOp(type.inputs.data, result, Region(block)))


def lift_generic_closures(module: ModuleOp) -> None:
    """Turn the closures that have type parameters into functions; values of them stay closures."""
    lift(module, [closure for closure in closures_in(module) if closure.op.type_params])
    apply_patterns(module, UnfoldClosure())


class LambdaLiftPass(ReportingPass):
    name = "lambda-lift"
    accepts = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        closures = closures_in(op)
        if generic := [closure for closure in closures if closure.op.type_params]:
            lift(op, generic)
            closures = closures_in(op)
        return lift(op, closures) or bool(generic)
