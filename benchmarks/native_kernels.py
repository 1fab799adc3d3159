"""
Measure compiled kernels against the same operators in onnxruntime, on one thread.

    python benchmarks/native_kernels.py [--only 3x3] [--cpu native] [--rounds 20] [--table]

Convolutions are compiled twice: with their schedules, and as plain loops. A figure is the best of
all rounds, in GFLOP/s of CPU time. Images lie in NHWC, as `propagate-layout` leaves them. JSON (or
Markdown with `--table`) goes to stdout.
"""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from cpu_times import seconds_per_call
from helpers.native.memrefs import bind
from helpers.native.scheduled_kernels import (
    built,
    kernel_on,
    scheduled,
    scheduled_module,
    without_schedules,
)
from helpers.onnx.onnx_models import onnxruntime_session
from onnx import TensorProto, helper, numpy_helper
from results import Facts, parser_of, write_results
from xdsl.dialects.builtin import f32

from xrelay.dialects.device import tensor_type
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.target_machine import Machine

RNG = np.random.default_rng(0)

CALLS = 0.005
"""Seconds of CPU time in a round."""


@dataclass(frozen=True)
class Convolution:
    """A square convolution, batch 1; one of 1x1 is a product of `size * size` rows."""

    network: str
    channels: int
    filters: int
    size: int
    window: int = 1
    stride: int = 1
    groups: int = 1

    @property
    def title(self) -> str:
        kind = "depthwise " if self.groups > 1 else ""
        sizes = f"{self.channels} -> {self.filters}, {self.size}x{self.size}"
        stride = f", stride {self.stride}" if self.stride > 1 else ""
        return f"{self.network}: {kind}{self.window}x{self.window} {sizes}{stride}"

    @property
    def padding(self) -> int:
        return self.window // 2


CONVOLUTIONS = [
    Convolution("squeezenet", 3, 64, 224, 3, 2),
    Convolution("squeezenet", 64, 16, 55),
    Convolution("squeezenet", 16, 64, 55, 3),
    Convolution("squeezenet", 48, 192, 27, 3),
    Convolution("squeezenet", 512, 1000, 13),
    Convolution("resnet50", 3, 64, 224, 7, 2),
    Convolution("resnet50", 64, 64, 56, 3),
    Convolution("resnet50", 64, 256, 56),
    Convolution("resnet50", 128, 128, 56, 3, 2),
    Convolution("resnet50", 256, 256, 14, 3),
    Convolution("resnet50", 512, 512, 7, 3),
    Convolution("resnet50", 2048, 512, 7),
    Convolution("shufflenet", 58, 58, 28),
    Convolution("shufflenet", 232, 232, 7),
    Convolution("shufflenet", 58, 58, 28, 3, 1, 58),
    Convolution("shufflenet", 116, 116, 28, 3, 2, 116),
    Convolution("shufflenet", 232, 232, 7, 3, 1, 232),
    Convolution("transformer", 768, 768, 11),
    Convolution("transformer", 768, 3072, 11),
]


@dataclass(frozen=True)
class Operator:
    """An operator of one result; its arrays are as ONNX has them."""

    title: str
    name: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: dict[str, Any]
    onnx: str
    onnx_attributes: dict[str, Any]
    work: int
    """Floating-point operations, counting exp and the like as one."""


def product(
    name: str, rows: tuple[int, ...], depth: int, columns: int, transposed: bool = False
) -> Operator:
    """Return a product of matrices, of the second one `transposed`, which ONNX does not have."""
    right = (columns, depth) if transposed else (depth, columns)
    title = f"{name} {'x'.join(map(str, (*rows, depth, columns)))}"
    return Operator(
        f"{title}, transposed" if transposed else title,
        f"nn.{name}",
        ((*rows, depth), (*rows[:-1], *right)),
        {"transpose_a": False, "transpose_b": transposed},
        "" if transposed else "MatMul",
        {},
        2 * prod(rows) * depth * columns,
    )


