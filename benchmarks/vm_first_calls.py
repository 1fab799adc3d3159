"""
Measure what preparing costs: first and later calls of a chain, and tail calls.

    python benchmarks/vm_first_calls.py [--rounds 10] > vm_first_calls.json

The chain has a thousand operators of eight kinds on 16 elements, each with allocation and kill:
the first call of a machine, the first call with another shape, later calls, and bare NumPy calls
into the same buffers, in µs per operator. The loop is a tail-recursive function of a counter and an
accumulator of 16 elements, in µs per iteration. CPU times, the best of several rounds in turns.
"""

import argparse
import gc
import json
from collections.abc import Callable
from functools import partial
from math import inf
from time import process_time
from typing import Any

import numpy as np

from xrelay.dialects.attributes import plain_attributes
from xrelay.dialects.relay import OPERATORS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Function, Kernel, Param, Program, Step, TensorSpec

COUNT = 1000
"""Operators in the chain."""
ITERATIONS = 10_000
DEFAULTS = {op.name: plain_attributes(op.create()) for op in OPERATORS}
"""The attributes of each operator with a default."""
CHAIN = (
    *(("add", 2), ("multiply", 2), ("nn.relu", 1), ("tanh", 1)),
    *(("subtract", 2), ("maximum", 2), ("negative", 1), ("sigmoid", 1)),
)
"""The operators of the chain, in turns, and their numbers of operands."""


def _relu(x: Any, out: Any) -> None:
    np.maximum(x, 0, out=out)


def _sigmoid(x: Any, out: Any) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, 1, out)
    np.reciprocal(out, out)


PLAIN: dict[str, Callable[..., object]] = {"nn.relu": _relu, "sigmoid": _sigmoid}
"""The NumPy calls of operators that are not ufuncs."""


def chain(shape: tuple[int | None, ...]) -> Program:
    """Return a chain of `COUNT` operators on tensors of `shape` (16 elements), each killed."""
    spec = TensorSpec("float32", shape)
    kernels: list[Kernel] = []
    for op, count in CHAIN:
        step = Step(f"relay.{op}", DEFAULTS[f"relay.{op}"], tuple(range(count)), (count,))
        kernels.append(Kernel(op, (spec,) * count, (), (spec,), (step,), (count,)))
    code: list[vm.Instruction] = [vm.ShapeOf(2, 0)]
    previous = 0
    for i in range(COUNT):
        storage, tensor = 3 + 2 * i, 4 + 2 * i
        number = i % len(CHAIN)
        code += [
            vm.AllocStorage(storage, 64, 64),
            vm.AllocTensorReg(tensor, storage, 0, 2, "float32"),
            vm.KillRegister(storage),
            vm.InvokePacked(number, (previous, 1)[: CHAIN[number][1]], (tensor,)),
        ]
        if previous:
            code.append(vm.KillRegister(previous))
        previous = tensor
    code.append(vm.Ret(previous))
    params = Param("x", spec), Param("w", spec)
    return Program((Function("main", params, previous + 1, tuple(code)),), (), tuple(kernels))


def loop() -> Program:
    """Return `f(n, x) = x if n == 0 else f(n - 1, x + 1)` on 16 elements."""
    scalar, spec = TensorSpec("int64", ()), TensorSpec("float32", (16,))
    add = Step("relay.add", {}, (0, 1), (2,))
    less = Kernel("less", (scalar,), (np.array(-1),), (scalar,), (add,), (2,))
    more = Kernel("more", (spec,), (np.ones(1, np.float32),), (spec,), (add,), (2,))
    code = (
        *(vm.If(0, None, 2, 1), vm.Ret(1)),
        *(vm.AllocStorage(2, 8, 64), vm.AllocTensor(2, 2, 0, (), "int64")),
        *(vm.AllocStorage(3, 64, 64), vm.AllocTensor(3, 3, 0, (16,), "float32")),
        *(vm.InvokePacked(0, (0,), (2,)), vm.InvokePacked(1, (1,), (3,))),
        *(vm.Invoke(4, 0, (2, 3)), vm.Ret(4)),
    )
    params = Param("n", scalar), Param("x", spec)
    return Program((Function("main", params, 5, code),), (), (less, more))


def _cpu_us(call: Callable[[], object], count: int) -> float:
    """Return the CPU time of a call in µs, divided by `count`."""
    gc.collect()
    start = process_time()
    call()
    return (process_time() - start) / count * 1e6


def measure(rounds: int) -> dict[str, float]:
    """Measure the µs per operator of a chain, and per iteration of a loop; the best of `rounds`."""
    program, looping = chain((None, None)), loop()
    random = np.random.default_rng(0)
    args = [random.standard_normal((4, 4)).astype(np.float32) for _ in "xw"]
    others = [arg.reshape(2, 8) for arg in args]
    zeros = np.zeros(16, np.float32)
    buffers = [np.empty((4, 4), np.float32) for _ in "ab"]
    functions = [PLAIN.get(op) or getattr(np, op) for op, _ in CHAIN]

    def bare() -> None:
        x, w = args
        for i in range(COUNT):
            number, out = i % len(CHAIN), buffers[i % 2]
            if CHAIN[number][1] == 2:
                functions[number](x, w, out=out)
            else:
                functions[number](x, out=out)
            x = out

    found: dict[str, float] = {}
    for _ in range(rounds):
        machine, repeating = Machine(program), Machine(looping)
        for name, count, call in (
            ("first call", COUNT, partial(machine.run, "main", *args)),
            ("first call, other shape", COUNT, partial(machine.run, "main", *others)),
            ("later call", COUNT, partial(machine.run, "main", *args)),
            ("bare NumPy", COUNT, bare),
            ("tail call", ITERATIONS, partial(repeating.run, "main", ITERATIONS, zeros)),
        ):
            found[name] = min(found.get(name, inf), _cpu_us(call, count))
    return {name: round(us, 2) for name, us in found.items()}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Measure first calls and tail calls.")
    parser.add_argument("--rounds", type=int, default=10)
    print(json.dumps(measure(parser.parse_args().rounds), indent=1))


if __name__ == "__main__":
    main()
