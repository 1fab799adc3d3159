"""
Whole programs as linalg, compiled by upstream passes alone, and called on arrays.

    library = compiled([module, …], folder)     all in one module, their functions renamed
    library.run(0, [x, y])                      the results of `@main` of the first
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from in_machine import run_passes
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute

from xrelay.dialects.tensors import as_tensor, dtype_name
from xrelay.dialects.walking import walk
from xrelay.lowering.native.linking import STANDALONE, SUPPORT, c_file, link_library
from xrelay.lowering.native.module_text import module_text
from xrelay.lowering.native.settings import Settings
from xrelay.lowering.native.stages import KERNELS, compile_text
from xrelay.runtime.native.memrefs import descriptor_of, descriptor_type

Array = Any

PASSES = [name for name in KERNELS if name != "buffer-deallocation-pipeline"]
"""
Upstream passes from tensors to LLVM. Memory is not freed: for functions that return tensors the
deallocation of mlir-opt 22 makes buffers of i1, at which it aborts itself.
"""


def renamed(module: ModuleOp, prefix: str) -> None:
    """Put `prefix` before the names of all functions of a module at level `linalg`."""
    for op in walk(module):
        if isinstance(op, func.FuncOp):
            op.sym_name = StringAttr(prefix + op.sym_name.data)
        elif isinstance(op, func.CallOp):
            op.properties["callee"] = SymbolRefAttr(prefix + op.callee.string_value())


@dataclass(frozen=True)
class Programs:
    """Compiled programs, by number."""

    library: ctypes.CDLL
    types: Sequence[FunctionType]
    """Those of their functions `@main`."""

    def run(self, number: int, inputs: Sequence[Array]) -> list[Array]:
        """Call a program; return copies of its results, whose memory is not freed."""
        outputs = self.types[number].outputs.data
        kept = [np.ascontiguousarray(x).reshape(x.shape) for x in inputs]
        arguments = [descriptor_of(x) for x in kept]
        fields = [(f"r{i}", descriptor_type(_rank(type))) for i, type in enumerate(outputs)]
        returned = type("Returned", (ctypes.Structure,), {"_fields_": fields})()
        function = getattr(self.library, f"_mlir_ciface_p{number}_main")
        function.restype = None
        function(ctypes.byref(returned), *map(ctypes.byref, arguments))
        return [
            _array(getattr(returned, f"r{i}"), type) for i, type in enumerate(outputs)
        ]


def _rank(type: Attribute) -> int:
    tensor = as_tensor(type)
    assert tensor is not None
    return tensor.get_num_dims()


def _array(descriptor: Any, type: Attribute) -> Array:
    tensor = as_tensor(type)
    assert tensor is not None
    dtype = np.dtype(dtype_name(tensor.element_type) or "")
    shape = tuple(descriptor.sizes) if tensor.get_num_dims() else ()
    size = int(np.prod(shape)) * dtype.itemsize
    data = ctypes.string_at(descriptor.aligned, size) if size else b""
    return np.frombuffer(data, dtype).reshape(shape)


def compiled(modules: Sequence[ModuleOp], folder: Path, passes: str = "linalg") -> Programs:
    """Turn `modules` into linalg and compile them to one library in `folder`."""
    texts: list[str] = []
    types: list[FunctionType] = []
    for number, module in enumerate(modules):
        run_passes(module, passes)
        renamed(module, f"p{number}_")
        main = next(f for f in module.ops if isinstance(f, func.FuncOp) and f.sym_name.data.endswith("_main"))
        main.attributes["llvm.emit_c_interface"] = UnitAttr()
        types.append(main.function_type)
        texts += map(module_text, module.ops)
    text = "module {\n" + "\n".join(texts) + "}\n"
    settings, path = Settings(), folder / "programs.so"
    code = compile_text(text, PASSES, settings.machine).code
    sources = {name: c_file(name) for name in (SUPPORT, STANDALONE)}
    link_library(path, [code], sources, settings)
    return Programs(ctypes.CDLL(str(path)), types)
