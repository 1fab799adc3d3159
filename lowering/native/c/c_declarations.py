"""
The public functions of a compiled library as C declares them, and its header.

    int32_t model_main(const float *x, float *y, void *workspace);                       unpacked
    int32_t model_main_packed(DLTensor *const *tensors, int32_t count, void *workspace);
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....operators.element_types import NUMBER_TYPES
from ....runtime.native.interface import Entry, Library, spec_of
from ....runtime.program.program import Param
from ...entries.c_names import EVENTS, spelled, user_hook_symbol
from ..toolchain.linking import c_file

DLPACK = c_file("dlpack.h")
"""The types of DLPack, for headers."""

CALLBACK = "int32_t (*callback)(void *, int32_t, const DLTensor *const *, int32_t)"


def dynamic_axes(params: Iterable[Param]) -> list[tuple[int, int]]:
    """Return the tensor and axis of each dynamic dim, in order."""
    return [
        (i, axis)
        for i, param in enumerate(params)
        for axis, size in enumerate(spec_of(param).shape)
        if size is None
    ]


def context_name(library: Library, device: int) -> str:
    """Return the name of the parameter that is the context of a device."""
    return f"device_context_{spelled(library.devices[device])}"


def devices_with_contexts(library: Library) -> list[int]:
    """Return the devices that have a context in some entry."""
    return sorted({device for entry in library.entries for device in entry.contexts})


def hook_declarations(library: Library) -> Iterator[str]:
    """Yield the declarations of the user's functions for events of devices, by device."""
    for device in devices_with_contexts(library):
        symbols = (user_hook_symbol(library.devices[device], event) for event in EVENTS)
        yield "\n".join(f"int32_t {symbol}(void *context);" for symbol in symbols)


def prototypes(library: Library, entry: Entry) -> dict[str, str]:
    """Return the declarations of the public functions of `entry`, by what they are for."""
    inputs, symbol, unpacked = len(entry.function.params), entry.symbol, list[str]()
    for i, (param, name) in enumerate(zip(entry.tensors, entry.names, strict=True)):
        type = "DLTensor" if entry.allocates(i) else NUMBER_TYPES[spec_of(param).dtype].c
        unpacked.append(f"{'const ' if i < inputs else ''}{type} *{name}")
    pools = [f"void *{pool.symbol}" for pool in entry.pools]
    contexts = [f"void *{context_name(library, device)}" for device in entry.contexts]
    unpacked += [*(["const int64_t *dims"] if entry.is_dynamic else ()), *pools, *contexts]
    packed = ", ".join(["DLTensor *const *tensors", "int32_t count", *pools])
    forms = {
        "unpacked": f"int32_t {symbol}({', '.join(unpacked) or 'void'})",
        "packed": f"int32_t {symbol}_packed({packed})",
        "cpacked": f"int32_t {symbol}_cpacked({packed}, void *resource_handle)",
    }
    found = {form: text for form, text in forms.items() if form in entry.forms}
    for pool in entry.pools:
        found[pool.symbol] = f"int64_t {symbol}_{pool.symbol}_size(const int64_t *dims)"
    found["shapes"] = f"int32_t {symbol}_output_shapes(const int64_t *dims, int64_t *shapes)"
    return found


def library_prototypes(library: Library) -> dict[str, str]:
    """Return the declarations of the functions that all entries share, by what they are for."""
    name = library.name
    found = {"error": f"const char *{name}_last_error(void)"}
    if any(any(entry.allocated) for entry in library.entries):
        found["release"] = f"void {name}_release(void *data)"
    if library.kernels:
        found["kernels"] = f"void {name}_set_kernels({CALLBACK}, void *context)"
    return found


def public_symbols(library: Library) -> list[str]:
    """Return the names of all that the header declares and the library defines."""
    declared = [*library_prototypes(library).values()]
    for entry in library.entries:
        declared += prototypes(library, entry).values()
    names = [text.partition("(")[0].rpartition(" ")[2].lstrip("*") for text in declared]
    return [*names, f"{library.name}_metadata"]


COMMENTS = {
    "error": "The message of the last failure in this thread.",
    "release": "Free the data of an output that a call allocated.",
    "kernels": "Supply the kernels that the library does not have, before the first call.",
}
"""Of `library_prototypes`."""


def header_source(library: Library) -> str:
    """Return the header for callers from C and C++."""
    return "".join(line + "\n" for line in _header(library))


def _header(library: Library) -> Iterator[str]:
    guard = f"{library.name.upper()}_H"
    yield "/* Written by xrelay-opt. Functions return 0, or 1 after a failure. */"
    yield f"#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n"
    yield f'#ifdef __cplusplus\nextern "C" {{\n#endif\n\n{DLPACK}'
    for entry in library.entries:
        yield from _comment(entry)
        yield from (f"{prototype};" for prototype in prototypes(library, entry).values())
        yield ""
    for name, prototype in library_prototypes(library).items():
        yield f"/* {COMMENTS[name]} */\n{prototype};\n"
    devices = devices_with_contexts(library)
    for device, hooks in zip(devices, hook_declarations(library), strict=True):
        yield f"/* Hooks of {library.devices[device]}, which the program must define. */\n{hooks}"
    yield "/* The interface, as JSON. */"
    yield f"extern const char {library.name}_metadata[];"
    yield "\n#ifdef __cplusplus\n}\n#endif\n#endif"


def _comment(entry: Entry) -> Iterator[str]:
    yield f"/* {comment_text(entry.function.name)}:"
    inputs = entry.function.params
    for i, (param, name) in enumerate(zip(entry.tensors, entry.names, strict=True)):
        kind = "input" if i < len(inputs) else "output"
        known = "; its size is known after the call, which allocates it"
        note = known if entry.allocates(i) else ""
        yield f" *   {kind} {name}: {comment_text(_shape_text(param))}{note}"
    if entry.is_dynamic:
        dims = [f"{entry.names[i]}[{axis}]" for i, axis in dynamic_axes(inputs)]
        yield f" *   dims: the sizes of {', '.join(dims)}"
    for pool in entry.pools:
        size = f"{pool.symbol}_size(dims)" if pool.size is None else pool.size
        text = f"{size} bytes, aligned to {pool.alignment}; if NULL, allocated for the call"
        yield f" *   {pool.symbol}: {text}"
    yield " */"


def comment_text(text: str) -> str:
    """Return `text` as it can be in a comment."""
    return text.replace("*/", "* /").replace("\n", " ")


def _shape_text(param: Param) -> str:
    spec = spec_of(param)
    pairs = zip(spec.shape, param.dims or ("",) * len(spec.shape), strict=True)
    dims = [name or "?" if size is None else str(size) for size, name in pairs]
    return f"{spec.dtype}[{', '.join(dims)}]"
