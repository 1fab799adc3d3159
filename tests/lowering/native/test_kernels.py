"""Kernels: compiled many to a module, with schedules that may fail, and cached."""

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.native.built_libraries import build_library
from helpers.native.memrefs import bind
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.parser import Parser

from xrelay.lowering.native.build import kernel_objects as compilation
from xrelay.lowering.native.build.kernel_objects import compile_kernels
from xrelay.lowering.native.build.settings import Cache, Settings
from xrelay.lowering.native.build.units import units_of
from xrelay.lowering.native.kernel_pass import kernels_of
from xrelay.lowering.native.schedules.scheduling import SCHEDULE, Schedule
from xrelay.lowering.native.toolchain.stage_files import SavedStages
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.runtime.errors import Error


def kernel(name: str, op: str, size: int) -> str:
    memref, tensor = f"memref<{size}xf32>", f"tensor<{size}xf32>"
    return f"""
func.func private @{name}(%a: {memref}, %out: {memref}) attributes {{xrelay.kernel}} {{
  %ta = bufferization.to_tensor %a restrict : {memref} to {tensor}
  %e = tensor.empty() : {tensor}
  %m = linalg.{op} ins(%ta, %ta : {tensor}, {tensor}) outs(%e : {tensor}) -> {tensor}
  bufferization.materialize_in_destination %m in restrict writable %out : ({tensor}, {memref}) -> ()
  func.return
}}"""


def program(*names: str, size: int = 4) -> str:
    """A function that runs kernels one after the other, each on the result of the last."""
    memref = f"memref<{size}xf32>"
    buffers = ["%x", *(f"%t{i}" for i in range(len(names) - 1)), "%y"]
    lines = [f"  {b} = memref.alloc() : {memref}" for b in buffers[1:-1]]
    for name, a, b in zip(names, buffers, buffers[1:], strict=False):
        lines.append(f"  func.call @{name}({a}, {b}) : ({memref}, {memref}) -> ()")
    lines += [f"  memref.dealloc {b} : {memref}" for b in buffers[1:-1]]
    body = "\n".join(lines)
    return (
        f"func.func @main(%x: {memref}, %y: {memref}) attributes {{llvm.emit_c_interface}} {{\n"
        f"{body}\n  func.return\n}}"
    )


def parsed(*texts: str):
    context = Context()
    for name, dialect in get_all_dialects().items():
        context.register_dialect(name, dialect)
    return Parser(context, "\n".join(texts), "model.mlir").parse_module()


def with_schedule(module: ModuleOp, word: str, *steps: str) -> ModuleOp:
    """Return a copy of `module` in which kernels with `word` have a schedule of `steps`."""
    module = module.clone()
    texts = {"kind": "transform", **dict(zip(Schedule._fields, steps, strict=False))}
    schedule = DictionaryAttr({name: StringAttr(text) for name, text in texts.items()})
    for kernel in kernels_of(module):
        if word in str(kernel):
            kernel.attributes[SCHEDULE] = ArrayAttr([schedule])
    return module


