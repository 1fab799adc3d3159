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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import MemoryEffectKind, get_effects

from ...dialects import memory
from ...dialects.xdsl_extras.walking import values_from_above, walk
from ...dialects.xdsl_extras.xdsl_internals import operands_of
from ...runtime.program.components import components
from ..support.walk import only_block
from .numbered import Numbered, Row
from .op_facts import facts_of, has_bytes, holds_code, is_storage, may_hold_cells
from .overwritten_operands import Tensors

R = TypeVar("R")


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

    A class is the number of one of its values. It is `owned` if the body allocates bytes in it, or
    receives them from a call. It is `kept` if its bytes may be in use when the body ends: those of
    parameters and captured values, which belong to the caller, and those that the body returns.
    """

    body: Numbered
    returned: Mapping[str, Returned]
    """The aliases of the results of functions that are called."""
    is_divided: bool
    """False if bytes stay in one class when a branch hands them over to its result."""
    tensors: Tensors = field(default_factory=Tensors)
    overwritten: dict[Operation, list[int]] = field(default_factory=lambda: {})
    """The tensors that ops write results over."""
    class_of: list[int] = field(default_factory=lambda: [])
    """
    The class of each value, by its number. (While classes are found, a value that leads there.)
    """
    owned: list[bool] = field(default_factory=lambda: [])
    """For each class, true if it is owned."""
    kept: list[bool] = field(default_factory=lambda: [])
    """For each class, true if it is kept."""
    _last: list[int] = field(default_factory=lambda: [])
    """The position of the last use of each class, if the body has choices."""

    @property
    def block(self) -> Block:
        return self.body.block

    @property
    def values(self) -> Sequence[SSAValue]:
        """The values, in the order in which the walk met them."""
        return self.body.values

    def of(self, value: SSAValue) -> int:
        """Return the class of `value`."""
        number = self.body.number(value)
        if number >= len(self.class_of):
            self._grow()
        return self.class_of[number]

    def _grow(self) -> None:
        """Make a class of each value that has none."""
        for number in range(len(self.class_of), len(self.body.values)):
            self.class_of.append(number)
            self.owned.append(False)
            self.kept.append(False)
            self._last.append(0)

    def read_again(self) -> AliasClasses:
        """Return the classes of the body, whose ops have been reordered, as it is now."""
        body = self.body
        return alias_classes(body.block, body.captured, self.returned, self.is_divided)

    def uses(self, op: Operation) -> Sequence[SSAValue]:
        """Return the values that `op` uses, itself or in code that it holds; kills are not uses."""
        if facts_of(op).frees:
            return ()
        captured = self.body.captured.get(op) if op.regions else None
        operands = operands_of(op)
        return (*operands, *captured) if captured else operands

    def bytes_in(self, value: SSAValue) -> bool:
        """Test whether `value` may hold bytes that have a lifetime: it is not a constant."""
        return self.body.may_have_bytes[self.body.number(value)]

    def is_owned(self, value: SSAValue) -> bool:
        return self.owned[self.of(value)]

    def is_kept(self, value: SSAValue) -> bool:
        return self.kept[self.of(value)]

    # ------------------------------------------------------------ finding them

    def find(self) -> None:
        """Find the classes, but for what choices yield."""
        self._grow()
        owned, has_bytes, tensors = self.owned, self.body.may_have_bytes, self.tensors
        for number in self.body.body.args:
            self.kept[number] = True
        for row in self.body.rows:
            facts = row.facts
            if not facts.pure and facts.chooses is None:
                for number in row.results:
                    owned[number] = has_bytes[number]
            kind = type(row.op)
            if kind is memory.AllocTensorOp:
                tensors.add_tensor(row)
            elif facts.cuts:
                tensors.add_slice(row)
            elif facts.views is not None:
                tensors.add_view(row, *facts.views.operands)
            elif facts.carries:
                for i in range(len(row.results)):
                    tensors.add_view(row, i, i)
            elif facts.joins is not None:
                tensors.add_view(row, 0)
            if facts.writes:
                link_write(row, self)
            if facts.links:
                link(row, self)

    def root(self, number: int) -> int:
        """Return the class of value `number`."""
        above = self.class_of
        while (parent := above[number]) != number:
            above[number] = number = above[parent]
        return number

    def unite(self, numbers: Iterable[int]) -> None:
        """Put values into one class; those without bytes are skipped."""
        first = None
        for number in numbers:
            if not self.body.may_have_bytes[number]:
                continue
            other = self.root(number)
            if first is None:
                first = other
            elif first != other:
                self.class_of[other] = first
                self._last[first] = max(self._last[first], self._last[other])
                self.owned[first] |= self.owned[other]
                self.kept[first] |= self.kept[other]

    def unite_values(self, values: Iterable[SSAValue]) -> None:
        """Put `values` into one class."""
        self.unite([self.body.number(value) for value in values])

    def keep(self, numbers: Iterable[int]) -> None:
        """Make the classes of values kept."""
        for number in numbers:
            self.kept[self.root(number)] = True

    def merge_choices(self) -> None:
        """Link the results of each choice to the values that it yields, inner ones first."""
        for row in self.body.rows if self.body.choices and self.is_divided else ():
            if not row.facts.frees:
                for number in row.uses:
                    self._last[self.root(number)] = row.at
        for row in self.body.choices:
            merge(row, self)

    def used_after(self, number: int, position: int) -> bool:
        """Test whether something at `position` or after it uses the class of value `number`."""
        return self._last[self.root(number)] >= position

    def hand_over(self, number: int, to: int) -> None:
        """Make the class of `to` owned if that of `number` is."""
        self.owned[self.root(to)] |= self.owned[self.root(number)]

    def settle(self) -> None:
        """Let `class_of` be the class of each value."""
        self.class_of = [self.root(number) for number in range(len(self.class_of))]


def link(row: Row, classes: AliasClasses) -> None:
    """Unite the classes of values that share bytes by what an op does, apart from its yields."""
    op, facts = row.op, row.facts
    if facts.chooses is not None:
        for pair in facts.chooses.entering(op):
            classes.unite_values(pair)
    elif facts.calls is not None:
        link_call(row, classes, classes.returned.get(facts.calls.callee(op)))
    elif facts.unknown or (facts.aliasing is not None and holds_code(op)):
        classes.unite((*row.uses, *row.results))
    elif facts.aliasing is not None:
        for pair in facts.aliasing.aliases(op):
            classes.unite_values(pair)
    elif facts.may_store and len(operands_of(op)) > 1:
        effects = get_effects(op)
        if effects is None or any(effect.kind is MemoryEffectKind.WRITE for effect in effects):
            classes.unite_values(operands_of(op))


def link_write(row: Row, classes: AliasClasses) -> None:
    """Unite the classes of results with those of `outs`, and of operands that they are over."""
    count = len(row.operands) - len(row.results)
    ins, outs = row.operands[:count], row.operands[count:]
    for result, out in zip(row.results, outs, strict=True):
        over = classes.tensors.add_write(result, out, ins)
        if over:
            tensors = (classes.tensors.of[number] for number in over)
            classes.overwritten.setdefault(row.op, []).extend(tensors)
        classes.unite((result, out, *over))


def link_call(row: Row, classes: AliasClasses, returned: Returned | None) -> None:
    operands = row.operands
    if returned is None:
        classes.unite((*operands, *row.results))
        return
    if returned.shared:
        classes.unite(row.results)
    for i in returned.params:
        classes.unite((operands[i], *row.results))
    if any(may_hold_cells(operand.type) for operand in operands_of(row.op)):
        classes.unite(operands)


def merge(choice: Row, classes: AliasClasses) -> None:
    """
    Link the results of a choice to the values that it yields.

    If classes are divided, a result takes over the bytes of one that is not used after the choice.
    """
    has_bytes = classes.body.may_have_bytes
    for arm in choice.arms:
        values = arm.rows[-1].uses if arm.rows else ()
        taken: dict[int, int] = {}
        for result, value in zip(choice.results, values, strict=False):
            if not (has_bytes[result] and has_bytes[value]):
                continue
            ends = classes.is_divided and not classes.used_after(value, choice.stop)
            if not ends or classes.kept[classes.root(value)]:
                classes.unite((value, result))
                continue
            classes.hand_over(value, to=result)
            other = taken.setdefault(classes.root(value), result)
            classes.unite((other, result))


def alias_classes(
    block: Block,
    captured: Mapping[Operation, Sequence[SSAValue]],
    returned: Mapping[str, Returned],
    separate: bool = True,
) -> AliasClasses:
    """Compute the alias classes of a body; without `separate`, no bytes change their class."""
    body = Numbered(block, captured)
    classes = AliasClasses(body, returned, separate)
    classes.find()
    if not isinstance(block.parent_op(), func.FuncOp):  # which captures nothing
        classes.keep(body.from_above)
    if body.body.rows and not body.body.rows[-1].facts.frees:
        classes.keep(body.body.rows[-1].uses)
    classes.merge_choices()
    classes.settle()
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
            elif facts_of(op).views is not None:
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
    known = all(value in classes.body for value in values)
    return Contents(users, values) if known else None


def returned_by(classes: AliasClasses) -> Returned:
    """Return what the results of the function of `classes`, computed together, may alias."""
    block = classes.block
    last = block.last_op
    values = [] if last is None else [v for v in last.operands if classes.bytes_in(v)]
    returned = {classes.of(value) for value in values}
    params = [i for i, arg in enumerate(block.args) if classes.of(arg) in returned]
    storages = {i: arg for i, arg in enumerate(block.args) if is_storage(arg)}
    holds: set[int] = set()
    keeps: set[int] = set()
    if storages:
        lent = {classes.of(arg) for arg in block.args if not is_storage(arg)}
        for i, storage in storages.items():
            contents = contents_of(storage, classes)
            inside = {classes.of(v) for v in contents.values} if contents is not None else returned
            if contents is None or inside & lent - returned:
                keeps.add(i)
            elif inside & returned:
                holds.add(i)
    return Returned(
        frozenset(params), len(returned) < len(values), frozenset(holds), frozenset(keeps)
    )


@dataclass(eq=False)
class Functions:
    """The functions of a module that have a body, and what one walk finds in them."""

    named: Mapping[str, func.FuncOp]
    calls: Mapping[str, Sequence[str]]
    """The functions that each calls."""
    closures: Mapping[str, Sequence[Operation]]
    """The ops in each that hold code."""
    captured: Mapping[Operation, Sequence[SSAValue]]
    """The values that the code in each op uses from outside, in order of first use."""

    @staticmethod
    def of(module: ModuleOp) -> Functions:
        """Return the functions of `module`."""
        named = {
            op.sym_name.data: op
            for op in module.ops
            if isinstance(op, func.FuncOp) and op.body.blocks
        }
        calls: dict[str, Sequence[str]] = {}
        closures: dict[str, Sequence[Operation]] = {}
        for name, function in named.items():
            called: dict[str, None] = {}
            holders: list[Operation] = []
            for op in walk(function.body):
                if (trait := facts_of(op).calls) is not None:
                    called[trait.callee(op)] = None
                if op.regions and holds_code(op):
                    holders.append(op)
            calls[name], closures[name] = list(called), holders
        captured = values_from_above(module, holds_code) if any(closures.values()) else {}
        return Functions(named, calls, closures, captured)

    def summarized(
        self, first: Callable[[str], R], of: Callable[[str, Mapping[str, R]], R]
    ) -> dict[str, R]:
        """
        Return a summary of each function that is called, by those `of` the functions it calls.

        Callees come first. In a recursion the assumption `first` is corrected until it holds.
        """
        called = {callee for callees in self.calls.values() for callee in callees}
        summaries: dict[str, R] = {}
        for together in components(self.calls):
            names = [name for name in together if name in called]
            summaries |= {name: first(name) for name in names}
            is_recursive = len(together) > 1 or together[0] in self.calls[together[0]]
            changed = True
            while changed:
                before = {name: summaries[name] for name in names}
                for name in names:
                    summaries[name] = of(name, summaries)
                changed = is_recursive and any(before[n] != summaries[n] for n in names)
        return summaries

    def returned(self) -> dict[str, Returned]:
        """Compute what the results of each function that is called may alias, or nothing."""

        def of(name: str, returned: Mapping[str, Returned]) -> Returned:
            block = only_block(self.named[name])
            return returned_by(alias_classes(block, self.captured, returned, separate=False))

        return self.summarized(lambda name: Returned(frozenset(), shared=False), of)


def bodies_of(module: ModuleOp, separate: bool = True) -> list[AliasClasses]:
    """
    Return the alias classes of each function with a body and each closure, in program order.

    Without `separate`, bytes stay in one class when a branch hands them over to its result.
    """
    functions = Functions.of(module)
    returned = functions.returned()
    bodies: list[AliasClasses] = []
    for name, function in functions.named.items():
        blocks = [only_block(function)]
        for op in functions.closures[name]:
            if facts_of(op).aliasing is not None:
                blocks.append(op.regions[0].block)
        bodies += (alias_classes(b, functions.captured, returned, separate) for b in blocks)
    return bodies
