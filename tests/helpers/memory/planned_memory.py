"""The arenas of a program before their layout, and the bytes that they need at least."""

from collections.abc import Mapping, Sequence

from helpers.machine.in_machine import UNIVERSE, run_passes
from helpers.programs.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.dialects import memory
from xrelay.dialects.device import device_of
from xrelay.lowering.pipelines import VmPipeline
from xrelay.operators.sizes.size_expressions import Expr
from xrelay.passes.layout_slices import problem_of
from xrelay.passes.sizes.reader import Sizes
from xrelay.passes.support.changes import CompositePass
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import named_pipelines

TO_MANIFEST = VmPipeline().text.partition(",plan-memory")[0]


def packed(module: ModuleOp, plan: str = "plan-memory") -> None:
    """Lower `module`, of level `relay`, up to the packs of `plan`."""
    run_passes(module, TO_MANIFEST)
    (step,) = build(plan, UNIVERSE.all_passes, named_pipelines)
    assert isinstance(step.run, CompositePass)
    for part in step.run.steps():
        part.apply(context(), module)
        if part.name == "pack-storage":
            break


def arena_bounds(
    module: ModuleOp, lengths: Sequence[int] = (1,), plan: str = "plan-memory"
) -> list[Mapping[str, int]]:
    """
    Pack the storages of `module`, of level `relay`; return the lower bounds of its arenas, summed
    by device, where all symbols in their sizes are each of `lengths`.

    The live bytes of each tensor are rounded up to its alignment.
    """
    packed(module, plan)
    found = Sizes()
    found.read(module)

    def size(value: int | SSAValue) -> Expr:
        return Expr.of(value) if isinstance(value, int) else found.size(value)

    packs = [memory.Packing(op) for op in module.walk() if isinstance(op, memory.PackOp)]
    sizes = [[*map(size, pack.sizes)] for pack in packs]
    bounds: list[Mapping[str, int]] = []
    for length in lengths:
        by_device: dict[str, int] = {}
        for pack, each in zip(packs, sizes, strict=True):
            values = {symbol: length for size in each for symbol in size.symbols()}
            problem = problem_of(pack, [size.value(values) for size in each])
            assert pack.total is not None
            (use,) = pack.total.total.uses
            device = str(device_of(use.operation.results[0].type))
            by_device[device] = by_device.get(device, 0) + lower_bound(core_of(problem))
        bounds.append(by_device)
    return bounds
