"""
A schedule: a sequence of transform ops, and the library of the schedules of many kernels.

    steps = Steps()
    (func,) = steps.include("prepare", steps.kernel)
    tile, *loops = steps.fuse(root, [4, 16, 0], [0, 1, 2])

Steps that all kernels share are named sequences in common_steps.mlir, which mlir-opt loads as well.
A schedule affects only speed: a kernel whose schedule fails or takes too long is compiled without
one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from typing_extensions import override
from xdsl.dialects import transform
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnregisteredOp,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def
from xdsl.printer import Printer

from ....dialects.integers import i64_array
from ..toolchain.stages import BUFFERIZE, DIVIDE, LOWER_TO_LLVM

SCHEDULE = "xrelay.schedule"
"""The schedules of a kernel, in order: a dictionary each, of its kind and its sizes."""

ROOT = "xrelay.root"
"""The attribute of the op whose result a kernel stores, and of its tiles."""

SCHEDULED = (
    "transform-interpreter{entry-point=on_tensors}",
    # Not cse: merging two empty tensors would let a step be computed in the result's memory,
    # which the plan may have placed over an operand.
    "canonicalize",
    *BUFFERIZE,
    "transform-interpreter{entry-point=on_buffers}",
    *DIVIDE,
    *LOWER_TO_LLVM,
)
"""The passes for kernels with schedules, once these are loaded; see `Schedule`."""

COMMON = Path(__file__).with_name("common_steps.mlir")
"""The sequences that steps include."""

HANDLE = transform.AnyOpType()
LOOP = transform.OperationType("scf.for")
PROPAGATE = IntegerAttr(1, i32)
READONLY = ArrayAttr([DictionaryAttr({"transform.readonly": UnitAttr()})])


@irdl_op_definition
class WrittenOp(IRDLOperation):
    """Steps that a user wrote: text in which `%kernel` is the function."""

    name = "xrelay.written"
    text = prop_def(StringAttr)


class _Printer(Printer):
    @override
    def print_op(self, op: Operation) -> None:
        # xDSL's own form of a declaration omits the attributes of its parameters.
        self.print_generic_format = isinstance(op, transform.NamedSequenceOp) and not op.body.blocks
        if isinstance(op, WrittenOp):
            self.print_string(op.text.data)
        else:
            super().print_op(op)


def text_of(*ops: Operation) -> str:
    """Return the text of steps, or of a module of them."""
    text = StringIO()
    printer = _Printer(stream=text)
    for op in ops:
        printer.print_op(op)
        printer.print_string("\n")
    return text.getvalue()


@cache
def common_steps() -> str:
    """Return the text of `COMMON`."""
    return COMMON.read_text(encoding="utf-8")


@cache
def handles() -> Mapping[str, int]:
    """Return the number of handles that each sequence of `COMMON` returns."""
    heads: list[tuple[str, str]] = re.findall(r"_sequence @(\w+)\(.*\)( -> )?", common_steps())
    return {name: int(bool(result)) for name, result in heads}


@cache
def _class_of(name: str) -> type[Operation]:
    """Return the class of an op that xDSL does not have."""
    return UnregisteredOp.with_name(f"transform.{name}")


class Steps:
    """Steps on a function, written op by op: a method appends an op and returns its handles."""

    def __init__(self) -> None:
        self.block = Block(arg_types=[HANDLE])
        (self.kernel,) = self.block.args
        self.kernel.name_hint = "kernel"
        self.has_root = False

    def __bool__(self) -> bool:
        return not self.block.is_empty

    def op(
        self,
        name: str,
        *on: SSAValue,
        results: int = 0,
        loops: int = 0,
        properties: Mapping[str, Attribute] = MappingProxyType({}),
    ) -> list[SSAValue]:
        """Append the op `name`; return its handles: `results` of ops, then `loops` of loops."""
        types = [HANDLE] * results + [LOOP] * loops
        op = _class_of(name).create(operands=on, result_types=types, properties=properties)
        self.block.add_op(op)
        return list(op.results)

    def include(self, name: str, on: SSAValue) -> list[SSAValue]:
        """Run another sequence on a handle."""
        properties = {"target": SymbolRefAttr(name), "failure_propagation_mode": PROPAGATE}
        return self.op("include", on, results=handles().get(name, 0), properties=properties)

    def match(self, on: SSAValue, *names: str, **attributes: Attribute) -> SSAValue:
        """Find the ops in `on` of one of the names, if any are given, with `attributes`."""
        properties: dict[str, Attribute] = {}
        if names:
            properties["ops"] = ArrayAttr(map(StringAttr, names))
        if attributes:
            properties["op_attrs"] = DictionaryAttr(attributes)
        return self.op("structured.match", on, results=1, properties=properties)[0]

    def fuse(
        self, root: SSAValue, sizes: Sequence[int], order: Sequence[int] = ()
    ) -> list[SSAValue]:
        """Tile `root`, fuse its producers; return the tile and its loops, outermost first."""
        properties: dict[str, Attribute] = {
            "apply_cleanup": UnitAttr(),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0]),
            "static_tile_sizes": i64_array(sizes),
        }
        if order:
            properties["static_tile_interchange"] = i64_array(order)
        return self.op(
            "structured.fuse", root, results=1, loops=sum(map(bool, sizes)), properties=properties
        )

    def tile(self, target: SSAValue, sizes: Sequence[int]) -> list[SSAValue]:
        """Tile `target` alone; return the tile and its loops, outermost first."""
        scalable = DenseArrayBase.from_list(i1, [0] * len(sizes))
        properties = {"static_sizes": i64_array(sizes), "scalable_sizes": scalable}
        loops = sum(map(bool, sizes))
        name = "structured.tile_using_for"
        return self.op(name, target, results=1, loops=loops, properties=properties)

    def divide(self, root: SSAValue, sizes: Sequence[int]) -> None:
        """Tile `root` by a parallel loop over chunks, and fuse its producers."""
        properties: dict[str, Attribute] = {
            "apply_cleanup": UnitAttr(),
            "use_forall": UnitAttr(),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0]),
            "static_tile_sizes": i64_array(sizes),
        }
        self.op("structured.fuse", root, results=2, properties=properties)

    def divide_loops(self, loops: SSAValue, sizes: Sequence[int]) -> None:
        """Tile each of `loops`, on buffers, by a parallel loop over chunks."""
        properties: dict[str, Attribute] = {
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0, 0, 0]),
            "static_num_threads": i64_array([]),
            "static_tile_sizes": i64_array(sizes),
        }
        self.op("structured.tile_using_forall", loops, results=2, properties=properties)

    def peel(self, loop: SSAValue) -> SSAValue:
        """Divide `loop` into one over whole tiles and a remainder; return the remainder."""
        return self.op("loop.peel", loop, results=2)[1]

    def write_text(self, text: str) -> None:
        """Append steps that a user wrote."""
        if text.strip():
            self.block.add_op(WrittenOp.create(properties={"text": StringAttr(text)}))

    def sequence(self, name: str) -> transform.NamedSequenceOp:
        """Return a copy of the steps as the sequence `name`."""
        block = Block(arg_types=[HANDLE])
        values: dict[SSAValue, SSAValue] = {self.kernel: block.args[0]}
        block.args[0].name_hint = "kernel"
        block.add_ops([*(op.clone(values) for op in self.block.ops), transform.YieldOp()])
        return transform.NamedSequenceOp(name, ([HANDLE], []), Region(block), arg_attrs=READONLY)


def root_in(func: SSAValue, steps: Steps) -> SSAValue:
    """Return the handle of the op whose result the kernel stores, or of its tiles."""
    if not steps.has_root:
        steps.has_root = True
        return steps.include("mark_root", func)[0]
    return steps.match(func, **{ROOT: UnitAttr()})


class Schedule(NamedTuple):
    """The steps of one kernel, before and after bufferization."""

    on_tensors: Steps
    on_buffers: Steps

    @property
    def key(self) -> str:
        """Text that differs whenever two schedules do."""
        stages = (text_of(*steps.block.ops) for steps in self)
        return f"{'then'.join(stages)}{common_steps()}"


def library_of(schedules: Mapping[str, Schedule]) -> ModuleOp:
    """
    Return a module with the schedules of kernels, by symbol.

    Its sequences `on_tensors` and `on_buffers` apply each to the function of that name. It includes
    those of `COMMON`.
    """
    module = ModuleOp([], {"transform.with_named_sequence": UnitAttr()})
    for stage in Schedule._fields:
        combined = Steps()
        for symbol, schedule in schedules.items():
            steps: Steps = getattr(schedule, stage)
            if steps:
                name = f"{stage}_{symbol}"
                module.body.block.add_op(steps.sequence(name))
                kernel = combined.match(combined.kernel, "func.func", sym_name=StringAttr(symbol))
                combined.include(name, kernel)
        module.body.block.add_op(combined.sequence(stage))
    for name, results in handles().items():
        type = [HANDLE], [HANDLE] * results
        declared = transform.NamedSequenceOp(name, type, Region(), "private", arg_attrs=READONLY)
        module.body.block.add_op(declared)
    return module
