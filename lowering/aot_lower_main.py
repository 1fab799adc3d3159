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

`describe-entries` ran before the types became memory. All params are in one pool of constants
(`aot.constants`); what an entry returns is written to its outputs (`aot.entries`); dynamic programs
have a function that computes sizes (`aot.size_entries`). Devices of the option `device-contexts`
get a context, and calls around their use (`aot.hooks`). Kernels that are only declared are those
that a runtime supplies, by number. A function that is called from inside, too, stays as it is, and
its entry is a copy. The metadata are those of `docs/aot.md`. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass

from ..dialects import memory
from ..passes.support.diagnostics import PassError, location_of
from ..passes.support.levels import Level
from ..runtime.native.interface import FORMS, Entry, Form, Library
from ..runtime.program.program import Kernel
from .entries.c_names import kernel_symbol, sanitized, unique_names
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
from .entries.flat_entries import Interface, flatten_entry, plan_entry
from .entries.hooks import add_hooks
from .entries.reached_functions import calls_in, kernel_calls, may_fail, reached
from .entries.size_entries import flatten_sizes
from .memref.buffer_kernels import KERNEL
from .memref.conversion_state import MESSAGES

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
class AotLowerMainPass(ModulePass):
    """Give functions that are called from outside a flat C interface, and describe it."""

    name = "aot-lower-main"
    accepts: ClassVar[Level] = "memref"

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
        # A tuple of one value is given as that value.
        forms: tuple[Form, ...] = tuple(form for form in FORMS if form in self.forms)
        interface = Interface(devices, contexts, forms)
        library = sanitized(self.prefix or name_from(op))
        pool = pass_constants(op, table_of(op.attributes.get(PARAMS)))
        kernels = number_kernels(op, library)
        inside = {call.callee.string_value() for call in calls_in(op)}
        names = unique_names(
            (f"{library}_{entry.sym_name.data}" for entry in entries), [f"{library}_metadata"]
        )
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, func.FuncOp)}
        made: list[Entry] = []
        for function, symbol in zip(entries, names, strict=True):
            description = described(function, devices)
            name = description.function.name
            sizes = size_function(op, function.sym_name.data)
            entry = copied(function) if function.sym_name.data in inside else function
            plan = plan_entry(entry, description, symbol, interface)
            flatten_entry(entry, plan)
            ran = reached(functions, entry)
            calls = tuple(kernel_calls(functions, ran, {entry.sym_name.data: name}))
            made.append(replace(plan.entry, calls=calls, may_fail=may_fail(functions, ran)))
            if sizes is not None:
                flatten_sizes(sizes, plan)
            add_hooks(entry, library, plan.entry, devices)
        found = Library(
            library,
            tuple(made),
            tuple(devices),
            tuple(pool.constants.values()),
            pool.size,
            tuple(texts_of(op.attributes.get(MESSAGES))),
            tuple(kernels),
        )
        for name in (DEVICES, PARAMS, MESSAGES):
            op.attributes.pop(name, None)
        op.attributes[METADATA] = record_attribute(Library, found)

    def numbered_contexts(self, devices: Sequence[str], module: ModuleOp) -> tuple[int, ...]:
        """Return the numbers of the devices that get a context."""
        given = self.device_contexts
        names = (given,) if isinstance(given, str) else given
        for name in names:
            if name not in devices:
                there = ", ".join(devices)
                raise PassError(f"the program has no device '{name}'; it has: {there}", module)
        return tuple(sorted({devices.index(name) for name in names}))


def number_kernels(module: ModuleOp, library: str) -> list[Kernel]:
    """Name the kernels that the runtime supplies by their numbers; return them in order."""
    kernels: list[Kernel] = []
    symbols: dict[str, str] = {}
    for op in module.ops:
        if isinstance(op, func.FuncOp) and KERNEL in op.attributes and not op.body.blocks:
            steps = op.attributes.pop(STEPS, None)
            name = op.sym_name.data
            cure = f"kernel @{name} has no body and no {STEPS}: run describe-entries before"
            kernels.append(record_of(Kernel, steps, op, cure))
            symbols[name] = kernel_symbol(library, len(kernels) - 1)
            op.sym_name = StringAttr(symbols[name])
    for call in calls_in(module) if symbols else ():
        name = call.callee.string_value()
        call.properties["callee"] = SymbolRefAttr(symbols.get(name, name))
    return kernels


def size_function(module: ModuleOp, entry: str) -> func.FuncOp | None:
    """Return the function that computes the sizes for `entry`, if there is one."""
    for op in module.ops:
        of = op.attributes.get(memory.SIZES_OF)
        if isinstance(of, SymbolRefAttr) and of.string_value() == entry:
            assert isinstance(op, func.FuncOp)
            return op
    return None


def copied(function: func.FuncOp) -> func.FuncOp:
    """Return a copy of `function`, after it; the function itself is for calls from inside."""
    copy = function.clone()
    block = function.parent
    assert block is not None, "functions are in a module"
    block.insert_op_after(copy, function)
    function.sym_visibility = StringAttr("private")
    function.attributes.pop(ENTRY, None)
    return copy