OPERATORS = [
    product("matmul", (128,), 768, 768),
    product("batch_matmul", (12, 128), 64, 128),
    product("batch_matmul", (12, 128), 64, 128, transposed=True),
    Operator(
        "softmax 12x128x128",
        "nn.softmax",
        ((12, 128, 128),),
        {"axis": -1},
        "Softmax",
        {"axis": -1},
        5 * 12 * 128 * 128,
    ),
    Operator(
        "layer_norm 128x768",
        "nn.layer_norm",
        ((128, 768), (768,), (768,)),
        {"axis": -1, "epsilon": 1e-5},
        "LayerNormalization",
        {"axis": -1, "epsilon": 1e-5},
        8 * 128 * 768,
    ),
    Operator("tanh 128x3072", "tanh", ((128, 3072),), {}, "Tanh", {}, 128 * 3072),
    Operator("sigmoid 128x3072", "sigmoid", ((128, 3072),), {}, "Sigmoid", {}, 128 * 3072),
    Operator("add 128x3072", "add", ((128, 3072), (128, 3072)), {}, "Add", {}, 128 * 3072),
]


def aligned(array: Any) -> Any:
    """Return a copy of `array` that starts at a cache line, as in a workspace."""
    bytes = np.empty(array.nbytes + 64, np.uint8)
    start = -bytes.ctypes.data % 64
    copy = bytes[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def reference(case: Convolution, x: Any, w: Any) -> Callable[[], Any]:
    attributes: dict[str, Any] = {
        "strides": [case.stride] * 2,
        "pads": [case.padding] * 4,
        "group": case.groups,
    }
    shapes = [("x", x.shape), ("y", None)]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in shapes]
    node = helper.make_node("Conv", ["x", "w"], ["y"], **attributes)
    weights = [numpy_helper.from_array(w, "w")]
    graph = helper.make_graph([node], "one", values[:1], values[1:], weights)
    opset = [helper.make_opsetid("", 17)]
    session = onnxruntime_session(helper.make_model(graph, opset_imports=opset, ir_version=9))
    return lambda: session.run(None, {"x": x})[0]


def kernels(cases: Sequence[Convolution], operands: Sequence[Sequence[Any]]) -> list[Any]:
    def write(case: Convolution) -> Callable[[Any, Any], Any]:
        return lambda body, operands: body.add(
            "nn.conv2d",
            *operands,
            strides=(case.stride,) * 2,
            padding=(case.padding,) * 4,
            dilation=(1, 1),
            groups=case.groups,
            data_layout="NHWC",
            kernel_layout="HWIO",
        )

    return [
        kernel_on(f"k{i}", [tensor_type(f32, list(a.shape)) for a in arrays], write(case))
        for i, (case, arrays) in enumerate(zip(cases, operands, strict=True))
    ]


def operator_reference(case: Operator, arrays: Sequence[Any]) -> Callable[[], Any]:
    if not case.onnx:  # onnxruntime's product, of an operand transposed beforehand
        x, y = arrays
        case = replace(case, onnx="MatMul")
        arrays = [x, np.ascontiguousarray(y.swapaxes(-1, -2))]
    names = [f"x{i}" for i in range(len(arrays))]
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape)
        for n, a in zip(names, arrays, strict=True)
    ]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node(case.onnx, names, ["y"], **case.onnx_attributes)
    graph = helper.make_graph([node], "one", values, [result])
    opset = [helper.make_opsetid("", 17)]
    session = onnxruntime_session(helper.make_model(graph, opset_imports=opset, ir_version=9))
    feeds = dict(zip(names, arrays, strict=True))
    return lambda: session.run(None, feeds)[0]


