"""Programs that `xrelay-run` runs: on the machine; in `evaluated`, in the reference evaluator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ...runtime.calls.values import leaves
from ...runtime.machine.machine import Machine
from ...runtime.observe.counters import Counters
from ...runtime.program.named_results import output_names, results_of
from ...runtime.program.program import Array, Function, Late, Param, Program, spec_of
from .run_options import Options

if TYPE_CHECKING:
    from ...runtime.native.compiled_kernels import NativeLibrary
    from ...runtime.observe.profiler import Profile
    from ...runtime.python.callables import Evaluates


Value: TypeAlias = Any
"""An array, a tuple, or a value with a method `term`, such as a `DataValue`."""

SHOWN = 6
"""Number of elements of an output that are printed."""

PARTS = 64
"""Number of constructors, tuples and tensors in a value that are printed."""


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value).lower()


def _elements(array: Array) -> str:
    first = [_number(value) for value in array.reshape(-1)[:SHOWN].tolist()]
    more = ", …" if array.size > SHOWN else ""
    return f"[{', '.join(first)}{more}]"


def value_text(value: Value) -> str:
    """
    Return a value as a term: `Cons(1, Nil)`, `(1, float32[2] [0, 1])`, `ref(3)`, `<function>`.

    Stops with "…" after `PARTS` parts, however deep the value is.
    """
    texts: list[str] = []
    parts = 0
    pending: list[Value | str] = [value]  # a string is text to print
    while pending:
        here = pending.pop()
        if isinstance(here, str):
            texts.append(here)
            continue
        parts += 1
        if parts > PARTS:
            texts.append("…")
            break
        head, fields = _term(here)
        texts.append(head)
        if fields is None:
            continue
        pending.append(")")
        for i, part in reversed(list(enumerate(fields))):
            pending += (part, ", ") if i else (part,)
        texts.append("(")
    return "".join(texts)


def _term(value: Value) -> tuple[str, tuple[Value, ...] | None]:
    """Return the head of a term, and the fields in its parentheses (None: without them)."""
    if isinstance(value, tuple):
        return "", cast("tuple[Value, ...]", value)
    if hasattr(value, "term"):
        return value.term()
    array = np.asarray(value)
    return f"{spec_of(array)} {_elements(array)}" if array.ndim else _number(array.item()), None


def output_lines(name: str, value: Value) -> Iterator[str]:
    """Yield name, type, first elements and summary of a tensor; name and term of other values."""
    if not isinstance(value, np.ndarray):
        yield f"{name}: {value_text(value)}"
        return
    array = cast(Array, value)
    yield f"{name}: {spec_of(array)}"
    if not array.size:
        return
    yield f"  {_elements(array)}"
    with np.errstate(all="ignore"):
        figures = array.min().item(), array.max().item(), float(array.mean(dtype=np.float64))
    shown = [
        f"{what} {_number(v)}" for what, v in zip(("min", "max", "mean"), figures, strict=True)
    ]
    yield f"  {', '.join(shown)}"


def stats_lines(program: Program, counters: Counters) -> Iterator[str]:
    """Yield instructions by opcode, memory of each device, and copies between devices."""
    counts = counters.instructions
    yield f"instructions: {counts.total()}"
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {name}: {count}"
    for device, name in enumerate(program.devices):
        if not counters.allocations[device] and device:
            continue
        allocations = counters.allocations[device]
        yield (
            f"memory of {name}: {allocations} allocation{'s' * (allocations != 1)}, "
            f"{counters.allocated[device]} bytes, {counters.peak.get(device, 0)} bytes at the peak"
        )
    total = counters.copies.total()
    yield f"copies between devices: {total}"
    for (source, target), count in sorted(counters.copies.items()):
        names = f"{program.devices[source]} to {program.devices[target]}"
        yield f"  {names}: {count}, {counters.copied[source, target]} bytes"


Arrays: TypeAlias = dict[str, Array]


@dataclass
class Executable(ABC):
    """Functions that can be called, by their parameters, and the weights that they need."""

    functions: Mapping[str, Sequence[Param]]
    weights: Sequence[Late]
    options: Options
    """Bounds of a run, and how the machine is watched."""

    @abstractmethod
    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        """Run `function` and return its results."""

    @abstractmethod
    def output_names(self, function: str, count: int) -> list[str]:
        """Return unique names for the `count` outputs of `function`."""

    def caller(self, weights: Arrays) -> Evaluates:
        """Return what `--benchmark` calls, which nothing watches."""
        raise NotImplementedError

    def stats(self) -> Iterator[str]:
        """Return lines about the cost of the last run."""
        return iter(())


class Typed(Executable):
    """Functions of a program, which knows the types of their results."""

    def __init__(
        self, program: Program, functions: Sequence[Function], weights: Sequence[Late], how: Options
    ) -> None:
        super().__init__({f.name: f.params for f in functions}, weights, how)
        self.program, self.named = program, {f.name: f for f in functions}

    @abstractmethod
    def evaluate(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Value:
        """Run `function` and return its result."""

    def run(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Sequence[Value]:
        value = self.evaluate(function, inputs, weights)
        results = results_of(self.named[function], self.program.data, value)
        return [output for result in results for output in outputs_of(result)]

    def output_names(self, function: str, count: int) -> list[str]:
        return output_names(self.named[function], count)


class Compiled(Typed):
    """A program on the machine, maybe with kernels that were compiled."""

    def __init__(
        self, program: Program, options: Options, native: NativeLibrary | None = None
    ) -> None:
        super().__init__(program, program.functions, program.late_constants, options)
        self.native = native
        self.machine: Machine | None = None
        self.profile: Profile | None = None

    def evaluate(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Value:
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
            return machine.evaluate(function, *inputs)

    def caller(self, weights: Arrays) -> Evaluates:
        limit, bound = self.options.memory_limit, self.options.max_instructions
        return Machine(
            self.program, weights, memory_limit=limit, max_instructions=bound, native=self.native
        )

    def stats(self) -> Iterator[str]:
        assert self.machine is not None, "statistics are those of a run"
        return stats_lines(self.program, self.machine.counters)


class NativeProgram(Typed):
    """The functions of a library, whose code runs."""

    def __init__(self, library: Evaluates, functions: Sequence[Function], options: Options) -> None:
        super().__init__(library.program, functions, (), options)
        self.library = library

    def evaluate(self, function: str, inputs: Sequence[Value], weights: Arrays) -> Value:
        return self.library.evaluate(function, *inputs)

    def caller(self, weights: Arrays) -> Evaluates:
        return self.library


def outputs_of(result: Value) -> Sequence[Value]:
    """Split a result into tensors, as the machine does; any other value is one output."""
    parts: list[object] = list(leaves(result))
    if all(isinstance(part, np.ndarray | np.generic) for part in parts):
        return list(map(np.asarray, parts))
    return [result]
