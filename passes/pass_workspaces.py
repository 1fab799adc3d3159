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
Before `pack-storage`, at level `manifest`, which stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import memory, relay, vm
from ..dialects.device import device_of
from ..dialects.interfaces import CallsFunction, DestinationPassing
from ..dialects.relay.annotations import TYPE_PARAMS
from ..dialects.walking import walk
from .analysis.aliases import (
    AliasClasses,
    Returned,
    alias_classes,
    captured_values,
    contents_of,
    facts_of,
    is_choice,
    is_storage,
    returned_by,
    returned_by_functions,
)
from .analysis.call_graph import CallGraph, symbols_in
from .analysis.homes import Home, Homes, leaves
from .analysis.sizes import Sizes
from .analysis.storages import storages_of
from .analysis.workspaces import Origin, lendable_origin, origin_of
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns
from .support.workspace_sizes import EraseUnusedSize

MAX_DYNAMIC = 16
"""The maximum number of dynamic sizes in a workspace, those in workspaces of callees included."""


@dataclass(frozen=True, eq=False)
class ResultStorage:
    """The storage of a result, which becomes a parameter: that of each path."""

    ops: Sequence[memory.AllocStorageOp]
    origin: Origin | None
    """The computation of its size, if that is dynamic."""

    @property
    def type(self) -> Attribute:
        return self.ops[0].storage.type

    @property
    def alignment(self) -> int:
        return max(op.alignment.value.data for op in self.ops)

    @property
    def size(self) -> int | None:
        """The largest size on a path; None if it is dynamic."""
        sizes = [op.size.value.data for op in self.ops if op.size is not None]
        return max(sizes) if len(sizes) == len(self.ops) else None


@dataclass(frozen=True, eq=False)
class NewWorkspace:
    """A workspace that a function gets."""

    type: memory.StorageType
    alignment: int
    shapes: Mapping[BlockArgument, Attribute]
    """The parameters whose shapes its size depends on, and the types of these shapes."""
    dynamic: int
    """The number of dynamic sizes in it."""
    never_fails: bool


@dataclass(eq=False)
class Lent:
    """The storages that callers lend to a function: its last parameters."""

    function: func.FuncOp
    results: Sequence[ResultStorage]
    workspaces: Sequence[NewWorkspace]
    shapes: Mapping[int, Origin] = field(default_factory=dict[int, Origin])
    """Of results whose shape follows from those of the parameters."""


@dataclass(frozen=True)
class TakeStorages(RewritePattern):
    """Make storages of a function its parameters."""

    lent: Lent

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        block = op.body.block
        attributes = [DictionaryAttr({})] * len(block.args)
        if op.arg_attrs is not None:
            attributes = list(op.arg_attrs.data)
        for result in self.lent.results:
            param = rewriter.insert_block_argument(block, len(block.args), result.type)
            param.name_hint = "result"
            attributes.append(described(memory.RESULT, UnitAttr(), result.alignment))
            for storage in result.ops:
                rewriter.replace(storage, [], [param])
        for workspace in self.lent.workspaces:
            param = rewriter.insert_block_argument(block, len(block.args), workspace.type)
            param.name_hint = "workspace"
            listed = DenseArrayBase.from_list(i64, [shape.index for shape in workspace.shapes])
            attributes.append(described(memory.WORKSPACE, listed, workspace.alignment))
        type = op.function_type
        op.function_type = FunctionType.from_lists(block.arg_types, type.outputs.data)
        op.arg_attrs = ArrayAttr(attributes)
        op.sym_visibility = StringAttr("private")
        rewriter.notify_op_modified(op)


def described(kind: str, value: Attribute, alignment: int) -> DictionaryAttr:
    return DictionaryAttr({kind: value, memory.ALIGNMENT: IntegerAttr(alignment, i64)})


