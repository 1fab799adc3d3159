"""All bodies of a module, each checked after those that it lends storages to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block

from ...dialects.xdsl_extras.walking import values_from_above, walk
from ...runtime.program.components import components
from ..analysis.blocks import only_block
from ..support.walk import is_kernel
from .checker import Checked, Checker
from .names import is_storage, summaries, traits_of

NewChecker = Callable[..., Checker]
"""Makes the checker of a body, with the arguments of `Checker`."""


def bodies(module: ModuleOp) -> Iterator[Block]:
    """Yield the blocks of functions and of ops, such as closures, whose code runs apart."""
    for op in walk(module, enters=lambda op: not is_kernel(op)):
        if isinstance(op, func.FuncOp):
            if op.body.blocks:
                yield only_block(op)
        elif op.regions and not isinstance(op, ModuleOp) and not is_kernel(op):
            if traits_of(op).chooses is None:
                yield from (block for region in op.regions for block in region.blocks)


def callees_first(blocks: Sequence[Block], named: Mapping[Block, str]) -> list[Block]:
    """Return `blocks`, those of functions that are called with storages before their callers."""
    by_name = {name: block for block, name in named.items()}
    calls = {
        block: [by_name[name] for name in lent_to(block) if name in by_name] for block in blocks
    }
    return [*chain.from_iterable(components(calls))]


def lent_to(block: Block) -> Iterator[str]:
    """Yield the functions that are called with storages in `block`."""
    for op in walk(block, enters=lambda op: not is_kernel(op)):
        calls = traits_of(op).calls
        if calls is not None and any(is_storage(o) for o in op.operands):
            yield calls.callee(op)


def check_module(module: ModuleOp, new: NewChecker = Checker) -> None:
    """Raise an error at the first fault of a plan."""
    blocks = list(bodies(module))
    functions = {
        inner.sym_name.data: inner
        for inner in walk(module, enters=lambda op: isinstance(op, ModuleOp))
        if isinstance(inner, func.FuncOp) and inner.body.blocks
    }
    kernels = {
        name.data: inner
        for inner in module.ops
        if isinstance(name := inner.properties.get("sym_name"), StringAttr)
    }
    returned = summaries(functions)
    holders = [block.parent_op() for block in blocks]
    has_closures = not all(isinstance(holder, func.FuncOp) for holder in holders)
    captured = (
        values_from_above(module, lambda op: bool(op.regions) and traits_of(op).chooses is None)
        if has_closures
        else {}
    )
    lent: dict[str, Checked] = {}
    named = {only_block(inner): name for name, inner in functions.items()}
    for block in callees_first(blocks, named):
        checker = new(block, captured, returned, kernels, lent)
        unordered = checker.check()
        if unordered:
            checker = new(block, captured, returned, kernels, lent)
            checker.slots.unordered = unordered
            checker.check()
        if block in named:
            dims = checker.dims_of_results()
            lent[named[block]] = Checked(block, checker.needs, dims)
