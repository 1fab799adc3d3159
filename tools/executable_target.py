"""
The target `executable` of `xrelay-opt -t`: a file that `xrelay-run` runs without the compiler.

    xrelay-opt model.mlir -p vm -t executable -o model.xrx
    xrelay-opt model.onnx -p vm -t executable{embed=true} -o model.xrx
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from ..passes.support.diagnostics import PassError
from ..runtime.executable import executable_of, write_executable
from .compiler import Loaded, is_bytecode, lower
from .file_target import FileTarget, Job, Written
from .pipeline import TO_BYTECODE

EMBEDDED = "-t executable{embed=true}"


@dataclass(frozen=True)
class ExecutableTarget(FileTarget):
    """Writes a program at level `bytecode` as an executable file."""

    name: ClassVar[str] = "executable"

    embed: bool = False
    """True if the weights shall be in the file, not beside it."""

    @property
    @override
    def takes_weights(self) -> bool:
        return self.embed

    @override
    def written(self, job: Job) -> Written:
        was_bytecode = is_bytecode(job.program.module)
        reads_memory = TO_BYTECODE in [step.run.name for step in job.runner.steps]
        loaded = lower(job.runner, job.context, job.program, reads_memory and not was_bytecode)
        return Written([self._contents(loaded, job.output.parent)])

    def _contents(self, loaded: Loaded, folder: Path) -> bytes:
        """Return the file of a program, which will be in `folder`."""
        module = loaded.module
        if not is_bytecode(module):
            raise PassError("an executable needs bytecode: end the pipeline in it, as -p vm does")
        program = loaded.program
        weights = loaded.weights if program.late_constants else None
        if weights is not None and not weights.exists() and not self.embed:
            text = f"'{weights}' does not exist: the executable will accept any weights that fit"
            warnings.warn(text, stacklevel=2)
            weights = None
        if not (weights is None or self.embed or weights.parent.resolve() == folder.resolve()):
            text = (
                f"the executable will look for '{weights.name}' beside it: copy '{weights}' there"
            )
            warnings.warn(f"{text}, or put the weights into it with {EMBEDDED}", stacklevel=2)
        executable = executable_of(
            program,
            weights,
            embed=self.embed,
            memory=loaded.plans,
        )
        out = BytesIO()
        write_executable(out, executable)
        return out.getvalue()
