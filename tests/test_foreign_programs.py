"""Programs of other tools, in `examples/foreign/`: plans no worse than first fit, equal results."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.memory.memref_programs import parse
from helpers.native.memrefs import bind
from passes.test_plan_memref import library
from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from xrelay.dialects.memrefs import as_memref
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.native.toolchain.stages import module_text
from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.passes.layout_slices import Strategy
from xrelay.passes.plan_memref import PlanMemrefPass

FILES = sorted((Path(__file__).parent.parent / "examples" / "foreign").glob("*.mlir"))
NAMES = [path.stem for path in FILES]


def planned(path: Path, strategy: Strategy = "auto") -> tuple[int, ModuleOp]:
    """Return the number of allocations of a program, and the program planned."""
    module = parse(path.read_text())
    count = len(allocations(module))
    PlanMemrefPass(strategy=strategy).apply(Context(), module)
    module.verify()
    return count, module


def allocations(module: ModuleOp) -> list[memref.AllocOp]:
    return [op for op in walk(module) if isinstance(op, memref.AllocOp)]


def arenas(module: ModuleOp) -> list[int]:
    """Return the bytes of the arenas of static size."""
    types = [as_memref(op.memref.type) for op in allocations(module)]
    return [t.get_shape()[0] for t in types if t is not None and str(t.element_type) == "i8"]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_mlir_opt_accepts_the_planned_program(path: Path):
    _, module = planned(path)
    command = [tool("mlir-opt"), "-o", "/dev/null"]
    subprocess.run(command, input=module_text(module), text=True, check=True, capture_output=True)


def test_nine_of_ten_allocations_are_planned():
    before = after = 0
    for path in FILES:
        count, module = planned(path)
        before += count
        after += len(allocations(module)) - len(arenas(module))
    assert before - after >= 0.9 * before


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_arenas_are_as_small_as_those_of_first_fit(path: Path):
    (_, best), (_, first) = planned(path), planned(path, "first-fit")
    for one, other in zip(arenas(best), arenas(first), strict=True):
        assert one <= other


CALLS = {
    "attention": ("memref<?x64xf32>", 4, [(5, 64), (7, 64), (7, 64), (5, 64), (5, 64)]),
    "main": ("memref<8x32xf32>", 3, [(8, 64), (128, 64), (32, 128), (8, 32)]),
}
"""Functions that return a memref: its type, the number of arguments, and shapes with that of it."""


def with_run(text: str, name: str) -> str:
    """Add a function to a module that calls `name`, and copies the result to its last argument."""
    result, count, shapes = CALLS[name]
    types = [f"memref<{'x'.join(map(str, shape))}xf32>" for shape in shapes[:count]]
    types = [result] * count if "?" in result else types
    args = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    passed = ", ".join(f"%a{i}" for i in range(count))
    return (
        text.rstrip()[:-1]
        + f"""
func.func @run({args}, %out: {result}) attributes {{llvm.emit_c_interface}} {{
  %r = func.call @{name}({passed}) : ({", ".join(types)}) -> {result}
  memref.copy %r, %out : {result} to {result}
  func.return
}}
}}"""
    )


@pytest.mark.ci
@pytest.mark.parametrize(("file", "name"), [("attention", "attention"), ("xrelay_layers", "main")])
def test_planned_programs_compute_the_same(file: str, name: str, tmp_path: Path):
    (path,) = (path for path in FILES if path.stem == file)
    command = [tool("mlir-opt"), "--convert-bufferization-to-memref"]
    text = subprocess.run(
        command, input=path.read_text(), capture_output=True, text=True, check=True
    ).stdout
    results: list[Any] = []
    for which in ("before", "after"):
        module, (_, _, shapes) = parse(text), CALLS[name]
        if which == "after":
            PlanMemrefPass().apply(Context(), module)
        rng = np.random.default_rng(0)
        values = [rng.standard_normal(shape, np.float32) for shape in shapes]
        bind(library(with_run(str(module), name), tmp_path, which), "run", values)()
        results.append(values[-1])
    assert np.array_equal(*results)
    assert np.isfinite(results[0]).all()


@pytest.mark.ci
def test_planned_stencil_computes_what_it_says(tmp_path: Path):
    """MLIR lowers allocations with offsets only where they are planned, so NumPy is compared."""
    (path,) = (path for path in FILES if path.stem == "xdsl_stencil")
    _, module = planned(path)
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    function.attributes["llvm.emit_c_interface"] = UnitAttr()
    x, out = np.random.default_rng(0).standard_normal((2, 72, 72))
    bind(library(str(module), tmp_path, "after"), "smooth", [x, out])()
    sums = np.roll(x, 1, 0) + np.roll(x, -1, 0)
    products = np.roll(sums, 1, 1) * np.roll(sums, -1, 1)
    expected = np.roll(products, (1, 1), (0, 1)) + np.roll(products, (-1, -1), (0, 1))
    assert np.array_equal(out[4:68, 4:68], expected[4:68, 4:68])
