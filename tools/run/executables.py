"""
Programs that `xrelay-run` can run: on the machine here, in the reference evaluator in `evaluated`.

Both declare the parameters and weights that they need, so that one piece of code provides them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...runtime.calls.values import leaves
from ...runtime.machine.machine import Machine
from ...runtime.memory.limits import Memory
from ...runtime.program.named_results import output_names, results_of
from ...runtime.program.program import Function, Late, Param, Program
from .run_files import Arrays
from .run_report import Value, stats_lines

if TYPE_CHECKING:
    from ...runtime.native.compiled_kernels import NativeLibrary
    from ...runtime.observe.profiler import Profile


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

    def output_names(self, function: str, count: int) -> list[str]:
        """Return unique names for the `count` outputs of `function`."""
        ...

    def stats(self) -> Iterator[str]:
        """Return lines about the cost of the last run."""
        ...


@dataclass(frozen=True)
class Limits:
    """
    Bounds of a run: memory, and the number of instructions or ops (None: no bound).

    On the machine, it can be sanitized or profiled.
    """

    memory: Memory
    instructions: int | None = None
    sanitize: bool = False
    profile: bool = False


class Compiled:
    """A program on the machine, maybe with kernels that were compiled."""

    def __init__(
        self, program: Program, limits: Limits, native: NativeLibrary | None = None
    ) -> None:
        self.program = program
        self.native = native
        self.limits = limits
        self.machine: Machine | None = None
        self.profile: Profile | None = None

    @property
    def functions(self) -> Mapping[str, Sequence[Param]]:
        return {function.name: function.params for function in self.program.functions}

    @property
    def weights(self) -> Sequence[Late]:
        return self.program.late_constants

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        limits = self.limits
        self.machine = machine = Machine(
            self.program,
            weights,
            memory=limits.memory,
            max_instructions=limits.instructions,
            sanitize=limits.sanitize,
            native=self.native,
        )
        with machine.profile() if limits.profile else nullcontext() as self.profile:
            value = machine.evaluate(function, *inputs)
        results = results_of(self._function(function), self.program.data, value)
        return [output for result in results for output in outputs_of(result)]

    def output_names(self, function: str, count: int) -> list[str]:
        return output_names(self._function(function), count)

    def _function(self, name: str) -> Function:
        return next(function for function in self.program.functions if function.name == name)

    def stats(self) -> Iterator[str]:
        assert self.machine is not None, "statistics are those of a run"
        return stats_lines(self.program, self.machine.counters)


def outputs_of(result: Value) -> Sequence[Value]:
    """Split a result into tensors, as the machine does; any other value is one output."""
    parts: list[object] = list(leaves(result))
    if all(isinstance(part, np.ndarray | np.generic) for part in parts):
        return list(map(np.asarray, parts))
    return [result]
