"""
The storages in which tensors start: of a tensor, of each field of a tuple, and of results of calls.

    %t = memory.alloc_tensor %s[0] …
    %y = vm.invoke_tvm_op … outs(%t)             %y: %s
    %p = relay.tuple %y, %x                      %p: (%s, unknown)
    %r = relay.if %c {                           %r: %a or %b, if each is allocated in its arm
      yield (a tensor in %a)
    } else {
      yield (a tensor in %b)
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ...dialects import memory, relay
from ...dialects.interfaces import CallsFunction
from ..bytes.op_facts import destination, facts_of, is_choice, viewed

MAX_DEPTH = 32
"""The maximum depth of tuples and branches through which a storage is looked for."""

MAX_ARMS = 16
"""The maximum number of arms that write a result in a storage that the caller lends."""

MAX_STEPS = 256
"""The maximum number of values through which the storage of a result is looked for."""


@dataclass(frozen=True)
class InOneOf:
    """A tensor that starts in one of `storages`; if there are several, in arms of a branch."""

    storages: tuple[SSAValue, ...]


Home: TypeAlias = "InOneOf | tuple[Home, ...] | None"
"""The place of a tensor, or those of the fields of a tuple; None if that is unknown."""


@dataclass
class Homes:
    """Finds the storages of a function's results."""

    known: Mapping[str, Sequence[Home]]
    """Those of the results of functions, in terms of their parameters."""
    _found: dict[tuple[SSAValue, tuple[int, ...]], Home] = field(default_factory=lambda: {})

    def of(self, value: SSAValue, path: tuple[int, ...] = (), depth: int = 0) -> Home:
        """Return where `value`, or its field at `path`, is on every path of execution."""
        key = value, path
        if key not in self._found:
            self._found[key] = None  # beyond the limits
            if depth < MAX_DEPTH and len(self._found) < MAX_STEPS:
                self._found[key] = self._find(value, path, depth)
        return self._found[key]

    def _find(self, value: SSAValue, path: tuple[int, ...], depth: int) -> Home:
        while isinstance(value, OpResult):
            op = value.op
            if (into := destination(value)) is not None:
                value = into
            elif (source := viewed(value)) is not None:
                value = source
            elif facts_of(op).joins is not None:
                value = op.operands[0]
            elif isinstance(op, memory.AllocTensorOp):
                at_start = op.offset is not None and not op.offset.value.data
                return InOneOf((op.storage,)) if at_start else None
            elif isinstance(op, relay.TupleGetItemOp):
                value, path = op.tuple, (op.index.value.data, *path)
            elif isinstance(op, relay.TupleOp) and path:
                value, path = op.fields[path[0]], path[1:]
            elif isinstance(op, relay.TupleOp):
                return tuple(self.of(part, (), depth + 1) for part in op.fields)
            elif is_choice(op):
                yielded = [values[value.index] for values in yields_of(op) if values]
                homes = [self.of(v, path, depth + 1) for v in yielded]
                arms = [region.block for region in op.regions]
                return merged(homes, arms) if len(homes) == len(arms) else None
            else:
                return self._of_call(op, value.index, path)
        return None

    def _of_call(self, op: Operation, index: int, path: tuple[int, ...]) -> Home:
        if not op.has_trait(CallsFunction):
            return None
        results = self.known.get(CallsFunction.callee(op))
        home = None if results is None else at_path(results[index], path)
        return None if home is None else in_caller(home, op)


def yields_of(op: Operation) -> Iterator[Sequence[SSAValue]]:
    """Yield the values that each region of `op`, a choice, yields for its results."""
    for region in op.regions:
        last = region.block.last_op
        yield () if last is None else last.operands[: len(op.results)]


def merged(homes: Sequence[Home], arms: Sequence[Block]) -> Home:
    """Return where a value is that is at one of `homes`, each in its arm of a branch."""
    first = homes[0]
    if all(home == first for home in homes):
        return first
    tuples = [home for home in homes if isinstance(home, tuple)]
    if len(tuples) == len(homes) and len(set(map(len, tuples))) == 1:
        return tuple(merged(parts, arms) for parts in zip(*tuples, strict=True))
    storages: list[SSAValue] = []
    for home, arm in zip(homes, arms, strict=True):
        if not isinstance(home, InOneOf) or not all(is_within(s, arm) for s in home.storages):
            return None
        storages += home.storages
    same_type = len({storage.type for storage in storages}) == 1
    return InOneOf(tuple(storages)) if same_type and len(storages) <= MAX_ARMS else None


def is_within(storage: SSAValue, arm: Block) -> bool:
    """Test whether `storage` is allocated in `arm`, or in a branch there."""
    at = storage.owner if isinstance(storage.owner, Block) else storage.owner.parent
    while at is not None and at is not arm:
        around = at.parent_op()
        at = None if around is None else around.parent
    return at is arm


def at_path(home: Home, path: tuple[int, ...]) -> Home:
    for step in path:
        home = home[step] if isinstance(home, tuple) and step < len(home) else None
    return home


def in_caller(home: Home, call: Operation) -> Home:
    """Return what `home` in the callee, in terms of its parameters, is in the caller."""
    if isinstance(home, tuple):
        return tuple(in_caller(part, call) for part in home)
    param = home.storages[0] if isinstance(home, InOneOf) else None
    return InOneOf((call.operands[param.index],)) if isinstance(param, BlockArgument) else None


def tensors_in(value: SSAValue) -> Iterator[tuple[SSAValue, tuple[int, ...], Attribute]]:
    """Yield `value`, or the path in it and type of each field that is not a tuple, in order."""
    pending: list[tuple[Attribute, tuple[int, ...]]] = [(value.type, ())]
    while pending:
        at, path = pending.pop()
        if isinstance(at, TupleType):
            fields = [(field, (*path, i)) for i, field in enumerate(at.types.data)]
            pending += reversed(fields)
        else:
            yield value, path, at
