"""The packing problem as ops: a pack, its slices with lifetimes and sizes, and its total."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple, cast

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from ...operators.orders import Interval, Life, On, OrderError, Orders, Row
from ..integers import i64_array, i64_attribute, integers_of
from ..interfaces import AllocatesResults, DeviceConstraint, DeviceRule, HoldsNoTensors, OnHost
from ..xdsl_extras.formats import Qualified, StaticOrDynamic, form
from ..xdsl_extras.segments import operand_counts
from ..xdsl_extras.xdsl_internals import operands_of
from .static_or_dynamic import exactly_one, verify_alignment
from .storage_ops import PoolAttr, StorageType


class Arm(NamedTuple):
    """An arm of a branch, both by number."""

    branch: int
    arm: int


class Slice(NamedTuple):
    """`size` bytes that are needed from `start` until just before `stop`, but not in `gaps`."""

    start: int
    stop: int
    size: int | SSAValue
    arms: tuple[Arm, ...] = ()
    """The arms in which it is; slices in different arms of a branch never exist together."""
    gaps: tuple[Interval, ...] = ()
    """In ascending order, with times at which it is needed before, between and after them."""
    alignment: int | None = None
    """That of the pack if None."""


class NumbersOnHost(DeviceRule):
    """Sizes and offsets are on the host; the storage that is laid out may be anywhere."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for value in (*op.operands, *op.results):
            if not isinstance(value.type, StorageType | PackType):
                yield OnHost(value, f"{op.name} runs on the host")


@irdl_attr_definition
class PackType(ParametrizedAttribute, TypeAttribute, HoldsNoTensors):
    """
    An arena whose slices are laid out together.

    ```mlir
    !memory.pack
    ```
    """

    name = "memory.pack"


@irdl_custom_directive
class OrdersOf(CustomDirective):
    """The choice of the offsets of a pack: `at_bind`, `ordered`, `smallest of 2` or nothing."""

    at_bind: AttributeVariable
    orders: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("at_bind") is not None:
            self.at_bind.set(state, UnitAttr())
        elif parser.parse_optional_keyword("ordered") is not None:
            self.orders.set(state, IntegerAttr(1, i64))
        elif parser.parse_optional_keyword("smallest") is not None:
            parser.parse_keyword("of")
            self.orders.set(state, IntegerAttr(parser.parse_integer(allow_boolean=False), i64))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        assert isinstance(op, PackOp)
        if op.at_bind is not None:
            printer.print_string(" at_bind")
        elif op.n_orders == 1:
            printer.print_string(" ordered")
        elif op.orders is not None:
            printer.print_string(f" smallest of {op.n_orders}")