def result(library: Path, x: list[float]) -> list[float]:
    given = np.array(x, np.float32)
    y = np.empty_like(given)
    bind(ctypes.CDLL(str(library)), "main", [given, y])()
    return y.tolist()


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The kernels of each module that is compiled from now on."""
    found: list[list[str]] = []
    compile_text = compilation.compile_text

    def counted(text: str, *args: object, **kwargs: object):
        found.append(re.findall(r'xrelay.name = "(\w+)"', text))
        return compile_text(text, *args, **kwargs)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(compilation, "compile_text", counted)
    return found


def test_equal_kernels_have_one_symbol():
    module = parsed(kernel("a", "add", 4), kernel("b", "add", 4), kernel("c", "mul", 4))
    a, b, c = (kernel.symbol for kernel in units_of(module).kernels)
    assert a == b != c


def test_kernels_that_are_compiled_differently_have_symbols_of_their_own():
    module = parsed(kernel("a", "add", 64))
    tiled, longer = (with_schedule(module, "", *steps) for steps in ([TILE], [TILE, TILE]))
    compilations = [
        (module, Settings()),
        (module, Settings(level=2)),
        (module, Settings(Machine(cpu="native"))),
        (module, Settings(Machine("aarch64-unknown-linux-gnu"))),
        (tiled, Settings()),
        (longer, Settings()),
    ]
    symbols = {units_of(*each).kernels[0].symbol for each in compilations}
    assert len(symbols) == len(compilations)


SUM = """
func.func private @sum(%a: memref<2x2xf32>, %out: memref<f32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %a restrict : memref<2x2xf32> to tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]
    } ins(%x : tensor<2x2xf32>) outs(%start : tensor<f32>) {
  ^bb0(%one: f32, %before: f32):
    %after = arith.addf %before, %one : f32
    linalg.yield %after : f32
  } -> tensor<f32>
  bufferization.materialize_in_destination %sum in restrict writable %out
      : (tensor<f32>, memref<f32>) -> ()
  func.return
}"""

SUM_AND_TWICE = """
func.func @main(%x: memref<2x2xf32>, %sum: memref<f32>, %a: memref<4xf32>, %b: memref<4xf32>)
    attributes {llvm.emit_c_interface} {
  func.call @sum(%x, %sum) : (memref<2x2xf32>, memref<f32>) -> ()
  func.call @twice(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}"""

BY_COLUMNS = """
  %sum = transform.structured.match ops{["linalg.generic"]} in %kernel
      : (!transform.any_op) -> !transform.any_op
  transform.structured.interchange %sum iterator_interchange = [1, 0]
      : (!transform.any_op) -> !transform.any_op
"""


def test_a_schedule_that_changed_is_used_next_to_kernels_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The cache has `@twice` in an object that also holds `@sum` with its earlier schedule."""

    def one_processor(process: int) -> set[int]:
        return {0}

    monkeypatch.setattr("os.sched_getaffinity", one_processor)  # so that both are in one object
    module = parsed(SUM_AND_TWICE, SUM, kernel("twice", "add", 4))
    x = np.array([[1e8, 1], [-1e8, 1]], np.float32)  # the order of the sum is seen in the result
    sum, a, b = np.empty((), np.float32), np.ones(4, np.float32), np.empty(4, np.float32)

    def total(name: str, by_columns: bool) -> float:
        scheduled = with_schedule(module, "", "")
        if by_columns:
            scheduled = with_schedule(scheduled, "addf", BY_COLUMNS)
        settings = Settings(cache=Cache(tmp_path / "cache"))
        library = build_library(scheduled, tmp_path / name, settings)
        bind(ctypes.CDLL(str(library)), "main", [x, sum, a, b])()
        assert b.tolist() == [2] * 4
        return float(sum)

    assert [total("rows.so", False), total("columns.so", True)] == [1, 2]
    assert [total("rows_again.so", False), total("columns_again.so", True)] == [1, 2]


@pytest.mark.ci
def test_kernels_are_compiled_once(tmp_path: Path, modules: list[list[str]]):
    settings = Settings(cache=Cache(tmp_path / "cache"))
    twice, square, none = kernel("twice", "add", 4), kernel("square", "mul", 4), "zero"
    first = parsed(program("twice", "square"), twice, square)
    library = build_library(first, tmp_path / "first.so", settings)
    assert result(library, [1, 2, 3, 4]) == [4, 16, 36, 64]
    assert sorted(name for module in modules for name in module) == ["square", "twice"]

    modules.clear()
    zero = kernel(none, "sub", 4)
    second = parsed(program("square", none, "twice"), square, twice, zero)
    library = build_library(second, tmp_path / "second.so", settings)
    assert result(library, [1, 2, 3, 4]) == [0, 0, 0, 0]
    assert modules == [[none]]


def test_a_damaged_entry_is_compiled_again(tmp_path: Path, modules: list[list[str]]):
    settings = Settings(cache=Cache(tmp_path / "cache"))
    module = parsed(program("twice"), kernel("twice", "add", 4))
    build_library(module, tmp_path / "first.so", settings)
    for entry in (tmp_path / "cache").iterdir():
        data = bytearray(entry.read_bytes())
        data[-1] ^= 1
        entry.write_bytes(data)
    modules.clear()
    library = build_library(module, tmp_path / "second.so", settings)
    assert result(library, [1, 2, 3, 4]) == [2, 4, 6, 8]
    assert modules == [["twice"]]


def test_a_cache_that_others_can_write_is_refused(tmp_path: Path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    settings = Settings(cache=Cache(tmp_path / "cache"))
    with pytest.raises(Error, match="can be written by other users; choose another with cache="):
        build_library(parsed(program("f"), kernel("f", "add", 4)), tmp_path / "lib.so", settings)


def test_the_cache_is_limited(tmp_path: Path):
    cache = Cache(tmp_path, limit=4000)
    for number in range(10):
        cache.put(f"key{number}", bytes(1000))
    cache.trim()
    assert 0 < sum(path.stat().st_size for path in tmp_path.iterdir()) <= 4000


TILE = """
  %add = transform.structured.match ops{["linalg.add"]} in %kernel
      : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %add tile_sizes [16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
"""


@pytest.mark.ci
def test_schedules_are_applied_each_to_its_kernel(tmp_path: Path):
    settings = Settings(saved=SavedStages(tmp_path / "stages"))
    texts = (kernel("twice", "add", 64), kernel("square", "mul", 64))
    module = parsed(program("twice", "square", size=64), *texts)
    module = with_schedule(module, "linalg.add", TILE)
    library = build_library(module, tmp_path / "lib.so", settings)
    assert result(library, [3] * 64) == [36] * 64
    files = {path.name: path.read_text() for path in (tmp_path / "stages").glob("*.mlir")}
    (text,) = (text for name, text in files.items() if "schedules" in name)
    (symbol,) = (k.symbol for k in units_of(module, settings).kernels if k.name == "twice")
    assert f"@on_tensors_{symbol}" in text
    scheduled = "".join(text for name, text in files.items() if name.endswith("llvm.mlir"))
    assert "llvm.mlir.constant(16 : index)" in scheduled


WRONG = "transform.structured.match ops{} in %nothing : (!transform.any_op) -> !transform.any_op"


def test_a_schedule_that_fails_is_left_out(tmp_path: Path):
    said: list[str] = []

    def remark(op: Operation, message: str) -> None:
        said.append(message)

    cache, stages = Cache(tmp_path / "cache"), tmp_path / "stages"
    settings = Settings(remark=remark, cache=cache)
    texts = (kernel("twice", "add", 64), kernel("square", "mul", 64))
    module = parsed(program("twice", "square", size=64), *texts)
    module = with_schedule(with_schedule(module, "", TILE), "linalg.mul", WRONG)
    library = build_library(module, tmp_path / "lib.so", settings)
    assert result(library, [3] * 64) == [36] * 64
    saved = replace(settings, saved=SavedStages(stages))
    library = build_library(module, tmp_path / "again.so", saved)
    assert result(library, [3] * 64) == [36] * 64
    assert not [*stages.glob("kernels*")], "the kernel without its schedule is in the cache"
    first, message = said
    assert first == message
    assert message.startswith("kernel 'square' is compiled without its schedule: mlir-opt")


def test_a_schedule_that_takes_too_long_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said: list[str] = []

    def remark(op: Operation, message: str) -> None:
        said.append(message)

    settings = Settings(remark=remark, cache=Cache(tmp_path / "cache"))
    module = with_schedule(parsed(kernel("twice", "add", 64)), "", TILE)
    units = units_of(module, settings)
    slow = _slow_tool(tmp_path, "mlir-opt", "transform-interpreter")
    monkeypatch.setattr("xrelay.lowering.native.toolchain.stages.tool", slow)
    objects = compile_kernels(units.kernels, replace(settings, seconds=2.0))
    assert len(objects) == 1
    assert units.kernels[0].symbol.encode() in objects[0]
    assert said == [
        "kernel 'twice' is compiled without its schedule: mlir-opt did not finish within 2 seconds"
    ]


def _slow_tool(folder: Path, name: str, word: str) -> Callable[[str], str]:
    """Replace the tool `name` by one that sleeps if `word` is in its arguments."""
    path = folder / name
    path.write_text(
        f'#!/bin/sh\ncase "$*" in *{word}*) sleep 60;; esac\nexec "{tool(name)}" "$@"\n'
    )
    path.chmod(0o755)

    def found(asked: str) -> str:
        return str(path) if asked == name else tool(asked)

    return found


def test_a_kernel_that_does_not_compile_is_named():
    text = kernel("bad", "add", 4).replace("%a restrict :", "%a :")
    module = parsed(text.rstrip() + ' loc("model.relay":3:1)')
    with pytest.raises(Error, match="kernel 'bad': mlir-opt: ") as raised:
        compile_kernels(units_of(module).kernels, Settings())
    assert raised.value.location == ("model.relay", 3, 1)
