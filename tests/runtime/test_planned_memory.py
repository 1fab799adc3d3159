"""The machine allocates what was planned: one arena per device and call, and the results."""

from collections.abc import Sequence

import numpy as np
import pytest
from helpers.machine.in_machine import compiled, machine_of
from helpers.memory.planned_memory import arena_bounds
from helpers.onnx.onnx_models import Array, light_network
from helpers.programs.programs import parse
from helpers.programs.random_settings import share
from helpers.programs.transformer import VOCABULARY, encoder

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory

LENGTHS = (1, 3, 16, 40, 64)


def assert_allocates_what_is_planned(machine: Machine, inputs: Sequence[Array], bound: int) -> None:
    """Check a call on one device: an arena as large as its lower bound, and the results."""
    machine.counters.peak.clear()
    before = machine.counters.allocations[0], machine.counters.allocated[0]
    results = machine.run("main", *inputs)
    counters = machine.counters
    allocations = counters.allocations[0] - before[0]
    allocated = counters.allocated[0] - before[1]
    assert allocations == 1 + len(results)
    assert allocated - sum(result.nbytes for result in results) == bound
    # The arena is free after its last tensor, which may be before the last result is allocated.
    assert bound < counters.peak[0] <= allocated


@pytest.mark.ci
@pytest.mark.parametrize("name", share(["squeezenet", "shufflenet"], 2))
def test_networks(name: str):
    network = light_network(name)
    inputs = list(network.feeds.values())
    ((bound,),) = (
        found.values() for found in arena_bounds(convert_model(network.model, "x.onnx").module)
    )
    converted = convert_model(network.model, "x.onnx")
    program = compiled(converted.module)
    machine = Machine(program, converted.params, KERNELS, memory=Memory(poison=True), sanitize=True)
    for _ in range(2):  # the second call takes the path that the first recorded
        assert_allocates_what_is_planned(machine, inputs, bound)


@pytest.mark.ci
def test_a_transformer_at_every_length():
    model = encoder(layers=2, dims=(1, "n"))
    bounds = arena_bounds(convert_model(model, "x.onnx").module, LENGTHS)
    converted = convert_model(model, "x.onnx")
    machine = Machine(
        compiled(converted.module),
        converted.params,
        KERNELS,
        memory=Memory(poison=True),
        sanitize=True,
    )
    random = np.random.default_rng(0)
    for length, found in zip(LENGTHS, bounds, strict=True):
        (bound,) = found.values()
        ids = random.integers(0, VOCABULARY, (1, length))
        assert_allocates_what_is_planned(machine, [ids], bound)


TWO_DEVICES = """
func.func @main(%x: tensor<?x16xf32>, %v: tensor<16x16xf32>, %w: tensor<16x16xf32>)
    -> tensor<?x16xf32> {
  %a = relay.nn.dense %x, %v : (tensor<?x16xf32>, tensor<16x16xf32>) -> !relay.incomplete
  %b = relay.nn.softmax %a : (!relay.incomplete) -> !relay.incomplete
  %c = relay.nn.dense %b, %v : (!relay.incomplete, tensor<16x16xf32>) -> !relay.incomplete
  %there = relay.on_device %c, #relay.device<cuda:0> : (!relay.incomplete) -> !relay.incomplete
  %d = relay.nn.softmax %there : (!relay.incomplete) -> !relay.incomplete
  %e = relay.nn.dense %d, %w : (!relay.incomplete, tensor<16x16xf32>) -> !relay.incomplete
  %g = relay.nn.dense %e, %w : (!relay.incomplete, tensor<16x16xf32>) -> !relay.incomplete
  %f = relay.nn.softmax %g : (!relay.incomplete) -> tensor<?x16xf32>
  func.return %f : tensor<?x16xf32>
}
"""


def test_two_devices():
    bounds = arena_bounds(parse(TWO_DEVICES), LENGTHS)
    program = compiled(parse(TWO_DEVICES))
    for rows, bound in zip(LENGTHS, bounds, strict=True):
        machine = machine_of(program)
        weights = np.ones((16, 16), np.float32)
        (result,) = machine.run("main", np.ones((rows, 16), np.float32), weights, weights)
        counters = machine.counters
        for number, device in enumerate(program.devices):
            at_host = device == "cpu:0"
            planned = bound[f"#relay.device<{device}>"] + result.nbytes * at_host
            assert counters.allocations[number] == 1 + at_host
            assert counters.allocated[number] == counters.peak[number] == planned


CALLS = """
func.func @layer(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %a = relay.nn.dense %x, %w : (tensor<?x16xf32>, tensor<16x16xf32>) -> !relay.incomplete
  %b = relay.nn.softmax %a : (!relay.incomplete) -> !relay.incomplete
  %c = relay.nn.dense %b, %w : (!relay.incomplete, tensor<16x16xf32>) -> tensor<?x16xf32>
  func.return %c : tensor<?x16xf32>
}
func.func @main(%x: tensor<?x16xf32>, %w: tensor<16x16xf32>) -> tensor<?x16xf32> {
  %a = func.call @layer(%x, %w) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %b = func.call @layer(%a, %w) : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
  %c = relay.nn.softmax %b : (tensor<?x16xf32>) -> tensor<?x16xf32>
  func.return %c : tensor<?x16xf32>
}
"""


def test_functions_compute_in_the_arena_of_their_caller():
    """That is so if they are private, or if the entries are named."""
    allocations: list[int] = []
    for pipeline in ("vm", "vm{entries=main}"):
        machine = machine_of(compiled(parse(CALLS), pipeline))
        machine.run("main", np.ones((3, 16), np.float32), np.ones((16, 16), np.float32))
        allocations.append(machine.counters.allocations[0])
    assert allocations[0] > allocations[1] == 2
