"""
Programs on memrefs compute the same after `plan-memref`, with all bytes overwritten at each birth.

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
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.linking import Inputs, linked_library
from xrelay.lowering.native.toolchain.stages import LOWER_TO_LLVM, compile_text, module_text
from xrelay.passes.expand_packs import ExpandPacksPass
from xrelay.passes.layout_slices import LayoutSlicesPass
from xrelay.passes.lower_buffers import LowerBuffersPass
from xrelay.passes.memory_report.read import read_memory
from xrelay.passes.memory_report.report import report_of
from xrelay.passes.pack_buffers import PackBuffersPass
from xrelay.passes.support.rewriting import rewrite_each
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass

COUNT = int(os.environ.get("XRELAY_RANDOM_PROGRAMS", "10"))
LONG = "XRELAY_RANDOM_PROGRAMS" in os.environ
PART = 50
"""The number of programs that are compiled together."""


def overwrite_at_birth(module: ModuleOp) -> None:
    """Fill each buffer with garbage where it is defined."""

    def fill(op: memory.BufferOp, rewriter: PatternRewriter) -> None:
        garbage = arith.ConstantOp(IntegerAttr(-559038737, i32))
        rewriter.insert(
            [garbage, linalg_ops.FillOp([garbage.result], [op.memref], ())], InsertPoint.after(op)
        )

    buffers = [op for op in walk(module) if isinstance(op, memory.BufferOp)]
    rewrite_each(buffers, fill)


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


def planned(text: str) -> tuple[ModuleOp, Counter[str]]:
    """Return a planned module, and how many allocations it had, and has still."""
    module, ctx, counts = parse(text), Context(), Counter[str]()
    counts["allocations"] = sum(isinstance(op, memref.AllocOp) for op in walk(module))
    PackBuffersPass().apply(ctx, module)
    counts["left"] = sum(isinstance(op, memref.AllocOp) for op in walk(module))
    counts["arenas"] = sum(isinstance(op, memory.PackOp) for op in walk(module))
    LayoutSlicesPass().apply(ctx, module)
    VerifyMemoryPlanPass().apply(ctx, module)
    for report in report_of(read_memory(module), {}):
        assert report.lower_bound.example <= report.planned.example, report.function
    overwrite_at_birth(module)
    ExpandPacksPass().apply(ctx, module)
    LowerBuffersPass().apply(ctx, module)
    module.verify()
    return module, counts


@pytest.mark.parametrize("part", range(-(-COUNT // PART)))
def test_planned_programs_compute_the_same(part: int, tmp_path: Path):
    start = 10_000 * LONG + part * PART
    seeds = range(start, start + min(PART, COUNT - part * PART))
    text = PRELUDE + "".join(program(seed, f"p{seed}") for seed in seeds)
    module, counts = planned(text)
    before = library(text, tmp_path, "before")
    after = library(module_text(module), tmp_path, "after")
    for seed in seeds:
        expected, computed = arrays(seed), arrays(seed)
        bind(before, f"p{seed}", expected)()
        bind(after, f"p{seed}", computed)()
        for one, other in zip(expected[:3], computed[:3], strict=True):
            assert np.array_equal(one, other), f"program {seed}"
    assert counts["left"] < counts["allocations"] / 2
    if LONG:
        print(dict(counts))
