"""
The functions of an entry of a compiled library, in C.

`NAME_measure` computes shapes and workspaces from dims; `NAME_call` checks memory, makes memref
descriptors and calls the compiled function; the forms that callers use do the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from ....operators.element_types import NUMBER_TYPES
from ....runtime.native.interface import FLAT, Entry, Library, spec_of
from ....runtime.program.dtypes import element_type
from ....runtime.program.program import TensorSpec
from .c_prototypes import context_name, dynamic_axes, prototypes
from .c_text import c_string, comment_text


def entry_source(library: Library, entry: Entry) -> Iterator[str]:
    """Yield all functions of an entry."""
    yield f"/* {comment_text(entry.function.name)} */\n"
    yield from tables(entry)
    yield from measure(library, entry)
    yield from call(library, entry)
    yield from forms(library, entry)
    yield from sizes(library, entry)


def tables(entry: Entry) -> Iterator[str]:
    """Yield the types of the inputs and outputs, for checks."""
    symbol, bounds = entry.symbol, entry.function.dim_bounds
    for i, param in enumerate(entry.tensors):
        spec = spec_of(param)
        if not spec.shape:
            continue
        dims: list[str] = []
        for size, name in zip(spec.shape, param.dims or ("",) * len(spec.shape), strict=True):
            low, high = bounds[name] if size is None and name in bounds else (0, None)
            limits = f"{low}, {-1 if high is None else high}"
            text = c_string(name) if name else "NULL"
            dims.append(f"{{{-1 if size is None else size}, {text}, {limits}}}")
        yield f"static const struct xrelay_dim {symbol}_dims_{i}[] = {{{', '.join(dims)}}};"
    rows: list[str] = []
    for i, param in enumerate(entry.tensors):
        spec = spec_of(param)
        bits = 8 * element_type(spec.dtype).itemsize
        dims_of = f"{symbol}_dims_{i}" if spec.shape else "NULL"
        code = NUMBER_TYPES[spec.dtype].dlpack
        rows.append(
            f"    {{{c_string(param.name)}, {code}, {bits}, {int(entry.allocates(i))}, "
            f"{len(spec.shape)}, {dims_of}}},"
        )
    yield f"static const struct xrelay_tensor {symbol}_tensors[] = {{"
    yield from rows or ["    {NULL, 0, 0, 0, 0, NULL},"]
    yield "};"
    counts = f"{len(entry.function.params)}, {len(entry.results)}"
    yield (
        f"static const struct xrelay_function {symbol}_function = "
        f"{{{c_string(entry.function.name)}, {counts}, {symbol}_tensors}};\n"
    )


def shape_array(i: int) -> str:
    return f"shapes[{i}]"


def offsets_of(entry: Entry) -> list[int]:
    """Return where the shape of each tensor begins among all sizes; the count of sizes last."""
    offsets = [0]
    for param in entry.tensors:
        offsets.append(offsets[-1] + len(spec_of(param).shape))
    return offsets


def measure(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the function that computes all shapes, and the bytes of workspaces, from the dims."""
    symbol, offsets = entry.symbol, offsets_of(entry)
    params, tensors = entry.function.params, entry.tensors
    queried = [axis for axis in dynamic_axes(entry.results) if not entry.allocated[axis[0]]]
    pools = len(entry.pools)
    if entry.is_dynamic:
        yield (f"void _mlir_ciface_{symbol}_sizes(struct memref1 *dims, struct memref1 *sizes);\n")
    yield "/* All shapes, one after the other, and the bytes of each workspace. */"
    yield (
        f"static void {symbol}_measure(const int64_t *dims, int64_t *sizes, int64_t *workspaces) {{"
    )
    yield "  (void)dims, (void)sizes, (void)workspaces;"
    if entry.is_dynamic:
        total = pools + len(queried)
        count_ = len(dynamic_axes(params))
        yield f"  int64_t found[{max(total, 1)}];"
        yield f"  struct memref1 given = {{(char *)dims, (char *)dims, 0, {{{count_}}}, {{1}}}};"
        yield f"  struct memref1 result = {{(char *)found, (char *)found, 0, {{{total}}}, {{1}}}};"
        yield '  if (!dims) xrelay_fail("the dims of %s are NULL", '
        yield f"                         {symbol}_function.name);"
        yield f"  for (int i = 0; i < {count_}; i++)"
        yield '    if (dims[i] < 0) xrelay_fail("dim %d of %s is %" PRId64, i,'
        yield f"                                 {symbol}_function.name, dims[i]);"
        yield f"  _mlir_ciface_{symbol}_sizes(&given, &result);"
    given, found = count(), count(pools)
    for i, param in enumerate(tensors):
        for axis, size in enumerate(spec_of(param).shape):
            value = str(size)
            if size is None and entry.allocates(i):
                value = "-1"
            elif size is None:
                value = f"dims[{next(given)}]" if i < len(params) else f"found[{next(found)}]"
            yield f"  sizes[{offsets[i] + axis}] = {value};"
    for i, pool in enumerate(entry.pools):
        value = str(pool.size) if pool.size is not None else f"found[{i}]"
        value = value if i else f"xrelay_with_scratch({value})"
        yield f"  workspaces[{i}] = {value};"
    yield "}\n"


