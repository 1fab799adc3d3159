"""Functions computed by polynomials, compiled by the tools, against exact values."""

import ctypes
import subprocess
import sysconfig
from collections.abc import Callable
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.universe import Universe

from xrelay.lowering.expand_math import ExpandMathPass

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "erf": np.vectorize(erf, otypes=[np.float64]),
}
"""Each function with one that computes it in f64."""

LOOP = """
func.func @each_{name}(%x: memref<?xf32>, %y: memref<?xf32>) attributes {{llvm.emit_c_interface}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = memref.dim %x, %zero : memref<?xf32>
  scf.for %i = %zero to %size step %one {{
    %a = memref.load %x[%i] : memref<?xf32>
    %b = math.{name} %a : f32
    memref.store %b, %y[%i] : memref<?xf32>
  }}
  func.return
}}
"""

TO_LLVM = (
    "--pass-pipeline=builtin.module(convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-to-llvm,reconcile-unrealized-casts)"
)


def tool(package: str, name: str) -> str:
    return str(Path(sysconfig.get_path("purelib")) / package / "bin" / name)


class Memref(ctypes.Structure):
    _fields_ = [
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
        ("size", ctypes.c_int64),
        ("stride", ctypes.c_int64),
    ]


@pytest.fixture(scope="module", params=["x86-64", "native"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """The functions, compiled without and with the fused instructions of this machine."""
    context = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    module = Parser(context, "".join(LOOP.format(name=n) for n in FUNCTIONS)).parse_module()
    ExpandMathPass().apply(context, module)
    assert not any(op.name.startswith("math.") for op in module.walk())
    cpu = [] if request.param == "x86-64" else ["-mcpu=native"]
    path = tmp_path_factory.mktemp("library")
    text = str(module)
    for command in (
        [tool("mlir", "mlir-opt"), TO_LLVM],
        [tool("mlir", "mlir-translate"), "--mlir-to-llvmir"],
        [tool("llvm", "opt"), "-O2", "-S", *cpu],
        [tool("llvm", "llc"), "-O2", "-relocation-model=pic", *cpu],
    ):
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, timeout=60
        ).stdout
    (path / "library.s").write_text(text)
    subprocess.run(
        ["cc", "-shared", "-o", path / "library.so", path / "library.s"], check=True, timeout=60
    )
    return ctypes.CDLL(str(path / "library.so"))


def run(library: ctypes.CDLL, name: str, x: np.ndarray) -> np.ndarray:
    y = np.empty_like(x)
    given = [Memref(a.ctypes.data, a.ctypes.data, 0, a.size, 1) for a in (x, y)]
    getattr(library, f"_mlir_ciface_each_{name}")(*map(ctypes.byref, given))
    return y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_within_2_and_a_half_units_in_the_last_place(library: ctypes.CDLL, name: str):
    """Each exponent with both signs, subnormals included, with 600 mantissas."""
    mantissas = np.random.default_rng(0).integers(0, 1 << 23, 598, dtype=np.uint32)
    mantissas = np.append(mantissas, np.array([0, (1 << 23) - 1], np.uint32))
    tops = np.arange(1 << 9, dtype=np.uint32) << 23
    x = (tops[:, None] | mantissas).view(np.float32).ravel()
    dense = np.linspace(-110, 110, 200_001, dtype=np.float32)
    near = np.linspace(-5, 5, 200_001, dtype=np.float32)
    x = np.concatenate([x, dense, near])
    y = run(library, name, x)
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype(np.float64))
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(rounded))
    np.testing.assert_array_equal(np.isinf(y), np.isinf(rounded))
    inner = np.isfinite(rounded)
    np.testing.assert_array_equal(np.signbit(y[inner]), np.signbit(rounded[inner]))
    error = np.abs(y[inner] - exact[inner]) / np.spacing(np.abs(rounded[inner]))
    worst = int(error.argmax())
    assert error[worst] <= 2.5, (x[inner][worst], y[inner][worst], exact[inner][worst])
