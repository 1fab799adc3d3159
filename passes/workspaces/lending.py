"""
The storages that callers may lend to a function, and the functions that they may lend them to.

    func.func private @f(%x: T) -> T {
      %s = memory.alloc_storage 64 align 64        in the workspace of @f on this device
      %t = memory.alloc_tensor %s[0]
      %b = memory.alloc_storage 64 align 64        holds the result, at byte 0, on every path:
      %u = memory.alloc_tensor %b[0]               a parameter of its own
      %z = vm.invoke_tvm_op @k ins(%t) outs(%u)
      func.return %z

Callers from outside allocate a result, not a storage: what they lend an entry has the bytes of
that result, and no more. A workspace is for storages that `pack-storage` may pack, and whose sizes
are static or follow from the shapes of arguments. `pass_workspaces` writes the IR.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ...dialects import memory, relay
from ...dialects.device import device_of
from ...dialects.relay.language.annotations import TYPE_PARAMS
from ...dialects.tensors import as_tensor, is_static, tensor_size
from ...operators.records import record
from ...operators.sizes.size_expressions import Expr
from ..bytes.aliases import AliasClasses, Returned, alias_classes, contents_of, returned_by
from ..bytes.op_facts import destination, is_part, is_storage, shape_of
from ..bytes.rooms import bytes_of, size_of
from ..bytes.storages import storages_of
from ..functions.signatures import insert_parameters
from ..functions.symbols import CallGraph, symbols_in
from ..sizes.reader import Sizes
from .caller_sizes import Origin, lendable_origin, origin_of, type_of_shape
from .tensor_storages import Home, Homes, InOneOf, tensors_in

MAX_DYNAMIC = 16
"""
The maximum number of dynamic sizes in a workspace, those in workspaces of callees included.

