"""Callbacks of compiled code in C: hooks of devices, and kernels that the runtime supplies."""

from __future__ import annotations

from collections.abc import Iterator

from ....operators.element_types import NUMBER_TYPES
from ....runtime.native.interface import Library
from ....runtime.program.dtypes import element_type
from ....runtime.program.program import Kernel
from ...entries.c_names import EVENTS, hook_symbol, kernel_symbol, user_hook_symbol
from .c_prototypes import CALLBACK, devices_with_contexts, library_prototypes
from .c_text import c_string


def hooks(library: Library) -> Iterator[str]:
    """Yield what compiled code calls around the use of devices with contexts."""
    devices = devices_with_contexts(library)
    for device in devices:
        for event in EVENTS:
            symbol = user_hook_symbol(library.devices[device], event)
            yield f"int32_t {symbol}(void *context);"
    for device in devices:
        bit, name = 1 << device, library.devices[device]
        for event, state in (
            ("activate", f"is_active |= {bit}"),
            ("open", f"is_open |= {bit}"),
            ("close", f"is_open &= ~{bit}"),
            ("deactivate", f"is_active &= ~{bit}"),
        ):
            yield f"XRELAY_SHARED void {hook_symbol(library.name, name, event)}(void *context) {{"
            if event in ("close", "deactivate"):
                yield f"  xrelay_current->{state};"
            yield f"  if ({user_hook_symbol(name, event)}(context))"
            yield f'    xrelay_fail("device {name} failed to {event}");'
            if event in ("activate", "open"):
                yield f"  xrelay_current->{state};"
            yield "}"
    if devices:
        yield "\n/* Close and deactivate the devices of a call that failed. */"
        yield "static void abandon(struct xrelay_call *call) {"
        for device in devices:
            bit, context = 1 << device, f"call->contexts[{device}]"
            for state, event in (("is_open", "close"), ("is_active", "deactivate")):
                yield f"  if (call->{state} & {bit}) "
                yield f"    (void){user_hook_symbol(library.devices[device], event)}({context});"
        yield "}\n"


def kernel_callbacks(library: Library) -> Iterator[str]:
    """Yield the kernels that the runtime supplies, as compiled code calls them."""
    if not library.kernels:
        return
    yield f"static {CALLBACK.replace('callback', 'kernel_callback')} = NULL;"
    yield "static void *kernel_context = NULL;\n"
    yield f"XRELAY_PUBLIC {library_prototypes(library)['kernels']} {{"
    yield "  kernel_callback = callback;\n  kernel_context = context;\n}\n"
    yield "static void call_kernel(int32_t kernel, const char *name,"
    yield "                        const DLTensor *const *tensors, int32_t count) {"
    yield "  if (!kernel_callback)"
    yield '    xrelay_fail("kernel %s needs the runtime: load the library with xrelay.load, or "'
    yield f'                "give {library.name}_set_kernels a function", name);'
    yield '  strcpy(xrelay_error, "");'
    yield "  if (kernel_callback(kernel_context, kernel, tensors, count))"
    yield '    xrelay_fail("kernel %s failed", name);'
    yield "}\n"
    for number, kernel in enumerate(library.kernels):
        yield from kernel_callback(library, number, kernel)


def kernel_callback(library: Library, number: int, kernel: Kernel) -> Iterator[str]:
    specs = (*kernel.ins, *kernel.outs)
    params = (f"struct memref{len(spec.shape)} *t{i}" for i, spec in enumerate(specs))
    symbol = kernel_symbol(library.name, number)
    yield f"XRELAY_SHARED void _mlir_ciface_{symbol}({', '.join(params)}) {{"
    yield "  DLTensor tensors[] = {"
    for i, spec in enumerate(specs):
        shape = f"t{i}->sizes" if spec.shape else "NULL"
        dtype = element_type(spec.dtype)
        data = f"t{i}->aligned + t{i}->offset * {dtype.itemsize}"
        type = f"{{{NUMBER_TYPES[spec.dtype].dlpack}, {8 * dtype.itemsize}, 1}}"
        yield f"      {{{data}, {{1, 0}}, {len(spec.shape)}, {type}, {shape}, NULL, 0}},"
    yield "  };"
    listed = ", ".join(f"&tensors[{i}]" for i in range(len(specs)))
    yield f"  const DLTensor *const list[] = {{{listed}}};"
    yield f"  call_kernel({number}, {c_string(kernel.name)}, list, {len(specs)});\n}}\n"
