"""
Compiled libraries as Python callables.

    exe = load_library("libmodel.so")
    y = exe(x)                       as an `Executable` of the machine
    exe.save("libcopy.so")

To load a library runs its code: load only those that you trust.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from ..calls.call_arguments import check_structures, flattened
from ..calls.values import Leaf, Value
from ..errors import MachineError
from ..files import mapped, replace
from ..kernels.loading import kernels_of
from ..memory.limits import default_limit
from ..program.objects import Tensor
from ..program.program import Array, Program
from ..python.callables import Callables, fail
from ..python.memory_summary import DeviceMemory, MemoryUse, Pictures
from ..python.saving import suffix_for
from ..reference.reference_kernels import run_kernel
from .direct_calls import DirectCall, Measured
from .interface import Entry, InterfaceError, Library, Pool, fields_of, nested, together
from .interface import spec_of as spec_of_param
from .output_memory import DLTensor, Shape, Workspaces, address, array_in, given_for, target_of
from .thread_count import MOST, default_threads

Pieces: TypeAlias = Iterable[bytes | memoryview]

METADATA = "xrelay_library_metadata"
"""The function of a library that returns its interface."""

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.POINTER(DLTensor)),
    ctypes.c_int32,
)


class NativeFunctions:
    """The functions of a library; several threads may call them at the same time."""

    def __init__(self, path: str | PathLike[str], threads: int | None = None) -> None:
        """`threads` compute large kernels, by default `default_threads()`."""
        self._code = _opened(path)
        self.library = _library_of(self._code, path)
        self.program: Program = self.library.program
        """The types of the functions, and the kernels that this process supplies."""
        entries = self.library.entries
        self._entries = {entry.function.name: entry for entry in entries}
        self._calls = {entry.function.name: self._call_of(entry, path) for entry in entries}
        self._last_error: Any = self._symbol(f"{self.library.name}_last_error", path)
        self._last_error.restype = ctypes.c_char_p
        self._set_threads(default_threads() if threads is None else threads, path)
        self._measures: dict[str, Any] = {}
        """The functions that measure dims, by symbol."""
        self._release: Any = None
        if any(any(entry.allocated) for entry in entries):
            self._release = self._symbol(f"{self.library.name}_release", path)
            self._release.argtypes, self._release.restype = [ctypes.c_void_p], None
        self._workspaces = Workspaces()
        self._local = threading.local()
        self._lock = threading.Lock()
        self.calls: dict[str, int] = dict.fromkeys(self._entries, 0)
        self._callback: object = None
        self._direct: dict[str, DirectCall] = {}
        if self.library.kernels:
            self._supply_kernels(path)
        else:
            self._direct = {
                entry.function.name: DirectCall(
                    entry,
                    self._calls[entry.function.name],
                    partial(self._measured, entry),
                    self._workspaces,
                )
                for entry in entries
                if DirectCall.serves(entry)
            }

    def evaluate(self, name: str, *args: object, out: Value | None = None) -> Value:
        """
        Call the function `name`; return its result, an array or a tuple.

        With `out`, the elements are written there; after an error, it is unchanged.
        """
        entry = self._entries[name]
        direct = self._direct.get(name) if out is None else None
        if direct is not None and (done := direct(args)) is not None:
            status, outputs = done
            if status:
                self._fail()
            with self._lock:
                self.calls[name] += 1
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        function = entry.function
        values = flattened(function, self._tensors(entry, args))
        check_structures(self.program, function, values)
        inputs = [
            contiguous(array, leaf.dtype)
            for value in values
            for leaf, array in zip(value.structure, value.arrays, strict=True)
            if isinstance(leaf, Leaf)
        ]
        dims, shapes, sizes = self._measured(entry, self._dims(entry, inputs))
        given = given_for(entry, shapes, out)
        targets = [
            target_of(result, shape, None if entry.may_fail else array, inputs)
            for result, shape, array in zip(entry.results, shapes, given, strict=True)
        ]
        self._local.error = None
        pointers: list[object] = [*map(address, inputs)]
        pointers += [target.pointer for target in targets]
        extra: list[object] = [dims] if entry.is_dynamic else []
        spaces = [
            self._workspaces.take(size, pool.alignment) if size >= 0 else None
            for size, pool in zip(sizes, entry.pools, strict=True)
        ]
        extra += [None if space is None else address(space) for space in spaces]
        status = self._calls[name](*pointers, *extra)
        for space in spaces:
            if space is not None:
                self._workspaces.give_back(space)
        if status:
            self._fail()
        outputs = [target.array(self._release) for target in targets]
        with self._lock:
            self.calls[name] += 1
        if out is not None:
            given_for(entry, [output.shape for output in outputs], out)
            for array, written in zip(given, outputs, strict=True):
                if array is not None and array is not written:
                    array[...] = written
            return out
        return nested(together(entry.nested.outputs), outputs)

    def release(self) -> None:
        """Free the workspaces that are kept for later calls."""
        self._workspaces.clear()

    def _tensors(self, entry: Entry, args: Sequence[object]) -> Sequence[object]:
        """Return the tensors in the arguments of an entry."""
        if entry.structure is None or len(args) != len(entry.structure.inputs):
            return args
        where = f"parameter '{{}}' of {entry.function.name}"
        return [
            field
            for param, arg in zip(entry.structure.inputs, args, strict=True)
            for _, field in fields_of(param.fields, arg, param.name, where)
        ]

    def _measured(self, entry: Entry, dims: Any) -> Measured:
        """Measure `dims`; a workspace of a size less than 0 is allocated by the call, or fails."""
        return Measured(
            dims,
            self._output_shapes(entry, dims),
            [self._workspace_size(entry, pool, dims) for pool in entry.pools],
        )

    def _workspace_size(self, entry: Entry, pool: Pool, dims: Any) -> int:
        return int(self._measure(f"{entry.symbol}_{pool.symbol}_size")(dims))

    def _measure(self, symbol: str) -> Any:
        """Return a function of dims."""
        function = self._measures.get(symbol)
        if function is None:
            function = self._measures[symbol] = self._code[symbol]
            function.restype = ctypes.c_int64
        return function

    def _call_of(self, entry: Entry, path: str | PathLike[str]) -> Any:
        if "unpacked" not in entry.forms:
            raise MachineError(
                f"{path}: {entry.function.name} has no unpacked form, which this loader calls; "
                "compile it with aot-lower-main{forms=unpacked,…}"
            )
        if entry.contexts:
            raise MachineError(
                f"{path}: {entry.function.name} needs device contexts, which only a C program has"
            )
        call = self._symbol(entry.symbol, path)
        count = len(entry.tensors) + entry.is_dynamic + len(entry.pools)
        call.argtypes = [ctypes.c_void_p] * count
        return call

    def _symbol(self, name: str, path: str | PathLike[str]) -> Any:
        try:
            return self._code[name]
        except AttributeError:
            raise MachineError(f"{path} is damaged: it has no symbol {name}") from None

    def _set_threads(self, threads: int, path: str | PathLike[str]) -> None:
        if not 1 <= threads <= MOST:
            raise MachineError(f"threads must be from 1 to {MOST}, but is {threads}")
        self._symbol(f"{self.library.name}_set_threads", path)(threads)

    def _dims(self, entry: Entry, inputs: Sequence[Array]) -> Any:
        found = [
            array.shape[axis]
            for array, param in zip(inputs, entry.function.params, strict=True)
            for axis, size in enumerate(spec_of_param(param).shape)
            if size is None
        ]
        return (ctypes.c_int64 * len(found))(*found)

    def _output_shapes(self, entry: Entry, dims: Any) -> list[Shape]:
        """Return the shapes of the outputs; a dim that is known only after the call is None."""
        specs = [spec_of_param(result) for result in entry.results]
        if all(spec.is_static or alone for spec, alone in zip(specs, entry.allocated, strict=True)):
            return [spec.shape for spec in specs]
        found = (ctypes.c_int64 * sum(len(spec.shape) for spec in specs))()
        if self._measure(f"{entry.symbol}_output_shapes")(dims, found):
            self._fail()
        sizes = (None if size < 0 else size for size in found)
        return [tuple(next(sizes) for _ in spec.shape) for spec in specs]

    def _fail(self) -> None:
        """Raise the error of a call that failed in this thread."""
        error = getattr(self._local, "error", None)
        self._local.error = None
        if isinstance(error, MachineError):
            raise error
        text = self._last_error() or b"the call failed"
        raise MachineError(text.decode("utf-8", "replace")) from error

    def _supply_kernels(self, path: str | PathLike[str]) -> None:
        kernels = self.library.kernels
        binds = kernels_of(step.op for kernel in kernels for step in kernel.steps)
        local = self._local

        def run(context: object, number: int, tensors: Any, count: int) -> int:
            try:
                kernel = kernels[number]
                arrays = [Tensor(array_in(tensors[i].contents), 0) for i in range(count)]
                ins, outs = arrays[: len(kernel.ins)], arrays[len(kernel.ins) :]
                with np.errstate(all="ignore"):
                    run_kernel(kernel, ins, outs, binds, ("cpu:0",))
            except BaseException as error:  # it must not cross compiled code
                local.error = error
                return 1
            return 0

        self._callback = _CALLBACK(run)
        self._symbol(f"{self.library.name}_set_kernels", path)(self._callback, None)


def contiguous(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return `array` as compiled code reads it: contiguous, aligned, in native byte order."""
    return np.require(array, dtype, ["C", "A"])


