"""
Random programs with random hints: `plan-devices{repair}` always gives a plan, and a good one.

Good: the plan verifies and is at level `planned`, every op's device rule holds, planning again
changes nothing, and the program computes what it did.
"""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xrelay.dialects.device import CPU, VirtualDeviceAttr, device_of
from xrelay.dialects.interfaces import DeviceRule, On, OnHost
from xrelay.dialects.relay import Relay
from xrelay.passes.diagnostics import PassError, ReportingContext
from xrelay.passes.evaluate import evaluate
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass

T = "tensor<3x4xf32>"
DEVICES = ("cpu:0", "cuda:0", "cuda:1")


def context() -> Context:
    ctx = ReportingContext(handler=lambda message: None)
    for dialect in (Builtin, Func, Relay):
        ctx.load_dialect(dialect)
    return ctx


class Program:
    """A random function body, line by line; every value but tuples and closures has type `T`."""

    def __init__(self, rng: Random, size: int):
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0
        values = ["%x", "%y"]
        for _ in range(size):
            self.step(values, depth=0)
        self.lines.append(f"func.return {rng.choice(values)} : {T}")

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}x"

    def step(self, values: list[str], depth: int) -> None:
        kinds = [self.binary, self.unary, self.hint, self.hint, self.constant, self.pair]
        if depth < 2:
            kinds += [self.branch, self.closure]
        self.rng.choice(kinds)(values, depth)

    def emit(self, values: list[str], text: str) -> None:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        values.append(name)

    def binary(self, values: list[str], depth: int) -> None:
        a, b = self.rng.choice(values), self.rng.choice(values)
        name = self.rng.choice(["add", "multiply", "maximum"])
        self.emit(values, f"relay.{name} {a}, {b} : ({T}, {T}) -> {T}")

    def unary(self, values: list[str], depth: int) -> None:
        self.emit(values, f"relay.negative {self.rng.choice(values)} : ({T}) -> {T}")

    def hint(self, values: list[str], depth: int) -> None:
        body, result = self.rng.choice([(True, False), (True, True), (False, True), (False, False)])
        device = self.rng.choice(DEVICES) if body or result else "?"
        flags = f"constrain_body = {str(body).lower()}, constrain_result = {str(result).lower()}"
        self.emit(
            values,
            f"relay.on_device {self.rng.choice(values)}, #relay.device<{device}> {{{flags}}} "
            f": ({T}) -> {T}",
        )

    def constant(self, values: list[str], depth: int) -> None:
        name, value = self.fresh(), self.rng.choice(values)
        self.lines.append(f"{name} = relay.constant dense<2.0> : tensor<f32>")
        self.emit(values, f"relay.add {value}, {name} : ({T}, tensor<f32>) -> {T}")

    def pair(self, values: list[str], depth: int) -> None:
        name, a, b = self.fresh(), self.rng.choice(values), self.rng.choice(values)
        self.lines.append(f"{name} = relay.tuple {a}, {b} : ({T}, {T}) -> tuple<{T}, {T}>")
        item = f"relay.tuple_get_item {name}[{self.rng.randrange(2)}] : (tuple<{T}, {T}>) -> {T}"
        self.emit(values, item)

    def region(self, values: list[str], depth: int) -> None:
        inner = list(values)
        for _ in range(self.rng.randrange(3)):
            self.step(inner, depth + 1)
        self.lines.append(f"relay.yield {self.rng.choice(inner)} : {T}")

    def branch(self, values: list[str], depth: int) -> None:
        name = self.fresh()
        self.lines.append(f"{name} = relay.if %c : tensor<i1> -> ({T}) {{")
        self.region(values, depth)
        self.lines.append("} else {")
        self.region(values, depth)
        self.lines.append("}")
        values.append(name)

    def closure(self, values: list[str], depth: int) -> None:
        name, argument = self.fresh(), self.fresh()
        self.lines.append(f"{name} = relay.fn ({argument}: {T}) -> {T} {{")
        self.region([*values, argument], depth)
        self.lines.append("}")
        self.emit(values, f"relay.call {name}({self.rng.choice(values)}) : ({T}) -> {T}")

    def text(self) -> str:
        body = "\n".join(self.lines)
        return f"func.func @main(%x: {T}, %y: {T}, %c: tensor<i1>) -> {T} {{\n{body}\n}}"


