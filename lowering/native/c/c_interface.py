"""
The C of a compiled library: its header, and tables of its entries, which `shim.c` interprets.

    static const struct xrelay_function net_main_function = {"main", …, net_main_code};
    int32_t net_main(const float *x, float *y, void *workspace) { … }                    unpacked
    int32_t net_main_packed(DLTensor *const *tensors, int32_t count, void *workspace) { … }

`shim.c` does not depend on the program, and is compiled once: it checks what a caller gives,
describes it to the compiled code, and catches failures. Only what depends on C types is code here:
calls of compiled functions with their words, and the functions that callers use. The text is a
whole C11 file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....operators.element_types import ELEMENT_TABLE
from ....runtime.native.interface import FLAT, Entry, Library, spec_of
from ....runtime.program.program import Cache, Param, TensorSpec
from ...entries.c_names import EVENTS, hook_symbol, kernel_symbol, spelled, user_hook_symbol
from ..toolchain.linking import SUPPORT, VARIABLE, c_file

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
        type = "DLTensor" if entry.allocates(i) else ELEMENT_TABLE[spec_of(param).dtype].c
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
    texts = {form: text for form, text in forms.items() if form in entry.forms}
    for pool in entry.pools:
        texts[pool.symbol] = f"int64_t {symbol}_{pool.symbol}_size(const int64_t *dims)"
    texts["shapes"] = f"int32_t {symbol}_output_shapes(const int64_t *dims, int64_t *shapes)"
    return texts


def library_prototypes(library: Library) -> dict[str, str]:
    """Return the declarations of the functions that all entries share, by what they are for."""
    name = library.name
    texts = {
        "error": f"const char *{name}_last_error(void)",
        "threads": f"int32_t {name}_set_threads(int32_t threads)",
    }
    if any(any(entry.allocated) for entry in library.entries):
        texts["release"] = f"void {name}_release(void *data)"
    if library.kernels:
        texts["kernels"] = f"void {name}_set_kernels({CALLBACK}, void *context)"
    return texts


def public_symbols(library: Library) -> list[str]:
    """Return the names of all that the header declares and the library defines."""
    declared = [*library_prototypes(library).values()]
    for entry in library.entries:
        declared += prototypes(library, entry).values()
    names = [text.partition("(")[0].rpartition(" ")[2].lstrip("*") for text in declared]
    return [*names, f"{library.name}_metadata"]


COMMENTS = {
    "error": "The message of the last failure in this thread.",
    "threads": "Let calls use so many threads; by default XRELAY_NUM_THREADS says, or it is one.",
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
    if placed := [pool for pool in library.constant_pools if pool.place]:
        yield "/* Constants:"
        for pool in placed:
            room = "" if pool.capacity is None else f" of the {pool.capacity}"
            where = f"{pool.size} bytes{room} in {pool.place}, section {pool.section} of the object"
            yield f" *   {pool.symbol}: {where}"
        yield " */\n"
    devices = devices_with_contexts(library)
    for device, hooks in zip(devices, hook_declarations(library), strict=True):
        yield f"/* Hooks of {library.devices[device]}, which the program must define. */\n{hooks}"
    yield "/* The interface, as JSON. */"
    yield f"extern const char {library.name}_metadata[];"
    yield "\n#ifdef __cplusplus\n}\n#endif\n#endif"


def _comment(entry: Entry) -> Iterator[str]:
    yield f"/* {comment_text(entry.function.name)}:"
    inputs = entry.function.params
    caches = {len(inputs) + cache.result: cache for cache in entry.function.caches}
    for i, (param, name) in enumerate(zip(entry.tensors, entry.names, strict=True)):
        kind = "input" if i < len(inputs) else "output"
        known = "; its size is known after the call, which allocates it"
        note = known if entry.allocates(i) else ""
        if (cache := caches.get(i)) is not None:
            lender = entry.names[cache.parameter]
            note = f"; of at most {cache.maximum} rows; its memory may be that of {lender}"
        yield f" *   {kind} {name}: {comment_text(_shape_text(param))}{note}"
    if entry.is_dynamic:
        dims = [f"{entry.names[i]}[{axis}]" for i, axis in dynamic_axes(inputs)]
        yield f" *   dims: the sizes of {', '.join(dims)}"
    for pool in entry.pools:
        size = f"{pool.symbol}_size(dims)" if pool.size is None else pool.size
        where = "" if pool.capacity is None else f" of the {pool.capacity} in {pool.place}"
        text = f"{size} bytes{where}, aligned to {pool.alignment}; if NULL, allocated for the call"
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


SHIM = "shim.c"
FUNCTIONS = "/* ---- the functions ---- */\n"
"""The end of the declarations in `SHIM`."""
INCLUDED = '#include "dlpack.h"\n'
TABLES = "static const struct xrelay_"


def c_string(text: str) -> str:
    """Return `text` as a literal, in UTF-8."""
    parts: list[str] = []
    for byte in text.encode("utf-8"):
        char = chr(byte)
        if char in '"\\?':  # two ? may begin a trigraph
            parts.append("\\" + char)
        else:
            parts.append(char if 32 <= byte < 127 else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def array(declaration: str, rows: Iterable[str]) -> str:
    """Return the definition of an array, a row a line."""
    lines = "".join(f"    {row},\n" for row in rows)
    return f"{declaration}[] = {{\n{lines}}};"


def public(prototype: str, *statements: str) -> str:
    """Return the definition of a function that others see."""
    lines = "".join(f"  {statement}\n" for statement in statements)
    return f"XRELAY_PUBLIC {prototype} {{\n{lines}}}\n"


def support_source() -> str:
    """Return `shim.c`, with the header that it includes, and what it calls."""
    shim = c_file(SHIM).replace(INCLUDED, DLPACK)
    return shim + c_file(VARIABLE) + c_file("threads.c")


def support_sources() -> dict[str, str]:
    """Return the C files that all libraries have."""
    return {SHIM: support_source(), SUPPORT: c_file(SUPPORT)}


def declarations() -> str:
    """Return the start of the C of a program."""
    return support_source().partition(FUNCTIONS)[0]


def interface_source(library: Library) -> str:
    """Return the C file of a library."""
    return "".join(line + "\n" for line in _interface(library))


def _interface(library: Library) -> Iterator[str]:
    yield "/* Written by xrelay-opt: the C interface of a compiled program. */\n"
    yield declarations()
    yield "/* ---- the program ---- */\n"
    yield from _program_table(library)
    yield from _supplied_kernels(library)
    for entry in library.entries:
        yield f"/* {comment_text(entry.function.name)} */\n"
        yield from _tables(library, entry)
        yield from _forms(library, entry)
    texts = library_prototypes(library)
    yield public(texts["error"], "return xrelay_error;")
    yield public(texts["threads"], "return xrelay_set_threads(threads);")
    if "release" in texts:
        yield public(texts["release"], "xrelay_release(data);")
    lines = library.to_json().split("\n")
    literals = "\n".join(f"    {c_string(line)}" for line in lines)
    yield f"XRELAY_PUBLIC const char {library.name}_metadata[] =\n{literals};\n"
    yield "#ifdef XRELAY_LIBRARY /* a shared library has one program, which loaders look for */"
    yield (
        public("const char *xrelay_library_metadata(void)", f"return {library.name}_metadata;")
        + "#endif"
    )


def _program_table(library: Library) -> Iterator[str]:
    """Yield the table that all entries share."""
    constants, messages, devices = "NULL", "NULL", "NULL"
    if any(entry.has_constants for entry in library.entries):
        constants = f"{library.name}_constants"
        yield f"const void *{constants}(int32_t pool, char *error, size_t room);"
        sizes = (str(pool.size) for pool in library.constant_pools)
        yield array("static const int64_t xrelay_constant_sizes", sizes)
    if library.messages:
        messages = "xrelay_messages"
        yield array(f"static const char *const {messages}", map(c_string, library.messages))
    if with_contexts := devices_with_contexts(library):
        devices = "xrelay_devices"
        yield from hook_declarations(library)
        none = ["NULL"] * len(EVENTS)
        rows = (
            (name, [user_hook_symbol(name, e) for e in EVENTS] if i in with_contexts else none)
            for i, name in enumerate(library.devices)
        )
        yield array(
            f"{TABLES}device {devices}",
            (f"{{{c_string(name)}, {{{', '.join(hooks)}}}}}" for name, hooks in rows),
        )
    pools = "NULL" if constants == "NULL" else "xrelay_constant_sizes"
    numbers = f"{len(library.messages)}, {constants}, {len(library.constant_pools)}, {pools}"
    fields = f"{messages}, {numbers}, {devices}, {len(library.devices)}"
    yield f"{TABLES}library xrelay_program = {{\n    {fields}}};\n"
    for device in with_contexts:
        for number, event in enumerate(EVENTS):
            hook = hook_symbol(library.name, library.devices[device], event)
            body = f"xrelay_event({device}, {number}, context);"
            yield f"XRELAY_SHARED void {hook}(void *context) {{ {body} }}"


def _supplied_kernels(library: Library) -> Iterator[str]:
    """Yield the kernels that the runtime supplies, as compiled code calls them."""
    if not library.kernels:
        return
    setter = c_string(f"{library.name}_set_kernels")
    yield f"static struct xrelay_supplier supplier = {{{setter}, NULL, NULL}};\n"
    fields = "supplier.callback = callback;", "supplier.context = context;"
    yield public(library_prototypes(library)["kernels"], *fields)
    for number, kernel in enumerate(library.kernels):
        specs = (*kernel.ins, *kernel.outs)
        names = [f"t{i}" for i in range(len(specs))]
        rows = [tensor_row(spec, name, "NULL") for spec, name in zip(specs, names, strict=True)]
        params = ", ".join(f"int64_t *{name}" for name in names)
        symbol = kernel_symbol(library.name, number)
        yield f"XRELAY_SHARED void _mlir_ciface_{symbol}({params}) {{"
        yield array(f"  {TABLES}tensor types", rows)
        yield f"  int64_t *words[] = {{{', '.join(names)}}};"
        values = f"{number}, {c_string(kernel.name)}, types, words, {len(specs)}"
        yield f"  xrelay_call_supplied(&supplier, {values});\n}}\n"


def number(value: int | None) -> int:
    """Return `value` as tables have it: -1 for None."""
    return -1 if value is None else value


def tensor_row(
    spec: TensorSpec,
    name: str,
    dims: str,
    *,
    is_allocated: bool = False,
    is_bytes: bool = False,
    cache: Cache | None = None,
) -> str:
    """Return the row of a tensor; `cache` is the one that it extends."""
    row = ELEMENT_TABLE[spec.dtype]
    bits, code = max(row.bits, 8 * (row.struct is not None)), row.dlpack
    flags = f"{int(is_allocated)}, {int(is_bytes)}, {len(spec.shape)}"
    lender, maximum = (-1, 0) if cache is None else (cache.parameter, cache.maximum)
    return f"{{{c_string(name)}, {code}, {bits}, {flags}, {dims}, {lender}, {maximum}}}"


def code_function(
    name: str, callee: str, types: Sequence[str], arguments: Sequence[str]
) -> Iterator[str]:
    """Yield a function of words that calls `callee` with `arguments`."""
    yield f"void {callee}({', '.join(types) or 'void'});"
    yield f"static void {name}(int64_t *words) {{"
    yield f"  (void)words;\n  {callee}({', '.join(arguments)});\n}}"


def _tables(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the tables of an entry, and the function that calls the compiled one with words."""
    symbol, inputs, bounds = entry.symbol, entry.function.params, entry.function.dim_bounds
    rows: list[str] = []
    caches = {len(inputs) + cache.result: cache for cache in entry.function.caches}
    allocated, words = 0, list[int]()
    for i, param in enumerate(entry.tensors):
        spec, dims = spec_of(param), "NULL"
        if spec.shape:
            dims, lines = f"{symbol}_dims_{i}", list[str]()
            for size, name in zip(spec.shape, param.dims or ("",) * len(spec.shape), strict=True):
                low, high = bounds[name] if size is None and name in bounds else (0, None)
                text = c_string(name) if name else "NULL"
                lines.append(f"{{{number(size)}, {text}, {low}, {number(high)}}}")
            yield array(f"{TABLES}dim {dims}", lines)
        is_bytes = i >= len(inputs) and not entry.typed[i - len(inputs)]
        is_allocated = entry.allocates(i)
        rows.append(
            tensor_row(
                *(spec, param.name, dims),
                is_allocated=is_allocated,
                is_bytes=is_bytes,
                cache=caches.get(i),
            )
        )
        count = 5 if is_bytes else 3 + 2 * len(spec.shape)
        allocated += count if is_allocated else 0
        words += [] if is_allocated else [count]
    # The words of all memrefs: those of the outputs that the code allocates are one argument.
    counts = [*([allocated] if allocated else ()), *words]
    constants = len(library.constant_pools) if entry.has_constants else 0
    counts += [5] * (constants + len(entry.pools))
    arguments, at = list[str](), 0
    for count in counts:
        arguments.append(f"words + {at}")
        at += count
    arguments += [f"(void *)words[{at + i}]" for i in range(len(entry.contexts))]
    types, callee = ["void *"] * len(arguments), f"_mlir_ciface_{symbol}{FLAT}"
    yield from code_function(f"{symbol}_code", callee, types, arguments)
    pools = [
        f"{{{number(pool.size)}, {pool.alignment}, {number(pool.capacity)}, "
        f"{c_string(pool.place)}}}"
        for pool in entry.pools
    ]
    parts = {
        f"{TABLES}tensor {symbol}_tensors": rows,
        f"{TABLES}pool {symbol}_pools": pools,
        f"static const int32_t {symbol}_contexts": [*map(str, entry.contexts)],
    }
    names = ["NULL" if not lines else part.rpartition(" ")[2] for part, lines in parts.items()]
    yield from (array(part, lines) for part, lines in parts.items() if lines)
    sizes = f"_mlir_ciface_{symbol}_sizes" if entry.is_dynamic else "NULL"
    if entry.is_dynamic:
        yield f"void {sizes}(int64_t *dims, int64_t *sizes);"
    queried = [axis for axis in dynamic_axes(entry.results) if not entry.allocated[axis[0]]]
    fields = (
        *(c_string(entry.function.name), "&xrelay_program", len(inputs), len(entry.results)),
        *(len(pools), len(entry.contexts), *names, int(entry.has_constants)),
        *(len(dynamic_axes(inputs)), len(pools) + len(queried)),
        sum(len(spec_of(param).shape) for param in entry.tensors),
        *(at + len(entry.contexts), sizes, f"{symbol}_code"),
    )
    yield f"{TABLES}function {symbol}_function = {{{', '.join(map(str, fields))}}};\n"


