"""
Let callers allocate what functions compute in, and their results.

    func.func private @f(%x: T) -> T {          func.func private @f(%x: T, %r: !memory.storage,
      %s = memory.alloc_storage 64 align 64                          %w: !memory.storage) -> T {
      %t = memory.alloc_tensor %s[0]              %s = memory.alloc_storage 64 align 64
      %y = vm.invoke_tvm_op @k … outs(%t)         %t = memory.alloc_tensor %s[0]
      %b = memory.alloc_storage 64 align 64       %y = vm.invoke_tvm_op @k … outs(%t)
      %u = memory.alloc_tensor %b[0]        ->    %u = memory.alloc_tensor %r[0]
      %z = vm.invoke_tvm_op @k … outs(%u)         %z = vm.invoke_tvm_op @k … outs(%u)
      func.return %z                              func.return %z
    }                                           }
    func.func @main(%x: T) -> T {               func.func @main(%x: T) -> T {
      %a = func.call @f(%x)                       %size = memory.workspace_size @f[2]
      …                                           %r = memory.alloc_storage 64 align 64
                                                  %w = memory.alloc_storage %size align 64
                                                  %a = func.call @f(%x, %r, %w)

So the memory of a call is a storage of the caller, live at the call, or as long as the result, and
`pack-storage` lets it share bytes there; it puts the storages of `@f` into the workspace.

A function has one workspace per device for those of its storages that `pack-storage` may pack and
whose sizes are static or follow from the shapes of arguments. The storage of a result is a
parameter if it holds that result, at byte 0, on every path. Only functions that are private, do not
recurse and have direct calls alone are changed; with `entries`, all other functions are private.
With `lend-entries`, callers from outside lend storages, too: what native code is called with. They
allocate results, so the storage that an entry takes for a result has the bytes of it, and no more.
An entry with dynamic dims has a function beside it that computes their sizes
(`workspaces.size_functions`). A result whose size is known only after the run is allocated by the
entry, and has the attribute `memory.allocated`. Before `pack-storage`, at level `manifest`, which
stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ..dialects import memory, vm
from ..dialects.device import device_of
from ..dialects.interfaces import CallsFunction
from ..dialects.xdsl_extras.walking import walk
from .bytes.aliases import Functions
from .bytes.op_facts import facts_of, is_choice
from .functions.symbols import CallGraph, SymbolNames, symbols_of
from .support.changes import LevelPass
from .support.diagnostics import OptionError
from .support.rewriting import apply_patterns, erase_unused, rewrite_each
from .workspaces.caller_sizes import Origin, type_of_shape
from .workspaces.lending import (
    Lenders,
    Lent,
    NewWorkspace,
    functions_to_lend_to,
    is_entry,
    take_storages,
)
from .workspaces.size_functions import mark_allocated, size_function
from .workspaces.workspace_sizes import SizesAtCall


@dataclass
class LendStorages(RewritePattern):
    """Allocate storages for the function that is called, and pass them."""

    lenders: Lenders
    made: list[Operation] = field(default_factory=lambda: [])
    """The ops that compute sizes and shapes, which may turn out not to be needed."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        lent, sizes = self.lenders.lent[CallsFunction.callee(op)], self.lenders.sizes
        params = len(lent.function.args) - len(lent.results) - len(lent.workspaces)
        storages: list[memory.AllocStorageOp] = []
        for result in lent.results:
            origin = result.origin
            bytes = result.size if origin is None else self.computed(origin, op, rewriter)
            storages.append(memory.AllocStorageOp(bytes, result.alignment, device_of(result.type)))
            storages[-1].storage.name_hint = "result"
        for i, workspace in enumerate(lent.workspaces, params + len(lent.results)):
            bytes = self.size_of(workspace, i, op, rewriter)
            storages.append(
                memory.AllocStorageOp(bytes, workspace.alignment, device_of(workspace.type))
            )
            storages[-1].storage.name_hint = "workspace"
        rewriter.insert(storages, InsertPoint.before(op))
        op.operands = [*op.operands, *(storage.storage for storage in storages)]
        rewriter.notify_op_modified(op)
        for i, origin in lent.shapes.items():
            shape = self.computed(origin, op, rewriter)
            self.lenders.shapes[op.results[i]] = shape
            if (dims := sizes.shape(shape)) is not None:
                sizes.know_dims(op.results[i], dims)
            for use in tuple(op.results[i].uses):
                measured = use.operation
                if facts_of(measured).only_sizes and measured.results[0].type == shape.type:
                    rewriter.replace(measured, [], [shape])

    def size_of(
        self, workspace: NewWorkspace, param: int, call: Operation, rewriter: PatternRewriter
    ) -> SSAValue:
        """Compute the size of a workspace for a call."""
        given = {p: call.operands[p.index] for p in workspace.shapes}
        known = {p: self.known_shape(given[p], type) for p, type in workspace.shapes.items()}
        values = [shape or given[p] for p, shape in known.items()]
        at = place_of(values, call) if workspace.never_fails else call
        shapes = [
            known[p] or self.shape_of(given[p], type, at, rewriter)
            for p, type in workspace.shapes.items()
        ]
        size = memory.WorkspaceSizeOp(CallsFunction.callee(call), param, shapes)
        size.bytes.name_hint = "bytes"
        rewriter.insert(size, InsertPoint.before(at))
        return size.bytes

    def computed(self, origin: Origin, call: Operation, rewriter: PatternRewriter) -> SSAValue:
        """Compute a size or shape of the callee for a call."""
        types = {p: type_of_shape(p) for p in origin.params}
        given = {p: call.operands[p.index] for p in origin.params}
        known = {p: self.known_shape(given[p], types[p]) for p in origin.params}
        at = place_of([known[p] or given[p] for p in origin.params], call)
        at = at if origin.never_fails else call

        def shape_of(param: BlockArgument) -> list[SSAValue]:
            shape = known[param] or self.shape_of(given[param], types[param], at, rewriter)
            known[param] = shape
            return [shape]

        type = origin.value.type
        same = (p for p in origin.params if types[p] == type)
        whole = next((p for p in same if self.lenders.sizes.dims(p) == origin.dims), None)
        if whole is not None:
            return shape_of(whole)[0]

        def insert(op: Operation) -> None:
            rewriter.insert(op, InsertPoint.before(at))
            self.made.append(op)

        code = SizesAtCall(insert, self.lenders.sizes, shape_of)
        values = [code.write(dim) for dim in origin.dims]
        value = values[0] if type == i64 else code.vector(values, type)
        value.name_hint = value.name_hint or origin.value.name_hint
        return value

    def known_shape(self, value: SSAValue, type: Attribute) -> SSAValue | None:
        """Return the shape, of `type`, with which `value` is allocated; None if it is measured."""
        shape = self.lenders.shape(value)
        return shape if shape is not None and shape.type == type else None

    def shape_of(
        self, value: SSAValue, type: Attribute, at: Operation, rewriter: PatternRewriter
    ) -> SSAValue:
        shape = vm.ShapeOfOp.create(operands=[value], result_types=[type])
        shape.result.name_hint = "shape"
        rewriter.insert(shape, InsertPoint.before(at))
        self.made.append(shape)
        return shape.result


