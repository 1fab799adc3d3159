"""
Measure compiled networks against onnxruntime, on one thread: latency, results, sizes.

    python benchmarks/native_networks.py [--only resnet50,shufflenet] [--cpu native] [--rounds 8]
    python benchmarks/native_networks.py --blas …         also with OpenBLAS for all products
    python benchmarks/native_networks.py --kernels …      the time by kernel, in the same order

The networks are those of ONNX's tests and a transformer. A figure is the least CPU time of all
rounds, in which all levels of a library (`v1`, `v3`, `v4`; or one processor, with `--cpu`) and
onnxruntime run in turns; the error is the largest difference, relative to the largest result.
`planned` is the workspace of the newest level. Kernels are compiled once for all runs with the same
`--cache`; the times of the tools are those of kernels that were missing there. JSON (or Markdown
with `--table`) goes to stdout.
"""

import ctypes
import os
import resource
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import process_time
from typing import Any, cast

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
from cpu_times import least, seconds_per_call
from helpers.machine.in_machine import run_passes
from helpers.native.built_libraries import STANDALONE
from helpers.native.scheduled_kernels import prepared
from helpers.onnx.onnx_models import LIGHT_MODELS, light_network, onnxruntime_session
from helpers.programs.transformer import VOCABULARY, encoder
from levels import by_level, cells
from onnx import ModelProto
from results import Facts, parser_of, write_results
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute

from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.native.build.build_files import (
    Request,
    compile_module,
    library_of,
    make_product,
)
from xrelay.lowering.native.build.kernel_objects import compile_kernels
from xrelay.lowering.native.build.settings import Cache, Settings
from xrelay.lowering.native.build.units import Kernel, units_of
from xrelay.lowering.native.toolchain import linking, stages
from xrelay.lowering.native.toolchain.linking import (
    Inputs,
    linked_library,
)
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.lowering.native.toolchain.tool_paths import openblas
from xrelay.runtime.native.interface import Library, spec_of
from xrelay.runtime.program.program import Param
from xrelay.runtime.weights.derived_weights import ArraySource, Weights

RNG = np.random.default_rng(0)
TRANSFORMER = "transformer"
SEQUENCE = 128

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Compiled:
    """A network, as a module for the compiler, and with its inputs for onnxruntime."""

    name: str
    model: ModelProto
    feeds: dict[str, Array]
    module: ModuleOp
    library: Library
    weights: Weights


def network(name: str) -> tuple[ModelProto, dict[str, Array]]:
    if name != TRANSFORMER:
        found = light_network(name)
        return found.model, found.feeds
    ids = RNG.integers(0, VOCABULARY, (1, SEQUENCE))
    return encoder(2, 12, 768, positions=SEQUENCE, dims=ids.shape), {"ids": ids}


def lowered(name: str) -> Compiled:
    """Return a network after the pipeline `aot`."""
    model, feeds = network(name)
    conversion = convert_model(model, f"{name}.onnx")
    run_passes(conversion.module, "aot")
    weights = Weights(ArraySource(conversion.params))
    return Compiled(name, model, feeds, conversion.module, library_of(conversion.module), weights)


