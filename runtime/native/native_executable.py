"""
Compiled libraries as Python callables.

    exe = load_library("libmodel.so")
    y = exe(x)                       as an `Executable` of the machine
    exe.save("libcopy.so")

To load a library runs its code: load only those that you trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from ..calls.values import Value
from ..errors import MachineError
from ..files import mapped, replace
from ..memory.limits import default_limit
from ..program.program import Program
from ..python.callables import Callables, fail
from ..python.memory_summary import DeviceMemory, MemoryUse, Pictures
from ..python.saving import suffix_for
from .entry_calls import EntryCall
from .interface import Library
from .library_code import LibraryCode
from .output_memory import Workspaces

Pieces: TypeAlias = Iterable[bytes | memoryview]


class NativeFunctions:
    """The functions of a library; several threads may call them at the same time."""

    def __init__(self, path: str | PathLike[str], threads: int | None = None) -> None:
        code = LibraryCode(path, threads)
        self.library = code.interface
        self.program: Program = self.library.program
        """The types of the functions, and the kernels that this process supplies."""
        self._workspaces = Workspaces()
        self._calls = {
            entry.function.name: EntryCall(entry, code, self.program, self._workspaces)
            for entry in self.library.entries
        }

    def evaluate(self, name: str, *args: object, out: Value | None = None) -> Value:
        """
        Call the function `name`; return its result, an array or a tuple.

        With `out`, the elements are written there; after an error, it is unchanged.
        """
        return self._calls[name](args, out)

    @property
    def calls(self) -> Mapping[str, int]:
        """The number of calls that returned, by function."""
        return {name: call.count for name, call in self._calls.items()}

    def release(self) -> None:
        """Free the workspaces that are kept for later calls."""
        self._workspaces.clear()


class NativeExecutable(Callables):
    """
    A compiled library that can be called like an `Executable`.

    Arguments and errors are the same, and `out` is unchanged after an error. Memory is that of the
    caller and the library, without a limit; workspaces are kept for later calls. It can be copied
    and pickled, as a library of its own; to unpickle one runs its code.

    `threads` compute large kernels, by default those of XRELAY_NUM_THREADS, or all processors that
    the process may use; results are the same bits for any number. `written` makes the contents of a
    file of the program, by its path; `pictures` draw its plan.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        threads: int | None = None,
        written: Callable[[Path], Pieces] | None = None,
        pictures: Callable[[], Pictures] | None = None,
    ) -> None:
        self._native = NativeFunctions(path, threads)
        self._file, self._path = mapped(path), Path(path)
        self._written = written
        super().__init__(self._native, self._native.program.entries, {}, pictures=pictures)

    def __reduce__(self) -> tuple[Callable[..., NativeExecutable], tuple[object, ...]]:
        if self.interface.weights_file:
            raise MachineError(f"{self._path.name} has its weights in a file: save copies both")
        return library_in, (bytes(self._file), self._path.name)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """
        Write the program to a file: `libmodel.so`, `model.o` or `model.h`, its C header.

        One that was loaded, or unpickled, is a `.so`, whose file of weights is copied, too, if it
        has one. A file of another kind is replaced only with `overwrite`. Raises `MachineError`.
        """
        try:
            suffix = suffix_for("native", path)
            if self._written is None and suffix != ".so":
                raise MachineError(
                    f"cannot save '{path}': a library that was loaded is saved as .so; "
                    "xrelay.compile(model, target='native') makes one that is saved as .o and .h"
                )
            beside = self.interface.weights_file
            if beside:
                weights = mapped(self._path.with_name(beside))
                replace(Path(path).with_name(beside), [weights], overwrite=overwrite)
            pieces = [self._file] if self._written is None else self._written(Path(path))
            replace(path, pieces, overwrite=overwrite)
        except MachineError as error:
            fail(error, {})

    def release(self) -> None:
        """Free the workspaces that are kept for later calls."""
        self._native.release()

    @property
    def interface(self) -> Library:
        """The metadata of the library."""
        return self._native.library

    @property
    def memory(self) -> MemoryUse:
        """The workspaces that functions plan, and those that calls have used so far."""
        library, calls = self._native.library, self._native.calls
        devices: dict[str, DeviceMemory] = {}
        pools = (pool.place for entry in library.entries for pool in entry.pools if pool.place)
        for name in dict.fromkeys((*library.devices, *pools)):
            planned: Mapping[str, int | None] = {
                entry.function.name: next(
                    (
                        pool.size
                        for pool in entry.pools
                        if (pool.place or library.devices[pool.device]) == name
                    ),
                    0,
                )
                for entry in library.entries
            }
            used = [(planned[name] or 0, count) for name, count in calls.items() if count]
            devices[name] = DeviceMemory(
                planned,
                max((size for size, _ in used), default=0),
                sum(count for size, count in used if size),
                sum(size * count for size, count in used),
            )
        size = library.constants_size
        return MemoryUse(devices, size, size, default_limit(), pictures=self._pictures)


def library_in(contents: bytes | memoryview, name: str, **options: Any) -> NativeExecutable:
    """Return the library with these contents and this file name; `options` are those of it."""
    with TemporaryDirectory(prefix="xrelay-library-") as folder:
        path = Path(folder) / name
        replace(path, [contents])
        return NativeExecutable(path, **options)


def load_library(
    path: str | PathLike[str], has_options: bool = False, threads: int | None = None
) -> NativeExecutable:
    """
    Load a library that `xrelay-opt -t native` wrote, which runs its code.

    Raises `MachineError`; also with options of `xrelay.load`, which are for the machine.
    """
    if has_options:
        raise MachineError(
            f"{path} is machine code: params, verify, memory_limit, max_instructions and sanitize "
            "are for programs that the machine runs"
        )
    return NativeExecutable(path, threads=threads)
