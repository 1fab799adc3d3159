"""
Nested regions cost as many steps as consecutive ones.

Steps are calls of Python functions (and resumptions of generators), which do not depend on the
machine: four times the depth may take only slightly more than four times the steps.
"""

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Literal

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects import relay
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.dialects.xdsl_extras.xdsl_internals import holds
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import named_pipelines
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.printing import PrintOptions, module_text

UNIVERSE = load_universe(lambda text: None)
T = "tensor<4xf32>"
SHALLOW, DEEP = 6, 24
MOST = 1.15 * DEEP / SHALLOW


def ifs(depth: int) -> str:
    """Each `relay.if` in the first branch of the one before."""
    opened = "".join(
        f"%r{i} = relay.if %c : tensor<i1> -> ({T}) {{ %a{i} = relay.tanh %x : ({T}) -> {T}\n"
        for i in range(depth)
    )
    closed = "".join(
        f"relay.yield %{name} : {T} }} else {{ relay.yield %x : {T} }}\n"
        for name in ("x", *(f"r{i}" for i in reversed(range(1, depth))))
    )
    head = f"func.func @main(%c: tensor<i1>, %x: {T}) -> {T} {{\n"
    return f"{head}{opened}{closed}func.return %r0 : {T} }}"


def closures(depth: int) -> str:
    """Each `relay.fn` is nested in the one before and called there; all capture %c."""
    opened = "".join(
        f"%f{i} = relay.fn (%x{i + 1}: {T}) -> {T} {{ %a{i} = relay.add %x{i + 1}, %c : "
        f"({T}, {T}) -> {T}\n"
        for i in range(depth)
    )
    closed = f"relay.yield %a{depth - 1} : {T} }}\n"
    for i in reversed(range(depth)):
        closed += f"%r{i} = relay.call %f{i}(%x{i}) : ({T}) -> {T}\n"
        closed += f"relay.yield %r{i} : {T} }}\n" if i else ""
    head = f"func.func @main(%c: {T}, %x0: {T}) -> {T} {{\n"
    return f"{head}{opened}{closed}func.return %r0 : {T} }}"


def matches(depth: int) -> str:
    """Each `relay.match` in the first case of the one before."""
    opened = "".join(
        f"%r{i} = relay.match %b : !relay.adt<@Box, []> -> ({T}) {{\n"
        f"case @Box::@Box(%y{i}: {T}) {{\n"
        for i in range(depth)
    )
    closed = "".join(
        f"relay.yield %{name} : {T} }} }}\n"
        for name in (f"y{depth - 1}", *(f"r{i}" for i in reversed(range(1, depth))))
    )
    data = f"relay.type_data @Box [@Box({T})]\n"
    head = f"{data}func.func @main(%b: !relay.adt<@Box, []>) -> {T} {{\n"
    return f"{head}{opened}{closed}func.return %r0 : {T} }}"


PROGRAMS = {"ifs": ifs, "closures": closures, "matches": matches}
PASSES = (
    *("infer-types", "fold-constants", "plan-devices", "share-device-copies", "lambda-lift"),
    *("lift-constants", "inline{once}", "eliminate-dead-code", "remove-unused-functions"),
    *("fuse-ops", "outline-primitives", "manifest-alloc", "remove-dead-writes"),
    "lower-to-bytecode",
)


def steps_of(function: Callable[[], Any]) -> tuple[int, Any]:
    """Return the number of calls that `function` makes, and its result."""
    steps = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal steps
        steps += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = function()
    finally:
        sys.setprofile(before)
    return steps, result


def compiled(text: str) -> Iterator[tuple[str, int]]:
    """Each step of a compilation: its name, and its number of calls."""
    context = ReportingContext()
    for name, factory in UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    calls, module = steps_of(LocatingParser(context, text, "nested.mlir").parse_module)
    yield "parse", calls
    yield "clone", steps_of(module.clone)[0]
    yield "print", steps_of(lambda: module_text(context, module, PrintOptions()))[0]
    for step in build(",".join(PASSES), UNIVERSE.all_passes, named_pipelines):
        yield step.run.name, steps_of(lambda step=step: step.run.apply(context, module))[0]
        yield f"verify after {step.run.name}", steps_of(lambda: verify(module))[0]


