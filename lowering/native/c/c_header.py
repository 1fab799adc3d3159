"""The header of a compiled library."""

from __future__ import annotations

from collections.abc import Iterator

from ....runtime.native.interface import Entry, Library, spec_of
from ....runtime.program.program import Param
from ...entries.c_names import EVENTS, user_hook_symbol
from .c_prototypes import (
    DLPACK,
    devices_with_contexts,
    dynamic_axes,
    library_prototypes,
    prototypes,
)
from .c_text import comment_text


def header_source(library: Library) -> str:
    """Return the header for callers from C and C++."""
    return "".join(line + "\n" for line in _header(library))


def _header(library: Library) -> Iterator[str]:
    guard = f"{library.name.upper()}_H"
    yield "/* Written by xrelay-opt. Functions return 0, or 1 after a failure. */"
    yield f"#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n"
    yield f'#ifdef __cplusplus\nextern "C" {{\n#endif\n\n{DLPACK}'
    for entry in library.entries:
        yield from comment_of(library, entry)
        yield from (f"{prototype};" for prototype in prototypes(library, entry).values())
        yield ""
    found = library_prototypes(library)
    yield "/* The message of the last failure in this thread. */"
    yield f"{found['error']};\n"
    if "release" in found:
        yield "/* Free the data of an output that a call allocated. */"
        yield f"{found['release']};\n"
    if "kernels" in found:
        yield "/* Supply the kernels that the library does not have, before the first call. */"
        yield f"{found['kernels']};\n"
    for device in devices_with_contexts(library):
        yield f"/* Hooks of {library.devices[device]}, which the program must define. */"
        for event in EVENTS:
            symbol = user_hook_symbol(library.devices[device], event)
            yield f"int32_t {symbol}(void *context);"
    yield "/* The interface, as JSON. */"
    yield f"extern const char {library.name}_metadata[];"
    yield "\n#ifdef __cplusplus\n}\n#endif\n#endif"


def comment_of(library: Library, entry: Entry) -> Iterator[str]:
    yield f"/* {comment_text(entry.function.name)}:"
    inputs = len(entry.function.params)
    for i, (param, name) in enumerate(zip(entry.tensors, entry.names, strict=True)):
        kind = "input" if i < inputs else "output"
        known = "; its size is known after the call, which allocates it"
        note = known if entry.allocates(i) else ""
        yield f" *   {kind} {name}: {comment_text(shape_text(param))}{note}"
    if entry.is_dynamic:
        params = entry.function.params
        dims = [f"{entry.names[i]}[{axis}]" for i, axis in dynamic_axes(params)]
        yield f" *   dims: the sizes of {', '.join(dims)}"
    for pool in entry.pools:
        size = f"{pool.size} bytes" if pool.size is not None else f"{pool.symbol}_size(dims) bytes"
        yield (
            f" *   {pool.symbol}: {size}, aligned to {pool.alignment}; "
            "if NULL, allocated for the call"
        )
    yield " */"


def shape_text(param: Param) -> str:
    spec = spec_of(param)
    names = param.dims or ("",) * len(spec.shape)
    pairs = zip(spec.shape, names, strict=True)
    dims = [name or "?" if size is None else str(size) for size, name in pairs]
    return f"{spec.dtype}[{', '.join(dims)}]"
