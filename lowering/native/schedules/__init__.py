"""
Schedules: good loops for each class of kernel and machine.

| file | kernels |
|---|---|
| prepare.mlir | all that have a schedule |
| squares.mlir | loops that read along one dim and write along another |
| register_tile.mlir | one reduction along rows: products, convolutions, windows, sums of columns |
| lower_vectors.mlir | those with tiles of vectors, after bufferization |

`choose` reads a kernel's loops (`nests`), chooses sizes (`tiles`), and fills in the file. Kernels
without tiles have no schedule: LLVM makes vectors of their loops.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from ..toolchain.target_machine import Machine
from .nests import nest_of
from .register_tile import register_tile
from .scheduling import Schedule
from .squares import squares
from .templates import filled
from .tiles import tile_of
from .vectors import vectors_of


def choose(kernel: FuncOp, machine: Machine) -> Schedule | None:
    """Return the schedule of `kernel` for `machine`."""
    nest = nest_of(kernel)
    tile = nest and tile_of(nest, vectors_of(machine))
    steps = squares(kernel)
    if nest is not None and tile is not None:
        steps += register_tile(nest, tile)
    return Schedule(filled("prepare") + steps, filled("lower_vectors")) if steps else None


def is_tiled(kernel: FuncOp, machine: Machine) -> bool:
    """Test whether `choose` has tiles for the loops of `kernel`."""
    nest = nest_of(kernel)
    return nest is not None and tile_of(nest, vectors_of(machine)) is not None
