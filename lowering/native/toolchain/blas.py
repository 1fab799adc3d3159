"""
OpenBLAS: the library that kernels may call for products.

    pip install 'xrelay[blas]'        scipy-openblas32, whose symbols start with `scipy_`
    apt install libopenblas-dev       or that of the system
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from .processes import ProcessFailed, run
from .stage_files import scratch_folder, write
from .target_machine import Machine
from .tool_paths import MissingTool, c_compiler

PACKAGE = "scipy_openblas32"
INSTALL = "pip install 'xrelay[blas]', or the system's OpenBLAS, such as libopenblas-dev"

PROBE = "int openblas_get_num_threads(void); int main(void) { return openblas_get_num_threads(); }"


@dataclass(frozen=True)
class Blas:
    """A library of products, and the products that call it."""

    prefix: str
    """That of its symbols."""
    flags: Sequence[str]
    """For the linker."""


def openblas(machine: Machine, compiler: str | None) -> Blas:
    """
    Return OpenBLAS for `machine`: that of the package, or else of the system.

    `compiler` is the command of the C compiler. Raises `MissingTool`, which says what to install.
    """
    found = _package() if machine.is_host else None
    if found is not None:
        flags = [f"-L{found}", "-Xlinker", "-rpath", "-Xlinker", str(found), "-lscipy_openblas"]
        return Blas("scipy_", tuple(flags))
    if not _is_installed(*c_compiler(compiler)):
        raise MissingTool(f"blas=openblas needs OpenBLAS, which is not installed: {INSTALL}")
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
