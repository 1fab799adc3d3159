"""
Alias classes: the values of a function that may share bytes.

    %v = vm.reshape_tensor %y                   {%y, %v}
    %p = relay.tuple(%a, %b)                    {%a, %b, %p}
    %y = vm.invoke_tvm_op … outs(%t)            {%t, %y}
    %z = vm.invoke_tvm_op … ins(%y) outs(%u)    {%t, %y, %u, %z} if %u is at the bytes of %t
    %r = relay.if %c { yield %a } else { … }    {%a, %r} if %a is used after the if; otherwise
                                                {%a}, {%r}: the branch hands its bytes over to %r
    %r = func.call @f(%x, %storage)             what is in %storage is live as long as %r, if the
                                                body of @f may return a tensor in it

Which values share bytes is asked of the ops (`Aliasing`, `ChoosesRegion`, `CallsFunction`, memory
effects). An op of unknown effects may return its operands, and link them to each other. A call
returns the arguments that its callee's body may return; a function that is not in the module may
return any. Constants are never freed, so they join no class.

Each function and each closure is a body of its own. Linear in ops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, ModuleOp, NoneType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import MemoryEffect, MemoryEffectKind, NoMemoryEffect, Pure, get_effects

from ...dialects import memory
from ...dialects.interfaces import (
    Aliasing,
    AllocatesResults,
    CallsFunction,
    ChoosesRegion,
    DestinationPassing,
    FreesOperand,
    Rematerializable,
)
from ...dialects.tensors import as_tensor
from ...dialects.walking import values_from_above, walk
from ...dialects.xdsl_internals import operands_of
from ..support.walk import is_kernel
from .blocks import only_block
from .overwriting import overwritten


class OpFacts(NamedTuple):
    """The traits of an op class that matter here."""

    chooses: ChoosesRegion | None
    aliasing: Aliasing | None
    calls: CallsFunction | None
    constant: bool
    pure: bool
    writes: bool
    unknown: bool
    """True if the effects of the op are not known."""
    may_store: bool
    """True if the op may write operands into other operands, such as a cell."""
    frees: bool
    links: bool
    """True if values of the op may share bytes."""


def op_facts(kind: type[Operation]) -> OpFacts:
    pure = kind.get_trait(Pure) is not None
    writes = kind.get_trait(DestinationPassing) is not None
    frees = kind.get_trait(FreesOperand) is not None
    chooses = kind.get_trait(ChoosesRegion)
    aliasing, calls = kind.get_trait(Aliasing), kind.get_trait(CallsFunction)
    effects = kind.get_traits_of_type(MemoryEffect)
    stores = not all(isinstance(effect, NoMemoryEffect | AllocatesResults) for effect in effects)
    may_store = stores and not (writes or frees or chooses)
    return OpFacts(
        chooses=chooses,
        aliasing=aliasing,
        calls=calls,
        constant=kind.get_trait(Rematerializable) is not None,
        pure=pure,
        writes=writes,
        unknown=not effects,
        may_store=may_store,
        frees=frees,
        links=bool(chooses or aliasing or calls or may_store or not effects),
    )


_FACTS: dict[type[Operation], OpFacts] = {}


def facts_of(op: Operation) -> OpFacts:
    """Return the facts of the class of `op`, cached."""
    kind = type(op)
    found = _FACTS.get(kind)
    if found is None:
        found = _FACTS[kind] = op_facts(kind)
    return found


def is_choice(op: Operation) -> bool:
    """Test whether `op` executes one of its regions, once."""
    return facts_of(op).chooses is not None


def holds_code(op: Operation) -> bool:
    """Test whether the regions of `op`, such as a closure, may run later, never or repeatedly."""
    return bool(op.regions) and not is_choice(op) and not is_kernel(op)


_HAS_BYTES: dict[type[Attribute], bool] = {}
"""For each class of types seen but tuples, true if its values may have bytes."""


def has_bytes(type: Attribute) -> bool:
    """Test whether values of `type` may hold tensors; storage is freed with its tensors."""
    kind = type.__class__
    found = _HAS_BYTES.get(kind)
    if found is None:
        if isinstance(type, TupleType):
            return bool(type.types.data)
        found = _HAS_BYTES[kind] = not issubclass(
            kind, IntegerType | IndexType | AnyFloat | NoneType | memory.StorageType
        )
    return found


def is_storage(value: SSAValue) -> bool:
    return isinstance(value.type, memory.StorageType)


def may_hold_cells(type: Attribute) -> bool:
    """Test whether values of `type` may hold cells, into which others may be written."""
    pending = [type]
    while pending:
        part = pending.pop()
        if isinstance(part, TupleType):
            pending += part.types.data
        elif as_tensor(part) is None and has_bytes(part):
            return True
    return False


class Returned(NamedTuple):
    """The aliases of the results of a function."""

    params: frozenset[int]
    """The parameters that it may return."""
    shared: bool
    """True if two of its results may alias each other."""
    holds: frozenset[int] = frozenset()
    """The storages among the parameters that results may lie in."""
    keeps: frozenset[int] = frozenset()
    """The storages among the parameters whose bytes may be in use after the call otherwise."""


@dataclass(eq=False)
class AliasClasses:
    """
    The alias classes of a body, and who owns the bytes of each.

    A class is `owned` if the body allocates bytes in it, or receives them from a call. It is `kept`
    if its bytes may be in use when the body ends: those of parameters and captured values, which
    belong to the caller, and those that the body returns.
    """

    block: Block
    captured: Mapping[Operation, Sequence[SSAValue]]
    returned: Mapping[str, Returned] = field(default_factory=dict[str, Returned])
    """The aliases of the results of functions that are called."""
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values, in the order in which the walk met them."""
    _numbers: dict[int, int] = field(default_factory=dict[int, int])
    """The position of each value in `values`, by its identity: xDSL's hash is slow."""
    _parent: list[int] = field(default_factory=list[int])
    _last: list[int] = field(default_factory=list[int])
    _owned: list[bool] = field(default_factory=list[bool])
    _kept: list[bool] = field(default_factory=list[bool])

    def of(self, value: SSAValue) -> int:
        """Return the class of `value`."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._parent)
            self.values.append(value)
            self._parent.append(number)
            self._last.append(0)
            self._owned.append(False)
            self._kept.append(False)
            return number
        parent = self._parent
        while (above := parent[number]) != number:
            parent[number] = number = parent[above]
        return number

    def position_of(self, value: SSAValue) -> int:
        """Return the position of `value`, which has a class, in `values`."""
        return self._numbers[id(value)]

    def has(self, value: SSAValue) -> bool:
        """Test whether the walk met `value`."""
        return id(value) in self._numbers

    @property
    def ops(self) -> Sequence[Operation]:
        """The ops of the body as it is now, in program order, each before those in its arms."""
        return list(walk(self.block, enters=is_choice))

    @property
    def ends(self) -> Iterator[Operation]:
        """The ops of the body in the order of the positions at which values are used."""
        return walk(self.block, region_first=True, enters=is_choice)

    def ends_here(self, value: SSAValue) -> bool:
        """Test whether the lifetime of `value`'s bytes ends in this body."""
        return self.class_ends_here(self.of(value))

    def class_ends_here(self, number: int) -> bool:
        """Test whether the lifetime of the bytes of class `number` ends in this body."""
        return self._owned[number] and not self._kept[number]

    def uses(self, op: Operation) -> Sequence[SSAValue]:
        """Return the values that `op` uses, itself or in code that it holds; kills are not uses."""
        if facts_of(op).frees:
            return ()
        captured = self.captured.get(op) if op.regions else None
        operands = operands_of(op)
        return (*operands, *captured) if captured else operands

    def members(self) -> list[list[SSAValue]]:
        """Return the classes of more than one value, and the values in them, in order."""
        found: dict[int, list[SSAValue]] = {}
        for value in self.values:
            found.setdefault(self.of(value), []).append(value)
        return [values for values in found.values() if len(values) > 1]

    def bytes_in(self, value: SSAValue) -> bool:
        """Test whether `value` may hold bytes that have a lifetime: it is not a constant."""
        type = value.type
        has = _HAS_BYTES.get(type.__class__)
        if not (has_bytes(type) if has is None else has):
            return False
        owner = value.owner
        return isinstance(owner, Block) or not facts_of(owner).constant

    def unite(self, values: Iterable[SSAValue]) -> None:
        """Put `values` into one class; those without bytes are skipped."""
        first = None
        for value in values:
            if not self.bytes_in(value):
                continue
            other = self.of(value)
            if first is None:
                first = other
            elif first != other:
                self._parent[other] = first
                self._last[first] = max(self._last[first], self._last[other])
                self._owned[first] |= self._owned[other]
                self._kept[first] |= self._kept[other]

    def used(self, values: Iterable[SSAValue], position: int) -> None:
        """Record uses; positions only grow."""
        for value in values:
            self._last[self.of(value)] = position

    def used_after(self, value: SSAValue, position: int) -> bool:
        return self._last[self.of(value)] > position

    def own(self, value: SSAValue) -> None:
        self._owned[self.of(value)] = True

    def keep(self, value: SSAValue) -> None:
        self._kept[self.of(value)] = True

    def is_owned(self, value: SSAValue) -> bool:
        return self._owned[self.of(value)]

    def is_kept(self, value: SSAValue) -> bool:
        return self._kept[self.of(value)]

    def class_is_kept(self, number: int) -> bool:
        return self._kept[number]

    def hand_over(self, value: SSAValue, to: SSAValue) -> None:
        """Make the class of `to` owned if that of `value` is."""
        self._owned[self.of(to)] |= self._owned[self.of(value)]


