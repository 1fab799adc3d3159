"""Chains in stripes of an open number of rows, against the programs as they were."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pytest
from helpers.onnx.onnx_models import calls_of_onnxruntime
from helpers.onnx.open_models import Graph
from helpers.programs.random_chains import image_of, random_chain, random_skip
from onnx import ModelProto, TensorProto
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType, f32
from xdsl.rewriter import Rewriter

import xrelay
from xrelay.dialects.relay.loops import LoopOp
from xrelay.dialects.relay.operator import infer_result_types
from xrelay.dialects.tensors import as_tensor
from xrelay.lowering.pipelines import AotPipeline, VmPipeline

Image: TypeAlias = np.ndarray[Any, Any]
TILED = "choose-tiling{work=1.0},tile-for-memory"
PLANNED = "verify-stage{stage=memory-planned}"
POISONED = AotPipeline(work=1.0).text.replace(PLANNED, f"overwrite-dead-bytes,{PLANNED}")
"""Overwrites bytes when the plan calls them dead, and before they are first written."""


def opened(whole: ModuleOp, *axes: int) -> ModuleOp:
    """Return a program whose image has an open height, or other open dims."""
    (function,) = (module := whole.clone()).ops
    assert isinstance(function, func.FuncOp)
    (image,) = function.args
    type = as_tensor(image.type)
    assert type is not None
    dims = [*type.get_shape()]
    for axis in axes:
        dims[axis] = DYNAMIC_INDEX
    Rewriter.replace_value_with_new_type(image, TensorType(type.element_type, dims))
    for op in function.body.block.ops:
        for result, new in zip(op.results, infer_result_types(op) or (), strict=False):
            Rewriter.replace_value_with_new_type(result, new)
    function.update_function_type()
    return module


def open_program(seed: int, is_wide: bool = False) -> tuple[ModuleOp, list[Image]]:
    """
    Return a random program of an open height, and images of several, low ones among them.

    If it `is_wide`, their widths are open, too.
    """
    rng = np.random.default_rng(seed)
    module = random_skip(rng, "NHWC") if seed % 3 == 0 else random_chain(rng)
    dims = image_of(module)
    axis = 2 if '"NCHW"' in str(module) else 1
    heights = [1, 2, 3, 5, 8, *range(16, 24), 37, 64]
    shapes = [[*dims[:axis], height, *dims[axis + 1 :]] for height in heights]
    if is_wide:
        for shape, width in zip(shapes, [1, 4, 3, 2, 7, 1, 5, *range(2, 12)], strict=False):
            shape[axis + 1] = width
    whole = opened(module, axis, axis + 1) if is_wide else opened(module, axis)
    return whole, [rng.standard_normal(shape, np.float32) for shape in shapes]


def compare(whole: ModuleOp, images: Sequence[Image], *programs: Callable[[Image], object]) -> int:
    """Compare programs in stripes with the whole, errors too; return how many images fit it."""
    program, fitting = xrelay.compile(whole.clone()), 0
    for image in images:
        try:
            result = np.asarray(program(image))
        except xrelay.Error:
            for tiled in programs:
                with pytest.raises(xrelay.Error, match="must be"):
                    tiled(image)
            continue
        fitting += 1
        for tiled in programs:
            found = np.asarray(tiled(image))
            np.testing.assert_allclose(found, result, rtol=1e-5, atol=1e-5, err_msg=str(whole))
    return fitting


@pytest.fixture
def any_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan where to place buffers without a long search for a better plan."""
    monkeypatch.setattr(sys.modules["xrelay.planning.solve"], "NODES", 4_000)


@pytest.mark.usefixtures("any_plan")
@pytest.mark.parametrize(
    "seed", [0, 4, 5, *(pytest.param(seed, marks=pytest.mark.ci) for seed in (3, 6, 7))]
)
def test_random_chains_of_an_open_height(seed: int):
    whole, images = open_program(seed)
    assert "relay.loop" in str(xrelay.run_pipeline(whole.clone(), TILED))
    plans = ("coalesce", "plan") if seed % 2 else ("coalesce",)
    programs = [
        xrelay.compile(whole.clone(), pipeline=f"vm{{work=1.0 memory={plan}}}", sanitize=True)
        for plan in plans
    ]
    assert compare(whole, images, *programs) > 4


