"""
Write the result of a kernel over an operand that is not used after it.

    %t = memory.alloc_tensor %s[0]              %t = memory.alloc_tensor %s[0]
    %x = vm.invoke_tvm_op @f … outs(%t)         %x = vm.invoke_tvm_op @f … outs(%t)
    %s1 = memory.alloc_storage 64 align 64  ->
    %t1 = memory.alloc_tensor %s1[0]            %t1 = memory.alloc_tensor %s[0]
    %y = vm.invoke_tvm_op @relu                 %y = vm.invoke_tvm_op @relu
           ins(%x) outs(%t1)                           ins(%x) outs(%t1)

The op says which operands a result may overwrite (`OverwritesOperands`); a kernel must read each
element before it writes it. On every path, the bytes of the operand, under all names, must be used
last by the op. They must be all of a storage of the function itself, on the same device, aligned as
the result's, and as many: equal expressions if sizes are not known (`sizes.reader`). A result
that outlives the function takes the storage with it, so its operand is not in an arena either.

The storage lives as long as both did, where one of them was alive at each point, so the bytes alive
at a point never grow. A second run changes nothing. From level `manifest` to the same, before
`pack-storage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import I64, IntegerAttr, IntegerType, ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory
from ..dialects.interfaces import Lookup, OverwritesOperands
from ..dialects.xdsl_extras.xdsl_internals import operands_of
from ..operators.intervals import Interval
from .bytes.aliases import AliasClasses, bodies_of
from .bytes.liveness import Point, deaths, live_ranges
from .bytes.numbered import Row
from .bytes.rooms import bytes_of, size_of
from .bytes.storages import is_destination_of_shapes
from .functions.symbols import symbols_of
from .sizes.reader import Sizes
from .support.changes import LevelPass
from .support.rewriting import rewrite_each

Moves = dict[Operation, SSAValue]
"""The storage of an operand, for each tensor whose result is written over it."""


def storage_of(tensor: memory.AllocTensorOp) -> memory.AllocStorageOp | None:
    """Return the storage at whose first byte `tensor` is, if nothing else is in it."""
    at, offset = tensor.start
    storage = at.owner
    if not isinstance(storage, memory.AllocStorageOp) or not at.has_one_use():
        return None
    return storage if offset == 0 else None


@cache
def interface_of(kind: type[Operation]) -> OverwritesOperands | None:
    return kind.get_trait(OverwritesOperands)


def is_size(type: Attribute) -> bool:
    return type.__class__ is IntegerType and type == i64


def may_replace(storage: memory.AllocStorageOp, other: memory.AllocStorageOp) -> bool:
    """Test whether `storage` is on the device of `other`, and aligned at least as strictly."""
    if storage is other:
        return True
    aligned = alignment_of(storage) % alignment_of(other) == 0
    one, two = storage.results[0].type, other.results[0].type
    return aligned and (one is two or one == two)


def alignment_of(storage: memory.AllocStorageOp) -> int:
    return cast(IntegerAttr[I64], storage.properties["alignment"]).value.data


@dataclass(eq=False)
class Body:
    """The facts of a function or closure that decide what may be overwritten."""

    classes: AliasClasses
    undivided: Callable[[], Mapping[Block, AliasClasses]]
    """Computes, once, the classes in which bytes stay when a branch hands them over."""
    sizes: Sizes
    lookup: Lookup
    answers: dict[Operation, Sequence[frozenset[int]]]
    """The operands that the results of all ops of one kernel may overwrite."""
    moves: Moves = field(default_factory=Moves)
    moved: dict[Operation, list[SSAValue]] = field(default_factory=lambda: {})
    """The tensors that move into each storage."""

    @cached_property
    def dying(self) -> Mapping[Point, Sequence[SSAValue]]:
        """The names of the bytes that die right after each op."""
        return deaths(self.classes).names

    @cached_property
    def whole(self) -> AliasClasses:
        return self.undivided()[self.classes.block] if self.classes.body.choices else self.classes

    @cached_property
    def ranges(self) -> Mapping[int, Interval]:
        return live_ranges(self.whole)

    @cached_property
    def tensors(self) -> Mapping[int, memory.AllocTensorOp]:
        """The tensor of each class all of whose other values are written there, or are views."""
        classes, only = self.classes, dict[int, int | None]()
        for number, of in enumerate(classes.class_of):
            tensor = classes.tensors.of.get(number)
            if only.setdefault(of, tensor) != tensor:
                only[of] = None
        owners = {of: classes.values[n].owner for of, n in only.items() if n is not None}
        return {of: op for of, op in owners.items() if isinstance(op, memory.AllocTensorOp)}

    @cached_property
    def killed(self) -> set[int]:
        """The classes whose lifetimes kills end."""
        rows, class_of = self.classes.body.rows, self.classes.class_of
        return {class_of[row.uses[0]] for row in rows if row.facts.frees}

    def stop(self, value: SSAValue) -> int:
        """Return the end of the lifetime of the bytes of `value`."""
        return self.ranges[self.whole.of(value)].stop

    def plan(self) -> None:
        """Decide which results are written over which operands."""
        for row in self.classes.body.rows:
            op = row.op
            for result in op.results:
                if is_size(result.type):
                    self.sizes.size(result)  # after those of its operands
            interface = interface_of(type(op))
            names = None if interface is None else self.dying.get(op)
            if interface is not None and names:
                self.plan_op(row, {self.classes.of(name) for name in names}, interface)

    def plan_op(self, row: Row, dying: set[int], interface: OverwritesOperands) -> None:
        op, allowed = row.op, None
        operands = operands_of(op)
        count = len(operands) - len(op.results)
        ins = [self.classes.class_of[number] for number in row.uses[:count]]
        for i, tensor in enumerate(operands[count:]):
            for k, storage in self.candidates(op, ins, tensor, dying):
                allowed = self.overwritable(op, interface) if allowed is None else allowed
                if all(read != ins[k] or other in allowed[i] for other, read in enumerate(ins)):
                    self.move(op, tensor, storage)
                    dying.discard(ins[k])
                    break

    def overwritable(
        self, op: Operation, interface: OverwritesOperands
    ) -> Sequence[frozenset[int]]:
        """Return for each result of `op` the operands of which it may be written over one."""
        shared = interface.shares_answer(op, self.lookup)
        if shared is None:
            return interface.overwritable(op, self.lookup)
        answer = self.answers.get(shared)
        if answer is None:
            answer = self.answers[shared] = interface.overwritable(op, self.lookup)
        return answer

    def candidates(
        self, op: Operation, ins: Sequence[int], out: SSAValue, dying: set[int]
    ) -> Iterator[tuple[int, memory.AllocStorageOp]]:
        """
        Yield the operands whose storage the result written to `out` could take over.

        `ins` are the classes of the operands.
        """
        tensor = out.owner
        if not isinstance(tensor, memory.AllocTensorOp) or not out.has_one_use():
            return
        own = storage_of(tensor)
        if own is None:
            return
        size = None
        for k, (number, operand) in enumerate(zip(ins, operands_of(op), strict=False)):
            if number not in dying or number in self.killed:
                continue
            source = self.tensors.get(number)
            if source is None or operand.owner is source or is_destination_of_shapes(source):
                continue
            if size is None:
                size = bytes_of(tensor.tensor, self.sizes)
                if size != size_of(own, self.sizes):
                    return
            storage = storage_of(source)
            if storage is None or bytes_of(source.tensor, self.sizes) != size:
                continue
            if source not in self.moves and size_of(storage, self.sizes) != size:
                continue
            taken = self.moves.get(source)
            storage = storage if taken is None else taken.owner
            assert isinstance(storage, memory.AllocStorageOp)
            if may_replace(storage, own) and self.is_alive_anyway(op, storage, source, tensor):
                yield k, storage

    def is_alive_anyway(
        self,
        op: Operation,
        storage: memory.AllocStorageOp,
        source: memory.AllocTensorOp,
        tensor: memory.AllocTensorOp,
    ) -> bool:
        """
        Test whether `storage` stays dead where the operand and the result were.

        The storage may be outside a branch that holds `op`. If the result outlived the branch, the
        storage would be alive in the other arms too, where neither was.
        """
        if storage.parent is op.parent:
            return True
        assert op.parent is not None
        last = op.parent.last_op
        assert last is not None, "a branch yields"
        tensors = (source.tensor, *self.moved.get(storage, ()))
        at = self.classes.body.position(last)
        assert at is not None, "an op of the body"
        end = max(at + 1, *map(self.stop, tensors))
        return self.stop(tensor.tensor) <= end

    def move(self, op: Operation, out: SSAValue, storage: memory.AllocStorageOp) -> None:
        assert isinstance(out.owner, memory.AllocTensorOp)
        self.moves[out.owner] = storage.storage
        self.moved.setdefault(storage, []).append(out)


class ReuseInPlacePass(LevelPass):
    name = "reuse-in-place"
    accepts = "manifest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lookup, sizes = symbols_of(op).get, Sizes()
        moves: Moves = {}
        answers: dict[Operation, Sequence[frozenset[int]]] = {}

        @cache
        def undivided() -> Mapping[Block, AliasClasses]:
            return {classes.block: classes for classes in bodies_of(op, separate=False)}

        for classes in bodies_of(op):
            body = Body(classes, undivided, sizes, lookup, answers)
            body.plan()
            moves |= body.moves
        storages = [tensor.operands[0].owner for tensor in moves]

        def allocate_in_operand(tensor: Operation, rewriter: PatternRewriter) -> None:
            (use,) = tensor.results[0].uses
            tensor.operands = (moves[tensor], *operands_of(tensor)[1:])
            tensor.detach()
            rewriter.insert(tensor, InsertPoint.before(use.operation))

        rewrite_each(moves, allocate_in_operand)
        unused = [storage for storage in storages if isinstance(storage, Operation)]
        rewrite_each(unused, lambda storage, rewriter: rewriter.erase(storage))
