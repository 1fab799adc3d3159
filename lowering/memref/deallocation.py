"""
Free what functions allocate, once on every path.

    %s = memref.alloc() : memref<64xi8>           %s = memref.alloc() : memref<64xi8>
    %t = memref.view %s[%c0][] : …                %t = memref.view %s[%c0][] : …
    %r = scf.if %c -> (memref<…>) {               %r = scf.if %c -> (memref<…>) {
      func.call @k(%t, %u)                   ->     func.call @k(%t, %u)
      scf.yield %u                                  memref.dealloc %s
    } else {                                        scf.yield %u
      scf.yield %v                                } else {
    }                                               memref.dealloc %s
                                                    scf.yield %v
                                                  }

Every allocation has an owner: the value that `memref.alloc` defines; the result of an `scf.if`,
when the branch that ran hands over an allocation of its own (an `i1` result says whether one did,
if not all do); the result of a call. An owner lives as long as the memrefs that may lie in it. A
function returns memory that its caller then owns: a result that is not an allocation by itself,
such as a parameter, a constant, or one of two results in the same allocation, is copied, in the
branch that yields it. So is what a branch yields if another of its results owns the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    IndexType,
    IntegerAttr,
    MemRefType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects.tensors import MIN_ALIGNMENT
from ...dialects.xdsl_extras.walking import walk
from .memref_types import as_memref


@dataclass(eq=False)
class Owner:
    """Memory that is freed through `value`; only if `flag` is true, when there is one."""

    value: SSAValue
    flag: SSAValue | None = None
    members: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values that may lie in it."""
    handed_over: bool = False
    """True if the block that defines it ends by handing it over."""

    @property
    def block(self) -> Block:
        owner = self.value.owner
        block = owner if isinstance(owner, Block) else owner.parent
        assert block is not None
        return block


@dataclass(eq=False)
class Ownership:
    """The owners in a function."""

    owners: dict[SSAValue, tuple[Owner, ...]] = field(
        default_factory=dict[SSAValue, tuple[Owner, ...]]
    )
    """The owners of the memory that a memref may lie in; none if it is the caller's, or static."""
    homes: dict[SSAValue, Owner] = field(default_factory=dict[SSAValue, Owner])
    """The owner of which a memref is the value, or a view; none if it may lie elsewhere."""
    owned: list[Owner] = field(default_factory=list[Owner])
    returned: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """True for values that are only returned, false for others; a cache."""

    def of(self, value: SSAValue) -> tuple[Owner, ...]:
        return self.owners.get(value, ())

    def define(self, value: SSAValue, owners: Iterable[Owner]) -> None:
        """Note that `value` may lie in the memory of `owners`."""
        unique = tuple(dict.fromkeys(owners))
        self.owners[value] = unique
        for owner in unique:
            owner.members.append(value)

    def own(self, value: SSAValue, others: Iterable[Owner] = ()) -> Owner:
        """Make `value` an owner, which may lie in the memory of `others` too."""
        owner = self.homes[value] = Owner(value)
        self.owned.append(owner)
        self.define(value, (owner, *others))
        return owner

    def visit(self, op: Operation) -> None:
        """Note the owners of the results of `op`; those in its regions are known."""
        if isinstance(op, memref.AllocOp):
            self.own(op.memref)
        elif isinstance(op, VIEWS):
            (source,), (view,) = op.operands[:1], op.results
            self.define(view, self.of(source))
            if source in self.homes:
                self.homes[view] = self.homes[source]
        elif isinstance(op, func.CallOp):
            for result in op.results:
                if isinstance(result.type, MemRefType):
                    self.own(result)
        elif isinstance(op, func.ReturnOp):
            self._hand_over(op, op.parent, [True] * len(op.operands))
        elif isinstance(op, scf.IfOp) and op.results:
            self._visit_if(op)

    def _is_returned(self, value: SSAValue) -> bool:
        """Test whether `value` is only returned, by itself or through branches around it."""
        passed: list[SSAValue] = []
        returned = self.returned.get(value)
        while returned is None:
            passed.append(value)
            use = value.get_unique_use()
            user = use and use.operation
            branch = user.parent_op() if isinstance(user, scf.YieldOp) else None
            if use and isinstance(branch, scf.IfOp):
                value = branch.results[use.index]
                returned = self.returned.get(value)
            else:
                returned = isinstance(user, func.ReturnOp)
        self.returned.update(dict.fromkeys(passed, returned))
        return returned

    def _hand_over(
        self, end: Operation, block: Block | None, always: Sequence[bool]
    ) -> list[Owner | None]:
        """
        Hand over what `end` passes on, with copies where needed; return the owner of each.

        A memref is handed over `always`, or if its memory is not from outside of `block` alone.
        """
        given: list[Owner | None] = []
        for i, value in enumerate(tuple(end.operands)):
            if not isinstance(value.type, MemRefType):
                given.append(None)
                continue
            owners = self.of(value)
            inner = [owner for owner in owners if owner.block is block]
            if not inner and not always[i]:
                given.append(None)
                continue
            home = self.homes.get(value)
            if (
                home is None
                or inner != [home]
                or home.handed_over
                or (always[i] and home.flag is not None)
            ):
                end.operands[i] = copied(value, end)
                home = self.own(end.operands[i])
            home.handed_over = True
            given.append(home)
        return given

    def _visit_if(self, op: scf.IfOp) -> None:
        ends = [region.block.last_op for region in op.regions]
        count = len(op.results)
        given: list[list[Owner | None]] = []
        outer: list[list[Owner]] = [[] for _ in range(count)]
        always = [self._is_returned(result) for result in op.results]
        for end in ends:
            assert isinstance(end, scf.YieldOp), "verified: a region yields"
            given.append(self._hand_over(end, end.parent, always))
            for others, value in zip(outer, end.operands, strict=True):
                others += [owner for owner in self.of(value) if owner.block is not end.parent]
        owned = [i for i in range(count) if any(owners[i] for owners in given)]
        flagged = [i for i in owned if not all(is_certain(owners[i]) for owners in given)]
        if flagged:
            for end, owners in zip(ends, given, strict=True):
                assert end is not None
                end.operands = [*end.operands, *(flag_of(owners[i], end) for i in flagged)]
            op = with_results(op, [i1] * len(flagged))
        for i, result in enumerate(op.results[:count]):
            if i in owned:
                owner = self.own(result, outer[i] if i in flagged else ())
                if i in flagged:
                    owner.flag = op.results[count + flagged.index(i)]
            elif isinstance(result.type, MemRefType):
                self.define(result, outer[i])


