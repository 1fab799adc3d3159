"""
Programs on memrefs compute the same after `plan-memref`, with bytes overwritten at birth and death.

So do those of which a memref is moved, if `verify-memory-plan` accepts the plan.

`XRELAY_RANDOM_PROGRAMS=1000 pytest -s …` tries that many other programs and prints counts.
"""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import random
import signal
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from helpers.memory.memref_programs import PRELUDE, parse, program
from helpers.native.built_libraries import STANDALONE, link
from helpers.native.memrefs import bind
from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32, i64
from xdsl.dialects.linalg import ops as linalg_ops
from xdsl.ir import Block, Operation
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.linking import Inputs
from xrelay.lowering.native.toolchain.stages import LOWER_TO_LLVM, compile_text, module_text
from xrelay.passes.bytes.buffer_aliases import buffers_in
from xrelay.passes.expand_packs import ExpandPacksPass
from xrelay.passes.layout_slices import LayoutSlicesPass
from xrelay.passes.lower_buffers import LowerBuffersPass
from xrelay.passes.memory_report.read import read_memory
from xrelay.passes.memory_report.report import report_of
from xrelay.passes.pack_buffers import Arena, PackBuffersPass
from xrelay.passes.plan_memref import PlanMemrefPass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.rewriting import rewrite_each
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass

COUNT = int(os.environ.get("XRELAY_RANDOM_PROGRAMS", "6"))
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
    code = compile_text(text, passes, Settings(), name)
    return ctypes.CDLL(str(link(Inputs([code], STANDALONE), folder / f"{name}.so")))


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


def outputs(library: ctypes.CDLL, name: str, seed: int) -> list[Any]:
    """Return what a function writes in its arguments."""
    values = arrays(seed)
    if hasattr(library, f"_mlir_ciface_{name}_arena_bytes"):
        size = bind(library, f"{name}_arena_bytes", values)()
        values.append(np.full(size, 0xDE, np.uint8))
    bind(library, name, values)()
    return values[:3]


