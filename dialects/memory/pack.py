"""The packing problem as an op: lifetimes and sizes in, a total and offsets out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...operators.orders import On, OrderError, Orders
from ..integers import i64_array
from ..interfaces import DeviceConstraint, DeviceRule, OnHost, reads_contents
from .static_or_dynamic import verify_alignment
from .storage_ops import StorageType


class Arm(NamedTuple):
    """An arm of a branch, both by number."""

    branch: int
    arm: int


class Slice(NamedTuple):
    """`size` bytes that are needed from `start` until just before `stop`."""

    start: int
    stop: int
    size: int | SSAValue
    arms: tuple[Arm, ...] = ()
    """The arms in which it is; slices in different arms of a branch never exist together."""
    on: tuple[tuple[int, ...], ...] = ()
    """The slices that it lies directly on, in each order that is kept."""


class NumbersOnHost(DeviceRule):
    """Sizes and offsets are on the host; the storage that is laid out may be anywhere."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for value in (*op.operands, *op.results):
            if not isinstance(value.type, StorageType):
                yield OnHost(value, f"{op.name} runs on the host")


@irdl_op_definition
class PackOp(IRDLOperation):
    """
    Choose the offsets of slices in an arena so that slices alive together do not overlap.

    ```mlir
    %total, %offsets:3 = memory.pack align 64 {
      [0, 2) %size
      [1, 4) 4096 in (0:0)
      [1, 3) 512 in (0:1)
    }
    %total, %offset = memory.pack at_bind align 64 {
      [0, 2) %size
    }
    %need, %offset = memory.pack align 64 within %w : !memory.storage {
      [0, 1) 64
    }
    %total, %offsets:3 = memory.pack ordered align 64 {
      [0, 2) %a
      [1, 3) %b on (0)
      [2, 4) 512 on (1)
    }
    %total, %offsets:2 = memory.pack smallest of 2 align 64 {
      [0, 2) %a on () or (1)
      [1, 3) %b on (0) or ()
    }
    ```

    A slice has a half-open lifetime and a size in bytes, static or an `i64`, which counts as 0 if
    it is negative: its tensor may be in an arm that is not taken. `in` names the arms of branches
    (`branch:arm`) that it is in: slices in different arms of one branch never exist together. The
    results are the size of the arena and one offset per slice, all `i64`; offsets are multiples of
    the alignment. Any such offsets are right: how good they are is the choice of `layout-slices`,
    or with `at_bind` of the machine, which plans when it knows the sizes. `within` names the arena
    if it is a workspace, a parameter of the function: the total is then what
    `memory.workspace_size` computes for its callers, and offsets are not chosen `at_bind`.

    Of an `ordered` pack, offsets are known: a slice starts at the end of the highest slice that it
    lies `on`, rounded up to the alignment, and the arena ends at the highest end. `smallest of` two
    or more orders is the first whose arena is smallest. `expand-packs` computes it.
    """

    name = "memory.pack"

    alignment = prop_def(IntegerAttr[I64])
    lifetimes = prop_def(DenseArrayBase[I64])
    """Start and stop of each slice."""
    static_sizes = prop_def(DenseArrayBase[I64])
    """The size of each slice; dynamic ones are the operands, in order."""
    arms = opt_prop_def(ArrayAttr[DenseArrayBase[I64]])
    """Branch and arm, alternating, for each slice."""
    orders = opt_prop_def(ArrayAttr[ArrayAttr[DenseArrayBase[I64]]])
    """For each order, the slices that each slice lies directly on."""
    at_bind = opt_prop_def(UnitAttr)
    """Present if offsets are chosen when the sizes are known."""
    sizes = var_operand_def(i64)
    workspace = opt_operand_def(StorageType)
    total = result_def(i64)
    offsets = var_result_def(i64)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure(), NumbersOnHost())

    def __init__(self, alignment: int, slices: Sequence[Slice], workspace: SSAValue | None = None):
        has_arms = any(s.arms for s in slices)
        super().__init__(
            operands=[[s.size for s in slices if not isinstance(s.size, int)], workspace],
            properties={
                "alignment": IntegerAttr(alignment, i64),
                "lifetimes": i64_array([t for s in slices for t in (s.start, s.stop)]),
                "static_sizes": i64_array(
                    [s.size if isinstance(s.size, int) else DYNAMIC_INDEX for s in slices]
                ),
                "arms": ArrayAttr([i64_array([n for arm in s.arms for n in arm]) for s in slices])
                if has_arms
                else None,
            },
            result_types=[i64, [i64] * len(slices)],
        )

    @property
    def slices(self) -> list[Slice]:
        """The slices, in the order of their offsets."""
        dynamic = iter(self.sizes)
        times: tuple[int, ...] = self.lifetimes.get_values()
        static: tuple[int, ...] = self.static_sizes.get_values()
        arms = [()] * len(static) if self.arms is None else [a.get_values() for a in self.arms]
        on = self.on
        return [
            Slice(
                times[2 * i],
                times[2 * i + 1],
                next(dynamic) if size == DYNAMIC_INDEX else size,
                tuple(map(Arm, arms[i][::2], arms[i][1::2])),
                tuple(order[i] for order in on),
            )
            for i, size in enumerate(static)
        ]

    @property
    def on(self) -> tuple[On, ...]:
        """The slices that each slice lies directly on, in each order; none if it has no order."""
        return tuple(tuple(below.get_values() for below in order) for order in self.orders or ())

    def order(self, on: Sequence[On]) -> None:
        """Keep one or more orders."""
        self.orders = ArrayAttr([ArrayAttr([i64_array(below) for below in order]) for order in on])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        at_bind = parser.parse_optional_keyword("at_bind") is not None
        count = _parse_count(parser)
        parser.parse_keyword("align")
        alignment = parser.parse_integer(allow_boolean=False)
        workspace = None
        if parser.parse_optional_keyword("within") is not None:
            unresolved = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            workspace = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_punctuation("{")
        slices: list[Slice] = []
        while parser.parse_optional_punctuation("}") is None:
            slices.append(_parse_slice(parser, count))
        op = cls(alignment, slices, workspace)
        if count:
            op.order([tuple(slice.on[k] for slice in slices) for k in range(count)])
        if at_bind:
            op.at_bind = UnitAttr()
        op.attributes = parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        at_bind = "" if self.at_bind is None else "at_bind "
        count = len(self.orders or ())
        ordered = f"smallest of {count} " if count > 1 else "ordered " if count else ""
        printer.print_string(f" {at_bind}{ordered}align {self.alignment.value.data} ")
        if self.workspace is not None:
            printer.print_string("within ")
            printer.print_operand(self.workspace)
            printer.print_string(" : ")
            printer.print_attribute(self.workspace.type)
            printer.print_string(" ")
        printer.print_string("{")
        with printer.indented():
            for slice in self.slices:
                _print_slice(slice, printer)
        printer.print_string("\n}")
        printer.print_op_attributes(self.attributes)

    @reads_contents()
    def verify_(self) -> None:
        if self.at_bind is not None and self.workspace is not None:
            raise VerifyException("the offsets in a workspace cannot be chosen at_bind")
        verify_alignment(self.alignment)
        sizes: tuple[int, ...] = self.static_sizes.get_values()
        counts = {
            "results": (len(self.results), len(sizes) + 1),
            "lifetime bounds": (len(self.lifetimes), 2 * len(sizes)),
            "dynamic sizes": (len(self.sizes), sizes.count(DYNAMIC_INDEX)),
            "lists of arms": (len(sizes if self.arms is None else self.arms), len(sizes)),
        }
        for what, (found, wanted) in counts.items():
            if found != wanted:
                raise VerifyException(
                    f"a pack of {len(sizes)} slices needs {wanted} {what}, but has {found}"
                )
        for on in self.on:
            if self.at_bind is not None:
                raise VerifyException("the offsets of an ordered pack cannot be chosen at_bind")
            try:
                Orders(self.alignment.value.data, (on,)).check(len(sizes))
            except OrderError as error:
                raise VerifyException(str(error)) from error
        if self.arms is not None and any(len(arms) % 2 for arms in self.arms):
            raise VerifyException("arms must be pairs of a branch and an arm")
        for i, slice in enumerate(self.slices):
            _verify_slice(i, slice)