def link(op: Operation, classes: AliasClasses, returned: Mapping[str, Returned]) -> None:
    """Unite the classes of values that share bytes by what `op` does, apart from its yields."""
    facts = facts_of(op)
    if facts.chooses is not None:
        for pair in facts.chooses.entering(op):
            classes.unite(pair)
    elif facts.calls is not None:
        link_call(op, classes, returned.get(facts.calls.callee(op)))
    elif facts.unknown or (holds_code(op) and facts.aliasing is not None):
        classes.unite((*classes.uses(op), *op.results))
    elif facts.aliasing is not None:
        for pair in facts.aliasing.aliases(op):
            classes.unite(pair)
        for pair in overwritten(op) if facts.writes else ():
            classes.unite(pair)
    elif facts.may_store and len(op.operands) > 1:
        effects = get_effects(op)
        if effects is None or any(effect.kind is MemoryEffectKind.WRITE for effect in effects):
            classes.unite(op.operands)


def link_call(op: Operation, classes: AliasClasses, returned: Returned | None) -> None:
    if returned is None:
        classes.unite((*op.operands, *op.results))
        return
    if returned.shared:
        classes.unite(op.results)
    for i in returned.params:
        classes.unite((op.operands[i], *op.results))
    if any(may_hold_cells(operand.type) for operand in op.operands):
        classes.unite(op.operands)


