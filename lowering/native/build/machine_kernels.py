"""
Compile the kernels of a program for the machine, which runs everything else.

    kernels = clone of the module's relay.prim_funcs
    library = machine_kernels(context, kernels, settings)       calls by the kernels' names

The C file of the library has a function a kernel (see `runtime.native.compiled_kernels`), which
catches its failures. Large ones are divided between threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation

from ....dialects import relay
from ....dialects.type_rules import rule_of
from ....operators.rules import Work
from ....passes.support.diagnostics import emit_remark, wants_remarks
from ....runtime.native.compiled_kernels import ERROR, THREADS, NativeLibrary, load_kernels
from ...convert_memory_to_memref import ConvertMemoryToMemrefPass
from ...convert_relay_to_linalg import ConvertRelayToLinalgPass
from ...expand_math import ExpandMathPass
from ..c.c_interface import code_function, declarations, support_sources
from ..kernel_pipeline import kernel_passes
from ..schedules import is_tiled
from ..toolchain.linking import Inputs, linked_library
from ..toolchain.stage_files import scratch_folder, write
from .build_files import POOL
from .kernel_objects import compile_kernels
from .settings import Settings, key_of
from .units import Kernel, units_of


def machine_kernels(context: Context, kernels: ModuleOp, settings: Settings) -> NativeLibrary:
    """
    Compile `kernels`, which are converted in place, and load them.

    A kernel that stays NumPy's is the subject of a remark. Raises `Error`.
    """
    products = {
        kernel.sym_name.data: sorted(op.name for op in kernel.body.block.ops if _is_product(op))
        for kernel in kernels.ops
        if isinstance(kernel, relay.PrimFuncOp)
    }
    lower = ConvertRelayToLinalgPass(), ExpandMathPass(), ConvertMemoryToMemrefPass()
    for step in (*lower, *kernel_passes(settings.machine, threads=True, versions=False)):
        step.apply(context, kernels)
    chosen: list[Kernel] = []
    for kernel in units_of(kernels, settings).kernels:
        names = products.get(kernel.name)
        if not names or is_tiled(kernel.function) or not _has_loops(kernel.function):
            chosen.append(kernel)
        elif wants_remarks(context):
            text = f"@{kernel.name} is not native: NumPy's {names[0]} is faster for its layout"
            emit_remark(context, kernel.function, text)
    return _loaded(chosen, settings)


def _has_loops(kernel: FuncOp) -> bool:
    """Test whether `kernel` has loops to tile: those of Winograd's algorithm are tiled."""
    return any(isinstance(op, linalg.GenericOp) for op in kernel.walk())


def _is_product(op: Operation) -> bool:
    """Test whether NumPy computes `op` with a BLAS library: faster than loops without tiles."""
    rule = rule_of(op)
    return rule is not None and rule.work is Work.PRODUCTS


def _loaded(kernels: Sequence[Kernel], settings: Settings) -> NativeLibrary:
    settings.cache.prepare()
    compiled = compile_kernels(kernels, settings)
    wanted = {kernel.symbol: kernel for kernel in kernels}
    sources = {
        "calls.c": "".join(f"{line}\n" for line in _calls([*wanted.values()])),
        **support_sources(),
    }
    flags = ["-DXRELAY_THREADS", "-DXRELAY_LIBRARY"]
    exports = ["*_call", ERROR, THREADS, POOL]
    inputs = Inputs(compiled, sources, flags=flags)
    code = settings.cache.get_or(
        key_of("kernels of a machine", *inputs.objects, *sources.values(), *flags),
        lambda: bytes(linked_library(inputs, settings, "kernels.so", exports)),
    )
    settings.cache.trim()
    with scratch_folder("kernels") as folder:
        path = folder / "kernels.so"
        write(path, code)
        symbols = {kernel.name: f"{kernel.symbol}_call" for kernel in kernels}
        return load_kernels(str(path), symbols)


def _calls(kernels: Sequence[Kernel]) -> Iterator[str]:
    """Yield the C file of the functions that the machine calls."""
    yield declarations()
    yield f"XRELAY_PUBLIC const char *{ERROR}(void) {{ return xrelay_error; }}\n"
    yield f"XRELAY_PUBLIC int32_t {THREADS}(int32_t n) {{ return xrelay_set_threads(n); }}\n"
    for kernel in kernels:
        types: list[str] = []
        for type in kernel.function.function_type.inputs:
            assert isinstance(type, MemRefType), "an operand of a kernel"
            types += ["void *"] * 2 + ["int64_t"] * (1 + 2 * type.get_num_dims())
        arguments = [f"({type})words[{i}]" for i, type in enumerate(types)]
        yield from code_function(f"{kernel.symbol}_code", kernel.symbol, types, arguments)
        yield f"XRELAY_PUBLIC int32_t {kernel.symbol}_call(int64_t *words) {{"
        yield f"  return xrelay_call_code({kernel.symbol}_code, words);\n}}\n"
