"""Small programs for the machine's tests: `from machine_programs import …`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from helpers.operators.inferring import attributes

from xrelay.runtime.program.instructions import AllocStorage, AllocTensor, Instruction, InvokePacked
from xrelay.runtime.program.program import (
    Constant,
    Function,
    Kernel,
    Param,
    Program,
    Step,
    TensorSpec,
)


def f32(*shape: int | None) -> TensorSpec:
    return TensorSpec("float32", shape)


def kernel(op: str, ins: Sequence[TensorSpec], out: TensorSpec, **attrs: Any) -> Kernel:
    """A kernel of one operator, named after it; other attributes have their default."""
    n = len(ins)
    step = Step(f"relay.{op}", attributes(op, **attrs), tuple(range(n)), (n,))
    return Kernel(op, tuple(ins), (), (out,), (step,), (n,))


def function(
    params: Sequence[TensorSpec | None],
    *code: Instruction,
    name: str = "main",
    devices: Sequence[int] = (),
    registers: int = 64,
) -> Function:
    """A function of parameters x0, x1, …, on device 0 unless `devices` says otherwise."""
    homes = [*devices, *[0] * (len(params) - len(devices))]
    named = tuple(
        Param(f"x{i}", spec, home) for i, (spec, home) in enumerate(zip(params, homes, strict=True))
    )
    return Function(name, named, registers, code)


def program(
    *functions: Function,
    kernels: Sequence[Kernel] = (),
    constants: Sequence[Constant] = (),
    devices: Sequence[str] = ("cpu:0",),
) -> Program:
    return Program(functions, tuple(constants), tuple(kernels), tuple(devices))


def tensor(dst: int, *shape: int, device: int = 0, storage: int | None = None) -> list[Instruction]:
    """Allocate a float32 tensor in register `dst`, with its storage in the next register."""
    size = 4
    for dim in shape:
        size *= dim
    store = dst + 1 if storage is None else storage
    return [
        AllocStorage(store, size, 64, device),
        AllocTensor(dst, store, 0, shape, "float32"),
    ]


def call(number: int, ins: Sequence[int], out: int, *shape: int) -> list[Instruction]:
    """Run kernel `number` into a new tensor in `out`, with its storage in the next register."""
    return [*tensor(out, *shape), InvokePacked(number, tuple(ins), (out,))]
