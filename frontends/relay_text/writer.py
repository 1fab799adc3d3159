"""
Writes ops with places at a cursor; what waits for types leaves a placeholder.

    %r = relay.nn.relu %x          %x : ?0
    ->
    %p = "relay_text.waiting"(%x)  and, once ?0 is known, relay.nn.relu before it

Placeholders stay until the end, when `Finisher` puts what was written in their place.
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
from ...dialects.xdsl_internals import set_type
from .errors import Places, RelayTextError
from .solver import Solver, UnknownType
from .type_text import type_text


@irdl_op_definition
class WaitingOp(IRDLOperation):
    """Stands for ops that need the types of `args`, until they are known."""

    name = "relay_text.waiting"

    args = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())


@dataclass(eq=False, repr=False)
class Several:
    """
    The values of a tuple; a `relay.tuple` is written when the tuple itself is needed.

    `results` says that they are what one operator gives, so that a projection is one of them.
    """

    values: Sequence[SSAValue]
    location: FileLineColLoc
    block: Block
    after: Operation | None
    """The last op that was in `block`; None if there was none."""
    results: bool
    tuple: SSAValue | None = None


Value: TypeAlias = SSAValue | Several


@dataclass(eq=False, repr=False)
class Waiting:
    """A placeholder and what it stands for."""

    op: WaitingOp
    build: Callable[[], Value]
    places: Places
    at: int
    done: SSAValue | None = None


@dataclass(eq=False, repr=False)
class Writer:
    """Where ops go, and what is known about types."""

    ctx: Context
    places: Places
    solver: Solver = field(default_factory=Solver)
    block: Block = field(default_factory=Block)
    before: Operation | None = None
    """Ops go before this one, or else to the end of `block`."""
    waiting: list[Waiting] = field(default_factory=list[Waiting])
    reached: int = 0
    """Where the op stands that was written last."""
    open_values: list[SSAValue] = field(default_factory=list[SSAValue])
    """Values whose types had unknown parts when they were written."""

    # ------------------------------------------------------------------ errors

    def error(self, message: str, at: int, width: int = 1) -> RelayTextError:
        return self.places.error(message, at, width)

    def text(self, type: Attribute) -> str:
        """`type` for a message."""
        return type_text(self.solver.resolved(type))

    def require(self, given: Attribute, wanted: Attribute, what: str, at: int) -> None:
        """`given`, the type of `what`, must be `wanted`."""
        if given is wanted or self.solver.unify(wanted, given):
            return
        raise self.error(
            f"{what} must be of type {self.text(wanted)}, but is of type {self.text(given)}", at
        )

    # --------------------------------------------------------------------- ops

    @contextmanager
    def writing(self, block: Block, before: Operation | None = None) -> Generator[None]:
        """Write into `block` for a while."""
        saved = self.block, self.before
        self.block, self.before = block, before
        yield
        self.block, self.before = saved

    def add(self, op: Operation, at: int) -> Operation:
        """Write `op`, which stands at the offset `at` of the text."""
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
        """The result of `op`, once written."""
        return self.add(op, at).results[0]

    def note(self, value: SSAValue) -> None:
        """Remember `value` if its type is not wholly known."""
        set_type(value, self.solver.resolved(value.type))
        if self.solver.first_unknown(value.type) is not None:
            self.open_values.append(value)

    def several(self, values: Sequence[SSAValue], at: int, results: bool) -> Several:
        """`values` as a tuple that is not written yet."""
        self.reached = at
        after = self.block.last_op if self.before is None else self.before.prev_op
        return Several(values, self.places.location(at), self.block, after, results)

    def ssa(self, value: Value) -> SSAValue:
        """`value` as one value: a tuple is written when this is first asked."""
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
        """The type of `value`, as far as it is known at its top."""
        if isinstance(value, SSAValue):
            return self.solver.shallow(value.type)
        return self.ssa(value).type

    # ----------------------------------------------------------------- waiting

    def when_known(
        self, args: Sequence[SSAValue], build: Callable[[], Value], at: int, shallow: bool = False
    ) -> Value:
        """
        What `build` writes, now if the types of `args` are known, and otherwise when they are.

        With `shallow` it is enough to know what kind of type each is.
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
        """What is not known about `args`, after all that can be learnt is."""
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
        """Fill in what is known by now about the types of `args`."""
        for arg in args:
            if arg.type.__class__ is not TensorType:
                set_type(arg, self.solver.resolved(arg.type))

    def _build(self, waiting: Waiting) -> None:
        """Write what `waiting` stands for before it."""
        from .refinement import refined

        block = waiting.op.parent
        assert block is not None, "a placeholder stands in a block"
        places, self.places = self.places, waiting.places
        self._complete(waiting.op.operands)
        with self.writing(block, waiting.op):
            waiting.done = self.ssa(waiting.build())
            self.require(waiting.done.type, waiting.op.result.type, "this", waiting.at)
            waiting.done = refined(self, waiting.done, waiting.op.result.type, waiting.at)
        self.places = places
