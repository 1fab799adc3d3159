"""
Compile a module at level `memref` to a shared library.

    library = build_library(module, Path("libmodel.so"))
    ctypes.CDLL(str(library))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from ....runtime.files import replace
from ..toolchain.blas import Blas
from ..toolchain.linking import STANDALONE, SUPPORT, Inputs, c_file, linked_library
from ..toolchain.module_text import module_text
from ..toolchain.stages import KERNELS, PROGRAM, Compiled, compile_text, tools_key
from .cache import key_of
from .kernel_objects import compile_kernels
from .settings import Settings
from .units import units_of

DEFAULT = Settings()


def build_library(
    module: ModuleOp | str,
    path: Path,
    settings: Settings = DEFAULT,
    *,
    sources: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
) -> Path:
    """
    Compile a module, with its kernels, to a shared library at `path`; return `path`.

    `module` is IR at level `memref`, or the text of kernels, which is compiled as it is. `sources`
    are C files, by name, to be in the library; by default those that kernels need. `flags` are for
    the linker. Raises `Error`.
    """
    compiled = compile_module(module, settings)
    if sources is None:
        sources = {name: c_file(name) for name in (SUPPORT, STANDALONE)}
    objects = [part.code for part in compiled.objects]
    inputs = Inputs(objects, sources, flags=flags, blas=compiled.blas)
    replace(path, [linked_library(inputs, settings, path.name)])
    return path


class CompiledModule(NamedTuple):
    """The objects of a module, and the library that they call."""

    objects: Sequence[Compiled]
    blas: Blas | None


def compile_module(module: ModuleOp | str, settings: Settings = DEFAULT) -> CompiledModule:
    """Compile a module, with its kernels, to objects. Raises `Error`."""
    settings.cache.prepare()
    calls = False
    if isinstance(module, str):
        objects = [_compiled(module, KERNELS, "kernels", settings)]
    else:
        units = units_of(module, settings)
        calls = any(kernel.declarations for kernel in units.kernels)
        objects = compile_kernels(units.kernels, settings)
        objects.append(_compiled(module_text(units.program), PROGRAM, "program", settings))
    settings.cache.trim()
    return CompiledModule(objects, settings.blas if calls else None)


def _compiled(text: str, passes: Sequence[str], name: str, settings: Settings) -> Compiled:
    """Compile a text, unless the cache has its object."""
    how = [tools_key(), settings.machine.key, str(settings.level), *passes]
    key = key_of("text", text, *how)
    known = settings.cache.get(key)
    if known is not None:
        return Compiled(known, {})
    compiled = compile_text(
        text,
        passes,
        settings.machine,
        name,
        saved=settings.saved,
        seconds=settings.seconds,
        level=settings.level,
    )
    settings.cache.put(key, compiled.code)
    return compiled
