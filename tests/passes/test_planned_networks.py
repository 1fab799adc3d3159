"""
The light networks in the VM against onnxruntime, with random weights, and their plans of memory.

Planned ones compute the same in few allocations, and their arenas are as small as can be. By
default a third of the networks are run, all with `XRELAY_ROUNDS=4`.
"""

import numpy as np
import pytest
from frontends.onnx.test_networks import assert_close, assert_meaningful
from helpers.machine.in_machine import run_passes
from helpers.onnx.onnx_models import LIGHT_MODELS, light_network, onnxruntime_results
from helpers.programs.random_settings import share
from passes.test_pack_storage import packs
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.onnx.convert.importer import Conversion, convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import PLAN, VmPipeline
from xrelay.passes.layout_slices import is_static, plan_of, problem_of
from xrelay.planning import check
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory

BEFORE, AFTER = VmPipeline().text.split(f",{PLAN}")
PLAIN = VmPipeline("none").text.split(",verify-stage{stage=manifest},")[1]


def assert_planned_tightly(module: ModuleOp) -> None:
    """Check the plan of each pack by code of its own, and that it is optimal."""
    found = packs(module)
    assert found
    for op in found:
        assert is_static(op)
        plan = plan_of(op, "auto")
        assert check(problem_of(op), plan) == []
        assert plan.ratio == 1.0


def machine_of(module: ModuleOp, conversion: Conversion) -> Machine:
    """A machine for a module that was made of `conversion`."""
    return Machine(assemble(module), conversion.params, kernels=KERNELS, memory=Memory(poison=True))


@pytest.mark.ci
@pytest.mark.parametrize("name", share(LIGHT_MODELS))
def test_network(name: str):
    network = light_network(name)
    expected = onnxruntime_results(network)
    assert_meaningful(expected)
    inputs = list(network.feeds.values())
    conversion = convert_model(network.model, f"{name}.onnx")
    vm = conversion.module
    run_passes(vm, BEFORE)
    plain, planned = vm.clone(), vm.clone()
    run_passes(vm, f"plan-memory{AFTER}")
    assert_close(machine_of(vm, conversion).run("main", *inputs), expected)
    run_passes(plain, PLAIN)
    run_passes(planned, "pack-storage")
    assert_planned_tightly(planned)
    run_passes(planned, f"layout-slices,manifest-lifetimes,verify-memory-plan{AFTER}")
    wanted_of, found_of = machine_of(plain, conversion), machine_of(planned, conversion)
    wanted = wanted_of.run("main", *inputs)
    for _ in range(2):
        found = found_of.run("main", *inputs)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, b)
    (before,) = wanted_of.counters.allocations.values()
    (after,) = found_of.counters.allocations.values()
    assert after == 2 * (len(wanted) + 1) < 2 * before  # the results, and an arena, in each run
