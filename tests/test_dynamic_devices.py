"""Dynamic programs on several devices: in the machine, evaluated, and by NumPy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from xrelay.tools.run.run import main


class Program(NamedTuple):
    """A program, and what it computes from its inputs."""

    text: str
    expected: Callable[..., Any]
    inputs: tuple[dict[str, Any], ...]


def vector(*elements: float) -> Any:
    return np.array(elements, np.float32)


def flag(value: bool) -> Any:
    return np.array(value)


def size(value: int) -> Any:
    return np.array(value, np.int64)


def size_of_other(x: Any) -> Any:
    return np.float32((np.count_nonzero(x) + 1) * 2)


def negative(x: Any) -> Any:
    return -x


def joined(x: Any, n: Any) -> Any:
    return -np.concatenate((np.arange(n, dtype=np.float32), x))


def views(c: Any, x: Any, s: Any) -> Any:
    return -(x.reshape(s) if c else x.reshape(2, -1))


def branches(c: Any, x: Any, y: Any) -> Any:
    return np.exp(np.ones((np.count_nonzero(x if c else y), 1), np.float32))


def recursion(n: Any, x: Any) -> Any:
    for count in range(int(n), 0, -1):
        x = np.flatnonzero(np.concatenate((x, np.arange(count)))).astype(np.float32)
    return x


PROGRAMS = {
    "sizes from a branch whose arms are on different devices": Program(
        """\
func.func @main(%c: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<?x1xi32>) {
    %0 = relay.on_device %x, #relay.device<cuda:0> : (tensor<?xf32>) -> tensor<?xf32>
    %1 = relay.argwhere %0 : (tensor<?xf32>) -> tensor<?x1xi32>
    relay.yield %1 : tensor<?x1xi32>
  } else {
    %0 = relay.on_device %y, #relay.device<cpu:0> : (tensor<?xf32>) -> tensor<?xf32>
    %1 = relay.argwhere %0 : (tensor<?xf32>) -> tensor<?x1xi32>
    relay.yield %1 : tensor<?x1xi32>
  }
  %s = relay.shape_of %r {dtype = i64} : (tensor<?x1xi32>) -> tensor<2xi64>
  %o = relay.dyn.ones %s {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  %h = relay.on_device %o, #relay.device<cuda:0> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = relay.exp %h : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %e : tensor<?x?xf32>
}
""",
        branches,
        (
            {"c": flag(True), "x": vector(0, 1, 2), "y": vector(0)},
            {"c": flag(False), "x": vector(0, 1, 2), "y": vector(0)},
        ),
    ),
    "a size that one device's data has, for a tensor of another": Program(
        """\
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %g = relay.on_device %x, #relay.device<cuda:0> : (tensor<?xf32>) -> tensor<?xf32>
  %w = relay.argwhere %g : (tensor<?xf32>) -> tensor<?x1xi32>
  %s = relay.shape_of %w {dtype = i64} : (tensor<?x1xi32>) -> tensor<2xi64>
  %c = relay.constant dense<1> : tensor<2xi64>
  %t = relay.add %s, %c : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %o = relay.dyn.ones %t {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  %h = relay.on_device %o, #relay.device<cuda:1> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = relay.sum %h : (tensor<?x?xf32>) -> tensor<f32>
  func.return %e : tensor<f32>
}
""",
        size_of_other,
        ({"x": vector(0, 3, 0, 1)}, {"x": vector()}),
    ),
    "copies of dynamic tensors, there and back": Program(
        """\
