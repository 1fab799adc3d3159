"""
Effects, aliases and control flow of upstream ops on buffers, attached to their classes.

xDSL's own ops declare some effects. What they lack, and what no trait of xDSL says, is here: the
values that a loop or a branch passes on, the views of memrefs, and ops that capture an operand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain

from xdsl.dialects import affine, bufferization, cf, func, gpu, linalg, memref, scf, vector
from xdsl.dialects.linalg import abstract_ops
from xdsl.dialects.linalg import ops as linalg_ops
from xdsl.ir import Operation, SSAValue
from xdsl.traits import (
    MemoryAllocEffect,
    MemoryEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    OpTrait,
    Pure,
    RecursiveMemoryEffect,
)

from ..interfaces import CallsFunction, CapturesOperands, PassesValues, ResultAliases, Runs
from ..interfaces.memory_effects import Named, RunsRegions, ends_of
from . import affine_forms, async_dialect, mended, missing_ops


def pairs(names: Sequence[SSAValue], values: Iterable[SSAValue]) -> Named:
    """Pair the last of `names` with `values`."""
    values = [*values]
    return zip(names[len(names) - len(values) :] if values else (), values, strict=False)


class Chooses(RunsRegions):
    """The results are what the region that runs yields."""

    def passed(self, op: Operation) -> Named:
        ends = chain.from_iterable(map(ends_of, op.regions))
        return chain.from_iterable(pairs(op.results, end.operands) for end in ends)


class Carries(RunsRegions):
    """The last arguments and the results are the last operands, or what an iteration yielded."""

    def passed(self, op: Operation) -> Named:
        count = len(op.results)
        arguments = op.regions[0].blocks[0].args
        arguments = arguments[len(arguments) - count :]
        first = op.operands[len(op.operands) - count :]
        for values in (first, *(end.operands for end in ends_of(op.regions[0]))):
            yield from pairs(arguments, values)
            yield from pairs(op.results, values)


class CarriesInWhile(RunsRegions):
    """The condition passes values to the body and the results; the body yields to the condition."""

    def passed(self, op: Operation) -> Named:
        before, after = (region.blocks[0] for region in op.regions)
        yield from pairs(before.args, op.operands)
        for end in ends_of(op.regions[0]):
            yield from pairs(after.args, end.operands[1:])
            yield from pairs(op.results, end.operands[1:])
        for end in ends_of(op.regions[1]):
            yield from pairs(before.args, end.operands)


class Launches(Chooses):
    """With a token, what follows does not wait."""

    def runs(self, op: Operation) -> Runs:
        return Runs.LATER if op.results else self.how


class Executes(Chooses):
    """Values that are awaited are the arguments of the region."""

    def passed(self, op: Operation) -> Named:
        arguments = op.regions[0].blocks[0].args
        first = len(op.operands) - len(arguments)
        yield from zip(arguments, op.operands[first:], strict=True)
        yield from super().passed(op)


class Branches(PassesValues):
    """Pass operands to the arguments of successors."""

    def passed(self, op: Operation) -> Named:
        match op:
            case cf.BranchOp():
                yield from pairs(op.successor.args, op.arguments)
            case cf.ConditionalBranchOp():
                yield from pairs(op.then_block.args, op.then_arguments)
                yield from pairs(op.else_block.args, op.else_arguments)
            case cf.SwitchOp():
                yield from pairs(op.default_block.args, op.default_operands)
                at = 0
                counts = op.case_operand_segments.get_values()
                for block, count in zip(op.case_blocks, counts, strict=True):
                    yield from pairs(block.args, op.case_operands[at : at + count])
                    at += count
            case _:
                raise AssertionError(f"{op.name} is not a branch of cf")


_VIEWS = (
    memref.AssumeAlignmentOp,
    memref.CastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.MemorySpaceCastOp,
    memref.ReinterpretCastOp,
    memref.SubviewOp,
    memref.ViewOp,
    memref.ExtractStridedMetaDataOp,
    bufferization.ToTensorOp,
    bufferization.ToBufferOp,
)
_READ = (
    affine.LoadOp,
    affine.VectorLoadOp,
    vector.LoadOp,
    vector.MaskedLoadOp,
    vector.TransferReadOp,
)
_WRITE = (
    affine.StoreOp,
    affine.VectorStoreOp,
    vector.StoreOp,
    vector.MaskedStoreOp,
    vector.TransferWriteOp,
)
_PURE = (memref.DimOp, affine.MinOp, linalg_ops.YieldOp, linalg_ops.IndexOp, func.ReturnOp)
_ONE, _LOOP, _PARALLEL = Runs.ONE, Runs.LOOP, Runs.PARALLEL

_CONTROL_FLOW: dict[type[Operation], OpTrait] = {
    scf.IfOp: Chooses(_ONE),
    scf.IndexSwitchOp: Chooses(_ONE),
    scf.ExecuteRegionOp: Chooses(_ONE),
    scf.ForOp: Carries(_LOOP),
    scf.WhileOp: CarriesInWhile(_LOOP),
    scf.ParallelOp: Carries(_PARALLEL),
    scf.ReduceOp: Chooses(_PARALLEL),
    missing_ops.ForallOp: Carries(_PARALLEL),
    missing_ops.InParallelOp: Chooses(_PARALLEL),
    affine.IfOp: Chooses(_ONE),
    affine.ForOp: Carries(_LOOP),
    affine_forms.ParallelOp: Chooses(_PARALLEL),
    gpu.LaunchOp: Launches(_PARALLEL),
    async_dialect.ExecuteOp: Executes(Runs.LATER),
    memref.AllocaScopeOp: Chooses(_ONE),
    cf.BranchOp: Branches(),
    cf.ConditionalBranchOp: Branches(),
    cf.SwitchOp: Branches(),
}

_CAPTURING = {
    memref.ExtractAlignedPointerAsIndexOp: "whose result is its address",
    missing_ops.ReallocOp: "which may move it (mlir-opt --expand-realloc copies it instead)",
}


def declare(kind: type[Operation], *traits: OpTrait) -> None:
    """Give ops of a class traits; an effect only if they have none."""
    for trait in traits:
        is_effect = isinstance(trait, MemoryEffect)
        if kind.get_trait(MemoryEffect if is_effect else type(trait)) is None:
            kind.traits.add_trait(trait)


@cache
def attach_buffer_interfaces() -> None:
    """Give the ops of upstream dialects the traits that planning needs, once."""
    mended(linalg.Linalg)
    for kinds, traits in (
        (_VIEWS, (NoMemoryEffect(), ResultAliases((0,)))),
        (_READ, (MemoryReadEffect(),)),
        (_WRITE, (MemoryWriteEffect(),)),
        ((bufferization.CloneOp,), (MemoryReadEffect(), MemoryAllocEffect())),
    ):
        for kind in kinds:
            declare(kind, *traits)
    for kind in _PURE:
        kind.traits.add_trait(Pure())
    for kind in (cf.AssertOp, vector.PrintOp):
        declare(kind, MemoryWriteEffect())
    for kind, trait in _CONTROL_FLOW.items():
        declare(kind, trait, RecursiveMemoryEffect() if isinstance(trait, RunsRegions) else Pure())
    structured = abstract_ops.LinalgStructuredOperation | missing_ops.StructuredOp
    for kind in linalg.Linalg.operations:
        if issubclass(kind, structured | linalg_ops.BroadcastOp | linalg_ops.ReduceOp):
            declare(kind, MemoryReadEffect())
            kind.traits.add_trait(MemoryWriteEffect())
    for kind, why in _CAPTURING.items():
        kind.traits.add_trait(CapturesOperands(why))
    declare(func.CallOp, CallsFunction())
