"""With repair, planning succeeds for random hints in real networks."""

from random import Random

import pytest
from helpers.onnx.onnx_models import light_network
from helpers.programs.random_settings import rounds
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects import relay
from xrelay.dialects.device import VirtualDeviceAttr
from xrelay.dialects.interfaces import Fusible
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_stage import VerifyStagePass

DEVICES = (VirtualDeviceAttr("cpu", 0), VirtualDeviceAttr("cuda", 0), VirtualDeviceAttr("cuda", 1))


def scatter_hints(module: ModuleOp, rng: Random, count: int) -> None:
    """Put `count` hints, each between a value and one of its uses."""
    uses = [
        use
        for op in module.walk()
        if op.has_trait(Fusible)
        for result in op.results
        if isinstance(result.type, TensorType)
        for use in result.uses
    ]
    for use in rng.sample(uses, min(count, len(uses))):
        value = use.operation.operands[use.index]
        fixed = rng.random() < 0.5
        hint = relay.OnDeviceOp(value, rng.choice(DEVICES), constrain_result=fixed)
        Rewriter.insert_op(hint, InsertPoint.before(use.operation))
        use.operation.operands[use.index] = hint.result


@pytest.mark.ci
@pytest.mark.parametrize("network", ["squeezenet", "inception_v1", "bvlc_alexnet"])
def test_scattered_hints_give_a_plan(network: str):
    original = convert_model(light_network(network, 0).model, network).module
    refused = 0
    for seed in range(rounds(24)):
        wishes = original.clone()
        scatter_hints(wishes, Random(seed), count=2 + 2 * seed)
        remarks: list[str] = []
        ctx = ReportingContext(handler=lambda message: remarks.append(message.message))
        try:
            PlanDevicesPass(default="cuda:0").apply(ctx, wishes.clone())
            contradicting = False
        except PassError:
            contradicting = True
        refused += contradicting
        PlanDevicesPass(default="cuda:0", repair=True).apply(ctx, wishes)
        verify(wishes)
        VerifyStagePass(stage="planned").apply(ctx, wishes)
        assert bool(remarks) == contradicting
    assert refused > 0  # otherwise the test is vacuous
