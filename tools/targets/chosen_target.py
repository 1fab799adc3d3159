"""The target of `xrelay-opt -t`, by how the driver produces its output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from xdsl.utils.target import Target

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
    """A target and its options; `target` is None if xDSL makes it and prints with it."""

    name: str
    target: Target | None = None

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

    @property
    def plan(self) -> Target | None:
        """The target if it shows memory, for which it stops the pipeline."""
        return None if self.reads_before is None else self.target

    @property
    def reads_before(self) -> str | None:
        """The name of the pass before which the target stops the pipeline."""
        return getattr(self.target, "reads_before", None)

    @property
    def stops_after(self) -> bool:
        """True if the pipeline stops after that pass."""
        return getattr(self.target, "stops_after", False)

    @property
    def pipeline(self) -> str:
        """The pipeline to run if none is given."""
        return "" if self.linalg is None else self.linalg.pipeline

    @property
    def names_weights(self) -> bool:
        """False if the output contains the weights, or does not need them."""
        has_them = self.files or (self.linalg and self.linalg.weights == "embedded")
        return not has_them and self.plan is None


def chosen_target(text: TargetText, available: Mapping[str, Callable[..., Any]]) -> ChosenTarget:
    """Return the target that `text` names; `PipelineError` for options that it does not have."""
    entry = available[text.name]
    if signature(entry).parameters:
        return ChosenTarget(text.name)
    cls = cast(Callable[[], type[Target]], entry)()
    target = text.make(cls)
    is_ours = text.name in (*FILE_TARGETS, LINALG) or hasattr(cls, "reads_before")
    return ChosenTarget(text.name, target if is_ours else None)
