"""
Programs compiled to machine code, many to a library, and what they compute.

    batch = NativeBatch()
    number = batch.add(module)            level relay; None if the path does not accept it
    batch.build(folder)
    batch.run(number, args)               a list of arrays, or an error's message

Kernels that are not lowered to linalg are called back. Memory that is freed twice or not at all
is an error.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from helpers.native.built_libraries import COPIES, build_library
from helpers.native.memrefs import descriptor_of, descriptor_type
from helpers.native.scheduled_kernels import prepared, without_schedules
from helpers.programs.agreement import Array, Outcome, quiet
from helpers.programs.seldom_verified import OF
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute

from xrelay.dialects import relay
from xrelay.dialects.tensors import as_tensor, dtype_name
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.memref.conversion_state import MESSAGES
from xrelay.lowering.memref.functions_and_kernels import KERNEL
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.lowering.upstream_sizes.checked_functions import ENTER, REQUIRE
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.changes import apply_pass
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines

HARNESS = Path(__file__).with_name("native_harness.c")
MAX_ARGUMENTS = 12
STACK = "the stack is used up"
NOT_ACCEPTED = re.compile("run by the machine only|only the machine runs|need the machine")
"""Matches the errors of passes for programs that native code does not run."""
REFUSED = re.compile(
    f"{NOT_ACCEPTED.pattern}|would have to be on|only tensors and tuples can be copied"
    "|does not follow from those of the arguments|takes and returns tensors only"
)
"""Matches those for programs that a library does not take either, as docs/native.md says."""

TO_MEMREF = (
    "convert-relay-to-linalg,convert-memory-to-memref,merge-tail-cycles,"
    "tail-calls-to-loops,limit-recursion,erase-memory-spaces,"
    "verify-stage{stage=memref}"
)


def run_passes(module: ModuleOp, passes: str) -> None:
    """Run a pipeline; what passes change is verified, after one in four and the last one."""
    steps = build(passes, UNIVERSE.all_passes, named_pipelines)
    for left, step in zip(reversed(range(len(steps))), steps, strict=True):
        if apply_pass(step.run, quiet(), module) and left % OF == 0:
            verify(module)
    verify(module)


@dataclass(frozen=True)
class Entry:
    """The entry of a program: its symbol, and the dtype and rank of each result."""

    symbol: str
    results: Sequence[tuple[str, int]]
    messages: list[str]


@dataclass(frozen=True)
class Callback:
    """A kernel that is called back: the program it is in, its name, and its types."""

    module: ModuleOp
    name: str
    symbol: str
    types: Sequence[tuple[str, int]]
    """Of its parameters, then of its results."""
    inputs: int


def described(types: Sequence[Attribute]) -> list[tuple[str, int]]:
    """Return the dtype and rank of each tensor type."""
    found: list[tuple[str, int]] = []
    for type in types:
        tensor = as_tensor(type)
        assert tensor is not None
        found.append((dtype_name(tensor.element_type) or "", tensor.get_num_dims()))
    return found


@dataclass
class NativeBatch:
    """Programs that become one library."""

    module: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    entries: list[Entry] = field(default_factory=list[Entry])
    callbacks: list[Callback] = field(default_factory=list[Callback])
    rejected: list[str] = field(default_factory=list[str])
    kernels: int = 0
    """The number of kernels, those that are called back included."""
    library: Any = None
    hook: Any = None
    declared: set[str] = field(default_factory=set[str])

    def add(self, module: ModuleOp, passes: str = "aot") -> int | None:
        """Compile a program to `memref`; return its number, or None if it is not accepted."""
        try:
            run_passes(module, passes)
            planned = module.clone()
            run_passes(module, TO_MEMREF)
        except PassError as error:
            if not NOT_ACCEPTED.search(str(error)):
                raise
            self.rejected.append(str(error))
            return None
        number = len(self.entries)
        mains = [f for f in planned.ops if isinstance(f, func.FuncOp)]
        (main,) = [f for f in mains if f.sym_name.data == "main"]
        messages = cast("ArrayAttr[StringAttr]", module.attributes.get(MESSAGES, ArrayAttr([])))
        texts = [str(message.data) for message in messages]
        entry = Entry(f"p{number}_main", described(main.function_type.outputs.data), texts)
        self.entries.append(entry)
        self._take_over(module, planned, f"p{number}_")
        return number

    def _take_over(self, module: ModuleOp, planned: ModuleOp, prefix: str) -> None:
        kernels = {k.sym_name.data: k for k in planned.ops if isinstance(k, relay.PrimFuncOp)}
        self.kernels += len(kernels)
        for op in walk(module):
            callee = op.properties.get("callee", op.properties.get("name"))
            if isinstance(callee, SymbolRefAttr) and not is_runtime(callee.string_value()):
                key = "callee" if "callee" in op.properties else "name"
                op.properties[key] = SymbolRefAttr(prefix + callee.string_value())
        for op in list(module.ops):
            name = op.properties.get("sym_name")
            assert isinstance(name, StringAttr)
            if is_runtime(name.data):
                if name.data in self.declared:
                    continue
                self.declared.add(name.data)
            else:
                op.properties["sym_name"] = StringAttr(prefix + name.data)
                if name.data == "main":
                    op.attributes["llvm.emit_c_interface"] = UnitAttr()
                if KERNEL in op.attributes and isinstance(op, func.FuncOp) and op.is_declaration:
                    kernel = kernels[name.data].function_type
                    types = described([*kernel.inputs, *kernel.outputs])
                    symbol, inputs = prefix + name.data, len(kernel.inputs)
                    self.callbacks.append(Callback(planned, name.data, symbol, types, inputs))
            op.detach()
            self.module.body.block.add_op(op)

    def build(self, folder: Path) -> None:
        """Compile all programs."""
        path = build_library(
            prepared(without_schedules(self.module), Machine()),
            folder / "libprograms.so",
            Settings(),
            sources={
                **COPIES,
                "harness.c": HARNESS.read_text(encoding="utf-8"),
                "kernels.c": "\n".join(
                    ["#include <stdint.h>", "void xrelay_call_kernel(int64_t, void **);"]
                    + [self._trampoline(i, c) for i, c in enumerate(self.callbacks)]
                ),
            },
        )
        self.library = ctypes.CDLL(str(path))
        self.library.harness_run.restype = ctypes.c_int64
        self.library.harness_state.restype = ctypes.c_int64
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p))
        self.hook = prototype(self._call_back)
        self.library.harness_hook(self.hook)

    @staticmethod
    def _trampoline(number: int, callback: Callback) -> str:
        names = [f"a{i}" for i in range(len(callback.types))]
        params, given = ", ".join(f"void *{n}" for n in names) or "void", ", ".join(names)
        return (
            f"void _mlir_ciface_{callback.symbol}({params}) {{ void *a[] = {{{given or 0}}}; "
            f"xrelay_call_kernel({number}, a); }}"
        )

    def _call_back(self, number: int, pointers: Any) -> None:
        callback = self.callbacks[number]
        arrays = [
            array_at(pointers[i], dtype, rank) for i, (dtype, rank) in enumerate(callback.types)
        ]
        ins = [array.copy() for array in arrays[: callback.inputs]]
        results = evaluate(callback.module, ins, function=callback.name)
        for out, result in zip(arrays[callback.inputs :], results, strict=True):
            out[...] = result

    def run(self, number: int, args: Sequence[Array]) -> Outcome:
        """Call the entry of a program; check that nothing else is allocated after it."""
        entry, library = self.entries[number], self.library
        results = [descriptor_type(rank)() for _, rank in entry.results]
        fields = [(f"r{i}", type(result)) for i, result in enumerate(results)]
        returned = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        given = [np.ascontiguousarray(arg).reshape(np.shape(arg)) for arg in args]
        descriptors = [descriptor_of(array) for array in given]
        pointers = (ctypes.c_void_p * MAX_ARGUMENTS)()
        passed = [returned] * bool(results) + descriptors
        assert len(passed) <= MAX_ARGUMENTS
        for i, item in enumerate(passed):
            pointers[i] = ctypes.addressof(item)
        function = getattr(library, f"_mlir_ciface_{entry.symbol}")
        code = library.harness_run(function, pointers)
        try:
            if code != -1:
                a, b = library.harness_state(2), library.harness_state(3)
                texts: list[Any] = [*entry.messages, STACK]  # -1 is not returned, -2 is the stack
                text = str(texts[max(code, -1)])
                return text.replace("{0}", str(a)).replace("{1}", str(b))
            found = [
                array_at(ctypes.addressof(getattr(returned, f"r{i}")), dtype, rank).copy()
                for i, (dtype, rank) in enumerate(entry.results)
            ]
            live = library.harness_state(0)
            assert live == len(results), f"{live} allocations, but {len(results)} results"
            assert not library.harness_state(1), "a free of what is not allocated"
            return found
        finally:
            library.harness_free_all()


def is_runtime(name: str) -> bool:
    return name in (REQUIRE, ENTER)


def array_at(address: int, dtype: str, rank: int) -> Array:
    """Return the array that a descriptor describes."""
    found = descriptor_type(rank).from_address(address)
    shape = tuple(found.sizes) if rank else ()
    type_ = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * type_.itemsize
    data: Any = (ctypes.c_char * size).from_address(found.aligned + found.offset * type_.itemsize)
    return np.ndarray(shape, type_, buffer=data)