#cpu = #relay.device<cpu:0>
#cuda = #relay.device<cuda:0>
func.func @main(%x: tensor<?x2xf32, #cpu>) -> tensor<?x2xf32, #cpu> {
  %0 = relay.device_copy %x : tensor<?x2xf32, #cpu> to tensor<?x2xf32, #cuda>
  %1 = relay.negative %0 : (tensor<?x2xf32, #cuda>) -> tensor<?x2xf32, #cuda>
  %2 = relay.device_copy %1 : tensor<?x2xf32, #cuda> to tensor<?x2xf32, #cpu>
  func.return %2 : tensor<?x2xf32, #cpu>
}
""",
        negative,
        ({"x": np.arange(6, dtype=np.float32).reshape(3, 2)}, {"x": np.ones((0, 2), np.float32)}),
    ),
    "a recursion whose tensors grow on another device": Program(
        """\
func.func @main(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = func.call @loop(%n, %x) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32>
  func.return %r : tensor<?xf32>
}
func.func private @loop(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %z = relay.constant dense<0> : tensor<i64>
  %o = relay.constant dense<1> : tensor<i64>
  %c = relay.greater %n, %z : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = relay.if %c : tensor<i1> -> (tensor<?xf32>) {
    %m = relay.subtract %n, %o : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %a = relay.arange %z, %n, %o {dtype = i64}
      : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    %k = relay.cast %a {dtype = f32} : (tensor<?xi64>) -> tensor<?xf32>
    %g = relay.on_device %k, #relay.device<cuda:0> : (tensor<?xf32>) -> tensor<?xf32>
    %y = relay.concatenate %x, %g {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %w = relay.argwhere %y : (tensor<?xf32>) -> tensor<?x1xi32>
    %v = relay.squeeze %w {axis = array<i64: 1>} : (tensor<?x1xi32>) -> tensor<?xi32>
    %e = relay.cast %v {dtype = f32} : (tensor<?xi32>) -> tensor<?xf32>
    %q = func.call @loop(%m, %e) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %q : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}
""",
        recursion,
        ({"n": size(4), "x": vector(0, 1, 2, 0)}, {"n": size(0), "x": vector()}),
    ),
    "a closure that makes and joins tensors of sizes it is given": Program(
        """\
func.func @main(%x: tensor<?xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  %a = relay.constant dense<0> : tensor<i64>
  %b = relay.constant dense<1> : tensor<i64>
  %f = relay.fn (%m: tensor<i64>) -> tensor<?xf32> {
    %r = relay.arange %a, %m, %b {dtype = i64}
      : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    %k = relay.cast %r {dtype = f32} : (tensor<?xi64>) -> tensor<?xf32>
    %g = relay.on_device %k, #relay.device<cuda:0> : (tensor<?xf32>) -> tensor<?xf32>
    %c = relay.concatenate %g, %x {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %c : tensor<?xf32>
  }
  %1 = relay.call %f(%n) : (tensor<i64>) -> tensor<?xf32>
  %d = relay.on_device %1, #relay.device<cuda:0> : (tensor<?xf32>) -> tensor<?xf32>
  %2 = relay.negative %d : (tensor<?xf32>) -> tensor<?xf32>
  func.return %2 : tensor<?xf32>
}
""",
        joined,
        ({"x": vector(5, 6), "n": size(3)}, {"x": vector(), "n": size(0)}),
    ),
    "views of different shapes from a branch": Program(
        """\
func.func @main(%c: tensor<i1>, %x: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %r = relay.if %c : tensor<i1> -> (tensor<?x?xf32>) {
    %0 = relay.dyn.reshape %x, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    relay.yield %0 : tensor<?x?xf32>
  } else {
    %1 = relay.reshape %x {newshape = array<i64: 2, -1>} : (tensor<?x4xf32>) -> tensor<?x?xf32>
    relay.yield %1 : tensor<?x?xf32>
  }
  %g = relay.on_device %r, #relay.device<cuda:0> : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = relay.shape_of %g {dtype = i64} : (tensor<?x?xf32>) -> tensor<2xi64>
  %t = relay.dyn.reshape %g, %z : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %e = relay.negative %t : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %e : tensor<?x?xf32>
}
""",
        views,
        tuple(
            {
                "c": flag(c),
                "x": np.arange(12, dtype=np.float32).reshape(3, 4),
                "s": np.array([-1, 3]),
            }
            for c in (True, False)
        ),
    ),
}


@pytest.mark.parametrize("options", [("--poison",), ("--evaluate",)], ids=["machine", "evaluated"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_dynamic_programs_on_several_devices(
    program: Program, options: tuple[str, ...], tmp_path: Path
):
    file = tmp_path / "in.mlir"
    file.write_text(program.text)
    for inputs in program.inputs:
        np.savez(tmp_path / "in.npz", **inputs)
        files = ["--inputs", str(tmp_path / "in.npz"), "--outputs", str(tmp_path / "out.npz")]
        assert main([str(file), *files, *options]) == 0
        with np.load(tmp_path / "out.npz") as outputs:
            (found,) = [outputs[name] for name in outputs.files]
        expected = program.expected(**inputs)
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
