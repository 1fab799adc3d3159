"""
The ways in which one operator is computed: `from number_levels import LEVELS`.

    level = LEVELS["native"](rows, folder)      compiles all rows, in one library
    level.run(row, operands, shape)             the array of results
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from helpers.machine.in_machine import run_passes
from helpers.native.linalg_programs import call, library_of
from helpers.numbers.number_bounds import FOLLOWED
from helpers.numbers.number_rows import Row
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, Region

from xrelay.lowering.memref.booleans import store_booleans_as_bytes
from xrelay.lowering.native.build.machine_kernels import machine_kernels
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.stages import module_text
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.operators.sizes.algebra import Algebra
from xrelay.operators.sizes.size_expressions import Expr
from xrelay.passes.evaluation.kernel_calls import OperatorEvaluator
from xrelay.passes.sizes.shape_tensors import ShapeTensors
from xrelay.runtime.kernels import KERNELS

Array: TypeAlias = Any


class Level(Protocol):
    def run(self, row: Row, operands: Sequence[Array]) -> Array: ...


def garbage(row: Row, operands: Sequence[Array]) -> Array:
    """An output whose unwritten elements are wrong."""
    dtype = np.dtype(row.result)
    fill = np.nan if dtype.kind == "f" else 0x55
    return np.full(row.results_shape(operands), fill, dtype)


class InMachine:
    """The machine's kernels, bound to arrays."""

    def __init__(self, rows: Sequence[Row], folder: Path): ...

    def run(self, row: Row, operands: Sequence[Array]) -> Array:
        out = garbage(row, operands)
        if out.size:
            with np.errstate(all="ignore"):
                KERNELS[f"relay.{row.name}"](row.attributes, operands, [out])()
        return out


class Evaluated:
    """The evaluator's application of an operator of dynamic shape."""

    def __init__(self, rows: Sequence[Row], folder: Path):
        self.evaluator = OperatorEvaluator(KERNELS)
        self.ops = {row: row.op() for row in rows}

    def run(self, row: Row, operands: Sequence[Array]) -> Array:
        (out,) = self.evaluator.apply(self.ops[row], operands)
        return out


class Native:
    """Machine code, as it replaces the machine's kernels."""

    def __init__(self, rows: Sequence[Row], folder: Path):
        self.names = {row: f"k{number}" for number, row in enumerate(rows)}
        settings = Settings(machine=Machine(cpu="native"))
        module = ModuleOp([row.kernel(name) for row, name in self.names.items()])
        self.library = machine_kernels(Context(), module, settings)
        assert set(self.library.functions) == set(self.names.values()), "all are machine code"

    def run(self, row: Row, operands: Sequence[Array]) -> Array:
        ins = [np.array(x, order="C") for x in operands]
        out = garbage(row, operands)
        self.library.call(self.names[row], [*ins, out])()
        return out


class Linalg:
    """Programs as linalg on tensors, compiled by upstream passes alone."""

    def __init__(self, rows: Sequence[Row], folder: Path):
        self.names = {row: f"k{number}" for number, row in enumerate(rows)}
        module = ModuleOp([function_of(row, name) for row, name in self.names.items()])
        run_passes(module, "linalg")
        store_booleans_as_bytes(module)
        for function in module.ops:
            if isinstance(function, func.FuncOp) and not function.is_declaration:
                function.attributes["llvm.emit_c_interface"] = UnitAttr()
        self.library: ctypes.CDLL = library_of(module_text(module), folder)

    def run(self, row: Row, operands: Sequence[Array]) -> Array:
        rank = len(row.results_shape(operands))
        (out,) = call(self.library, self.names[row], operands, [(row.result, rank)])
        return out


def function_of(row: Row, name: str) -> func.FuncOp:
    """A program of the operator alone."""
    kernel = row.kernel(name)
    op, end = kernel.body.block.ops
    block = kernel.body.detach_block(kernel.body.block)
    block.erase_op(end)
    block.add_op(func.ReturnOp(*op.results))
    return func.FuncOp(name, kernel.function_type, Region(block))


LEVELS: Mapping[str, Callable[[Sequence[Row], Path], Level]] = {
    "machine": InMachine,
    "evaluator": Evaluated,
    "native": Native,
    "linalg": Linalg,
}


def shapes_of(
    rows: Sequence[Row], most: int
) -> Iterator[tuple[Row, list[Array], list[int] | None]]:
    """
    Yield rows of integers, operands of one row each, and the result's elements by shape evaluation.

    These are None where they are not known. Of each row, there are at most so many operands.
    """
    tensors = ShapeTensors(Algebra())
    for row in rows:
        if f"relay.{row.name}" not in FOLLOWED or "float" in f"{row.dtype} {row.result}":
            continue
        ops: dict[tuple[int, ...], Operation] = {}
        for every in row.operands(0):
            count = len(every[0]) if every[0].ndim else 0
            for at in range(0, count, -(-count // most) or 1):
                operands = [x[at : at + 1] for x in every]
                shape = operands[0].shape
                op = ops[shape] = ops.get(shape) or row.op(shape)
                sizes = [tuple(Expr.of(int(n)) for n in x.reshape(-1)) for x in operands]
                found = tensors.elements(op, 0, sizes)
                known = [size.constant for size in found or ()]
                integers = [number for number in known if number is not None]
                yield row, operands, integers if known and integers == known else None
