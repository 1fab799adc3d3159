"""Callbacks of compiled code in C: hooks of devices, and kernels that the runtime supplies."""

from __future__ import annotations

from collections.abc import Iterator

from ....runtime.native.interface import Library
from ...entries.c_names import EVENTS, hook_symbol, kernel_symbol, user_hook_symbol
from .c_entries import TABLES, tensor_row
from .c_prototypes import devices_with_contexts, library_prototypes
from .c_text import array, c_string


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
    setter = f"{library.name}_set_kernels"
    yield f"static struct xrelay_supplier supplier = {{{c_string(setter)}, NULL, NULL}};\n"
    yield f"XRELAY_PUBLIC {library_prototypes(library)['kernels']} {{"
    yield "  supplier.callback = callback;\n  supplier.context = context;\n}\n"
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
