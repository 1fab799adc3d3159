"""The entry points of installed packages, and what files of Python define in their place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from functools import cache
from typing import TYPE_CHECKING, TypeVar, cast
from warnings import warn

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

Entry = TypeVar("Entry")

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


def load_tables(
    group: str,
    own: Mapping[str, Entry],
    words: tuple[str, str],
    entries: Iterable[EntryPoint] | None = None,
) -> dict[str, Entry]:
    """
    Return `own` with the tables of all entry points of `group` (or `entries`) added.

    An entry point is skipped as a whole, with a warning that names it, if it cannot be loaded,
    is not a mapping, or has an entry for an operator that already has one. `words` are the plural
    and singular of what an entry is, for the warning.
    """
    table = dict(own)
    origin = dict.fromkeys(table, "xrelay")
    plural, singular = words
    for entry in entry_points_of(group) if entries is None else entries:
        reason = None
        try:
            with redirect_stdout(sys.stderr):  # stdout is the program's
                loaded: object = entry.load()
        except (Exception, SystemExit) as error:  # a plug-in may fail in any way
            loaded, reason = None, f"{type(error).__name__}: {error}"
        if loaded is own:
            continue
        if reason is None and not isinstance(loaded, Mapping):
            reason = f"{entry.value} is not a mapping"
        added: Mapping[str, Entry] = {} if reason else cast(Mapping[str, Entry], loaded)
        clash = next((name for name in added if name in origin), None)
        if clash is not None:
            reason = f"{clash} already has a {singular} from {origin[clash]}"
        if reason is not None:
            warn(f"{plural} of plug-in '{entry.name}' are skipped: {reason}", stacklevel=3)
            continue
        table.update(added)
        origin.update(dict.fromkeys(added, entry.name))
    return table
