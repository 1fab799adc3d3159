"""
Allocate the storages of a region together: one arena per function body or arm, device and scope.

    %a = memory.alloc_storage 64 align 64        %pack = memory.pack align 64 : !memory.pack
    %t = memory.alloc_tensor %a[0]               %offset = memory.slice %pack [0, 1) 64
    %b = memory.alloc_storage %n align 64        %offset_1 = memory.slice %pack [0, 1) %n
    %u = memory.alloc_tensor %b[0]          ->   %total = memory.total %pack
                                                 %arena = memory.alloc_storage %total align 64
                                                 %t = memory.alloc_tensor %arena[%offset]
                                                 %u = memory.alloc_tensor %arena[%offset_1]

Every slice lives as long as its region, so no bytes are reused: the arena is as large as all its
slices. What may outlive its region keeps its storage, so that a result does not keep the arena. The
computation of sizes moves up to the arena; a size that depends on data in it is in a later one.
`layout-slices` then computes the offsets. (TVM: MemoryPlan, disabled there.) Levels `manifest` and
`memory-planned`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from .bytes.packs import JoinPack, packs_of
from .bytes.storages import Storage, storages_in
from .sizes.reader import Sizes
from .support.changes import LevelPass
from .support.rewriting import apply_patterns


def stays_in_region(storage: Storage) -> bool:
    """Test whether nothing in `storage` is used after the region that allocates it."""
    return storage.region.holder is None or storage.lifetime.stop <= storage.region.end


class CoalesceStoragePass(LevelPass):
    """Allocate the storages of a region together."""

    name = "coalesce-storage"
    accepts = "manifest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sizes = Sizes()
        places = [
            place
            for storages in storages_in(op)
            for place in packs_of(
                filter(stays_in_region, storages.storages),
                lambda storage: storage.region,
                sizes,
                with_lifetimes=False,
            )
        ]
        apply_patterns(op, JoinPack(places))
