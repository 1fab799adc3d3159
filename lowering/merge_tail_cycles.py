"""
Merge functions that call each other in tail position into one, which calls itself.

    func.func private @even(%n: memref<i8>, %x: memref<f32>) -> memref<f32> {
      … %z = func.call @odd(%m, %x) …
    }
    func.func private @odd(%n: memref<i8>, %x: memref<f32>) -> memref<f32> {
      … %z = func.call @even(%m, %x) …
    }
    ->
    func.func private @even(%n: memref<i8>, %x: memref<f32>) -> memref<f32> {
      %r = func.call @even.cycle(%c0, %n, %x)
      func.return %r
    }
    …
    func.func private @even.cycle(%which: index, %n: memref<i8>, %x: memref<f32>) -> memref<f32> {
      %r = scf.index_switch %which -> memref<f32>
      case 0 {
        … %z = func.call @even.cycle(%c1, %m, %x) …
      }
      default {
        … %z = func.call @even.cycle(%c0, %m, %x) …
      }
      func.return %r
    }

Parameters of one type share a parameter of the new function. A function passes unread memory for
those that it does not have: empty, if the shape is dynamic. Before `tail-calls-to-loops`, which
makes the new function a loop. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects.tensors import MIN_ALIGNMENT
from ..passes.functions.symbols import SymbolNames
from ..passes.support.changes import LevelPass
from ..runtime.program.components import components
from .memref.deallocation import freed
from .memref.memref_types import as_memref
from .memref.tail_positions import tail_calls


@dataclass(frozen=True)
class Cycle:
    """Functions that call each other in tail position, and the parameters of the merged one."""

    symbol: str
    functions: Sequence[func.FuncOp]
    types: Sequence[Attribute]
    places: Mapping[str, Sequence[int]]
    """The index in `types` of each parameter, by function."""

    @property
    def numbers(self) -> dict[str, int]:
        return {f.sym_name.data: number for number, f in enumerate(self.functions)}


def cycles_in(module: ModuleOp) -> list[Cycle]:
    """Return the cycles of tail calls between different functions, all with the same results."""
    functions = {
        f.sym_name.data: f for f in module.ops if isinstance(f, func.FuncOp) and f.body.blocks
    }
    called: dict[str, Sequence[str]] = {}
    for name, function in functions.items():
        callees = (call.callee.string_value() for call in tail_calls(function.body.block))
        called[name] = [*dict.fromkeys(callees)]
    names = SymbolNames.of(module)
    cycles: list[Cycle] = []
    for component in components(called):
        members = [functions[name] for name in functions if name in component]
        inputs = [type for f in members for type in f.function_type.inputs]
        if len(members) > 1 and all(isinstance(type, MemRefType) for type in inputs):
            types, places = shared_parameters(members)
            symbol = names.unique(f"{members[0].sym_name.data}.cycle")
            cycles.append(Cycle(symbol, members, types, places))
    return cycles


def shared_parameters(
    functions: Sequence[func.FuncOp],
) -> tuple[list[Attribute], dict[str, list[int]]]:
    """Return the types of the shared parameters, and the index there of each function's own."""
    types: list[Attribute] = []
    places: dict[str, list[int]] = {}
    for function in functions:
        taken = places[function.sym_name.data] = list[int]()
        for type in function.function_type.inputs:
            free = (i for i, other in enumerate(types) if other == type and i not in taken)
            place = next(free, len(types))
            if place == len(types):
                types.append(type)
            taken.append(place)
    return types, places


def merge(cycle: Cycle) -> func.FuncOp:
    """Move the bodies of the functions of `cycle` into a new one, which they call."""
    results = cycle.functions[0].function_type.outputs.data
    block = Block(arg_types=[IndexType(), *cycle.types])
    which, *shared = block.args
    which.name_hint = "which"
    regions: list[Region] = []
    for function in cycle.functions:
        body = function.body.block
        for place, param in zip(cycle.places[function.sym_name.data], body.args, strict=True):
            shared[place].name_hint = shared[place].name_hint or param.name_hint
            param.replace_all_uses_with(shared[place])
        for call in [*tail_calls(body)]:
            if call.callee.string_value() in cycle.numbers:
                Rewriter.replace_op(call, call_of(cycle, call, shared))
        end = body.last_op
        assert end is not None
        Rewriter.replace_op(end, scf.YieldOp(*end.operands))
        arm = Block()
        for op in [*body.ops]:
            op.detach()
            arm.add_op(op)
        regions.append(Region(arm))
        call_merged(cycle, function)
    cases = DenseArrayBase.from_list(i64, range(len(regions) - 1))
    switch = scf.IndexSwitchOp(which, cases, regions[-1], regions[:-1], results)
    block.add_ops([switch, func.ReturnOp(*switch.results)])
    made = func.FuncOp(cycle.symbol, (block.arg_types, results), Region(block), "private")
    made.location = cycle.functions[0].location
    return made


def call_of(cycle: Cycle, call: func.CallOp, shared: Sequence[SSAValue]) -> list[Operation]:
    """Return the call of the merged function in place of `call`, after the number of its callee."""
    callee = call.callee.string_value()
    number = arith.ConstantOp(IntegerAttr(cycle.numbers[callee], IndexType()))
    given = [*shared]
    for place, value in zip(cycle.places[callee], call.arguments, strict=True):
        given[place] = value
    new = func.CallOp(cycle.symbol, [number, *given], call.result_types)
    new.location = call.location
    return [number, new]


def call_merged(cycle: Cycle, function: func.FuncOp) -> None:
    """Call the merged function in `function`, whose body has been moved."""
    name, body = function.sym_name.data, function.body.block
    number = arith.ConstantOp(IntegerAttr(cycle.numbers[name], IndexType()))
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    given: list[SSAValue | None] = [None] * len(cycle.types)
    for place, param in zip(cycle.places[name], body.args, strict=True):
        given[place] = param
    made: list[Operation] = []
    values: list[SSAValue] = []
    for value, type in zip(given, map(as_memref, cycle.types), strict=True):
        if value is None:
            dims = [zero.result] * type.get_shape().count(DYNAMIC_INDEX)
            unread = memref.AllocOp(dims, [], type, IntegerAttr(MIN_ALIGNMENT, i64))
            made.append(unread)
            value = unread.memref
        values.append(value)
    call = func.CallOp(cycle.symbol, [number, *values], function.function_type.outputs.data)
    call.location = function.location
    frees = [free for op in made for free in freed(op.results[0])]
    body.add_ops([number, *([zero] if made else []), *made, call, *frees])
    body.add_op(func.ReturnOp(*call.results))


class MergeTailCyclesPass(LevelPass):
    """Merge functions that call each other in tail position into one."""

    name = "merge-tail-cycles"
    accepts = "memref"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for cycle in cycles_in(op):
            op.body.block.insert_op_after(merge(cycle), cycle.functions[-1])