@dataclass
class LendStorages(RewritePattern):
    """Allocate storages for the function that is called, and pass them."""

    lent: Mapping[str, Lent]
    _shapes: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The shapes of results of calls, where callees say how to compute them."""
    made: list[Operation] = field(default_factory=list[Operation])
    """The ops that compute sizes and shapes, which may turn out not to be needed."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        lent = self.lent[CallsFunction.callee(op)]
        params = len(lent.function.args) - len(lent.results) - len(lent.workspaces)
        storages: list[memory.AllocStorageOp] = []
        for result in lent.results:
            bytes = result.size
            if bytes is None:
                bytes = self.computed(result.origin, result.ops[0].dynamic_size, op, rewriter)
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
            shape = self.computed(origin, origin.ops[-1].results[0], op, rewriter)
            self._shapes[op.results[i]] = shape

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

    def computed(
        self,
        origin: Origin | None,
        value: SSAValue | None,
        call: Operation,
        rewriter: PatternRewriter,
    ) -> SSAValue:
        """Compute `value` of the callee, whose origin is known, for a call."""
        assert origin is not None, "a dynamic size has an origin"
        assert value is not None
        types = {op.operands[0]: op.results[0].type for op in origin.reads}
        given = {p: call.operands[p.index] for p in origin.params}
        known = {p: self.known_shape(given[p], types[p]) for p in origin.params}
        at = place_of([known[p] or given[p] for p in origin.params], call)
        at = at if origin.never_fails else call
        cloned: dict[SSAValue, SSAValue] = {}
        for op in origin.ops:
            if op in origin.reads:
                param = op.operands[0]
                assert isinstance(param, BlockArgument)
                shape = known[param] or self.shape_of(given[param], types[param], at, rewriter)
                known[param] = cloned[op.results[0]] = shape
                continue
            copy = op.clone(cloned)
            rewriter.insert(copy, InsertPoint.before(at))
            self.made.append(copy)
        return cloned[value]

    def known_shape(self, value: SSAValue, type: Attribute) -> SSAValue | None:
        """Return the shape, of `type`, with which `value` is allocated; None if it is measured."""
        while isinstance(value, OpResult) and value not in self._shapes:
            if value.op.has_trait(DestinationPassing):
                value = DestinationPassing.outs(value.op)[value.index]
                continue
            shape = None
            if isinstance(value.op, memory.AllocTensorOp | vm.ReshapeTensorOp):
                shape = value.op.shape
            return shape if shape is not None and shape.type == type else None
        shape = self._shapes.get(value)
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


@dataclass
class Lenders:
    """Finds what functions can be lent; callees come first."""

    captured: Mapping[Operation, Sequence[SSAValue]]
    returned: dict[str, Returned]
    lent: dict[str, Lent] = field(default_factory=dict[str, Lent])
    homes: dict[str, Sequence[Home]] = field(default_factory=dict[str, Sequence[Home]])
    """Of the results of each function that is lent storages."""
    sizes: Sizes = field(default_factory=Sizes)

    def classes(self, function: func.FuncOp) -> AliasClasses:
        block = function.body.block
        return alias_classes(block, self.captured, self.returned, separate=False)

    def find(self, function: func.FuncOp) -> Lent:
        """Return the storages that callers of `function` may lend it."""
        classes = self.classes(function)
        results = self.results(function, classes)
        return Lent(function, results, self.workspaces(function, classes))

    def describe(self, lent: Lent) -> None:
        """Note what callers need to know of a function that has taken its storages."""
        function = lent.function
        name, returned = function.sym_name.data, returned_values(function)
        homes = Homes(self.homes)
        self.homes[name] = [homes.of(value) for value in returned]
        lent.shapes = {
            i: origin
            for i, value in enumerate(returned)
            if (origin := self.shape_origin(value, function.body.block)) is not None
        }
        self.returned[name] = returned_by(self.classes(function))
        self.lent[name] = lent

    def shape_origin(self, value: SSAValue, body: Block) -> Origin | None:
        """Return how the shape that `value` is allocated with follows from the parameters'."""
        while isinstance(value, OpResult) and value.op.has_trait(DestinationPassing):
            value = DestinationPassing.outs(value.op)[value.index]
        op = value.owner
        if not isinstance(op, memory.AllocTensorOp | vm.ReshapeTensorOp) or op.shape is None:
            return None
        origin = origin_of(op.shape, body)
        return origin if origin is not None and origin.never_fails else None

    def results(self, function: func.FuncOp, classes: AliasClasses) -> list[ResultStorage]:
        """Return the storages that hold one result each, on every path."""
        homes, block = Homes(self.homes), function.body.block
        found = [home for v in returned_values(function) for home in leaves(homes.of(v))]
        held = Counter(storage for home in found for storage in home.storages)
        outside = {classes.of(arg) for arg in block.args if not is_storage(arg)}
        outside -= {classes.of(value) for value in returned_values(function)}
        results: list[ResultStorage] = []
        for home in found:
            ops = [s.owner for s in home.storages if isinstance(s.owner, memory.AllocStorageOp)]
            if len(ops) < len(home.storages) or any(held[op.storage] > 1 for op in ops):
                continue
            if not all(holds_only_a_result(op.storage, classes, outside) for op in ops):
                continue
            origin = None
            if any(op.size is None for op in ops):
                size = ops[0].dynamic_size
                if size is None or len(ops) > 1 or ops[0].parent is not block:
                    continue
                origin = lendable_origin(size, block, self.sizes)
                if origin is None:
                    continue
            results.append(ResultStorage(ops, origin))
        return results

    def workspaces(self, function: func.FuncOp, classes: AliasClasses) -> list[NewWorkspace]:
        """Return a workspace for each device with storages that may share an arena."""
        block = function.body.block
        by_type: dict[memory.StorageType, list[tuple[memory.AllocStorageOp, Origin | None]]] = {}
        for storage in storages_of(classes).found:
            size, origin = storage.op.dynamic_size, None
            if size is not None:
                origin = lendable_origin(size, block, self.sizes)
                if origin is None:
                    continue
            type = storage.op.storage.type
            assert isinstance(type, memory.StorageType)
            by_type.setdefault(type, []).append((storage.op, origin))
        found: list[NewWorkspace] = []
        for type, storages in by_type.items():
            origins = [origin for _, origin in storages if origin is not None]
            count = sum(map(self.dynamic_sizes, origins))
            if count > MAX_DYNAMIC:
                origins, count = [], 0
                storages = [pair for pair in storages if pair[1] is None]
            if storages:
                alignment = max(op.alignment.value.data for op, _ in storages)
                never_fails = all(origin.never_fails for origin in origins)
                shapes = shapes_read(origins)
                found.append(NewWorkspace(type, alignment, shapes, count, never_fails))
        return found

    def dynamic_sizes(self, origin: Origin) -> int:
        """Return how many sizes a size adds up: 1, or those in the workspace of a callee."""
        count = 1
        for op in origin.ops:
            if isinstance(op, memory.WorkspaceSizeOp):
                lent = self.lent.get(op.function.string_value())
                for workspace in () if lent is None else lent.workspaces:
                    count += workspace.dynamic
        return count


