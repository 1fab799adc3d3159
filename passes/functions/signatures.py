"""
The parameters of a function, inserted and erased in its type, its attributes and its body at once.

    func.func @f(%x: T)                insert_parameters(f, 1, [U], [{relay.name = "w"}])
    func.func @f(%x: T, %w: U {relay.name = "w"})
    func.func @f(%w: U {…})            erase_parameters(f, [0])
    func.func @f(%w: V {…})            set_types(f, [V])         its body, if any, comes later
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects.relay import PrimFuncOp
from ...dialects.relay.language.dims_attributes import DIM_BOUNDS
from ...dialects.xdsl_extras.xdsl_internals import append_arguments
from ..support.rewriting import rewrite_each

Entries = ArrayAttr[DictionaryAttr]
"""The attributes of each parameter, or of each result."""


def set_types(
    function: FuncOp | PrimFuncOp,
    inputs: Sequence[Attribute] | None = None,
    outputs: Sequence[Attribute] | None = None,
) -> None:
    """Set the types of parameters or results in the type of a function; its body stays."""
    type = function.function_type
    inputs = type.inputs.data if inputs is None else inputs
    function.function_type = FunctionType.from_lists(
        inputs, type.outputs.data if outputs is None else outputs
    )


def entries_of(attrs: Entries | None, count: int) -> list[DictionaryAttr]:
    """Return the attributes of each of `count` parameters or results."""
    return [DictionaryAttr({})] * count if attrs is None else [*attrs]


def marked(attrs: Entries | None, marks: Sequence[Mapping[str, Attribute]]) -> Entries:
    """Return the attributes of each parameter or result, and those of its mark."""
    entries = zip(entries_of(attrs, len(marks)), marks, strict=True)
    return ArrayAttr(DictionaryAttr({**entry.data, **mark}) for entry, mark in entries)


def insert_parameters(
    function: FuncOp,
    at: int,
    types: Sequence[Attribute],
    attrs: Iterable[DictionaryAttr] | None = None,
) -> Sequence[BlockArgument]:
    """Insert parameters of `types` from index `at` on; return those of the body, if it exists."""
    inputs = [*function.function_type.inputs]
    if attrs is not None or function.arg_attrs is not None:
        entries = entries_of(function.arg_attrs, len(inputs))
        entries[at:at] = attrs or entries_of(None, len(types))
        function.arg_attrs = ArrayAttr(entries)
    is_last = at == len(inputs)
    inputs[at:at] = types
    set_types(function, inputs)
    block = function.body.first_block
    if block is None:
        return ()
    if is_last:
        made = [BlockArgument(type, block, at + i) for i, type in enumerate(types)]
        append_arguments(block, made)
        return made
    return [block.insert_arg(type, at + i) for i, type in enumerate(types)]


def erase_parameters(function: FuncOp, indices: Collection[int]) -> None:
    """Erase parameters that nothing uses."""
    inputs = function.function_type.inputs.data
    kept = [i not in indices for i in range(len(inputs))]
    set_types(function, [*compress(inputs, kept)])
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr(compress(function.arg_attrs, kept))
    if (block := function.body.first_block) is not None:
        for i in sorted(indices, reverse=True):
            block.erase_arg(block.args[i])


def keep_bounds(function: FuncOp, names: Collection[object]) -> None:
    """Remove the bounds of all dims but those of these names."""
    if isinstance(bounds := function.attributes.pop(DIM_BOUNDS, None), DictionaryAttr):
        kept = {name: bound for name, bound in bounds.data.items() if name in names}
        if kept:
            function.attributes[DIM_BOUNDS] = DictionaryAttr(kept)


def replace_parameters(function: FuncOp, ops: Mapping[int, Operation]) -> None:
    """Replace parameters, by their index, by the results of `ops`, which are inserted."""

    def replace(op: FuncOp, rewriter: PatternRewriter) -> None:
        rewriter.insert([*ops.values()], InsertPoint.at_start(op.body.block))
        for i, made in ops.items():
            made.results[0].name_hint = op.args[i].name_hint
            op.args[i].replace_all_uses_with(made.results[0])
        erase_parameters(op, ops)

    rewrite_each([function], replace)
