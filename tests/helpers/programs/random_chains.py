"""
Random chains of operators on images, and stripes of them.

Windows of 1 to 7 rows and columns with strides, dilation and any padding, convolutions in groups,
pools with ceil mode, norms over channels, sums and concatenations with values before, padding,
upsampling, pixels to channels and back, and at the end a mean; in both layouts, also of one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.attributes import properties_of
from xrelay.dialects.dense import Dense
from xrelay.dialects.relay import ConstantOp
from xrelay.dialects.relay.broadcast import AddOp, BiasAddOp
from xrelay.dialects.relay.convolution import Conv2dOp
from xrelay.dialects.relay.elementwise import ReluOp, TanhOp
from xrelay.dialects.relay.normalization import LrnOp
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.relay.pooling import AvgPool2dOp, GlobalAvgPool2dOp, MaxPool2dOp
from xrelay.dialects.relay.rearrange import ConcatenateOp, PadOp
from xrelay.dialects.relay.spreading import DepthToSpaceOp, SpaceToDepthOp
from xrelay.dialects.relay.upsampling import UpsamplingOp
from xrelay.passes.analysis.arrays import dense_of
from xrelay.passes.tiling.rows import dims_of
from xrelay.passes.tiling.step_network import Axes, network_of
from xrelay.passes.tiling.stripe_attributes import STRIPES, Stripes


@dataclass
class Chains:
    """A function of random operators."""

    rng: np.random.Generator
    block: Block
    layout: str
    values: list[SSAValue] = field(default_factory=list[SSAValue])

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def pair(self, low: int, high: int) -> tuple[int, int]:
        return self.number(low, high), self.number(low, high)

    def dims(self, value: SSAValue) -> Sequence[int]:
        return dims_of(value) or ()

    def side(self, value: SSAValue, letter: str) -> int:
        return self.dims(value)[self.layout.index(letter)]

    def constant(self, *dims: int) -> SSAValue:
        array = self.rng.standard_normal(dims, np.float32)
        value: Dense = dense_of(array, TensorType(f32, dims))
        self.block.add_op(op := ConstantOp(value))
        return op.result

    def on(self, kind: type[Operator], *operands: SSAValue, **attributes: Any) -> SSAValue:
        op = kind.on(operands, properties_of(kind, attributes))
        self.block.add_op(op)
        return op.results[0]

    def windowed(self, x: SSAValue, kind: type[Operator]) -> SSAValue | None:
        sizes, strides = self.pair(1, 8), self.pair(1, 4)
        dilation = self.pair(1, 3) if self.rng.random() < 0.2 else (1, 1)
        padding = tuple(self.number(0, size) for size in (*sizes, *sizes))
        if self.rng.random() < 0.6:
            sizes, strides = (int(self.rng.choice([1, 3, 5])),) * 2, self.pair(1, 3)
            padding = (sizes[0] // 2,) * 4
        for i, side in enumerate("HW"):
            around = self.side(x, side) + padding[i] + padding[i + 2]
            if around <= (sizes[i] - 1) * dilation[i]:
                return None
        steps = {"strides": strides, "dilation": dilation, "padding": padding}
        channels = self.side(x, "C")
        if kind is Conv2dOp:
            groups = int(self.rng.choice([1, channels]))
            filters = channels if groups > 1 else self.number(1, 7)
            names = dict(zip("OIHW", (filters, channels // groups, *sizes), strict=True))
            kernel = "OIHW" if self.layout == "NCHW" else "HWIO"
            weight = self.constant(*(names[letter] for letter in kernel))
            layouts = {"data_layout": self.layout, "kernel_layout": kernel}
            y = self.on(kind, x, weight, groups=groups, **steps, **layouts)
            return self.on(BiasAddOp, y, self.constant(filters), axis=self.layout.index("C"))
        counted: dict[str, bool] = {}
        if kind is AvgPool2dOp:
            counted["count_include_pad"] = bool(self.rng.random() < 0.5)
        ceil = bool(self.rng.random() < 0.3)
        return self.on(
            kind, x, pool_size=sizes, layout=self.layout, ceil_mode=ceil, **counted, **steps
        )

    def next(self, x: SSAValue) -> SSAValue | None:
        """Return an operator on `x`; None if the draw is not possible."""
        kinds = (
            "conv",
            "conv",
            "max",
            "avg",
            "up",
            "sum",
            "cat",
            "pad",
            "spread",
            "fold",
            "block",
            "norm",
        )
        kind, layout = str(self.rng.choice(kinds)), {"layout": self.layout}
        windows = {"conv": Conv2dOp, "max": MaxPool2dOp, "avg": AvgPool2dOp}
        if kind in windows:
            return self.windowed(x, windows[kind])
        sides = [self.layout.index(side) for side in "HW"]
        if kind == "up" and self.side(x, "H") < 20:
            return self.on(UpsamplingOp, x, scale_h=2.0, scale_w=1.0, **layout)
        if kind == "pad":
            widths = [0] * 8
            widths[2 * sides[0] : 2 * sides[0] + 2] = self.number(0, 3), self.number(0, 3)
            zero = dense_of(np.array(0.5, np.float32), TensorType(f32, []))
            self.block.add_op(constant := ConstantOp(zero))
            return self.on(PadOp, x, constant.result, pad_width=tuple(widths))
        if kind == "spread" and self.side(x, "C") % 4 == 0 and self.side(x, "H") < 20:
            return self.on(DepthToSpaceOp, x, block_size=2, **layout)
        if kind == "fold" and all(self.side(x, s) % 2 == 0 for s in "HW") and self.side(x, "H") > 2:
            return self.on(SpaceToDepthOp, x, block_size=2, **layout)
        if kind == "norm":
            return self.on(LrnOp, x, size=3, axis=self.layout.index("C"))
        if kind == "block":
            return self.on(AddOp, x, self.on(TanhOp, x))
        same = [v for v in self.values if all(self.dims(v)[s] == self.dims(x)[s] for s in sides)]
        other = same[self.number(0, len(same))]
        if kind == "sum" and self.dims(other) == self.dims(x):
            return self.on(AddOp, x, other)
        if kind == "cat":
            return self.on(ConcatenateOp, x, other, axis=self.layout.index("C"))
        return None


def random_chain(rng: np.random.Generator) -> ModuleOp:
    """Return a function `main` of random operators on one image."""
    height = int(rng.integers(5, 30) if rng.random() < 0.9 else rng.integers(1, 5))
    sizes = {"N": 1, "C": int(rng.integers(1, 5)), "H": height, "W": int(rng.integers(1, 7))}
    layout = str(rng.choice(["NCHW", "NHWC"]))
    block = Block(arg_types=[TensorType(f32, [sizes[letter] for letter in layout])])
    chains = Chains(rng, block, layout, [block.args[0]])
    while len(chains.values) < rng.integers(3, 9):
        y = chains.next(chains.values[-1])
        if y is not None:
            y = chains.on(ReluOp, y) if rng.random() < 0.5 else y
            chains.values.append(y)
    x = chains.values[-1]
    if chains.side(x, "H") > 1 and rng.random() < 0.3:
        x = chains.on(GlobalAvgPool2dOp, x, layout=layout)
    return returning(x, block)


def random_skip(rng: np.random.Generator, layout: str) -> ModuleOp:
    """Return a function `main` of which a value is read again after windows of many rows."""
    sizes = {"N": 1, "C": 4, "H": 2 * int(rng.integers(14, 25)), "W": 4}
    block = Block(arg_types=[TensorType(f32, [sizes[letter] for letter in layout])])
    chains = Chains(rng, block, layout)
    first = x = chains.on(TanhOp, block.args[0])
    for _ in range(rng.integers(4, 6)):
        above, size = int(rng.integers(0, 2)), int(rng.integers(3, 5))
        padding = (above, 0, size - 1 - above, 0)
        x = chains.on(MaxPool2dOp, x, pool_size=(size, 1), padding=padding, layout=layout)
    if rng.random() < 0.5:
        x = chains.on(MaxPool2dOp, x, pool_size=(2, 1), strides=(2, 1), layout=layout)
        x = chains.on(UpsamplingOp, x, scale_h=2.0, scale_w=1.0, layout=layout)
    if rng.random() < 0.5:
        x = chains.on(ConcatenateOp, x, first, axis=layout.index("C"))
    else:
        x = chains.on(AddOp, first, x)
    return returning(x, block)


def returning(x: SSAValue, block: Block) -> ModuleOp:
    """Return a function `main` of the ops of a block, which returns `x`."""
    block.add_op(func.ReturnOp(x))
    function = func.FuncOp("main", ([block.args[0].type], [x.type]), Region(block))
    return ModuleOp([function])


def image_of(module: ModuleOp) -> Sequence[int]:
    """Return the dims of the argument."""
    (function,) = module.ops
    assert isinstance(function, func.FuncOp)
    return dims_of(function.body.block.args[0]) or ()


def stripe_some(module: ModuleOp, rng: np.random.Generator) -> str | None:
    """Note random stripes of a chain of `module` on its ops; return what they are."""
    (function,) = module.ops
    assert isinstance(function, func.FuncOp)
    net, groups, axes = network_of(function.body.block)
    pairs = [
        (first, last)
        for first in range(len(net.steps))
        for last in range(first + 1, len(net.steps))
        if net.is_chain(first, last)
    ]
    if not pairs:
        return None
    first, last = max(pairs, key=lambda pair: (pair[1] - pair[0]) * (1 - rng.random() / 2))
    share = float(rng.choice([0.0, 0.5, 1.0, 1.0]))
    heights = [Fraction(1, 4), Fraction(1, 2), *map(Fraction, range(1, net.steps[last].rows))]
    height = heights[int(rng.integers(len(heights)) * rng.random())]
    joined = frozenset(at for at in (0, 1, 12) if rng.random() < 0.3)
    early, loop = int(rng.integers(last - first)) if height < 1 else 0, bool(rng.random() < 0.5)
    for at in range(first, last + 1):
        stripes = Stripes(0, at - first, bool(rng.random() < share), early=at - first < early)
        if at == last:
            axis = axis_of(axes, groups[at])
            stripes = replace(stripes, axis=axis, height=height, joined=joined, is_loop=loop)
        for op in groups[at]:
            op.attributes[STRIPES] = stripes.attribute
    of = f"{first}..{last} in {'a loop of ' * loop}stripes of {height}"
    return f"{of}, {share} carried, {joined}, {early} early"


def chain_in_stripes(*seed: int) -> tuple[ModuleOp, ModuleOp, np.ndarray[Any, Any], str] | None:
    """
    Return a random program, and it with random stripes on its ops; its argument, and what they are.

    None if the draw has no chain.
    """
    rng = np.random.default_rng(seed)
    whole = random_chain(rng)
    tiled = whole.clone()
    stripes = stripe_some(tiled, rng)
    if stripes is None:
        return None
    argument = rng.standard_normal(image_of(whole), np.float32)
    return whole, tiled, argument, f"{stripes} of {whole}"


def axis_of(axes: Axes, group: Sequence[Operation]) -> int:
    """Return the axis of the rows of a step, which are those of its operand if it adds them up."""
    last = group[-1]
    return axes.of[last.operands[0] if isinstance(last, GlobalAvgPool2dOp) else last.results[0]]


def stripe_all(module: ModuleOp, height: int) -> None:
    """Note on all ops of `module` that they are a chain that carries its halos."""
    (function,) = module.ops
    assert isinstance(function, func.FuncOp)
    _, groups, axes = network_of(function.body.block)
    for at, group in enumerate(groups):
        stripes = Stripes(0, at, carried=True)
        if group is groups[-1]:
            axis, height_of = axis_of(axes, group), Fraction(height)
            stripes = replace(stripes, carried=False, axis=axis, height=height_of)
        for op in group:
            op.attributes[STRIPES] = stripes.attribute
