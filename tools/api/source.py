"""
Read the input, recognise its format, decode it, and split it into parts that are processed
separately.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING

from ...operators.records import record
from ...passes.support.diagnostics import Message, Severity
from ...runtime.errors import MachineError, reason_of
from ...runtime.files import CODE, START, contents, is_stream, kind_of, read_stream
from ..commands import STDIN, read_stdin
from ..errors import UsageError
from ..messages import SourceError, place

if TYPE_CHECKING:
    from onnx import ModelProto

SPLIT_MARK = "// -----"
"""The line that separates parts."""

EXTENSIONS = {
    **{name: name for name in ("mlir", "onnx", "relay", "rly")},
    "json": "relay-json",  # modules saved by `tvm.ir.save_json`
}
"""The frontends by the extensions of their files."""

HEAD = 4096
"""The bytes that tell the format of a file, its comments among them."""

_COMMENTS = re.compile(r"(?:\s+|//[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*", re.S)
_RELAY = re.compile(r"#\[version\b|(?:def|fn|let|free_var|type|extern)\b\s*[@%(<A-Z]")
_IR = re.compile(r'[#!%]\w|"[\w.]+" *\(|module\b|[a-z]\w*\.[\w.]+')
_MODEL_TAGS = b"\x08\x12\x1a\x22\x28\x32\x3a\x42\x72\xa2\xca"
"""The first byte of each field that an ONNX model may begin with."""

LARGE = 1 << 20
"""The bytes from which on a file is mapped into memory."""


@record
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

    @property
    def frontend(self) -> str | None:
        """The frontend for its contents, or for its extension where these do not tell."""
        return frontend_in(self.data) or EXTENSIONS.get(self.extension)

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


@record
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


def frontend_in(data: bytes | memoryview | ModelProto) -> str | None:
    """Return the frontend that reads these contents, None if that cannot be told."""
    if not isinstance(data, bytes | memoryview):
        return "onnx"
    head = bytes(data[:HEAD])
    if kind_of(head[:START]) == "data":
        return "onnx" if head[0] in _MODEL_TAGS else None
    text = head.decode("utf-8", "replace")
    match = _COMMENTS.match(text)
    start = text[match.end() if match else 0 :]
    if start.startswith("{") and not start.startswith("{-#"):
        return "relay-json"
    if _RELAY.match(start):
        return "relay"
    return "mlir" if _IR.match(start) else None


def require_frontend(source: Source, option: str) -> str:
    """Return the frontend of a file; `UsageError` if it must be named by `option`."""
    if (frontend := source.frontend) is not None:
        return frontend
    data = source.data
    assert isinstance(data, bytes | memoryview), "a model in memory is one of ONNX"
    kind = kind_of(bytes(data[:START]))
    if kind in ("an executable", CODE):
        raise UsageError(
            f"'{source.name}' is {kind}, which is compiled already: xrelay-run and xrelay.load run "
            "it" + ", xrelay-objdump shows what it has" * (kind != CODE)
        )
    known = ", ".join(f".{extension}" for extension in EXTENSIONS)
    raise UsageError(
        f"cannot tell what '{source.name}' is: its extension is not one of {known}; say what it is "
        f"with {option}"
    )


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
