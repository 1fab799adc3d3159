"""
The code of a library in this process: its interface, symbols, and the kernels that it calls.

To load a library runs its code: load only those that you trust.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..errors import MachineError
from ..kernels.loading import kernels_of
from ..machine.binding import KernelPlans, run_kernel
from .interface import InterfaceError, Library
from .output_memory import DLTensor, array_in
from .thread_count import MOST, default_threads

METADATA = "xrelay_library_metadata"
"""The function of a library that returns its interface."""

_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.POINTER(DLTensor)),
    ctypes.c_int32,
)


class LibraryCode:
    """The library at `path`, whose `threads` compute large kernels (default: `default_threads`)."""

    def __init__(self, path: str | PathLike[str], threads: int | None = None) -> None:
        self.path = path
        self._code = _opened(path)
        self.interface = _interface_of(self._code, path)
        self._last_error = self.own_symbol("last_error")
        self._last_error.restype = ctypes.c_char_p
        self._local = threading.local()
        threads = default_threads() if threads is None else threads
        if not 1 <= threads <= MOST:
            raise MachineError(f"threads must be from 1 to {MOST}, but is {threads}")
        self.own_symbol("set_threads")(threads)
        self._callback = _CALLBACK(self._run_kernel)
        kernels = self.interface.kernels
        operators = (step.op for kernel in kernels for step in kernel.steps)
        self._plans = KernelPlans(kernels_of(operators))
        if kernels:
            self.own_symbol("set_kernels")(self._callback, None)

    def symbol(self, name: str) -> Any:
        """Return a new object for a function of the library."""
        try:
            return self._code[name]
        except AttributeError:
            raise MachineError(f"{self.path} is damaged: it has no symbol {name}") from None

    def own_symbol(self, name: str) -> Any:
        """Return a function of the library itself, not of an entry."""
        return self.symbol(f"{self.interface.name}_{name}")

    def fail(self) -> NoReturn:
        """Raise the error of a call that failed in this thread."""
        error = getattr(self._local, "error", None)
        self._local.error = None
        if isinstance(error, MachineError):
            raise error
        text = self._last_error() or b"the call failed"
        raise MachineError(text.decode("utf-8", "replace")) from error

    def _run_kernel(self, context: object, number: int, tensors: Any, count: int) -> int:
        """Run a kernel that this process supplies."""
        try:
            kernel = self.interface.kernels[number]
            arrays = [array_in(tensors[i].contents) for i in range(count)]
            ins, outs = arrays[: len(kernel.ins)], arrays[len(kernel.ins) :]
            with np.errstate(all="ignore"):
                run_kernel(kernel, ins, outs, self._plans)
        except BaseException as error:  # it must not cross compiled code
            self._local.error = error
            return 1
        return 0


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


def _interface_of(code: ctypes.CDLL, path: str | PathLike[str]) -> Library:
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
