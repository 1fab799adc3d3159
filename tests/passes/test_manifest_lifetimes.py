"""`manifest-lifetimes` on random programs with calls, branches, tuples and views."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from helpers.programs.programs import context, parse, printed
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.lower_to_bytecode import LowerToBytecodePass
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.manifest_lifetimes import ManifestLifetimesPass
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass
from xrelay.passes.verify_stage import VerifyStagePass
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory

D = "#relay.device<cpu:0>"
T = f"tensor<4xf32, {D}>"
V = f"tensor<2x2xf32, {D}>"
C = f"tensor<i1, {D}>"
KERNEL = """
relay.prim_func @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = relay.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.yield %z : tensor<4xf32>
}
"""


class Writer:
    """The text of one function, whose values are tensors of one type; all are readable."""

    def __init__(self, draw: st.DrawFn, functions: list[str]) -> None:
        self.draw = draw
        self.functions = functions
        self.lines: list[str] = []
        self.fresh = 0

    def name(self) -> str:
        self.fresh += 1
        return f"%v{self.fresh}"

    def statements(self, values: list[str], depth: int) -> None:
        kinds = ["add", "add", "view", "tuple", "constant"]
        kinds += ["call"] * bool(self.functions) + ["branch", "branch"] * (depth > 0)
        for _ in range(self.draw(st.integers(1, 4))):
            kind = self.draw(st.sampled_from(kinds))
            values += getattr(self, kind)(values, depth)

    def pick(self, values: list[str]) -> str:
        return self.draw(st.sampled_from(values[-5:]))

    def add(self, values: list[str], depth: int) -> list[str]:
        storage, tensor, result = self.name(), self.name(), self.name()
        a, b = self.pick(values), self.pick(values)
        self.lines += [
            f"{storage} = memory.alloc_storage 16 align 64 : !memory.storage<{D}>",
            f"{tensor} = memory.alloc_tensor {storage}[0] : {T}",
            f"{result} = vm.invoke_tvm_op @add ins({a}, {b} : {T}, {T}) "
            f"outs({tensor} : {T}) -> {T}",
        ]
        return [result]

    def view(self, values: list[str], depth: int) -> list[str]:
        square, flat = self.name(), self.name()
        self.lines += [
            f"{square} = vm.reshape_tensor {self.pick(values)} : ({T}) -> {V}",
            f"{flat} = vm.reshape_tensor {square} : ({V}) -> {T}",
        ]
        return [flat]

    def tuple(self, values: list[str], depth: int) -> list[str]:
        both, field = self.name(), self.name()
        index = self.draw(st.integers(0, 1))
        self.lines += [
            f"{both} = relay.tuple {self.pick(values)}, {self.pick(values)} "
            f": ({T}, {T}) -> tuple<{T}, {T}>",
            f"{field} = relay.tuple_get_item {both}[{index}] : (tuple<{T}, {T}>) -> {T}",
        ]
        return [field]

    def constant(self, values: list[str], depth: int) -> list[str]:
        result = self.name()
        self.lines.append(f"{result} = relay.constant dense<0.5> : tensor<4xf32> on {D}")
        return [result]

    def call(self, values: list[str], depth: int) -> list[str]:
        first, second = self.name(), self.name()
        function = self.draw(st.sampled_from(self.functions))
        args = ", ".join([*(f"%c{i}" for i in range(2)), self.pick(values), self.pick(values)])
        self.lines += [
            f"{first}x:2 = func.call @{function}({args}) : ({C}, {C}, {T}, {T}) -> ({T}, {T})",
            f"{first} = vm.reshape_tensor {first}x#0 : ({T}) -> {T}",
            f"{second} = vm.reshape_tensor {first}x#1 : ({T}) -> {T}",
        ]
        return [first, second]

    def branch(self, values: list[str], depth: int) -> list[str]:
        first, second = self.name(), self.name()
        self.lines.append(
            f"{first}, {second} = relay.if %c{self.draw(st.integers(0, 1))} : {C} -> ({T}, {T}) {{"
        )
        for end in ("} else {", "}"):
            inner = list(values)
            self.statements(inner, depth - 1)
            self.lines.append(f"relay.yield {self.pick(inner)}, {self.pick(inner)} : {T}, {T}")
            self.lines.append(end)
        return [first, second]


@st.composite
def modules(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    names: list[str] = []
    texts: list[str] = []
    for name in ("first", "second", "main"):
        writer = Writer(draw, list(names))  # pyright: ignore[reportArgumentType]
        values = ["%x", "%y"]
        writer.statements(values, 2)
        results = f"{writer.pick(values)}, {writer.pick(values)} : {T}, {T}"
        head = f"func.func @{name}(%c0: {C}, %c1: {C}, %x: {T}, %y: {T}) -> ({T}, {T}) {{"
        texts.append("\n".join([head, *writer.lines, f"func.return {results}", "}"]))
        names.append(name)
    return "\n".join([*texts, KERNEL])


def machine_for(module: ModuleOp) -> Machine:
    LowerToBytecodePass().apply(context(), module)
    verify(module)
    return Machine(assemble(module), kernels=KERNELS, memory=Memory(poison=True))


@exactly(10)
@given(modules())
def test_no_bytes_are_freed_too_early(text: str):
    module = parse(text)
    verify(module)
    x, y = np.arange(4, dtype=np.float32), np.array([1, -1, 2, 0.25], np.float32)
    inputs = [[np.array(a), np.array(b), x, y] for a, b in product([False, True], repeat=2)]
    wanted = [evaluate(module, args) for args in inputs]

    plain = machine_for(parse(text))
    VerifyMemoryPlanPass().apply(context(), module)
    ManifestLifetimesPass().apply(context(), module)
    verify(module)
    VerifyMemoryPlanPass().apply(context(), module)
    VerifyStagePass("memory-planned").apply(context(), module)
    killed = printed(module)
    ManifestLifetimesPass().apply(context(), module)
    assert printed(module) == killed
    machine = machine_for(parse(killed))
    for args, expected in zip(inputs, wanted, strict=True):
        # Kills poison the bytes in the evaluator, literally; the machine reuses them.
        copies = [arg.copy() for arg in args]
        np.testing.assert_equal(evaluate(module, copies, memory=Memory(poison=True)), expected)
        np.testing.assert_equal(copies, args)
        for _ in range(2):
            np.testing.assert_equal(machine.run("main", *args), expected)
        plain.run("main", *args)
    for device, size in machine.counters.peak.items():
        assert size <= plain.counters.peak[device]
