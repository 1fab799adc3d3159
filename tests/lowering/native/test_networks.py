"""Networks compiled to shared libraries, against onnxruntime."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, light_network, onnxruntime_results, run_onnxruntime
from helpers.programs.transformer import VOCABULARY, encoder
from onnx import ModelProto

import xrelay
from xrelay.runtime.native.interface import Library
from xrelay.tools.opt.opt import main


def library_of(model: ModelProto, folder: Path, *options: str) -> xrelay.NativeExecutable:
    """Compile a model as a user does, and load it."""
    source, path = folder / "net.onnx", folder / "libnet.so"
    source.write_bytes(model.SerializeToString())
    target = f"native{{cpu=native {'cache=off' if options else ''}}}"
    assert main([str(source), "-p", "aot", "-t", target, "-o", str(path), *options]) == 0
    loaded = xrelay.load(path)
    assert isinstance(loaded, xrelay.NativeExecutable)
    return loaded


def close(found: Array, expected: Array) -> None:
    scale = np.abs(expected).max()
    assert expected.std() > 1e-3 * scale
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.ci
def test_squeezenet(tmp_path: Path):
    """Convolutions and pools, weights in another layout than the model's; memory as planned.

    The transformed cells of Winograd's algorithm lie in bytes that are free at the moment.
    """
    network = light_network("squeezenet")
    (x,) = network.feeds.values()
    results = library_of(network.model, tmp_path)(x)
    for found, expected in zip(results, onnxruntime_results(network), strict=True):
        close(found, expected)
    code = ctypes.CDLL(str(tmp_path / "libnet.so"))
    code.xrelay_library_metadata.restype = ctypes.c_char_p
    (entry,) = Library.from_json(code.xrelay_library_metadata().decode()).entries
    size = code[f"{entry.symbol}_workspace_size"]
    size.restype = ctypes.c_int64
    assert size() == entry.workspace == 3928576


@pytest.mark.ci
def test_a_transformer_of_any_length(tmp_path: Path):
    """One library for all sizes, whose kernels need no memory but that of the plan."""
    model = encoder(1)
    run = library_of(model, tmp_path, "--save-temps", str(tmp_path))
    kernels = "".join(path.read_text() for path in sorted(tmp_path.glob("kernels_*.2.ll")))
    assert "..omp_par" in kernels
    assert "call ptr @_mlir_memref_to_llvm_alloc" not in kernels
    random = np.random.default_rng(0)
    for batch, sequence in ((1, 1), (2, 7), (3, 20)):
        ids = random.integers(0, VOCABULARY, (batch, sequence))
        close(run(ids), run_onnxruntime(model, {"ids": ids})[0])
