"""
Measure kernels of networks against the same operators in onnxruntime, on one thread.

    python benchmarks/kernels.py [--only depthwise] [--rounds 5] [--table]

Both compute in float32, in turns; a figure is the least CPU time per call of all rounds, each as
many calls as take 10 ms. Progress goes to stderr, JSON (or Markdown with `--table`) to stdout.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from cpu_times import seconds_per_call
from helpers.onnx.onnx_models import onnxruntime_session
from helpers.operators.inferring import attributes
from onnx import TensorProto, helper, numpy_helper
from results import Facts, parser_of, write_results

from xrelay.runtime.kernels import KERNELS

CALLS = 0.01
"""Seconds of CPU time in a round."""


@dataclass(frozen=True)
class Case:
    """
    An operator with square windows on square images.

    `filters` are the channels of the result, None for pooling.
    """

    kind: str
    channels: int
    filters: int | None
    size: int
    window: int
    stride: int = 1
    groups: int = 1
    padding: int | None = None

    @property
    def pad(self) -> int:
        return self.window // 2 if self.padding is None else self.padding

    @property
    def title(self) -> str:
        filters = "" if self.filters is None or self.groups > 1 else f" to {self.filters}"
        stride = "" if self.stride == 1 else f", stride {self.stride}"
        image = f"{self.channels}{filters} channels of {self.size}x{self.size}"
        window = "" if self.kind == "relu" else f" {self.window}x{self.window}"
        return f"{self.kind}{window}{stride}, {image}"


def depthwise(channels: int, size: int, window: int, stride: int = 1) -> Case:
    return Case("depthwise", channels, channels, size, window, stride, channels)


CASES = [
    depthwise(8, 512, 3),
    depthwise(8, 224, 3),
    depthwise(32, 112, 3),
    depthwise(96, 112, 3, 2),
    depthwise(144, 56, 3),
    depthwise(240, 28, 5),
    depthwise(272, 14, 3),
    depthwise(544, 7, 3),
    Case("conv2d", 3, 64, 224, 7, 2),
    Case("conv2d", 3, 32, 224, 3, 2),
    Case("conv2d", 8, 8, 224, 3),
    Case("conv2d", 64, 3, 224, 3),
    Case("conv2d", 64, 64, 56, 3),
    Case("conv2d", 128, 128, 28, 3),
    Case("conv2d", 256, 256, 14, 3),
    Case("conv2d", 512, 512, 28, 3),
    Case("conv2d", 128, 32, 56, 3),
    Case("conv2d", 128, 128, 56, 3, 2),
    Case("max_pool2d", 64, None, 112, 3, 2, padding=0),
    Case("max_pool2d", 192, None, 56, 3, 2, padding=0),
    Case("max_pool2d", 512, None, 14, 3),
    Case("max_pool2d", 64, None, 224, 2, 2, padding=0),
    Case("avg_pool2d", 192, None, 28, 3),
    Case("avg_pool2d", 2048, None, 7, 7, padding=0),
    Case("relu", 256, None, 56, 1),
]
ONNX_NAMES = {"max_pool2d": "MaxPool", "avg_pool2d": "AveragePool", "relu": "Relu"}


def kernel_call(case: Case, ins: Sequence[Any], out: Any) -> Callable[[], object]:
    """Return the bound kernel of `case`."""
    shape: dict[str, Any] = {"strides": (case.stride,) * 2, "padding": (case.pad,) * 4}
    if case.filters is not None:
        name, attrs = "nn.conv2d", {**shape, "groups": case.groups}
    elif case.kind == "relu":
        name, attrs = "nn.relu", {}
    else:
        name, attrs = f"nn.{case.kind}", {**shape, "pool_size": (case.window,) * 2}
    return KERNELS[f"relay.{name}"](attributes(name, **attrs), ins, [out])


def onnxruntime_call(case: Case, ins: Sequence[Any]) -> Callable[[], Any]:
    """Return a call of `case` in onnxruntime, which knows the weights beforehand."""
    attrs: Mapping[str, Any] = {}
    if case.kind != "relu":
        attrs = {
            "kernel_shape": [case.window] * 2,
            "strides": [case.stride] * 2,
            "pads": [case.pad] * 4,
        }
    if case.filters is not None:
        attrs = {**attrs, "group": case.groups}
    weights = [numpy_helper.from_array(w, "w") for w in ins[1:]]
    node = helper.make_node(
        ONNX_NAMES.get(case.kind, "Conv"), ["x", "w"][: len(ins)], ["y"], **attrs
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ins[0].shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [x], [y], weights)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    session = onnxruntime_session(model, threads=1)
    return lambda: session.run(None, {"x": ins[0]})


def measure(case: Case, rounds: int) -> Facts:
    """Measure one case in the kernel and in onnxruntime, whose result it must have."""
    random = np.random.default_rng(0)
    ins = [random.standard_normal((1, case.channels, case.size, case.size), np.float32)]
    if case.filters is not None:
        kernel = (case.filters, case.channels // case.groups, case.window, case.window)
        ins.append(random.standard_normal(kernel, np.float32))
    theirs = onnxruntime_call(case, ins)
    (want,) = theirs()
    out = np.empty_like(want)
    ours = kernel_call(case, ins, out)
    with np.errstate(all="ignore"):  # as the machine does
        ours()
    np.testing.assert_allclose(out, want, 1e-3, 1e-5 * float(np.abs(want).max()))
    calls = (ours, theirs)
    with np.errstate(all="ignore"):
        turns = [[seconds_per_call(call, CALLS) for call in calls] for _ in range(rounds)]
    best = [min(times) for times in zip(*turns, strict=True)]
    ours_ms, theirs_ms = (round(1000 * seconds, 3) for seconds in best)
    ratio = round(best[0] / best[1], 2)
    print(f"{case.title}: {ratio}", file=sys.stderr)
    return {"kernel": case.title, "ms": ours_ms, "onnxruntime, ms": theirs_ms, "ratio": ratio}


def main() -> None:
    names = [case.title for case in CASES]
    options = parser_of("Kernels against onnxruntime.", 5, names, str.startswith).parse_args()
    results = [measure(case, options.rounds) for case in CASES if case.title in options.only]
    write_results(results, options.table, numpy=np.__version__)


if __name__ == "__main__":
    main()
