"""
Random networks with open rows compute natively what the machine does, at five sizes, on all levels.

Some amplify errors (attention of attention): there, the error against float64 must be like that of
the machine.

`XRELAY_RANDOM_PROGRAMS=1000 pytest …` compiles so many others.
"""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import run_onnxruntime
from helpers.onnx.onnx_small import assert_close, model_of, node, random_array
from helpers.programs.random_settings import FIRST_SEED, OTHER, rounds

import xrelay
from xrelay.tools.opt.opt import main

TOGETHER = 6
"""The functions of a library."""

LENGTHS = ((1, 7), (7, 7), (16, 1), (0, 0), (45, 45))
"""The numbers of rows: of one, of ends of tiles, of whole ones, of none, and of several; and those
of operands that are as long, or broadcast."""


class Network:
    """A function of `x` (n, width), whose layers read weights that are its other parameters."""

    def __init__(self, rng: Random, name: str) -> None:
        self.rng, self.count = rng, 0
        self.lines: list[str] = []
        self.weights: list[tuple[int | str, ...]] = []
        self.width = rng.choice((4, 8, 16, 24, 32, 33, 48))
        first, value = self.width, "%x"
        layers = (
            self.dense,
            self.packed,
            self.norm,
            self.gate,
            self.heads,
            self.scores,
            self.other,
        )
        for _ in range(rng.randrange(2, 6)):
            value = rng.choice(layers)(value)
        taken = [f"%w{i}: {self.type(*shape)}" for i, shape in enumerate(self.weights)]
        head = ", ".join([f'%x: {self.type("?", first)} {{relay.dims = ["n", {first}]}}', *taken])
        result = self.type("?", self.width)
        body = "\n".join([*self.lines, f"func.return {value} : {result}"])
        self.text = f"func.func @{name}({head}) -> {result} {{\n{body}\n}}\n"
        self.width_of_x = first

    def type(self, *dims: object) -> str:
        return f"tensor<{'x'.join(map(str, dims))}xf32>"

    def op(self, name: str, attributes: str, result: Sequence[object], *operands: Any) -> str:
        """Append an operator on values and their dims."""
        self.count += 1
        values, dims = operands[::2], operands[1::2]
        types = ", ".join(self.type(*each) for each in dims)
        to, called = f"%v{self.count}", f"relay.{name} {', '.join(values)} {attributes}"
        self.lines.append(f"{to} = {called} : ({types}) -> {self.type(*result)}")
        return to

    def weight(self, *shape: int | str) -> str:
        self.weights.append(shape)
        return f"%w{len(self.weights) - 1}"

    def product(self, x: str, name: str, shape: Sequence[int], columns: int) -> str:
        y = self.op(name, "", ("?", columns), x, ("?", self.width), self.weight(*shape), shape)
        self.width = columns
        if self.rng.random() < 0.5:
            bias = self.weight(columns)
            y = self.op("add", "", ("?", columns), y, ("?", columns), bias, (columns,))
        name = self.rng.choice(("nn.relu", "tanh", "erf"))
        return self.op(name, "", ("?", columns), y, ("?", columns))

    def dense(self, x: str) -> str:
        units = self.rng.choice((3, 8, 16, 30, 64))
        return self.product(x, "nn.dense", (units, self.width), units)

    def packed(self, x: str) -> str:
        panels, columns = self.rng.randrange(1, 5), self.rng.choice((8, 16, 32))
        return self.product(x, "nn.packed_dense", (panels, self.width, columns), panels * columns)

    def norm(self, x: str) -> str:
        full, vector = ("?", self.width), (self.width,)
        scale, shift = self.weight(*vector), self.weight(*vector)
        return self.op("nn.layer_norm", "", full, x, full, scale, vector, shift, vector)

    def gate(self, x: str) -> str:
        full = "?", self.width
        open = self.op("sigmoid", "", full, x, full)
        return self.op(self.rng.choice(("multiply", "add")), "", full, x, full, open, full)

    def other(self, x: str) -> str:
        """Rows of another parameter, which are as many, or one of the two is broadcast."""
        full = "?", self.width
        names = "multiply", "add", "subtract", "maximum"
        return self.op(self.rng.choice(names), "", full, x, full, self.weight(*full), full)

    def scores(self, x: str) -> str:
        """Attention of one head: rows and columns are open."""
        full, square = ("?", self.width), ("?", "?")
        by_rows = "{transpose_b = true}"
        products = self.op("nn.matmul", by_rows, square, x, full, x, full)
        shares = self.op("nn.softmax", "", square, products, square)
        return self.op("nn.matmul", "", full, shares, square, x, full)

    def heads(self, x: str) -> str:
        """Attention of two heads."""
        if self.width % 2:
            return self.scores(x)
        full, each = ("?", self.width), self.width // 2
        split, turned, square = ("?", 2, each), (2, "?", each), (2, "?", "?")
        shape, axes = f"newshape = array<i64: 0, 2, {each}>", "{axes = array<i64: 1, 0, 2>}"
        parts = self.op("reshape", f"{{{shape}}}", split, x, full)
        parts = self.op("transpose", axes, turned, parts, split)
        plain, keys = "{transpose_b = false}", (2, each, "?")
        if self.rng.random() < 0.5:
            columns = self.op("transpose", "{axes = array<i64: 0, 2, 1>}", keys, parts, turned)
            products = self.op("nn.batch_matmul", plain, square, parts, turned, columns, keys)
        else:
            products = self.op("nn.batch_matmul", "", square, parts, turned, parts, turned)
        shares = self.op("nn.softmax", "", square, products, square)
        mixed = self.op("nn.batch_matmul", plain, turned, shares, square, parts, turned)
        back = self.op("transpose", axes, split, mixed, turned)
        return self.op("reshape", f"{{newshape = array<i64: 0, {self.width}>}}", full, back, split)


