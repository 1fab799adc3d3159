"""
Files: mapped into memory to read, replaced as a whole to write.

Pipes and devices, which may have no end, are read up to a limit, and once: `streams_kept`.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EEXIST, EINVAL, EISDIR
from itertools import chain
from mmap import ACCESS_READ, mmap
from pathlib import Path
from time import monotonic, sleep
from typing import Protocol, cast

from .errors import MachineError, reason_of

MAX_INPUT = 1 << 30
"""The default limit on the bytes of a pipe or device, which are held in memory."""
WRITER_WAIT = 5.0
"""Seconds after which a named pipe that no process writes to is an error."""
_CHUNK = 1 << 20

_limit: ContextVar[int] = ContextVar("max_input", default=MAX_INPUT)


_streams: ContextVar[dict[str, memoryview] | None] = ContextVar("streams", default=None)


@contextmanager
def streams_kept() -> Generator[None]:
    """Keep what pipes and devices say in the `with` block, for each time that one is read."""
    token = _streams.set({})
    try:
        yield
    finally:
        _streams.reset(token)


def limit_input(size: int | None) -> None:
    """
    Set the limit on the bytes of a pipe or device in this context; None is the default.

    From now on, what a pipe or device says is kept for each time that it is read here.
    """
    _limit.set(MAX_INPUT if size is None else size)
    _streams.set({})


class Stream(Protocol):
    """A source of bytes that can be read to its end."""

    def read(self, size: int, /) -> bytes | None:
        """Return at most `size` bytes; none at the end."""
        ...


def path_text(path: object) -> str:
    """Return a path as text; raise `MachineError` for what is not one."""
    text: object = (
        os.fspath(cast("os.PathLike[str]", path)) if hasattr(path, "__fspath__") else path
    )
    if not isinstance(text, str):
        raise MachineError(f"expected a path as str or os.PathLike, but got {type(text).__name__}")
    return text


def _fault(verb: str, name: str, error: OSError | ValueError) -> MachineError:
    """Return the error about the file `name`, which `error` calls by it, too."""
    if isinstance(error, OSError):
        error.filename = name
    return MachineError(f"cannot {verb} '{name}': {reason_of(error)}")


def mapped(path: str | os.PathLike[str]) -> memoryview:
    """
    Map the file at `path` into memory: its bytes are read when they are used.

    The file must not be changed while they are. Raises `MachineError`.
    """
    name = path_text(path)
    try:
        # Opening a pipe without O_NONBLOCK would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(EISDIR if stat.S_ISDIR(status.st_mode) else EINVAL, "not a file")
            if not status.st_size:
                return memoryview(b"")
            return memoryview(mmap(descriptor, status.st_size, access=ACCESS_READ))
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise _fault("read", name, error) from error


def contents(path: str | os.PathLike[str]) -> memoryview:
    """
    Return the bytes at `path`: a file is mapped, a pipe or device is read to its end.

    Raises `MachineError`, also for a pipe or device of more bytes than the limit, and a named pipe
    that no process writes to.
    """
    name = path_text(path)
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            return mapped(path)
        kept = _streams.get()
        if kept is None:
            return _contents_of_stream(name, mode)
        if name not in kept:
            kept[name] = _contents_of_stream(name, mode)
        return kept[name]
    except (OSError, ValueError) as error:
        raise _fault("read", name, error) from error


def _contents_of_stream(name: str, mode: int) -> memoryview:
    # Opening a pipe without O_NONBLOCK would wait for its writer.
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb", buffering=0) as stream:
        if stat.S_ISFIFO(mode):
            return read_stream(stream, name, _first_piece(stream, name))
        os.set_blocking(descriptor, True)
        return read_stream(stream, name)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Test whether there is a pipe or device at `path`, which can be read once."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _first_piece(stream: io.FileIO, name: str) -> bytes:
    """Return the first bytes of a pipe as soon as it has a writer; let `stream` block then."""
    end = monotonic() + WRITER_WAIT
    while not (piece := stream.read(_CHUNK)):
        if piece is None:  # it has a writer
            break
        if monotonic() > end:
            raise MachineError(f"cannot read '{name}': no process writes to this pipe")
        sleep(0.01)
    os.set_blocking(stream.fileno(), True)
    return piece or b""


def read_stream(stream: Stream, name: str, first: bytes = b"") -> memoryview:
    """
    Return `first` and the bytes that `stream`, of this name, still has, up to the limit.

    Raises `MachineError` if it has more, or for a lack of memory.
    """
    limit, data = _limit.get(), bytearray(first)
    try:
        while len(data) <= limit and (piece := stream.read(min(_CHUNK, limit + 1 - len(data)))):
            data += piece
    except OSError as error:
        raise _fault("read", name, error) from error
    except MemoryError:
        text = f"cannot read '{name}': not enough memory for more than {len(data)} bytes"
        raise MachineError(text) from None
    if len(data) > limit:
        raise MachineError(
            f"cannot read '{name}': a pipe or device of more than {limit} bytes (--max-input)"
        )
    return memoryview(data)


def inside(folder: str | os.PathLike[str], name: str) -> Path | None:
    """
    Return the path of the file `name` in `folder` or below; None if it is elsewhere.

    Links count as what they point to.
    """
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, name))
    is_inside = bool(name) and path != root and os.path.commonpath([root, path]) == root
    return Path(folder, name) if is_inside else None


@contextmanager
def writing(path: str | os.PathLike[str]) -> Generator[None]:
    """Raise errors of the system in the `with` block as a `MachineError` about `path`."""
    try:
        yield
    except OSError as error:
        raise _fault("write", path_text(path), error) from error


def replace(
    path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview], *, overwrite: bool = False
) -> None:
    """
    Write `pieces` to the file at `path`: as a whole, or not at all.

    Programs that read an earlier file of this name keep it. Its permissions stay; those of a new
    file are what the user's umask gives. An earlier file of another kind, such as a model where
    text is written, is not replaced, unless `overwrite`. Raises `MachineError`.
    """
    name = path_text(path)
    try:
        final = Path(os.path.realpath(name))
        if final.exists() and not final.is_file():  # a device or a pipe cannot be replaced
            with open(final, "wb") as file:
                file.writelines(pieces)
            return
        temporary = final.with_name(f".{final.name[:200]}.{os.getpid()}.{os.urandom(4).hex()}")
        start, pieces = _peeked(pieces)
        if final.exists() and not overwrite:
            _require_same_kind(name, final, start)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:
                file.writelines(_resident(pieces))
            if final.exists():
                os.chmod(temporary, stat.S_IMODE(final.stat().st_mode))
            os.replace(temporary, final)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, ValueError) as error:
        raise _fault("write", name, error) from error


RESIDENT = 4 << 20
"""The bytes that are written at a time from a file that is mapped."""


def _resident(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """
    Yield `pieces` as bytes in memory.

    Linux writes what is mapped, but not in memory yet, in small pages of its cache. Who maps that
    file then, such as a library with its weights, waits longer for the memory: products of one row
    took 1.3 to 1.7 times as long.
    """
    for piece in pieces:
        if isinstance(piece, bytes):
            yield piece
        elif piece.nbytes:
            view = piece.cast("B")
            yield from (bytes(view[i : i + RESIDENT]) for i in range(0, len(view), RESIDENT))


START = 512
"""The bytes that tell the kind of a file."""

CODE = "machine code"

_KINDS = {
    **dict.fromkeys((b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ"), CODE),
    b"\x89XRX": "an executable",
    b"PK\x03\x04": "an archive of arrays",
    b"\x89xrelay weights": "weights of machine code",
}


def _peeked(pieces: Iterable[bytes | memoryview]) -> tuple[bytes, Iterator[bytes | memoryview]]:
    """Return the first bytes of `pieces`, and all of them."""
    rest, first, size = iter(pieces), list[bytes | memoryview](), 0
    while size < START and (piece := next(rest, None)) is not None:
        first.append(piece)
        size += len(piece)
    return b"".join(piece[:START] for piece in first)[:START], chain(first, rest)


def _require_same_kind(name: str, path: Path, start: bytes) -> None:
    with open(path, "rb") as file:
        old, new = kind_of(file.read(START)), kind_of(start)
    if old not in (new, ""):
        raise MachineError(
            f"cannot write '{name}': it exists and is {old}, not {new or 'empty'}: choose another "
            "name"
        ) from FileExistsError(EEXIST, os.strerror(EEXIST), name)


def kind_of(start: bytes) -> str:
    """Return what a file is, by its first `START` bytes; empty if it has none."""
    for magic, kind in _KINDS.items():
        if start.startswith(magic):
            return kind
    if len(start) > 8 and start[8] == ord("{") and not any(start[4:8]):
        return "a file of weights"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last character may be cut
    except UnicodeDecodeError:
        return "data"
    return "data" if 0 in start else "text" if start else ""


def is_library(path: str | os.PathLike[str]) -> bool:
    """Test whether the file at `path` is machine code; False if it cannot be read."""
    try:
        if not Path(path).is_file():  # to open a pipe may take for ever
            return False
        with open(path, "rb") as file:
            return kind_of(file.read(START)) == CODE
    except (OSError, TypeError, ValueError):
        return False
