"""
Programs on memrefs compute the same after `plan-memref`, with bytes overwritten at birth and death.

`XRELAY_RANDOM_PROGRAMS=1000 pytest -s …` tries that many other programs and prints counts.
"""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.memory.memref_programs import PRELUDE, parse, program
from helpers.native.built_libraries import STANDALONE
from helpers.native.memrefs import bind
from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.dialects.linalg import ops as linalg_ops
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.linking import Inputs, linked_library
from xrelay.lowering.native.toolchain.stages import LOWER_TO_LLVM, compile_text, module_text
from xrelay.passes.bytes.buffer_aliases import buffers_in
from xrelay.passes.expand_packs import ExpandPacksPass
from xrelay.passes.layout_slices import LayoutSlicesPass
from xrelay.passes.lower_buffers import LowerBuffersPass
from xrelay.passes.memory_report.read import read_memory
from xrelay.passes.memory_report.report import report_of
from xrelay.passes.pack_buffers import Arena, PackBuffersPass
from xrelay.passes.support.rewriting import rewrite_each
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass

COUNT = int(os.environ.get("XRELAY_RANDOM_PROGRAMS", "10"))
LONG = "XRELAY_RANDOM_PROGRAMS" in os.environ
PART = 50
"""The number of programs that are compiled together."""


def overwrite_dead_bytes(module: ModuleOp) -> int:
    """Fill each buffer with garbage where it is defined, and after its last use; count these."""
    deaths = dict[Operation, Operation]()
    for buffers in buffers_in(module):
        at = {position: op for op, position in buffers.position.items()}
        for op in (op for op in buffers.position if isinstance(op, memory.BufferOp)):
            alias, start = buffers.of(op.memref), buffers.position[op]
            last = buffers.loops.extended(min(alias.first, start), alias.last)
            following = at.get(max(last, start) + 1)
            if following is not None and following.parent is op.parent:
                deaths[op] = following

    def fill(op: memory.BufferOp, rewriter: PatternRewriter) -> None:
        places = [InsertPoint.after(op)]
        places += [InsertPoint.before(deaths[op])] if op in deaths else []
        for place in places:
            garbage = arith.ConstantOp(IntegerAttr(-559038737, i32))
            rewriter.insert([garbage, linalg_ops.FillOp([garbage.result], [op.memref], ())], place)

    rewrite_each([op for op in walk(module) if isinstance(op, memory.BufferOp)], fill)
    return len(deaths)


def library(text: str, folder: Path, name: str) -> ctypes.CDLL:
    passes = ["func.func(scf-forall-to-for)", "func.func(convert-linalg-to-loops)", *LOWER_TO_LLVM]
    settings, path = Settings(level=1), folder / f"{name}.so"
    code = compile_text(text, passes, settings, name).code
    path.write_bytes(linked_library(Inputs([code], STANDALONE), settings, path.name))
    return ctypes.CDLL(str(path))


def arrays(seed: int) -> list[Any]:
    """Return arguments of a program."""
    rng = np.random.default_rng(seed)
    n, m = (int(size) for size in rng.integers(1, 20, 2))
    shapes = 16, n, 16
    return [*(rng.integers(-99, 99, shape, dtype=np.int32) for shape in shapes), n, m]


def planned(text: str, arena: Arena) -> tuple[ModuleOp, Counter[str]]:
    """Return a planned module, and how many allocations it had, and has still."""
    module, ctx, counts = parse(text), Context(), Counter[str]()
    counts["allocations"] = sum(isinstance(op, memref.AllocOp) for op in walk(module))
    PackBuffersPass(arena=arena).apply(ctx, module)
    counts["left"] = sum(isinstance(op, memref.AllocOp) for op in walk(module))
    counts["arenas"] = sum(isinstance(op, memory.PackOp) for op in walk(module))
    LayoutSlicesPass().apply(ctx, module)
    VerifyMemoryPlanPass().apply(ctx, module)
    for report in report_of(read_memory(module), {}):
        planned = report.planned.example + report.from_caller.example
        assert report.lower_bound.example <= planned, report.function
    counts["lent"] = sum(isinstance(op, memory.SliceStorageOp) for op in walk(module))
    counts["deaths"] = overwrite_dead_bytes(module)
    ExpandPacksPass().apply(ctx, module)
    LowerBuffersPass().apply(ctx, module)
    module.verify()
    return module, counts


@pytest.mark.parametrize("part", range(-(-COUNT // PART)))
def test_planned_programs_compute_the_same(part: int, tmp_path: Path):
    start = 10_000 * LONG + part * PART
    seeds = range(start, start + min(PART, COUNT - part * PART))
    text = PRELUDE + "".join(program(seed, f"p{seed}") for seed in seeds)
    module, counts = planned(text, "own" if part % 2 else "argument")
    before = library(text, tmp_path, "before")
    after = library(module_text(module), tmp_path, "after")
    for seed in seeds:
        expected, computed = arrays(seed), arrays(seed)
        bind(before, f"p{seed}", expected)()
        if hasattr(after, f"_mlir_ciface_p{seed}_arena_bytes"):
            size = bind(after, f"p{seed}_arena_bytes", computed)()
            computed.append(np.full(size, 0xDE, np.uint8))
        bind(after, f"p{seed}", computed)()
        for one, other in zip(expected[:3], computed[:3], strict=True):
            assert np.array_equal(one, other), f"program {seed}"
    assert counts["left"] < counts["allocations"] / 2
    if LONG:
        print(dict(counts))
