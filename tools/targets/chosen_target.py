"""The target of `xrelay-opt -t`, by how the driver produces its output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import IO, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe
from xdsl.utils.target import Target

from ..errors import CommandLineError
from ..pass_run.pipeline import TargetText
from .file_target import FileTarget


@dataclass(frozen=True)
class ChosenTarget:
    """A target and its options; an old one of a plug-in is a function."""

    name: str
    target: Target | Callable[[ModuleOp, IO[str]], None]

    @property
    def is_default(self) -> bool:
        """True if the output is the module itself."""
        return self.name == "mlir"

    @property
    def files(self) -> FileTarget | None:
        """The target if it runs the passes itself and writes files."""
        return self.target if isinstance(self.target, FileTarget) else None

    def emit(
        self, context: Context, module: ModuleOp, output: IO[str], dims: tuple[str, ...]
    ) -> None:
        """Print a module; `dims` are for targets that show memory."""
        target: Any = self.target
        if not isinstance(target, Target):
            target(module, output)
            return
        shown = replace(target, dims=dims) if dims and self.reads_before else target
        shown.emit(context, module, output)

    @property
    def reads_before(self) -> str | None:
        """The name of the pass before which a target that shows memory stops the pipeline."""
        return getattr(self.target, "reads_before", None)

    @property
    def stops_after(self) -> bool:
        """True if the pipeline stops after that pass."""
        return getattr(self.target, "stops_after", False)

    @property
    def names_weights(self) -> bool:
        """False if the output contains the weights, or does not need them."""
        contains = self.files is not None and self.files.contains_weights
        return not contains and self.reads_before is None


def chosen_target(text: TargetText, universe: Universe) -> ChosenTarget:
    """
    Return the target that `text` names.

    Raises `CommandLineError` for an unknown one, and `PipelineError` for options that it lacks.
    """
    entry: Any = universe.all_targets.get(text.name)
    if entry is None:
        known = ", ".join(universe.all_targets)
        message = f"argument -t/--target: invalid choice: '{text.name}' (choose from {known})"
        raise CommandLineError(message)
    return ChosenTarget(text.name, entry if signature(entry).parameters else text.make(entry()))
