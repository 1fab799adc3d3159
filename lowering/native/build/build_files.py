"""
Make the files of a compiled program: a library or an object, and its weights.

    module after -p aot   ->   libmodel.so, or model.o, and with weights=file libmodel.weights

Kernels and the program that calls them are compiled to objects of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from ....passes.support.diagnostics import PassError
from ....runtime.files import mapped
from ....runtime.native.interface import Library, checked
from ...entries.descriptions import METADATA, record_of
from ..c.c_declarations import public_symbols
from ..c.c_source import shim_source
from ..toolchain.blas import Blas
from ..toolchain.linking import SUPPORT, Inputs, c_file, linked_library, merged_object
from ..toolchain.module_text import module_text
from ..toolchain.stage_files import scratch_folder
from ..toolchain.stages import PROGRAM, Compiled, compile_text, tools_key
from .cache import key_of
from .kernel_objects import compile_kernels
from .library_weights import BLOCK, Block, Tensors, source_of_block, source_of_file, written
from .settings import Settings
from .units import units_of

Kind: TypeAlias = Literal["library", "object"]
Place: TypeAlias = Literal["object", "file"]
"""The place of the weights."""

Pieces: TypeAlias = Iterable[bytes | memoryview]


@dataclass(frozen=True)
class Product:
    """
    The contents of the file, and of those that must be beside it.

    They are mapped from files that have no names any more.
    """

    contents: memoryview
    beside: Mapping[str, Pieces]


@dataclass(frozen=True)
class Request:
    """A library or object to make: its file name without and with extension, and its weights."""

    kind: Kind
    stem: str
    file: str
    weights: Place = "object"


def make_product(
    module: ModuleOp, library: Library, tensors: Tensors, request: Request, settings: Settings
) -> Product:
    """
    Compile `module`, whose interface is `library`.

    `tensors` returns the constants by name. Raises `Error`.
    """
    with scratch_folder("weights") as folder:
        block = written(library, tensors, folder / BLOCK) if library.constants else None
        return _product(
            module, library if block is None else block.library, block, request, settings
        )


def _product(
    module: ModuleOp, library: Library, block: Block | None, request: Request, settings: Settings
) -> Product:
    settings.saved.save("module.json", library.to_json())
    compiled = compile_module(module, settings)
    sources = {"interface.c": shim_source(library), SUPPORT: c_file(SUPPORT)}
    including: dict[str, str] = {}
    files: dict[str, Path] = {}
    beside: dict[str, Pieces] = {}
    if block is not None and request.weights == "object":
        files[BLOCK] = block.path
        including["weights.c"] = source_of_block(library)
    elif block is not None:
        name = f"{request.stem}.weights"
        beside[name] = [block.head, mapped(block.path)]
        sources["weights.c"] = source_of_file(block, name)
    flags = [f"-DXRELAY_SCRATCH={_scratch(compiled.objects)}"]
    exports = public_symbols(library)
    if request.kind == "library":
        flags.append("-DXRELAY_LIBRARY")
        exports.append("xrelay_library_metadata")
    inputs = Inputs(
        [c.code for c in compiled.objects], sources, including, files, flags, compiled.blas
    )
    if request.kind == "library":
        contents = linked_library(inputs, settings, request.file, exports)
    else:
        contents = merged_object(inputs, settings, exports)
    return Product(contents, beside)


def _scratch(compiled: Iterable[Compiled]) -> int:
    """Return the bytes that a kernel allocates at most, as far as they are known now."""
    return max((size for c in compiled for size in c.scratch.values()), default=0)


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


def library_of(module: ModuleOp) -> Library:
    """Return the interface of `module`. Raises `PassError` if it has none."""
    if METADATA not in module.attributes:
        raise PassError(
            "machine code needs one flat function: end the pipeline in it, as -p aot does"
        )
    damaged = f"the attribute {METADATA} is damaged: run aot-lower-main to make it"
    return checked(record_of(Library, module.attributes[METADATA], module, damaged))
