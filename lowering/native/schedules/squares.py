"""
Tile a loop that transposes into squares: see `write-transposed`.

    for i, 16:  for j, 16:  %out[i .. i + 16, j .. j + 16] = transpose %in[j .. j + 16, i .. i + 16]
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from ..linalg_generics import SIDE, TRANSPOSING, maps_of
from .scheduling import Steps


def transposing_loop(kernel: FuncOp) -> linalg.GenericOp | None:
    """Return the loop of `kernel` that transposes, if there is one."""
    loops = (op for op in kernel.walk() if isinstance(op, linalg.GenericOp))
    return next((op for op in loops if TRANSPOSING in op.attributes), None)


def squares(op: linalg.GenericOp, steps: Steps, func: SSAValue) -> None:
    """Append the steps for a loop that transposes."""
    out = op.outputs[0].type
    assert isinstance(out, MemRefType), "loops that transpose write buffers"
    shape = out.get_shape()
    lasts = [map.results[-1] for map in maps_of(op) if map.results]
    sides = {last.position for last in lasts if isinstance(last, AffineDimExpr)}
    transposing = steps.match(func, "linalg.generic", **{TRANSPOSING: UnitAttr()})
    sizes = [SIDE if loop in sides else 1 for loop in range(len(shape))]
    _, *loops = steps.tile(transposing, sizes)
    for loop in sorted(sides, reverse=True):
        if shape[loop] % SIDE:
            end = steps.match(steps.peel(loops[loop]), "linalg.generic")
            steps.op("structured.convert_to_loops", end, results=1)
    steps.include("vectorize_squares", func)