@irdl_op_definition
class PackOp(IRDLOperation):
    """
    Lay out the slices that name this arena so that those alive together do not overlap.

    ```mlir
    %arena = memory.pack align 64 : !memory.pack
    %a = memory.slice %arena [0, 2) %size
    %b = memory.slice %arena [1, 4) 4096
    %total = memory.total %arena
    ```
    ```mlir
    %p = memory.pack at_bind align 64 : !memory.pack
    %q = memory.pack ordered align 64 : !memory.pack
    %r = memory.pack smallest of 2 align 64 : !memory.pack
    %s = memory.pack align 64 within %w : !memory.storage -> !memory.pack
    %t = memory.pack align 64 in #memory.pool<#dtcm, capacity 65536, cost 1, align 1> : !memory.pack
    ```

    The slices are in the block of the pack, its totals after all of them. Any offsets are right at
    which slices that are alive together do not overlap, and that are multiples of the alignment:
    how good they are is the choice of `layout-slices`, or with `at_bind` of the machine, which
    plans when it knows the sizes. An `ordered` pack says how: each slice starts at the highest end
    of the slices that it lies on, rounded up. Of two or more orders, each says what a slice lies
    on, and the one with the smallest total counts. Orders are right for all sizes; their pieces lie
    on each other without a cycle. `within` names the arena if it is a workspace, a parameter of the
    function: the total is then what `memory.workspace_size` computes for its callers, and offsets
    are not chosen `at_bind`. `in` is the pool in which it lies, whose capacity is at least the
    total.
    """

    name = "memory.pack"

    alignment = prop_def(IntegerAttr[I64])
    orders = opt_prop_def(IntegerAttr[I64])
    """The number of orders of its slices, if it is ordered."""
    at_bind = opt_prop_def(UnitAttr)
    """Present if offsets are chosen when the sizes are known."""
    pool = opt_prop_def(PoolAttr)
    workspace = opt_operand_def(StorageType)
    pack = result_def(PackType)

    traits = traits_def(AllocatesResults(), NumbersOnHost())
    custom_directives = (OrdersOf, Qualified)
    assembly_format = (
        "custom<OrdersOf>($at_bind, $orders) `align` $alignment (`in` "
        "custom<Qualified>($pool)^)? (`within` $workspace^ `:` type($workspace) `->`):(`:`)? "
        "type($pack) attr-dict"
    )

    def __init__(
        self, alignment: int, workspace: SSAValue | None = None, pool: PoolAttr | None = None
    ):
        super().__init__(
            operands=[workspace],
            properties={"alignment": IntegerAttr(alignment, i64), "pool": pool},
            result_types=[PackType()],
        )

    @property
    def n_orders(self) -> int:
        """The number of its orders; 0 if it has none."""
        return 0 if self.orders is None else self.orders.value.data

    def verify_(self) -> None:
        verify_alignment(self.alignment)
        if self.at_bind is not None and self.workspace is not None:
            raise VerifyException("the offsets in a workspace cannot be chosen at_bind")
        if self.at_bind is not None and self.orders is not None:
            raise VerifyException("an ordered pack leaves no offsets to choose at_bind")
        if self.orders is not None and self.n_orders < 1:
            raise VerifyException(f"a pack has at least 1 order, but this has {self.n_orders}")
        packing = Packing(self)
        packing.verify()


