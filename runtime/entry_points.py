"""The entry points of installed packages, and what files of Python define in their place."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

TABLES = {
    "xdsl.universe": "UNIVERSE",
    "xrelay.operators": "DEFINITIONS",
    "xrelay.kernels": "KERNELS",
    "xrelay.linalg": "LINALG",
    "xrelay.onnx": "ONNX",
}
"""The groups of entry points, and the name of what a file of Python has for each."""

_FILES: dict[str, ModuleType] = {}


def entry_points_of(group: str) -> tuple[EntryPoint, ...]:
    """
    Return the entry points of `group`, those of files last.

    The packages are listed once for each `sys.path`.
    """
    return (*_listed(group, tuple(sys.path)), *_of_files(group))


@cache
def _listed(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # 30 ms, mostly in `email`

    return tuple(entry_points(group=group))


def _of_files(group: str) -> list[EntryPoint]:
    table = TABLES.get(group)
    names = [name for name, module in _FILES.items() if table and hasattr(module, table)]
    if not names:
        return []
    from importlib.metadata import EntryPoint

    return [EntryPoint(name, f"{name}:{table}", group) for name in names]


def add_file(path: str) -> ModuleType:
    """
    Run a file of Python, and let the tables that it defines be entry points from now on.

    A file is run once. What it raises is raised.
    """
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    name = Path(path).stem
    known = _FILES.get(name)
    if known is not None and Path(str(known.__file__)).resolve() == Path(path).resolve():
        return known
    if name in sys.modules:
        raise ImportError(f"there is a module '{name}' already: choose another name for the file")
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("the name of a file of Python must end in .py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _FILES[name] = module
    return module
