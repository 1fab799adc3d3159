"""
Prove that a memory plan is safe on every path.

    %t = memory.alloc_tensor %s[0] : tensor<8xf32>
    %a = vm.invoke_tvm_op @f … outs(%t …)
    %u = memory.alloc_tensor %s[16] : tensor<8xf32>
    %b = vm.invoke_tvm_op @g … outs(%u …)               <- error: overwrites a tensor that is …
    %c = vm.invoke_tvm_op @h ins(%a, %b …)              <- note: used here

The pass follows what each value names through a body, in program order, without liveness: a value
is *intact* while its bytes hold what was written under its name, and then *ended*, by an op that
overwrites a byte of it or by a kill. Every use of an ended value is a fault; so no two tensors that
are live together overlap. Facts:

- Where contents lie: the slot of the tensor that an op writes, `[offset, offset + size)` of its
  storage. Numbers are compared exactly; of unknown sizes, slots are apart that lie in slices of a
  `memory.pack` of which one is above the other (`plan_check.slots`). Nothing is searched for: what
  is not known is an error that says so.
- Which values name them: results of views, tuples, calls and cells, by interface
  (`plan_check.names`). Overwriting ends every value that may name the contents; a kill ends every
  value that may name the same bytes. A call may return what its callee's body may.
- The lattice: intact below ended. After a choice a value is ended if it is on one of the paths.
  A result of a choice is a name of its own, intact if the value that it was on each path is; so a
  branch may kill what the other one yields.

Also: a tensor lies in its storage, and a slice in its own; offset and alignment of the storage are
multiples of what the element type needs; a view that is certainly larger than its tensor is a fault
(the machine checks the others); a tensor is written once on a path; no bytes are killed twice or
used after a kill. An op that reads bytes that it writes is a fault, unless it is a kernel that
reads each element before it writes it (`plan_check.overwriting_kernels`) and both are in one slot.

A call may write all of the storages that it is given: they must not overlap, nothing live may be in
them, and they must be as large and aligned as the callee needs for these arguments, in its calls
too (`plan_check.lent`). A result is in those in which the callee may allocate it.

Not promised: a storage that a function gets from outside the module has the size and alignment that
its tensors need, and does not overlap another. An op other than these that is given a storage is
taken to write all of it. A function that calls itself cannot be given storage. Elements of tuples
and data are not told apart. It shares no code with the passes that plan. From level `manifest` or
`memory-planned` to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block

from ..dialects.xdsl_extras.walking import values_from_above, walk
from .analysis.blocks import only_block
from .plan_check.checker import Checked, Checker
from .plan_check.names import is_storage, summaries, traits_of
from .support.changes import InspectionPass
from .support.levels import Level
from .support.walk import is_kernel


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
    found: dict[Block, None] = {}
    for block in blocks:
        pending = [block]
        path: set[Block] = set()
        while pending:
            at = pending[-1]
            left = [b for b in calls.get(at, ()) if b not in found and b not in path]
            path.add(at)
            if at in found or not left:
                found[at] = None
                pending.pop()
            else:
                pending.append(left[0])
    return list(found)


def lent_to(block: Block) -> Iterator[str]:
    """Yield the functions that are called with storages in `block`."""
    for op in walk(block, enters=lambda op: not is_kernel(op)):
        calls = traits_of(op).calls
        if calls is not None and any(is_storage(o) for o in op.operands):
            yield calls.callee(op)


@dataclass(frozen=True)
class VerifyMemoryPlanPass(InspectionPass):
    """Prove that no live tensors overlap, and that tensors, views and kills are right."""

    name = "verify-memory-plan"
    accepts: ClassVar[Level] = "manifest"

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        blocks = list(bodies(op))
        functions = {
            inner.sym_name.data: inner
            for inner in walk(op, enters=lambda op: isinstance(op, ModuleOp))
            if isinstance(inner, func.FuncOp) and inner.body.blocks
        }
        kernels = {
            name.data: inner
            for inner in op.ops
            if isinstance(name := inner.properties.get("sym_name"), StringAttr)
        }
        returned = summaries(functions)
        holders = [block.parent_op() for block in blocks]
        has_closures = not all(isinstance(holder, func.FuncOp) for holder in holders)
        captured = (
            values_from_above(op, lambda op: bool(op.regions) and traits_of(op).chooses is None)
            if has_closures
            else {}
        )
        lent: dict[str, Checked] = {}
        named = {only_block(inner): name for name, inner in functions.items()}
        for block in callees_first(blocks, named):
            checker = Checker(block, captured, returned, kernels, lent)
            unordered = checker.check()
            if unordered:
                checker = Checker(block, captured, returned, kernels, lent)
                checker.slots.unordered = unordered
                checker.check()
            if block in named:
                dims = checker.dims_of_results()
                lent[named[block]] = Checked(block, checker.needs, dims)