@pytest.mark.parametrize("part", range(-(-COUNT // PART)))
def test_planned_programs_compute_the_same(part: int, tmp_path: Path):
    start = 10_000 * LONG + part * PART
    seeds = range(start, start + min(PART, COUNT - part * PART))
    text = PRELUDE + "".join(program(seed, f"p{seed}") for seed in seeds)
    module, counts = planned(text, "own" if part % 2 else "argument")
    before = library(text, tmp_path, "before")
    after = library(module_text(module), tmp_path, "after")
    for seed in seeds:
        expected, computed = (outputs(each, f"p{seed}", seed) for each in (before, after))
        for one, other in zip(expected, computed, strict=True):
            assert np.array_equal(one, other), f"program {seed}"
    assert counts["left"] < counts["allocations"] / 2
    if LONG:
        print(dict(counts))


def move_memref(module: ModuleOp, rng: random.Random) -> bool:
    """Move a memref, or bytes that are lent, by some bytes or to another one of the storage."""
    kinds = memory.BufferOp | memory.SliceStorageOp
    ops = [op for op in walk(module) if isinstance(op, kinds)]
    lent = [op for op in ops if isinstance(op, memory.SliceStorageOp)]
    if not ops:
        return False
    op = rng.choice(lent if lent and rng.random() < 0.5 else ops)
    static = op.properties.get("offset")
    others = [
        other
        for other in ops
        if other.operands[0] is op.operands[0]
        and ("offset" in other.properties) == ("offset" in op.properties)
    ]
    other = rng.choice(others)
    if static is None:
        is_moved = op.operands[1] is not other.operands[1]
        op.operands[1] = other.operands[1]
        return is_moved
    start = cast("IntegerAttr[Any]", static).value.data
    to = cast("IntegerAttr[Any]", other.properties["offset"]).value.data
    to = max(0, rng.choice([start + rng.choice([-64, -32, -16, 16, 32, 64]), to]))
    op.properties["offset"] = IntegerAttr(to, i64)
    return to != start


def accepted_fault(planned: ModuleOp, rng: random.Random, counts: Counter[str]) -> ModuleOp | None:
    """Return a plan with a memref moved that the checker accepts; None if it refused four."""
    for _ in range(4):
        module = planned.clone()
        if not move_memref(module, rng):
            continue
        try:
            VerifyMemoryPlanPass().apply(Context(), module)
        except PassError:
            counts["refused"] += 1
        else:
            return module
    return None


@pytest.mark.ci
def test_what_the_checker_accepts_computes_the_same(tmp_path: Path):
    rng, counts, accepted = random.Random(1), Counter[str](), dict[str, int]()
    merged, start = parse(PRELUDE), 20_000 * LONG
    shared = {op.sym_name.data for op in merged.ops if isinstance(op, func.FuncOp)}
    text = PRELUDE
    for seed in range(start, start + COUNT):
        name, ctx = f"p{seed}", Context()
        planned = parse(PRELUDE + program(seed, name))
        for step in (PackBuffersPass(), LayoutSlicesPass()):
            step.apply(ctx, planned)
        module = accepted_fault(planned, rng, counts)
        if module is None:
            continue
        accepted[name] = seed
        overwrite_dead_bytes(module)
        for step in (ExpandPacksPass(), LowerBuffersPass()):
            step.apply(ctx, module)
        text += program(seed, name)
        for op in module.ops:
            if isinstance(op, func.FuncOp) and op.sym_name.data not in shared:
                op.detach()
                merged.body.block.add_op(op)
    before = library(text, tmp_path, "before")
    after = library(module_text(merged), tmp_path, "after")
    for name, seed in accepted.items():
        expected, computed = (outputs(each, name, seed) for each in (before, after))
        for one, other in zip(expected, computed, strict=True):
            assert np.array_equal(one, other), f"program {seed}"
    assert counts["refused"] > len(accepted)
    if LONG:
        print(dict(counts), len(accepted))


def test_memrefs_whose_sizes_are_known_late_are_planned(tmp_path: Path):
    """More places at which sizes become known than packs stand at; memrefs outlive their arms."""
    type, count = "memref<?xindex>", 20
    lines = [
        f"""
          %c{i} = arith.constant {i} : index
          %m{i} = func.call @part(%s, %c{i}) : ({type}, index) -> {type}
          %n{i} = memref.dim %m{i}, %c0 : {type}
          %r{i} = scf.if %c -> ({type}) {{
            %a = memref.alloc(%n{i}) : {type}
            memref.store %c{i}, %a[%c{i}] : {type}
            scf.yield %a : {type}
          }} else {{
            scf.yield %s : {type}
          }}
          %x{i} = memref.load %r{i}[%c{i}] : {type}
          memref.store %x{i}, %s[%c{i}] : {type}
        """
        for i in range(count)
    ]
    head = f"func.func @f(%s: {type}, %c: i1) attributes {{llvm.emit_c_interface}}"
    part = f"""
      func.func @part(%s: {type}, %i: index) -> {type} {{
        %one = arith.constant 1 : index
        %n = arith.addi %i, %one : index
        %r = memref.reinterpret_cast %s to offset: [0], sizes: [%n], strides: [1] : {type} to {type}
        return %r : {type}
      }}
    """
    module = parse(f"{part} {head} {{ {''.join(lines)} return }}")
    PlanMemrefPass().apply(Context(), module)
    allocated = [str(op.memref.type) for op in walk(module) if isinstance(op, memref.AllocOp)]
    assert allocated == ["memref<?xi8>"] * count
    compiled = library(module_text(module), tmp_path, "late")
    for condition in (True, False):
        data = np.full(count, -1)
        bind(compiled, "f", [data, int(condition)])()
        assert np.array_equal(data, np.arange(count) if condition else [-1] * count)


@pytest.mark.ci
def test_arenas_of_callees_count_when_the_program_runs(tmp_path: Path):
    type = "memref<?xi8>"
    body = f"""
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : {type}
      %a = memref.alloc(%n) : {type}
      memref.copy %x, %a : {type} to {type}
      CALL
      memref.copy %a, %x : {type} to {type}
      return
    """
    head = f"(%x: {type}) attributes {{llvm.emit_c_interface}} {{"
    call = f"call @callee(%x) : ({type}) -> ()"
    module = parse(
        f"func.func @callee{head}{body.replace('CALL', '')}}}"
        f"func.func @caller{head}{body.replace('CALL', call)}}}"
    )
    PlanMemrefPass(pools="default=100").apply(Context(), module)
    compiled = library(module_text(module), tmp_path, "counted")
    for _ in range(3):  # what is freed counts no more
        bind(compiled, "caller", [np.zeros(50, np.uint8)])()
        bind(compiled, "callee", [np.zeros(100, np.uint8)])()
    too_many = bind(compiled, "caller", [np.zeros(51, np.uint8)])
    child = multiprocessing.get_context("fork").Process(
        target=lambda: (faulthandler.disable(), too_many())
    )
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGABRT


def number_in(op: Operation | Block) -> int:
    assert isinstance(op, arith.ConstantOp)
    assert isinstance(op.value, IntegerAttr)
    return op.value.value.data


@pytest.mark.parametrize("seed", range(4))
def test_memrefs_are_apart_at_multiples_of_their_alignments(seed: int):
    rng = random.Random(seed)
    sizes, alignments = rng.choices(range(1, 100), k=9), rng.choices((16, 64, 512), k=9)
    lines = [
        f"%m{i} = memref.alloc() {{alignment = {alignment} : i64}} : memref<{size}xi8>"
        for i, (size, alignment) in enumerate(zip(sizes, alignments, strict=True))
    ]
    lines += (
        f"memref.store %zero, %m{i}[%c] : memref<{size}xi8>"
        for _ in range(2)
        for i, size in enumerate(sizes)
    )
    body = "\n".join(lines)
    module = parse(f"func.func @f(%zero: i8, %c: index) {{\n{body}\nfunc.return\n}}")
    PlanMemrefPass().apply(Context(), module)
    views = (op for op in walk(module) if isinstance(op, memref.ViewOp))
    offsets = [number_in(op.byte_shift.owner) for op in views]
    assert not any(at % alignment for at, alignment in zip(offsets, alignments, strict=True))
    spans = sorted((at, at + size) for at, size in zip(offsets, sizes, strict=True))
    assert all(stop <= start for (_, stop), (start, _) in pairwise(spans))
    most = max(512 * alignments.count(512) - 412, sum(sizes) + 512)
    assert spans[-1][1] <= most < 8 * 512, "not all are at multiples of 512"
