"""Shapes that do not fit when a program runs: an error at the operator, never a traceback."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xrelay.tools.run.run import main

Text = str
Arrays = dict[str, Any]


def filled(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def sizes(*values: int) -> Any:
    return np.array(values, np.int64)


def size(value: int) -> Any:
    return np.array(value, np.int64)


def run(folder: Path, program: Text, inputs: Arrays, *options: str) -> tuple[int, Path]:
    """Run a program that starts with `#[version` as Relay text, another as IR."""
    file = folder / ("in.relay" if program.startswith("#[") else "in.mlir")
    file.write_text(program)
    np.savez(folder / "in.npz", **inputs)
    files = [str(file), "--inputs", str(folder / "in.npz"), "--outputs", str(folder / "out.npz")]
    return main([*files, "--memory-limit", "64M", *options]), file


def relay(parameters: str, body: str) -> Text:
    """A program of one function whose body is in line 3."""
    return f'#[version = "0.0.5"]\ndef @main({parameters}) {{\n  {body}\n}}\n'


MATRICES = "%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32]"
SLICE = relay(
    "%x: Tensor[(?, 3), float32], %b: Tensor[(1), int64], %s: Tensor[(1), int64]",
    "dyn.strided_slice(%x, %b, %b, %s, begin=None, end=None, strides=None)",
)
RESHAPE = relay(
    "%x: Tensor[(?, ?), float32], %s: Tensor[(2), int64]", "dyn.reshape(%x, %s, newshape=[])"
)
ZEROS = relay("%s: Tensor[(3), int64]", 'dyn.zeros(%s, dtype="float32")')
ARANGE = relay("%a: int64, %b: int64, %s: int64", 'arange(%a, %b, %s, dtype="int64")')
SUBTRACTED = """\
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %s = relay.shape_of %x {dtype = i64} : (tensor<?xf32>) -> tensor<1xi64>
  %c = relay.constant dense<4> : tensor<1xi64>
  %n = relay.subtract %s, %c : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %z = relay.dyn.zeros %n {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}