def yields_of(op: Operation) -> Iterator[Sequence[SSAValue]]:
    """Yield the values that each region of `op`, a choice, yields for its results."""
    for region in op.regions:
        last = region.block.last_op
        yield () if last is None else last.operands[: len(op.results)]


def merge(op: Operation, classes: AliasClasses, position: int, separate: bool) -> None:
    """
    Link the results of `op`, a choice that ends at `position`, to the values that it yields.

    With `separate`, a result takes over the bytes of a class that is not used after `op`.
    """
    for values in yields_of(op):
        taken: dict[int, SSAValue] = {}
        for result, value in zip(op.results, values, strict=False):
            if not (classes.bytes_in(result) and classes.bytes_in(value)):
                continue
            ends = separate and not classes.used_after(value, position)
            if not ends or classes.is_kept(value):
                classes.unite((value, result))
                continue
            classes.hand_over(value, to=result)
            other = taken.setdefault(classes.of(value), result)
            classes.unite((other, result))


def results_in(ops: Iterable[Operation]) -> Iterator[SSAValue]:
    """Yield the results of `ops`, and the arguments of arms."""
    for op in ops:
        yield from op.results
        if is_choice(op):
            for region in op.regions:
                yield from region.block.args


def alias_classes(
    block: Block,
    captured: Mapping[Operation, Sequence[SSAValue]],
    returned: Mapping[str, Returned],
    separate: bool = True,
) -> AliasClasses:
    """Compute the alias classes of a body; without `separate`, no bytes change their class."""
    classes = AliasClasses(block, captured, returned)
    for argument in block.args:
        classes.keep(argument)
    choices: list[tuple[Operation, int]] = []
    # A choice comes after the ops in it, so that its position is its end.
    ops = list(classes.ends)
    for position, op in enumerate(ops):
        facts = facts_of(op)
        if facts.frees:
            continue
        if facts.chooses is not None:
            choices.append((op, position))
        classes.used(classes.uses(op), position)
        if not facts.pure and facts.chooses is None:
            for result in op.results:
                if classes.bytes_in(result):
                    classes.own(result)
        if facts.links:
            link(op, classes, returned)
    if not isinstance(block.parent_op(), func.FuncOp):  # which captures nothing
        defined = {*block.args, *results_in(ops)}
        for value in classes.values:
            if value not in defined:
                classes.keep(value)
    if block.last_op is not None:
        for value in classes.uses(block.last_op):
            classes.keep(value)
    for op, position in choices:
        merge(op, classes, position, separate)
    return classes


class Contents(NamedTuple):
    """The uses of a storage, also through slices of it."""

    users: Sequence[Operation]
    """The allocations of tensors in it, and the calls that it is lent to."""
    values: Sequence[SSAValue]
    """The values whose bytes may be in it: tensors, and results of calls."""


