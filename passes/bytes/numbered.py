"""
A body read once: its ops in program order, and its values as numbers.

    ^(%x):                        0
      %r = relay.if %c {          row 0 uses 1, which is from above, and defines 2
        %a = f(%x)                row 1 uses 0, defines 3
        yield %a                  row 2 uses 3
      } …                         arm 0 of row 0: rows 1 and 2

Several analyses go over the same ops, and ask which values an op uses and whether two are the same:
tuples of numbers and lists indexed by them are much cheaper than operands and tables of values. A
`Numbered` is of the IR as it was when it was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.xdsl_extras.xdsl_internals import operands_of
from .op_facts import OpFacts, facts_of, has_bytes


class Row(NamedTuple):
    """An op of a body."""

    at: int
    """Its position in program order: an op comes before those in its arms."""
    op: Operation
    facts: OpFacts
    uses: Sequence[int]
    """The values that it uses, itself, or in code that it holds or repeats."""
    results: Sequence[int]
    arms: Sequence[Arm]
    """The arms of a choice."""

    @property
    def operands(self) -> Sequence[int]:
        """The values among `uses` that are operands: the others are captured, or read again."""
        is_all = not (self.op.regions or self.facts.ends_loop)
        return self.uses if is_all else self.uses[: len(operands_of(self.op))]

    @property
    def stop(self) -> int:
        """The position after the op and those in its arms."""
        return self.arms[-1].stop if self.arms else self.at + 1


@dataclass(eq=False)
class Arm:
    """A block of a body: an arm of a choice, or the body itself."""

    block: Block
    args: range
    parent: Arm | None = None
    """The block that holds the choice; None of the body."""
    number: int = 0
    """Among the arms of the choice."""
    choice: Row | None = None
    rows: list[Row] = field(default_factory=lambda: [])
    """Of the ops directly in it."""
    stop: int = 0
    """The position after the last op in it."""

    @property
    def is_arm(self) -> bool:
        """True: at most one of the arms of a choice runs."""
        return True

    @property
    def holder(self) -> Operation | None:
        """The op of the choice."""
        return None if self.choice is None else self.choice.op

    @property
    def end(self) -> int:
        """The position after the last op in it, and in the other arms of its choice."""
        return self.stop if self.choice is None else self.choice.stop


@dataclass(eq=False)
class Numbered:
    """A function or closure, whose values are numbered as the walk meets them."""

    block: Block
    captured: Mapping[Operation, Sequence[SSAValue]]
    """The values that the code in an op uses from outside."""
    in_place: bool = False
    """True if a result that is written into a destination has the number of its destination."""
    body: Arm = field(init=False)
    rows: list[Row] = field(default_factory=lambda: [])
    """Of all ops, in program order."""
    values: list[SSAValue] = field(default_factory=lambda: [])
    may_have_bytes: list[bool] = field(default_factory=lambda: [])
    """For each value, true if it may hold bytes with a lifetime: it is not a constant."""
    choices: list[Row] = field(default_factory=lambda: [])
    """Each after those in its arms."""
    from_above: list[int] = field(default_factory=lambda: [])
    """The values that the body uses and does not define."""
    _numbers: dict[int, int] = field(default_factory=lambda: {})
    """The number of each value, by its identity: xDSL's hash is slow."""

    def __post_init__(self) -> None:
        self.body = self._arm(self.block)
        rows, values, numbers = self.rows, self.values, self._numbers
        may_have_bytes = self.may_have_bytes
        pending: list[tuple[Arm, Operation | None, Row | None]]
        pending = [(self.body, self.block.first_op, None)]
        turn, defined = 0, 0
        """The first row of the loop that was started last, and the values defined before it."""
        while pending:
            arm, op, choice = pending.pop()
            while op is not None:
                facts = facts_of(op)
                operands = operands_of(op)
                arms: Sequence[Arm] = ()
                if op.regions:
                    operands = (*operands, *self.captured.get(op, ()))
                    if facts.chooses is not None:
                        arms = [self._arm(r.block, arm, i) for i, r in enumerate(op.regions)]
                try:
                    uses = [*map(numbers.__getitem__, map(id, operands))]
                except KeyError:
                    uses = [self._use(value) for value in operands]
                if facts.starts_loop:
                    turn, defined = len(rows) + 1, len(values)
                elif facts.ends_loop:  # the next turn uses again what this one did
                    again = dict.fromkeys(n for row in rows[turn:] for n in row.uses)
                    again = [n for n in again if n < defined and may_have_bytes[n]]
                    uses = [*dict.fromkeys((*uses, *again))]
                results: Sequence[int]
                if self.in_place and facts.writes:
                    stop = len(operands_of(op))
                    results = uses[stop - len(op.results) : stop]
                    numbers.update(zip(map(id, op.results), results, strict=True))
                else:
                    start = len(values)
                    for value in op.results:
                        numbers[id(value)] = len(values)
                        values.append(value)
                        may_have_bytes.append(not facts.constant and has_bytes(value.type))
                    results = range(start, len(values))
                row = Row(len(rows), op, facts, uses, results, arms)
                rows.append(row)
                arm.rows.append(row)
                op = op.next_op
                if arms:
                    pending.append((arm, op, choice))
                    last = row  # left with its last arm
                    for inner in reversed(arms):
                        inner.choice = row
                        pending.append((inner, inner.block.first_op, last))
                        last = None
                    break
            else:
                arm.stop = len(rows)
                if choice is not None:
                    self.choices.append(choice)

    def __contains__(self, value: SSAValue) -> bool:
        return id(value) in self._numbers

    def number(self, value: SSAValue) -> int:
        """Return the number of `value`, a new one if the walk did not meet it."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self.values)
            self.values.append(value)
            owner = value.owner
            is_constant = isinstance(owner, Operation) and facts_of(owner).constant
            self.may_have_bytes.append(not is_constant and has_bytes(value.type))
        return number

    def _arm(self, block: Block, parent: Arm | None = None, number: int = 0) -> Arm:
        start = len(self.values)
        for argument in block.args:
            self.number(argument)
        return Arm(block, range(start, len(self.values)), parent, number)

    def _use(self, value: SSAValue) -> int:
        if value not in self:
            self.from_above.append(len(self.values))
        return self.number(value)

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """The position of each op, by its identity."""
        return {id(row.op): row.at for row in self.rows}

    def position(self, op: Operation) -> int | None:
        """Return the position of `op`; None if it is not in the body."""
        return self.positions.get(id(op))
