"""Machine code reads slices where their tensor is, and computes parts of joins where these are."""

from pathlib import Path

import numpy as np
import pytest

import xrelay

IMAGE, ROWS, WIDE, NARROW = "1x12x9x17xf32", "1x10x9x17xf32", "1x8x7x33xf32", "1x8x7x17xf32"

CONV = 'data_layout = "NHWC", kernel_layout = "HWIO"'

PROGRAM = f"""
func.func @main(%x: tensor<{IMAGE}>, %m: tensor<12x17xf32>)
    -> (tensor<1x14x5x33xf32>, tensor<1x14x5x17xf32>, tensor<20x24xf32>, tensor<10x24xf32>,
        tensor<1x1x1x17xf32>, tensor<1x1x1x17xf32>, tensor<12x24xf32>) {{
  %w = relay.param "w" : tensor<3x3x17x33xf32>
  %d = relay.param "d" : tensor<3x3x1x17xf32>
  %p = relay.param "p" : tensor<24x17xf32>
  %a = relay.nn.softmax %x : (tensor<{IMAGE}>) -> tensor<{IMAGE}>
  %s = relay.strided_slice %a {{begin = array<i64: 1>, end = array<i64: 11>, axes = array<i64: 1>}}
    : (tensor<{IMAGE}>) -> tensor<{ROWS}>
  %b = relay.nn.conv2d %s, %w {{{CONV}}}
    : (tensor<{ROWS}>, tensor<3x3x17x33xf32>) -> tensor<{WIDE}>
  %c = relay.nn.softmax %b : (tensor<{WIDE}>) -> tensor<{WIDE}>
  %e = relay.concatenate %c, %b {{axis = 1}}
    : (tensor<{WIDE}>, tensor<{WIDE}>) -> tensor<1x16x7x33xf32>
  %e2 = relay.nn.max_pool2d %e {{layout = "NHWC", pool_size = array<i64: 3, 3>}}
    : (tensor<1x16x7x33xf32>) -> tensor<1x14x5x33xf32>
  %f = relay.nn.conv2d %s, %d {{{CONV}, groups = 17}}
    : (tensor<{ROWS}>, tensor<3x3x1x17xf32>) -> tensor<{NARROW}>
  %g = relay.nn.max_pool2d %s {{layout = "NHWC", pool_size = array<i64: 3, 3>}}
    : (tensor<{ROWS}>) -> tensor<{NARROW}>
  %h = relay.concatenate %g, %f {{axis = 1}}
    : (tensor<{NARROW}>, tensor<{NARROW}>) -> tensor<1x16x7x17xf32>
  %h2 = relay.nn.conv2d %h, %d {{{CONV}, groups = 17}}
    : (tensor<1x16x7x17xf32>, tensor<3x3x1x17xf32>) -> tensor<1x14x5x17xf32>
  %i = relay.nn.global_avg_pool2d %s {{layout = "NHWC"}}
    : (tensor<{ROWS}>) -> tensor<1x1x1x17xf32>
  %i2 = relay.nn.global_avg_pool2d %a {{layout = "NHWC"}}
    : (tensor<{IMAGE}>) -> tensor<1x1x1x17xf32>
  %n = relay.nn.softmax %m : (tensor<12x17xf32>) -> tensor<12x17xf32>
  %t = relay.strided_slice %n {{begin = array<i64: 1>, end = array<i64: 11>, axes = array<i64: 0>}}
    : (tensor<12x17xf32>) -> tensor<10x17xf32>
  %j = relay.nn.dense %t, %p : (tensor<10x17xf32>, tensor<24x17xf32>) -> tensor<10x24xf32>
  %k = relay.nn.softmax %t : (tensor<10x17xf32>) -> tensor<10x17xf32>
  %o = relay.nn.softmax %k : (tensor<10x17xf32>) -> tensor<10x17xf32>
  %l = relay.concatenate %o, %k {{axis = 0}}
    : (tensor<10x17xf32>, tensor<10x17xf32>) -> tensor<20x17xf32>
  %l2 = relay.nn.dense %l, %p : (tensor<20x17xf32>, tensor<24x17xf32>) -> tensor<20x24xf32>
  %n2 = relay.nn.dense %n, %p : (tensor<12x17xf32>, tensor<24x17xf32>) -> tensor<12x24xf32>
  func.return %e2, %h2, %l2, %j, %i, %i2, %n2 : tensor<1x14x5x33xf32>, tensor<1x14x5x17xf32>,
    tensor<20x24xf32>, tensor<10x24xf32>, tensor<1x1x1x17xf32>, tensor<1x1x1x17xf32>,
    tensor<12x24xf32>
}}
"""


@pytest.mark.parametrize("target", ["native", "native{cpu=native}"])
def test_rows_at_any_multiple_of_their_elements(tmp_path: Path, target: str):
    """A row of 17 numbers is neither a vector nor a multiple of one."""
    path, rng = tmp_path / "rows.mlir", np.random.default_rng(0)
    path.write_text(PROGRAM)
    shapes = {"w": (3, 3, 17, 33), "d": (3, 3, 1, 17), "p": (24, 17)}
    params = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    args = [rng.standard_normal(dims, np.float32) for dims in ((1, 12, 9, 17), (12, 17))]
    program = str(xrelay.run_pipeline(xrelay.parse(path), "aot"))
    assert "%s = memref.view %workspace" in program, "a slice is a view"
    assert "concatenate" not in program
    wanted = xrelay.compile(path, params=params)(*args)
    found = xrelay.compile(path, params=params, target=target)(*args)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
