"""Programs that `xrelay-run` runs: on the machine; in `evaluated`, in the reference evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...runtime.calls.values import leaves
from ...runtime.machine.machine import Machine
from ...runtime.program.named_results import output_names, results_of
from ...runtime.program.program import Array, Function, Late, Param, Program
from .run_options import Options
from .run_report import Value, stats_lines

if TYPE_CHECKING:
    from ...runtime.native.compiled_kernels import NativeLibrary
    from ...runtime.observe.profiler import Profile

Arrays: TypeAlias = dict[str, Array]


@dataclass
class Executable:
    """Functions that can be called, by their parameters, and the weights that they need."""

    functions: Mapping[str, Sequence[Param]]
    weights: Sequence[Late]
    options: Options
    """Bounds of a run, and how the machine is watched."""

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        """Run `function` and return its results."""
        raise NotImplementedError

    def output_names(self, function: str, count: int) -> list[str]:
        """Return unique names for the `count` outputs of `function`."""
        raise NotImplementedError

    def stats(self) -> Iterator[str]:
        """Return lines about the cost of the last run."""
        return iter(())


class Compiled(Executable):
    """A program on the machine, maybe with kernels that were compiled."""

    def __init__(
        self, program: Program, options: Options, native: NativeLibrary | None = None
    ) -> None:
        functions = {function.name: function.params for function in program.functions}
        super().__init__(functions, program.late_constants, options)
        self.program, self.native = program, native
        self.machine: Machine | None = None
        self.profile: Profile | None = None

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        options = self.options
        self.machine = machine = Machine(
            self.program,
            weights,
            memory=options.memory,
            max_instructions=options.max_instructions,
            sanitize=options.sanitize,
            native=self.native,
        )
        with (
            machine.profile()
            if options.profile or options.trace is not None
            else nullcontext() as self.profile
        ):
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
