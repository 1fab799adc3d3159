"""
Compile neural networks, and run them.

    import xrelay

    exe = xrelay.compile("model.onnx", dims={"batch": 1})
    y = exe(x)
    exe.save("model.xrx")

    exe = xrelay.load("model.xrx")    # elsewhere: needs NumPy, not the compiler

    xrelay.compile("model.onnx", target="native").save("libmodel.so")

Importing the package imports neither NumPy nor the compiler; each function imports what it needs.
"""

from __future__ import annotations

from .tools import quiet_start as quiet_start

# isort: split

from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, overload

from .runtime.errors import Error, Location, MachineError, Note

if TYPE_CHECKING:
    from onnx import ModelProto
    from xdsl.dialects.builtin import ModuleOp

    from .runtime.calls.values import Tagged
    from .runtime.executable import ExecutableError
    from .runtime.native.native_executable import NativeExecutable
    from .runtime.program.program import Array
    from .runtime.python.call_signature import Signature, Value
    from .runtime.python.callables import CompiledFunction, Executable
    from .runtime.python.memory_summary import MemoryUse
    from .tools.api.shared_options import SharedOptions
    from .tools.opt.summary import Summary
    from .tools.registry import PassInfo

    __version__: str

__all__ = [
    "CompiledFunction",
    "Error",
    "Executable",
    "ExecutableError",
    "Location",
    "MachineError",
    "MemoryUse",
    "NativeExecutable",
    "Note",
    "PassInfo",
    "Signature",
    "Summary",
    "Tagged",
    "Value",
    "__version__",
    "compile",
    "list_passes",
    "load",
    "lower",
    "parse",
    "run_pipeline",
    "summary",
]

_Path: TypeAlias = str | PathLike[str]
_Shapes: TypeAlias = Mapping[str, Sequence[int | None]]
_Params: TypeAlias = "_Path | Mapping[str, Array]"
_Inputs: TypeAlias = "Mapping[str, float | Sequence[Any] | Array]"

if TYPE_CHECKING:

    class _Options(SharedOptions, total=False):
        """The options of `compile` for every target."""

        shapes: _Shapes | None
        dims: Mapping[str, int] | None
        inputs: _Inputs | None
        pipeline: str | None
        params: _Params | None
        frontend: str | None


_ELSEWHERE = {
    "CompiledFunction": "runtime.python.callables",
    "Executable": "runtime.python.callables",
    "ExecutableError": "runtime.executable",
    "MemoryUse": "runtime.python.memory_summary",
    "NativeExecutable": "runtime.native.native_executable",
    "PassInfo": "tools.registry",
    "Signature": "runtime.python.call_signature",
    "Summary": "tools.opt.summary",
    "Tagged": "runtime.calls.values",
    "Value": "runtime.python.call_signature",
}
"""Names of this package that are defined in a module that is imported when they are used."""


@overload
def compile(
    model: _Path | ModuleOp | ModelProto,
    *,
    target: Literal["machine"] = "machine",
    memory_limit: int | None = None,
    max_instructions: int | None = None,
    sanitize: bool = False,
    kernels: Literal["numpy", "native"] = "numpy",
    **options: Unpack[_Options],
) -> Executable: ...


@overload
def compile(
    model: _Path | ModuleOp | ModelProto,
    *,
    target: Literal["native"],
    threads: int | None = None,
    **options: Unpack[_Options],
) -> NativeExecutable: ...


@overload
def compile(
    model: _Path | ModuleOp | ModelProto,
    *,
    target: str,
    threads: int | None = None,
    **options: Unpack[_Options],
) -> Executable | NativeExecutable: ...


def compile(
    model: _Path | ModuleOp | ModelProto,
    *,
    target: str = "machine",
    shapes: _Shapes | None = None,
    dims: Mapping[str, int] | None = None,
    inputs: _Inputs | None = None,
    pipeline: str | None = None,
    params: _Params | None = None,
    frontend: str | None = None,
    memory_limit: int | None = None,
    max_instructions: int | None = None,
    sanitize: bool = False,
    kernels: Literal["numpy", "native"] = "numpy",
    threads: int | None = None,
    **options: Unpack[SharedOptions],
) -> Executable | NativeExecutable:
    """
    Compile a program.

    With the target `machine`, it runs in this library's own machine, and is saved as `.xrx`. With
    `native`, it is machine code, which is saved as `.so`, `.o` or a C header; the target has the
    options of `xrelay-opt -t native`, as `native{cpu=native}`. Needs `xrelay[native]` and a C
    compiler. `threads` are those of `load`.

    `model` is a file (`.onnx`, `.relay`, `.mlir` of any level, `.json` as TVM saves it; `frontend`
    names the format of a file with another extension), an `onnx.ModelProto`, or a module, which is
    not changed. `pipeline` is `vm` by default, or `aot` for `native`, and must lead to that target.

    `shapes` and `dims` give sizes to open dims of the inputs: `shapes` by input, with None for a
    dim that stays open; `dims` by the name of the dim, or `INPUT:AXIS`. A dim without a size has
    that of the arguments of each call. `inputs` are values of inputs, which are constants then, not
    parameters: numbers (of all elements), lists or arrays.

    `params` are values for weights by name, or a `.safetensors` file of them; weights that come
    with the model need not be given. Parameters of `main` that they name become weights, too: calls
    do not give them. A name that fits nothing is an error, unless the program lacks weights, whose
    file may have more. `memory_limit` (bytes; default: half of the available memory)
    and `max_instructions` bound each call. With `sanitize`, for debugging, wrong uses of memory by
    the compiler or kernels are errors.

    With `kernels` of `native`, LLVM compiles the kernels that it can, and NumPy computes the rest;
    they are kept in the user's cache. Needs `xrelay[native]` and a C compiler. A saved program
    does not have them.

    Other `options`, as of the commands: `from_level`, the level of the program, and `to_level`, the
    last one, omit the passes of the pipeline before and after it (the result must be bytecode);
    `allow_unregistered_dialect` accepts ops that no dialect defines.

    Raises `Error` for a mistake in the program, at its place, and for weights without a value.
    """
    return _compiler().compile_model(
        *(model, pipeline, params, frontend, shapes, dims, inputs, options),
        target=target,
        memory_limit=memory_limit,
        max_instructions=max_instructions,
        sanitize=sanitize,
        kernels=kernels,
        threads=threads,
    )