class Tools:
    """The CPU time of the tools of the compiler, by name."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._run, self._lock = stages.run, Lock()
        stages.run = linking.run = self.run

    def run(self, name: str, *args: Any, **options: Any) -> Any:
        """Run a tool, one at a time, and add the time that it takes."""
        with self._lock:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                return self._run(name, *args, **options)
            finally:
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
                self.spent[name] += user + system


def aligned(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return zeros that start at a cache line."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(tuple(shape))


# ------------------------------------------------------------------------- networks


class Caller:
    """The function `main` of a library, with a workspace and results that are used every time."""

    def __init__(self, path: Path, library: Library, inputs: Sequence[Array]) -> None:
        (entry,) = library.entries
        code = ctypes.CDLL(str(path))
        size = code[f"{entry.symbol}_workspace_size"]
        size.restype = ctypes.c_int64
        self.workspace_size = int(size())
        self.planned = entry.workspace or 0
        outputs = [outline(param) for param in entry.results]
        self.outputs = [aligned(shape, np.dtype(dtype)) for shape, dtype in outputs]
        workspace = aligned([self.workspace_size], np.dtype(np.uint8))
        arrays = [*(np.ascontiguousarray(x) for x in inputs), *self.outputs, workspace]
        self._function = code[entry.symbol]
        self._error = code[f"{library.name}_last_error"]
        self._error.restype = ctypes.c_char_p
        self._arrays = arrays
        self._pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]

    def __call__(self) -> None:
        if self._function(*self._pointers):
            raise RuntimeError(self._error())


def outline(param: Param) -> tuple[list[int], str]:
    """Return the shape and element type of a tensor of known shape."""
    spec = spec_of(param)
    return [size for size in spec.shape if size is not None], spec.dtype


def worst(ours: Sequence[Array], theirs: Sequence[Array]) -> float:
    """Return the largest difference, relative to the largest result."""
    pairs = zip(ours, theirs, strict=True)
    return max(float(np.abs(x - y).max() / np.abs(y).max()) for x, y in pairs)


def measure(name: str, settings: Settings, rounds: int) -> Iterator[Facts]:
    """Compile and run one network."""
    tools = Tools()
    start = process_time()
    net = lowered(name)
    levels, size = made(net, replace(settings, blas=None))
    python = process_time() - start
    spent = dict(tools.spent)
    if settings.blas is not None:
        levels |= {f"{level} with BLAS": call for level, call in made(net, settings)[0].items()}
    session = onnxruntime_session(net.model, threads=1)
    expected = session.run(None, net.feeds)
    for call in levels.values():
        call()
    call = levels[next(reversed(levels))]
    error = max(worst(each.outputs, expected) for each in levels.values())
    theirs, *ours = least([lambda: session.run(None, net.feeds), *levels.values()], rounds)
    row = {"network": name, **cells(levels, ours, theirs)}
    print(*row.values(), f"error {error:.1e}", file=sys.stderr, flush=True)
    yield {
        **row,
        "error": float(f"{error:.1e}"),
        "planned, KiB": call.planned >> 10,
        "weights, KiB": net.library.constants_size >> 10,
        "library, KiB": size >> 10,
        "python, s": round(python, 2),
        **{f"{tool}, s": round(seconds, 2) for tool, seconds in spent.items()},
    }


def made(net: Compiled, settings: Settings) -> tuple[dict[str, Caller], int]:
    """Compile and load a network; return its function by level, and the bytes of its library."""
    blas = None if settings.blas is None else "openblas-always"
    module = prepared(net.module.clone(), settings.machine, blas)
    request = Request("library", net.name, f"lib{net.name}.so")
    compiled = partial(compile_module, module, settings)
    product = make_product(compiled, net.library, net.weights.array, request, settings)
    with TemporaryDirectory() as folder:
        path = Path(folder) / request.file
        path.write_bytes(product.contents)
        inputs = list(net.feeds.values())
        callers = by_level(
            path, settings.machine.cpu or "", lambda path: Caller(path, net.library, inputs)
        )
        return callers, len(product.contents)


# ------------------------------------------------------------------------- kernels


def breakdown(name: str, settings: Settings, rounds: int) -> Iterator[Facts]:
    """Measure each kernel of a network alone, on random numbers, with its number of calls."""
    units = units_of(prepared(lowered(name).module, settings.machine), settings)
    calls: defaultdict[str, int] = defaultdict(int)
    for op in units.program.walk():
        if isinstance(op, func.CallOp):
            calls[op.callee.string_value()] += 1
    kernels = list({kernel.symbol: kernel for kernel in units.kernels}.values())
    code = loaded(kernels, settings)
    times = [best_of(bound(kernel, code), rounds) for kernel in kernels]
    totals = [calls[k.symbol] * seconds for k, seconds in zip(kernels, times, strict=True)]
    pairs = zip(kernels, totals, strict=True)
    for kernel, seconds in sorted(pairs, key=lambda pair: -pair[1]):
        shapes = ["x".join(map(str, type.get_shape())) or "scalar" for type in memrefs_of(kernel)]
        yield {
            "network": name,
            "kernel": kernel.name.removeprefix("fused_"),
            "calls": calls[kernel.symbol],
            "ms": round(1000 * seconds, 3),
            "share": round(seconds / sum(totals), 3),
            "shapes": " ".join(shapes),
        }


def memrefs_of(kernel: Kernel) -> list[MemRefType[Attribute]]:
    inputs = kernel.function.function_type.inputs
    return [cast("MemRefType[Attribute]", type) for type in inputs]


def loaded(kernels: Sequence[Kernel], settings: Settings) -> ctypes.CDLL:
    """Compile and load kernels, which allocate memory as any C program does."""
    inputs = Inputs(compile_kernels(kernels, settings), STANDALONE, blas=settings.blas)
    contents = linked_library(inputs, settings, "libkernels.so")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "libkernels.so"
        path.write_bytes(contents)
        return ctypes.CDLL(str(path))


def bound(kernel: Kernel, code: ctypes.CDLL) -> Callable[[], object]:
    """Return a call of a kernel; a memref is passed as pointers, offset, sizes and strides."""
    given: list[Any] = []
    arrays: list[Array] = []
    for type in memrefs_of(kernel):
        dtype = np.dtype(word_of(str(type.element_type)))
        array = aligned(type.get_shape(), dtype)
        array[...] = RNG.random(array.shape) if dtype.kind == "f" else 1
        arrays.append(array)
        pointer = ctypes.c_void_p(array.ctypes.data)
        strides = [stride // array.itemsize for stride in array.strides]
        given += [pointer, pointer, *map(ctypes.c_int64, (0, *array.shape, *strides))]
    function = code[kernel.symbol]
    function.restype = None
    return lambda _=arrays: function(*given)


def word_of(element: str) -> str:
    """Return NumPy's name of an element type, such as f32."""
    return {"f": "float", "i": "int"}[element[0]] + element[1:]


def best_of(call: Callable[[], object], rounds: int) -> float:
    """Return the least CPU seconds of a call, each the mean of as many as take 2 ms."""
    call()
    return min(seconds_per_call(call, 0.002) for _ in range(rounds))


def main() -> None:
    names = (*LIGHT_MODELS, TRANSFORMER)
    parser = parser_of("Compiled networks against onnxruntime.", 8, names)
    parser.add_argument("--blas", action="store_true", help="also with OpenBLAS")
    parser.add_argument("--cpu", help="default: levels; native with --kernels")
    parser.add_argument("--cache", help="a folder that keeps kernels; by default none")
    parser.add_argument("--kernels", action="store_true", help="the time by kernel")
    options = parser.parse_args()
    run = breakdown if options.kernels else measure
    with TemporaryDirectory() as folder:
        machine = Machine(cpu=options.cpu or ("native" if options.kernels else "levels"))
        settings = Settings(
            machine=machine,
            blas=openblas(is_host=True, compiler=None) if options.blas else None,
            cache=Cache(Path(options.cache or folder)),
            remark=lambda op, message: print(message, file=sys.stderr),
        )
        results = [facts for name in options.only for facts in run(name, settings, options.rounds)]
    write_results(results, options.table, cpu=machine.cpu, numpy=np.__version__)


if __name__ == "__main__":
    main()
