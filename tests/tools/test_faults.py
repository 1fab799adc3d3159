"""
Small inputs that once caused wrong numbers, foreign reads, a hang, a crash or a traceback.

They are in `tests/data/faults`, found by fuzzing and by reading; here are their expected results.
"""

from pathlib import Path

import numpy as np
import pytest
from helpers.operators.kernel_references import onnx_node

from xrelay.tools.run.run import main

FAULTS = Path(__file__).parent.parent / "data" / "faults"

ERRORS = {
    "alias_bomb.mlir": "the uses of aliases up to here expand to",
    "blocks.mlir": "@main must be one block, but has 2",
    "conv_oob.mlir": "strides must be at least 1, but is -100000",
    "dil.mlir": "dilation must be at least 1, but is -1",
    "dil2.mlir": "dilation must be at least 1, but is -900000000",
    "dw.mlir": "the result of relay.nn.conv2d is tensor<1x2x2x2xf32>, but is declared as",
    "fwd4.mlir": "operand #0 is defined in a region that does not enclose this use",
    "goto.mlir": "exceeded the limit of 10000 instructions (--max-instructions)",
    "hugeconst2.mlir": "a constant float32[600000000] needs 2400000000 bytes",
    "hugeshape.mlir": "float32[1000000000, 1000000000], needs",
    "leak2.mlir": "strides must be at least 1, but is -20",
    "recurse.mlir": "nested calls needs",
    "uninit.mlir": "reads unwritten bytes",
}
RIGHT = (
    *(
        "anydim.relay",
        "conv1x1.mlir",
        "conv1x1.onnx",
        "conv_small.mlir",
        "dbg.mlir",
        "foldpool.mlir",
    ),
    *("maxpoolrelay.mlir", "pool.onnx", "poolrelay.mlir", "tup.relay"),
)
ELSEWHERE = {
    "method.npz": "test_npz",
    "ones.npz": "test_npz",
    "rec.relay": "test_run_limits",
    "token.npz": "test_npz",
    "window.csv": "test_format",
    "zlib.npz": "test_npz",
}
"""Inputs of another kind, and the test that reads them or draws similar ones."""


def run(name: str, *options: str) -> int:
    limits = ("--memory-limit", "64M", "--max-instructions", "10000")
    return main([str(FAULTS / name), "--random-seed", "0", *limits, *options])


@pytest.mark.ci
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_with_a_place(name: str, capsys: pytest.CaptureFixture[str]):
    assert run(name) == 1
    said = capsys.readouterr().err
    assert ERRORS[name] in said
    assert said.startswith(str(FAULTS / name))


@pytest.mark.parametrize("name", RIGHT)
def test_machine_and_evaluator_agree(name: str, tmp_path: Path):
    paths = [tmp_path / "machine.npz", tmp_path / "evaluated.npz"]
    assert run(name, "--outputs", str(paths[0])) == 0
    assert run(name, "--evaluate", "--outputs", str(paths[1])) == 0
    machine, evaluated = (dict(np.load(path)) for path in paths)
    assert machine.keys() == evaluated.keys()
    for output, array in machine.items():
        np.testing.assert_allclose(array, evaluated[output], 1e-6)


def test_a_convolution_of_one_cell(tmp_path: Path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 1, 4, 4), np.float32)
    w = rng.standard_normal((1, 1, 1, 1), np.float32)
    np.savez(tmp_path / "in.npz", x=x, w=w)
    files = ("--inputs", str(tmp_path / "in.npz"), "--outputs", str(tmp_path / "out.npz"))
    assert run("conv1x1.mlir", *files) == 0
    (y,) = np.load(tmp_path / "out.npz").values()
    options = {"strides": (2, 2), "pads": (2, 2, 2, 2)}
    np.testing.assert_allclose(y, onnx_node("Conv", [x, w], options), 1e-6)


def test_every_input_is_tried():
    assert {path.name for path in FAULTS.iterdir()} == {*ERRORS, *RIGHT, *ELSEWHERE}
