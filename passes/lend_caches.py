"""
Compute a result in the memory of a parameter that it extends, such as a cache of keys and values.

    func.func @main(%past: tensor<1x8x?x64xf32> {relay.cache = {axis = 2, maximum = 1024}}, …) {
      %k = relay.concatenate %past, %new {axis = 2}
      func.return %k
    ->
    func.func @main(%past: tensor<?x1x8x64xf32>, …)
        -> (tensor<?x1x8x64xf32> {relay.cached = {parameter = "past", maximum = 1024}}) {
      %n = relay.transpose %new {axes = array<i64: 2, 0, 1, 3>}
      %r = relay.concatenate %past, %n {axis = 0, relay.unfused}
      %k = relay.transpose %r {axes = array<i64: 1, 2, 0, 3>}
      func.return %r

The rows of a cache, its elements with one index along `axis`, become its outermost dim, so that new
ones follow those before them in memory; callers see this order. The one concatenation that begins
with the cache must be along `axis`, and a result of the function. `append-in-place` makes it write
the new rows only. The option `caches` marks parameters, along the axis of their concatenation: by
name, or all with one that a pattern names, such as `past_*=1024`. Level `relay`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple, NoReturn

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from ..dialects.device import device_of, tensor_type
from ..dialects.relay.cache_attributes import CACHE, CACHED, cache_attr, cache_of, cached_attr
from ..dialects.relay.language.annotations import NAME
from ..dialects.relay.language.dims_attributes import DIMS, dims_attr, dims_of, parameter_names
from ..dialects.relay.rearrange import ConcatenateOp, MergeTransposes, TransposeOp
from ..dialects.tensors import Tensor, tensor_of
from .analysis.fusion import UNFUSED
from .functions.signatures import entries_of
from .functions.symbols import CallGraph
from .support.changes import ReportingPass
from .support.diagnostics import OptionError, PassError, parse_keyed
from .support.operator_steps import transposed
from .support.rewriting import apply_patterns, rewrite_each


class Cache(NamedTuple):
    """A parameter, and the concatenation that extends it along `axis`."""

    parameter: BlockArgument
    name: str
    axis: int
    maximum: int
    joined: ConcatenateOp


def parse_cache(text: str) -> tuple[str, int]:
    """Return the name or pattern and the rows of `NAME=ROWS`."""
    name, _, rows = text.rpartition("=")
    if not name or not rows.isdecimal():
        raise ValueError(f"must be NAME=ROWS, but is '{text}'")
    return name, int(rows)


def mark(function: func.FuncOp, rows: dict[str, int]) -> set[str]:
    """Mark the parameters that `rows` name; return the names and patterns of those."""
    names, used = [name.data for name in parameter_names(function)], set[str]()
    entries = entries_of(function.arg_attrs, len(names))
    for i, (name, argument) in enumerate(zip(names, function.args, strict=True)):
        joined = concatenations_of(argument)
        named = [p for p in rows if p == name or (joined and fnmatchcase(name, p))]
        used.update(named[:1])
        if not named or CACHE in entries[i].data:
            continue
        rank = tensor_of(argument).get_num_dims() if joined else 0
        axis = joined[0].axis.value.data % rank if joined else 0
        entries[i] = DictionaryAttr({**entries[i].data, CACHE: cache_attr(axis, rows[named[0]])})
    if used:
        function.arg_attrs = ArrayAttr(entries)
    return used


def concatenations_of(parameter: SSAValue) -> Sequence[ConcatenateOp]:
    """Return the concatenations that begin with `parameter`, and with it alone."""
    users = dict.fromkeys(use.operation for use in parameter.uses)
    return [
        op
        for op in users
        if isinstance(op, ConcatenateOp)
        and op.operands[0] is parameter
        and parameter not in op.operands[1:]
    ]


def caches_of(function: func.FuncOp) -> Iterator[Cache]:
    """Yield the caches of a function; raise `PassError` for one that no result extends."""
    attrs = entries_of(function.arg_attrs, len(function.args))
    end = function.body.block.last_op
    for argument, entry, name in zip(function.args, attrs, parameter_names(function), strict=True):
        what = f"'{name.data}' of @{function.sym_name.data}"
        try:
            marked = cache_of(entry, argument.type, what)
        except VerifyException as error:
            raise PassError(str(error), function) from None
        if marked is None:
            continue

        def refuse(reason: str, at: Operation = function, what: str = what) -> NoReturn:
            raise PassError(f"{what} is a cache, but {reason}", at)

        axis, maximum = marked
        joins = concatenations_of(argument)
        if len(joins) != 1:
            refuse(f"{len(joins) or 'no'} concatenations begin with it; there must be one")
        (join,) = joins
        along = join.axis.value.data % tensor_of(argument).get_num_dims()
        if along != axis:
            refuse(f"it is extended along dim {along} in place of dim {axis}", join)
        if end is None or [*end.operands].count(join.results[0]) != 1:
            refuse("its concatenation is not one of the results", join)
        yield Cache(argument, name.data, axis, maximum, join)


def lend(function: func.FuncOp, caches: Sequence[Cache], rewriter: PatternRewriter) -> None:
    """Put the rows of `caches` outermost, and let results be in their memory."""
    block = function.body.block
    params = entries_of(function.arg_attrs, len(function.args))
    results = entries_of(function.res_attrs, len(function.function_type.outputs))
    end = block.last_op
    assert end is not None, "a function returns"
    for parameter, name, axis, maximum, joined in caches:
        rank = tensor_of(parameter).get_num_dims()
        order = [axis, *(i for i in range(rank) if i != axis)]
        back = [order.index(i) for i in range(rank)]
        entry = {key: value for key, value in params[parameter.index].data.items() if key != CACHE}
        dims = dims_of(params[parameter.index])
        if dims is not None:
            entry[DIMS] = dims_attr(dims[i] for i in order)
        params[parameter.index] = DictionaryAttr({**entry, NAME: StringAttr(name)})
        before = rewriter.replace_value_with_new_type(parameter, permuted(parameter, order))
        view = transposed(before, back)
        rewriter.insert(view, InsertPoint.at_start(block))
        rewriter.replace_uses_with_if(
            before, view.result, lambda use, own=(view, joined): use.operation not in own
        )
        new = [transposed(value, order) for value in joined.operands[1:]]
        operands = [before, *(op.result for op in new)]
        rows = ConcatenateOp.on(operands, {"axis": IntegerAttr(0, i64)})
        rows.attributes[UNFUSED] = UnitAttr()
        rows.results[0].name_hint = joined.results[0].name_hint
        number = [*end.operands].index(joined.results[0])
        end.operands[number] = rows.results[0]
        results[number] = DictionaryAttr(
            {**results[number].data, CACHED: cached_attr(name, maximum)}
        )
        after = transposed(rows.results[0], back)
        rewriter.replace(joined, [*new, rows, after], [after.result])
    function.arg_attrs, function.res_attrs = ArrayAttr(params), ArrayAttr(results)
    function.update_function_type()


def permuted(value: SSAValue, order: Sequence[int]) -> Tensor:
    """Return the type of `value` with its dims in another order."""
    type = tensor_of(value)
    shape = type.get_shape()
    return tensor_type(type.element_type, [shape[i] for i in order], device_of(type))


@dataclass(frozen=True)
class LendCachesPass(ReportingPass):
    """Compute a result in the memory of a parameter that it extends."""

    name = "lend-caches"
    accepts = "relay"

    caches: tuple[str, ...] = ()
    """The parameters that are caches, with the rows of their buffers, like `past_*=1024`."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        rows = parse_keyed(self.caches, parse_cache, "caches")
        functions = [f for f in op.ops if isinstance(f, func.FuncOp) and len(f.body.blocks) == 1]
        public = [f for f in functions if f.sym_visibility != StringAttr("private")]
        used = {pattern for function in public for pattern in mark(function, rows)}
        if unused := [pattern for pattern in rows if pattern not in used]:
            names = (n.data for f in public for n in parameter_names(f))
            listed = ", ".join(names) or "none"
            message = f"no cache is named '{unused[0]}'; the parameters are: {listed}"
            raise OptionError(message, "caches")
        lending = {f: caches for f in functions if (caches := [*caches_of(f)])}
        graph = CallGraph.of(op) if lending else None
        for function in lending:
            if graph is not None and graph.users[function.sym_name.data]:
                raise PassError(
                    f"@{function.sym_name.data} has a cache, but is called in the module", function
                )
        rewrite_each(lending, lambda f, rewriter: lend(f, lending[f], rewriter))

        def transposes() -> list[Operation]:
            return [o for f in lending for o in f.body.block.ops if isinstance(o, TransposeOp)]

        while apply_patterns(op, MergeTransposes(), only=transposes()):
            pass
        return bool(used or lending)