def _opened(path: str | PathLike[str]) -> ctypes.CDLL:
    """Load the library at `path`, which runs its code."""
    file = Path(os.fspath(path))
    if not file.is_file():
        reason = "not a file" if file.exists() else "No such file or directory"
        raise MachineError(f"cannot read {path}: {reason}")
    _require_all(file)
    try:
        return ctypes.CDLL(str(file.resolve()))
    except OSError as error:
        raise MachineError(f"cannot load {path}: {error}") from error


def _require_all(file: Path) -> None:
    """Raise `MachineError` if the end of a library is missing: to load it would crash."""
    with open(file, "rb") as stream:
        header = stream.read(64)
        size = stream.seek(0, os.SEEK_END)
    if len(header) < 64 or not header.startswith(b"\x7fELF\x02\x01"):
        return  # the loader says what is wrong
    (sections,) = struct.unpack_from("<Q", header, 40)
    width, count = struct.unpack_from("<HH", header, 58)
    if size < sections + width * count:  # the table of sections is at the end
        raise MachineError(
            f"cannot load {file}: it has {size} bytes, but must have {sections + width * count}"
        )


def _library_of(code: ctypes.CDLL, path: str | PathLike[str]) -> Library:
    """Return the interface that a library describes."""
    try:
        describe = code[METADATA]
    except AttributeError:
        text = f"{path} is not a library of xrelay-opt -t native: it has no symbol {METADATA}"
        raise MachineError(text) from None
    describe.restype = ctypes.c_char_p
    try:
        return Library.from_json((describe() or b"").decode("utf-8"))
    except (InterfaceError, UnicodeDecodeError) as error:
        raise MachineError(f"{path}: {error}") from error


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
