"""Kernels stay within their arrays for any attributes and output shapes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast
from zlib import crc32

import numpy as np
import pytest
from helpers.operators.inferring import OPERATORS
from helpers.operators.operator_cases import Case, Draw, case, moderate
from helpers.programs.random_settings import rounds

from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.memory.scratch import Workspace

GUARD = 4096
"""The bytes before and after each array."""


def guarded(array: Any, fill: int) -> tuple[Any, Any]:
    """Return a copy of `array` between two guards of `GUARD` bytes, and the whole buffer."""
    block = np.full(array.nbytes + 2 * GUARD, fill, np.uint8)
    inside = block[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
    inside[...] = array
    return inside, block


class Guarded(Workspace):
    """Scratch memory with guards around each piece; pieces are initialised to `fill`, too."""

    def __init__(self, fill: int):
        super().__init__()
        self.fill = fill
        self.blocks: list[Any] = []

    def take(self, size: int) -> Any:
        block = np.full(size + 2 * GUARD, self.fill, np.uint8)
        self.blocks.append(block)
        return block[GUARD : GUARD + size]


def spoiled(case: Case, draw: Draw) -> Case:
    """Replace some numbers in a case's attributes, and perhaps a dim of a result, at random."""

    def other(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(other(entry) for entry in cast("tuple[Any, ...]", value))
        if isinstance(value, bool) or not isinstance(value, int) or draw.chance(0.75):
            return value
        return draw.one_of(-value, value + 1, value - 1, draw.number(-9, 9), draw.number(-50, 50))

    results = list(case.results)
    if draw.chance():
        at = draw.number(0, len(results) - 1)
        shape, dtype = results[at]
        dims = [draw.one_of(dim, dim, dim + 1, max(dim - 1, 0), draw.number(0, 9)) for dim in shape]
        results[at] = (tuple(dims), dtype)
    attrs = {name: other(value) for name, value in case.attrs.items()}
    return replace(case, attrs=attrs, results=results)


def outcome(case: Case, operands: Sequence[Any], fill: int) -> list[bytes] | None:
    """Run a case's kernel with bytes of `fill` around its arrays; return its results or None."""
    ins = [guarded(array, fill) for array in operands]
    outs = [guarded(np.zeros(shape, dtype), fill) for shape, dtype in case.results]
    workspace = Guarded(fill)
    bind = KERNELS[f"relay.{case.name}"].bind  # without the signature's check
    try:
        with workspace.lend():
            run = bind(case.attrs, [array for array, _ in ins], [array for array, _ in outs])
        run()
    except Exception:  # any exception is acceptable
        refused = True
    else:
        refused = False
    for block in (*(block for _, block in (*ins, *outs)), *workspace.blocks):
        assert (block[:GUARD] == fill).all(), "it writes before an array"
        assert (block[-GUARD:] == fill).all(), "it writes after an array"
    return None if refused else [array.tobytes() for array, _ in outs]


@pytest.mark.parametrize("name", OPERATORS)
def test_a_kernel_neither_reads_nor_writes_what_is_not_its_own(name: str):
    rng = np.random.default_rng(crc32(name.encode()))
    attributes = OPERATORS[name].get_irdl_definition().properties
    for number in range(rounds(10 + 10 * len(attributes))):
        this = case(name, number)
        draw = Draw(rng, this.dtype)
        operands = [
            x if i in this.fixed and draw.chance() else moderate(draw, x.shape, x.dtype.name)
            for i, x in enumerate(this.operands)
        ]
        for _ in range(rounds(32, 24)):
            wrong = spoiled(this, draw)
            with np.errstate(all="ignore"):
                first, second = (outcome(wrong, operands, fill) for fill in (0x11, 0x22))
            assert first == second, f"{wrong} -> {wrong.results} reads what is around its arrays"
