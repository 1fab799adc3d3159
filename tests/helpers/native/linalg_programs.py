"""
Whole programs as linalg, compiled by upstream passes alone, and called on arrays.

    programs = compiled([module, …], folder)     all in one module, their functions renamed
    programs.run(0, [x, y])                      the results of `@main` of the first
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from helpers.machine.in_machine import run_passes
from helpers.native.built_libraries import STANDALONE, link
from helpers.native.memrefs import descriptor_of, descriptor_type
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr

from xrelay.dialects.tensors import as_tensor, dtype_name
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.memref.booleans import store_booleans_as_bytes
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.linking import Inputs
from xrelay.lowering.native.toolchain.stages import KERNELS, compile_text, module_text

Array = Any

PASSES = [name for name in KERNELS if name != "buffer-deallocation-pipeline"]
"""
Upstream passes from tensors to LLVM. Memory is not freed: for functions that return tensors the
deallocation of mlir-opt 22 makes buffers of i1, at which it aborts itself.
"""


def library_of(text: str, folder: Path) -> ctypes.CDLL:
    """Compile the text of a module of linalg on tensors to a library in `folder`."""
    code = compile_text(text, PASSES, Settings(), "programs")
    return ctypes.CDLL(str(link(Inputs([code], STANDALONE), folder / "programs.so")))


def call(
    library: ctypes.CDLL, name: str, inputs: Sequence[Array], outputs: Sequence[tuple[str, int]]
) -> list[Array]:
    """
    Call a function; return copies of its results, whose dtypes and ranks are `outputs`.

    The memory that it allocated is not freed.
    """
    kept = [np.ascontiguousarray(x).reshape(x.shape) for x in inputs]
    arguments = [descriptor_of(x) for x in kept]
    fields = [(f"r{i}", descriptor_type(rank)) for i, (_, rank) in enumerate(outputs)]
    returned = type("Returned", (ctypes.Structure,), {"_fields_": fields})()
    function = getattr(library, f"_mlir_ciface_{name}")
    function.restype = None
    function(ctypes.byref(returned), *map(ctypes.byref, arguments))
    return [
        _array(getattr(returned, f"r{i}"), np.dtype(dtype), rank)
        for i, (dtype, rank) in enumerate(outputs)
    ]


def _array(descriptor: Any, dtype: np.dtype[Any], rank: int) -> Array:
    shape = tuple(descriptor.sizes) if rank else ()
    size = int(np.prod(shape)) * dtype.itemsize
    data = ctypes.string_at(descriptor.aligned, size) if size else b""
    return np.frombuffer(data, dtype).reshape(shape)


def results_of(type: FunctionType) -> list[tuple[str, int]]:
    """Return the dtype and the rank of each result of a function."""
    found: list[tuple[str, int]] = []
    for output in type.outputs:
        tensor = as_tensor(output)
        assert tensor is not None
        found.append((dtype_name(tensor.element_type) or "", tensor.get_num_dims()))
    return found


@dataclass(frozen=True)
class Programs:
    """Compiled programs, by number."""

    library: ctypes.CDLL
    types: Sequence[FunctionType]
    """Those of their functions `@main`."""

    def run(self, number: int, inputs: Sequence[Array]) -> list[Array]:
        """Return the results of a program."""
        return call(self.library, f"p{number}_main", inputs, results_of(self.types[number]))


def renamed(module: ModuleOp, prefix: str) -> None:
    """Put `prefix` before the names of all functions of a module at level `linalg`."""
    for op in walk(module):
        if isinstance(op, func.FuncOp):
            op.sym_name = StringAttr(prefix + op.sym_name.data)
        elif isinstance(op, func.CallOp):
            op.properties["callee"] = SymbolRefAttr(prefix + op.callee.string_value())


def compiled(modules: Sequence[ModuleOp], folder: Path, passes: str = "linalg") -> Programs:
    """Turn `modules` into linalg and compile them to one library in `folder`."""
    texts: list[str] = []
    types: list[FunctionType] = []
    for number, module in enumerate(modules):
        run_passes(module, passes)
        store_booleans_as_bytes(module)  # mlir-opt 22 has no loads of i1
        renamed(module, f"p{number}_")
        for function in module.ops:
            if isinstance(function, func.FuncOp) and function.sym_name.data == f"p{number}_main":
                function.attributes["llvm.emit_c_interface"] = UnitAttr()
                types.append(function.function_type)
        texts += map(module_text, module.ops)
    return Programs(library_of("module {\n" + "".join(texts) + "}\n", folder), types)
