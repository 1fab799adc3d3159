"""
The target `executable` of `xrelay-opt -t`: a file that `xrelay-run` runs without the compiler.

    xrelay-opt model.onnx -o model.xrx
    xrelay-opt model.onnx -p vm{memory=coalesce} -t executable{embed=true} -o model.xrx
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from ...passes.support.diagnostics import PassError
from ...runtime.executable import executable_of
from ...runtime.executable.executable_files import pieces_of
from ...runtime.weights.derived_weights import weights_in
from ..api.loaded import lower
from ..api.session import is_bytecode
from ..pass_run.pipeline_steps import TO_BYTECODE, pipeline_text
from .file_target import FileTarget, Job, Written

EMBEDDED = "-t executable{embed=true}"


@dataclass(frozen=True)
class ExecutableTarget(FileTarget):
    """Writes a program at level `bytecode` as an executable file."""

    name: ClassVar[str] = "executable"

    embed: bool = False
    """True if the weights shall be in the file, not beside it."""

    @property
    @override
    def pipeline(self) -> str:
        return "vm"

    @override
    def written(self, job: Job) -> Written:
        was_bytecode = is_bytecode(job.program.module)
        reads_memory = TO_BYTECODE in [step.run.name for step in job.runner.steps]
        metadata = {"pipeline": pipeline_text(job.runner.steps)}
        loaded = lower(job.runner, job.context, job.program, reads_memory and not was_bytecode)
        if not is_bytecode(loaded.module):
            raise PassError("an executable needs bytecode: end the pipeline in it, as -p vm does")
        program, weights = loaded.program, loaded.weights
        if not program.late_constants:
            weights = None
        if isinstance(weights, Path) and not self.embed:
            weights = self._beside(weights, job.output.parent)
        written = partial(executable_of, memory=loaded.plans, metadata=metadata)
        if self.embed or not isinstance(weights, Mapping):
            executable = written(program, weights, embed=self.embed)
            return Written(pieces_of(executable))
        # What came with the program is written as it is used, so that nothing is derived at start.
        source = weights_in(weights)
        values = {late.name: source.array(late.name) for late in program.late_constants}
        executable = written(program, values, file=job.weights_file.name)
        return Written(pieces_of(executable), weights=values)

    def _beside(self, weights: Path, folder: Path) -> Path | None:
        """Warn if the file `weights` is not in `folder`; return None if it does not exist."""
        if not weights.exists():
            text = f"'{weights}' does not exist: the executable will accept any weights that fit"
            warnings.warn(text, stacklevel=2)
            return None
        if weights.parent.resolve() != folder.resolve():
            text = (
                f"the executable will look for '{weights.name}' beside it: copy '{weights}' there"
            )
            warnings.warn(f"{text}, or put the weights into it with {EMBEDDED}", stacklevel=2)
        return weights
