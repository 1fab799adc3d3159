"""`reorder-for-memory` lowers the peak of a network, and its results stay the same."""

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.onnx.onnx_models import Array, light_network
from helpers.programs.programs import parse

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import PLAN, VmPipeline
from xrelay.passes.reorder_for_memory import reorder
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory


@pytest.mark.ci
def test_shufflenet_needs_less_and_computes_the_same():
    network = light_network("shufflenet")
    inputs = list(network.feeds.values())
    given = VmPipeline().text
    results: list[list[Array]] = []
    peaks: list[int] = []
    for pipeline in (given, given.replace(PLAN, "plan-memory{reorder=true}")):
        converted = convert_model(network.model, "shufflenet.onnx")
        run_passes(converted.module, pipeline)
        program = assemble(converted.module)
        machine = Machine(program, converted.params, kernels=KERNELS, memory=Memory(poison=True))
        results.append([np.asarray(y) for y in machine.run("main", *inputs)])
        peaks.append(machine.counters.peak[0])
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)
    assert peaks[1] < 0.95 * peaks[0]


def test_an_order_of_all_ops_leaves_the_terminator():
    module = parse(
        """
        func.func @f() -> i64 {
          %a = arith.constant 1 : i64
          %b = arith.constant 2 : i64
          func.return %a : i64
        }
        """
    )
    (function,) = module.ops
    block = function.regions[0].block
    one, two, end = block.ops
    reorder({block: [two, one, end]})
    assert list(block.ops) == [two, one, end]
