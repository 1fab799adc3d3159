"""
Specialize functions for the function values and types that calls pass, so that none remain.

    %k = relay.closure @scale(%a) : (U) -> ((T) -> T)
    %y = func.call @twice(%k, %x) : ((T) -> T, T) -> T
    func.func @twice(%f: (T) -> T, %x: T) -> T {
      %0 = relay.call %f(%x) : (T) -> T
      …
    }
    ->
    %y = func.call @twice_1(%a, %x) : (U, T) -> T
    func.func private @twice_1(%f: U, %x: T) -> T {
      %0 = relay.invoke @scale(%f, %x) : (U, T) -> T
      …
    }

A call that passes known functions, or types, or gets a function back, calls a copy instead. The
copy gets what a closure captured in place of the closure, and returns what it captured where it
returns one. Equal calls share a copy, so recursive functions need finitely many; where they would
need more than `MAX_COPIES`, as where a closure grows at each step, it is an error. A function all
of whose calls were replaced is removed. Functions that are chosen at run time, by `relay.if` or out
of data, stay values. Run `lambda-lift` before. (Defunctionalization by specialization;
monomorphization.) Level `relay`; the level stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.relay.language.annotations import TYPE_PARAMS, type_params_of
from ..dialects.relay.language.language_types import substitute
from ..dialects.xdsl_extras.walking import walk
from .functions.calls import cast_values, known_function
from .functions.signatures import erase_parameters, insert_parameters
from .functions.symbols import CallGraph, SymbolNames
from .support.changes import LevelPass
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns, erase_unused, rewrite_each

MAX_COPIES = 1000
"""The maximum number of copies of functions in a module."""


@dataclass(frozen=True)
class Known:
    """A function value that is known: of `callee`, over captured values."""

    callee: str
    type_args: tuple[Attribute, ...]
    captured: tuple[Known | Attribute, ...]
    """A function, or the type of another value."""
    type: FunctionType

    def types(self) -> Iterator[Attribute]:
        """Yield the types of the captured values that are not known functions, in order."""
        for part in self.captured:
            if isinstance(part, Known):
                yield from part.types()
            else:
                yield part

    def build(self, captured: Iterator[SSAValue], ops: list[Operation]) -> SSAValue:
        """Return the function value, of `captured` values; append the ops that build it."""
        values = [
            part.build(captured, ops) if isinstance(part, Known) else next(captured)
            for part in self.captured
        ]
        if values:
            op: Operation = relay.ClosureOp(self.callee, values, self.type, self.type_args)
        else:
            op = relay.GlobalOp(self.callee, self.type, self.type_args)
        ops.append(op)
        return op.results[0]


def known(value: SSAValue) -> Known | None:
    """Return what function `value` is, if that is known."""
    op = known_function(value)
    if op is None:
        return None
    captured = tuple(known(v) or v.type for v in op.operands)
    return Known(op.callee.string_value(), op.type_args.data, captured, op.result.type)


def leaves(value: SSAValue) -> Iterator[SSAValue]:
    """Yield the captured values of a known function that are not known functions, in order."""
    op = known_function(value)
    if op is None:
        yield value
        return
    for operand in op.operands:
        yield from leaves(operand)


@dataclass
class Copy:
    """A copy of a function, for calls that pass the same functions and types."""

    function: func.FuncOp
    results: Sequence[Known | None] = ()
    """The results that the copy does not return as functions."""
    is_open: bool = True
    """True while calls in the copy are being replaced."""


def functions_among(values: Iterable[SSAValue]) -> list[Known | None]:
    """Return the function that each value is, None if that is not known."""
    return [known(value) for value in values]


def flat_attrs(
    attrs: ArrayAttr[DictionaryAttr] | None, functions: Sequence[Known | None]
) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of parameters or results for what replaces them."""
    if attrs is None:
        return None
    entries: list[DictionaryAttr] = []
    for entry, function in zip(attrs, functions, strict=True):
        entries += [entry] if function is None else [DictionaryAttr({})] * len([*function.types()])
    return ArrayAttr(entries)


def rebuilt(
    values: Iterable[SSAValue], functions: Sequence[Known | None]
) -> tuple[list[SSAValue], list[Operation]]:
    """Return values with known functions rebuilt of what they captured, and the ops to insert."""
    remaining, ops = iter(values), list[Operation]()
    return [next(remaining) if f is None else f.build(remaining, ops) for f in functions], ops


def is_first_order(types: Iterable[Attribute]) -> bool:
    return not any(isinstance(type, FunctionType) for type in types)


