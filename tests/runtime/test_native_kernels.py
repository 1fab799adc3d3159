"""
The machine with compiled kernels, against NumPy from the definitions of the operators.

The programs are compiled once for all tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import xrelay
from xrelay.lowering.native.toolchain import tool_paths
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.native.compiled_kernels import NativeLibrary
from xrelay.tools.api import front_door
from xrelay.tools.api.loaded import Loaded, native_kernels
from xrelay.tools.run.run import main as xrelay_run

Array = np.ndarray[Any, Any]

PROGRAMS = {
    "residual": """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3, 8, 32), float32], %w: Tensor[(5, 3, 3, 3), float32],
          %r: Tensor[(2, 5, 8, 32), float32]) {
  %0 = nn.softmax(%r);
  %1 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %2 = nn.relu(add(%1, %0));
  nn.softmax(%2)
}
""",
    "dynamic": """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float32], %y: Tensor[(4), float32]) {
  %0 = nn.softmax(add(%x, %y));
  (%0, sum(multiply(%0, %x), axis=[1]), less(%x, %y))
}
""",
    "mixed": """#[version = "0.0.5"]
def @main(%x: Tensor[(6, 5), float32]) {
  %0 = topk(%x, k=2, axis=1, ret_type="both", is_ascend=False, dtype="int64");
  (tanh(%0.0), add(%0.1, 1i64))
}
""",
    "chain": """#[version = "0.0.5"]