def place_of(values: Sequence[SSAValue], call: Operation) -> Operation:
    """Return the op before which all of `values` are known: `call`, or a branch around it."""
    blocks = {v.owner if isinstance(v.owner, Block) else v.owner.parent for v in values}
    at = call
    while at.parent not in blocks:
        around = at.parent_op()
        if around is None or not is_choice(around):
            break
        at = around
    return at


def verify_entries(symbols: Mapping[str, Operation], entries: Sequence[str]) -> None:
    for name in entries:
        if not isinstance(symbols.get(name), func.FuncOp):
            message = f"@{name}, of the option entries, is not a function"
            raise OptionError(message, "entries")


@dataclass(frozen=True)
class PassWorkspacesPass(LevelPass):
    name = "pass-workspaces"
    accepts = "manifest"

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    lend_entries: bool = False
    """Let callers from outside lend storages, too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = symbols_of(op)
        verify_entries(symbols, self.entries)
        if not self.lend_entries and all(
            is_entry(f, self.entries) for f in symbols.values() if isinstance(f, func.FuncOp)
        ):
            return
        graph = CallGraph.of(op)
        chosen = functions_to_lend_to(graph, self.entries, self.lend_entries)
        if not chosen and not self.lend_entries:
            return
        functions = Functions.of(op)
        lenders = Lenders(functions.captured, functions.returned())
        lend = LendStorages(lenders)
        names, measured = SymbolNames.of(op), list[func.FuncOp | None]()
        for name in graph.callees_first():
            function = functions.named.get(name)
            if function is None:
                continue
            calls = [
                call
                for call in walk(function)
                if facts_of(call).calls is not None and CallsFunction.callee(call) in lenders.lent
            ]
            if calls:
                apply_patterns(op, lend, only=calls)
            entry = self.lend_entries and is_entry(function, self.entries)
            lent = lenders.find(function, entry) if name in chosen else Lent(function, (), ())
            if lent.results or lent.workspaces:
                rewrite_each([function], lambda _, rewriter: take_storages(lent, entry, rewriter))
                lenders.describe(lent)
            if entry:
                mark_allocated(function, lenders)
                measured.append(size_function(lent, lenders, names))
        op.body.block.add_ops([function for function in measured if function is not None])
        erase_unused(lend.made)