@pytest.mark.ci
def test_networks_at_five_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    numbers = range(FIRST_SEED, FIRST_SEED + (OTHER or rounds(4 * TOGETHER)))
    processors = cycle(("x86-64", "x86-64-v3", "native"))
    for first in range(numbers.start, numbers.stop, TOGETHER):
        seeds = numbers[first - numbers.start :][:TOGETHER]
        networks = [Network(Random(seed), f"n{seed}") for seed in seeds]
        source, library = tmp_path / "nets.mlir", tmp_path / f"nets{first}.so"
        source.write_text("".join(network.text for network in networks))
        target = f"native{{cpu={next(processors)} threads=on}}"
        assert main([str(source), "-t", target, "-o", str(library)]) == 0
        assert "without its schedule" not in capsys.readouterr().err
        machine, native = xrelay.compile(source), xrelay.load(library, threads=2)
        source.write_text(source.read_text().replace("f32", "f64"))
        exact = xrelay.compile(source)
        for seed, network in zip(seeds, networks, strict=True):
            made = np.random.default_rng(seed)
            width, shapes = network.width_of_x, network.weights
            for rows, others in LENGTHS:
                sizes = [[others if isinstance(n, str) else n for n in shape] for shape in shapes]
                weights = [made.standard_normal(s, np.float32) * s[-1] ** -0.5 for s in sizes]
                x = made.standard_normal((rows, width), np.float32)
                wanted, found = (exe[f"n{seed}"](x, *weights) for exe in (machine, native))
                if np.allclose(found, wanted, rtol=1e-4, atol=1e-5):
                    continue
                wide: Any = exact[f"n{seed}"](
                    *(array.astype(np.float64) for array in (x, *weights))
                )
                message = f"network {seed}, {rows} and {others} rows\n{network.text}"
                assert np.abs(found - wide).max() <= 4 * np.abs(wanted - wide).max(), message


BROADCAST = """
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %w: tensor<8x24xf32>, %z: tensor<?x8xf32>)
    -> (tensor<?x?xf32>, tensor<?x24xf32>) {
  %s = relay.add %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = relay.multiply %s, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = relay.nn.matmul %z, %w : (tensor<?x8xf32>, tensor<8x24xf32>) -> tensor<?x24xf32>
  %q = relay.subtract %p, %x : (tensor<?x24xf32>, tensor<?x?xf32>) -> tensor<?x24xf32>
  func.return %t, %q : tensor<?x?xf32>, tensor<?x24xf32>
}
"""


def test_dims_that_may_be_broadcast(tmp_path: Path):
    """Each version of a kernel computes what it should, for equal dims and for those of 1."""
    source = tmp_path / "broadcast.mlir"
    source.write_text(BROADCAST)
    net, rng = xrelay.compile(source, target="native"), np.random.default_rng(0)
    for x_shape, y_shape, rows in (
        ((5, 24), (5, 24), 5),
        ((1, 24), (5, 24), 5),
        ((5, 24), (1, 24), 1),
        ((5, 1), (5, 24), 5),
        ((1, 1), (1, 1), 17),
        ((17, 24), (1, 1), 17),
    ):
        shapes = x_shape, y_shape, (8, 24), (rows, 8)
        x, y, w, z = (rng.standard_normal(shape, np.float32) for shape in shapes)
        found: Any = net(x, y, w, z)
        for result, expected in zip(found, ((x + y) * x, z @ w - x), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.ci
def test_residuals_of_convolutions(tmp_path: Path):
    """A convolution plus a tensor: of equal widths, or one of width 1, which is broadcast."""
    weights = {name: random_array(4, 4, 3, 3, seed=i) for i, name in enumerate("uv")}
    nodes = [
        node("Conv", "x u", "same", pads=[1] * 4),
        node("Add", "same x", "sum"),
        node("Conv", "sum v", "half", strides=[2, 2], pads=[1] * 4),
        node("Add", "half y", "z"),
    ]
    for number, each in enumerate(nodes):
        each.name = f"n{number}"
    net: Any = None
    for width, added in ((9, 5), (9, 1), (2, 1), (1, 3)):
        feeds = {"x": random_array(1, 4, 6, width), "y": random_array(1, 4, 3, added, seed=1)}
        model = model_of(nodes, feeds, weights, "z")
        if net is None:
            for value, name in zip(model.graph.input, "nm", strict=True):
                value.type.tensor_type.shape.dim[3].dim_param = name
            (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
            net = xrelay.compile(tmp_path / "net.onnx", target="native")
        assert_close([net(*feeds.values())], run_onnxruntime(model, feeds))
