"""
Plan the memory of any program on memrefs: allocations become views of few arenas.

    %a = memref.alloc() : memref<16xf32>              %arena = memref.alloc() {…} : memref<64xi8>
    … last use of %a …                                %a = memref.view %arena[%i0][] : … to …
    memref.dealloc %a : memref<16xf32>                … last use of %a …
    %b = memref.alloc() : memref<16xf32>       ->     %b = memref.view %arena[%i0][] : … to …
    … last use of %b …                                … last use of %b …
    memref.dealloc %b : memref<16xf32>                memref.dealloc %arena : memref<64xi8>

A sequence of passes:

- `pack-buffers` reads lifetimes, and states which memrefs share an arena.
- `layout-slices` chooses their offsets.
- `verify-memory-plan`, unless it is switched off, proves that no memref is written while the bytes
  of another one are needed. It shares no code with the two before it.
- `expand-packs` computes the offsets of dynamic sizes.
- `lower-buffers` makes memrefs of bytes, and views of them.

For IR of the dialects of upstream MLIR, from whatever made it. Level `memref`, which stays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects import memory
from ..dialects.xdsl_extras.walking import walk
from .expand_packs import ExpandPacksPass
from .layout_slices import LayoutSlicesPass, Strategy
from .lower_buffers import LowerBuffersPass
from .pack_buffers import BufferOptions, PackBuffersPass
from .support.changes import CompositePass
from .verify_memory_plan import VerifyMemoryPlanPass


@dataclass(frozen=True)
class PlanMemrefPass(BufferOptions, CompositePass):
    name = "plan-memref"
    accepts = "every"

    strategy: Strategy = "auto"
    """The strategy of `layout-slices`."""

    verify: bool = True
    """Prove the plan by `verify-memory-plan`."""

    def run_steps(self, ctx: Context, op: ModuleOp, run: Callable[[ModulePass], bool]) -> bool:
        first, *others = self.steps()
        changed = run(first)
        if any(isinstance(inside, memory.BufferOp) for inside in walk(op)):
            changed = any([run(step) for step in others]) or changed
        return changed

    def steps(self) -> Sequence[ModulePass]:
        return (
            PackBuffersPass(self.alloca, self.pools, self.arena),
            LayoutSlicesPass(self.strategy),
            *([VerifyMemoryPlanPass()] if self.verify else []),
            ExpandPacksPass(),
            LowerBuffersPass(),
        )