def holds_only_a_result(storage: SSAValue, classes: AliasClasses, outside: set[int]) -> bool:
    """
    Test whether `storage` holds one thing, and its bytes do not belong to classes `outside`.

    A result and what it is written over are one class, at the start of the storage.
    """
    if not storage.has_one_use():
        tensors = [use.operation for use in storage.uses]
        at_start = all(isinstance(t, memory.AllocTensorOp) and is_at_start(t) for t in tensors)
        if not at_start or len({classes.of(t.results[0]) for t in tensors}) != 1:
            return False
    contents = contents_of(storage, classes)
    return contents is not None and not any(classes.of(v) in outside for v in contents.values)


def is_at_start(tensor: memory.AllocTensorOp) -> bool:
    return tensor.offset is not None and not tensor.offset.value.data


def returned_values(function: func.FuncOp) -> Sequence[SSAValue]:
    last = function.body.block.last_op
    return () if last is None else last.operands


def shapes_read(origins: Iterable[Origin]) -> dict[BlockArgument, Attribute]:
    """Return the parameters whose shapes are read, in order, with the types of the shapes."""
    found: dict[BlockArgument, Attribute] = {}
    for origin in origins:
        for op in origin.reads:
            param = op.operands[0]
            assert isinstance(param, BlockArgument)
            found[param] = op.results[0].type
    return dict(sorted(found.items(), key=lambda pair: pair[0].index))


def users_by_name(module: ModuleOp) -> dict[str, list[Operation]]:
    """Return the ops that name each symbol."""
    found: dict[str, list[Operation]] = {}
    for op in walk(module):
        for name in symbols_in(op):
            found.setdefault(name, []).append(op)
    return found


def calls_directly(op: Operation) -> bool:
    """Test whether `op` is a direct call that names its callee alone."""
    is_call = isinstance(op, func.CallOp) or (isinstance(op, relay.InvokeOp) and not op.type_args)
    return is_call and len([*symbols_in(op)]) == 1


def functions_to_lend_to(
    graph: CallGraph, users: Mapping[str, Sequence[Operation]], entries: Sequence[str]
) -> set[str]:
    """Return the private functions that do not recurse and have direct calls alone."""
    recursive = graph.recursive()
    return {
        name
        for name, op in graph.symbols.items()
        if isinstance(op, func.FuncOp)
        and len(op.body.blocks) == 1
        and TYPE_PARAMS not in op.attributes
        and name not in recursive
        and name not in entries
        and (bool(entries) or op.sym_visibility == StringAttr("private"))
        and users.get(name)
        and all(map(calls_directly, users[name]))
    }


def verify_entries(graph: CallGraph, entries: Sequence[str], module: ModuleOp) -> None:
    for name in entries:
        if not isinstance(graph.symbols.get(name), func.FuncOp):
            raise PassError(f"@{name}, of the option entries, is not a function", module)


@dataclass(frozen=True)
class PassWorkspacesPass(ModulePass):
    """Let callers allocate what functions compute in, and their results."""

    name = "pass-workspaces"

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        graph = CallGraph.of(op)
        verify_entries(graph, self.entries, op)
        users = users_by_name(op)
        chosen = functions_to_lend_to(graph, users, self.entries)
        if not chosen:
            return
        functions = {
            name: f
            for name, f in graph.symbols.items()
            if isinstance(f, func.FuncOp) and f.body.blocks
        }
        captured = captured_values(op)
        lenders = Lenders(captured, returned_by_functions(functions, captured))
        lend = LendStorages(lenders.lent)
        for name in chain.from_iterable(graph.components()):
            function = functions.get(name)
            if function is None:
                continue
            calls = [
                call
                for call in walk(function)
                if facts_of(call).calls is not None and CallsFunction.callee(call) in lenders.lent
            ]
            if calls:
                apply_patterns(op, lend, only=calls)
            if name not in chosen:
                continue
            lent = lenders.find(function)
            if lent.results or lent.workspaces:
                apply_patterns(op, TakeStorages(lent), only=[function])
                lenders.describe(lent)
        apply_patterns(op, EraseUnusedSize(), only=lend.made[::-1])
