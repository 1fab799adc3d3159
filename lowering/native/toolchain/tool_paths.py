"""
The programs that make machine code: those of MLIR and LLVM, and the system's C compiler.

    pip install 'xrelay[native]'        mlir-opt, mlir-translate, opt, llc, … in site-packages

A program of the extra `native` is preferred to one of the same name on `PATH`, which must be of the
same major version: the text of MLIR changes between versions.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ....runtime.errors import Error
from .processes import run

VERSION = 22
"""The major version of MLIR and LLVM whose text is written and read here."""

PACKAGES = ("mlir", "llvm")
"""The packages of the extra `native`, each with a folder `bin`."""

INSTALL = "pip install 'xrelay[native]'"


class MissingTool(Error):
    """A program that is needed is not installed."""


@cache
def tool(name: str) -> str:
    """
    Return the path of a program of MLIR or LLVM.

    Raises `MissingTool`, which says what to install.
    """
    for folder in _folders():
        path = folder / name
        if os.access(path, os.X_OK):
            return str(path)
    found = shutil.which(name)
    if found is None:
        raise MissingTool(f"native code needs '{name}', which is not installed: {INSTALL}")
    version = _major(found)
    if version != VERSION:
        is_of = "an unknown version" if version is None else f"version {version}"
        raise MissingTool(
            f"native code needs '{name}' of LLVM {VERSION}, but '{found}' is of {is_of}: {INSTALL}"
        )
    return found


def _folders() -> list[Path]:
    specs = [find_spec(package) for package in PACKAGES]
    places = [(spec and spec.submodule_search_locations) or () for spec in specs]
    return [Path(place) / "bin" for group in places for place in group]


def _major(path: str) -> int | None:
    found = re.search(rb"version (\d+)\.", run("version", [path, "--version"]).output)
    return int(found[1]) if found else None


@cache
def version(name: str) -> str:
    """Return the first line with a version that a program of MLIR or LLVM prints."""
    output = run(name, [tool(name), "--version"]).output.decode(errors="replace")
    return next((line.strip() for line in output.splitlines() if "version" in line), output)


def c_compiler(command: str | None = None) -> list[str]:
    """
    Return the C compiler as the words of a command: `command`, `$CC`, `cc`, `gcc` or `clang`.

    Raises `MissingTool`.
    """
    given = command or os.environ.get("CC")
    if given:
        words = shlex.split(given)
        if words and shutil.which(words[0]):
            return words
        raise MissingTool(f"the C compiler '{given}' does not exist")
    for name in ("cc", "gcc", "clang"):
        found = shutil.which(name)
        if found:
            return [found]
    raise MissingTool(
        "native code needs a C compiler, which links it: install gcc or clang, or name one in CC"
    )
