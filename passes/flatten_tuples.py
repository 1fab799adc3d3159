"""
Replace tuples between functions, and those that `relay.if` returns, by their fields.

    func.func @f(%p: tuple<T, tuple<U>>) -> tuple<U, T> {
      …
      func.return %r : tuple<U, T>
    }
    %r = func.call @f(%t) : (tuple<T, tuple<U>>) -> tuple<U, T>
    %x = relay.tuple_get_item %r[0] : (tuple<U, T>) -> U
    relay.exp %x : …
    ->
    func.func @f(%p.0: T, %p.1: U) -> (U, T)
      attributes {relay.structure = {inputs = [{fields = [2, -1, 1, -1], name = "p"}],
                                     outputs = [{fields = [2, -1, -1], name = ""}]}} {
      …
      func.return %p.1, %p.0 : U, T
    }
    %0, %1 = func.call @f(%a, %b) : (T, U) -> (U, T)
    relay.exp %0 : …

A parameter or result keeps its attributes in every field; its `relay.name` gets the number of the
field. `relay.structure` keeps the number of fields of each tuple of a parameter or result, depth
first, and -1 for what is not a tuple: callers from outside still give and get tuples. Hints and
device copies of tuples are made of the fields. A function that is used as a value, or is generic,
keeps its signature; tuples in data types, references and closures stay. A call that knows more dims
than its function, or less, becomes a `func.call` between reshapes, which check the dims at run
time. Level `relay` or `planned`; the level stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.relay.language.annotations import NAME, STRUCTURE, TYPE_PARAMS
from ..dialects.relay.language.control import yielded
from ..dialects.relay.language.dims_attributes import parameter_names
from ..dialects.xdsl_extras.walking import walk
from .functions.flattening import (
    FlattenCopy,
    Inserter,
    flat,
    flatten_signature,
    has_tuple,
    name_fields,
)
from .support.changes import LevelPass
from .support.rewriting import apply_patterns, erase_unused, rewrite_each


def nesting_of(type: Attribute) -> Iterator[int]:
    """Yield the number of fields of each tuple in `type`, depth first, and -1 for other types."""
    if not isinstance(type, TupleType):
        yield -1
        return
    yield len(type.types)
    for field in type.types:
        yield from nesting_of(field)


def structure_of(op: func.FuncOp) -> DictionaryAttr:
    """Return the names and structures of the parameters and results of a function."""
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    given = [None] * len(outputs) if op.res_attrs is None else op.res_attrs.data
    names = [None if attrs is None else attrs.data.get(NAME) for attrs in given]
    return DictionaryAttr(
        {
            "inputs": described(parameter_names(op), inputs),
            "outputs": described([name or StringAttr("") for name in names], outputs),
        }
    )


def described(names: Sequence[Attribute], types: Sequence[Attribute]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(
        DictionaryAttr(
            {"name": name, "fields": ArrayAttr(IntegerAttr(n, i64) for n in nesting_of(type))}
        )
        for name, type in zip(names, types, strict=True)
    )


def functions_to_flatten(module: ModuleOp) -> dict[str, func.FuncOp]:
    """Return the functions with tuples in their signatures that are only called, by name."""
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, func.FuncOp)
        and TYPE_PARAMS not in op.attributes
        and has_tuple((*op.function_type.inputs, *op.function_type.outputs))
    }
    if functions:
        for op in walk(module):
            if isinstance(op, relay.GlobalOp | relay.ClosureOp):
                functions.pop(op.callee.string_value(), None)
    return functions


def flatten_function(op: func.FuncOp, rewriter: PatternRewriter) -> None:
    """Give a function a parameter, and a result, for each field, and note what they are part of."""
    if op.body.blocks:
        op.attributes[STRUCTURE] = structure_of(op)
    flatten_signature(op, rewriter)


@dataclass(frozen=True)
class FlattenCall(RewritePattern):
    """Pass fields to a function, and get fields from it."""

    functions: dict[str, func.FuncOp]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op, func.CallOp | relay.InvokeOp):
            return
        function = self.functions.get(op.callee.string_value())
        if function is None:
            return
        type = function.function_type
        insert = Inserter(rewriter, InsertPoint.before(op))
        args = insert.cast(insert.flat(op.operands), flat(type.inputs.data))
        call = func.CallOp(function.sym_name.data, args, flat(type.outputs.data))
        call.attributes = dict(op.attributes)
        insert(call)
        wanted = [result.type for result in op.results]
        fields = insert.cast(call.results, flat(wanted))
        if len(op.results) == 1:
            name_fields(fields, op.results[0].name_hint)
        rewriter.replace(op, [], insert.rebuilt(wanted, fields))


class FlattenIf(RewritePattern):
    """Let a `relay.if` return the fields of tuples."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.IfOp, rewriter: PatternRewriter, /) -> None:
        types = [result.type for result in op.results]
        if not has_tuple(types):
            return
        for region in op.regions:
            end = region.block.last_op
            assert isinstance(end, relay.YieldOp), "verified: a region yields"
            values = Inserter(rewriter, InsertPoint.before(end)).flat(yielded(region))
            rewriter.replace(end, relay.YieldOp(*values))
        leaves = flat(types)
        regions = [op.detach_region(region) for region in (*op.regions,)]
        new = relay.IfOp(op.condition, leaves, *regions)
        new.attributes = dict(op.attributes)
        if len(op.results) == 1:
            name_fields(new.results, op.results[0].name_hint)
        insert = Inserter(rewriter, InsertPoint.before(op))
        insert(new)
        rewriter.replace(op, [], insert.rebuilt(types, new.results))


class FlattenTuplesPass(LevelPass):
    name = "flatten-tuples"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = functions_to_flatten(op)
        tuples = [o for o in walk(op) if isinstance(o, relay.TupleOp | relay.TupleGetItemOp)]
        if not functions and not tuples:
            return
        apply_patterns(op, FlattenCall(functions), FlattenIf(), FlattenCopy())
        rewrite_each(functions.values(), flatten_function)
        apply_patterns(op, *relay.TupleGetItemOp.get_canonicalization_patterns())
        erase_unused(walk(op))