def call(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the function that all forms share: checks, descriptors, and the call."""
    symbol, offsets, tensors = entry.symbol, offsets_of(entry), entry.tensors
    inputs = len(entry.function.params)
    ranks = descriptor_ranks(entry)
    allocated = [i for i in range(len(tensors)) if entry.allocates(i)]
    types = [
        *([f"struct {symbol}_allocated *"] if allocated else []),
        *(f"struct memref{rank} *" for i, rank in enumerate(ranks) if i not in allocated),
        *(["struct memref1 *"] if entry.has_constants else []),
        *("struct memref1 *" for _ in entry.pools),
        *("void *" for _ in entry.contexts),
    ]
    if allocated:
        fields = " ".join(f"struct memref{ranks[i]} {entry.names[i]};" for i in allocated)
        yield f"struct {symbol}_allocated {{ {fields} }};"
    yield f"void _mlir_ciface_{symbol}{FLAT}({', '.join(types) or 'void'});\n"
    yield f"static void {symbol}_call(void *const *data, const int64_t *dims,"
    yield "    DLTensor *const *tensors, void *const *given, void *const *contexts) {"
    yield f"  int64_t sizes[{max(offsets[-1], 1)}], workspaces[{max(len(entry.pools), 1)}];"
    shapes = ", ".join(f"sizes + {offset}" for offset in offsets[:-1])
    yield f"  const int64_t *const shapes[] = {{{shapes or 'sizes'}}};"
    yield "  (void)given, (void)contexts, (void)data;"
    yield f"  {symbol}_measure(dims, sizes, workspaces);"
    yield f"  xrelay_check_dims(&{symbol}_function, shapes);"
    if len(tensors) - inputs > len(allocated):
        yield f"  for (int i = {inputs}; tensors && i < {len(tensors)}; i++)"
        check = f"xrelay_check_tensor(&{symbol}_function, i, shapes[i], tensors[i]);"
        yield f"    if (!{symbol}_tensors[i].is_allocated) {check}"
    else:
        yield "  (void)tensors;"
    yield f"  xrelay_check_memory(&{symbol}_function, shapes, data);"
    args = ["&allocated"] if allocated else []
    if allocated:
        yield f"  struct {symbol}_allocated allocated;"
    for i, (param, name) in enumerate(zip(tensors, entry.names, strict=True)):
        if i in allocated:
            yield f"  xrelay_check_target(&{symbol}_function, {i}, data[{i}]);"
            continue
        is_typed = len(spec_of(param).shape) == ranks[i] and (i < inputs or entry.typed[i - inputs])
        args.append(f"&m_{name}")
        if is_typed:
            yield f"  {descriptor(f'm_{name}', i, spec_of(param))}"
        else:
            size = f"xrelay_bytes(&{symbol}_tensors[{i}], shapes[{i}])"
            yield f"  struct memref1 m_{name} = {{data[{i}], data[{i}], 0, {{{size}}}, {{1}}}};"
    if entry.has_constants:
        args.append("&constants")
        yield f"  char *pool = (char *){library.name}_constants(xrelay_error,"
        yield "                                                sizeof xrelay_error);"
        size = library.constants_size
        yield f"  struct memref1 constants = {{pool, pool, 0, {{{size}}}, {{1}}}};"
        yield "  if (!pool) longjmp(xrelay_current->failed, 1); /* the reason is in the error */"
    for i, pool in enumerate(entry.pools):
        args.append(f"&m_{pool.symbol}")
        yield (
            f"  char *b_{pool.symbol} = xrelay_workspace(&{symbol}_function, shapes, data, "
            f"given[{i}], workspaces[{i}], {pool.alignment});"
        )
        yield (
            f"  struct memref1 m_{pool.symbol} = {{b_{pool.symbol}, b_{pool.symbol}, 0, "
            f"{{workspaces[{i}]}}, {{1}}}};"
        )
    if entry.pools:
        yield f"  xrelay_use_scratch(b_{entry.pools[0].symbol}, workspaces[0]);"
    if entry.contexts:
        yield "  xrelay_current->contexts = contexts;\n  xrelay_current->abandon = abandon;"
        args += [f"contexts[{device}]" for device in entry.contexts]
    yield f"  _mlir_ciface_{symbol}{FLAT}({', '.join(args)});"
    for i, param in enumerate(entry.results, start=inputs):
        if spec_of(param).dtype == "bool" and i not in allocated:
            size = f"xrelay_bytes({symbol}_tensors + {i}, shapes[{i}])"
            yield f"  xrelay_make_bools(data[{i}], {size});"
    yield from hand_over(entry, allocated)
    yield "}\n"


def hand_over(entry: Entry, allocated: Sequence[int]) -> Iterator[str]:
    """Yield code that gives the caller the allocated outputs, or none of them after a failure."""
    for i in allocated:
        name, spec = entry.names[i], spec_of(entry.tensors[i])
        found = f"allocated.{name}"
        sizes = f"{found}.sizes" if spec.shape else "NULL"
        item = element_type(spec.dtype).itemsize
        size = f"xrelay_size({len(spec.shape)}, {sizes}, {item})"
        yield f"  void *d_{name} = xrelay_separate({found}.allocated,"
        yield f"      {found}.aligned + {found}.offset * {item}, {size});"
        if spec.dtype == "bool":
            yield f"  xrelay_make_bools(d_{name}, {size});"
    for i in allocated:
        name, spec = entry.names[i], spec_of(entry.tensors[i])
        sizes = f"allocated.{name}.sizes" if spec.shape else "NULL"
        tensor = f"{entry.symbol}_tensors + {i}"
        yield f"  xrelay_hand_over({tensor}, d_{name}, {sizes}, data[{i}]);"


def descriptor_ranks(entry: Entry) -> list[int]:
    """Return the rank of each tensor as the compiled function has it: 1 for bytes."""
    inputs = len(entry.function.params)
    return [
        len(spec_of(param).shape) if i < inputs or entry.typed[i - inputs] else 1
        for i, param in enumerate(entry.tensors)
    ]


def descriptor(name: str, i: int, spec: TensorSpec) -> str:
    """Return the declaration of the descriptor of tensor `i`, contiguous in memory."""
    rank = len(spec.shape)
    if not rank:
        return f"struct memref0 {name} = {{data[{i}], data[{i}], 0}};"
    sizes = ", ".join(f"shapes[{i}][{axis}]" for axis in range(rank))
    strides: list[str] = []
    for axis in range(rank):
        inner = [f"shapes[{i}][{later}]" for later in range(axis + 1, rank)]
        strides.append(" * ".join(inner) or "1")
    return (
        f"struct memref{rank} {name} = {{data[{i}], data[{i}], 0, {{{sizes}}}, "
        f"{{{', '.join(strides)}}}}};"
    )


def forms(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the functions that callers use."""
    symbol, found = entry.symbol, prototypes(library, entry)
    given = ", ".join(pool.symbol for pool in entry.pools) or "NULL"
    if "unpacked" in found:
        data = ", ".join(f"(void *){name}" for name in entry.names) or "NULL"
        contexts = contexts_array(
            library, entry, {d: context_name(library, d) for d in entry.contexts}
        )
        dims = "dims" if entry.is_dynamic else "NULL"
        yield f"XRELAY_PUBLIC {found['unpacked']} {{"
        yield f"  void *xrelay_data[] = {{{data}}}, *xrelay_given[] = {{{given}}};"
        yield f"  void *xrelay_contexts[] = {{{contexts}}};"
        values = f"xrelay_data, {dims}, NULL, xrelay_given, xrelay_contexts"
        yield from guarded(f"{symbol}_call({values});")
    if "packed" not in found and "cpacked" not in found:
        return
    yield from gather(entry)
    for form in ("packed", "cpacked"):
        if form not in found:
            continue
        values = {}
        if form == "cpacked" and len(entry.contexts) == 1:
            values = {entry.contexts[0]: "resource_handle"}
        elif form == "cpacked":
            values = {d: f"((void **)resource_handle)[{i}]" for i, d in enumerate(entry.contexts)}
        contexts = contexts_array(library, entry, values)
        yield f"XRELAY_PUBLIC {found[form]} {{"
        yield f"  void *given[] = {{{given}}}, *contexts[] = {{{contexts}}};"
        if form == "cpacked" and not entry.contexts:
            yield "  (void)resource_handle;"
        yield from guarded(f"{symbol}_gather(tensors, count, given, contexts);")


def contexts_array(library: Library, entry: Entry, values: dict[int, str]) -> str:
    """Return the contexts, by the number of their device."""
    return ", ".join(values.get(device, "NULL") for device in range(len(library.devices)))


def guarded(statement: str) -> Iterator[str]:
    """Yield the rest of a function that does `statement`, and returns 1 if it fails."""
    yield "  struct xrelay_call xrelay_now;"
    yield "  xrelay_begin(&xrelay_now, xrelay_messages, XRELAY_MESSAGES);"
    yield "  if (setjmp(xrelay_now.failed)) return xrelay_fail_call();"
    yield f"  {statement}"
    yield "  xrelay_end();\n  return 0;\n}\n"


def gather(entry: Entry) -> Iterator[str]:
    """Yield the function that takes data and dims from DLPack tensors."""
    symbol, tensors, inputs = entry.symbol, entry.tensors, len(entry.function.params)
    axes = dynamic_axes(entry.function.params)
    yield f"static void {symbol}_gather(DLTensor *const *tensors, int32_t count,"
    yield "    void *const *given, void *const *contexts) {"
    yield f"  void *data[{max(len(tensors), 1)}] = {{NULL}};"
    yield f"  int64_t dims[{max(len(axes), 1)}] = {{0}};"
    message = f"{entry.function.name} expects {len(tensors)} tensors, {inputs} inputs and then "
    message += f"{len(tensors) - inputs} outputs, but got %d"
    escaped = c_string(message.replace("%", "%%").replace("got %%d", "got %d"))
    yield f"  if (count != {len(tensors)} || !tensors) xrelay_fail({escaped}, count);"
    for i, param in enumerate(entry.function.params):
        shape = ", ".join("-1" if size is None else str(size) for size in spec_of(param).shape)
        literal = f"(const int64_t[]){{{shape}}}" if shape else "NULL"
        yield f"  xrelay_check_tensor(&{symbol}_function, {i}, {literal}, tensors[{i}]);"
    for n, (i, axis) in enumerate(axes):
        yield f"  dims[{n}] = tensors[{i}]->shape[{axis}];"
    if len(tensors) > inputs:
        yield f"  for (int i = {inputs}; i < {len(tensors)}; i++)"
        yield "    if (!tensors[i]) xrelay_fail(\"result '%s' of %s is NULL\","
        yield f"                                 {symbol}_tensors[i].name, {symbol}_function.name);"
    if tensors:
        yield f"  for (int i = 0; i < {len(tensors)}; i++)"
        yield f"    if ({symbol}_tensors[i].is_allocated)"
        yield "      data[i] = tensors[i];"
        yield "    else if (tensors[i]->data)"
        yield "      data[i] = (char *)tensors[i]->data + tensors[i]->byte_offset;"
    yield f"  {symbol}_call(data, dims, tensors, given, contexts);\n}}\n"


def sizes(library: Library, entry: Entry) -> Iterator[str]:
    """Yield the functions that tell callers what to allocate."""
    symbol, offsets, found = entry.symbol, offsets_of(entry), prototypes(library, entry)
    inputs = len(entry.function.params)
    locals_ = f"int64_t sizes[{max(offsets[-1], 1)}], workspaces[{max(len(entry.pools), 1)}];"
    for i, pool in enumerate(entry.pools):
        yield f"/* The bytes of {pool.symbol}; -1 after a failure. */"
        yield f"XRELAY_PUBLIC {found[pool.symbol]} {{"
        yield "  struct xrelay_call xrelay_now;"
        yield f"  {locals_}"
        yield "  xrelay_begin(&xrelay_now, xrelay_messages, XRELAY_MESSAGES);"
        yield "  if (setjmp(xrelay_now.failed)) return xrelay_fail_call(), -1;"
        yield f"  {symbol}_measure(dims, sizes, workspaces);"
        yield f"  xrelay_end();\n  return workspaces[{i}];\n}}\n"
    yield "/* The shapes of the outputs, one after the other. */"
    yield f"XRELAY_PUBLIC {found['shapes']} {{"
    yield f"  {locals_}"
    first, last = offsets[inputs], offsets[-1]
    copied = f"memcpy(shapes, sizes + {first}, {last - first} * sizeof *shapes);"
    copied = copied if last > first else "(void)shapes;"
    yield from guarded(f"{symbol}_measure(dims, sizes, workspaces);\n  {copied}")
