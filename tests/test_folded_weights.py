"""Models that compute on their weights: folded in each form, the numbers are onnxruntime's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_small import model_of, node, random_array

import xrelay
from xrelay.runtime.weights.tensor_file import TensorFile
from xrelay.tools.opt.opt import main as opt
from xrelay.tools.run.run import main as run

X = random_array(2, 256, seed=9)
RNG = np.random.default_rng(2)
WEIGHTS = {
    "qkv": random_array(256, 768, seed=1) / 16,
    "out_a": random_array(128, 600, seed=2) / 16,
    "out_b": random_array(128, 600, seed=3) / 16,
    "bytes": RNG.integers(-128, 128, (600, 120)).astype(np.int8),
    "scale": RNG.uniform(0.001, 0.01, 120).astype(np.float32),
    "zero": RNG.integers(-9, 9, 120).astype(np.int8),
    "rows": np.array([3, 0, 119, 3], np.int64),
    "sizes": np.array([256, 256, 256], np.int64),
}

PLAIN = (
    "infer-types,plan-devices,fuse-ops,outline-primitives,manifest-alloc,simplify-shapes,"
    "plan-memory,lower-to-bytecode,allocate-registers"
)
"""A pipeline that folds nothing."""

OTHERS = ("out_a", "out_b", "bytes")


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    """Projections split from one weight, a weight in two parts, and one of bytes."""
    nodes = [
        node("Split", "qkv sizes", "wq wk wv", axis=1),
        node("MatMul", "x wq", "q"),
        node("MatMul", "x wk", "k"),
        node("MatMul", "x wv", "v"),
        node("Mul", "q k", "qk"),
        node("Add", "qk v", "h"),
        node("Concat", "out_a out_b", "w", axis=0),
        node("MatMul", "h w", "m"),
        node("DequantizeLinear", "bytes scale zero", "wide", axis=1),
        node("Gather", "wide rows", "some", axis=1),
        node("MatMul", "m some", "y"),
    ]
    for index, one in enumerate(nodes):
        one.name = f"n{index}"
    return model_of(nodes, {"x": X}, WEIGHTS)


@pytest.fixture(scope="module")
def expected(model: onnx.ModelProto) -> Array:
    return run_onnxruntime(model, {"x": X})[0]


@pytest.fixture(scope="module")
def folder(model: onnx.ModelProto, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, as text with its weights beside it, compiled, and an input."""
    folder = tmp_path_factory.mktemp("folded")
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    np.savez(folder / "x.npz", x=X)
    for args in (
        [folder / "m.onnx", "-o", folder / "m.mlir"],
        [folder / "m.onnx", "-p", "vm", "-t", "executable", "-o", folder / "from_model.xrx"],
        [folder / "m.mlir", "-p", "vm", "-o", folder / "lowered.mlir"],
        [folder / "m.mlir", "-p", "vm", "-t", "executable{embed=true}", "-o", folder / "all.xrx"],
    ):
        assert opt(list(map(str, args))) == 0
    return folder


def test_no_operator_on_weights_is_left(model: onnx.ModelProto, expected: Array):
    program = xrelay.compile(model)
    code = [line for line in program.listing.splitlines() if "=relay." not in line]
    assert len(code) < len(program.listing.splitlines())
    for op in ("split", "strided_slice", "concatenate", "cast", "subtract", "take"):
        assert f"relay.{op}" not in "\n".join(code)
    np.testing.assert_allclose(program(X), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["m.onnx", "m.mlir", "lowered.mlir", "from_model.xrx", "all.xrx"])
def test_commands_agree(name: str, folder: Path, expected: Array):
    args = [folder / name, "--inputs", folder / "x.npz", "--outputs", folder / f"{name}.npz"]
    assert run(list(map(str, args))) == 0
    (found,) = np.load(folder / f"{name}.npz").values()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_side_files_have_what_is_read(folder: Path):
    assert {"out_a", "out_b", "bytes"} <= set(TensorFile(folder / "m.safetensors").names)
    derived = TensorFile(folder / "from_model.safetensors").names
    assert not set(derived) & set(WEIGHTS)
    assert [name for name in derived if name.startswith("=relay.take(relay.multiply(")]


def test_other_weights_are_given_by_their_own_names(folder: Path, model: onnx.ModelProto):
    other = {name: np.flip(value, 0) for name, value in WEIGHTS.items() if name in OTHERS}
    changed = model_of(list(model.graph.node), {"x": X}, {**WEIGHTS, **other})
    wanted = run_onnxruntime(changed, {"x": X})[0]
    program = xrelay.load(folder / "all.xrx")
    assert not np.allclose(program(X), wanted)
    params = {**arrays_in(folder / "m.safetensors"), **other}
    for source in ("m.mlir", "lowered.mlir"):
        found = xrelay.compile(folder / source, params=params)(X)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def arrays_in(path: Path) -> dict[str, Array]:
    file = TensorFile(path)
    return {name: file.array(name) for name in file.names}


def test_weights_are_drawn_before_others_are_derived(folder: Path):
    (folder / "alone.mlir").write_text((folder / "m.mlir").read_text().replace("m.safe", "no.safe"))
    found: list[Array] = []
    for name, pipeline in (("vm.npz", "vm"), ("plain.npz", PLAIN)):
        args = [folder / "alone.mlir", "--pipeline", pipeline, "--random-weights"]
        args += ["--inputs", folder / "x.npz", "--outputs", folder / name]
        assert run(list(map(str, args))) == 0
        found += np.load(folder / name).values()
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-4)
