"""The steps of a pipeline: which lead between two levels, and their text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from xdsl.passes import ModulePass

from ...operators.records import record
from ...passes.support.changes import CompositePass
from ...passes.support.diagnostics import OptionError
from ..errors import CommandLineError
from ..messages import PipelineError
from ..registry import option_text

TO_BYTECODE = "lower-to-bytecode"
"""The name of the pass after which values have no types, and memory is not planned any more."""

EXPANDS = "expand-packs"
"""The name of the pass that forgets the orders of packs, which reports of memory read."""

VERIFY_STAGE = "verify-stage"
"""The name of the pass that ends each level of a pipeline."""

Fail: TypeAlias = Callable[[OptionError], PipelineError]
"""Returns an error at the option that it is about, in the text of a pipeline."""


@record(eq=False)
class Step:
    """A pass of a pipeline, and the named pipelines that it was expanded from."""

    run: ModulePass
    groups: tuple[str, ...] = ()
    fail: Fail | None = None


def shown(field_name: str) -> str:
    """Return the name of an option as users write it."""
    return field_name.replace("_", "-")


def between(steps: Sequence[Step], start: str | None, end: str | None) -> list[Step]:
    """
    Return the steps that lead from a level to another one, by the `verify-stage`s among them.

    Raises `CommandLineError` for a level that the steps do not lead to.
    """
    stages = {
        stage: number
        for number, step in enumerate(steps)
        if (stage := getattr(step.run, "stage", None)) and step.run.name == VERIFY_STAGE
    }
    for level in (start, end):
        if level is not None and level not in stages and level != "relay":
            listed = ", ".join(("relay", *stages))
            raise CommandLineError(f"the pipeline has no level '{level}'; its levels: {listed}")
    first = 0 if start is None else stages.get(start, -1) + 1
    last = len(steps) if end is None else stages.get(end, -1) + 1
    return list(steps[first:last])


def pipeline_text(steps: Sequence[Step]) -> str:
    """Return text that `build` turns into `steps` again, with all options."""
    return ",".join(pass_text(step.run) for step in steps)


def pass_text(run: ModulePass) -> str:
    """Return one pass with its options, as in a pipeline."""
    options: list[str] = []
    for name, values in run.spec(include_default=True).parameters.items():
        if values:
            options.append(f"{shown(name)}={option_text(values)}")
        elif getattr(type(run), name, None) not in (None, ()):  # none, but not by default
            options.append(shown(name))
    return f"{run.name}{{{' '.join(options)}}}" if options else run.name


def report_index(names: Sequence[str]) -> int:
    """Return the index before which memory is reported among the passes `names`."""
    return next((i for i, name in enumerate(names) if name in (EXPANDS, TO_BYTECODE)), len(names))


def opened(steps: Iterable[Step]) -> list[Step]:
    """Replace `plan-memref` by its steps: memory is reported within it."""
    expanded: list[Step] = []
    for step in steps:
        inner = step.run.steps() if isinstance(step.run, CompositePass) else ()
        is_open = any(part.name == EXPANDS for part in inner)
        expanded += (replace(step, run=part) for part in inner) if is_open else (step,)
    return expanded
