"""Libraries made from modules at level `memref`, called from Python."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from helpers.native.built_libraries import build_library
from helpers.native.memrefs import bind
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelay.lowering.native.build.settings import Cache, Settings
from xrelay.lowering.native.build.units import units_of
from xrelay.lowering.native.toolchain.stage_files import SavedStages
from xrelay.lowering.native.toolchain.stages import KERNELS, Tuning, compile_text
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.runtime.errors import Error

PROGRAM = """
func.func @main(%x: memref<?x4xf32>, %w: memref<4x3xf32>, %y: memref<?x3xf32>)
    attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?x4xf32>
  %t = memref.alloc(%n) : memref<?x3xf32>
  func.call @product(%x, %w, %t) : (memref<?x4xf32>, memref<4x3xf32>, memref<?x3xf32>) -> ()
  func.call @twice(%t, %y) : (memref<?x3xf32>, memref<?x3xf32>) -> ()
  memref.dealloc %t : memref<?x3xf32>
  func.return
}
func.func private @product(%a: memref<?x4xf32>, %b: memref<4x3xf32>, %out: memref<?x3xf32>)
    attributes {xrelay.kernel} {
  %ta = bufferization.to_tensor %a restrict : memref<?x4xf32> to tensor<?x4xf32>
  %tb = bufferization.to_tensor %b restrict : memref<4x3xf32> to tensor<4x3xf32>
  %axis = arith.constant 0 : index
  %n = tensor.dim %ta, %axis : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %m = linalg.matmul ins(%ta, %tb : tensor<?x4xf32>, tensor<4x3xf32>)
      outs(%f : tensor<?x3xf32>) -> tensor<?x3xf32>
  bufferization.materialize_in_destination %m in restrict writable %out
      : (tensor<?x3xf32>, memref<?x3xf32>) -> ()
  func.return
}
func.func private @twice(%a: memref<?x3xf32>, %out: memref<?x3xf32>) attributes {xrelay.kernel} {
  %ta = bufferization.to_tensor %a restrict : memref<?x3xf32> to tensor<?x3xf32>
  %axis = arith.constant 0 : index
  %n = tensor.dim %ta, %axis : tensor<?x3xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %m = linalg.add ins(%ta, %ta : tensor<?x3xf32>, tensor<?x3xf32>)
      outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  bufferization.materialize_in_destination %m in restrict writable %out
      : (tensor<?x3xf32>, memref<?x3xf32>) -> ()
  func.return
}
"""


def parsed(text: str) -> ModuleOp:
    context = Context()
    for name, dialect in get_all_dialects().items():
        context.register_dialect(name, dialect)
    return Parser(context, text).parse_module()


@pytest.mark.ci
def test_a_program_calls_its_kernels(tmp_path: Path):
    settings = Settings(saved=SavedStages(tmp_path / "stages"), level=1)
    library = build_library(parsed(PROGRAM), tmp_path / "lib.so", settings)
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    w = np.arange(12, dtype=np.float32).reshape(4, 3)
    y = np.empty((5, 3), np.float32)
    bind(ctypes.CDLL(str(library)), "main", [x, w, y])()
    np.testing.assert_array_equal(y, 2 * (x @ w))
    names = {path.name for path in (tmp_path / "stages").iterdir()}
    assert {"program.0.mlir", "program.2.ll", "kernels_0.0.mlir", "kernels_0.4.o"} <= names


STRIDED = """
func.func @inside(%x: memref<3x4x5xi16>, %y: memref<5x6x7xi16>)
    attributes {llvm.emit_c_interface} {
  %from = memref.subview %x[1, 0, 0] [2, 4, 5] [1, 1, 1]
      : memref<3x4x5xi16> to memref<2x4x5xi16, strided<[20, 5, 1], offset: 20>>
  %to = memref.subview %y[1, 1, 1] [2, 4, 5] [2, 1, 1]
      : memref<5x6x7xi16> to memref<2x4x5xi16, strided<[84, 7, 1], offset: 50>>
  memref.copy %from, %to : memref<2x4x5xi16, strided<[20, 5, 1], offset: 20>>
      to memref<2x4x5xi16, strided<[84, 7, 1], offset: 50>>
  func.return
}
"""


def test_strided_copies_need_no_library_of_mlir(tmp_path: Path):
    library = build_library(STRIDED, tmp_path / "lib.so")
    x = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
    y = np.zeros((5, 6, 7), np.int16)
    bind(ctypes.CDLL(str(library)), "inside", [x, y])()
    expected = np.zeros_like(y)
    expected[1:5:2, 1:5, 1:6] = x[1:]
    np.testing.assert_array_equal(y, expected)


def test_code_for_another_architecture():
    made = compile_text(STRIDED, KERNELS, Settings(Machine("aarch64-unknown-linux-gnu")), "far")
    assert made[:6] == b"\x7fELF\x02\x01"
    assert int.from_bytes(made[18:20], "little") == 183  # EM_AARCH64


WEIGHTS = """
func.func @sums(%w: memref<4x8192x16xf32>, %y: memref<4x16xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(p, q, k) -> (p, k, q)>, affine_map<(p, q, k) -> (p, q)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%w : memref<4x8192x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  func.return
}
"""


@pytest.mark.parametrize("prefetches", [False, True])
def test_opt_prefetches_what_is_read_line_by_line(tmp_path: Path, prefetches: bool):
    settings = Settings(saved=SavedStages(tmp_path), level=1)
    compile_text(WEIGHTS, KERNELS, settings, "sums", Tuning(prefetches))
    assert ("call void @llvm.prefetch" in (tmp_path / "sums.3.opt.ll").read_text()) is prefetches


@pytest.mark.parametrize("cpu", ["x86-64-v3", "x86-64-v4"])
def test_addresses_of_open_dims_stay_as_written_where_registers_suffice(cpu: str):
    kernels = units_of(parsed(PROGRAM), Settings(Machine(cpu=cpu))).kernels
    assert {kernel.tuning.is_written for kernel in kernels} == {cpu == "x86-64-v4"}
    static = parsed(PROGRAM.replace("?", "5"))
    assert not any(
        k.tuning.is_written for k in units_of(static, Settings(Machine(cpu=cpu))).kernels
    )


def test_errors_name_the_users_line():
    text = 'func.func @f() -> f32 { "func.return"() : () -> () loc("model.relay":7:3) }'
    with pytest.raises(Error) as raised:
        compile_text(text, KERNELS, Settings(), "bad")
    assert raised.value.location == ("model.relay", 7, 3)
    assert raised.value.message.startswith("mlir-opt: 'func.return' op has 0 operands")


def test_errors_without_a_line_quote_the_text():
    with pytest.raises(Error) as raised:
        compile_text("func.func @f() {\n  nobody.knows\n}", KERNELS, Settings(), "bad")
    assert raised.value.location is None
    assert [note.message for note in raised.value.notes] == ["in: nobody.knows"]


def test_a_c_compiler_that_fails_is_named(tmp_path: Path):
    settings = Settings(compiler="false -v", cache=Cache(tmp_path / "cache"))
    with pytest.raises(Error, match="the C compiler 'false -v' failed with exit status 1"):
        build_library(ModuleOp([]), tmp_path / "libempty.so", settings)
