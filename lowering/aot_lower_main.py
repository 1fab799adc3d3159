"""
Give functions that are called from outside a flat C interface, and describe it.

    func.func @main(%x: memref<4xf32>, %r: memref<?xi8> {memory.result = 0 : i64},
                    %w: memref<?xi8> {memory.workspace = …}) attributes {xrelay.entry = {…}} {
      %w = memref.get_global @w : memref<4xf32>
      …
    }
    ->
    module attributes {xrelay.metadata = {name = "net", entries = […], …}}
    func.func @model_main_flat(%x: memref<4xf32>, %output_0: memref<4xf32>,
                               %constants: memref<?xi8>, %workspace: memref<?xi8>)
      attributes {llvm.emit_c_interface} {
      %w = memref.view %constants[%c0][] : memref<?xi8> to memref<4xf32>
      …
    }

`describe-entries` ran before the types became memory. All params are in one pool of constants, or
in those that `place-constants` chose (`entries.constant_pool`); what an entry returns is written to
its outputs; dynamic programs have a function that computes sizes. Devices of the option
`device-contexts` get a context, and calls around their use (`entries.hooks`). Kernels that are only
declared are those
that a runtime supplies, by number. A function that is called from inside, too, stays as it is, and
its entry is a copy. The metadata are those of `docs/aot.md`. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects import memory
from ..passes.bytes import constant_places
from ..passes.functions.symbols import CallGraph
from ..passes.support.changes import LevelPass
from ..passes.support.diagnostics import PassError, location_of
from ..runtime.native.interface import FORMS, Entry, Form, Library
from ..runtime.program.program import Kernel
from .entries.c_names import kernel_symbol, sanitized, unique_names
from .entries.called_kernels import kernel_calls, may_fail, run_by
from .entries.constant_pool import pass_constants
from .entries.descriptions import (
    DEVICES,
    ENTRY,
    METADATA,
    PARAMS,
    STEPS,
    described,
    record_attribute,
    record_of,
    table_of,
    texts_of,
)
from .entries.flat_entries import Interface, flatten_entry, flatten_sizes, plan_entry
from .entries.hooks import add_hooks
from .memref.conversion_state import MESSAGES
from .memref.functions_and_kernels import KERNEL

DEFAULT_NAME = "model"


def name_from(module: ModuleOp) -> str:
    """Return the name of the file that `module` comes from, without its extension."""
    for op in (module, *module.ops):
        place = location_of(op)
        if place is not None:
            file = place.filename.data.replace("\\", "/").rpartition("/")[2]
            return file.partition(".")[0] or DEFAULT_NAME
    return DEFAULT_NAME


@dataclass(frozen=True)
class AotLowerMainPass(LevelPass):
    name = "aot-lower-main"
    accepts = "memref"

    prefix: str = ""
    """The prefix of all symbols in C; by default the name of the source file."""

    forms: tuple[Literal["packed", "cpacked", "unpacked"], ...] = FORMS
    """The forms in which callers may call: `packed`, `cpacked`, `unpacked`."""

    device_contexts: tuple[str, ...] = ()
    """The devices that get a context, such as `cuda:0`, and calls around their use."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        entries = [f for f in op.ops if isinstance(f, func.FuncOp) and ENTRY in f.attributes]
        if not entries:
            raise PassError("the module has no entries: run describe-entries before", op)
        devices = texts_of(op.attributes.get(DEVICES)) or ["cpu:0"]
        contexts = self.numbered_contexts(devices, op)
        forms: tuple[Form, ...] = tuple(form for form in FORMS if form in self.forms)
        interface = Interface(devices, contexts, forms, memory.pools_of(op))
        library = sanitized(self.prefix or name_from(op))
        kernels = number_kernels(op, library)
        graph = CallGraph.of(op)
        constants, where = pass_constants(
            graph, table_of(op.attributes.get(PARAMS)), constant_places.constant_pools(op)
        )
        symbols = unique_names(
            (f"{library}_{entry.sym_name.data}" for entry in entries), [f"{library}_metadata"]
        )
        described_entries: list[Entry] = []
        for function, symbol in zip(entries, symbols, strict=True):
            users = graph.users[function.sym_name.data]
            functions = run_by(function, graph)
            calls = tuple(kernel_calls(functions, graph))
            if any(isinstance(user, func.CallOp) for user in users):
                function = functions[0] = copied(function)
            plan = plan_entry(function, described(function, devices), symbol, interface)
            flatten_entry(function, plan)
            fails = may_fail(functions, graph)
            described_entries.append(replace(plan.entry, calls=calls, may_fail=fails))
            for user in users:
                if isinstance(user, func.FuncOp) and memory.SIZES_OF in user.attributes:
                    flatten_sizes(user, plan)
            add_hooks(function, library, plan.entry, devices)
        library = Library(
            *(library, tuple(described_entries), tuple(devices), tuple(constants), tuple(where)),
            *(tuple(texts_of(op.attributes.get(MESSAGES))), tuple(kernels)),
        )
        for name in (DEVICES, PARAMS, MESSAGES, memory.POOLS, constant_places.POOLS):
            op.attributes.pop(name, None)
        op.attributes[METADATA] = record_attribute(Library, library)

    def numbered_contexts(self, devices: Sequence[str], module: ModuleOp) -> tuple[int, ...]:
        """Return the numbers of the devices that get a context."""
        # A tuple of one value is given as that value.
        given = self.device_contexts
        names = (given,) if isinstance(given, str) else given
        for name in names:
            if name not in devices:
                there = ", ".join(devices)
                raise PassError(f"the program has no device '{name}'; it has: {there}", module)
        return tuple(sorted({devices.index(name) for name in names}))


def number_kernels(module: ModuleOp, library: str) -> list[Kernel]:
    """Name the kernels that the runtime supplies by their numbers; return them in order."""
    declared = [
        op
        for op in module.ops
        if isinstance(op, func.FuncOp) and KERNEL in op.attributes and not op.body.blocks
    ]
    kernels: list[Kernel] = []
    if not declared:
        return kernels
    users = CallGraph.of(module).users
    for number, op in enumerate(declared):
        steps, name = op.attributes.pop(STEPS, None), op.sym_name.data
        cure = f"kernel @{name} has no body and no {STEPS}: run describe-entries before"
        kernels.append(record_of(Kernel, steps, op, cure))
        op.sym_name = StringAttr(kernel_symbol(library, number))
        for user in users[name]:
            user.properties["callee"] = SymbolRefAttr(op.sym_name)
    return kernels


def copied(function: func.FuncOp) -> func.FuncOp:
    """Return a copy of `function`, after it; the function itself is for calls from inside."""
    copy = function.clone()
    Rewriter.insert_op(copy, InsertPoint.after(function))
    function.sym_visibility = StringAttr("private")
    function.attributes.pop(ENTRY, None)
    return copy
