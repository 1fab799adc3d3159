"""Programs of other tools, in `examples/foreign/`, are planned no worse than by first fit."""

import subprocess
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.memrefs import as_memref
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.native.toolchain.stages import module_text
from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.passes.layout_slices import Strategy
from xrelay.passes.plan_memref import PlanMemrefPass
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.resources import with_own_resources

FILES = sorted((Path(__file__).parent.parent / "examples" / "foreign").glob("*.mlir"))
NAMES = [path.stem for path in FILES]


def planned(path: Path, strategy: Strategy = "auto") -> tuple[int, ModuleOp]:
    """Return the number of allocations of a program, and the program planned."""
    ctx = Context()
    for name, factory in UNIVERSE.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, with_own_resources(factory))
    module = LocatingParser(ctx, path.read_text(), path.name, 0).parse_module()
    count = len(allocations(module))
    PlanMemrefPass(strategy).apply(ctx, module)
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
