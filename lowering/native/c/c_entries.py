"""
The entries of a compiled library as tables of C, which `shim.c` interprets.

    static const struct xrelay_function net_main_function = {"main", …, net_main_code};
    int32_t net_main(const float *x, float *y, void *workspace) { … }

Only what depends on C types is code: the call of the compiled function with its words, and the
functions that callers use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....operators.element_types import NUMBER_TYPES
from ....runtime.native.interface import FLAT, Entry, Library, spec_of
from ....runtime.program.dtypes import element_type
from ....runtime.program.program import TensorSpec
from .c_prototypes import context_name, dynamic_axes, prototypes
from .c_text import array, c_string, comment_text

TABLES = "static const struct xrelay_"


def entry_source(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the tables and functions of an entry."""
    yield f"/* {comment_text(entry.function.name)} */\n"
    yield from dim_tables(entry)
    yield from code(entry)
    yield from function_table(library, entry)
    yield from forms(library, entry)
    yield from sizes(library, entry)


def dim_tables(entry: Entry) -> Iterator[str]:
    """Yield the dims of each tensor, with their names and bounds."""
    bounds = entry.function.dim_bounds
    for i, param in enumerate(entry.tensors):
        shape = spec_of(param).shape
        rows: list[str] = []
        for size, name in zip(shape, param.dims or ("",) * len(shape), strict=True):
            low, high = bounds[name] if size is None and name in bounds else (0, None)
            limits = f"{low}, {number(high)}"
            rows.append(f"{{{number(size)}, {c_string(name) if name else 'NULL'}, {limits}}}")
        if rows:
            yield array(f"{TABLES}dim {entry.symbol}_dims_{i}", rows)


def number(value: int | None) -> int:
    """Return `value` as tables have it: -1 for None."""
    return -1 if value is None else value


def tensor_row(
    spec: TensorSpec, name: str, dims: str, *, is_allocated: bool = False, is_bytes: bool = False
) -> str:
    """Return the row of a tensor."""
    bits, code = 8 * element_type(spec.dtype).itemsize, NUMBER_TYPES[spec.dtype].dlpack
    flags = f"{int(is_allocated)}, {int(is_bytes)}, {len(spec.shape)}"
    return f"{{{c_string(name)}, {code}, {bits}, {flags}, {dims}}}"


def has_as_bytes(entry: Entry, tensor: int) -> bool:
    """Test whether the compiled function has a tensor as bytes."""
    output = tensor - len(entry.function.params)
    return output >= 0 and not entry.typed[output]


def word_counts(entry: Entry) -> list[int]:
    """Return the words of each argument of the compiled function."""
    ranks = [
        1 if has_as_bytes(entry, i) else len(spec_of(param).shape)
        for i, param in enumerate(entry.tensors)
    ]
    allocated = [3 + 2 * rank for i, rank in enumerate(ranks) if entry.allocates(i)]
    lent = [3 + 2 * rank for i, rank in enumerate(ranks) if not entry.allocates(i)]
    pools = [5] * (int(entry.has_constants) + len(entry.pools))
    return [*([sum(allocated)] if allocated else []), *lent, *pools, *(1 for _ in entry.contexts)]


def code(entry: Entry) -> Iterator[str]:
    """Yield the function that calls the compiled one with words."""
    counts, arguments, at = word_counts(entry), list[str](), 0
    for i, count in enumerate(counts):
        is_context = i >= len(counts) - len(entry.contexts)
        arguments.append(f"(void *)words[{at}]" if is_context else f"words + {at}")
        at += count
    types = ["void *"] * len(counts)
    yield from code_function(
        f"{entry.symbol}_code", f"_mlir_ciface_{entry.symbol}{FLAT}", types, arguments
    )


def code_function(
    name: str, callee: str, types: Sequence[str], arguments: Sequence[str]
) -> Iterator[str]:
    """Yield a function of words that calls `callee` with `arguments`."""
    yield f"void {callee}({', '.join(types) or 'void'});"
    yield f"static void {name}(int64_t *words) {{"
    yield f"  (void)words;\n  {callee}({', '.join(arguments)});\n}}"