@pytest.mark.usefixtures("any_plan")
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.ci) for seed in (3, 4, 5, 6))]
)
def test_random_chains_of_an_open_height_and_width(seed: int):
    whole, images = open_program(seed, is_wide=True)
    assert "relay.loop" in str(xrelay.run_pipeline(whole.clone(), TILED))
    program = xrelay.compile(whole.clone(), pipeline="vm{work=1.0}", sanitize=True)
    assert compare(whole, images, program) > 2


def detector() -> ModelProto:
    """Return a model of images of any height and width: a skip, and several windows."""
    m = Graph(0)
    pads: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    a = m("Relu", m("Conv", "x", m.weight(8, 3, 3, 3, scale=0.2), strides=[2, 2], **pads))
    b = m("Add", a, m("Relu", m("Conv", a, m.weight(8, 8, 3, 3, scale=0.2), **pads)))
    c = m("MaxPool", b, strides=[2, 2], **pads)
    d = m("Conv", c, m.weight(8, 1, 5, 5, scale=0.2), group=8, pads=[2, 2, 2, 2])
    m("Sigmoid", m("Conv", d, m.weight(4, 8, 1, 1, scale=0.4)), to="y")
    return m.model({"x": (TensorProto.FLOAT, [1, 3, "h", "w"])}, {"y": [1, 4, "p", "q"]})


def classifier() -> ModelProto:
    """Return a model of images of any height and width, of which all rows are added up."""
    m = Graph(1)
    pads: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    a = m("Relu", m("Conv", "x", m.weight(8, 3, 3, 3, scale=0.2), strides=[2, 2], **pads))
    b = m("Add", a, m("Relu", m("Conv", a, m.weight(8, 8, 3, 3, scale=0.2), **pads)))
    c = m("Sigmoid", m("Conv", b, m.weight(16, 8, 3, 3, scale=0.2), strides=[2, 2], **pads))
    mean = m("Flatten", m("GlobalAveragePool", c))
    m("Gemm", mean, m.weight(16, 5, scale=0.3), to="y")
    return m.model({"x": (TensorProto.FLOAT, [1, 3, "h", "w"])}, {"y": [1, 5]})


SIZES = [(1, 1), (2, 1), (1, 6), (3, 5), (7, 4), (16, 9), (17, 33), (40, 3), (64, 31), (65, 64)]


