"""
Compile a module at level `memref` to a shared library, without the entries of `aot-lower-main`.

    library = build_library(module, Path("libmodel.so"))
    ctypes.CDLL(str(library))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.lowering.native.build.build_files import CompiledModule, compile_module
from xrelay.lowering.native.build.settings import Cache, Settings
from xrelay.lowering.native.toolchain.linking import SUPPORT, Inputs, c_file, linked_library
from xrelay.lowering.native.toolchain.stages import KERNELS, compile_text

COPIES = {
    SUPPORT: c_file(SUPPORT),
    "one_thread.c": Path(__file__).with_name("one_thread.c").read_text(encoding="utf-8"),
}
"""The C sources of copies, on one thread: for libraries without `threads.c`."""

STANDALONE = {
    **COPIES,
    "standalone.c": Path(__file__).with_name("standalone.c").read_text(encoding="utf-8"),
}
"""What compiled code calls, with memory and failures of a plain C program."""

DEFAULT = Settings()


def build_library(
    module: ModuleOp | str,
    path: Path,
    settings: Settings = DEFAULT,
    *,
    sources: Mapping[str, str] = STANDALONE,
    flags: Sequence[str] = (),
) -> Path:
    """
    Compile a module, with its kernels, to a shared library at `path`; return `path`.

    `module` is IR, or the text of kernels, which is compiled as it is. `sources` are C files, by
    name, to be in the library. `flags` are for the linker. Raises `Error`.
    """
    if isinstance(module, str):
        compiled = CompiledModule([compile_text(module, KERNELS, settings, "kernels")], None)
    else:
        compiled = compile_module(module, settings)
    objects = [*compiled.objects]
    inputs = Inputs(objects, {**sources, **compiled.sources}, flags=flags, blas=compiled.blas)
    return link(inputs, path, settings)


def link(inputs: Inputs, path: Path, settings: Settings = DEFAULT) -> Path:
    """Write a library to `path`; all tests of a run share the objects of its C sources."""
    cache = Cache.of_user()
    cache.prepare()
    path.write_bytes(linked_library(inputs, replace(settings, cache=cache), path.name))
    return path
