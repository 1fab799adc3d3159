"""
The target of `xrelay-opt`, and those that write files, most of which are not text.

It is what follows `-t`, or that of the output's name: `-o model.xrx` is `-t executable -p vm`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ...operators.records import record
from ...passes.support.diagnostics import PassError
from ..api.session import Given
from ..errors import CommandLineError
from ..pass_run.pipeline_steps import Step, opened, report_index
from ..pass_run.runner import Runner
from ..registry import TARGETS
from ..text.printing import PrintOptions

if TYPE_CHECKING:
    from ...runtime.program.program import Array  # imports NumPy


BY_EXTENSION = {
    ".mlir": "mlir",
    ".relay": "relay-text",
    ".xrx": "executable",
    ".so": "native",
    ".o": "object",
    ".h": "c-header",
    ".html": "memory-plan-html",
    ".svg": "memory-plan-svg",
    ".dot": "dot",
    ".smt2": "smt2",
}
"""The targets by the extensions of the files that they write."""

FOREIGN = (
    *(".onnx", ".pb", ".json", ".npz", ".npy", ".safetensors", ".params", ".pt", ".tflite"),
    *(".png", ".jpg", ".jpeg", ".gif", ".pdf", ".csv", ".c", ".cc", ".cpp", ".py", ".s", ".ll"),
    *(".bc", ".a", ".dll", ".dylib", ".exe", ".vmfb", ".zip"),
)
"""Extensions of files that no target writes."""


def target_of(path: str | None, named: str | None) -> str:
    """
    Return the target of `xrelay-opt`: `named` by `-t`, or that of the output at `path`.

    Raises `CommandLineError` for the name of a file that no target writes.
    """
    extension = Path(path or "").suffix.lower()
    if extension in FOREIGN and (named is None or named.partition("{")[0] in TARGETS):
        listed = ", ".join(BY_EXTENSION)
        text = f"cannot write '{path}': no target writes {extension}; a name ends in {listed}"
        raise CommandLineError(f"{text}, or in none of these for IR text")
    return named or BY_EXTENSION.get(extension, "mlir")


@record
class Job:
    """A program to write: the passes to run on it first, and the file that it will be."""

    runner: Runner
    context: Context
    program: Given
    output: Path
    weights_file: Path
    """The file for weights, beside it."""
    options: PrintOptions
    stages: Path | None = None
    """The folder of `--save-temps`."""


@record
class Written:
    """
    The pieces of the output, and of further files in its folder, by name.

    `weights` are to be written to a file of weights beside it.
    """

    contents: Iterable[bytes | memoryview]
    beside: Mapping[str, Iterable[bytes | memoryview]] = field(
        default_factory=dict[str, Iterable[bytes | memoryview]]
    )
    is_text: bool = False
    weights: Mapping[str, Array] = field(default_factory=dict[str, "Array"])


@dataclass(frozen=True)
class FileTarget(Target, ABC):
    """A target that runs the passes itself and writes files."""

    @property
    def pipeline(self) -> str:
        """The pipeline to run if none is given."""
        return ""

    @property
    def contains_weights(self) -> bool:
        """True if the output contains the weights, or does not need them."""
        return True

    @property
    def writes_parts(self) -> bool:
        """True if the output may have the parts of an input, as text."""
        return False

    @abstractmethod
    def written(self, job: Job) -> Written:
        """Return the files of a program. Raises `Error`, or what passes raise."""

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Raise an error: the files are bytes, which only `xrelay-opt` writes."""
        raise PassError(f"only xrelay-opt -t {self.name} writes these files: they are not text")


@record
class ChosenTarget:
    """A target and its options; an old one of a plug-in is a function."""

    name: str
    target: Target | Callable[[ModuleOp, IO[str]], None]

    @property
    def is_default(self) -> bool:
        """True if the output is the module itself."""
        return self.name == "mlir"

    @property
    def pipeline(self) -> str:
        """The pipeline to run if none is given."""
        return getattr(self.target, "pipeline", "")

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

    def shown(self, steps: Sequence[Step]) -> list[Step]:
        """Return the steps up to the one before which the target reads the module."""
        steps = opened(steps)
        last = report_index([step.run.name for step in steps])
        return steps[: last + self.stops_after]

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
