"""
Tile a loop that transposes into squares: see `write-transposed`.

    for i, 16:  for j, 16:  %out[i .. i + 16, j .. j + 16] = transpose %in[j .. j + 16, i .. i + 16]
"""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir.affine import AffineDimExpr

from ..linalg_generics import maps_of
from ..transposing_loops import SIDE, TRANSPOSING
from .templates import FOR, filled, ops


def transposing_loop(kernel: FuncOp) -> linalg.GenericOp | None:
    """Return the loop of `kernel` that transposes, if there is one."""
    loops = (op for op in kernel.walk() if isinstance(op, linalg.GenericOp))
    return next((op for op in loops if TRANSPOSING in op.attributes), None)


def squares(op: linalg.GenericOp) -> str:
    """Return the steps for a loop that transposes."""
    out = op.outputs[0].type
    assert isinstance(out, MemRefType), "loops that transpose write buffers"
    shape = out.get_shape()
    maps = maps_of(op)
    lasts = [map.results[-1] for map in maps if map.results]
    sides = {last.position for last in lasts if isinstance(last, AffineDimExpr)}
    sizes = [SIDE if loop in sides else 1 for loop in range(len(shape))]
    return filled(
        "squares",
        loops=", ".join(f"%square_loop{loop}" for loop in range(len(shape))),
        loop_types=ops(len(shape)),
        sizes=", ".join(map(str, sizes)),
        rests="\n".join(_rest(loop) for loop in sorted(sides, reverse=True) if shape[loop] % SIDE),
    )


def _rest(loop: int) -> str:
    """Write the steps that cut the end of a dim off."""
    return f"""\
%square_for{loop} = transform.cast %square_loop{loop} : !op to {FOR}
%whole{loop}, %rest{loop} = transform.loop.peel %square_for{loop}
    : ({FOR}) -> (!op, !op)
%end{loop} = transform.structured.match ops{{["linalg.generic"]}} in %rest{loop} : (!op) -> !op
%end_loops{loop} = transform.structured.convert_to_loops %end{loop} : (!op) -> !op"""
