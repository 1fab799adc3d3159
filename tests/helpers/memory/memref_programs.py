"""
Random programs on memrefs, as text that `mlir-opt` reads.

    text = program(seed, "p0")        func.func @p0(%x, %y, %out, %n, %m)
    PRELUDE                           functions that they call

Every buffer is used as a `memref<?xi32, strided<[1], offset: ?>>`. `@mix` writes each element of
one from those of another, so that each result depends on all that was written before. Buffers are
written before they are read; some are freed, some not; some are views, or chosen by a branch, a
loop, or a block argument.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.resources import with_own_resources

T = "memref<?xi32, strided<[1], offset: ?>>"

PRELUDE = f"""
func.func private @mix(%d: {T}, %s: {T}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = arith.constant 31 : i32
  %n = memref.dim %d, %c0 : {T}
  %m = memref.dim %s, %c0 : {T}
  scf.for %i = %c0 to %n step %c1 {{
    %j = arith.remui %i, %m : index
    %v = memref.load %s[%j] : {T}
    %w = arith.muli %v, %k : i32
    %q = arith.index_cast %i : index to i32
    %r = arith.addi %w, %q : i32
    memref.store %r, %d[%i] : {T}
  }}
  return
}}
func.func private @add(%d: {T}, %s: {T}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %d, %c0 : {T}
  %m = memref.dim %s, %c0 : {T}
  scf.for %i = %c0 to %n step %c1 {{
    %j = arith.remui %i, %m : index
    %v = memref.load %s[%j] : {T}
    %w = memref.load %d[%i] : {T}
    %r = arith.addi %v, %w : i32
    memref.store %r, %d[%i] : {T}
  }}
  return
}}
func.func private @pick(%a: {T}, %b: {T}, %c: i1) -> {T} {{
  %r = arith.select %c, %a, %b : {T}
  return %r : {T}
}}
func.func private @odd(%a: {T}) -> i1 {{
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%c0] : {T}
  %k = arith.constant 4 : i32
  %w = arith.shrui %v, %k : i32
  %b = arith.trunci %w : i32 to i1
  return %b : i1
}}
"""


@dataclass
class Program:
    """A program that is being written."""

    rng: random.Random
    lines: list[str] = field(default_factory=list[str])
    count: int = 0
    dynamic: bool = True
    sizes: Sequence[str] = ("%n", "%m")
    callees: Sequence[str] = ()
    """Functions that write their first parameter from both, in buffers of their own."""

    def new(self, name: str = "v") -> str:
        self.count += 1
        return f"%{name}{self.count}"

    def put(self, line: str) -> None:
        self.lines.append(line)

    def choose(self, seen: list[str]) -> str:
        return self.rng.choice(seen[-6:] if self.rng.random() < 0.7 else seen)

    # -------------------------------------------------------------- statements

    def allocate(self, seen: list[str]) -> tuple[str, str]:
        """Allocate a buffer; return its name, and the op that frees it."""
        raw, size, rng = self.new("a"), "", self.rng
        kind = rng.random()
        if self.dynamic and kind < 0.25:
            size = rng.choice(self.sizes)
        elif self.dynamic and kind < 0.35:
            value, number = self.new(), self.new()
            self.put(f"{value} = memref.load {self.choose(seen)}[%c0] : {T}")
            self.put(f"{number} = arith.andi {value}, %c7_i32 : i32")
            more = self.new()
            self.put(f"{more} = arith.addi {number}, %c1_i32 : i32")
            size = self.new("n")
            self.put(f"{size} = arith.index_cast {more} : i32 to index")
        type = "memref<?xi32>" if size else f"memref<{rng.choice([1, 4, 8, 16, 24])}xi32>"
        align = rng.choice(["", "", " {alignment = 64 : i64}"])
        self.put(f"{raw} = memref.alloc({size}){align} : {type}")
        buffer = self.new("b")
        self.put(f"{buffer} = memref.cast {raw} : {type} to {T}")
        return buffer, f"memref.dealloc {raw} : {type}"

    def mix(self, to: str, source: str, name: str = "mix") -> None:
        self.put(f"func.call @{name}({to}, {source}) : ({T}, {T}) -> ()")

    def fresh(self, seen: list[str]) -> tuple[str, str]:
        buffer, free = self.allocate(seen)
        self.mix(buffer, self.choose(seen))
        return buffer, free

    def condition(self, seen: list[str]) -> str:
        bit = self.new("bit")
        self.put(f"{bit} = func.call @odd({self.choose(seen)}) : ({T}) -> i1")
        return bit

    def block(self, seen: list[str], depth: int, size: int) -> list[str]:
        """Write statements; return the buffers of the block. Some are freed at its end."""
        own, frees = [*seen], list[str]()
        late: list[str] = []
        for _ in range(self.rng.randint(1, size)):
            self.statement(own, frees, late, depth)
        for buffer in late:
            self.mix(buffer, self.choose(own))
            own.append(buffer)
        if self.rng.random() < 0.8:
            self.mix(self.choose(seen), self.choose(own), "add")
        self.frees = frees
        return own

    def close(self) -> None:
        """Free some of the buffers of the block that was written last."""
        for free in self.frees:
            if self.rng.random() < 0.6:
                self.put(free)

    def statement(self, own: list[str], frees: list[str], late: list[str], depth: int) -> None:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.3:
            buffer, free = self.fresh(own)
            own.append(buffer)
            frees.append(free)
        elif kind < 0.38:  # written later
            buffer, free = self.allocate(own)
            late.append(buffer)
            frees.append(free)
        elif kind < 0.46:  # used at once, then freed
            buffer, free = self.fresh(own)
            self.mix(self.choose(own), buffer, "add")
            self.put(free)
        elif kind < 0.56:
            self.mix(self.choose(own), self.choose(own), rng.choice(["add", *self.callees]))
        elif kind < 0.62:
            view = self.new("s")
            self.put(
                f"{view} = memref.subview {self.choose(own)}[0] [1] [1] : {T} to "
                "memref<1xi32, strided<[1], offset: ?>>"
            )
            cast = self.new("b")
            self.put(f"{cast} = memref.cast {view} : memref<1xi32, strided<[1], offset: ?>> to {T}")
            own.append(cast)
        elif kind < 0.68:
            bit, one, other = self.condition(own), self.choose(own), self.choose(own)
            result = self.new("b")
            if rng.random() < 0.5:
                self.put(f"{result} = arith.select {bit}, {one}, {other} : {T}")
            else:
                self.put(
                    f"{result} = func.call @pick({one}, {other}, {bit}) : ({T}, {T}, i1) -> {T}"
                )
            own.append(result)
        elif depth < 2 or (depth < 4 and rng.random() < 0.1):
            nested = rng.choice([self.branch, self.loop, self.while_loop, self.parallel])
            nested(own, depth + 1)

    def branch(self, own: list[str], depth: int) -> None:
        bit = self.condition(own)
        if self.rng.random() < 0.5:
            self.put(f"scf.if {bit} {{")
            self.block(own, depth, 4)
            self.close()
            self.put("} else {")
            self.block(own, depth, 4)
            self.close()
            self.put("}")
            return
        result = self.new("b")
        self.put(f"{result} = scf.if {bit} -> ({T}) {{")
        for end in ("} else {", "}"):
            inside = self.block(own, depth, 4)
            self.put(f"scf.yield {self.choose(inside)} : {T}")
            self.put(end)
        own.append(result)

    def loop(self, own: list[str], depth: int) -> None:
        index, trips = self.new("i"), self.rng.choice(["%c0", "%c2", "%c3"])
        if self.rng.random() < 0.5:
            self.put(f"scf.for {index} = %c0 to {trips} step %c1 {{")
            self.block(own, depth, 4)
            self.close()
            self.put("}")
            return
        result, arg = self.new("b"), self.new("b")
        self.put(
            f"{result} = scf.for {index} = %c0 to {trips} step %c1 "
            f"iter_args({arg} = {self.choose(own)}) -> ({T}) {{"
        )
        inside = self.block([*own, arg], depth, 4)
        self.put(f"scf.yield {self.choose([arg, *inside])} : {T}")
        self.put("}")
        own.append(result)

    def while_loop(self, own: list[str], depth: int) -> None:
        result, arg, after = self.new("w"), self.new("w"), self.new("w")
        buffer, inner, moved = self.new("b"), self.new("b"), self.new("b")
        self.put(
            f"{result}:2 = scf.while ({arg} = %c0, {inner} = {self.choose(own)}) : (index, {T}) "
            f"-> (index, {T}) {{"
        )
        self.block([*own, inner], depth, 2)
        bit = self.new("bit")
        self.put(f"{bit} = arith.cmpi ult, {arg}, %c2 : index")
        self.put(f"scf.condition({bit}) {arg}, {inner} : index, {T}")
        self.put(f"}} do {{\n^bb0({after}: index, {moved}: {T}):")
        inside = self.block([*own, moved], depth, 3)
        more = self.new("w")
        self.put(f"{more} = arith.addi {after}, %c1 : index")
        last = moved if self.rng.random() < 0.6 else self.choose(inside)
        self.put(f"scf.yield {more}, {last} : index, {T}")
        self.put("}")
        self.put(f"{buffer} = memref.cast {result}#1 : {T} to {T}")
        own.append(buffer)

    def parallel(self, own: list[str], depth: int) -> None:
        """Each point writes one element, from buffers of its own."""
        target, _ = self.allocate(own)
        count, index = self.new("n"), self.new("i")
        self.put(f"{count} = memref.dim {target}, %c0 : {T}")
        source = self.choose(own)
        is_forall = self.rng.random() < 0.5
        if is_forall:
            self.put(f"scf.forall ({index}) in ({count}) {{")
        else:
            self.put(f"scf.parallel ({index}) = (%c0) to ({count}) step (%c1) {{")
        temps = [self.fresh([source]) for _ in range(self.rng.randint(1, 3))]
        for (one, _), (other, _) in pairwise(temps):
            self.mix(other, one, "add")
        value = self.new()
        self.put(f"{value} = memref.load {temps[-1][0]}[%c0] : {T}")
        self.put(f"memref.store {value}, {target}[{index}] : {T}")
        for _, line in temps:
            self.put(line)
        self.put("}" if is_forall else "scf.reduce\n}")
        own.append(target)


def blocks(program: Program, seen: list[str]) -> list[str]:
    """Write blocks with branches between them; return the buffers at the end."""
    bit = program.condition(seen)
    one, other, join = (f"^bb{program.count}{c}" for c in "abc")
    arg = program.new("b")
    program.put(f"cf.cond_br {bit}, {one}, {other}")
    for label in (one, other):
        program.put(f"{label}:")
        inside = program.block(seen, 1, 4)
        program.put(f"cf.br {join}({program.choose(inside)} : {T})")
    program.put(f"{join}({arg}: {T}):")
    return [*seen, arg]


def loop_of_blocks(program: Program, seen: list[str]) -> list[str]:
    """Write a loop of blocks; return the buffers at the end."""
    head, body, end = (f"^bb{program.count}{c}" for c in "hbe")
    index, arg = program.new("i"), program.new("b")
    program.put(f"cf.br {head}(%c0, {program.choose(seen)} : index, {T})")
    program.put(f"{head}({index}: index, {arg}: {T}):")
    bit = program.new("bit")
    program.put(f"{bit} = arith.cmpi ult, {index}, %c2 : index")
    program.put(f"cf.cond_br {bit}, {body}, {end}")
    program.put(f"{body}:")
    inside = program.block([*seen, arg], 1, 4)
    more = program.new("i")
    program.put(f"{more} = arith.addi {index}, %c1 : index")
    last = arg if program.rng.random() < 0.6 else program.choose(inside)
    program.put(f"cf.br {head}({more}, {last} : index, {T})")
    program.put(f"{end}:")
    return [*seen, arg]


def callee(rng: random.Random, name: str, callees: Sequence[str]) -> str:
    """Return a private function of random statements, which writes its first parameter."""
    written = Program(rng, dynamic=rng.random() < 0.6, callees=callees)
    written.put(f"func.func private @{name}(%x: {T}, %y: {T}) {{")
    put_constants(written)
    for size, param in (("%n", "%x"), ("%m", "%y")):
        written.put(f"{size} = memref.dim {param}, %c0 : {T}")
    seen = written.block(["%x", "%y"], 1, 5)
    if rng.random() < 0.2:
        seen = rng.choice([blocks, loop_of_blocks])(written, seen)
    written.mix("%x", written.choose(seen), "add")
    written.put("return\n}\n")
    return "\n".join(written.lines)


def put_constants(written: Program) -> None:
    for number in range(4):
        written.put(f"%c{number} = arith.constant {number} : index")
    written.put("%c1_i32 = arith.constant 1 : i32")
    written.put("%c7_i32 = arith.constant 7 : i32")


def program(seed: int, name: str) -> str:
    """Return a function of random statements, after its callees; it writes its last parameter."""
    rng = random.Random(seed)
    callees = [f"{name}_f{i}" for i in range(rng.randint(0, 2))]
    functions = [callee(rng, each, callees[:i]) for i, each in enumerate(callees)]
    sizes = ["%n", "%m", "%k"]
    written = Program(rng, functions, dynamic=rng.random() < 0.6, sizes=sizes, callees=callees)
    written.put(
        f"func.func @{name}(%x0: memref<16xi32>, %y0: memref<?xi32>, %out0: memref<16xi32>, "
        "%n: index, %m: index) attributes {llvm.emit_c_interface} {"
    )
    put_constants(written)
    written.put("%k = memref.dim %y0, %c0 : memref<?xi32>")
    for param, type in (("x", "memref<16xi32>"), ("y", "memref<?xi32>"), ("out", "memref<16xi32>")):
        written.put(f"%{param} = memref.cast %{param}0 : {type} to {T}")
    seen = ["%x", "%y"]
    for _ in range(rng.randint(1, 2)):
        seen = written.block(seen, 0, 7)
        if rng.random() < 0.3:
            seen = rng.choice([blocks, loop_of_blocks])(written, seen)
    for buffer in seen:
        written.mix("%out", buffer, "add")
    written.put("return\n}")
    return "\n".join(written.lines)


def parse(text: str) -> ModuleOp:
    """Read a program in dialects of upstream MLIR."""
    ctx = Context()
    for name, factory in UNIVERSE.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, with_own_resources(factory))
    return LocatingParser(ctx, text, "memrefs.mlir", 0).parse_module()
