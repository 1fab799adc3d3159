"""
The two ways in which `xrelay-run` runs a program: on the machine, or in the reference evaluator.

Both declare the parameters and weights that they need, so that one piece of code provides them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from ..dialects import relay
from ..dialects.relay.named_dims import dim_names, parameter_names
from ..dialects.tensors import as_tensor
from ..dialects.walking import walk
from ..lowering.assemble import spec_of
from ..passes.evaluation.evaluator import evaluate
from ..passes.evaluation.values import Value
from ..runtime.kernels.memory import Memory
from ..runtime.machine import Machine
from ..runtime.program import Late, Param, Program, TensorSpec
from ..runtime.program import spec_of as spec_of_array
from ..runtime.value_checks import fits
from ..runtime.values import leaves
from .diagnostics import UsageError
from .result_types import ResultTypes
from .run_files import Arrays
from .run_report import stats_lines


class Executable(Protocol):
    """Functions that can be called, with the values that they need."""

    @property
    def functions(self) -> Mapping[str, Sequence[Param]]:
        """The parameters of each function."""
        ...

    @property
    def weights(self) -> Sequence[Late]:
        """The tensors that must be given by name."""
        ...

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        """Run `function` and return its results."""
        ...

    def stats(self) -> Iterator[str]:
        """Return lines about the cost of the last run."""
        ...


@dataclass(frozen=True)
class Limits:
    """Bounds of a run: memory, and the number of instructions or ops (None: no bound)."""

    memory: Memory
    instructions: int | None = None


class Compiled:
    """A program on the machine; `types` name the data that it returns."""

    def __init__(self, program: Program, limits: Limits, types: ResultTypes) -> None:
        self.program = program
        self.types = types
        self.limits = limits
        self.machine: Machine | None = None

    @property
    def functions(self) -> Mapping[str, Sequence[Param]]:
        return {function.name: function.params for function in self.program.functions}

    @property
    def weights(self) -> Sequence[Late]:
        return self.program.late_constants

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        limits = self.limits
        self.machine = Machine(
            self.program, weights, memory=limits.memory, max_instructions=limits.instructions
        )
        result = self.machine.evaluate(function, *inputs)
        results = self.types.results(function, result)
        return [output for result in results for output in _outputs(result)]

    def stats(self) -> Iterator[str]:
        assert self.machine is not None, "statistics are those of a run"
        return stats_lines(self.program, self.machine.counters)


class Evaluated:
    """A module that is evaluated op by op."""

    def __init__(self, module: ModuleOp, limits: Limits) -> None:
        self.module = module
        self.limits = limits

    @property
    def functions(self) -> Mapping[str, Sequence[Param]]:
        return {
            op.sym_name.data: _parameters(op)
            for op in self.module.ops
            if isinstance(op, func.FuncOp) and op.body.blocks
        }

    @property
    def weights(self) -> Sequence[Late]:
        params = [op for op in walk(self.module) if isinstance(op, relay.ParamOp)]
        named = {op.param.data: spec_of(op.result.type, op) for op in params}
        return [Late(name, spec) for name, spec in named.items()]

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        for param, value in zip(self.functions[function], inputs, strict=True):
            _check(f"parameter '{param.name}' of {function}", param.spec, value)
        for late in self.weights:
            _check(late.name, late.spec, weights[late.name])
        memory, steps = self.limits.memory, self.limits.instructions
        results = evaluate(self.module, inputs, weights, function, memory, steps)
        return [output for result in results for output in _outputs(result)]

    def stats(self) -> Iterator[str]:
        return iter(())


def _outputs(result: Value) -> Sequence[Value]:
    """Split a result into tensors, as the machine does; any other value is one output."""
    parts: list[object] = list(leaves(result))
    if all(isinstance(part, np.ndarray | np.generic) for part in parts):
        return list(map(np.asarray, parts))
    return [result]


def _check(what: str, spec: TensorSpec | None, value: Value) -> None:
    if spec is None:
        raise UsageError(f"{what} is not a tensor: only a caller in Python can provide it")
    if not fits(spec, value):
        raise UsageError(f"{what} must be {spec}, but is {spec_of_array(value)}")


def _parameters(function: func.FuncOp) -> list[Param]:
    """Return name, shape and dims of each parameter; `spec` is None if it is not a tensor."""
    named = zip(parameter_names(function), function.args, dim_names(function), strict=True)
    return [
        Param(
            name.data,
            spec_of(argument.type, function) if as_tensor(argument.type) else None,
            dims=tuple(dim or "" for dim in dims),
        )
        for name, argument, dims in named
    ]
