"""
The files that a command writes: its output, or stdout, and weights beside it.

    xrelay-opt in.onnx -o out.mlir      out.mlir, out.safetensors
    xrelay-opt in.onnx                  stdout; the weights stay where they are
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..operators.records import record
from ..runtime.errors import MachineError, reason_of
from .commands import inform
from .errors import UsageError

if TYPE_CHECKING:
    from ..runtime.program.program import Array
    from .targets.file_target import Written


@record
class OutputFiles:
    """
    Writes files as `replace` does.

    What the command reads is replaced only with `overwrite`, as are files of another kind.
    """

    inputs: Sequence[str]
    """The files that the command reads, as far as they are named on its command line."""
    overwrite: bool = False

    def check(self, path: str) -> None:
        """Raise `UsageError` if the file at `path` is an input, or can have no folder."""
        folder = os.path.dirname(path) or os.curdir
        try:
            os.stat(os.path.join(folder, os.curdir))
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot write '{path}': {reason_of(error)}") from error
        if not self.overwrite and any(_is_same(path, name) for name in self.inputs):
            raise UsageError(
                f"cannot write '{path}': it is an input: choose another name for the output"
            )

    def write(self, path: str, contents: str | Iterable[bytes | memoryview]) -> None:
        """Write text or bytes to the file at `path`; `UsageError` if that fails."""
        from ..runtime.files import replace

        self.check(path)
        pieces = [contents.encode()] if isinstance(contents, str) else contents
        try:
            replace(path, pieces, overwrite=self.overwrite)
        except MachineError as error:
            raise UsageError(error.message) from error


def _is_same(path: str, other: str) -> bool:
    try:
        return other != "-" and os.path.isfile(other) and os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


WEIGHTS_SUFFIX = ".safetensors"


@record
class Destination:
    """The files named after the input and the output of a command line; "-" is stdin or stdout."""

    input: str
    output: str
    files: OutputFiles
    save_weights: str | None = None
    """The file for weights if it is named."""

    @property
    def is_stdout(self) -> bool:
        return self.output == "-"

    @property
    def is_device(self) -> bool:
        """True for a device or a pipe, which has no files beside it."""
        path = Path(self.output)
        return not self.is_stdout and path.exists() and not path.is_file()

    @property
    def program(self) -> str:
        """The name of the file that the weights belong to."""
        name = self.input if self.is_stdout else self.output
        return "stdin" if name == "-" else Path(name).name

    @property
    def weights_file(self) -> Path:
        """The file for weights: beside the output, unless it is named."""
        if self.save_weights is not None:
            return Path(self.save_weights)
        path = Path(self.program) if self.is_stdout else Path(self.output)
        return path.with_suffix(WEIGHTS_SUFFIX)

    @property
    def named_weights(self) -> str | None:
        """The name of the file for weights in the output; None if that does not name it."""
        if self.save_weights is None:
            return None if self.is_stdout else self.weights_file.name
        folder = Path() if self.is_stdout else Path(self.output).parent
        name = os.path.relpath(self.save_weights, folder)
        return None if name.startswith(os.pardir) else name

    def write_weights(self, weights: Mapping[str, Array]) -> None:
        """Write weights, if there are any, and say where they are."""
        if not weights:
            return
        if self.save_weights is None and (self.is_stdout or self.is_device):
            where = "in memory" if self.input == "-" else f"in '{self.input}'"
            how = "--save-weights FILE writes them"
            inform("xrelay-opt", f"the weights stay {where}, the output has none: {how}")
            return
        from ..runtime.weights.tensor_file import write_side_file

        path = self.weights_file
        self.files.check(str(path))
        write_side_file(path, weights, self.program, overwrite=self.files.overwrite)
        inform("xrelay-opt", f"the weights are in {path}")

    def write_text(self, text: str) -> None:
        """Write text as the output."""
        if self.is_stdout:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            self.files.write(self.output, text)

    def write(self, written: Written) -> None:
        """Write files piece by piece, the output last."""
        if self.is_stdout:
            self._write_to_stdout(written)
            return
        if not self.is_device:
            for name, pieces in written.beside.items():
                self.files.write(str(Path(self.output).with_name(name)), pieces)
        self.files.write(self.output, written.contents)

    def _write_to_stdout(self, written: Written) -> None:
        stream = getattr(sys.stdout, "buffer", None)
        if written.is_text and stream is None:
            sys.stdout.writelines(str(piece, "utf-8") for piece in written.contents)
            return
        if written.beside:
            raise UsageError("the output is several files: give a file with -o")
        if stream is None or (not written.is_text and sys.stdout.isatty()):
            raise UsageError("the output is not text: give a file with -o")
        sys.stdout.flush()
        stream.writelines(written.contents)
        stream.flush()