def is_certain(owner: Owner | None) -> bool:
    return owner is not None and owner.flag is None


def flag_of(owner: Owner | None, end: Operation) -> SSAValue:
    """Return whether `owner` owns memory at `end`."""
    if owner is not None and owner.flag is not None:
        return owner.flag
    constant = arith.ConstantOp(IntegerAttr(int(owner is not None), i1))
    Rewriter.insert_op(constant, InsertPoint.before(end))
    return constant.result


def free(owner: Owner) -> list[Operation]:
    """Return the ops that free the memory of `owner`."""
    ops = freed(owner.value)
    return ops if owner.flag is None else [scf.IfOp(owner.flag, [], [*ops, scf.YieldOp()])]


def free_after_uses(owner: Owner, order: dict[Operation, int]) -> None:
    """Free `owner` on every path, right after the last use; `order` numbers the ops."""
    uses = [use.operation for member in owner.members for use in member.uses]
    pending = [(owner.block, uses)]
    while pending:
        block, users = pending.pop()
        inside: dict[Operation, list[Operation]] = {}
        for user in users:
            around = block.find_ancestor_op_in_block(user)
            assert around is not None
            inside.setdefault(around, []).append(user)
        last = max(inside, key=lambda op: order[op], default=None)
        if isinstance(last, scf.IfOp) and last not in inside[last]:
            for region in last.regions:
                there = [user for user in inside[last] if region.is_ancestor(user)]
                pending.append((region.block, there))
            continue
        defined = owner.value.owner
        if last is not None:
            at_end = last is block.last_op
            point = InsertPoint.before(last) if at_end else InsertPoint.after(last)
        elif isinstance(defined, Operation) and defined.parent is block:
            point = InsertPoint.after(defined)
        else:
            point = InsertPoint.at_start(block)
        ops = free(owner)
        for op in ops:
            op.location = defined.location if isinstance(defined, Operation) else UNKNOWN_LOC
        Rewriter.insert_op(ops, point)


def free_allocations(function: func.FuncOp) -> None:
    """Free what `function` allocates or receives from calls, and does not return."""
    ownership = Ownership()
    for op in list(walk(function, region_first=True)):
        ownership.visit(op)
    order = {op: number for number, op in enumerate(walk(function))}
    for owner in ownership.owned:
        if not owner.handed_over:
            free_after_uses(owner, order)


VIEWS = (
    memref.ViewOp,
    memref.ReinterpretCastOp,
    memref.CastOp,
    memref.MemorySpaceCastOp,
    memref.SubviewOp,
)
"""The ops whose result lies in the memory of their first operand."""

BranchT = TypeVar("BranchT", bound=scf.IfOp | scf.IndexSwitchOp)


def base_of(value: SSAValue) -> SSAValue:
    """Return the buffer that `value` is a view of, or `value`."""
    while isinstance(value.owner, VIEWS):
        value = value.owner.operands[0]
    return value


def copied(value: SSAValue, at: Operation) -> SSAValue:
    """Copy `value` into memory of its own, before `at`."""
    type = as_memref(value.type)
    ops: list[Operation] = []
    dims: list[SSAValue] = []
    for i, dim in enumerate(type.get_shape()):
        if dim == DYNAMIC_INDEX:
            index = arith.ConstantOp(IntegerAttr(i, IndexType()))
            size = memref.DimOp(value, index)
            ops += [index, size]
            dims.append(size.result)
    copy = memref.AllocOp(dims, [], type, IntegerAttr(MIN_ALIGNMENT, i64))
    ops += [copy, memref.CopyOp(value, copy)]
    for op in ops:
        op.location = at.location
    Rewriter.insert_op(ops, InsertPoint.before(at))
    return copy.memref


def freed(value: SSAValue) -> list[Operation]:
    """Return the ops that free the memory that `value` lies in."""
    if isinstance(value.owner, memref.AllocOp):
        return [memref.DeallocOp.get(value)]
    # It may be a view: the base is what was allocated.
    metadata = memref.ExtractStridedMetaDataOp(value)
    return [metadata, memref.DeallocOp.get(metadata.base_buffer)]


def with_results(op: BranchT, types: Sequence[Attribute]) -> BranchT:
    """Replace `op` by one with further results of `types`, which its regions yield already."""
    new = type(op).create(
        operands=op.operands,
        result_types=[*op.result_types, *types],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in (*op.regions,)],
    )
    new.location = op.location
    Rewriter.replace_op(op, new, new.results[: len(op.results)])
    return new