def _verify_slice(i: int, slice: Slice) -> None:
    if not 0 <= slice.start < slice.stop:
        raise VerifyException(
            f"the lifetime of slice {i} must start at 0 or later and end after its start, "
            f"but is [{slice.start}, {slice.stop})"
        )
    if isinstance(slice.size, int) and slice.size < 0:
        raise VerifyException(f"the size of slice {i} must be at least 0, but is {slice.size}")
    branches = [arm.branch for arm in slice.arms]
    if len(set(branches)) < len(branches):
        raise VerifyException(f"slice {i} can be in one arm of a branch only")


def _parse_count(parser: Parser) -> int:
    """Parse the number of orders."""
    if parser.parse_optional_keyword("ordered") is not None:
        return 1
    if parser.parse_optional_keyword("smallest") is None:
        return 0
    parser.parse_keyword("of")
    before = parser.pos
    count = parser.parse_integer(allow_boolean=False)
    if count < 2:
        parser.raise_error(f"expected two orders or more, but got {count}", before, parser.pos)
    return count


def _parse_slice(parser: Parser, count: int) -> Slice:
    parser.parse_punctuation("[")
    start = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(",")
    stop = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(")")
    before = parser.pos
    size = parser.parse_optional_integer(allow_boolean=False)
    if size is None:
        size = parser.resolve_operand(parser.parse_unresolved_operand(), i64)
    elif size < 0:
        parser.raise_error(f"a size must be at least 0, but is {size}", before, parser.pos)
    arms: list[Arm] = []
    if parser.parse_optional_keyword("in") is not None:
        arms = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_arm(parser))
    on: list[tuple[int, ...]] = [()] * count
    if count and parser.parse_optional_keyword("on") is not None:
        for k in range(count):
            if k:
                parser.parse_keyword("or")
            below = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, lambda: parser.parse_integer(allow_boolean=False)
            )
            on[k] = tuple(below)
    return Slice(start, stop, size, tuple(arms), tuple(on))


def _parse_arm(parser: Parser) -> Arm:
    branch = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(":")
    return Arm(branch, parser.parse_integer(allow_boolean=False))


def _print_slice(slice: Slice, printer: Printer) -> None:
    printer.print_string(f"\n[{slice.start}, {slice.stop}) ")
    if isinstance(slice.size, int):
        printer.print_string(str(slice.size))
    else:
        printer.print_operand(slice.size)
    if slice.arms:
        named = ", ".join(f"{branch}:{arm}" for branch, arm in slice.arms)
        printer.print_string(f" in ({named})")
    if any(slice.on):
        lists = (", ".join(map(str, below)) for below in slice.on)
        printer.print_string(f" on {' or '.join(f'({below})' for below in lists)}")
