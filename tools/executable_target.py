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
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from ..passes.support.diagnostics import PassError
from ..runtime.executable import executable_of, write_executable
from .compiler import Loaded, is_bytecode

EMBEDDED = "-t executable{embed=true}"


@dataclass(frozen=True)
class ExecutableTarget(Target):
    """Writes a program at level `bytecode` as an executable file."""

    name: ClassVar[str] = "executable"

    embed: bool = False
    """True if the weights shall be in the file, not beside it."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Raise an error: an executable is bytes, which only `xrelay-opt` writes."""
        raise PassError("xrelay-opt -t executable writes executables: they are not text")

    def contents(self, loaded: Loaded, folder: Path) -> bytes:
        """
        Return the file of a program, which will be in `folder`.

        Raises `Error` if its weights do not fit.
        """
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
