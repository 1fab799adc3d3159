"""
The registers to clear when bytes die.

The machine frees a storage when no register refers to it or to a tensor in it. So a `memory.kill`
clears the registers of all values that may share the bytes, the end of a branch those that it
leaves behind, and the last allocation, slice or call that uses a storage that of the storage.

In a storage that several values share, as in the arena of a plan, no kill but the last one frees
anything: then `kill_storage` clears all its registers. The end of a function does so, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects import memory
from ...dialects.bytecode.fields import RegisterAttr
from ...dialects.relay.loops import repeated_in
from ...dialects.xdsl_extras.walking import walk
from ...passes.bytes.aliases import AliasClasses, bodies_of
from ...passes.bytes.liveness import names_alive_after_kills
from ...passes.bytes.op_facts import is_storage, root_of
from ...passes.bytes.storages import storages_of


@dataclass
class SharedStorages:
    """
    The storages that end as a whole: of several values, or needed up to the end of the function.
    """

    ended_by: dict[Operation, list[SSAValue]] = field(
        default_factory=dict[Operation, list[SSAValue]]
    )
    """By the last op that needs them; the end of the function needs no instruction."""
    all: set[SSAValue] = field(default_factory=set[SSAValue])
    classes: set[int] = field(default_factory=set[int])
    """The classes whose bytes are in these storages alone."""

    @staticmethod
    def of(classes: AliasClasses) -> SharedStorages:
        shared, rows = SharedStorages(), classes.body.rows
        if classes.body.choices:
            return shared
        computing = (row.at for row in rows[:-1] if not (row.facts.frees or row.facts.pure))
        last, repeated = max(computing, default=0), repeated_in(classes.block)
        outside: set[int] = set()
        for storage in storages_of(classes, outliving=True).storages:
            inside = {classes.of(tensor.results[0]) for tensor in storage.tensors}
            is_last = storage.lifetime.stop > last + 1
            if storage.calls or not (is_last or len(inside) > 1):
                outside |= inside
                continue
            shared.classes |= inside
            shared.all.add(storage.op.results[0])
            if not is_last:
                end = rows[storage.lifetime.stop - 1].op
                loop = repeated.get(end)
                end = end if loop is None or loop is repeated.get(storage.op) else loop
                shared.ended_by.setdefault(end, []).append(storage.op.results[0])
        for row in rows:
            facts = row.facts
            is_view = facts.pure or facts.views or facts.carries or facts.writes
            if not (is_view or isinstance(row.op, memory.PlacedOp)):
                outside.update(classes.class_of[number] for number in row.results)
        shared.classes -= outside
        return shared


def storages_freed_by_op(body: Block) -> dict[Operation, list[SSAValue]]:
    """Return, for each op, the storages in whose block it is the last op that uses them."""
    freed: dict[Operation, list[SSAValue]] = {}
    positions = {op: at for at, op in enumerate(walk(body))}
    repeated = repeated_in(body)
    for op in positions:
        if not op.results or not is_storage(storage := op.results[0]):
            continue
        users = [use.operation for use in storage.uses]
        if any(type(user) is memory.KillOp for user in users):
            continue  # as written
        block = op.parent
        assert block is not None, "a detached op"
        if len(users) == 1 and users[0].parent is block and not repeated:
            freed.setdefault(users[0], []).append(storage)
            continue
        ancestors = (block.find_ancestor_op_in_block(user) for user in users)
        last = max((o for o in ancestors if o is not None), key=positions.__getitem__, default=op)
        end = repeated.get(last)
        freed.setdefault(last if end in (None, repeated.get(op)) else end, []).append(storage)
    return freed


def overwritten_at(classes: AliasClasses) -> dict[Operation | Block, list[SSAValue]]:
    """
    Return the names of the tensors that each op in a branch writes over, its last user.

    The other arms of the branch end these names with their block. Those of the function's own
    block need no instruction: its end clears all registers.
    """
    names: dict[int, list[int]] = {}
    for number, tensor in classes.tensors.of.items() if classes.overwritten else ():
        names.setdefault(tensor, []).append(number)
    last: dict[int, int] = {}
    for row in classes.body.rows if classes.overwritten else ():
        if not row.facts.frees:
            last.update(dict.fromkeys(row.uses, row.at))
    ended: dict[Operation | Block, list[SSAValue]] = {}
    arms: dict[Block, dict[SSAValue, None]] = {}
    for op, tensors in classes.overwritten.items():
        if op.parent is classes.block:
            continue
        numbers = [number for tensor in dict.fromkeys(tensors) for number in names[tensor]]
        at = classes.body.positions[id(op)]
        ended[op] = [classes.values[n] for n in numbers if last.get(n, at) <= at]
        for value in ended[op]:
            for arm in arms_around(op, value):
                arms.setdefault(arm, {})[value] = None
    return {**ended, **{arm: list(values) for arm, values in arms.items()}}


def arms_around(op: Operation, value: SSAValue) -> Iterator[Block]:
    """Return the arms of all branches between the block of `value` and `op`, which is in one."""
    block = value.block if isinstance(value, BlockArgument) else value.owner.parent
    while op.parent is not block and (choice := op.parent_op()) is not None:
        yield from (region.block for region in choice.regions)
        op = choice


@dataclass(eq=False)
class RegisterLifetimes:
    """The registers that hold bytes, by alias class, while a function is lowered."""

    classes: AliasClasses
    used_after_kill: Mapping[Operation, Sequence[SSAValue]]
    """Of each kill, the names of its bytes that are used after it: their registers stay."""
    freed_by: dict[Operation, list[SSAValue]]
    """The storages in which nothing is allocated after an op."""
    overwritten_by: dict[Operation | Block, list[SSAValue]]
    """The names of what an op writes over, or another arm: cleared before the bytes die."""
    shared: SharedStorages
    held: dict[int, dict[RegisterAttr, None]] = field(
        default_factory=dict[int, dict[RegisterAttr, None]]
    )
    _cleared: list[tuple[int, RegisterAttr]] = field(default_factory=list[tuple[int, RegisterAttr]])
    """Registers removed from `held` since the start of the function or branch, in order."""
    _defined: list[tuple[int, RegisterAttr]] = field(default_factory=list[tuple[int, RegisterAttr]])
    """Registers added to it."""
    _ever_held: set[tuple[int, RegisterAttr]] = field(default_factory=set[tuple[int, RegisterAttr]])
    _killed: set[RegisterAttr] = field(default_factory=set[RegisterAttr])
    """The registers of values that a kill has named."""

    @staticmethod
    def of(classes: AliasClasses) -> RegisterLifetimes:
        shared = SharedStorages.of(classes)
        freed = storages_freed_by_op(classes.block)
        return RegisterLifetimes(
            classes,
            names_alive_after_kills(classes),
            {op: [s for s in of if root_of(s) not in shared.all] for op, of in freed.items()},
            overwritten_at(classes),
            shared,
        )

    def define(self, value: SSAValue, register: RegisterAttr) -> None:
        """Note that `register` holds `value`, a result."""
        if self.classes.is_owned(value) and self.holds(value):
            number = self.classes.of(value)
            self.held.setdefault(number, {})[register] = None
            self._defined.append((number, register))
            self._ever_held.add((number, register))

    def holds(self, value: SSAValue) -> bool:
        """Test whether the bytes of `value` end by themselves, not with a storage."""
        return self.classes.of(value) not in self.shared.classes

    def ends(self, value: SSAValue, register: RegisterAttr) -> bool:
        """
        Test whether a kill of `value`, which is in `register`, clears it.

        It is cleared already if the kill of another name of the same bytes did so. A second kill of
        one register is a fault of the program, which the machine reports.
        """
        number = self.classes.of(value)
        if not self.holds(value):
            return False
        is_held = register in self.held.get(number, ())
        is_second = register in self._killed
        self._killed.add(register)
        return is_held or is_second or (number, register) not in self._ever_held

    def clear(self, value: SSAValue, besides: Sequence[RegisterAttr] = ()) -> list[RegisterAttr]:
        """Return the registers that hold bytes of `value`'s class, which hold them no more."""
        number = self.classes.of(value)
        cleared = [r for r in self.held.get(number, ()) if r not in besides]
        for register in cleared:
            self._remove(number, register)
        return cleared

    def _remove(self, number: int, register: RegisterAttr) -> None:
        del self.held[number][register]
        self._cleared.append((number, register))

    def release(
        self, end: Operation | Block, registers: Mapping[SSAValue, RegisterAttr]
    ) -> list[RegisterAttr]:
        """Return the registers of the names that end with an op or arm, and are not cleared yet."""
        released: list[RegisterAttr] = []
        for value in self.overwritten_by.get(end, ()):
            number, register = self.classes.of(value), registers[value]
            if register in self.held.get(number, ()):
                self._remove(number, register)
                released.append(register)
        return released

    def enter_branch(self) -> Branch:
        """Start a branch; return what `leave_branch` needs."""
        outside = self._cleared, self._defined
        self._cleared, self._defined = [], []
        return outside

    def leave_branch(
        self, outside: Branch, yielded: Sequence[SSAValue], results: Sequence[SSAValue]
    ) -> tuple[list[RegisterAttr], Cleared]:
        """
        End a branch that has moved what it yields into the registers of `results`.

        Returns the registers to clear at its end: those of values that it defined, and of bytes
        that are the results' from now on. For other branches, all is as before this one; second,
        returns what it cleared of that.
        """
        ends: list[RegisterAttr] = []
        for value, result in zip(yielded, results, strict=True):
            if self.classes.of(value) != self.classes.of(result):
                ends += self.clear(value)
        for number, register in self._defined:
            if register in self.held[number]:
                self._remove(number, register)
                ends.append(register)
        inside = set(self._defined)
        cleared = [pair for pair in self._cleared if pair not in inside]
        for number, register in cleared:
            self.held[number][register] = None
        self._cleared, self._defined = outside
        return ends, cleared

    def cleared_in_branches(self, cleared: Cleared) -> None:
        """Note after all branches what one of them cleared."""
        for number, register in cleared:
            if register in self.held[number]:
                self._remove(number, register)


Cleared = list[tuple[int, RegisterAttr]]
Branch = tuple[Cleared, Cleared]


def register_lifetimes(module: ModuleOp) -> dict[Block, RegisterLifetimes]:
    """Return the lifetimes in each function with kills, by its block."""
    if not has_kills(module):
        return {}
    return {
        classes.block: RegisterLifetimes.of(classes)
        for classes in bodies_of(module)
        if has_kills(classes.block)
    }


def has_kills(root: Operation | Block) -> bool:
    """Test whether an op in `root` is a kill."""
    return any(type(op) is memory.KillOp for op in walk(root))