def load(
    path: _Path,
    *,
    params: _Params | None = None,
    verify: bool = False,
    memory_limit: int | None = None,
    max_instructions: int | None = None,
    sanitize: bool = False,
    threads: int | None = None,
) -> Executable | NativeExecutable:
    """
    Load a program that `Executable.save` or `xrelay-opt -t native` wrote, without the compiler.

    `params` are values for its weights by name, or their `.safetensors` file; by default the file
    beside it that the program names. Parameters of `main` that they name are bound, as by
    `compile`. The files are mapped into memory, and must not be changed
    while the program is used; pipes and devices are read, up to 1 GiB. They are not trusted: a
    damaged or hostile one is an error. Small weights and samples of large ones are compared with
    checksums; with `verify`, all bytes are.

    A shared library of `xrelay-opt -t native` has the same interface. Its weights are its own, and
    the other options do not apply, but for `threads`, which compute large kernels (default: those
    of XRELAY_NUM_THREADS, or all processors that the process may use). To load it runs its code: it
    must be trusted.

    Raises `ExecutableError` for a file that is damaged or not an executable, and weights that are
    not those that the program was compiled with; `MachineError` for files that cannot be read.
    """
    from .runtime.files import is_library

    if is_library(path):
        from .runtime.native.native_executable import load_library

        options = (params, memory_limit, max_instructions)
        has_options = any(o is not None for o in options) or verify or sanitize
        return load_library(path, has_options, threads)
    if threads is not None:
        raise MachineError(f"threads are for machine code, but {path} is not a library")
    from .runtime.python.callables import load_executable

    return load_executable(
        path,
        params,
        verify=verify,
        memory_limit=memory_limit,
        max_instructions=max_instructions,
        sanitize=sanitize,
    )


def parse(
    model: _Path | ModelProto,
    *,
    shapes: _Shapes | None = None,
    dims: Mapping[str, int] | None = None,
    inputs: _Inputs | None = None,
    frontend: str | None = None,
) -> ModuleOp:
    """
    Read a program into a module of its level; the arguments are those of `compile`.

    The weights of a module that comes with some are known to `compile`, but not part of the module:
    a clone has none. Raises `Error` for a mistake in the program.
    """
    return _compiler().parse(model, frontend, shapes, dims, inputs)


def run_pipeline(module: ModuleOp, pipeline: str, **options: Unpack[SharedOptions]) -> ModuleOp:
    """
    Run passes on a module, in place, and return it.

    `pipeline` is text as after `xrelay-opt -p`: names of passes and pipelines, with options in
    braces, separated by commas. The module is verified after each. `from_level` and `to_level`, as
    "planned", omit the passes before the one and after the other. Raises `Error` for a wrong
    pipeline, and for a mistake in the program; then the module is as the failing pass left it.
    """
    return _compiler().run_pipeline(module, pipeline, options)


def lower(
    model: _Path | ModuleOp | ModelProto,
    target: str,
    *,
    shapes: _Shapes | None = None,
    dims: Mapping[str, int] | None = None,
    inputs: _Inputs | None = None,
    pipeline: str | None = None,
    params: _Params | None = None,
    frontend: str | None = None,
    **options: Unpack[SharedOptions],
) -> str:
    """
    Return a program as text for a target: `linalg`, for other compilers, or any other that is text.

    Targets are those of `xrelay-opt -t`, with options in braces, as `linalg{weights=arguments}`;
    `mlir` is the module after `pipeline`. Other arguments are those of `compile`. Raises `Error`.
    """
    return _compiler().lower_model(
        *(model, pipeline, params, frontend, shapes, dims, inputs, options), target=target
    )


def summary(
    model: _Path | ModuleOp | ModelProto,
    *,
    shapes: _Shapes | None = None,
    dims: Mapping[str, int] | None = None,
    inputs: _Inputs | None = None,
    frontend: str | None = None,
) -> Summary:
    """
    Return what a program takes, returns and is made of; it prints as `xrelay-opt --summary` does.

    The `error` of an ONNX model that cannot be converted lists all that is not supported.
    """
    return _compiler().summary_of_program(model, frontend, shapes, dims, inputs)


def list_passes() -> list[PassInfo]:
    """Return the name, description and options of each pipeline and pass, also of plug-ins."""
    return _compiler().list_passes()


def _compiler():
    """Import the compiler: a hundred thousand objects, which all stay."""
    from .tools.commands import collected_rarely
    from .tools.errors import require_compiler

    require_compiler("xrelay.load runs compiled programs")
    with collected_rarely():
        from .tools.api import front_door
    return front_door


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    module = _ELSEWHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'xrelay' has no attribute '{name}'", name=name)
    return getattr(import_module(f".{module}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


for _error in (Error, MachineError, Location, Note):
    _error.__module__ = __name__  # the name that tracebacks show
