"""Products that a BLAS library computes, against NumPy."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.native.check_kernels import run
from helpers.native.scheduled_kernels import (
    Body,
    kernel_on,
    prepared,
    scheduled,
    scheduled_module,
    without_schedules,
)
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, f32, f64

from xrelay.dialects import relay
from xrelay.dialects.device import tensor_type
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.kernel_pass import kernels_of
from xrelay.lowering.native.kernel_pipeline import BlasUse
from xrelay.lowering.native.toolchain import tool_paths
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.lowering.native.toolchain.tool_paths import Blas, openblas
from xrelay.tools.opt.opt import main

Array = Any
Write = Callable[[Body, Any], Any]
RNG = np.random.default_rng(0)


def settings() -> Settings:
    return Settings(Machine(), blas=openblas(is_host=True, compiler=None))


def matmul(transpose_a: bool = False, transpose_b: bool = False, name: str = "matmul") -> Write:
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return lambda body, operands: body.add(f"nn.{name}", *operands, **flags)


def convolution(padding: int) -> Write:
    attributes: dict[str, Any] = {"strides": (1, 1), "dilation": (1, 1), "groups": 1}
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
    return lambda body, operands: body.add(
        "nn.conv2d", *operands, padding=(padding,) * 4, **attributes, **layouts
    )


def then_relu(write: Write) -> Write:
    return lambda body, operands: body.add("nn.relu", write(body, operands))


CASES: dict[str, tuple[Write, Any, list[tuple[int, ...]], Callable[[Array, Array], Array]]] = {
    "plain": (matmul(), f32, [(8, 16), (16, 30)], lambda x, y: x @ y),
    "relu": (then_relu(matmul()), f32, [(8, 16), (16, 30)], lambda x, y: np.maximum(x @ y, 0)),
    "doubles": (matmul(), f64, [(8, 16), (16, 30)], lambda x, y: x @ y),
    "dense": (matmul(transpose_b=True), f32, [(1, 16), (30, 16)], lambda x, y: x @ y.T),
    "left": (matmul(transpose_a=True), f32, [(16, 7), (16, 30)], lambda x, y: x.T @ y),
    "rows": (matmul(), f32, [(3, 5, 16), (16, 30)], lambda x, y: x @ y),
    "batches": (
        matmul(transpose_b=True, name="batch_matmul"),
        f32,
        [(3, 8, 16), (3, 30, 16)],
        lambda x, y: x @ y.swapaxes(1, 2),
    ),
    "one_right": (
        matmul(name="batch_matmul"),
        f32,
        [(3, 8, 16), (1, 16, 30)],
        lambda x, y: x @ y,
    ),
    "one_left": (
        matmul(transpose_a=True, name="batch_matmul"),
        f32,
        [(1, 16, 8), (3, 16, 30)],
        lambda x, y: x.swapaxes(1, 2) @ y,
    ),
    "convolution": (
        then_relu(convolution(0)),
        f32,
        [(2, 5, 6, 16), (1, 1, 16, 30)],
        lambda x, w: np.maximum(x @ w[0, 0], 0),
    ),
    "padded": (
        convolution(1),
        f32,
        [(1, 5, 6, 16), (1, 1, 16, 30)],
        lambda x, w: np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))) @ w[0, 0],
    ),
}


def kernel(name: str) -> relay.PrimFuncOp:
    write, element, shapes, _ = CASES[name]
    return kernel_on(name, [tensor_type(element, list(shape)) for shape in shapes], write)


def test_products_of_the_library(tmp_path: Path):
    library = scheduled(map(kernel, CASES), tmp_path, settings(), "openblas-always")
    for name, (_, element, shapes, expected) in CASES.items():
        dtype = np.float32 if element == f32 else np.float64
        arrays = [RNG.standard_normal(shape).astype(dtype) for shape in shapes]
        result = np.full_like(expected(*arrays), np.nan)
        run(library, name, arrays, [result])
        np.testing.assert_allclose(result, expected(*arrays), rtol=1e-4, atol=1e-5, err_msg=name)


def calls(module: ModuleOp, blas: BlasUse) -> list[str]:
    prepared(module, Machine(), blas)
    (function,) = kernels_of(module)
    return [op.callee.string_value() for op in function.walk() if isinstance(op, func.CallOp)]


@pytest.mark.parametrize("name", CASES)
def test_products_call_the_library(name: str):
    expected = "xrelay_dgemm" if name == "doubles" else "xrelay_sgemm"
    assert calls(scheduled_module([kernel(name)]), "openblas-always") == [expected]


def test_products_with_a_schedule_keep_it():
    assert calls(scheduled_module([kernel("plain")]), "openblas") == []
    module = without_schedules(scheduled_module([kernel("left")]))
    assert calls(module, "openblas") == ["xrelay_sgemm"]


PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {
  nn.relu(nn.matmul(%x, %w))
}
"""


@pytest.mark.ci
def test_the_targets_link_it(tmp_path: Path):
    source, out = tmp_path / "model.relay", tmp_path / "libmodel.so"
    source.write_text(PROGRAM)
    command = [str(source), "-p", "aot", "-o", str(out), "-t"]
    needed = ["readelf", "-d", out]
    for option, links in (("openblas-always", True), ("openblas", False)):
        assert main([*command, f"native{{blas={option}}}"]) == 0
        said = subprocess.run(needed, capture_output=True, text=True, check=True).stdout
        assert ("openblas" in said) == links


def test_a_missing_library_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(tool_paths, "PACKAGE", "a_package_that_is_missing")
    source = tmp_path / "model.relay"
    source.write_text(PROGRAM)
    target = 'native{blas=openblas cc="false"}'
    out = tmp_path / "libmodel.so"
    assert main([str(source), "-p", "aot", "-t", target, "-o", str(out)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: blas=openblas needs OpenBLAS")
    assert "xrelay[blas]" in said
    assert not out.exists()


def test_the_systems_library_has_no_prefix(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tool_paths, "PACKAGE", "a_package_that_is_missing")
    assert openblas(is_host=True, compiler="true") == Blas("", ("-lopenblas",))
