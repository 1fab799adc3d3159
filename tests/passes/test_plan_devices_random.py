"""
Random programs with random hints: `plan-devices{repair}` always produces a good plan.

A good plan verifies, is at level `planned`, satisfies every op's device rule, does not change when
planned again, and preserves the program's results.
"""

from random import Random

import numpy as np
import pytest
from helpers.programs.hinted_programs import Program, inputs
from helpers.programs.programs import assert_same, parse
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import SSAValue

from xrelay.dialects.device import CPU, VirtualDeviceAttr, device_of
from xrelay.dialects.interfaces import DeviceRule, OnHost, Pinned
from xrelay.dialects.relay import DeviceCopyOp, Relay
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass


def context() -> Context:
    ctx = ReportingContext(handler=lambda message: None)
    for dialect in (Builtin, Func, Relay):
        ctx.load_dialect(dialect)
    return ctx


def broken_rules(module: ModuleOp) -> list[str]:
    """The ops whose operands and results violate their device rule."""
    broken: list[str] = []
    for op in module.walk():
        rule = op.get_trait(DeviceRule)
        for constraint in rule.constraints(op) if rule is not None else ():
            if isinstance(constraint, Pinned | OnHost):
                wanted = constraint.device if isinstance(constraint, Pinned) else CPU
                devices = {device_of(constraint.value.type), wanted}
            else:
                devices = {device_of(value.type) for value in constraint.values}
            if len(devices) > 1:
                broken.append(f"{op.name}: {constraint.reason}")
    return broken


@given(st.randoms(use_true_random=False), st.integers(1, 25))
@exactly(40)
def test_repair_always_plans(rng: Random, size: int):
    ctx = context()
    module = parse(Program(rng, size).text())
    verify(module)
    expected = evaluate(module, inputs())
    PlanDevicesPass(default="cuda:0", repair=True).apply(ctx, module)
    verify(module)
    VerifyStagePass(stage="planned").apply(ctx, module)
    assert broken_rules(module) == []
    np.testing.assert_array_equal(evaluate(module, inputs()), expected)
    planned = module.clone()
    PlanDevicesPass(default="cuda:1").apply(ctx, module)
    assert_same(module, planned)


def refused(ctx: Context, module: ModuleOp) -> PassError | None:
    """The error of planning without repair, or None."""
    try:
        PlanDevicesPass(default="cuda:0").apply(ctx, module)
    except PassError as error:
        return error
    return None


def copied_values(module: ModuleOp) -> set[tuple[object, ...]]:
    """Return the copied values with the source and target types; equal copies count once."""
    ways: dict[SSAValue, tuple[object, ...]] = {}
    for op in module.walk():
        if isinstance(op, DeviceCopyOp):
            ways[op.result] = (*ways.get(op.value, (op.value,)), op.result.type)
    return set(ways.values())


@given(st.randoms(use_true_random=False), st.integers(1, 12))
@exactly(40)
def test_without_repair_a_plan_has_copies_only_for_hints(rng: Random, size: int):
    ctx = context()
    text = Program(rng, size).text()
    module = parse(text)
    hints = text.count("relay.on_device")
    refusal = refused(ctx, module)
    if refusal is not None:
        assert len(refusal.notes) >= 2
        return
    verify(module)
    assert len(copied_values(module)) <= hints
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
    module = parse(text)
    with pytest.raises(PassError, match="cuda:0 and on cpu:0"):
        PlanDevicesPass().apply(ctx, module)
    module = parse(text)
    PlanDevicesPass(repair=True).apply(ctx, module)
    copies = [op for op in module.walk() if op.name == "relay.device_copy"]
    assert [device_of(op.results[0].type) for op in copies] == [VirtualDeviceAttr("cuda", 0)]
    assert "tensor<4xf32, #relay.device<cpu:0>>" in str(copies[0].operands[0].type)