class KeptIfNumbered(AllocatesResults):
    """Slices that others name by number are not removed, even if they are unused."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        pack = op.operands[0].owner
        if isinstance(pack, PackOp) and pack.n_orders > 1:
            return {EffectInstance(MemoryEffectKind.WRITE)}
        return super().get_effects(op)


_PACK_ALONE = DenseArrayBase.from_list(i32, [1, 0, 0, 0, 0, 0])
_PACK_AND_SIZE = DenseArrayBase.from_list(i32, [1, 1, 0, 0, 0, 0])


def parse_lifetime(parser: Parser) -> Attribute:
    """Parse half-open intervals: `[0, 2) [5, 6)`, or nothing."""
    bounds: list[int] = []
    while parser.parse_optional_punctuation("[") is not None:
        bounds.append(parser.parse_integer(allow_boolean=False))
        parser.parse_punctuation(",")
        bounds.append(parser.parse_integer(allow_boolean=False))
        parser.parse_punctuation(")")
    return i64_array(bounds)


def print_lifetime(printer: Printer, bounds: DenseArrayBase[I64]) -> None:
    times = zip(bounds.get_values()[::2], bounds.get_values()[1::2], strict=False)
    printer.print_string(" ".join(f"[{start}, {stop})" for start, stop in times))


def parse_arms(parser: Parser) -> Attribute | None:
    """Parse arms of branches, `in (0:0, 1:1)`, or nothing."""
    numbers: list[int] = []

    def arm() -> None:
        numbers.append(parser.parse_integer(allow_boolean=False))
        parser.parse_punctuation(":")
        numbers.append(parser.parse_integer(allow_boolean=False))

    if parser.parse_optional_keyword("in") is None:
        return None
    parser.parse_comma_separated_list(parser.Delimiter.PAREN, arm)
    return i64_array(numbers)


def print_arms(printer: Printer, pairs: DenseArrayBase[I64]) -> None:
    numbers = pairs.get_values()
    arms = (f"{branch}:{arm}" for branch, arm in zip(numbers[::2], numbers[1::2], strict=False))
    printer.print_string(f"in ({', '.join(arms)})")


Lifetime = form("Lifetime", parse_lifetime, print_lifetime)
Arms = form("Arms", parse_arms, print_arms)


@irdl_custom_directive
class SizeOf(StaticOrDynamic):
    """The size of a slice, `128` or `%n`, or what it is over: `over %a to %b`."""

    static: AttributeVariable
    dynamic: OptionalOperandVariable
    over: VariadicOperandVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("over") is None:
            super().parse(parser, state)
            self.over.set(state, ())
            return
        first = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        self.over.set(state, (first, parser.parse_unresolved_operand()))
        self.dynamic.set(state, None)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        super().print(printer, state, op)
        for word, slice in zip((" over ", " to "), self.over.get(op), strict=False):
            printer.print_string(word)
            printer.print_operand(slice)


@irdl_custom_directive
class LiesOn(CustomDirective):
    """The slices below, `on (%a, %b)`, their numbers in each order, `on () or (1)`, or nothing."""

    slices: VariadicOperandVariable
    numbers: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        lists: list[list[int | UnresolvedOperand]] = []

        def slice() -> int | UnresolvedOperand:
            number = parser.parse_optional_integer(allow_boolean=False)
            return parser.parse_unresolved_operand() if number is None else number

        while parser.parse_optional_keyword("or" if lists else "on") is not None:
            lists.append(parser.parse_comma_separated_list(parser.Delimiter.PAREN, slice))
        slices = [slice for slice in chain(*lists) if not isinstance(slice, int)]
        self.slices.set(state, slices)
        if len(lists) > 1 or len(slices) < len([*chain(*lists)]):
            numbers = [[n for n in each if isinstance(n, int)] for each in lists]
            self.numbers.set(state, ArrayAttr(map(i64_array, numbers)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        assert isinstance(op, SliceOp)
        if op.on:
            printer.print_string(" on (")
            printer.print_list(op.on, printer.print_operand)
            printer.print_string(")")
        elif op.on_numbers is not None:
            lists = (", ".join(map(str, each.get_values())) for each in op.on_numbers)
            printer.print_string(f" on ({') or ('.join(lists)})")


@irdl_op_definition
class SliceOp(IRDLOperation):
    """
    Return the offset of `size` bytes of the arena `pack` that are needed in the given lifetime.

    ```mlir
    %a = memory.slice %arena [0, 2) %size
    %b = memory.slice %arena [1, 4) 4096 align 16 in (0:0, 1:1)
    %c = memory.slice %arena [1, 3) [5, 6) %size on (%a, %b)
    %d = memory.slice %arena [2, 3) %size on () or (1)
    ```
    ```mlir
    %a = memory.slice %arena [1, 4) %size
    %b = memory.slice %arena 64 beside %a
    %c = memory.slice %arena [2, 4) %size beside %b
    %w = memory.slice %arena [3, 6) over %a to %c
    %t = memory.slice %arena [4, 6) %size tied %w
    %f = memory.slice %arena [0, 9) 256 at 0 pool 1
    ```

    A lifetime is half-open intervals in ascending order, between which nothing is in the bytes;
    padding has none. The size, static or an `i64`, counts as 0 if it is negative: its tensor may be
    in an arm that is not taken. `in` names the arms of branches (`branch:arm`) that it is in:
    slices in different arms of one branch never exist together. Slices with a place are of one
    piece, whose offset alone is a multiple of the alignment: `beside` a slice, it starts where that
    ends; `tied` to one, where that starts; `over` slices that are side by side, it is as large as
    they are together. At a fixed offset, it lies on nothing. Each `pool` is an arena of its own.
    In an `ordered` pack, `on` lists the slices that it lies directly on; of two or more orders,
    `on` has a list for each, of numbers of slices in order of appearance.
    The alignment is that of the pack, unless it is less and all sizes are known.
    """

    name = "memory.slice"

    pack = operand_def(PackType)
    lifetime = prop_def(DenseArrayBase[I64])
    """Start and stop of each interval."""
    static_size = opt_prop_def(IntegerAttr[I64])
    dynamic_size = opt_operand_def(i64)
    alignment = opt_prop_def(IntegerAttr[I64])
    in_arms = opt_prop_def(DenseArrayBase[I64])
    """Branch and arm, alternating."""
    on = var_operand_def(i64)
    """The slices that it lies on in a pack of one order."""
    on_numbers = opt_prop_def(ArrayAttr[DenseArrayBase[I64]])
    """For each of two or more orders, the numbers of the slices that it lies on."""
    beside = opt_operand_def(i64)
    over = var_operand_def(i64)
    tied = opt_operand_def(i64)
    at = opt_prop_def(IntegerAttr[I64])
    pool = opt_prop_def(IntegerAttr[I64])
    offset = result_def(i64)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(KeptIfNumbered(), NumbersOnHost())
    custom_directives = (Lifetime, SizeOf, Arms, LiesOn)
    assembly_format = (
        "$pack custom<Lifetime>($lifetime) custom<SizeOf>($static_size, $dynamic_size, $over) "
        "(`align` $alignment^)? custom<Arms>($in_arms) (`beside` $beside^)? (`tied` $tied^)? "
        "(`at` $at^)? (`pool` $pool^)? custom<LiesOn>($on, $on_numbers) attr-dict"
    )

    def __init__(self, pack: SSAValue, slice: Slice, beside: SSAValue | None = None):
        size, arms = slice.size, slice.arms
        is_static = isinstance(size, int)
        counts = _PACK_ALONE if is_static else _PACK_AND_SIZE
        if beside is not None:
            counts = DenseArrayBase.from_list(i32, [1, int(not is_static), 0, 1, 0, 0])
        properties: dict[str, Attribute] = {
            "lifetime": i64_array(
                (slice.start, *(time for gap in slice.gaps for time in gap), slice.stop)
            ),
            "operandSegmentSizes": counts,
        }
        if is_static:
            properties["static_size"] = i64_attribute(size)
        if slice.alignment is not None:
            properties["alignment"] = i64_attribute(slice.alignment)
        if arms:
            properties["in_arms"] = i64_array(n for arm in arms for n in arm)
        operands = (pack,) if is_static else (pack, size)
        operands = operands if beside is None else (*operands, beside)
        Operation.__init__(self, operands=operands, properties=properties, result_types=(i64,))

    def segments(self) -> tuple[int, ...]:
        """Return the number of operands in each group: the pack, the size, `on`, and so on."""
        return operand_counts(self)

    @property
    def size(self) -> int | SSAValue | None:
        """The size in bytes; None if it is over others."""
        static = self.properties.get("static_size")
        if static is not None:
            return cast(IntegerAttr[I64], static).value.data
        return self.operands[1] if self.segments()[1] else None

    @property
    def life(self) -> Life:
        bounds = integers_of(self.lifetime)
        return Life(tuple(zip(bounds[::2], bounds[1::2], strict=False)), frozenset(self.arms))

    @property
    def arms(self) -> tuple[Arm, ...]:
        arms = self.properties.get("in_arms")
        if arms is None:
            return ()
        pairs = integers_of(cast(DenseArrayBase[I64], arms))
        return tuple(map(Arm, pairs[::2], pairs[1::2]))

    def lie_on(self, slices: Sequence[SSAValue]) -> None:
        """Let it lie directly on `slices`, in the only order of its pack."""
        sizes = [0 if self.dynamic_size is None else 1, len(slices)]
        sizes += [0 if self.beside is None else 1, len(self.over), 0 if self.tied is None else 1]
        before = 1 + sizes[0]
        after = before + len(self.on)
        operands = [*self.operands]
        self.operands = [*operands[:before], *slices, *operands[after:]]
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [1, *sizes])

    def lie_on_numbers(self, lists: Sequence[Sequence[int]]) -> None:
        """Let it lie on the slices of these numbers, a list for each order of its pack."""
        self.on_numbers = ArrayAttr(map(i64_array, lists)) if any(lists) else None

    def verify_(self) -> None:
        if len(self.lifetime) % 2:
            raise VerifyException("a lifetime is pairs of a start and a stop")
        _verify_times(self.life.times)
        if self.in_arms is not None and len(self.in_arms) % 2:
            raise VerifyException("arms must be pairs of a branch and an arm")
        branches = [arm.branch for arm in self.arms]
        if len(set(branches)) < len(branches):
            raise VerifyException("a slice can be in one arm of a branch only")
        if len(self.over) not in (0, 2):
            raise VerifyException("a slice is over a first slice to a last one")
        if self.over and self.size is not None:
            raise VerifyException("a slice over others is as large as they are: it has no size")
        if self.alignment is not None:
            bytes, pack = verify_alignment(self.alignment), self.pack.owner
            if isinstance(pack, PackOp) and bytes > (most := pack.alignment.value.data):
                raise VerifyException(
                    f"a slice must be aligned to at most the {most} bytes of its pack, but is to "
                    f"{bytes}"
                )
        if not self.over:
            exactly_one("the size", self.static_size, self.dynamic_size)
        for what, number in (("size", self.static_size), ("offset", self.at), ("pool", self.pool)):
            if number is not None and number.value.data < 0:
                raise VerifyException(
                    f"the {what} of a slice must be at least 0, but is {number.value.data}"
                )


def _verify_times(times: Sequence[Interval]) -> None:
    before = 0
    for k, (start, stop) in enumerate(times):
        if not before <= start < stop or (k and start == before):
            raise VerifyException(
                "the lifetime of a slice must start at 0 or later and end after its start, each "
                f"interval after the one before, but one is [{start}, {stop})"
            )
        before = stop


@irdl_op_definition
class TotalOp(IRDLOperation):
    """
    Return the bytes that the slices of the arena `pack` need, those of one pool.

    ```mlir
    %total = memory.total %arena
    %other = memory.total %arena pool 1
    ```

    It is after all slices of the pack, in their block.
    """

    name = "memory.total"

    pack = operand_def(PackType)
    pool = opt_prop_def(IntegerAttr[I64])
    total = result_def(i64)

    traits = traits_def(AllocatesResults(), NumbersOnHost())
    assembly_format = "$pack (`pool` $pool^)? attr-dict"

    def __init__(self, pack: SSAValue):
        super().__init__(operands=[pack], result_types=[i64])

    @property
    def pool_number(self) -> int:
        return 0 if self.pool is None else self.pool.value.data


@dataclass(eq=False)
class Packing:
    """A pack with its slices, in order of appearance, and its totals."""

    op: PackOp

    @cached_property
    def members(self) -> list[SliceOp | TotalOp]:
        """The slices and totals, in order of appearance."""
        users = {use.operation for use in self.op.pack.uses}
        ordered: list[SliceOp | TotalOp] = []
        at = self.op.next_op
        while at is not None and len(ordered) < len(users):
            if at in users and isinstance(at, SliceOp | TotalOp):
                ordered.append(at)
            at = at.next_op
        return ordered

    @cached_property
    def slices(self) -> list[SliceOp]:
        return [op for op in self.members if isinstance(op, SliceOp)]

    @property
    def totals(self) -> list[TotalOp]:
        return [op for op in self.members if isinstance(op, TotalOp)]

    @property
    def total(self) -> TotalOp | None:
        """The op that computes the bytes of the first pool."""
        return next((op for op in self.totals if not op.pool_number), None)

    @cached_property
    def lives(self) -> list[Life]:
        """The life of each slice."""
        return [op.life for op in self.slices]

    @cached_property
    def sizes(self) -> list[int | SSAValue]:
        """The size of each slice; 0 of one over others, whose size is theirs."""
        return [size if (size := op.size) is not None else 0 for op in self.slices]

    @property
    def alignment(self) -> int:
        return self.op.alignment.value.data

    @cached_property
    def alignments(self) -> list[int]:
        """The alignment of each slice."""
        own = (op.alignment for op in self.slices)
        return [self.alignment if one is None else one.value.data for one in own]

    @cached_property
    def numbers(self) -> dict[SSAValue, int]:
        """The number of each slice, by its offset."""
        return {op.offset: i for i, op in enumerate(self.slices)}

    def _number(self, value: SSAValue) -> int:
        number = self.numbers.get(value)
        if number is None:
            raise VerifyException("a slice lies on, beside or over slices of its own pack only")
        return number

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The places of slices, as rows of an order; empty if each lies wherever it fits."""
        rows = tuple(map(self._row, self.slices))
        return () if all(row == _PLAIN for row in rows) else rows

    def _row(self, op: SliceOp) -> Row:
        if "at" not in op.properties and "pool" not in op.properties:
            _, dynamic, on, *_ = op.segments()
            if len(op.operands) == 1 + dynamic + on:
                return _PLAIN
        static, at, pool = op.static_size, op.at, op.pool
        over = tuple(map(self._number, op.over))
        return Row(
            None if op.beside is None else self._number(op.beside),
            (over[0], over[-1]) if over else None,
            None if op.tied is None else self._number(op.tied),
            None if at is None else at.value.data,
            0 if pool is None else pool.value.data,
            None if static is None else static.value.data,
        )

    @cached_property
    def orders(self) -> Orders | None:
        """The orders of the slices, if the pack is ordered."""
        if self.op.orders is None:
            return None
        count = self.op.n_orders
        lists: list[On] = []
        if count == 1:
            lists.append(tuple(self._on(op) for op in self.slices))
        else:
            numbers = [
                [()] * count if op.on_numbers is None else [n.get_values() for n in op.on_numbers]
                for op in self.slices
            ]
            lists += [tuple(each[k] for each in numbers) for k in range(count)]
        return Orders(self.alignment, tuple(lists), self.rows)

    def _on(self, op: SliceOp) -> tuple[int, ...]:
        """Return the numbers of the slices that one lies on, in the only order."""
        _, dynamic, on, *_ = op.segments()
        first = 1 + dynamic
        return tuple(map(self._number, operands_of(op)[first : first + on]))

    def order(self, orders: Sequence[On]) -> None:
        """
        Order the slices: of one order, they are moved to the last of them, from the bottom up.

        Slices of several orders stay where they are.
        """
        if len(orders) > 1:
            for i, op in enumerate(self.slices):
                op.lie_on_numbers([on[i] for on in orders])
        elif self.slices:
            (on,) = orders
            pieces = Orders(self.alignment, (on,), self.rows).sorted(0)
            last, slices = self.slices[-1], self.slices
            block = last.parent
            assert block is not None, "a slice is in a block"
            after = last.next_op
            for i in (i for piece in pieces for i in piece):
                slices[i].detach()
                if after is None:
                    block.add_op(slices[i])
                else:
                    block.insert_op_before(slices[i], after)
                slices[i].lie_on([slices[j].offset for j in on[i]])
        self.op.orders = IntegerAttr(len(orders), i64)

    def verify(self) -> None:
        """Check what the ops say together."""
        users = {use.operation for use in self.op.pack.uses}
        for user in users:
            if not isinstance(user, SliceOp | TotalOp):
                raise VerifyException(
                    f"only its slices and totals name a pack, but {user.name} does"
                )
            if user.parent is not self.op.parent:
                raise VerifyException(f"{user.name} must be in the block of its pack")
        is_slice = [isinstance(op, SliceOp) for op in self.members]
        if len(is_slice) < len(users) or False in is_slice[: is_slice.count(True)]:
            raise VerifyException("the total of a pack must be after its slices")
        for i, op in enumerate(self.slices):
            lists = 0 if op.on_numbers is None else len(op.on_numbers)
            if (op.on or lists) and self.op.orders is None:
                raise VerifyException(f"slice {i} lies on others, but the pack is not ordered")
            if op.on and self.op.n_orders > 1:
                raise VerifyException(f"slice {i} lies on operands, but there are several orders")
            if lists and (lists != self.op.n_orders or lists == 1):
                raise VerifyException(
                    f"slice {i} has {lists} lists of numbers, but the pack has "
                    f"{self.op.n_orders} orders"
                )
        try:
            orders = self.orders
            if orders is None and self.rows:
                orders = Orders(self.alignment, (((),) * len(self.rows),), self.rows)
            if orders is not None:
                orders.check()
        except OrderError as error:
            raise VerifyException(str(error)) from error
        if self.op.at_bind is not None:
            self._verify_at_bind()

    def _verify_at_bind(self) -> None:
        if self.rows or any(len(op.life.times) != 1 for op in self.slices):
            raise VerifyException(
                "slices of a pack at_bind have a lifetime of one interval, and no place"
            )
        if self.slices and self.total is None:
            raise VerifyException("a pack at_bind has a memory.total")


_PLAIN = Row()
