"""
Build ops with locations at an insertion point; ops that need unknown types are deferred.

    %r = relay.nn.relu %x          %x : ?0
    ->
    %p = "relay_text.deferred"(%x)  and, once ?0 is known, relay.nn.relu before it

Placeholders stay until the end, when `complete_types` replaces them by what was built.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FileLineColLoc,
    FunctionType,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, irdl_op_definition, result_def, var_operand_def

from ....dialects.memory import StorageType
from ....dialects.relay.language.language_types import AdtType, RefType, TypeVarType
from ....dialects.relay.language.tuples import TupleOp
from ....dialects.tensors import as_tensor, dtype_name
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ..errors import RelayTextError, SourceMap
from ..infer.solver import Solver, UnknownType

_OTHER = re.compile(r"[^A-Za-z0-9_$.-]")
_NUMBERED = re.compile(r"_(?=[0-9]+\Z)")


@irdl_op_definition
class DeferredOp(IRDLOperation):
    """Placeholder for ops that cannot be built until the types of `args` are known."""

    name = "relay_text.deferred"

    args = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())


@dataclass(eq=False, repr=False)
class TupleValue:
    """
    The values of a tuple; a `relay.tuple` is built when the tuple itself is needed.

    `from_operator` means that they are the results of one operator, so a projection is one of them.
    """

    values: Sequence[SSAValue]
    location: FileLineColLoc
    block: Block
    after: Operation | None
    """The last op in `block` when the value was created; None if there was none."""
    from_operator: bool
    tuple: SSAValue | None = None


Value: TypeAlias = SSAValue | TupleValue


@dataclass(eq=False, repr=False)
class Deferred:
    """A placeholder and the function that builds its replacement."""

    op: DeferredOp
    build: Callable[[], Value]
    source_map: SourceMap
    offset: int
    done: SSAValue | None = None


@dataclass(eq=False, repr=False)
class IRBuilder(ABC):
    """The insertion point, and what is known about types."""

    ctx: Context
    source_map: SourceMap
    solver: Solver = field(default_factory=Solver)
    block: Block = field(default_factory=Block)
    before: Operation | None = None
    """Insert before this op; None to append to `block`."""
    deferred: list[Deferred] = field(default_factory=list[Deferred])
    reached: int = 0
    """The offset of the op built last."""
    open_values: list[SSAValue] = field(default_factory=list[SSAValue])
    """Values whose types had unknown parts when they were built."""

    @abstractmethod
    def refined(self, value: SSAValue, declared: Attribute, at: int) -> SSAValue:
        """Return `value` with the dims that only `declared`, which agrees with its type, gives."""

    @abstractmethod
    def operator(
        self, name: str, args: Sequence[Value], attrs: Mapping[str, Any], at: int
    ) -> Value:
        """Build operator `name`, of TVM's name and attributes, on `args`."""

    # ------------------------------------------------------------------ errors

    def error(self, message: str, at: int, width: int = 1) -> RelayTextError:
        return self.source_map.error(message, at, width)

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
        op.location = self.source_map.location(at)
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

    def tuple_value(self, values: Sequence[SSAValue], at: int, from_operator: bool) -> TupleValue:
        """Return `values` as a tuple that is not built yet."""
        self.reached = at
        after = self.block.last_op if self.before is None else self.before.prev_op
        return TupleValue(values, self.source_map.location(at), self.block, after, from_operator)

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

    def defer_until_known(
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
        op = DeferredOp.create(operands=args, result_types=[self.solver.fresh()])
        deferred = Deferred(op, build, self.source_map, at)
        self.deferred.append(deferred)
        self._resume_later(deferred, args, unknown, shallow)
        return self.value(op, at)

    def _missing(self, args: Sequence[SSAValue], shallow: bool) -> UnknownType | None:
        """Return an unknown type of `args` that remains after all ready work is done."""
        found = self._missing_now(args, shallow)
        if found is not None:
            self.solver.run_ready()
            found = self._missing_now(args, shallow)
        return found

    def _resume_later(
        self, deferred: Deferred, args: Sequence[SSAValue], unknown: UnknownType, shallow: bool
    ) -> None:
        def again() -> None:
            missing = self._missing_now(args, shallow)
            if missing is not None:
                self._resume_later(deferred, args, missing, shallow)
                return
            self._build(deferred)

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

    def _build(self, deferred: Deferred) -> None:
        """Build the replacement of a placeholder, before it."""
        block = deferred.op.parent
        assert block is not None, "a placeholder is in a block"
        source_map, self.source_map = self.source_map, deferred.source_map
        self._complete(deferred.op.operands)
        with self.writing(block, deferred.op):
            deferred.done = self.ssa(deferred.build())
            self.require(deferred.done.type, deferred.op.result.type, "this", deferred.offset)
            deferred.done = self.refined(deferred.done, deferred.op.result.type, deferred.offset)
        self.source_map = source_map


# ----------------------------------------------------------------------- text


def ssa_name(name: str) -> str | None:
    """Return `name` as a readable SSA name, or None if no character is left."""
    if name.isidentifier() and name.isascii() and not name[-1].isdigit():
        return name
    text = _OTHER.sub("_", name).lstrip("0123456789")
    # the printer treats a trailing `_1` as a number of its own
    return _NUMBERED.sub(".", text) or None


def type_text(type: Attribute) -> str:
    """Return `Tensor[(3, ?), float32]`, `fn (A) -> B`, `List[A]`; an unknown type is `_`."""
    tensor = as_tensor(type)
    if tensor is not None:
        dtype = dtype_name(tensor.element_type) or str(tensor.element_type)
        if not tensor.get_num_dims():
            return dtype
        dims = ("?" if dim == DYNAMIC_INDEX else str(dim) for dim in tensor.get_shape())
        return f"Tensor[({', '.join(dims)}), {dtype}]"
    match type:
        case TupleType():
            return f"({', '.join(map(type_text, type.types.data))})"
        case FunctionType():
            params = ", ".join(map(type_text, type.inputs.data))
            return f"fn ({params}) -> {', '.join(map(type_text, type.outputs.data))}"
        case RefType():
            return f"ref({type_text(type.contents)})"
        case AdtType():
            args = f"[{', '.join(map(type_text, type.args.data))}]" if type.args.data else ""
            return f"{type.adt.string_value()}{args}"
        case StorageType():
            return "Storage[]"
        case TypeVarType():
            return type.parameter.data
        case _:
            return "_"
