"""Read the input, decode it, and split it into parts that are processed separately."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from ...passes.support.diagnostics import Message, Severity
from ...runtime.errors import MachineError, reason_of
from ...runtime.files import contents, is_stream, read_stream
from ..commands import STDIN, read_stdin
from ..errors import UsageError
from ..messages import SourceError, place

if TYPE_CHECKING:
    from onnx import ModelProto

SPLIT_MARK = "// -----"
"""The line that separates parts."""

LARGE = 1 << 20
"""The bytes from which on a file is mapped into memory."""


@dataclass(frozen=True)
class Source:
    """The input as it was read."""

    name: str
    """Its name in messages: the path that was given, or `<stdin>`."""
    extension: str
    """The part of the path after the last dot; `mlir` for stdin, and a pipe without one."""
    data: bytes | memoryview | ModelProto
    """The contents of a file, or a model in memory."""
    is_file: bool = False
    """False for stdin, a pipe or device, and a model in memory."""

    def text(self) -> str:
        """Decode the data; `SourceError` at the first byte that is not UTF-8."""
        data = self.data
        assert isinstance(data, bytes | memoryview), "a model in memory is not text"
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError as error:
            before = bytes(data[: error.start])
            line = before.count(b"\n") + 1
            start = before.rfind(b"\n") + 1
            column = len(before[start:].decode("utf-8")) + 1
            text = f"not UTF-8: byte 0x{data[error.start]:02x} ({error.reason})"
            where = place(self.name, line, column)
            raise SourceError(Message(Severity.ERROR, text, where)) from None


@dataclass(frozen=True)
class Part:
    """A part of the input, and the number of lines of the file before it."""

    text: str
    lines_before: int = 0


def read_source(path: str | None, data: memoryview | None = None) -> Source:
    """
    Read the file, pipe or device at `path`, or stdin; `UsageError` when that fails.

    `data` are its bytes if they were read already.
    """
    file = None if path == "-" else path
    name = STDIN if file is None else file
    try:
        if data is None:
            data = memoryview(read_stdin()) if file is None else _contents(file)
    except MachineError as error:
        raise UsageError(error.message) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read '{name}': {reason_of(error)}") from error
    is_file = file is not None and not is_stream(file)
    return Source(name, extension_of(path), data, is_file)


def extension_of(path: str | None) -> str:
    """Return the part of `path` after the last dot; `mlir` for stdin, and a pipe without one."""
    if path in (None, "-"):
        return "mlir"
    extension = os.path.splitext(path)[1].removeprefix(".")
    return extension or ("mlir" if is_stream(path) else "")


def _contents(path: str) -> memoryview:
    """Return the bytes of a file; those of a large one are read when they are used."""
    size = os.stat(path).st_size
    if is_stream(path) or size >= LARGE:
        return contents(path)
    with open(path, "rb") as file:
        # A file of the system, which says that it has no bytes, may have no end.
        return memoryview(file.read(size)) if size else read_stream(file, path)


def split(text: str) -> Iterator[Part]:
    """Split `text` at lines that are the mark and nothing else."""
    part: list[str] = []
    start = 0
    for number, line in enumerate(StringIO(text, newline="\n")):
        if line.rstrip() == SPLIT_MARK:
            yield Part("".join(part), start)
            part, start = [], number + 1
        else:
            part.append(line)
    yield Part("".join(part), start)