def @main(%x: Tensor[(64, 8), float32]) {
  %0 = tanh(%x);
  %1 = add(multiply(%0, %0), %x);
  %2 = sum(%1, axis=[1], keepdims=True);
  divide(multiply(%1, %0), add(%2, 100f))
}
""",
}


class Traced(NamedTuple):
    """A program, and the names of its kernels that ran as machine code."""

    exe: xrelay.Executable
    ran: set[str]

    @property
    def native_steps(self) -> set[str]:
        """The operators that machine code computed."""
        kernels = [kernel for kernel in self.exe.program.kernels if kernel.name in self.ran]
        return {step.op for kernel in kernels for step in kernel.steps}


def traced(library: NativeLibrary, ran: set[str]) -> NativeLibrary:
    """Return `library` with functions that add their kernels to `ran`."""

    def function_of(name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            ran.add(name)
            return library.functions[name](*args)

        return call

    return replace(library, functions={name: function_of(name) for name in library.functions})


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Traced]:
    folder = tmp_path_factory.mktemp("native-kernels")
    found: dict[str, Traced] = {}
    for name, text in PROGRAMS.items():
        path, ran = folder / f"{name}.relay", set[str]()
        path.write_text(text)

        def compiled(
            loaded: Loaded, context: ReportingContext, *_: object, ran: set[str] = ran
        ) -> NativeLibrary:
            library = native_kernels(loaded, context)
            assert library is not None
            return traced(library, ran)

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(folder))
            patch.setattr(front_door, "native_kernels", compiled)
            found[name] = Traced(xrelay.compile(path, kernels="native"), ran)
    return found


def softmax(x: Array, axis: int) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def residual(x: Array, w: Array, r: Array) -> Array:
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    product = np.einsum("nchwij,ocij->nohw", windows, w)
    return softmax(np.maximum(product + softmax(r, -1), 0), -1)


def inputs(*shapes: tuple[int, ...], seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


RESIDUAL = (2, 3, 8, 32), (5, 3, 3, 3), (2, 5, 8, 32)


@pytest.mark.ci
def test_kernels_of_static_shapes(programs: Mapping[str, Traced]) -> None:
    program = programs["residual"]
    for seed in range(3):
        given = inputs(*RESIDUAL, seed=seed)
        np.testing.assert_allclose(program.exe(*given), residual(*given), rtol=1e-5, atol=1e-6)
    assert {"relay.nn.conv2d", "relay.add", "relay.nn.softmax"} <= program.native_steps


def test_kernels_of_dynamic_shapes(programs: Mapping[str, Traced]) -> None:
    program = programs["dynamic"]
    machine = cast(Machine, vars(program.exe)["_machine"])
    for rows in (3, 1, 0, 17, 3, 5, 40):
        if rows == 5:  # from here on, the path is a template
            program.ran.clear()
            machine.templates.runs.clear()
        x, y = inputs((rows, 4), (4,), seed=rows)
        expected = softmax(x + y, -1)
        probability, total, less = program.exe(x, y)
        np.testing.assert_allclose(probability, expected, rtol=1e-5)
        np.testing.assert_allclose(total, (expected * x).sum(1), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(less, x < y)
    assert {"relay.nn.softmax", "relay.less", "relay.sum"} <= program.native_steps
    assert list(machine.templates.runs.values()) == [2]


def test_kernels_without_linalg_are_those_of_numpy(
    programs: Mapping[str, Traced],
) -> None:
    program = programs["mixed"]
    (x,) = inputs((6, 5))
    values, places = program.exe(x)
    assert "relay.topk" not in program.native_steps
    assert "relay.tanh" in program.native_steps
    order = np.argsort(-x, 1)[:, :2]
    np.testing.assert_allclose(values, np.tanh(np.take_along_axis(x, order, 1)), rtol=1e-5)
    np.testing.assert_array_equal(places, order + 1)


def test_a_kernel_may_read_what_its_result_overwrites(
    programs: Mapping[str, Traced],
) -> None:
    (x,) = inputs((64, 8))
    t = np.tanh(x)
    y = t * t + x
    expected = y * t / (y.sum(1, keepdims=True) + 100)
    np.testing.assert_allclose(programs["chain"].exe(x), expected, rtol=1e-5, atol=1e-7)


def test_threads_share_a_library(programs: Mapping[str, Traced]) -> None:
    exe = programs["residual"].exe

    def run(seed: int) -> None:
        given = inputs(*RESIDUAL, seed=seed)
        expected = residual(*given)
        for _ in range(20):
            np.testing.assert_allclose(exe(*given), expected, rtol=1e-5, atol=1e-6)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))


@pytest.mark.ci
def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "chain.relay").write_text(PROGRAMS["chain"])
    (x,) = inputs((64, 8))
    np.savez(tmp_path / "x.npz", x=x)
    command = [str(tmp_path / "chain.relay"), "--inputs", str(tmp_path / "x.npz")]
    shown: list[str] = []
    for kernels in ("numpy", "native"):
        out = tmp_path / f"{kernels}.npz"
        assert xrelay_run([*command, "--outputs", str(out), f"--kernels={kernels}"]) == 0
        shown.append(capsys.readouterr().err)
    numpy, native = (np.load(tmp_path / f"{name}.npz")["output_0"] for name in ("numpy", "native"))
    np.testing.assert_allclose(native, numpy, rtol=1e-5, atol=1e-7)
    assert shown == ["", ""]
    assert any((tmp_path / "xrelay" / "native").iterdir())


def test_without_the_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tool_paths, "PACKAGES", ())
    (tmp_path / "chain.relay").write_text(PROGRAMS["chain"])
    tool_paths.tool.cache_clear()
    with pytest.raises(xrelay.Error, match=r"pip install 'xrelay\[native\]'"):
        xrelay.compile(tmp_path / "chain.relay", kernels="native")
    tool_paths.tool.cache_clear()


def test_bytecode_has_no_kernels_to_compile(tmp_path: Path) -> None:
    (tmp_path / "chain.relay").write_text(PROGRAMS["chain"])
    module = xrelay.run_pipeline(xrelay.parse(tmp_path / "chain.relay"), "vm")
    with pytest.raises(xrelay.Error, match="it is bytecode already"):
        xrelay.compile(module, kernels="native")
    with pytest.raises(xrelay.Error, match="kernels must be 'numpy' or 'native'"):
        xrelay.compile(module, kernels=cast(Any, "fast"))


LARGE = """
func.func @main(%x: tensor<256x512xf32>, %w: tensor<1024x512xf32>) -> tensor<256x1024xf32> {
  %y = relay.nn.dense %x, %w : (tensor<256x512xf32>, tensor<1024x512xf32>) -> tensor<256x1024xf32>
  %z = relay.exp %y : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  func.return %z : tensor<256x1024xf32>
}"""


@pytest.mark.ci
def test_large_kernels_use_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source = tmp_path / "large.mlir"
    source.write_text(LARGE)
    made = np.random.default_rng(0)
    x, w = (0.05 * made.standard_normal((n, 512), np.float32) for n in (256, 1024))
    results: list[Array] = []
    for threads in ("1", "3"):
        monkeypatch.setenv("XRELAY_NUM_THREADS", threads)
        results.append(xrelay.compile(source, kernels="native")(x, w))
    assert len(list(Path("/proc/self/task").iterdir())) >= 3, "two workers"
    assert np.array_equal(results[0], results[1])
    np.testing.assert_allclose(results[0], np.exp(x @ w.T), rtol=1e-5)