@pytest.mark.usefixtures("any_plan")
@pytest.mark.parametrize("model", [detector, classifier])
@pytest.mark.parametrize(
    ("pipeline", "target"),
    [
        pytest.param("vm{work=1.0}", "machine", id="vm"),
        pytest.param("vm{kernels=native work=1.0}", "machine", id="vm-native"),
        pytest.param("aot{work=1.0}", "native", id="aot", marks=pytest.mark.ci),
        pytest.param(POISONED, "native", id="dead-bytes-overwritten", marks=pytest.mark.ci),
    ],
)
def test_networks_of_any_height_and_width(
    tmp_path: Path,
    pipeline: str,
    target: Literal["machine", "native"],
    model: Callable[[], ModelProto],
):
    proto, rng = model(), np.random.default_rng(1)
    (path := tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    feeds = [{"x": rng.standard_normal((1, 3, *size), np.float32)} for size in SIZES]
    if target == "machine":
        tiled = xrelay.compile(path, pipeline=pipeline, sanitize=True)
    else:
        tiled = xrelay.compile(path, pipeline=pipeline, target=target)
    for feed, (expected,) in zip(feeds, calls_of_onnxruntime(proto, feeds), strict=True):
        found = np.asarray(tiled(feed["x"]))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_the_mean_of_all_rows_is_in_the_chain(tmp_path: Path):
    (path := tmp_path / "model.onnx").write_bytes(classifier().SerializeToString())
    tiled = VmPipeline(kernels="native", work=1.0).text.partition(",plan-devices")[0]
    module = xrelay.run_pipeline(xrelay.parse(path), tiled)
    (mean,) = (op for op in module.walk() if op.name == "relay.nn.global_avg_pool2d")
    (loop,) = (op for op in module.walk() if isinstance(op, LoopOp))
    assert loop.is_before_in_block(mean)
    assert mean.is_before_in_block(loop.end)
    assert mean.operand_types[0] == TensorType(f32, [1, 1, DYNAMIC_INDEX, 16])


SCALES = """
func.func @main(%x: tensor<1x?x8x4xf32> {relay.dims = [1, "h", 8, 4]})
    -> tensor<1x?x8x4xf32> BOUNDS {
  %a = relay.nn.avg_pool2d %x {count_include_pad = true, layout = "NHWC",
                               strides = array<i64: 2, 2>, pool_size = array<i64: 3, 3>,
                               padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x8x4xf32>) -> tensor<1x?x4x4xf32>
  %b = relay.nn.upsampling %a {scale_h = 2.0 : f64, scale_w = 2.0 : f64, layout = "NHWC"}
    : (tensor<1x?x4x4xf32>) -> tensor<1x?x8x4xf32>
  %c = relay.add %x, %b : (tensor<1x?x8x4xf32>, tensor<1x?x8x4xf32>) -> tensor<1x?x8x4xf32>
  %y = relay.nn.avg_pool2d %c {count_include_pad = true, layout = "NHWC",
                               pool_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x8x4xf32>) -> tensor<1x?x8x4xf32>
  func.return %y : tensor<1x?x8x4xf32>
}
"""


@pytest.mark.parametrize(("bounds", "heights"), [("", (1, 2, 16)), ("[2]", (2, 4, 16))])
def test_one_row_beside_two_is_repeated(tmp_path: Path, bounds: str, heights: Sequence[int]):
    """Half of an image of 1 row, doubled, has 2; bounds may exclude it, and then it is tiled."""
    path = tmp_path / "scales.mlir"
    attributes = f"attributes {{relay.dim_bounds = {{h = {bounds}}}}}" if bounds else ""
    path.write_text(SCALES.replace("BOUNDS", attributes))
    is_tiled = "relay.loop" in str(xrelay.run_pipeline(xrelay.parse(path), TILED))
    assert is_tiled == bool(bounds)
    whole, tiled = xrelay.compile(path), xrelay.compile(path, pipeline="vm{work=1.0}")
    for height in heights:
        image = np.random.default_rng(0).standard_normal((1, height, 8, 4), np.float32)
        results = [np.asarray(program(image)) for program in (tiled, whole)]
        np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("any_plan")
@pytest.mark.parametrize(
    ("pipeline", "target"),
    [
        pytest.param("aot{work=1.0}", "native", id="aot"),
        pytest.param(POISONED, "native", id="dead-bytes-overwritten", marks=pytest.mark.ci),
        pytest.param("vm{kernels=native work=1.0}", "machine", id="vm"),
    ],
)
def test_open_heights_natively(pipeline: str, target: str):
    whole, images = open_program(3)
    tiled = xrelay.compile(whole.clone(), pipeline=pipeline, target=target)
    assert compare(whole, images, tiled) > 3
    (memory,) = tiled.memory.devices.values()
    assert (memory.planned["main"] or 0) < 10_000  # with 64 rows, one value has 4,096 bytes


FILLED = """
func.func @main(%x: tensor<6x2xf32>, %z: tensor<f32>, %s: tensor<2xi64>) -> tensor<6x2xf32> {
  %y = relay.negative %x : (tensor<6x2xf32>) -> tensor<6x2xf32>
  %r = relay.fill_rows %y, %z, %s {axis = 0 : i64, start = FIRST : i64}
    : (tensor<6x2xf32>, tensor<f32>, tensor<2xi64>) -> tensor<6x2xf32>
  func.return %r : tensor<6x2xf32>
}
"""


@pytest.mark.parametrize("target", ["machine", "native"])
@pytest.mark.parametrize("first", [1 - 2**31, -7, -2, 0, 3, 2**31 - 1])
def test_rows_are_filled_whatever_the_size_is(tmp_path: Path, target: str, first: int):
    """Sizes that data decide may be negative, or huge."""
    path = tmp_path / "filled.mlir"
    path.write_text(FILLED.replace("FIRST", str(first)))
    program = xrelay.compile(path, target=target)
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    for size in (-(2**63), -5, 0, 1, 4, 9, 2**63 - 1):
        result = np.asarray(program(x, np.float32(7), np.array([size, 2])))
        rows = [-x[i] if 0 <= first + i < size else np.full(2, 7) for i in range(6)]
        np.testing.assert_array_equal(result, rows, err_msg=f"{first}, {size}")


HEIGHTS = """
func.func @main(%x: tensor<1x?x8x32xf32>) -> tensor<1x?x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x?x8x32xf32>) -> tensor<1x?x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>,
                               padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x?x8x32xf32>) -> tensor<1x?x8x32xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>,
                               strides = array<i64: 2, 2>}
    : (tensor<1x?x8x32xf32>) -> tensor<1x?x4x32xf32>
  func.return %y : tensor<1x?x4x32xf32>
}
"""


def test_a_peak_is_kept_up_to_the_most_rows_of_samples(tmp_path: Path):
    path = tmp_path / "heights.mlir"
    path.write_text(HEIGHTS)
    whole = xrelay.compile(path)
    for peak in (600_000, 1_100_000):
        tiled = xrelay.compile(path, pipeline=f"vm{{peak={peak}}}")
        for rows in (16, 1024, 2048):
            image = np.random.default_rng(0).standard_normal((1, rows, 8, 32), np.float32)
            np.testing.assert_array_equal(tiled(image), whole(image))
            assert 0 < tiled.memory.devices["cpu:0"].peak <= peak
    assert whole.memory.devices["cpu:0"].peak > peak
    with pytest.raises(xrelay.Error, match="is not reached at 2048 rows: the least is 531456"):
        xrelay.compile(path, pipeline="vm{peak=500000}")


BESIDE = HEIGHTS.replace(
    "%a = relay.tanh %x : (tensor<1x?x8x32xf32>)", "%a = relay.add %x, %z : (IMAGE, IMAGE)"
).replace("%x: tensor<1x?x8x32xf32>", "%x: IMAGE, %z: IMAGE")


def test_an_image_of_one_row_is_broadcast(tmp_path: Path):
    """Two open heights are equal or not, as one call has them."""
    path = tmp_path / "beside.mlir"
    path.write_text(BESIDE.replace("IMAGE", "tensor<1x?x8x32xf32>"))
    whole, tiled = xrelay.compile(path), xrelay.compile(path, pipeline="vm{work=1.0}")
    for rows in ((16, 16), (16, 1), (1, 16)):
        images = [np.random.default_rng(0).standard_normal((1, n, 8, 32)) for n in rows]
        x, z = (image.astype(np.float32) for image in images)
        np.testing.assert_array_equal(tiled(x, z), whole(x, z))


def signal_network() -> ModelProto:
    """Return a model of a signal of any length, which is an image of one row."""
    m, x = Graph(0), "x"
    for inside, outside, strides in ((1, 8, [2]), (8, 16, [2]), (16, 16, [1])):
        weight = m.weight(outside, inside, 7, scale=0.2)
        x = m("Relu", m("Conv", x, weight, strides=strides, pads=[3, 3]))
    m("Flatten", m("GlobalAveragePool", x), to="y")
    return m.model({"x": (TensorProto.FLOAT, [1, 1, "n"])}, {"y": [1, 16]})


@pytest.mark.usefixtures("any_plan")
@pytest.mark.parametrize("kernels", ["numpy", "native"])
def test_signals_are_computed_along_their_width(tmp_path: Path, kernels: str):
    proto, rng = signal_network(), np.random.default_rng(0)
    (path := tmp_path / "signal.onnx").write_bytes(proto.SerializeToString())
    pipeline = f"vm{{kernels={kernels} work=1.0}}"
    feeds = [{"x": rng.standard_normal((1, 1, n), np.float32)} for n in (1, 2, 17, 101, 256)]
    tiled = xrelay.compile(path, pipeline=pipeline, sanitize=True)
    fixed = xrelay.compile(path, pipeline=pipeline, dims={"n": 256})
    whole = xrelay.compile(path, pipeline=f"vm{{kernels={kernels}}}", dims={"n": 256})
    (tiled_device,), (device,) = (p.memory.devices.values() for p in (fixed, whole))
    assert 1.4 * (tiled_device.planned["main"] or 0) < (device.planned["main"] or 0)
    *others, last = [
        (np.asarray(tiled(feed["x"])), expected)
        for feed, (expected,) in zip(feeds, calls_of_onnxruntime(proto, feeds), strict=True)
    ]
    for found, expected in (*others, last, (np.asarray(fixed(feeds[-1]["x"])), last[1])):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