def inputs() -> list[np.ndarray]:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    return [x - 5, 7 - 2 * x, np.array(True)]


def broken_rules(module: ModuleOp) -> list[str]:
    """The ops whose operands and results are not where their device rule wants them."""
    broken: list[str] = []
    for op in module.walk():
        rule = op.get_trait(DeviceRule)
        for constraint in rule.constraints(op) if rule is not None else ():
            if isinstance(constraint, On | OnHost):
                wanted = constraint.device if isinstance(constraint, On) else CPU
                devices = {device_of(constraint.value.type), wanted}
            else:
                devices = {device_of(value.type) for value in constraint.values}
            if len(devices) > 1:
                broken.append(f"{op.name}: {constraint.reason}")
    return broken


@given(st.randoms(use_true_random=False), st.integers(1, 25))
@settings(max_examples=150, deadline=None)
def test_repair_always_plans(rng: Random, size: int):
    ctx = context()
    module = Parser(ctx, Program(rng, size).text()).parse_module()
    verify(module)
    expected = evaluate(module, inputs())
    PlanDevicesPass(default="cuda:0", repair=True).apply(ctx, module)
    verify(module)
    VerifyStagePass(stage="planned").apply(ctx, module)
    assert broken_rules(module) == []
    np.testing.assert_array_equal(evaluate(module, inputs()), expected)
    planned = str(module)
    PlanDevicesPass(default="cuda:1").apply(ctx, module)
    assert str(module) == planned


def refused(ctx: Context, module: ModuleOp) -> PassError | None:
    """The error of planning without repair, if there is one."""
    try:
        PlanDevicesPass(default="cuda:0").apply(ctx, module)
    except PassError as error:
        return error
    return None


@given(st.randoms(use_true_random=False), st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_without_repair_a_plan_has_copies_only_for_hints(rng: Random, size: int):
    ctx = context()
    text = Program(rng, size).text()
    module = Parser(ctx, text).parse_module()
    hints = text.count("relay.on_device")
    refusal = refused(ctx, module)
    if refusal is not None:
        assert len(refusal.notes) >= 2
        return
    verify(module)
    assert str(module).count("relay.device_copy") <= hints
    assert broken_rules(module) == []


def test_the_cheapest_operand_is_copied():
    text = """
    func.func @main(%big: tensor<100x4xf32>, %small: tensor<4xf32>) -> tensor<100x4xf32> {
      %a = relay.on_device %big, #relay.device<cuda:0> {constrain_result = true}
             : (tensor<100x4xf32>) -> tensor<100x4xf32>
      %b = relay.on_device %small, #relay.device<cpu:0> {constrain_result = true}
             : (tensor<4xf32>) -> tensor<4xf32>
      %y = relay.add %a, %b : (tensor<100x4xf32>, tensor<4xf32>) -> tensor<100x4xf32>
      func.return %y : tensor<100x4xf32>
    }
    """
    ctx = context()
    module = Parser(ctx, text).parse_module()
    with pytest.raises(PassError, match="cuda:0 and on cpu:0"):
        PlanDevicesPass().apply(ctx, module)
    module = Parser(ctx, text).parse_module()
    PlanDevicesPass(repair=True).apply(ctx, module)
    copies = [op for op in module.walk() if op.name == "relay.device_copy"]
    assert [device_of(op.results[0].type) for op in copies] == [VirtualDeviceAttr("cuda", 0)]
    assert "tensor<4xf32, #relay.device<cpu:0>>" in str(copies[0].operands[0].type)
