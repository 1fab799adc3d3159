"""The model of the memory that a program uses, against the machine and the IR itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import UNIVERSE, machine_of
from helpers.programs.agreement import quiet
from helpers.programs.dynamic_programs import DynamicProgram, dynamic_programs, inferred
from helpers.programs.every_case import seeds
from helpers.programs.programs import parse
from helpers.programs.random_settings import exactly
from helpers.programs.transformer import encoder
from hypothesis import Phase, given
from hypothesis import strategies as st
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue

from xrelay.dialects import memory, vm
from xrelay.dialects.memory import Arm
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.memory_report.formulas import Formulas
from xrelay.passes.memory_report.loads import Weight, loads, most_on_a_path, peak_of
from xrelay.passes.memory_report.model import FunctionUse, MemoryUse
from xrelay.passes.memory_report.path_liveness import Span
from xrelay.passes.memory_report.read import read_memory, without
from xrelay.passes.memory_report.report import planned_with_calls, report_of
from xrelay.passes.plan_memory import PlanMemoryPass
from xrelay.runtime.errors import MachineError
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.pipeline_steps import TO_BYTECODE, Step
from xrelay.tools.registry import named_pipelines
from xrelay.tools.run.memory_of_run import dims_of_run

UNPLANNED, PLANNED, APART = "vm{memory=none}", "vm", "in-place=false"


def lowered(module: ModuleOp, pipeline: str) -> list[Step]:
    """Run a pipeline up to `lower-to-bytecode`; return the other steps."""
    text = PLANNED if pipeline == APART else pipeline
    steps = build(text, UNIVERSE.all_passes, named_pipelines)
    if pipeline == APART:
        steps = [step for step in steps if step.run.name not in ("reuse-in-place", "join-tensors")]
        at = [step.run.name for step in steps].index("plan-memory")
        steps[at] = Step(PlanMemoryPass(in_place=False))
    last = [step.run.name for step in steps].index(TO_BYTECODE)
    for step in steps[:last]:
        step.run.apply(quiet(), module)
    return steps[last:]


def numbers(use: FunctionUse, dims: dict[str, int]) -> list[int]:
    return use.formulas.evaluate([dims[variable.name] for variable in use.formulas.variables])


def peaks(use: FunctionUse, values: Sequence[int]) -> tuple[int, int]:
    """Return the most bytes of tensors, and of storages, in use."""
    width = len(use.columns)
    return peak_of(loads(use.live, width, values)).size, peak_of(
        loads(use.held, width, values)
    ).size


BRANCHES = """
func.func @main(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  %a = relay.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %r = relay.if %c : tensor<i1> -> (tensor<8xf32>) {
    %b = relay.nn.softmax %a : (tensor<8xf32>) -> tensor<8xf32>
    %d = relay.nn.softmax %b : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %d : tensor<8xf32>
  } else {
    %e = relay.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
    relay.yield %e : tensor<8xf32>
  }
  %s = relay.exp %r : (tensor<8xf32>) -> tensor<8xf32>
  func.return %s : tensor<8xf32>
}
"""


def branches() -> FunctionUse:
    module = parse(BRANCHES)
    lowered(module, UNPLANNED)
    (use,) = read_memory(module).functions
    return use


def test_a_tensor_is_live_in_the_arms_that_need_it():
    use = branches()
    spans = {tensor.name: tensor.spans for tensor in use.tensors}
    (branch,) = use.branches
    (_, end_of_then), (start_of_else, end) = branch.arms
    assert branch.names == ("then", "else")
    # The `else` does not use %a: it dies at its start.
    assert all(span.stop <= end_of_then for span in spans["a"])
    # What the arms yield is live in its own arm, then on its own path.
    d, after_d = spans["d"]
    e, after_e = spans["e"]
    assert d.stop == end_of_then
    assert start_of_else <= e.start
    assert (d.arms, e.arms) == ((), ())
    assert after_d.start == after_e.start == end
    assert [span.arms[0].arm for span in (after_d, after_e)] == [0, 1]


def test_of_arms_the_larger_one_counts():
    use = branches()
    values = numbers(use, {})
    found = loads(use.live, len(use.columns), values)
    last = use.columns[-1].label
    assert last == "func.return"
    # %d or %e, and %s: not all three.
    assert found[-2] == 64


@pytest.mark.parametrize(("flag", "peak"), [(True, 64), (False, 64)])
def test_the_machine_holds_what_its_path_needs(flag: bool, peak: int):
    module = parse(BRANCHES)
    for step in lowered(module, UNPLANNED):
        step.run.apply(quiet(), module)
    machine = machine_of(assemble(module))
    machine.run("main", np.zeros(8, np.float32), np.array(flag))
    assert machine.counters.peak[0] == peak


@exactly(15, phases=[Phase.generate])
@given(dynamic_programs(), st.sampled_from([UNPLANNED, PLANNED, APART]))
def test_the_machine_uses_what_is_planned(program: DynamicProgram, pipeline: str):
    """The peak of a run is at most the plan's for its shapes; it is the plan's without branches."""
    module = inferred(program)
    rest = lowered(module, pipeline)
    if not any(isinstance(op, memory.AllocTensorOp) for op in walk(module)):
        return
    use = read_memory(module)
    for step in rest:
        step.run.apply(quiet(), module)
    assembled = assemble(module)
    for shapes in program.calls:
        machine = machine_of(assembled)
        try:
            machine.run("main", *(np.zeros(shape, np.float32) for shape in shapes))
        except MachineError:
            continue  # these sizes do not fit
        dims = dims_of_run(use, "main", shapes)
        for index, device in enumerate(assembled.devices):
            compare(use, dims, device, machine.counters.peak.get(index, 0), pipeline)


V = "tensor<2x?xf32>"  # so that concatenations along axis 1 are copies
SEVERAL_ORDERS = f"""
func.func @main(%x: {V} {{relay.dims = ["", "n"]}}) -> {V} {{
  %a = relay.nn.softmax %x {{axis = 1 : i64}} : ({V}) -> {V}
  %b = relay.concatenate %x, %a {{axis = 1 : i64}} : ({V}, {V}) -> {V}
  %c = relay.concatenate %a, %b {{axis = 1 : i64}} : ({V}, {V}) -> {V}
  %d = relay.nn.softmax %c {{axis = 1 : i64}} : ({V}) -> {V}
  %e = relay.concatenate %c, %d {{axis = 1 : i64}} : ({V}, {V}) -> {V}
  %f = relay.concatenate %a, %e {{axis = 1 : i64}} : ({V}, {V}) -> {V}
  %g = relay.nn.softmax %f {{axis = 1 : i64}} : ({V}) -> {V}
  %h = relay.concatenate %e, %f, %g {{axis = 1 : i64}} : ({V}, {V}, {V}) -> {V}
  func.return %h : {V}
}}
"""


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 100, 5000])
def test_a_plan_of_several_orders_has_the_bytes_of_the_one_that_is_taken(n: int):
    module = parse(SEVERAL_ORDERS)
    steps = lowered(module, PLANNED)
    assert any(isinstance(op, arith.SelectOp) for op in walk(module)), "it keeps several"
    use = read_memory(module)
    (report,) = report_of(use, {"n": n})
    assert not report.missing
    for step in steps:
        step.run.apply(quiet(), module)
    machine = machine_of(assemble(module))
    machine.run("main", np.zeros((2, n), np.float32))
    planned, outliving = report.planned.bytes, report.outlives.bytes
    assert planned == machine.counters.peak.get(0, 0)
    assert planned is not None
    assert outliving is not None
    for there in report.largest:
        if there.storage == "arena":
            assert there.offset + there.bytes <= planned - outliving


def compare(
    use: MemoryUse, dims: Mapping[str, Mapping[str, int]], device: str, peak: int, pipeline: str
) -> None:
    (main,) = use.functions
    planned = planned_with_calls(use, "@main", device, dims)
    found = [report for report in report_of(use, {}, dims) if report.device == device]
    if not found:
        assert (peak, planned) == (0, 0)
        return
    assert planned == found[0].planned.bytes, "sizes depend on dims of parameters only"
    bound = found[0].lower_bound.bytes
    assert planned is not None
    assert bound is not None
    assert bound <= planned
    if main.branches:
        assert peak <= planned
    else:
        assert peak == planned
        assert pipeline != UNPLANNED or bound == planned


def test_what_is_written_in_place_is_counted_once():
    module = parse("""
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.nn.softmax %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = relay.nn.softmax %b : (tensor<8xf32>) -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}""")
    lowered(module, PLANNED)
    (use,) = read_memory(module).functions
    a, b, _ = use.tensors
    assert (a.name, b.name) == ("a", "b")
    assert (a.storage, a.offset) == (b.storage, b.offset)
    # %a is read in the column in which %b is written, and is over then.
    assert a.spans[-1].stop == b.spans[0].start + 1
    assert loads(use.live, len(use.columns), numbers(use, {})) == [32] * len(use.columns)


def by_enumeration(weights: Sequence[Weight]) -> int:
    """Return the most bytes on any path, trying all of them."""
    branches = sorted({arm.branch for arms, _ in weights for arm in arms})
    return max(
        sum(size for arms, size in weights if all(taken[a.branch] == a.arm for a in arms))
        for choice in product(range(3), repeat=len(branches))
        for taken in [dict(zip(branches, choice, strict=True))]
    )


@seeds(50)
def test_the_path_with_most_bytes_is_found(seed: int):
    rng = Random(seed)
    weights: list[Weight] = []
    for _ in range(rng.randrange(10)):
        chosen = sorted(rng.sample(range(5), rng.randrange(3)))
        weights.append((tuple(Arm(b, rng.randrange(3)) for b in chosen), rng.randrange(100)))
    assert most_on_a_path(weights) == by_enumeration(weights)


def test_too_many_paths_take_bounded_time():
    """Beyond the budget, arms do not exclude each other: the result is a bound from above."""
    rng = Random(0)
    weights = [
        (tuple(Arm(b, rng.randrange(2)) for b in sorted(rng.sample(range(60), 3))), 1)
        for _ in range(300)
    ]
    assert 0 < most_on_a_path(weights) <= 300


def in_ir(value: SSAValue, shapes: Sequence[tuple[int, ...]], known: dict[SSAValue, Any]) -> Any:
    """Compute an i64 as the ops of the program do, for arguments of these shapes."""
    if value in known:
        return known[value]
    op = value.owner
    args = [in_ir(v, shapes, known) for v in getattr(op, "operands", ())]
    found: Any = None
    match op:
        case arith.ConstantOp():
            found = op.value.value.data if isinstance(op.value, IntegerAttr) else None
        case arith.AddiOp():
            found = args[0] + args[1]
        case arith.SubiOp():
            found = args[0] - args[1]
        case arith.MuliOp():
            found = args[0] * args[1]
        case arith.AndIOp():
            found = args[0] & args[1]
        case arith.MaxSIOp():
            found = max(args)
        case arith.MinSIOp():
            found = min(args)
        case arith.FloorDivSIOp():
            found = args[0] // args[1]
        case arith.CmpiOp():
            names = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
            found = getattr(args[0], names[op.predicate.value.data])(args[1])
        case arith.SelectOp():
            found = args[1] if args[0] else args[2]
        case vm.ShapeOfOp():
            found = None if args[0] is None else list(args[0])
        case tensor.ExtractOp():
            found = None if args[0] is None else args[0][args[1]]
        case tensor.FromElementsOp():
            found = list(args)
        case Block():
            assert isinstance(value, BlockArgument)
            found = shapes[value.index] if isinstance(op.parent_op(), func.FuncOp) else None
        case _:
            found = None
    known[value] = found
    return found


@pytest.mark.parametrize("batch", [1, 2, 5])
@pytest.mark.parametrize("sequence", [1, 7, 16, 64])
def test_formulas_are_the_arithmetic_of_the_program(batch: int, sequence: int):
    module, use = transformer()
    dims = {"batch": batch, "sequence": sequence}
    values = numbers(use, dims)
    known: dict[SSAValue, Any] = {}
    allocated = [op for op in walk(module) if isinstance(op, memory.AllocTensorOp)]
    compared = 0
    for op, described in zip(allocated, use.tensors, strict=True):
        if op.dynamic_offset is not None:
            assert values[described.offset] == in_ir(op.dynamic_offset, [(batch, sequence)], known)
            compared += 1
        elif op.offset is not None:
            assert values[described.offset] == op.offset.value.data
    assert compared > 10
    for op in walk(module):
        if isinstance(op, memory.AllocStorageOp) and op.dynamic_size is not None:
            size = in_ir(op.dynamic_size, [(batch, sequence)], known)
            assert size in {values[storage.size] for storage in use.storages}


_KNOWN: list[tuple[ModuleOp, FunctionUse]] = []


def transformer() -> tuple[ModuleOp, FunctionUse]:
    """Return a planned encoder of any batch and sequence, and its memory."""
    if not _KNOWN:
        module = convert_model(encoder(1), "encoder.onnx").module
        lowered(module, PLANNED)
        (use,) = read_memory(module).functions
        _KNOWN.append((module, use))
    return _KNOWN[0]


@pytest.mark.parametrize(("batch", "sequence"), [(1, 1), (1, 64), (3, 17), (8, 2)])
def test_live_tensors_lie_apart_at_all_sizes(batch: int, sequence: int):
    _, use = transformer()
    values = numbers(use, {"batch": batch, "sequence": sequence})
    for i, one in enumerate(use.tensors):
        for other in use.tensors[:i]:
            if one.storage != other.storage:
                continue
            pairs = product(one.spans, other.spans)
            both = sum(max(0, min(a.stop, b.stop) - max(a.start, b.start)) for a, b in pairs)
            if one.offset == other.offset and both == 1:
                continue  # one is written over the other
            a, b = values[one.offset], values[other.offset]
            assert not both or a + values[one.size] <= b or b + values[other.size] <= a


def test_the_report_has_formulas_and_numbers():
    _, use = transformer()
    (unknown,) = report_of(MemoryUse([use]), {})
    assert unknown.missing == ("batch", "sequence")
    assert unknown.planned.bytes is None
    assert unknown.sum.formula is not None
    assert "batch" in unknown.sum.formula
    (known,) = report_of(MemoryUse([use]), {"ids:0": 2, "sequence": 8})
    assert known.dims == {"batch": 2, "sequence": 8}
    assert known.lower_bound.bytes is not None
    assert known.planned.bytes is not None
    assert known.lower_bound.bytes <= known.planned.bytes < (known.sum.bytes or 0)
    assert len(known.largest) <= 10
    assert sum(tensor.bytes for tensor in known.largest) <= known.lower_bound.bytes


def test_quotients_by_zero_are_zero():
    formulas = Formulas()
    algebra = formulas.sizes.algebra
    n = algebra.symbol("n", natural=True)
    half = formulas.number(algebra.floordiv(n, algebra.symbol("m")))
    assert formulas.evaluate([7, 0])[half] == 0
    assert formulas.evaluate([7, 2])[half] == 3


def test_storages_that_a_call_uses_are_tensors_of_the_caller():
    module = parse("""
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = relay.nn.softmax %b : (tensor<8xf32>) -> tensor<8xf32>
  %d = relay.add %a, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %d : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.nn.softmax %a : (tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}""")
    lowered(module, APART)
    use = read_memory(module)
    main, callee = use.functions
    passed = {tensor.name: tensor for tensor in main.tensors if tensor.is_passed}
    assert list(passed) == ["result of @f", "workspace of @f"]
    labels = [column.label for column in main.columns]
    call = labels.index("f")
    # The workspace lives at the call, the result until %c is computed.
    assert passed["workspace of @f"].spans == ((call, call + 1, ()),)
    assert passed["result of @f"].spans == ((call, call + 2, ()),)
    assert all(storage.is_given for storage in callee.storages)
    reports = {report.function: report for report in report_of(use, {})}
    assert reports["@f"].allocations == 0
    assert reports["@f"].planned.bytes == 0
    assert reports["@main"].share is None
    assert planned_with_calls(use, "@main", "cpu:0", {}) == reports["@main"].planned.bytes


def test_bytes_stay_in_use_where_another_arm_writes_over_them():
    tensor = Span(0, 9, (Arm(4, 0),))
    over = Span(2, 5, (Arm(4, 1),))
    assert [*without([tensor], [over])] == [tensor]
    assert [*without([tensor], [over._replace(arms=tensor.arms)])] == [
        tensor._replace(stop=3),
        tensor._replace(start=5),
    ]
