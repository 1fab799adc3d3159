"""The options that passes share that choose chains of operators, and the choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, inf

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult

from ...dialects import relay
from ...dialects.tensors import has_dynamic
from ...planning.stripes.chosen_chains import Choice, Edge, choose, in_network
from ...planning.stripes.network import Network
from ..functions.symbols import CallGraph
from ..support.diagnostics import OptionError, PassError
from ..support.peak_option import peak_in
from .borders import note_borders
from .open_steps import Sizings, close_steps, sampled_rows, with_rows
from .placed_values import placed
from .step_network import Axes, Group, Needs, network_of
from .stripe_attributes import LeastPeak

TRIES = 4
"""The number of choices of chains of open rows, the last as if all their bytes grew with rows."""


@dataclass(frozen=True)
class FunctionTiling:
    """The steps of a function, as the choice sees them, and the chains that are chosen."""

    function: func.FuncOp
    net: Network
    groups: Sequence[Group]
    """The ops of each step."""
    axes: Axes
    choice: Choice
    rows: int | None = None
    """The size of open dims at which the chains are chosen."""
    closed: Mapping[Operation, str | None] = field(default_factory=lambda: {})
    """Why each step of open results, by its last op, cannot be in a chain; None if it can."""
    least: LeastPeak | None = None
    """The least peak of chains if it exceeds the one that is required; then there are none."""

    @property
    def open(self) -> list[OpResult]:
        """The results of steps whose dims, and so bytes, are not known: they count as 0."""
        steps = (op for group in self.groups for op in (group[-1], *nested(group[-1])))
        return [r for op in steps for r in op.results if has_dynamic(r.type)]

    def original(self, op: Operation) -> Operation:
        """Return the op of the function for one of its groups, which may be of a sample."""
        return self.originals.get(op, op)

    @cached_property
    def originals(self) -> Mapping[Operation, Operation]:
        block = self.groups[0][0].parent if self.groups else None
        mine = self.function.body.block
        return {} if block is None or block is mine else dict(zip(block.ops, mine.ops, strict=True))

    @property
    def place(self) -> str:
        """Return at what size of open dims numbers hold: ` at 512 rows`, or nothing."""
        return "" if self.rows is None else f" at {self.rows} rows"

    def unknown_calls(self, needs: Needs) -> list[Operation]:
        """Return the calls of which it is not known how many bytes they need."""
        return [
            op
            for op in self.function.walk()
            if isinstance(op, relay.InvokeOp | relay.CallOp)
            or (isinstance(op, func.CallOp) and op.callee.string_value() not in needs)
        ]

    @property
    def needed(self) -> int:
        """The most bytes that are live besides the results, which the caller has."""
        results = sum(value.live for value in self.net.values if value.is_returned)
        return max(0, self.choice.peak - results)

    def described(self, edge: Edge) -> str:
        """Return a sentence about a chain: its stripes, what they save, and what they cost."""
        chain = edge.chain
        first, last = chain.first, chain.last
        stripes = ceil(self.net.steps[last].rows / chain.height)
        before = max(self.net.loads()[first : last + 1])
        return (
            f"{last - first + 1} steps in {'a loop of ' * chain.is_loop}{stripes} stripes of "
            f"{chain.height} rows: {edge.peak} "
            f"bytes live, not {before}; work {self.percent(edge.extra)}, {edge.weights} bytes of "
            f"weights read again, {edge.copied} bytes of rows copied, {edge.ops} calls of kernels"
        )

    def percent(self, extra: int) -> str:
        """Return work that is added, as a part of the work of the whole function."""
        return f"{round(100 * extra / max(self.net.work, 1), 1) + 0.0:+.1f} %"  # no negative zero


def nested(op: Operation) -> Iterator[Operation]:
    """Yield the ops in the regions of `op`."""
    return (inner for inner in op.walk() if inner is not op)


@dataclass(frozen=True)
class TilingOptions:
    """The limits of chains in stripes."""

    work: float | None = None
    """
    The most work, as a ratio of that of the whole program; 1.0 by default, any with `peak` alone.
    """

    peak: str = ""
    """
    The most bytes that may be live, such as `256KiB`, with those of results, which have memory of
    their own; by default, the fewest possible.
    """

    code: float | None = None
    """
    The most calls of kernels a step that a chain may have, those of a loop once; by default, 3 if
    so many are enough for `peak`, and any otherwise.
    """

    copies: bool = True
    """Slices and concatenations of rows are copied, as where rows are not contiguous."""

    refuse: bool = True
    """A peak that is not reached is an error; otherwise `check-peak` decides once it is planned."""

    def tilings(self, module: ModuleOp) -> Iterator[FunctionTiling]:
        """Choose the chains of each function; `PassError` if a limit is not one, or not reached."""
        peak = peak_in(self.peak)
        if self.work is not None and not self.work >= 0:
            raise OptionError(f"work must be at least 0, but is {self.work}", "work")
        if self.code is not None and not self.code >= 1:
            raise OptionError(f"code must be at least 1, but is {self.code}", "code")
        work = 1.0 if self.work is None and peak is None else self.work
        for tiling, calling in self.choices(module, work, peak):
            if peak is not None and tiling.open:
                raise PassError(
                    "the bytes of this result depend on open dims, so no peak can be kept: "
                    "give the dims sizes",
                    tiling.open[0],
                )
            if peak is not None and calling:
                raise PassError(
                    "what this call needs is not known, so no peak can be kept: inline the "
                    "function",
                    calling[0],
                )
            if peak is not None and tiling.choice.peak > peak:
                how = "" if work is None else f" with {work} times the work"
                how += "" if self.code is None else f" with {self.code} calls a step"
                least = LeastPeak(tiling.choice.peak, f"{how}{tiling.place}")
                if self.refuse:
                    raise PassError(least.refusal_of(peak), tiling.function)
                none = Choice((), max(tiling.net.loads()), 0)
                tiling = replace(tiling, choice=none, least=least)
            yield tiling

    def choices(
        self, module: ModuleOp, work: float | None, peak: int | None
    ) -> Iterator[tuple[FunctionTiling, Sequence[Operation]]]:
        """Choose the chains of each function; yield its calls of unknown need, too."""
        needs, calls = dict[str, int](), CallGraph.of(module)
        for name in calls.callees_first():
            function = calls.symbols[name]
            if isinstance(function, func.FuncOp) and len(function.body.blocks) == 1:
                tiling = self.tiling(function, work, peak, needs)
                calling = tiling.unknown_calls(needs)
                if not tiling.open and not calling and tiling.rows is None:
                    needs[name] = tiling.needed
                yield tiling, calling

    def tiling(
        self, function: func.FuncOp, work: float | None, peak: int | None, needs: Needs
    ) -> FunctionTiling:
        """Choose the chains of a function, those of open rows at samples, if there are any."""
        sizes = sampled_rows(function)
        sample = self.sample(function, sizes[0], needs) if sizes else None
        if sample is not None and None in sample.closed.values():
            tiling = self.open_tiling(sample, sizes[-1], work, peak, needs)
            if tiling is not None:
                return tiling
        net, groups, axes = self.network(function, needs)
        choice, net = self.chosen([*filter(None, [placed(net, groups)]), net], work, peak)
        tiling = FunctionTiling(function, net, groups, axes, choice)
        return tiling if sample is None else replace(tiling, closed=sample.closed)

    def chosen(
        self, nets: Sequence[Network], work: float | None, peak: int | None
    ) -> tuple[Choice, Network]:
        """Choose in each network; return the choice that reaches `peak` with the least work."""
        choices: list[tuple[Choice, Network]] = []
        for net in nets:
            choices.append((choose(net, work, peak, self.code), net))
            if peak is not None and choices[-1][0].peak <= peak and not choices[-1][0].extra:
                break
        return min(choices, key=lambda of: (max(of[0].peak, peak or 0), of[0].extra))

    def open_tiling(
        self,
        first: FunctionTiling,
        most_rows: int,
        work: float | None,
        peak: int | None,
        needs: Needs,
    ) -> FunctionTiling | None:
        """
        Choose chains of open rows at the lower sample; with a peak, return them at the taller one.

        What is outside of chains is larger there, so the limit is less than the peak. Loops of open
        heights have neither a top nor a bottom, whose calls `code` limits.
        """
        tallest, tried, rows = first, list[FunctionTiling](), first.rows or most_rows
        limit = None if peak is None else min(peak, max(first.net.loads()) - 1)
        for left in reversed(range(TRIES)):
            choice = choose(first.net, work, limit, inf)
            if not choice.chains:
                break
            if peak is None or limit is None or rows == most_rows:
                return replace(first, choice=choice)
            if tallest is first:
                tallest = self.sample(first.function, most_rows, needs)
                tallest.net.cut = first.net.cut
            tried.append(replace(tallest, choice=in_network(tallest.net, choice)))
            most = tried[-1].choice.peak
            if most <= peak or choice.peak > limit:
                break
            limit = choice.peak * peak // most if left > 1 else peak * rows // most_rows
        return min(tried, key=lambda to: to.choice.peak, default=None)

    def sample(self, function: func.FuncOp, rows: int, needs: Needs) -> FunctionTiling:
        """Return a function at a number of rows."""
        sample = with_rows(function, rows)
        net, groups, axes = self.network(sample, needs)
        net.copies = True  # a turn copies the rows that it reads
        sizings = Sizings(function, sample, axes, with_rows(function, rows, smaller=True))
        closed, none = close_steps(sizings, net, groups), Choice((), 0, 0)
        return FunctionTiling(function, net, groups, axes, none, rows, closed)

    def network(self, function: func.FuncOp, needs: Needs) -> tuple[Network, Sequence[Group], Axes]:
        net, groups, axes = network_of(function.body.block, needs)
        note_borders(net, groups, axes)
        net.copies = self.copies
        return net, groups, axes
