"""
The C interface of a compiled library: wrappers around the entry that MLIR compiles, and a header.

    int32_t model_main(const float *x, float *y, void *workspace);                       unpacked
    int32_t model_main_packed(DLTensor *const *tensors, int32_t count, void *workspace);

The program is tables, and `shim.c`, which does not depend on it, interprets them: it checks what a
caller gives, describes it to the compiled code, and catches failures. The text is a whole C11 file.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....runtime.native.interface import Library
from ..toolchain.linking import c_file
from .c_callbacks import hooks, kernel_callbacks
from .c_entries import entry_source
from .c_prototypes import DLPACK, devices_with_contexts, library_prototypes
from .c_text import array, c_string

SHIM = "shim.c"
INCLUDED = '#include "dlpack.h"\n'


def shim_source(library: Library) -> str:
    """Return the C file of the wrappers."""
    return "".join(line + "\n" for line in _shim(library))


def support_source() -> str:
    """Return `shim.c`, with the header that it includes."""
    return c_file(SHIM).replace(INCLUDED, DLPACK)


def _shim(library: Library) -> Iterator[str]:
    yield "/* Written by xrelay-opt: the C interface of a compiled program. */\n"
    yield support_source()
    yield "/* ---- the program ---- */\n"
    yield from program_table(library)
    yield from hooks(library)
    yield from kernel_callbacks(library)
    for entry in library.entries:
        yield from entry_source(library, entry)
    found = library_prototypes(library)
    yield f"XRELAY_PUBLIC {found['error']} {{ return xrelay_error; }}\n"
    if "release" in found:
        yield f"XRELAY_PUBLIC {found['release']} {{ xrelay_release(data); }}\n"
    yield from metadata(library)


def program_table(library: Library) -> Iterator[str]:
    """Yield the table that all entries share."""
    constants, size, messages, abandon = "NULL", 0, "NULL", "NULL"
    if any(entry.has_constants for entry in library.entries):
        constants, size = f"{library.name}_constants", library.constants_size
        yield f"const void *{constants}(char *error, size_t room);"
    if library.messages:
        messages = "xrelay_messages"
        yield array(f"static const char *const {messages}", map(c_string, library.messages))
    if devices_with_contexts(library):
        abandon = "abandon"
        yield f"static void {abandon}(struct xrelay_call *call);"
    numbers = f"{len(library.messages)}, {constants}, {size}, {len(library.devices)}"
    yield "static const struct xrelay_library xrelay_program = {"
    yield f"    {messages}, {numbers}, {abandon}}};\n"


def metadata(library: Library) -> Iterator[str]:
    lines = library.to_json().split("\n")
    yield f"XRELAY_PUBLIC const char {library.name}_metadata[] ="
    yield from (f"    {c_string(line)}" for line in lines[:-1])
    yield f"    {c_string(lines[-1])};\n"
    yield "#ifdef XRELAY_LIBRARY /* a shared library has one program, which loaders look for */"
    yield "XRELAY_PUBLIC const char *xrelay_library_metadata(void) {"
    yield f"  return {library.name}_metadata;\n}}"
    yield "#endif"
