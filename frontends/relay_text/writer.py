"""
Build ops with locations at an insertion point; ops that need unknown types are deferred.

    %r = relay.nn.relu %x          %x : ?0
    ->
    %p = "relay_text.deferred"(%x)  and, once ?0 is known, relay.nn.relu before it

Placeholders stay until the end, when `complete_types` replaces them by what was built.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, irdl_op_definition, result_def, var_operand_def

from ...dialects.relay.tuples import TupleOp
from ...dialects.retyping import set_type
from .errors import Places, RelayTextError
from .solver import Solver, UnknownType
from .type_text import type_text


@irdl_op_definition
class WaitingOp(IRDLOperation):
    """Placeholder for ops that cannot be built until the types of `args` are known."""

    name = "relay_text.waiting"

    args = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())


@dataclass(eq=False, repr=False)
class Several:
    """
    The values of a tuple; a `relay.tuple` is built when the tuple itself is needed.

    `from_operator` means that they are the results of one operator, so a projection is one of them.
    """

    values: Sequence[SSAValue]
    location: FileLineColLoc
    block: Block
    after: Operation | None
    """The last op in `block` when the value was created; None if there was none."""
    results: bool
    tuple: SSAValue | None = None


Value: TypeAlias = SSAValue | Several


@dataclass(eq=False, repr=False)
class Waiting:
    """A placeholder and the function that builds its replacement."""

    op: WaitingOp
    build: Callable[[], Value]
    places: Places
    at: int
    done: SSAValue | None = None


@dataclass(eq=False, repr=False)
class Writer:
    """The insertion point, and what is known about types."""

    ctx: Context
    places: Places
    solver: Solver = field(default_factory=Solver)
    block: Block = field(default_factory=Block)
    before: Operation | None = None
    """Insert before this op; None to append to `block`."""
    waiting: list[Waiting] = field(default_factory=list[Waiting])
    reached: int = 0
    """The offset of the op built last."""
    open_values: list[SSAValue] = field(default_factory=list[SSAValue])
    """Values whose types had unknown parts when they were built."""

    # ------------------------------------------------------------------ errors

    def error(self, message: str, at: int, width: int = 1) -> RelayTextError:
        return self.places.error(message, at, width)

    def text(self, type: Attribute) -> str:
        """Return `type` in Relay's notation, for a message."""
        return type_text(self.solver.resolved(type))

    def require(self, given: Attribute, wanted: Attribute, what: str, at: int) -> None:
        """Require that `given`, the type of `what`, agrees with `wanted`."""
        if given is wanted or self.solver.unify(wanted, given):
            return
        raise self.error(
            f"{what} must be of type {self.text(wanted)}, but is of type {self.text(given)}", at
        )

    # --------------------------------------------------------------------- ops

    @contextmanager
    def writing(self, block: Block, before: Operation | None = None) -> Generator[None]:
        """Insert into `block` within the context."""
        saved = self.block, self.before
        self.block, self.before = block, before
        yield
        self.block, self.before = saved

    def add(self, op: Operation, at: int) -> Operation:
        """Insert `op`, which is at the offset `at` of the text."""
        op.location = self.places.location(at)
        self.reached = at
        if self.before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.before)
        for result in op.results:
            if result.type.__class__ is not TensorType:
                self.note(result)
        return op

    def value(self, op: Operation, at: int) -> SSAValue:
        """Insert `op` and return its result."""
        return self.add(op, at).results[0]

    def note(self, value: SSAValue) -> None:
        """Record `value` if its type is not completely known."""
        set_type(value, self.solver.resolved(value.type))
        if self.solver.first_unknown(value.type) is not None:
            self.open_values.append(value)

    def several(self, values: Sequence[SSAValue], at: int, results: bool) -> Several:
        """Return `values` as a tuple that is not built yet."""
        self.reached = at
        after = self.block.last_op if self.before is None else self.before.prev_op
        return Several(values, self.places.location(at), self.block, after, results)

    def ssa(self, value: Value) -> SSAValue:
        """Return `value` as one SSA value, building its tuple on first use."""
        if isinstance(value, SSAValue):
            return value
        if value.tuple is None:
            op = TupleOp(value.values)
            op.location = value.location
            if value.after is not None:
                value.block.insert_op_after(op, value.after)
            elif value.block.first_op is not None:
                value.block.insert_op_before(op, value.block.first_op)
            else:
                value.block.add_op(op)
            value.tuple = op.result
            self.note(op.result)
        return value.tuple

    def type_of(self, value: Value) -> Attribute:
        """Return the type of `value`, resolved at the top level."""
        if isinstance(value, SSAValue):
            return self.solver.shallow(value.type)
        return self.ssa(value).type

    # ----------------------------------------------------------------- waiting

    def when_known(
        self, args: Sequence[SSAValue], build: Callable[[], Value], at: int, shallow: bool = False
    ) -> Value:
        """
        Call `build` now if the types of `args` are known, and otherwise as soon as they are.

        With `shallow` only the top level of each type needs to be known.
        """
        unknown = self._missing(args, shallow)
        if unknown is None:
            self._complete(args)
            return build()
        op = WaitingOp.create(operands=args, result_types=[self.solver.fresh()])
        waiting = Waiting(op, build, self.places, at)
        self.waiting.append(waiting)
        self._wait(waiting, args, unknown, shallow)
        return self.value(op, at)

    def _missing(self, args: Sequence[SSAValue], shallow: bool) -> UnknownType | None:
        """Return an unknown type of `args` that remains after all ready work is done."""
        found = self._missing_now(args, shallow)
        if found is not None:
            self.solver.run_ready()
            found = self._missing_now(args, shallow)
        return found

    def _wait(
        self, waiting: Waiting, args: Sequence[SSAValue], unknown: UnknownType, shallow: bool
    ) -> None:
        def again() -> None:
            missing = self._missing_now(args, shallow)
            if missing is not None:
                self._wait(waiting, args, missing, shallow)
                return
            self._build(waiting)

        self.solver.when_known(unknown, again)

    def _missing_now(self, args: Sequence[SSAValue], shallow: bool) -> UnknownType | None:
        for arg in args:
            type = self.solver.shallow(arg.type)
            found = type if shallow else self.solver.first_unknown(type)
            if isinstance(found, UnknownType):
                return found
        return None

    def _complete(self, args: Sequence[SSAValue]) -> None:
        """Fill in what is known so far about the types of `args`."""
        for arg in args:
            if arg.type.__class__ is not TensorType:
                set_type(arg, self.solver.resolved(arg.type))

    def _build(self, waiting: Waiting) -> None:
        """Build the replacement of a placeholder, before it."""
        from .dims import refined

        block = waiting.op.parent
        assert block is not None, "a placeholder is in a block"
        places, self.places = self.places, waiting.places
        self._complete(waiting.op.operands)
        with self.writing(block, waiting.op):
            waiting.done = self.ssa(waiting.build())
            self.require(waiting.done.type, waiting.op.result.type, "this", waiting.at)
            waiting.done = refined(self, waiting.done, waiting.op.result.type, waiting.at)
        self.places = places
