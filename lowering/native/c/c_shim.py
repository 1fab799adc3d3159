"""
The C interface of a compiled library: wrappers around the entry that MLIR compiles, and a header.

    int32_t model_main(const float *x, float *y, void *workspace);                       unpacked
    int32_t model_main_packed(DLTensor *const *tensors, int32_t count, void *workspace);

A wrapper checks what it is given, makes memref descriptors of it, and catches failures. `shim.c`
holds what does not depend on the program. The text is a whole C11 file.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....runtime.native.interface import Library, spec_of
from ..toolchain.linking import c_file
from .c_callbacks import hooks, kernel_callbacks
from .c_entries import entry_source
from .c_prototypes import DLPACK, library_prototypes
from .c_text import c_string, struct_of

SHIM = "shim.c"
INCLUDES = ("inttypes", "setjmp", "stdarg", "stddef", "stdint", "stdio", "stdlib", "string")


def shim_source(library: Library) -> str:
    """Return the C file of the wrappers."""
    return "".join(line + "\n" for line in _shim(library))


def _shim(library: Library) -> Iterator[str]:
    yield "/* Written by xrelay-opt: the C interface of a compiled program. */\n"
    yield from (f"#include <{name}.h>" for name in INCLUDES)
    yield f"\n{DLPACK}"
    yield c_file(SHIM)
    yield "/* ---- the program ---- */\n"
    if any(entry.has_constants for entry in library.entries):
        yield f"const void *{library.name}_constants(char *error, size_t room);\n"
    messages = ", ".join(map(c_string, library.messages or [""]))
    yield f"static const char *const xrelay_messages[] = {{{messages}}};"
    yield f"#define XRELAY_MESSAGES {len(library.messages)}\n"
    yield from (f"{struct};\n" for struct in structs(library))
    yield from hooks(library)
    yield from kernel_callbacks(library)
    for entry in library.entries:
        yield from entry_source(library, entry)
    found = library_prototypes(library)
    yield f"XRELAY_PUBLIC {found['error']} {{ return xrelay_error; }}\n"
    if "release" in found:
        yield f"XRELAY_PUBLIC {found['release']} {{ xrelay_release(data); }}\n"
    yield from metadata(library)


def structs(library: Library) -> list[str]:
    """Return the definitions of the memref descriptors that are used, by rank."""
    tensors = [spec_of(param) for entry in library.entries for param in entry.tensors]
    tensors += [spec for kernel in library.kernels for spec in (*kernel.ins, *kernel.outs)]
    ranks = {1, *(len(spec.shape) for spec in tensors)}
    return [struct_of(rank) for rank in sorted(ranks)]


def metadata(library: Library) -> Iterator[str]:
    lines = library.to_json().split("\n")
    yield f"XRELAY_PUBLIC const char {library.name}_metadata[] ="
    yield from (f"    {c_string(line)}" for line in lines[:-1])
    yield f"    {c_string(lines[-1])};\n"
    yield "#ifdef XRELAY_LIBRARY /* a shared library has one program, which loaders look for */"
    yield "XRELAY_PUBLIC const char *xrelay_library_metadata(void) {"
    yield f"  return {library.name}_metadata;\n}}"
    yield "#endif"
