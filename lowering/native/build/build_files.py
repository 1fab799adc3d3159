"""
Make the files of a compiled program: a library or an object, and its weights.

    module after -p aot   ->   libmodel.so, or model.o, and with weights=file libmodel.weights

Kernels and the program that calls them are compiled to objects of their own. The constants are one
block of bytes: with weights=object in the section .rodata, or those of their pools, such as
.rodata.flash; with weights=file in a file beside the library, mapped when it is first needed.
Either way they are read-only, and are loaded page by page as they are used. C code
finds them by `<name>_constants`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ....passes.support.diagnostics import PassError
from ....runtime.errors import Error
from ....runtime.files import mapped, writing
from ....runtime.native.interface import Constant, Library, checked
from ....runtime.program.program import Array
from ...entries.descriptions import METADATA, record_of
from ..c.c_interface import c_string, interface_source, public_symbols, support_sources
from ..toolchain.linking import VARIABLE, Inputs, c_file, linked_library, merged_object
from ..toolchain.stage_files import scratch_folder
from ..toolchain.stages import PROGRAM, compile_text, module_text, tools_key
from ..toolchain.tool_paths import Blas
from .kernel_objects import compile_kernels
from .settings import Settings, key_of
from .units import units_of

MOST = 1_900_000_000
"""The bytes that code can reach in its own object."""

BLOCK = "weights.bin"
"""The file that the assembler includes."""

WEIGHTS = "weights.c"
LEVELS = "levels.c"

POOL = "xrelay_pool_2"
"""The threads of a process, in threads.c: the dynamic linker keeps one of all libraries."""

MAGIC = b"\x89xrelay weights 1\n"
"""The start of a file of constants; 64 bytes of head are before the constants."""
HEAD = 64

Kind: TypeAlias = Literal["library", "object"]
Place: TypeAlias = Literal["object", "file"]
"""The place of the weights."""

Pieces: TypeAlias = Iterable[bytes | memoryview]

Tensors = Callable[[str], Array]
"""Returns a tensor by its name."""


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
    compiled: Callable[[], CompiledModule],
    library: Library,
    tensors: Tensors,
    request: Request,
    settings: Settings,
) -> Product:
    """
    Make the files of a module, whose interface is `library`.

    `tensors` returns the constants by name; `compiled` compiles the module, once they are there.
    Raises `Error`.
    """
    with scratch_folder("weights") as folder:
        including: dict[str, str] = {}
        files: dict[str, Path] = {}
        sources: dict[str, str] = {}
        beside: dict[str, Pieces] = {}
        if library.constants:
            path = folder / BLOCK
            library = _write_constants(library, tensors, path)
            if request.weights == "object":
                files[BLOCK], including[WEIGHTS] = path, _source_of_block(library)
            else:
                head, name = _head(library), f"{request.stem}.weights"
                library = replace(library, weights_file=name)
                beside[name] = [head, mapped(path)]
                sources[WEIGHTS] = _source_of_file(library, head, name)
        settings.saved.save("module.json", library.to_json())
        code = compiled()
        sources |= {"interface.c": interface_source(library), **support_sources(), **code.sources}
        flags, exports = list[str](), public_symbols(library)
        if settings.threads:
            flags.append("-DXRELAY_THREADS")
            exports.append(POOL)
        if request.kind == "library":
            flags.append("-DXRELAY_LIBRARY")
            exports.append("xrelay_library_metadata")
        inputs = Inputs(code.objects, sources, including, files, flags, code.blas)
        if request.kind == "library":
            return Product(linked_library(inputs, settings, request.file, exports), beside)
        return Product(merged_object(inputs, settings, exports), beside)


class CompiledModule(NamedTuple):
    """The objects of a module, the library that they call, and C sources that belong to them."""

    objects: Sequence[bytes]
    blas: Blas | None
    sources: Mapping[str, str] = MappingProxyType({})


def compile_module(module: ModuleOp, settings: Settings) -> CompiledModule:
    """Compile a module at level `memref`, with its kernels, to objects. Raises `Error`."""
    settings.cache.prepare()
    units = units_of(module, settings)
    calls = any(kernel.calls_library for kernel in units.kernels)
    text = module_text(units.program)
    how = [tools_key(), settings.machine.key, str(settings.level), *PROGRAM]

    def compiled() -> bytes:
        return compile_text(text, PROGRAM, settings, "program")

    with ThreadPoolExecutor(1) as beside:
        code = beside.submit(settings.cache.get_or, key_of("text", text, *how), compiled)
        objects = [*compile_kernels(units.kernels, settings), code.result()]
    settings.cache.trim()
    sources = {LEVELS: _source_of_levels(units.choices)} if units.choices else {}
    return CompiledModule(objects, settings.blas if calls else None, sources)


def _source_of_levels(choices: Mapping[str, Sequence[str]]) -> str:
    """Return the C file that chooses the codes of kernels when the library is loaded."""
    rows = (f"kernel({', '.join((symbol, *copies))})" for symbol, copies in choices.items())
    return f"#define XRELAY_KERNELS(kernel) {' '.join(rows)}\n{c_file(VARIABLE)}{c_file(LEVELS)}"


def library_of(module: ModuleOp) -> Library:
    """Return the interface of `module`. Raises `PassError` if it has none."""
    if METADATA not in module.attributes:
        raise PassError(
            "machine code needs one flat function: end the pipeline in it, as -p aot does"
        )
    damaged = f"the attribute {METADATA} is damaged: run aot-lower-main to make it"
    return checked(record_of(Library, module.attributes[METADATA], module, damaged))


# ------------------------------------------------------------------------- the constants


def _write_constants(library: Library, tensors: Tensors, path: Path) -> Library:
    """
    Write the bytes of the constants of `library` to the file at `path`, one after the other.

    Only one is in memory at a time. Returns the library with their digests. Raises `Error` if a
    tensor is not what the library was compiled for.
    """
    digests: dict[str, str] = {}
    with writing(path), open(path, "wb") as file:
        starts = [pool.start for pool in library.constant_pools]
        for constant in sorted(library.constants, key=lambda c: starts[c.pool] + c.offset):
            data = _bytes_of(constant, tensors(constant.name))
            digests[constant.name] = sha256(data).hexdigest()
            if constant.digest not in ("", digests[constant.name]):
                raise Error(f"weight '{constant.name}' has changed since the program was compiled")
            file.seek(starts[constant.pool] + constant.offset)
            file.write(data)
        file.truncate(library.constants_size)
    constants = tuple(replace(c, digest=digests[c.name]) for c in library.constants)
    return replace(library, constants=constants)


def _bytes_of(constant: Constant, array: Array) -> memoryview:
    spec = constant.spec
    actual = f"{array.dtype.name} of shape {array.shape}"
    if array.shape != spec.shape or array.dtype.name != spec.dtype:
        expected = f"{spec.dtype} of shape {spec.shape}"
        raise Error(f"weight '{constant.name}' must be {expected}, but is {actual}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _head(library: Library) -> bytes:
    """Return the first bytes of a file beside the library: only its own program accepts it."""
    digests = sha256("".join(c.digest for c in library.constants).encode())
    return MAGIC.ljust(HEAD - digests.digest_size, b"\0") + digests.digest()


def _source_of_block(library: Library) -> str:
    """Return the C file that puts the constants, in the file `BLOCK`, into its object."""
    if library.constants_size > MOST:
        raise Error(
            f"the weights have {library.constants_size} bytes, but an object holds at most {MOST}: "
            "use weights=file"
        )
    return f"{_pools_of(library)}{c_file(WEIGHTS)}"


def _source_of_file(library: Library, head: bytes, file: str) -> str:
    """Return the C file that maps `file`, beside the library, which begins with `head`."""
    return (
        f"{_pools_of(library)}"
        f"#define XRELAY_FILE {c_string(file)}\n"
        f"#define XRELAY_SIZE {HEAD + library.constants_size}u\n"
        f"#define XRELAY_HEAD {HEAD}\n"
        f"static const unsigned char head[] = {{{', '.join(map(str, head))}}};\n\n"
        f"{c_file(WEIGHTS)}"
    )


def _pools_of(library: Library) -> str:
    """Return what `WEIGHTS` reads of the pools of constants."""
    rows = (
        f"pool({i}, {c_string(pool.section)}, {pool.alignment}, {pool.start}, {pool.size})"
        for i, pool in enumerate(library.constant_pools)
    )
    return (
        f"#define XRELAY_CONSTANTS {library.name}_constants\n"
        f"#define XRELAY_POOLS(pool) {' '.join(rows)}\n"
    )
