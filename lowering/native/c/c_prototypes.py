"""The public functions of a compiled library, as C declares them."""

from __future__ import annotations

from collections.abc import Iterable

from ....operators.element_types import NUMBER_TYPES
from ....runtime.native.interface import Entry, Library, spec_of
from ....runtime.program.program import Param
from ...entries.c_names import spelled
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


def unpacked_parameters(library: Library, entry: Entry) -> str:
    """Return the parameters of the unpacked form."""
    inputs = len(entry.function.params)
    params: list[str] = []
    for i, (param, name) in enumerate(zip(entry.tensors, entry.names, strict=True)):
        const = "const " if i < inputs else ""
        type = "DLTensor" if entry.allocates(i) else NUMBER_TYPES[spec_of(param).dtype].c
        params.append(f"{const}{type} *{name}")
    if entry.is_dynamic:
        params.append("const int64_t *dims")
    params += workspace_parameters(entry)
    params += [f"void *{context_name(library, device)}" for device in entry.contexts]
    return ", ".join(params) or "void"


def workspace_parameters(entry: Entry) -> list[str]:
    return [f"void *{pool.symbol}" for pool in entry.pools]


def context_name(library: Library, device: int) -> str:
    return f"device_context_{spelled(library.devices[device])}"


def packed_parameters(entry: Entry) -> str:
    params = ["DLTensor *const *tensors", "int32_t count", *workspace_parameters(entry)]
    return ", ".join(params)


def prototypes(library: Library, entry: Entry) -> dict[str, str]:
    """Return the declarations of the public functions of `entry`, by what they are for."""
    symbol = entry.symbol
    found: dict[str, str] = {}
    if "unpacked" in entry.forms:
        found["unpacked"] = f"int32_t {symbol}({unpacked_parameters(library, entry)})"
    packed = packed_parameters(entry)
    if "packed" in entry.forms:
        found["packed"] = f"int32_t {symbol}_packed({packed})"
    if "cpacked" in entry.forms:
        found["cpacked"] = f"int32_t {symbol}_cpacked({packed}, void *resource_handle)"
    for pool in entry.pools:
        found[pool.symbol] = f"int64_t {symbol}_{pool.symbol}_size(const int64_t *dims)"
    found["shapes"] = f"int32_t {symbol}_output_shapes(const int64_t *dims, int64_t *shapes)"
    return found


def library_prototypes(library: Library) -> dict[str, str]:
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


def devices_with_contexts(library: Library) -> list[int]:
    return sorted({device for entry in library.entries for device in entry.contexts})