@dataclass
class Copies:
    """The copies of functions, by the functions and types that calls pass."""

    functions: dict[str, func.FuncOp]
    names: SymbolNames
    by_key: dict[object, Copy] = field(default_factory=lambda: {})
    copied: dict[str, func.FuncOp] = field(default_factory=lambda: {})
    """The functions that were copied, by name."""

    def of(self, call: Operation, function: func.FuncOp, passed: Sequence[Known | None]) -> Copy:
        """Return the copy for `call` of `function` with the known functions that it passes."""
        type_args = call.type_args.data if isinstance(call, relay.InvokeOp) else ()
        key = function.sym_name.data, tuple(type_args), tuple(passed)
        copy = self.by_key.get(key)
        if copy is not None:
            return copy
        if len(self.by_key) == MAX_COPIES:
            raise PassError(
                f"the functions of this program need more than {MAX_COPIES} copies to go "
                "without function values",
                call,
            )
        self.copied[function.sym_name.data] = function
        copy = self.by_key[key] = Copy(self._copied(function, type_args, passed))
        self.replace_calls(copy.function)
        copy.is_open = False
        self._return_captured(copy)
        return copy

    def _copied(
        self, function: func.FuncOp, type_args: Sequence[Attribute], passed: Sequence[Known | None]
    ) -> func.FuncOp:
        new = function.clone()
        new.sym_name = StringAttr(self.names.unique(function.sym_name.data))
        new.sym_visibility = StringAttr("private")
        if names := type_params_of(new):
            del new.attributes[TYPE_PARAMS]
            substitute(new, dict(zip(names, type_args, strict=True)))
        block = function.parent_block()
        assert block is not None, "a function is in a module"
        block.insert_op_after(new, function)
        first = new.body.block.first_op
        assert first is not None, "a function ends in func.return"
        for i in reversed(range(len(passed))):
            if (value := passed[i]) is not None:
                ops: list[Operation] = []
                captured = insert_parameters(new, i + 1, [*value.types()])
                replacement = value.build(iter(captured), ops)
                new.body.block.insert_ops_before(ops, first)
                first = ops[0]
                replacement.name_hint = new.args[i].name_hint
                new.args[i].replace_all_uses_with(replacement)
                erase_parameters(new, [i])
        return new

    def replace_calls(self, function: func.FuncOp) -> None:
        """Replace the calls in `function` that pass functions or types."""
        calls = [
            op
            for op in walk(function)
            if isinstance(op, func.CallOp | relay.InvokeOp | relay.CallOp)
        ]
        if calls:
            apply_patterns(function.body, CallCopy(self), only=calls)

    def _return_captured(self, copy: Copy) -> None:
        """Let a copy return what closures captured in place of the closures."""
        function, last = copy.function, copy.function.body.block.last_op
        assert isinstance(last, func.ReturnOp), "a function ends in func.return"
        if not copy.results:
            copy.results = [known(value) for value in last.operands]
        if all(result is None for result in copy.results):
            return
        function.res_attrs = flat_attrs(function.res_attrs, copy.results)
        last.operands = [
            leaf
            for value, result in zip(last.operands, copy.results, strict=True)
            for leaf in ([value] if result is None else leaves(value))
        ]
        function.update_function_type()


@dataclass
class CallCopy(RewritePattern):
    """Call a copy of a function, or the function that a value is known to be."""

    copies: Copies

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, relay.CallOp):
            value = known_function(op.callee)
            if value is None:
                return
            name, type_args = value.callee.string_value(), value.type_args.data
            args = (*value.operands, *op.args)
            call = relay.InvokeOp(name, type_args, args, op.result.type)
            rewriter.replace(op, call)
            op = call
        assert isinstance(op, func.CallOp | relay.InvokeOp)
        function = self.copies.functions.get(op.callee.string_value())
        if function is None or not function.body.blocks:
            return
        passed = functions_among(op.operands)
        is_generic = isinstance(op, relay.InvokeOp) and bool(op.type_args.data)
        has_functions = any(f is not None for f in passed)
        if not (is_generic or has_functions) and is_first_order(op.result_types):
            if isinstance(op, relay.InvokeOp):
                self._call(op, Copy(function), rewriter)
            return
        copy = self.copies.of(op, function, passed)
        if copy.is_open and not copy.results:
            copy.results = [None] * len(op.results)  # it calls itself: functions stay results
        self._call(op, copy, rewriter)

    def _call(self, op: Operation, copy: Copy, rewriter: PatternRewriter) -> None:
        here = InsertPoint.before(op)
        type = copy.function.function_type
        operands = [leaf for value in op.operands for leaf in leaves(value)]
        args, before = cast_values(operands, type.inputs.data)
        call = func.CallOp(copy.function.sym_name.data, args, type.outputs.data)
        call.attributes = dict(op.attributes)
        rewriter.insert([*before, call], here)
        values, ops = rebuilt(call.results, copy.results or [None] * len(op.results))
        rewriter.insert(ops, here)
        results, after = cast_values(values, [result.type for result in op.results])
        rewriter.insert(after, here)
        rewriter.replace(op, [], results)


class SpecializeFunctionsPass(LevelPass):
    """Specialize functions for the function values and types that calls pass."""

    name = "specialize-functions"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        copies = Copies(functions, SymbolNames.of(op))
        for function in functions.values():
            type = function.function_type
            if TYPE_PARAMS not in function.attributes and is_first_order(type.inputs):
                copies.replace_calls(function)
        if not copies.by_key:
            return
        erase_unused(walk(op))
        unused = CallGraph.of(op).unused(copies.copied, functions.keys() - copies.copied.keys())
        rewrite_each(unused, lambda function, rewriter: rewriter.erase(function))
