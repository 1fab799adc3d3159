"""
Transform 3x3 filters w for Winograd's F(2x2, 3x3), G w Gᵀ in 4x4, and put them into panels.

    %y = relay.nn.conv2d %x, %w {NHWC, HWIO}      %u = relay.nn.matmul G⊗G, (9, c o) of %w
    3x3x32x64, stride 1, f32                 ->   %p = relay.transpose (relay.reshape %u)
                                                  relay.nn.conv2d %x, %p {NHWC, OHWI16o/F23}

The kernel computes images of known size, of at least 6x6, with 4/9 of the multiplications. It needs
scratch memory. With `peak`, a convolution stays as it is where that has no room: if no chains of
stripes reach the peak with the scratch memory of all, it has to fit beside what is live in those
that reach it without. `fold-weights` after it computes the filters, and before it, with `peak`,
what they are transformed from. After `propagate-layout`. Level: `relay`.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects.relay import convolution, matmul
from ..dialects.tensors import as_tensor, is_static, tensor_of
from ..operators.windows import PANELS, WINOGRAD
from ..operators.winograd_blocks import scratch_shapes
from ..planning.stripes.network import Network
from .support.changes import LevelPass
from .support.filter_panels import in_panels, plain_filters
from .support.operator_steps import OperatorSteps, RearrangedWeights, dtype_of, reshaped
from .support.peak_option import peak_in
from .support.rewriting import apply_patterns
from .tiling.chosen_tiling import FunctionTiling, TilingOptions
from .tiling.step_network import Axes, Group, Needs

LEAST_IMAGE = 6
"""The least side of results that are computed by Winograd's algorithm, in tiles of 2x2."""

FILTERING = np.array(((1, 0, 0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0, 0, 1)), np.float32)
"""G of `WINOGRAD`."""


def is_transformable(op: convolution.Conv2dOp) -> bool:
    """Test whether the kernel of a convolution can compute it by Winograd's algorithm."""
    weight, result = plain_filters(op), as_tensor(op.result.type)
    if weight is None or result is None or not is_static(result):
        return False
    steps = {*op.strides.get_values(), *op.dilation.get_values()}
    *window, channels, filters = weight.get_shape()
    return (
        weight.element_type == f32
        and op.out_dtype is None
        and window == [3, 3]
        and steps == {1}
        and channels % PANELS[WINOGRAD] == 0
        and filters % PANELS[WINOGRAD] == 0
        and min(result.get_shape()[1:3]) >= LEAST_IMAGE
    )


def scratch_of(op: convolution.Conv2dOp) -> int:
    """Return the bytes of scratch memory that one thread needs."""
    images, height, width, filters = tensor_of(op.result).get_shape()
    channels = tensor_of(op.weight).get_shape()[2]
    return sum(4 * prod(s) for s in scratch_shapes(images, height, width, channels, filters, 1))


@dataclass(frozen=True)
class WithScratch(TilingOptions):
    """Chooses chains of steps, some of which need scratch memory."""

    scratch: Mapping[Operation, int] = field(default_factory=lambda: {})

    def network(self, function: func.FuncOp, needs: Needs) -> tuple[Network, Sequence[Group], Axes]:
        net, groups, axes = super().network(function, needs)
        for step, group in zip(net.steps, groups, strict=True):
            step.scratch += sum(self.scratch.get(op, 0) for op in group)
        return net, groups, axes


def without_room(
    tiling: FunctionTiling, scratch: Mapping[Operation, int], peak: int
) -> Iterator[Operation]:
    """
    Yield the ops whose scratch memory exceeds a peak on top of what is live.

    In a chain that is the most of all its steps: what it carries leaves gaps, in which it may not
    fit.
    """
    live = [*tiling.net.loads()]
    for edge in tiling.choice.chains:
        steps = slice(edge.chain.first, edge.chain.last + 1)
        live[steps] = [edge.peak] * len(live[steps])
    for group, load in zip(tiling.groups, live, strict=True):
        needing = [op for op in group if op in scratch]
        if load + sum(scratch[op] for op in needing) > peak:
            yield from needing


def direct(module: ModuleOp, peak: int) -> Set[Operation]:
    """Return the convolutions whose scratch memory has no room in `peak` bytes."""
    convolutions = (op for op in module.walk() if isinstance(op, convolution.Conv2dOp))
    scratch: dict[Operation, int] = {
        op: scratch_of(op) for op in convolutions if is_transformable(op)
    }
    every = WithScratch(copies=False, scratch=scratch).choices(module, None, peak)
    if not scratch or all(tiling.choice.peak <= peak for tiling, _ in every):
        return set()
    tilings = TilingOptions(copies=False).choices(module, None, peak)
    return {op for tiling, _ in tilings for op in without_room(tiling, scratch, peak)}


def transformed_in_panels(steps: OperatorSteps, weight: SSAValue) -> SSAValue:
    """Transform filters (3, 3, c, o), and put them into panels."""
    *_, channels, filters = tensor_of(weight).get_shape()
    matrix = steps.numbers(np.kron(FILTERING, FILTERING), dtype_of(weight))
    cells = steps.add(reshaped(weight, (9, channels * filters)))
    product = steps.add(matmul.MatmulOp.on([matrix, cells]))
    split = steps.add(reshaped(product, (4, 4, channels, filters)))
    return in_panels(steps, split, PANELS[WINOGRAD])


@dataclass(frozen=True)
class TransformFilters(RewritePattern):
    """Transform the filters of a convolution for Winograd's F(2x2, 3x3)."""

    transformed: RearrangedWeights
    direct: Set[Operation]
    """Those that stay."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: convolution.Conv2dOp, rewriter: PatternRewriter, /) -> None:
        if op in self.direct or not is_transformable(op):
            return
        properties = {**op.properties, "kernel_layout": StringAttr(WINOGRAD)}
        weight = self.transformed.of(op.weight, rewriter)
        rewriter.replace(op, convolution.Conv2dOp.on([op.data, weight], properties))


@dataclass(frozen=True)
class TransformFiltersPass(LevelPass):
    """Transform 3x3 filters for Winograd's F(2x2, 3x3)."""

    name = "transform-filters"
    accepts = "relay"

    peak: str = ""
    """The most bytes of a plan, such as `256KiB`, in which scratch memory has to fit."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        peak = peak_in(self.peak)
        kept = set[Operation]() if peak is None else direct(op, peak)
        apply_patterns(op, TransformFilters(RearrangedWeights(transformed_in_panels), kept))