def _forms(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the functions that callers use: to call, and to know what to allocate."""
    function, declared = f"&{entry.symbol}_function", prototypes(library, entry)
    lent = ", ".join(pool.symbol for pool in entry.pools) or "NULL"

    def contexts(values: Mapping[int, str]) -> str:
        return ", ".join(values.get(device, "NULL") for device in range(len(library.devices)))

    if "unpacked" in declared:
        data = ", ".join(f"(void *){name}" for name in entry.names) or "NULL"
        dims = "dims" if entry.is_dynamic else "NULL"
        named = {device: context_name(library, device) for device in entry.contexts}
        values = f"{function}, xrelay_data, {dims}, xrelay_lent, xrelay_contexts"
        yield public(
            declared["unpacked"],
            f"void *xrelay_data[] = {{{data}}}, *xrelay_lent[] = {{{lent}}};",
            f"void *xrelay_contexts[] = {{{contexts(named)}}};",
            f"return xrelay_call_unpacked({values});",
        )
    handles = [f"((void **)resource_handle)[{i}]" for i in range(len(entry.contexts))]
    if len(handles) == 1:
        handles = ["resource_handle"]
    by_device = dict(zip(entry.contexts, handles, strict=True))
    for form, given in (("packed", {}), ("cpacked", by_device)):
        if form in declared:
            yield public(
                declared[form],
                f"void *lent[] = {{{lent}}}, *contexts[] = {{{contexts(given)}}};",
                *(["(void)resource_handle;"] if form == "cpacked" and not given else ()),
                f"return xrelay_call_packed({function}, tensors, count, lent, contexts);",
            )
    for i, pool in enumerate(entry.pools):
        yield f"/* The bytes of {pool.symbol}; -1 after a failure. */"
        yield public(declared[pool.symbol], f"return xrelay_sizes({function}, dims, {i}, NULL);")
    yield "/* The shapes of the outputs, one after the other. */"
    values = f"{function}, dims, {len(entry.pools)}, shapes"
    yield public(declared["shapes"], f"return xrelay_sizes({values}) < 0;")
