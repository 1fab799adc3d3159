"""
Exit status, standard streams and garbage collection, the same for every command.

| exit status | when |
|---|---|
| 0 | success |
| 1 | an error in the input, a file that cannot be read or written, or an internal error |
| 2 | wrong usage: an unknown option, pass or pipeline |
| 130 | interrupted (Ctrl-C); while modules are imported, the signal ends the process |

When the reader closes the pipe, nothing is printed, and the status is 1.

By default, the garbage collector looks for cycles after every 700 new objects, which takes a fifth
to a half of the time of anything that makes ops, and a tenth of that of the imports. A process that
ends spends as much on cycles among its modules, which die with it.
"""

import errno
import gc
import io
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import Any, BinaryIO, TextIO, cast

FAULT = 1
USAGE = 2
INTERRUPTED = 130

NO_MEMORY = "there is not enough memory for this program"
"""The message for an allocation that fails although no limit was exceeded."""

STDIN, STDOUT, STDERR = "<stdin>", "<stdout>", "<stderr>"
"""The names of streams in errors."""


_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


def be_quiet() -> None:
    """Print errors only, from now on in this context."""
    _quiet.set(True)


def is_quiet() -> bool:
    """Test whether only errors are to be printed."""
    return _quiet.get()


def inform(name: str, text: str) -> None:
    """Say something that is not an error on stderr, unless the command `name` is to be quiet."""
    if not is_quiet():
        print(f"{name}: {text}", file=sys.stderr)


def guarded(body: Callable[[], int]) -> int:
    """Run `body`, a command; return its exit status, whatever happens."""
    with _open_streams():
        try:
            status = copy_context().run(_status, body)  # which may set the limit on inputs
            sys.stdout.flush()
            return status
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            pass
        except OSError as error:
            _say(f"error: {_failure(error)}")
        except MemoryError:
            _say("error: there is not enough memory")
        except Exception as error:
            _say(f"error: internal error: {describe(error)}")
            from .plugin_faults import blame

            _say(f"note: {blame(error)}")
        _drop_stdout()
        return FAULT


def _failure(error: OSError) -> str:
    """Describe an error of the system that nothing has caught: files are named where they fail."""
    if error.filename is None:
        return f"{error.strerror or error} ({describe(error)})"
    verb = "cannot write" if error.filename in (STDOUT, STDERR) else "cannot use"
    return f"{verb} '{error.filename}': {error.strerror}"


def _status(body: Callable[[], int]) -> int:
    try:
        return body()
    except SystemExit as done:  # --help, --version, or a wrong command line
        return done.code if isinstance(done.code, int) else FAULT if done.code else 0


@contextmanager
def warnings_passed_to(show: Callable[[str], None]) -> Generator[None]:
    """Show Python warnings raised in the `with` block, each text once."""
    import warnings

    told: set[str] = set()

    def tell(message: Warning | str, *_: object) -> None:
        if str(message) not in told:
            told.add(str(message))
            show(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield


def describe(error: BaseException) -> str:
    """Describe `error` in one line, with the place in the code where it was raised."""
    import traceback

    text = str(error).partition("\n")[0]
    shown = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    notes = [n for n in getattr(error, "__notes__", ()) if "\n" not in n]
    where = "".join(f", {note}" for note in notes)
    if frames:
        file = frames[-1].filename.replace("\\", "/").rpartition("/")[2]
        where += f" ({file}:{frames[-1].lineno})"
    return shown + where


class _Closed:
    """A standard stream that the caller closed; Python has None for it."""

    @property
    def buffer(self) -> "_Closed":
        return self

    def read(self, size: int = -1) -> str:
        raise OSError(errno.EBADF, "it is closed")

    def write(self, text: str) -> int:
        if text:
            raise OSError(errno.EBADF, "it is closed")
        return 0

    def flush(self) -> None:
        """Do nothing: nothing was written."""

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "it is closed")


class _Named:
    """
    A stream for output whose errors name it, and which writes everything.

    Where Python is told not to buffer (`PYTHONUNBUFFERED`), its own text streams lose what the
    system does not write at once, as at the end of a disk.
    """

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextmanager
    def _naming(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self._name
            raise

    @property
    def buffer(self) -> "_Named":
        return _Named(self._stream.buffer, self._name)

    def write(self, data: Any) -> int:
        with self._naming():
            raw = getattr(self._stream, "buffer", self._stream)
            if not isinstance(raw, io.RawIOBase):
                return self._stream.write(data)
            self._stream.flush()
            unwritten = memoryview(_encoded(data, self._stream))
            while unwritten:
                unwritten = unwritten[raw.write(unwritten) or 0 :]
            return len(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with self._naming():
            self._stream.flush()


def _encoded(data: Any, stream: Any) -> bytes:
    if not isinstance(data, str):
        return data
    return data.replace("\n", os.linesep).encode(stream.encoding, stream.errors)


@contextmanager
def _open_streams() -> Generator[None]:
    """Make closed streams raise an error when they are used; a closed stderr is ignored."""
    before = sys.stdin, sys.stdout, sys.stderr
    closed = cast(TextIO, _Closed())
    sys.stdin = sys.stdin or closed
    sys.stdout = cast(TextIO, _Named(sys.stdout or closed, STDOUT))
    sys.stderr = cast(TextIO, _Named(sys.stderr or io.StringIO(), STDERR))
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def _say(text: str) -> None:
    with suppress(OSError):
        print(text, file=sys.stderr)


def _drop_stdout() -> None:
    """Keep Python from flushing stdout again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read_stdin() -> bytes | memoryview:
    """Return the rest of stdin; `MachineError` if it cannot be read, or has too much."""
    from ..runtime.files import read_stream

    binary: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if binary is None:
        return sys.stdin.read().encode()
    return binary.read() if _is_file(binary) else read_stream(binary, STDIN)


def _is_file(stream: BinaryIO) -> bool:
    with suppress(OSError, ValueError):  # one in memory has no descriptor
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    return False


THRESHOLDS = (1_000_000, 50, 100)


@contextmanager
def collected_rarely() -> Generator[None]:
    """Let the collector run rarely in the `with` block."""
    before = gc.get_threshold()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def end() -> None:
    """Leave everything to the end of the process, which is near."""
    gc.freeze()