@pytest.mark.ci
@pytest.mark.parametrize("program", PROGRAMS)
def test_steps_are_linear_in_depth(program: str):
    make = PROGRAMS[program]
    with settings():
        list(compiled(make(2)))  # fill caches and run imports
        shallow = dict(compiled(make(SHALLOW)))
        deep = dict(compiled(make(DEEP)))
    growth = {name: deep[name] / shallow[name] for name in shallow}
    assert {name: by for name, by in growth.items() if by > MOST} == {}


def lowered(module: ModuleOp, passes: str) -> ModuleOp:
    context = ReportingContext(handler=lambda message: None)
    for name, factory in UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    verify(module)
    for step in build(passes, UNIVERSE.all_passes, named_pipelines):
        step.run.apply(context, module)
        verify(module)
    return module


def last_uses(depth: int) -> str:
    """Each `relay.if` in the first branch of the one before; its other branch uses a tensor."""
    lines = [f"%v{i + 1} = relay.tanh %v{i} : ({T}) -> {T}\n" for i in range(depth)]
    lines += [f"%r{i} = relay.if %c : tensor<i1> -> ({T}) {{\n" for i in range(depth)]
    for i in reversed(range(depth)):
        inner = f"r{i + 1}" if i + 1 < depth else "v0"
        lines.append(f"relay.yield %{inner} : {T} }} else {{ %e{i} = relay.exp %v{i + 1} : ")
        lines.append(f"({T}) -> {T} relay.yield %e{i} : {T} }}\n")
    head = f"func.func @main(%c: tensor<i1>, %v0: {T}) -> {T} {{\n"
    return f"{head}{''.join(lines)}func.return %r0 : {T} }}"


@pytest.mark.ci
@pytest.mark.parametrize("memory", ["plan", "none"])
def test_bytecode_is_linear_in_depth(memory: Literal["plan", "none"]):
    def size(depth: int) -> int:
        with settings():
            module = lowered(module_of(last_uses(depth)), VmPipeline(memory).text)
        return sum(1 for _ in module.walk())

    assert size(DEEP) / size(SHALLOW) < MOST


@pytest.mark.ci
def test_nested_tuples_are_compiled_in_linear_time():
    def steps(depth: int) -> int:
        block = Block(arg_types=[TensorType(f32, [4])])
        value: SSAValue = block.args[0]
        for _ in range(depth):
            block.add_op(op := relay.TupleOp([value, block.args[0]]))
            value = op.result
        block.add_op(func.ReturnOp(value))
        type = FunctionType.from_lists(block.arg_types, [value.type])
        module = ModuleOp([func.FuncOp("main", type, Region(block))])
        with settings():
            return steps_of(lambda: lowered(module, VmPipeline().text))[0]

    steps(2)
    assert steps(DEEP) / steps(SHALLOW) < 1.5 * MOST  # a device for each of its tensors


def module_of(text: str) -> ModuleOp:
    context = ReportingContext()
    for name, factory in UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    return LocatingParser(context, text, "nested.mlir").parse_module()


def test_evaluating_nested_closures_is_linear():
    x = np.ones(4, np.float32)

    def calls(depth: int) -> int:
        module = module_of(closures(depth))
        return steps_of(lambda: evaluate(module, (x, x)))[0]

    with settings():
        calls(2)
        assert calls(DEEP) / calls(SHALLOW) < MOST


def tree(depth: int) -> Operation:
    """Ops with two regions of two blocks with two ops each, `depth` levels of them."""
    if not depth:
        return TestOp()
    regions = [
        Region([Block([tree(depth - 1), TestOp()]), Block([TestOp(), tree(depth - 1)])])
        for _ in range(2)
    ]
    return TestOp(regions=regions)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("region_first", [False, True])
def test_ops_are_walked_as_xdsl_walks_them(reverse: bool, region_first: bool):
    op = tree(3)
    region = op.regions[1]
    for root in (op, region, region.blocks[0]):
        expected = list(root.walk(reverse=reverse, region_first=region_first))
        assert list(walk(root, reverse=reverse, region_first=region_first)) == expected


def test_an_op_holds_the_blocks_under_it():
    top = tree(2)
    ops = list(walk(top))
    blocks = [block for op in ops for region in op.regions for block in region.blocks]
    for op in ops:
        for block in blocks:
            assert holds(op, block) == op.is_ancestor(block)
