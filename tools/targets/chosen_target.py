"""The target of `xrelay-opt -t`, by how the driver produces its output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import IO, TYPE_CHECKING, Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe
from xdsl.utils.target import Target

from ..errors import CommandLineError
from ..pass_run.pipeline import TargetText

if TYPE_CHECKING:
    from .file_target import FileTarget
    from .linalg_target import LinalgTarget

FILE_TARGETS = ("executable", "native", "object", "c-header")
"""The targets that write files themselves."""

LINALG = "linalg"
"""The target that writes linalg."""


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
        return cast("FileTarget", self.target) if self.name in FILE_TARGETS else None

    @property
    def linalg(self) -> LinalgTarget | None:
        """The target if it writes linalg."""
        return cast("LinalgTarget", self.target) if self.name == LINALG else None

    def emit(self, target: Any, context: Context, module: ModuleOp, output: IO[str]) -> None:
        """Let `target`, this one with other options, print a module."""
        if isinstance(target, Target):
            target.emit(context, module, output)
        else:
            target(module, output)

    @property
    def plan(self) -> Target | None:
        """The target if it shows memory, for which it stops the pipeline."""
        return None if self.reads_before is None else cast("Target", self.target)

    @property
    def reads_before(self) -> str | None:
        """The name of the pass before which the target stops the pipeline."""
        return getattr(self.target, "reads_before", None)

    @property
    def pipeline(self) -> str:
        """The pipeline to run if none is given."""
        return "" if self.linalg is None else self.linalg.pipeline

    @property
    def names_weights(self) -> bool:
        """False if the output contains the weights, or does not need them."""
        has_them = self.files or (self.linalg and self.linalg.weights == "embedded")
        return not has_them and self.plan is None


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
