"""
Compile a module at level `memref` to a shared library.

    library = build_library(module, Path("libmodel.so"))
    ctypes.CDLL(str(library))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from .linking import STANDALONE, SUPPORT, c_file, link_library
from .machine import Machine
from .module_text import module_text
from .saved_stages import UNSAVED, SavedStages
from .stages import KERNELS, PROGRAM, compile_text
from .units import Kernel, units_of

HOST = Machine()


def build_library(
    module: ModuleOp | str,
    path: Path,
    *,
    sources: Mapping[str, str] | None = None,
    machine: Machine = HOST,
    saved: SavedStages = UNSAVED,
    flags: Sequence[str] = (),
) -> Path:
    """
    Compile a module, with its kernels, to a shared library at `path`; return `path`.

    `module` is IR at level `memref`, or the text of kernels, which is compiled as it is. `sources`
    are C files, by name, to be in the library; by default those that kernels need. `flags` are for
    the linker. Raises `Error`.
    """
    if isinstance(module, str):
        objects = [compile_text(module, KERNELS, machine, "kernels", saved=saved).code]
    else:
        units = units_of(module)
        program = module_text(units.program)
        objects = [compile_text(program, PROGRAM, machine, "program", saved=saved).code]
        if units.kernels:
            text = kernels_text(units.kernels)
            objects.append(compile_text(text, KERNELS, machine, "kernels", saved=saved).code)
    if sources is None:
        sources = {name: c_file(name) for name in (SUPPORT, STANDALONE)}
    link_library(path, objects, sources, machine, flags=flags, saved=saved)
    return path


def kernels_text(kernels: Sequence[Kernel]) -> str:
    """Return the text of a module with `kernels`, each once, and the constants that they read."""
    functions = {kernel.symbol: kernel.text for kernel in kernels}
    constants = {op.sym_name.data: module_text(op) for k in kernels for op in k.globals}
    return f"module {{\n{''.join(constants.values())}{''.join(functions.values())}}}\n"
