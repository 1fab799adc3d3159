"""
Plug-ins that are one file of Python: `--load ops.py`.

The file defines dialects, passes and targets, which are found by their classes, or a `UNIVERSE`
that has them; and `KERNELS`, `DEFINITIONS`, `LINALG` and `ONNX`, as entry points of a package do.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from ...runtime.entry_points import add_file
from ...runtime.errors import Location
from ..errors import UsageError


def load_files(paths: Sequence[str]) -> None:
    """Run the files at `paths`, once each; `UsageError` at the line that fails."""
    for path in paths:
        try:
            module = add_file(path)
        except (Exception, SystemExit) as error:
            raise _fault(path, error) from error
        if "xdsl" in sys.modules and not hasattr(module, "UNIVERSE"):
            setattr(module, "UNIVERSE", _universe_of(module))


def _fault(path: str, error: BaseException) -> UsageError:
    full = os.path.abspath(path)  # as Python names the file
    if isinstance(error, OSError) and error.filename in (path, full):
        return UsageError(f"cannot read '{path}': {error.strerror}")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == full]
    line, column = frames[-1].lineno if frames else None, 1
    if isinstance(error, SyntaxError) and error.filename == full:
        line, column = error.lineno, error.offset or 1
    if line is None and isinstance(error, ImportError):  # of the file itself: its name
        return UsageError(f"cannot load '{path}': {error}")
    text = f"{type(error).__name__}: {error}"
    return UsageError(text, Location(path, line or 1, column))


def _universe_of(module: ModuleType) -> Any:
    """Return the dialects, passes and targets that a file defines."""
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.universe import Universe
    from xdsl.utils.target import Target

    universe = Universe()
    for value in vars(module).values():
        if isinstance(value, Dialect):
            universe.all_dialects[value.name] = _always(value)
        elif isinstance(value, type) and value.__module__ == module.__name__:
            if issubclass(value, ModulePass) and hasattr(value, "name"):
                universe.all_passes[value.name] = _always(value)
            elif issubclass(value, Target) and hasattr(value, "name"):
                universe.all_targets[value.name] = _always(value)
    return universe


def _always(value: Any) -> Any:
    return lambda: value
