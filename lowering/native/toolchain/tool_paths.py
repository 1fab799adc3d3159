"""
The programs that make machine code: those of MLIR and LLVM, the system's C compiler, and OpenBLAS.

    pip install 'xrelay[native]'        mlir-opt, mlir-translate, opt, llc, … in site-packages
    pip install 'xrelay[blas]'          scipy-openblas32, whose symbols start with `scipy_`
    apt install libopenblas-dev         or that of the system

A program of the extra `native` is preferred to one of the same name on `PATH`, which must be of the
same major version: the text of MLIR changes between versions.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ....runtime.errors import Error
from .processes import ProcessFailed, run
from .stage_files import scratch_folder, write

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
    file = shutil.which(name)
    if file is None:
        raise MissingTool(f"native code needs '{name}', which is not installed: {INSTALL}")
    version = _major(file)
    if version != VERSION:
        is_of = "an unknown version" if version is None else f"version {version}"
        raise MissingTool(
            f"native code needs '{name}' of LLVM {VERSION}, but '{file}' is of {is_of}: {INSTALL}"
        )
    return file


def _folders() -> list[Path]:
    specs = [find_spec(package) for package in PACKAGES]
    places = [(spec and spec.submodule_search_locations) or () for spec in specs]
    return [Path(place) / "bin" for group in places for place in group]


def _major(path: str) -> int | None:
    version = re.search(rb"version (\d+)\.", run("version", [path, "--version"]).output)
    return int(version[1]) if version else None


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
        path = shutil.which(name)
        if path:
            return [path]
    raise MissingTool(
        "native code needs a C compiler, which links it: install gcc or clang, or name one in CC"
    )


PACKAGE = "scipy_openblas32"
INSTALL_BLAS = "pip install 'xrelay[blas]', or the system's OpenBLAS, such as libopenblas-dev"

PROBE = "int openblas_get_num_threads(void); int main(void) { return openblas_get_num_threads(); }"


@dataclass(frozen=True)
class Blas:
    """A library of products, and the products that call it."""

    prefix: str
    """That of its symbols."""
    flags: Sequence[str]
    """For the linker."""


def openblas(*, is_host: bool, compiler: str | None) -> Blas:
    """
    Return OpenBLAS: that of the package, if code is for this machine, or else of the system.

    `compiler` is the command of the C compiler. Raises `MissingTool`, which says what to install.
    """
    package = _package() if is_host else None
    if package is not None:
        flags = [f"-L{package}", "-Xlinker", "-rpath", "-Xlinker", str(package), "-lscipy_openblas"]
        return Blas("scipy_", tuple(flags))
    if not _is_installed(*c_compiler(compiler)):
        raise MissingTool(f"blas=openblas needs OpenBLAS, which is not installed: {INSTALL_BLAS}")
    return Blas("", ("-lopenblas",))


def _package() -> Path | None:
    """Return the folder of the package's library."""
    spec = find_spec(PACKAGE)
    places = (spec and spec.submodule_search_locations) or ()
    folders = (Path(place).resolve() / "lib" for place in places)
    return next((folder for folder in folders if any(folder.glob("libscipy_openblas*.so"))), None)


@cache
def _is_installed(*compiler: str) -> bool:
    """Test whether the C compiler finds the system's library."""
    with scratch_folder("blas") as folder:
        write(folder / "probe.c", PROBE)
        try:
            command = [*compiler, "probe.c", "-o", "probe", "-lopenblas"]
            run("the C compiler", command, folder=folder)
        except ProcessFailed:
            return False
    return True
