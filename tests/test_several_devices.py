"""Programs on several devices compute the same results in the machine as on one."""

from random import Random

import numpy as np
from helpers.programs.hinted_programs import Program, inputs
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xrelay.dialects.bytecode import Bytecode
from xrelay.dialects.memory import Memory
from xrelay.dialects.relay import Relay
from xrelay.dialects.vm import Vm
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.lower_to_bytecode import LowerToBytecodePass
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.fuse_ops import FuseOpsPass
from xrelay.passes.manifest_alloc import ManifestAllocPass
from xrelay.passes.outline_primitives import OutlinePrimitivesPass
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.share_device_copies import ShareDeviceCopiesPass
from xrelay.passes.support.diagnostics import ReportingContext
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory as MachineMemory


def context() -> Context:
    ctx = ReportingContext(handler=lambda message: None)
    for dialect in (Builtin, Func, Relay, Memory, Vm, Bytecode):
        ctx.load_dialect(dialect)
    return ctx


def lowered(ctx: Context, text: str, plan: PlanDevicesPass) -> ModuleOp:
    module = Parser(ctx, text).parse_module()
    for step in (
        plan,
        ShareDeviceCopiesPass(),
        FuseOpsPass(),
        OutlinePrimitivesPass(),
        ManifestAllocPass(),
        LowerToBytecodePass(),
    ):
        step.apply(ctx, module)
    return module


@given(st.randoms(use_true_random=False), st.integers(1, 20))
@exactly(20)
def test_several_devices_give_what_one_gives(rng: Random, size: int):
    ctx = context()
    text = Program(rng, size, closures=False).text()
    expected = evaluate(Parser(ctx, text).parse_module(), inputs())
    program = assemble(lowered(ctx, text, PlanDevicesPass(default="cuda:0", repair=True)))
    machine = Machine(program, kernels=KERNELS, memory=MachineMemory(poison=True), sanitize=True)
    for _ in range(2):  # the second run uses the prepared path
        np.testing.assert_array_equal(machine.run("main", *inputs()), expected)


COPIES = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.on_device %a, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.negative %b : (tensor<4xf32>) -> tensor<4xf32>
  %d = relay.on_device %c, #relay.device<cuda:0> : (tensor<4xf32>) -> tensor<4xf32>
  %e = relay.negative %d : (tensor<4xf32>) -> tensor<4xf32>
  func.return %e : tensor<4xf32>
}
"""


def test_copies_are_counted_between_each_pair():
    ctx = context()
    program = assemble(lowered(ctx, COPIES, PlanDevicesPass(default="cuda:1")))
    machine = Machine(program, memory=MachineMemory(poison=True))
    machine.run("main", np.ones(4, np.float32))
    pairs = {
        (program.devices[source], program.devices[target]): (count, machine.counters.copied[key])
        for key, count in machine.counters.copies.items()
        for source, target in [key]
    }
    assert pairs == {("cpu:0", "cuda:0"): (1, 16), ("cuda:0", "cuda:1"): (1, 16)}