def contents_of(storage: SSAValue, classes: AliasClasses) -> Contents | None:
    """Return what is in `storage`; None if it may have other uses, or uses in other bodies."""
    users: list[Operation] = []
    values: list[SSAValue] = []
    pending = [storage]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if type(op) is memory.AllocTensorOp:
                users.append(op)
                values.append(op.results[0])
            elif type(op) is memory.SliceStorageOp:
                pending.append(op.results[0])
            elif (calls := facts_of(op).calls) is not None:
                returned = classes.returned.get(calls.callee(op))
                if returned is None or use.index in returned.keeps:
                    return None
                users.append(op)
                if use.index in returned.holds:
                    values += (result for result in op.results if has_bytes(result.type))
            elif type(op) is not memory.PackOp:
                return None
    known = all(map(classes.has, values))
    return Contents(users, values) if known else None


def returned_by(classes: AliasClasses) -> Returned:
    """Return what the results of the function of `classes`, computed together, may alias."""
    block = classes.block
    last = block.last_op
    values = [] if last is None else [v for v in last.operands if classes.bytes_in(v)]
    found = {classes.of(value) for value in values}
    params = [i for i, arg in enumerate(block.args) if classes.of(arg) in found]
    storages = {i: arg for i, arg in enumerate(block.args) if is_storage(arg)}
    holds: set[int] = set()
    keeps: set[int] = set()
    if storages:
        lent = {classes.of(arg) for arg in block.args if not is_storage(arg)}
        for i, storage in storages.items():
            contents = contents_of(storage, classes)
            inside = {classes.of(v) for v in contents.values} if contents is not None else found
            if contents is None or inside & lent - found:
                keeps.add(i)
            elif inside & found:
                holds.add(i)
    return Returned(frozenset(params), len(found) < len(values), frozenset(holds), frozenset(keeps))


def returned_by_functions(
    functions: Mapping[str, func.FuncOp], captured: Mapping[Operation, Sequence[SSAValue]]
) -> dict[str, Returned]:
    """
    Compute what the results of each function that is called may alias.

    Callees come first. In a recursion the assumption that nothing is returned is corrected until
    it holds.
    """
    calls = {name: list(dict.fromkeys(callees(op))) for name, op in functions.items()}
    called = {callee for found in calls.values() for callee in found if callee in functions}
    callers: dict[str, list[str]] = {}
    for name, found in calls.items():
        for callee in found:
            callers.setdefault(callee, []).append(name)
    returned = {name: Returned(frozenset(), shared=False) for name in called}
    pending = deque(name for name in callees_first(calls) if name in called)
    queued = set(pending)
    while pending:
        name = pending.popleft()
        queued.discard(name)
        block = only_block(functions[name])
        found = returned_by(alias_classes(block, captured, returned, separate=False))
        if found == returned[name]:
            continue
        returned[name] = found
        for caller in callers.get(name, ()):
            if caller in called and caller not in queued:
                queued.add(caller)
                pending.append(caller)
    return returned


def callees(function: Operation) -> Iterator[str]:
    """Yield the names of the functions that `function` calls."""
    for op in walk(function):
        if (calls := facts_of(op).calls) is not None:
            yield calls.callee(op)


def callees_first(calls: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the functions so that each comes after those that it calls, but for recursion."""
    order: dict[str, None] = {}
    entered: set[str] = set()
    for start in calls:
        pending = [(start, False)]
        while pending:
            name, done = pending.pop()
            if done:
                order.setdefault(name)
            elif name not in entered and name in calls:
                entered.add(name)
                pending.append((name, True))
                pending += ((callee, False) for callee in reversed(calls[name]))
    return list(order)


def captured_values(module: ModuleOp) -> Mapping[Operation, Sequence[SSAValue]]:
    """Return the values that the code in each op uses from outside, in order of first use."""
    if not any(holds_code(op) and type(op) is not func.FuncOp for op in walk(module.body)):
        return {}  # functions are isolated
    return values_from_above(module, holds_code)


def bodies_of(module: ModuleOp, separate: bool = True) -> list[AliasClasses]:
    """
    Return the alias classes of each function with a body and each closure, in program order.

    Without `separate`, bytes stay in one class when a branch hands them over to its result.
    """
    functions = {
        op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks
    }
    captured = captured_values(module)
    returned = returned_by_functions(functions, captured)
    found: list[AliasClasses] = []
    for function in functions.values():
        for op in walk(function):
            if op is function:
                block = only_block(op)
            elif holds_code(op) and facts_of(op).aliasing is not None:
                block = op.regions[0].block
            else:
                continue
            found.append(alias_classes(block, captured, returned, separate))
    return found
