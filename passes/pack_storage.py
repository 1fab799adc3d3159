"""
Let storages that are never live together share bytes: one arena per function, device and scope.

    %a = memory.alloc_storage 64 align 64        %pack = memory.pack align 64 : !memory.pack
    %t = memory.alloc_tensor %a[0]               %offset = memory.slice %pack [0, 2) 64
    … last use of %t …                           %offset_1 = memory.slice %pack [1, 4) 64
    %b = memory.alloc_storage 64 align 64   ->   %total = memory.total %pack
    %u = memory.alloc_tensor %b[0]               %arena = memory.alloc_storage %total align 64
    …                                            %t = memory.alloc_tensor %arena[%offset]
                                                 …
                                                 %u = memory.alloc_tensor %arena[%offset_1]

A slice is live from its first tensor to the last use of any alias of it (`bytes.storages`); arms
of a branch exclude each other. A storage in a branch is in the arena of the region around it in
which its size is defined: in that of the function if the size is static. If data decide the size,
it is in an arena of its branch, as a branch may guard a size. The computation of sizes moves up to
the arena; a size that depends on data in the arena is in a later one. What may outlive
the function keeps its storage. In a function with a workspace (`pass-workspaces`), that is the
arena, as far as callers can compute the sizes; a storage that is lent to a call becomes a slice.
`layout-slices` then chooses the offsets. Levels `manifest` and `memory-planned`; best before
`manifest-lifetimes`, as a kill counts as a use.
"""

from collections.abc import Callable
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from ..operators.records import record
from .bytes.numbered import Arm
from .bytes.packs import JoinPack, packs_of, side_by_side
from .bytes.storages import Scope, Storage, Storages, storages_in
from .sizes.reader import Sizes
from .support.changes import LevelPass
from .support.rewriting import apply_patterns


@record
class Homes:
    """Finds the region that allocates the arena of a storage."""

    storages: Storages
    body: Arm
    is_of_dims: Callable[[SSAValue], bool]
    """Tests whether a size is made of dims, so that no data can make it negative or huge."""

    def __call__(self, storage: Storage) -> Scope:
        """
        Return the outermost region in which the size of `storage` is defined.

        That is its own if data decide the size: they may have no meaning if an arm is not taken.
        """
        size = storage.op.dynamic_size
        if size is None:
            return self.body
        if storage.region is not self.body and not self.is_of_dims(size):
            return storage.region
        block = size.owner if isinstance(size.owner, Block) else size.owner.parent
        return self.body if block is None else self.storages.regions.get(block, self.body)


class PackStoragePass(LevelPass):
    """Let storages that are never live together share bytes."""

    name = "pack-storage"
    accepts = "manifest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sizes = Sizes()

        @cache
        def read() -> None:
            sizes.read(op)

        def is_of_dims(size: SSAValue) -> bool:
            read()
            return sizes.size(size).is_natural

        bodies = storages_in(op)
        for storage in (storage for storages in bodies for storage in storages.storages):
            if storage.parts:
                read()
                storage.parts = side_by_side(storage.parts, sizes)
        places = [
            place
            for storages in bodies
            for place in packs_of(
                storages.storages,
                Homes(storages, next(iter(storages.regions.values())), is_of_dims),
                sizes,
                with_lifetimes=True,
            )
        ]
        apply_patterns(op, JoinPack(places))
