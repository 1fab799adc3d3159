"""Pools: the example in the machine, natively and from C, and capacities when sizes are known."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers.documents import ROOT
from helpers.machine.in_machine import assert_same
from helpers.onnx.onnx_models import Array
from helpers.processes.forked_commands import with_commands

import xrelay
from xrelay.runtime.errors import MachineError
from xrelay.runtime.native.native_executable import NativeExecutable, load_library
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools.opt.opt import main as opt

LAYERS = """
func.func @main(%x: tensor<?x32xf32> {relay.dims = ["n", 32]}, %w: tensor<32x32xf32>)
    -> tensor<?x32xf32> attributes {relay.dim_bounds = {n = [1, 64]}} {
  %a = relay.nn.dense %x, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %b = relay.nn.dense %a, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %c = relay.nn.dense %b, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %d = relay.add %c, %a : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %e = relay.nn.dense %d, %w : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  func.return %e : tensor<?x32xf32>
}
"""


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    path = tmp_path / "layers.mlir"
    path.write_text(LAYERS)
    return path


def arguments(rows: int) -> list[Array]:
    rng = np.random.default_rng(rows)
    return [rng.random(shape, np.float32) for shape in ((rows, 32), (32, 32))]


@pytest.mark.ci
def test_the_example_runs_in_the_machine_natively_and_from_c(tmp_path: Path):
    folder = tmp_path / "pools"
    shutil.copytree(ROOT / "examples" / "pools", folder)
    made = subprocess.run(
        ["make", "-s", "run"],
        cwd=folder, env=with_commands(os.environ), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    header = (folder / "scores.h").read_text()
    assert "void *workspace_dtcm, void *workspace_psram);" in header
    assert "512 bytes of the 512 in cpu:0/dtcm" in header
    rows = [[*map(float, line.split())] for line in made.stdout.splitlines()[-2:]]
    x = (np.arange(128, dtype=np.float32) % 7 / 7).reshape(2, 64)
    v = ((np.arange(4096) % 11 - 5) / 64).astype(np.float32).reshape(64, 64)
    w = (np.arange(512, dtype=np.float32) % 13).reshape(8, 64)
    hidden = np.maximum(x @ v.T, 0)
    scores = softmax(hidden @ v.T + hidden) @ w.T
    np.testing.assert_allclose(rows, softmax(scores), atol=2e-4)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


WEIGHTS = """
builtin.module attributes {relay.params = "weights.safetensors"} {
  func.func @main(%x: tensor<2x64xf32>) -> tensor<2x8xf32> {
    %v = relay.param "v" : tensor<64x64xf32>
    %w = relay.param "w" : tensor<8x64xf32>
    %a = relay.nn.dense %x, %v : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
    %r = relay.nn.relu %a : (tensor<2x64xf32>) -> tensor<2x64xf32>
    %b = relay.nn.dense %r, %v : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
    %c = relay.nn.dense %b, %w : (tensor<2x64xf32>, tensor<8x64xf32>) -> tensor<2x8xf32>
    func.return %c : tensor<2x8xf32>
  }
}
"""

RANDOM = np.random.default_rng(5)
TENSORS = {"v": RANDOM.random((64, 64), np.float32), "w": RANDOM.random((8, 64), np.float32)}


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """Return a program that reads `v`, of 16 KiB, twice, and `w`, of 2 KiB, once."""
    write_tensors(tmp_path / "weights.safetensors", TENSORS)
    path = tmp_path / "weights.mlir"
    path.write_text(WEIGHTS)
    return path


@pytest.mark.ci
@pytest.mark.parametrize("place", ["object", "file"])
def test_pools_of_constants(
    weights: Path, tmp_path: Path, place: str, capfd: pytest.CaptureFixture[str]
):
    pipeline = 'aot{constants="itcm=17KiB:1,flash=1MiB:5:256"}'
    out = tmp_path / "libnet.so"
    target = f"native{{weights={place}}}"
    args = [str(weights), "-p", pipeline, "-t", target, "-o", str(out), "--memory-report=json"]
    assert opt(args) == 0
    native = load_library(out)
    reports = json.loads(capfd.readouterr().err)["functions"]
    reported = [report for report in reports if report["function"] == "constants"]
    assert [
        (report["device"], report["planned"]["bytes"], report["pool"]["capacity"])
        for report in reported
    ] == [(pool.place, pool.size, pool.capacity) for pool in native.interface.constant_pools]
    fast, slow = native.interface.constant_pools
    assert (fast.place, fast.size, fast.capacity) == ("cpu:0/itcm", 16384, 17 << 10)
    assert (slow.place, slow.size, slow.capacity) == ("cpu:0/flash", 2048, 1 << 20)
    assert {c.size: c.pool for c in native.interface.constants} == {16384: 0, 2048: 1}
    v, w = TENSORS["v"], TENSORS["w"]
    x = np.random.default_rng(6).random((2, 64), np.float32)
    hidden = np.maximum(x.astype(float) @ v.T, 0) @ v.T
    np.testing.assert_allclose(native(x), hidden @ w.T, rtol=1e-5)


def test_each_pool_of_constants_is_a_section(weights: Path, tmp_path: Path):
    pipeline = 'aot{constants="itcm=17KiB:1,flash=1MiB:5:256"}'
    for target, name in (("object", "net.o"), ("c-header", "net.h")):
        assert opt([str(weights), "-p", pipeline, "-t", target, "-o", str(tmp_path / name)]) == 0
    command = ["readelf", "-S", "-W", tmp_path / "net.o"]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.partition("]")[2].split() for line in table.splitlines()]
    sections = {row[0]: row for row in rows if row and row[0].startswith(".rodata.")}
    found = {name: (int(row[4], 16), row[-1]) for name, row in sections.items()}
    assert found[".rodata.itcm"] == (16384, "64")
    assert found[".rodata.flash"] == (2048, "256")
    header = (tmp_path / "net.h").read_text()
    text = "constants_flash: 2048 bytes of the 1048576 in cpu:0/flash, section .rodata.flash"
    assert text in header


def test_constants_that_do_not_fit(weights: Path, capfd: pytest.CaptureFixture[str]):
    pipeline = 'aot{constants="itcm=1KiB:1,flash=16KiB:5"}'
    assert opt([str(weights), "-p", pipeline]) == 1
    error = capfd.readouterr().err
    expected = "the constants do not fit in itcm=1024:1, flash=16384:5: 1024 bytes are missing\n"
    assert expected in error
    assert "it would fit with flash=18432" in error


def test_an_executable_keeps_pools_and_capacities(layers: Path, tmp_path: Path):
    pooled = xrelay.compile(layers, pipeline='vm{pools="dtcm=4KiB:1,psram=8KiB:10"}')
    pooled.save(tmp_path / "layers.xrx")
    loaded = xrelay.load(tmp_path / "layers.xrx")
    plain = xrelay.compile(layers)
    assert_same([loaded(*arguments(8))], [plain(*arguments(8))])
    assert {"cpu:0/dtcm", "cpu:0/psram"} <= loaded.memory.devices.keys()
    with pytest.raises(MachineError, match="does not fit in pool cpu:0/"):
        loaded(*arguments(64))


def test_a_pool_is_declared_once(layers: Path):
    with pytest.raises(xrelay.Error, match="duplicate pool 'dtcm'"):
        xrelay.compile(layers, pipeline='vm{pools="dtcm=4KiB:1,cpu:0/dtcm=8KiB:1"}')


@pytest.mark.ci
def test_a_device_with_a_capacity_natively(layers: Path):
    """Of one pool, which is the device itself, there is one workspace, and its results."""
    tight = xrelay.compile(layers, target="native", pipeline='aot{pools="cpu:0=16KiB:1"}')
    assert isinstance(tight, NativeExecutable)
    (pool,) = tight.interface.entries[0].pools
    assert (pool.place, pool.size, pool.capacity) == ("cpu:0", None, 16 << 10)
    x, w = arguments(16)
    a = x.astype(float) @ w.T
    expected = (a @ w.T @ w.T + a) @ w.T
    np.testing.assert_allclose(tight(x, w), expected, rtol=1e-5)
    with pytest.raises(MachineError, match=r"bytes of pool cpu:0, which has 16384"):
        tight(*arguments(64))


@pytest.mark.ci
def test_a_device_with_a_capacity(layers: Path):
    fits = xrelay.compile(layers, pipeline='vm{pools="cpu:0=32KiB:1"}')
    plain = xrelay.compile(layers)
    assert_same([fits(*arguments(64))], [plain(*arguments(64))])
    tight = xrelay.compile(layers, pipeline='vm{pools="cpu:0=16KiB:1"}')
    assert_same([tight(*arguments(16))], [plain(*arguments(16))])
    with pytest.raises(MachineError, match="does not fit in pool cpu:0: "):
        tight(*arguments(64))


@pytest.mark.parametrize("memory", ["none", "coalesce"])
def test_pools_without_a_plan(layers: Path, memory: str):
    pipeline = f'vm{{pools="dtcm=4KiB:1,psram=:10" memory={memory}}}'
    plain = xrelay.compile(layers)
    pooled = xrelay.compile(layers, pipeline=pipeline)
    assert_same([pooled(*arguments(8))], [plain(*arguments(8))])


def test_native_code_checks_capacities_once_sizes_are_known(layers: Path):
    pooled = xrelay.compile(
        layers, target="native", pipeline='aot{pools="dtcm=4KiB:1,psram=8KiB:10"}'
    )
    plain = xrelay.compile(layers)
    np.testing.assert_allclose(pooled(*arguments(8)), plain(*arguments(8)), rtol=1e-4)
    expected = "needs 16384 bytes of pool cpu:0/dtcm, which has 4096"
    with pytest.raises(MachineError, match=expected):
        pooled(*arguments(64))
