"""
The passes of the pipeline `kernels`, from kernels at level `memref` to their schedules.

- `merge-aliases` first: it reads calls, and the other passes change the names that these call.
- `version-kernels` then: its versions have different loops. Neither is in the machine, whose
  kernels are called by name.
- `move-reshapes` then: what lies between two loops keeps them apart.
- `fuse-elementwise` then: a schedule tiles one loop after a reduction.
- `compute-by-rows` on the loops that are left: between them is one row then.
- `compute-in-destinations` on them: each of the loops would have memory of its own.
- `call-blas`, if all products are the library's, before their operands are copied for a schedule.
- `materialize-products`, of which each is the only loop in its chain then.
- `merge-rows` on products in the loops that tiles will be of: nothing is fused any more.
- `transpose-operands`, `write-transposed`: they write buffers, which nothing fuses with any more.
- `store-parts` then: a loop that is stored is divided.
- `copy-kernels`, if code is for several levels of processors, each of which has its schedules.
- `compute-winograd` then: its tiles of registers depend on the processor.
- `choose-schedules` on the final loops.
- `call-blas{unscheduled=true}` after it, for products without a schedule.
- `divide-between-threads` then: chunks are whole tiles.
- `sum-in-blocks` then: a loop over blocks is not one over rows, which threads divide.
- `write-onto-results` at the end: all others look for empty tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from xdsl.passes import ModulePass

from .kernels.call_blas import CallBlasPass
from .kernels.choose_schedules import ChooseSchedulesPass
from .kernels.compute_by_rows import ComputeByRowsPass
from .kernels.compute_in_destinations import ComputeInDestinationsPass
from .kernels.compute_winograd import ComputeWinogradPass
from .kernels.copy_kernels import CopyKernelsPass
from .kernels.divide_between_threads import DivideBetweenThreadsPass
from .kernels.fuse_elementwise import FuseElementwisePass
from .kernels.materialize_products import MaterializeProductsPass
from .kernels.merge_aliases import MergeAliasesPass
from .kernels.merge_rows import MergeRowsPass
from .kernels.move_reshapes import MoveReshapesPass
from .kernels.store_parts import StorePartsPass
from .kernels.sum_in_blocks import SumInBlocksPass
from .kernels.transpose_operands import TransposeOperandsPass
from .kernels.version_kernels import VersionKernelsPass
from .kernels.write_onto_results import WriteOntoResultsPass
from .kernels.write_transposed import WriteTransposedPass
from .toolchain.target_machine import LEVELS, Machine

BlasUse: TypeAlias = Literal["openblas", "openblas-always"]
"""The products that call OpenBLAS: those without a schedule, or all."""


def kernel_passes(
    machine: Machine, blas: BlasUse | None = None, threads: bool = False, versions: bool = True
) -> Sequence[ModulePass]:
    """
    Return the passes that prepare kernels for `machine`, for `threads` too, in order.

    Without `versions`, each kernel stays one.
    """
    return (
        *((MergeAliasesPass(), VersionKernelsPass()) if versions else ()),
        MoveReshapesPass(),
        FuseElementwisePass(),
        ComputeByRowsPass(),
        ComputeInDestinationsPass(),
        *((CallBlasPass(),) if blas == "openblas-always" else ()),
        MaterializeProductsPass(),
        MergeRowsPass(),
        TransposeOperandsPass(),
        WriteTransposedPass(),
        StorePartsPass(),
        *((CopyKernelsPass(machine.triple),) if machine.cpu == LEVELS else ()),
        ComputeWinogradPass(machine.triple, machine.cpu, threads),
        ChooseSchedulesPass(machine.triple, machine.cpu),
        *((CallBlasPass(unscheduled=True),) if blas is not None else ()),
        *((DivideBetweenThreadsPass(),) if threads else ()),
        SumInBlocksPass(),
        WriteOntoResultsPass(),
    )
