"""
Which steps of open results can be in a chain: those that compute rows of all images alike.

Sizes of open dims are tried: at a sample, and at about three quarters of it, a step must read the
same of its operands for the same rows, with the same attributes. What it may see at other sizes is
proved: that no operand has 1 row where another has more (`sizes.reader`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from ...dialects.device import device_of, tensor_type
from ...dialects.interfaces import Fusible, FusionKind
from ...dialects.relay import rearrange
from ...dialects.relay.language.dims_attributes import dim_bounds, dim_names
from ...dialects.relay.operator import infer_result_types
from ...dialects.tensors import as_tensor, dynamic_axes, has_dynamic
from ...operators.intervals import Interval
from ...operators.sizes.holds import at_least
from ...operators.sizes.size_expressions import Expr
from ...planning.stripes.network import Network
from ..analysis.fusion import UNFUSED
from ..sizes.reader import Sizes
from .borders import TALLER
from .rows import RowsRead, attributes_for
from .step_network import Axes, Group

ROWS = (512, 1024, 2048)
"""
The sizes of open dims at which stripes are written, the first where some are alike.

Chains are chosen at the first, unless bounds are lower, and a peak is kept up to the last: there is
the most outside of chains, whose own bytes are the same.
"""


GRID = 32
"""Sizes of samples are multiples of this, if bounds are, so that images can be halved."""


def open_sizes(
    function: func.FuncOp, rows: int, smaller: bool = False
) -> Mapping[tuple[int, int], int]:
    """
    Return a size for each open dim, by parameter and axis: `rows`, or its bound if that is lower.

    They are three quarters of that if `smaller`. Dims of one name have one size. No two others
    have, so one is larger, unless both have 1 row: at any size but that of a sample, an operator
    may broadcast the one along the other, or find that they differ.
    """
    names, bounds, sizes = dim_names(function), dim_bounds(function), dict[Hashable, int]()
    places: dict[tuple[int, int], int] = {}
    for number, argument in enumerate(function.args):
        type = as_tensor(argument.type)
        for axis in dynamic_axes(argument.type) if type is not None else ():
            name = names[number][axis] if names[number] else None
            high = None if name is None or name not in bounds else bounds[name].high
            size = rows if high is None else min(rows, high)
            if smaller:
                size = 3 * size // 4
                size -= size % GRID if size > GRID else 0
            taken = {other for key, other in sizes.items() if key != name}
            while name not in sizes and size in taken and size > 1:
                size += GRID if size >= GRID else 1
            places[number, axis] = sizes.setdefault(name or (number, axis), size)
    return places


def with_rows(function: func.FuncOp, rows: int, smaller: bool = False) -> func.FuncOp:
    """
    Return a copy of a function in which open dims of parameters have their `open_sizes`.

    What is padded is written before that, so that rows which it does not have can be.
    """
    copy, sizes = function.clone(), open_sizes(function, rows, smaller)
    for number, argument in enumerate(copy.args):
        type = as_tensor(argument.type)
        if type is not None and has_dynamic(type):
            dims = [sizes.get((number, axis), dim) for axis, dim in enumerate(type.get_shape())]
            closed = tensor_type(type.element_type, dims, device_of(type))
            Rewriter.replace_value_with_new_type(argument, closed)
    for op in copy.body.block.ops:
        if isinstance(op, rearrange.PadOp) and not isinstance(
            op.data.owner, rearrange.TransposeOp | Block
        ):
            op.attributes[UNFUSED] = UnitAttr()
        try:
            types = infer_result_types(op) or ()
        except VerifyException:  # not for these sizes, so its results stay open
            continue
        for result, type in zip(op.results, types, strict=False):
            if result.type != type:
                Rewriter.replace_value_with_new_type(result, type)
    return copy


def sampled_rows(function: func.FuncOp) -> list[int]:
    """Return the least and greatest size of open dims in samples; none if all dims are known."""
    if len(function.body.blocks) != 1 or not any(map(has_dynamic, function.body.block.arg_types)):
        return []
    most = min(ROWS[-1], max(open_sizes(function, ROWS[-1]).values()))
    return sorted({min(ROWS[0], most), most})


def values_of(function: func.FuncOp) -> list[SSAValue]:
    """Return all values of a function, in order."""
    return [*function.args, *(result for op in function.walk() for result in op.results)]


def upper(read: RowsRead, half: int) -> object:
    """Return what the first rows of a result read, and where they can be cut."""
    reaches = [
        each and (each[0], each[1].first[:half].tolist(), each[1].end[: half + 1].tolist())
        for each in read.operands
    ]
    return reaches, read.cuts[read.cuts <= half].tolist()


@dataclass
class Sizings:
    """A function of open dims, and copies of it at two sizes of all of them."""

    function: func.FuncOp
    sample: func.FuncOp
    axes: Axes
    """Of the sample."""
    smaller: func.FuncOp

    def __post_init__(self) -> None:
        values = values_of(self.sample)
        self.values = dict(zip(values, values_of(self.function), strict=True))
        self.others = dict(zip(values, values_of(self.smaller), strict=True))
        axes = {self.others[value]: axis for value, axis in self.axes.of.items()}
        self.their_axes, self.sizes = Axes(self.axes.reader, axes), Sizes()
        self.sizes.read(self.function.body.block)

    def fault(self, op: Operation) -> str | None:
        """Return why `op` does not compute rows of all images alike; None if it does."""
        (result,), read = op.results, self.axes.read(op)
        other, axis = self.others[result].owner, self.axes.of[result]
        assert isinstance(other, Operation), "as in the sample"
        theirs = self.their_axes.read(other)
        if read is None or theirs is None:
            return "it is not computed by rows"
        half = min(read.rows, theirs.rows) // 2
        cuts = read.cuts[read.cuts <= half]
        if upper(read, half) != upper(theirs, half):
            return TALLER
        rows = Interval(int(cuts[-2]), int(cuts[-1])) if len(cuts) > 1 else Interval(0, read.rows)
        if attributes_for(op, axis, rows) != attributes_for(other, axis, rows):
            return "its attributes depend on sizes that are not known"
        pairs = zip(op.operands, read.operands, strict=True)
        dims = [self.sizes.dims(self.values[v])[each[0]] for v, each in pairs if each is not None]
        kind = op.get_trait(Fusible)
        may_repeat = kind is not None and kind.kind <= FusionKind.BROADCAST
        if may_repeat and not (len({*dims}) < 2 or all(at_least(dim, Expr.of(2)) for dim in dims)):
            shown = " and ".join(map(str, dims))
            return (
                f"of rows of its operands, {shown}, one may be 1; relay.dim_bounds can exclude it"
            )
        return None


def close_steps(
    sizings: Sizings, net: Network, groups: Sequence[Group]
) -> Mapping[Operation, str | None]:
    """
    Let steps of open results that cannot be in a chain be in none.

    Return for the last op of each, in the function, why it cannot be; None if it can.
    """
    reasons, axes = dict[Operation, str | None](), sizings.axes
    for step, group in zip(net.steps, groups, strict=True):
        results = [result for op in group for result in op.results]
        ops = () if step.reduces else group  # a mean has one row of any number
        read = [v for op in ops for v in (*op.operands, *op.results) if v in axes.of]
        read += [group[0].operands[0]] if step.reduces else []
        open_axes = {value: dynamic_axes(sizings.values[value].type) for value in (*read, *results)}
        if not any(open_axes.values()):
            continue
        if not step.reads:
            reason = "it is not computed by rows"
        elif step.reduces and open_axes[results[0]]:
            reason = "it has the means of images of which the number is not known"
        elif any(axes.of[value] not in open_axes[value] for value in read):
            reason = "it has rows of which the number is known"
        else:
            mine = (op for op in ops if any(v in axes.of for v in op.results))
            reason = step.apart or next(filter(None, map(sizings.fault, mine)), None)
        last = sizings.values[group[-1].results[0]].owner
        assert isinstance(last, Operation), "as in the sample"
        reasons[last] = reason
        if reason is not None:
            step.reads, step.whole, step.reduces = {}, step.whole | step.reads.keys(), False
    return reasons