Callers compute them again. That of an entry has no limit: callers from outside call a function.
"""


MAX_TENSORS = 256
"""The maximum number of tensors, among those that a function returns, whose storage is lent."""


@record(eq=False)
class ResultStorage:
    """The storage of a result, which becomes a parameter: that of each path."""

    number: int
    """Of the result, among all tensors that are returned."""
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
    def size(self) -> int:
        """The largest size on a path, if none is dynamic."""
        return max(size for op in self.ops if isinstance(size := op.bytes, int))


@record(eq=False)
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
    shapes: Mapping[int, Origin] = field(default_factory=lambda: {})
    """Of results whose shape follows from those of the parameters."""


@dataclass
class Lenders:
    """Finds what functions can be lent; callees come first."""

    captured: Mapping[Operation, Sequence[SSAValue]]
    returned: dict[str, Returned]
    lent: dict[str, Lent] = field(default_factory=lambda: {})
    homes: dict[str, Sequence[Home]] = field(default_factory=lambda: {})
    """Of the results of each function that is lent storages."""
    sizes: Sizes = field(default_factory=Sizes)
    shapes: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    """The shapes of results of calls, where callees say how to compute them."""

    def classes(self, function: func.FuncOp) -> AliasClasses:
        block = function.body.block
        return alias_classes(block, self.captured, self.returned, separate=False)

    def find(self, function: func.FuncOp, is_entry: bool) -> Lent:
        """Return the storages that callers of `function` may lend it."""
        classes = self.classes(function)
        results = self.results(function, classes, is_entry)
        storages = [storage.op for storage in storages_of(classes).storages]
        return Lent(function, results, self.workspaces(function.body.block, storages, is_entry))

    def describe(self, lent: Lent) -> None:
        """Record the storages and result shapes of a rewritten callee."""
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

    def knows_shape(self, value: SSAValue) -> bool:
        """Test whether callers can compute the shape of the result `value`."""
        type = as_tensor(value.type)
        if type is None or is_static(type) or isinstance(value, BlockArgument):
            return True
        body = value.owner.parent if isinstance(value.owner, Operation) else value.owner
        return body is not None and self.shape_origin(value, body) is not None

    def shape(self, value: SSAValue) -> SSAValue | None:
        """Return the shape that `value` is allocated with; None if nothing says so."""
        while (into := destination(value)) is not None:
            value = into
        return self.shapes.get(value) or shape_of(value)

    def shape_origin(self, value: SSAValue, body: Block) -> Origin | None:
        """Return how the shape that `value` is allocated with follows from the parameters'."""
        shape = self.shape(value)
        origin = None if shape is None else origin_of(shape, body, self.sizes)
        return origin if origin is not None and origin.never_fails else None

    def results(
        self, function: func.FuncOp, classes: AliasClasses, is_entry: bool
    ) -> list[ResultStorage]:
        """Return the storages that hold one result each, on every path."""
        homes, block = Homes(self.homes), function.body.block
        returned = chain.from_iterable(map(tensors_in, returned_values(function)))
        tensors = [*islice(returned, MAX_TENSORS)]
        places = [
            home if isinstance(home := homes.of(value, path), InOneOf) else InOneOf(())
            for value, path, _ in tensors
        ]
        held = Counter(storage for home in places for storage in home.storages)
        outside = {classes.of(arg) for arg in block.args if not is_storage(arg)}
        outside -= {classes.of(value) for value in returned_values(function)}
        results: list[ResultStorage] = []
        for number, home in enumerate(places):
            ops = [s.owner for s in home.storages if isinstance(s.owner, memory.AllocStorageOp)]
            if not ops or len(ops) < len(home.storages) or any(held[op.storage] > 1 for op in ops):
                continue
            if not all(holds_only_a_result(op.storage, classes, outside) for op in ops):
                continue
            if is_entry and not all(self.is_as_large(op, *tensors[number]) for op in ops):
                continue
            origin = None
            sizes = [size for op in ops if isinstance(size := op.bytes, SSAValue)]
            if sizes:
                if len(ops) > 1 or ops[0].parent is not block:
                    continue
                origin = lendable_origin(sizes[0], block, self.sizes)
                if origin is None:
                    continue
            results.append(ResultStorage(number, ops, origin))
        return results

    def is_as_large(
        self, storage: memory.AllocStorageOp, value: SSAValue, path: tuple[int, ...], at: Attribute
    ) -> bool:
        """Test whether `storage` certainly has the bytes of a tensor that is returned, no more."""
        type = as_tensor(at)
        if type is None or (path and not is_static(type)) or not self.knows_shape(value):
            return False
        bytes = Expr.of(tensor_size(type)) if is_static(type) else bytes_of(value, self.sizes)
        return size_of(storage, self.sizes) == bytes

    def workspaces(
        self, block: Block, storages: Iterable[memory.AllocStorageOp], is_entry: bool
    ) -> list[NewWorkspace]:
        """
        Return a workspace for each device with storages, of a body, that may share an arena.

        It has at most `MAX_DYNAMIC` dynamic sizes, unless the body is of an entry.
        """
        by_type: dict[memory.StorageType, list[tuple[memory.AllocStorageOp, Origin | None]]] = {}
        for op in storages:
            size, origin = op.dynamic_size, None
            if size is not None:
                origin = lendable_origin(size, block, self.sizes)
                if origin is None:
                    continue
            type = op.storage.type
            assert isinstance(type, memory.StorageType)
            by_type.setdefault(type, []).append((op, origin))
        workspaces: list[NewWorkspace] = []
        for type, pairs in by_type.items():
            origins = [origin for _, origin in pairs if origin is not None]
            count = sum(map(self.dynamic_sizes, origins))
            if count > MAX_DYNAMIC and not is_entry:
                origins, count = [], 0
                pairs = [pair for pair in pairs if pair[1] is None]
            if pairs:
                alignment = max(op.alignment.value.data for op, _ in pairs)
                never_fails = all(origin.never_fails for origin in origins)
                shapes = shapes_read(origins)
                workspaces.append(NewWorkspace(type, alignment, shapes, count, never_fails))
        return workspaces

    def dynamic_sizes(self, origin: Origin) -> int:
        """Return how many sizes a size adds up: 1, or those in the workspace of a callee."""
        count = 0 if origin.callees else 1
        for op in origin.callees:
            lent = self.lent.get(op.function.string_value())
            for workspace in () if lent is None else lent.workspaces:
                count += workspace.dynamic
        return count