def function_table(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the tables of a function."""
    symbol, tensors = entry.symbol, entry.tensors
    rows = [
        tensor_row(
            spec_of(param),
            param.name,
            f"{symbol}_dims_{i}" if spec_of(param).shape else "NULL",
            is_allocated=entry.allocates(i),
            is_bytes=has_as_bytes(entry, i),
        )
        for i, param in enumerate(tensors)
    ]
    pools = [f"{{{number(pool.size)}, {pool.alignment}}}" for pool in entry.pools]
    parts = {"tensor": rows, "pool": pools}
    for part, lines in parts.items():
        if lines:
            yield array(f"{TABLES}{part} {symbol}_{part}s", lines)
    if entry.contexts:
        yield array(f"static const int32_t {symbol}_contexts", map(str, entry.contexts))
    if entry.is_dynamic:
        yield f"void _mlir_ciface_{symbol}_sizes(int64_t *dims, int64_t *sizes);"
    queried = [axis for axis in dynamic_axes(entry.results) if not entry.allocated[axis[0]]]
    counts = len(entry.function.params), len(entry.results), len(pools), len(entry.contexts)
    dims = len(dynamic_axes(entry.function.params)), len(pools) + len(queried)
    fields = (
        c_string(entry.function.name),
        "&xrelay_program",
        *counts,
        f"{symbol}_tensors" if rows else "NULL",
        f"{symbol}_pools" if pools else "NULL",
        f"{symbol}_contexts" if entry.contexts else "NULL",
        int(entry.has_constants),
        *dims,
        sum(len(spec_of(param).shape) for param in tensors),
        sum(word_counts(entry)),
        f"_mlir_ciface_{symbol}_sizes" if entry.is_dynamic else "NULL",
        f"{symbol}_code",
    )
    yield f"{TABLES}function {symbol}_function = {{{', '.join(map(str, fields))}}};\n"


def forms(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the functions that callers use."""
    function, public = f"&{entry.symbol}_function", prototypes(library, entry)
    workspaces = ", ".join(pool.symbol for pool in entry.pools) or "NULL"
    if "unpacked" in public:
        data = ", ".join(f"(void *){name}" for name in entry.names) or "NULL"
        dims = "dims" if entry.is_dynamic else "NULL"
        yield f"XRELAY_PUBLIC {public['unpacked']} {{"
        yield f"  void *xrelay_data[] = {{{data}}}, *xrelay_lent[] = {{{workspaces}}};"
        named = {device: context_name(library, device) for device in entry.contexts}
        yield f"  void *xrelay_contexts[] = {{{contexts_array(library, named)}}};"
        values = f"{function}, xrelay_data, {dims}, xrelay_lent, xrelay_contexts"
        yield f"  return xrelay_call_unpacked({values});\n}}\n"
    handles = {
        device: f"((void **)resource_handle)[{i}]" for i, device in enumerate(entry.contexts)
    }
    if len(entry.contexts) == 1:
        handles = {entry.contexts[0]: "resource_handle"}
    for form, given in (("packed", {}), ("cpacked", handles)):
        if form in public:
            yield f"XRELAY_PUBLIC {public[form]} {{"
            yield f"  void *lent[] = {{{workspaces}}};"
            yield f"  void *contexts[] = {{{contexts_array(library, given)}}};"
            if form == "cpacked" and not entry.contexts:
                yield "  (void)resource_handle;"
            yield f"  return xrelay_call_packed({function}, tensors, count, lent, contexts);\n}}\n"


def contexts_array(library: Library, values: Mapping[int, str]) -> str:
    """Return the contexts, by the number of their device."""
    return ", ".join(values.get(device, "NULL") for device in range(len(library.devices)))


def sizes(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the functions that tell callers what to allocate."""
    function, public = f"&{entry.symbol}_function", prototypes(library, entry)
    for i, pool in enumerate(entry.pools):
        yield f"/* The bytes of {pool.symbol}; -1 after a failure. */"
        yield f"XRELAY_PUBLIC {public[pool.symbol]} {{"
        yield f"  return xrelay_sizes({function}, dims, {i}, NULL);\n}}\n"
    yield "/* The shapes of the outputs, one after the other. */"
    yield f"XRELAY_PUBLIC {public['shapes']} {{"
    yield f"  return xrelay_sizes({function}, dims, {len(entry.pools)}, shapes) < 0;\n}}\n"
