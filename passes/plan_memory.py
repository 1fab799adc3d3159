"""
Let storages share memory: one arena per function, device and scope, laid out by lifetimes.

    %a = memory.alloc_storage 64 align 64        %arena = memory.alloc_storage 128 align 64
    %t = memory.alloc_tensor %a[0]               %t = memory.alloc_tensor %arena[0]
    … last use of %t …                           … last use of %t …
    %b = memory.alloc_storage 128 align 64  ->   memory.kill %t
    %u = memory.alloc_tensor %b[0]               %u = memory.alloc_tensor %arena[0]
    … last use of %u …                           … last use of %u …
                                                 memory.kill %u

A sequence of passes:

- `reorder-for-memory` first, if it is switched on: lifetimes depend on the order of ops.
- `reuse-in-place`, unless it is switched off: a result that is written over an operand needs no
  storage, not even one of the caller.
- `pass-workspaces`: the memory of a call becomes storages of the caller.
- `pack-storage` reads lifetimes, and states which storages share an arena.
- `layout-slices` chooses their offsets.
- `manifest-lifetimes` after both: a kill ends bytes where they are now, and would count as a use of
  what it kills.
- `verify-memory-plan` last, unless it is switched off: it proves what the others did, kills
  included, and shares no code with them.

If sizes are not known, it may fail to prove a plan that is right. Then another one is tried, with a
remark: offsets that the machine chooses (`dynamic=at-bind`), unless native code owns the memory,
and after that slices that share no bytes (`strategy=coalesce`).

A planned module that is planned again is unchanged. From level `manifest` to `memory-planned`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects import memory
from .layout_slices import Dynamic, LayoutSlicesPass, Strategy, is_static
from .manifest_lifetimes import ManifestLifetimesPass
from .pack_storage import PackStoragePass
from .pass_workspaces import PassWorkspacesPass
from .plan_check.faults import NotShown
from .reorder_for_memory import ReorderForMemoryPass
from .reuse_in_place import ReuseInPlacePass
from .support.composite import CompositePass
from .support.diagnostics import emit_remark
from .support.levels import Level
from .support.walk import outside_primitives
from .verify_memory_plan import VerifyMemoryPlanPass


def restore(module: ModuleOp, before: ModuleOp) -> None:
    """Replace the contents of `module` by those of `before`."""
    for op in reversed([*module.ops]):
        op.detach()
        op.erase(safe_erase=False)
    ops = [*before.ops]
    for op in ops:
        op.detach()
    module.body.block.add_ops(ops)
    module.attributes = before.attributes


@dataclass(frozen=True)
class PlanMemoryPass(CompositePass):
    """Let storages that are never live together share bytes, at offsets chosen now."""

    name = "plan-memory"
    accepts: ClassVar[Level] = "manifest"

    strategy: Strategy = "auto"
    """The strategy of `layout-slices`."""

    dynamic: Dynamic = "symbolic"
    """The option of `layout-slices`: offsets as arithmetic, or planned when sizes are known."""

    in_place: bool = True
    """Write results over operands by `reuse-in-place`."""

    reorder: bool = False
    """Reorder ops to lower the peak, by `reorder-for-memory`, before."""

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    lend_entries: bool = False
    """Let callers from outside lend storages, too, as those of native code do."""

    verify: bool = True
    """Prove the plan by `verify-memory-plan`."""

    def steps(self) -> Sequence[ModulePass]:
        return (*self._to_packs(), *self._of_layout(LayoutSlicesPass(self.strategy, self.dynamic)))

    def _to_packs(self) -> Sequence[ModulePass]:
        return (
            *([ReorderForMemoryPass()] if self.reorder else []),
            *([ReuseInPlacePass()] if self.in_place else []),
            PassWorkspacesPass(self.entries, self.lend_entries),
            PackStoragePass(),
        )

    def _of_layout(self, layout: LayoutSlicesPass) -> Sequence[ModulePass]:
        verify = [VerifyMemoryPlanPass()] if self.verify else []
        return (layout, ManifestLifetimesPass(), *verify)

    def _layouts(self) -> Iterator[LayoutSlicesPass]:
        """Yield the layouts to try, each easier to prove than the one before."""
        first = LayoutSlicesPass(self.strategy, self.dynamic)
        at_bind = LayoutSlicesPass(self.strategy, "at-bind")
        apart = LayoutSlicesPass("coalesce")
        yield first
        if not self.lend_entries and first != at_bind:
            yield at_bind
        if first != apart:
            yield apart

    def run_steps(self, ctx: Context, op: ModuleOp, run: Callable[[ModulePass], bool]) -> bool:
        """Run the steps; those from the layout on again while the plan cannot be proven."""
        for step in self._to_packs():
            run(step)
        layouts = list(self._layouts())
        has_choice = self.verify and any(
            isinstance(pack, memory.PackOp) and not is_static(pack)
            for pack in outside_primitives(op)
        )
        for layout, other in zip_longest(layouts, layouts[1:]):
            before = op.clone() if has_choice and other is not None else None
            try:
                for step in self._of_layout(layout):
                    run(step)
            except NotShown as error:
                if before is None or other is None:
                    raise
                spec = other.pipeline_pass_spec()
                emit_remark(ctx, error.op or op, f"{error.message}; trying {spec}")
                restore(op, before)
            else:
                break
        return True