def holds_only_a_result(storage: SSAValue, classes: AliasClasses, outside: set[int]) -> bool:
    """
    Test whether `storage` holds one thing, and its bytes do not belong to classes `outside`.

    A result and what it is written over are one class, at the start of the storage; so are the
    parts of a join.
    """
    if not storage.has_one_use():
        tensors = [use.operation for use in storage.uses]
        placed = all(
            isinstance(t, memory.AllocTensorOp) and (is_at_start(t) or is_part(t)) for t in tensors
        )
        if not placed or len({classes.of(t.results[0]) for t in tensors}) != 1:
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
    params = {param for origin in origins for param in origin.params}
    ordered = sorted(params, key=lambda param: param.index)
    return {param: type_of_shape(param) for param in ordered}


def calls_directly(op: Operation) -> bool:
    """Test whether `op` is a direct call that names its callee alone."""
    is_call = isinstance(op, func.CallOp) or (isinstance(op, relay.InvokeOp) and not op.type_args)
    return is_call and len([*symbols_in(op)]) == 1


def is_entry(function: func.FuncOp, entries: Sequence[str]) -> bool:
    """Test whether `function` is called from outside: it is one of `entries`, or not private."""
    if entries:
        return function.sym_name.data in entries
    return function.sym_visibility != StringAttr("private")


def functions_to_lend_to(
    graph: CallGraph,
    entries: Sequence[str],
    lends_to_entries: bool,
) -> set[str]:
    """
    Return the functions that do not recurse and have direct calls alone.

    Entries are among them if callers outside lend, too; other functions only if they are called.
    """
    recursive = graph.recursive()
    chosen: set[str] = set()
    for name, op in graph.symbols.items():
        if not isinstance(op, func.FuncOp) or not op.body.blocks:
            continue
        if TYPE_PARAMS in op.attributes or name in recursive:
            continue
        is_chosen = lends_to_entries if is_entry(op, entries) else bool(graph.users[name])
        if is_chosen and all(map(calls_directly, graph.users[name])):
            chosen.add(name)
    return chosen


def take_storages(lent: Lent, is_entry: bool, rewriter: PatternRewriter) -> None:
    """Make storages of a function its parameters."""
    op = lent.function
    for result in lent.results:
        number = IntegerAttr(result.number, i64)
        attributes = described(memory.RESULT, number, result.alignment)
        (param,) = insert_parameters(op, len(op.args), [result.type], [attributes])
        param.name_hint = "result"
        for storage in result.ops:
            rewriter.replace(storage, [], [param])
    for workspace in lent.workspaces:
        listed = DenseArrayBase.from_list(i64, [shape.index for shape in workspace.shapes])
        attributes = described(memory.WORKSPACE, listed, workspace.alignment)
        device = device_of(workspace.type)
        if device is not None and isinstance(device.scope, StringAttr):
            place = StringAttr(memory.place_of(device))
            attributes = DictionaryAttr({**attributes.data, memory.POOL: place})
        (param,) = insert_parameters(op, len(op.args), [workspace.type], [attributes])
        param.name_hint = "workspace"
    if not is_entry:
        op.sym_visibility = StringAttr("private")
    rewriter.notify_op_modified(op)


def described(kind: str, value: Attribute, alignment: int) -> DictionaryAttr:
    return DictionaryAttr({kind: value, memory.ALIGNMENT: IntegerAttr(alignment, i64)})
