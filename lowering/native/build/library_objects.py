"""Compile a module at level `memref` to objects: its kernels, and the program that calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from ..toolchain.blas import Blas
from ..toolchain.module_text import module_text
from ..toolchain.stages import PROGRAM, Compiled, compile_text, tools_key
from .cache import key_of
from .kernel_objects import compile_kernels
from .settings import Settings
from .units import units_of


class CompiledModule(NamedTuple):
    """The objects of a module, and the library that they call."""

    objects: Sequence[Compiled]
    blas: Blas | None


def compile_module(module: ModuleOp, settings: Settings) -> CompiledModule:
    """Compile a module at level `memref`, with its kernels, to objects. Raises `Error`."""
    settings.cache.prepare()
    units = units_of(module, settings)
    calls = any(kernel.declarations for kernel in units.kernels)
    program = _compiled(module_text(units.program), settings)
    objects = [*compile_kernels(units.kernels, settings), program]
    settings.cache.trim()
    return CompiledModule(objects, settings.blas if calls else None)


def _compiled(text: str, settings: Settings) -> Compiled:
    """Compile the text of a program, unless the cache has its object."""
    how = [tools_key(), settings.machine.key, str(settings.level), *PROGRAM]
    key = key_of("text", text, *how)
    known = settings.cache.get(key)
    if known is not None:
        return Compiled(known, {})
    compiled = compile_text(text, PROGRAM, settings, "program")
    settings.cache.put(key, compiled.code)
    return compiled
