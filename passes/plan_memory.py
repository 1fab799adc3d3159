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
- `assign-pools`, if there are pools: a storage is in one of them, whoever allocates it.
- `pass-workspaces`: the memory of a call becomes storages of the caller.
- `pack-storage` reads lifetimes, and states which storages share an arena.
- `layout-slices` chooses their offsets.
- `manifest-lifetimes` after both: a kill ends bytes where they are now, and would count as a use of
  what it kills.
- `verify-memory-plan` last, unless it is switched off: it proves what the others did, kills
  included, and shares no code with them.

Packs of dynamic sizes keep their orders, by which the plan is proven; `expand-packs` computes the
offsets.

A planned module that is planned again is unchanged. From level `manifest` to `memory-planned`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.passes import ModulePass

from .assign_pools import AssignPoolsPass, Minimize
from .layout_slices import Dynamic, LayoutSlicesPass, Strategy
from .manifest_lifetimes import ManifestLifetimesPass
from .pack_storage import PackStoragePass
from .pass_workspaces import PassWorkspacesPass
from .reorder_for_memory import ReorderForMemoryPass
from .reuse_in_place import ReuseInPlacePass
from .support.changes import CompositePass
from .verify_memory_plan import VerifyMemoryPlanPass


@dataclass(frozen=True)
class PlanMemoryPass(CompositePass):
    """Let storages that are never live together share bytes, at offsets chosen now."""

    name = "plan-memory"
    accepts = "manifest"

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

    pools: str = ""
    """The pools of devices, as `assign-pools` reads them: `dtcm=64KiB:1,psram=:10`."""

    minimize: Minimize = "cost"
    """The objective for a device of several pools; the option of `assign-pools`."""

    peak: str = ""
    """The option of `layout-slices`: the bytes for which it searches longer."""

    verify: bool = True
    """Prove the plan by `verify-memory-plan`."""

    @property
    def assign_pools(self) -> AssignPoolsPass:
        return AssignPoolsPass(self.pools, self.minimize, entries=self.entries)

    def steps(self) -> Sequence[ModulePass]:
        return (
            *([ReorderForMemoryPass()] if self.reorder else []),
            *([ReuseInPlacePass()] if self.in_place else []),
            *([self.assign_pools] if self.pools else []),
            PassWorkspacesPass(self.entries, self.lend_entries),
            PackStoragePass(),
            LayoutSlicesPass(self.strategy, self.dynamic, self.peak),
            ManifestLifetimesPass(),
            *([VerifyMemoryPlanPass()] if self.verify else []),
        )