def measure_operators(cases: Sequence[Operator], cpu: str, rounds: int) -> list[Facts]:
    def write(case: Operator) -> Callable[[Any, Any], Any]:
        return lambda body, operands: body.add(case.name, *operands, **case.attributes)

    arrays = [[aligned(RNG.standard_normal(s, np.float32)) for s in c.shapes] for c in cases]
    compiled = [
        kernel_on(f"k{i}", [tensor_type(f32, list(shape)) for shape in case.shapes], write(case))
        for i, case in enumerate(cases)
    ]
    results: list[Facts] = []
    with TemporaryDirectory() as folder:
        library = scheduled(compiled, Path(folder), Settings(Machine(cpu=cpu)))
        for i, case in enumerate(cases):
            theirs = operator_reference(case, arrays[i])
            expected = theirs()
            y = aligned(np.zeros_like(expected))
            ours = bind(library, f"k{i}", [*arrays[i], y])
            ours()
            np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)
            times = [
                (seconds_per_call(ours, CALLS), seconds_per_call(theirs, CALLS))
                for _ in range(rounds)
            ]
            mine, other = (min(column) for column in zip(*times, strict=True))
            results.append(
                {
                    "kernel": case.title,
                    "onnxruntime": round(case.work / other / 1e9, 1),
                    "scheduled": round(case.work / mine / 1e9, 1),
                    "time / onnxruntime's": round(mine / other, 2),
                }
            )
            print(results[-1], file=sys.stderr)
    return results


def measure(cases: Sequence[Convolution], cpu: str, rounds: int) -> list[Facts]:
    images = [RNG.standard_normal((1, c.channels, c.size, c.size), np.float32) for c in cases]
    weights = [
        RNG.standard_normal((c.filters, c.channels // c.groups, c.window, c.window), np.float32)
        for c in cases
    ]
    operands = [
        [aligned(x.transpose(0, 2, 3, 1)), aligned(w.transpose(2, 3, 1, 0))]
        for x, w in zip(images, weights, strict=True)
    ]
    results: list[Facts] = []
    with TemporaryDirectory() as folder:
        libraries: dict[str, Any] = {}
        for name in ("scheduled", "plain loops"):
            place = Path(folder) / name.replace(" ", "_")
            place.mkdir()
            module = scheduled_module(kernels(cases, operands))
            module = module if name == "scheduled" else without_schedules(module)
            libraries[name] = built(module, place, Settings(Machine(cpu=cpu)))
        for i, case in enumerate(cases):
            theirs = reference(case, images[i], weights[i])
            expected = theirs().transpose(0, 2, 3, 1)
            calls: dict[str, Callable[[], object]] = {"onnxruntime": theirs}
            for name, library in libraries.items():
                y = aligned(np.zeros_like(expected))
                calls[name] = bind(library, f"k{i}", [*operands[i], y])
                calls[name]()
                np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)
            best = dict.fromkeys(calls, float("inf"))
            for number in range(rounds):
                for name, call in calls.items():
                    if name == "plain loops" and number > 1:
                        continue
                    best[name] = min(best[name], seconds_per_call(call, CALLS))
            work = 2 * expected.size * case.channels // case.groups * case.window**2
            speeds = {name: round(work / best[name] / 1e9, 1) for name in calls}
            ratio = round(best["scheduled"] / best["onnxruntime"], 2)
            results.append({"kernel": case.title, **speeds, "time / onnxruntime's": ratio})
            print(results[-1], file=sys.stderr)
    return results


def main() -> None:
    names = [case.title for case in (*CONVOLUTIONS, *OPERATORS)]
    parser = parser_of("Compiled kernels against onnxruntime.", 20, names, str.__contains__)
    parser.add_argument("--cpu", default="native")
    options = parser.parse_args()
    cases = [case for case in CONVOLUTIONS if case.title in options.only]
    operators = [case for case in OPERATORS if case.title in options.only]
    results = measure(cases, options.cpu, options.rounds) if cases else []
    if operators:
        results += measure_operators(operators, options.cpu, options.rounds)
    write_results(results, options.table)


if __name__ == "__main__":
    main()