"""
ON_CUDA = """\
func.func @main(%x: tensor<?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %c = relay.constant dense<1> : tensor<2xi64>
  %t = relay.add %s, %c : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %u = relay.on_device %t, #relay.device<cuda:0> : (tensor<2xi64>) -> tensor<2xi64>
  %y = relay.dyn.reshape %x, %u : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %v = relay.on_device %y, #relay.device<cuda:0> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = relay.exp %v : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %z : tensor<?x?xf32>
}
"""

INVALID: Sequence[tuple[Text, Arrays, str]] = (
    (
        relay(MATRICES, "add(%x, %y)"),
        {"x": filled(2, 3), "y": filled(4, 3)},
        "3:3 relay.add of tensor<2x3xf32> and tensor<4x3xf32>: dims 2 and 4 at axis -2 do not "
        "broadcast together",
    ),
    (
        relay(MATRICES, "nn.dense(%x, %y, units=None)"),
        {"x": filled(2, 3), "y": filled(4, 5)},
        "3:3 relay.nn.dense of tensor<2x3xf32> and tensor<4x5xf32>: the reduced dims must be "
        "equal, but are 3 and 5",
    ),
    (
        relay(MATRICES, "%0 = (%x, %y);\n  concatenate(%0, axis=0)"),
        {"x": filled(2, 3), "y": filled(2, 4)},
        "4:3 relay.concatenate of tensor<2x3xf32> and tensor<2x4xf32>: dim 1 of operand 1 must be "
        "3, as in operands before it, but is 4",
    ),
    (
        relay("%x: Tensor[(?, 3), float32]", "%0 = split(%x, indices_or_sections=2);\n  %0.0"),
        {"x": filled(3, 3)},
        "3:8 relay.split of tensor<3x3xf32>: sections must divide the dim: 2 does not divide 3",
    ),
    (
        relay("%x: Tensor[(1, 1, ?, ?), float32]", "nn.max_pool2d(%x, pool_size=[5, 5])"),
        {"x": filled(1, 1, 3, 3)},
        "3:3 relay.nn.max_pool2d of tensor<1x1x3x3xf32>: the dilated window's height must be at "
        "most that of the padded data, 3, but is 5",
    ),
    (
        relay("%x: Tensor[(?, ?), float32]", "reshape(%x, newshape=[-1, 4])"),
        {"x": filled(3, 3)},
        "3:3 relay.reshape of tensor<3x3xf32>: cannot reshape",
    ),
    (RESHAPE, {"x": filled(3, 3), "s": sizes(2, 4)}, "3:3 cannot reshape"),
    (RESHAPE, {"x": filled(3, 3), "s": sizes(-1, -1)}, "3:3 shape must have at most one -1"),
    (RESHAPE, {"x": filled(0, 0), "s": sizes(2**62, 4)}, "3:3 cannot reshape"),
    (ON_CUDA, {"x": filled(6), "s": sizes(1, 3)}, "5:8 cannot reshape"),
    (
        SUBTRACTED,
        {"x": filled(3)},
        "5:8 relay.dyn.zeros of tensor<1xi64>: an element of shape must be at least 0, but is -1",
    ),
    (ZEROS, {"s": sizes(2**32, 2**32, 1)}, "3:3 73786976294838206464"),
    (ZEROS, {"s": sizes(0, 2**32, 2**32)}, "3:3 NumPy"),
    (ZEROS, {"s": sizes(1, 2**20, 2**10)}, "3:3 in use and the memory limit is 64000000"),
    (SLICE, {"x": filled(3, 3), "b": sizes(0), "s": sizes(0)}, "3:3 strides must not be 0"),
    (ARANGE, {"a": size(0), "b": size(5), "s": size(0)}, "3:3 the step of arange must not be 0"),
    (ARANGE, {"a": size(-(2**63)), "b": size(2**63 - 1), "s": size(1)}, "3:3 18446744073709551615"),
)


@pytest.mark.parametrize("options", [(), ("--evaluate",)], ids=["machine", "evaluated"])
@pytest.mark.parametrize(("program", "inputs", "expected"), INVALID, ids=range(len(INVALID)))
def test_shapes_that_do_not_fit_are_an_error_at_the_operator(
    program: Text,
    inputs: Arrays,
    expected: str,
    options: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    status, file = run(tmp_path, program, inputs, *options)
    (message, line, caret) = capsys.readouterr().err.rstrip("\n").split("\n")
    place, text = expected.split(" ", 1)
    assert status == 1
    assert message.startswith(f"{file}:{place}: error: ")
    assert text in message
    row, column = map(int, place.split(":"))
    assert line == program.split("\n")[row - 1]
    assert caret == " " * (column - 1) + "^"


VALID: Sequence[tuple[Text, Arrays, Any]] = (
    (relay(MATRICES, "add(%x, %y)"), {"x": filled(0, 3), "y": filled(1, 3)}, filled(0, 3)),
    (
        relay(MATRICES, "nn.dense(%x, %y, units=None)"),
        {"x": filled(2, 0), "y": filled(4, 0)},
        np.zeros((2, 4), np.float32),
    ),
    (relay("%x: Tensor[(?, ?), float32]", "argwhere(%x)"), {"x": filled(0, 3)}, filled(0, 2)),
    (
        relay("%x: Tensor[(?), float32]", "%0 = unique(%x);\n  %0.0"),
        {"x": filled(0)},
        filled(0),
    ),
    (
        relay(
            "%x: Tensor[(1, ?, 6), float32], %c: Tensor[(1), int32], %i: Tensor[(1, ?), int32]",
            "%0 = vision.non_max_suppression(%x, %c, %i, -1, 0.5f);\n  %0.0",
        ),
        {"x": filled(1, 0, 6), "c": np.zeros(1, np.int32), "i": np.zeros((1, 0), np.int32)},
        filled(1, 0),
    ),
    (SUBTRACTED, {"x": filled(4)}, filled(0)),
    (SLICE, {"x": filled(3, 3), "b": sizes(50), "s": sizes(1)}, filled(0, 3)),
    (ARANGE, {"a": size(5), "b": size(0), "s": size(1)}, filled(0)),
    (ON_CUDA, {"x": np.zeros(6, np.float32), "s": sizes(1, 2)}, filled(2, 3)),
)


@pytest.mark.parametrize("options", [(), ("--evaluate",)], ids=["machine", "evaluated"])
@pytest.mark.parametrize(("program", "inputs", "expected"), VALID, ids=range(len(VALID)))
def test_tensors_without_elements_are_tensors(
    program: Text, inputs: Arrays, expected: Any, options: tuple[str, ...], tmp_path: Path
):
    status, _ = run(tmp_path, program, inputs, *options)
    assert status == 0
    with np.load(tmp_path / "out.npz") as outputs:
        (found,) = [outputs[name] for name in outputs.files]
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)
