"""Kernels need no memory besides that of their operands and results, which the plan has."""

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.programs.programs import parse
from numpy.lib.stride_tricks import sliding_window_view

import xrelay
from xrelay.lowering.native.build.build_files import (
    Request,
    compile_module,
    library_of,
    make_product,
)
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.runtime.program.program import Array

X, Y = np.random.default_rng(0).standard_normal((2, 1, 8, 24, 32)).astype(np.float32)
X4, S = "tensor<1x8x24x32xf32>", "tensor<32xf32>"


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def near_squares(x: Array) -> Array:
    """Return the sum of the squares of the channel before each, itself, and two after it."""
    squares = np.pad(x * x, ((0, 0), (0, 0), (0, 0), (1, 2)))
    return sliding_window_view(squares, 4, -1).sum(-1)


def shuffled(x: Array) -> Array:
    groups = x.reshape(1, 8, 24, 2, 16).transpose(0, 1, 2, 4, 3).reshape(1, 8, 24, 32)
    return np.pad(groups, ((0, 0), (1, 1), (1, 0), (0, 0)))


PROGRAMS: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "joined": (
        f"""%c = relay.concatenate %x, %y {{axis = 3}}
          : ({X4}, {X4}) -> tensor<1x8x24x64xf32>
        %r = relay.nn.relu %c : (tensor<1x8x24x64xf32>) -> tensor<1x8x24x64xf32>""",
        lambda x, y: np.maximum(np.concatenate([x, y], 3), 0),
    ),
    "softmax": (
        f"%r = relay.nn.softmax %x {{axis = -1}} : ({X4}) -> {X4}",
        lambda x, y: softmax(x),
    ),
    "padded": (
        f"""%z = relay.constant dense<0.0> : tensor<f32>
        %t = relay.transpose %x {{axes = array<i64: 0, 2, 3, 1>}} : ({X4}) -> tensor<1x24x32x8xf32>
        %r = relay.nn.pad %t, %z {{pad_width = array<i64: 0, 0, 1, 2, 0, 1, 0, 0>}}
          : (tensor<1x24x32x8xf32>, tensor<f32>) -> tensor<1x27x33x8xf32>""",
        lambda x, y: np.pad(x.transpose(0, 2, 3, 1), ((0, 0), (1, 2), (0, 1), (0, 0))),
    ),
    "joined_and_padded": (
        f"""%z = relay.constant dense<0.0> : tensor<f32>
        %c = relay.concatenate %x, %y {{axis = 3}}
          : ({X4}, {X4}) -> tensor<1x8x24x64xf32>
        %r = relay.nn.pad %c, %z {{pad_width = array<i64: 0, 0, 1, 2, 0, 1, 0, 0>}}
          : (tensor<1x8x24x64xf32>, tensor<f32>) -> tensor<1x11x25x64xf32>""",
        lambda x, y: np.pad(np.concatenate([x, y], 3), ((0, 0), (1, 2), (0, 1), (0, 0))),
    ),
    "responses": (
        f"%r = relay.nn.lrn %x {{axis = 3, size = 4, alpha = 2.0, bias = 1.0}} : ({X4}) -> {X4}",
        lambda x, y: x / (1 + 0.5 * near_squares(x)) ** 0.75,
    ),
    "shuffled": (
        f"""%z = relay.constant dense<0.0> : tensor<f32>
        %g = relay.reshape %x {{newshape = array<i64: 1, 8, 24, 2, 16>}}
          : ({X4}) -> tensor<1x8x24x2x16xf32>
        %t = relay.transpose %g {{axes = array<i64: 0, 1, 2, 4, 3>}}
          : (tensor<1x8x24x2x16xf32>) -> tensor<1x8x24x16x2xf32>
        %s = relay.reshape %t {{newshape = array<i64: 1, 8, 24, 32>}}
          : (tensor<1x8x24x16x2xf32>) -> {X4}
        %r = relay.nn.pad %s, %z {{pad_width = array<i64: 0, 0, 1, 1, 1, 0, 0, 0>}}
          : ({X4}, tensor<f32>) -> tensor<1x10x25x32xf32>""",
        lambda x, y: shuffled(x),
    ),
    "split": (
        f"""%b = relay.constant dense<0.5> : tensor<32xf32>
        %a = relay.add %x, %b : ({X4}, {S}) -> {X4}
        %g = relay.reshape %a {{newshape = array<i64: 1, 8, 24, 4, 8>}}
          : ({X4}) -> tensor<1x8x24x4x8xf32>
        %r = relay.transpose %g {{axes = array<i64: 0, 1, 3, 2, 4>}}
          : (tensor<1x8x24x4x8xf32>) -> tensor<1x8x4x24x8xf32>""",
        lambda x, y: (x + 0.5).reshape(1, 8, 24, 4, 8).transpose(0, 1, 3, 2, 4),
    ),
    "shared": (
        f"""%a = relay.add %x, %y : ({X4}, {X4}) -> {X4}
        %e = relay.exp %a : ({X4}) -> {X4}
        %r = relay.multiply %a, %e : ({X4}, {X4}) -> {X4}""",
        lambda x, y: (x + y) * np.exp(x + y),
    ),
    "squares": (
        f"""%a = relay.multiply %x, %x : ({X4}, {X4}) -> {X4}
        %r = relay.sum %a {{axis = array<i64: 2>}} : ({X4}) -> tensor<1x8x32xf32>""",
        lambda x, y: (x * x).sum(2),
    ),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library with a function for each program, none of whose kernels needs scratch."""
    functions: list[str] = []
    for name, (text, expected) in PROGRAMS.items():
        type = f"tensor<{'x'.join(map(str, expected(X, Y).shape))}xf32>"
        head = f"func.func @{name}(%x: {X4}, %y: {X4}) -> {type}"
        functions.append(f"{head} {{\n{text}\nfunc.return %r : {type}\n}}")
    module = parse("\n".join(functions))
    run_passes(module, "aot,kernels{cpu=native}")
    library = library_of(module)
    settings = Settings(machine=Machine(cpu="native"))
    request = Request("library", "kernels", "libkernels.so")
    compiled = partial(compile_module, module, settings)
    product = make_product(compiled, library, lambda name: X, request, settings)
    path = tmp_path_factory.mktemp("destinations") / request.file
    path.write_bytes(product.contents)
    code = ctypes.CDLL(str(path))
    for entry in library.entries:
        size = code[f"{entry.symbol}_workspace_size"]
        size.restype = ctypes.c_int64
        assert size() == entry.workspace
    return path


def test_kernels_write_into_results(compiled: Path):
    run = xrelay.load(compiled)
    for name, (_, expected) in PROGRAMS.items():
        np.testing.assert_allclose(
            np.asarray(getattr(run, name)(X, Y)), expected(X, Y), rtol=1e-4, atol=1e-5, err_msg=name
        )
