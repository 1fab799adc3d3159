"""
The work of `xrelay.compile`, `xrelay.parse` and `xrelay.run_pipeline`.

A module that was parsed is accompanied by its `Origin` for as long as it lives: the text that
messages quote, and its weights.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast
from weakref import WeakKeyDictionary

from typing_extensions import override
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp

from ...passes.support.diagnostics import Message, Severity
from ...runtime.calls.input_bindings import InputBindings
from ...runtime.errors import Error, Location, Note
from ...runtime.files import streams_kept
from ...runtime.program.program import Array, Late, Program
from ...runtime.python.callables import Executable
from ...runtime.weights.derived_weights import weights_in
from ...runtime.weights.given_weights import bound_inputs
from ..errors import UsageError
from ..messages import Reporter, message_of
from ..pass_run.process import settings
from .bindings import Dims, Inputs, Shapes, checked_bindings
from .given_params import Params, bind_params
from .loaded import compile_program, native_kernels
from .session import Given, Session, is_bytecode
from .shared_options import FRONTENDS, SharedOptions, shared_options
from .source import Source, read_source, require_frontend

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass
class Origin:
    """The sources that a module was read from, by name, and its weights."""

    sources: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    weights: Mapping[str, Array] | Path | None = None


_ORIGINS: WeakKeyDictionary[ModuleOp, Origin] = WeakKeyDictionary()


class PythonReporter(Reporter):
    """Turns warnings into Python's; remarks are printed to stderr."""

    @override
    def report(self, message: Message, width: int = 1) -> None:
        if message.severity is Severity.WARNING:
            warnings.warn(self.render(message, width), stacklevel=2)
        else:
            super().report(message, width)


def _location(at: FileLineColLoc | None) -> Location | None:
    return None if at is None else Location(at.filename.data, at.line.data, at.column.data)


def as_error(error: BaseException, reporter: Reporter) -> Error | None:
    """Return `error` for callers in Python; None if it is an internal error."""
    if isinstance(error, Error):
        return error
    found = message_of(error)
    if found is None:
        return None
    message, width = found
    notes = (Note(note.message, _location(note.location)) for note in message.notes)
    made = Error(message.message, _location(message.location), notes)
    made.diagnostic = message.message
    if message.location is not None or message.notes:
        made.diagnostic = reporter.render(message, width)
    return made


@contextmanager
def _compiling(reporter: Reporter) -> Generator[None]:
    """Raise errors in the `with` block as `Error`s."""
    try:
        with settings(), streams_kept():
            yield
    except Exception as error:
        made = as_error(error, reporter)
        if made is None:
            raise
    else:
        return
    raise made.with_traceback(None) from None


def _is_onnx(model: object) -> TypeGuard[ModelProto]:
    """Test whether `model` is an `onnx.ModelProto`, without importing `onnx`."""
    onnx = sys.modules.get("onnx")
    return onnx is not None and isinstance(model, onnx.ModelProto)


def _source(model: object, frontend: str | None) -> Source:
    """Return the contents of the file `model`, or an `onnx.ModelProto` as it is."""
    if frontend is not None and frontend not in FRONTENDS:
        raise UsageError(
            f"unknown frontend {frontend!r}; the frontends are: {', '.join(FRONTENDS)}"
        )
    if isinstance(model, str | os.PathLike):
        source = read_source(os.fspath(cast(str, model)))
        if frontend is None:
            require_frontend(source, "frontend=")
        return source
    if _is_onnx(model):
        if frontend not in (None, "onnx"):
            raise UsageError(f"frontend={frontend!r} cannot read an ONNX model in memory")
        return Source("<model>", "onnx", model)
    raise UsageError(f"expected a file, a module or an ONNX model, but got {type(model).__name__}")


def _read(
    session: Session, model: object, frontend: str | None, bindings: InputBindings
) -> ModuleOp:
    """Read a module; its origin is known from then on."""
    read = session.read(_source(model, frontend), frontend, bindings)
    _ORIGINS[read.module] = Origin(session.reporter.sources, read.weights)
    return read.module


def parse(
    model: object,
    frontend: str | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    inputs: Inputs | None = None,
) -> ModuleOp:
    """Read a program into a module."""
    reporter = PythonReporter()
    with _compiling(reporter):
        bindings = checked_bindings(shapes, dims, inputs)
        return _read(Session(reporter), model, frontend, bindings)
    raise AssertionError("errors are raised")


def run_pipeline(module: ModuleOp, pipeline: str, options: SharedOptions) -> ModuleOp:
    """Run a pipeline on `module`, in place; return it."""
    _require("module", module, ModuleOp, "a ModuleOp")
    _require("pipeline", pipeline, str, "a str")
    reporter = _reporter_of(module)
    with _compiling(reporter):
        Session(reporter, shared_options(options)).run(module, pipeline)
    return module


def _reporter_of(module: ModuleOp) -> Reporter:
    origin = _ORIGINS.get(module)
    return PythonReporter(sources=dict(origin.sources) if origin is not None else {})


def _require(name: str, given: object, kind: type, what: str) -> None:
    """Raise `UsageError` unless the argument `name` is None or of this kind."""
    if given is not None and not isinstance(given, kind):
        raise UsageError(f"{name} must be {what}, but got {type(given).__name__} {given!r:.80}")


def compile_model(
    model: object,
    pipeline: str,
    params: Params | None,
    frontend: str | None,
    shapes: Shapes | None,
    dims: Dims | None,
    inputs: Inputs | None = None,
    kernels: str = "numpy",
    options: SharedOptions | None = None,
    **limits: Any,
) -> Executable:
    """Compile a program, and bind its weights."""
    reporter = _reporter_of(model) if isinstance(model, ModuleOp) else PythonReporter()
    with _compiling(reporter):
        _require("pipeline", pipeline, str, "a str")
        if kernels not in ("numpy", "native"):
            raise UsageError(f"kernels must be 'numpy' or 'native', but is {kernels!r:.80}")
        session = Session(reporter, shared_options(options or {}))
        bindings = checked_bindings(shapes, dims, inputs)
        if isinstance(model, ModuleOp):
            module, origin = model.clone(), _ORIGINS.get(model, Origin())
            session.bind(module, bindings)
        else:
            module = _read(session, model, frontend, bindings)
            origin = _ORIGINS[module]
        own, was_bytecode = origin.weights, is_bytecode(module)
        if params is not None and not was_bytecode:
            known = own if isinstance(own, Mapping) else ()
            bind_params(module, params, session.context, own=known)
        loaded = compile_program(
            session,
            Given(module),
            None if pipeline == "vm" else pipeline,
            reads_memory=not was_bytecode,
            keeps_kernels=kernels == "native",
        )
        if not is_bytecode(loaded.module):
            raise UsageError(
                f"the pipeline '{pipeline}' must end in bytecode; run_pipeline runs any passes"
            )
        program = loaded.program
        bound = bound_inputs(program, params) if was_bytecode and params is not None else {}
        weights = _weights(program, own, params)
        native = native_kernels(loaded, session.context, session.runner.progress)
        given = {"plans": loaded.plans, "sources": reporter.sources, "native": native}
        return Executable(program, weights, bound=bound, **given, **limits)
    raise AssertionError("errors are raised")


def _weights(
    program: Program, own: Mapping[str, Array] | Path | None, params: Params | None
) -> dict[str, Array]:
    """Return the values of late-bound constants: those of `params`, and `own` ones."""
    wanted = [late.name for late in program.late_constants]
    found: dict[str, Array] = {}
    for source in (own, params) if wanted else ():
        if source is not None and not (source is own and _is_missing(own)):
            found |= weights_in(source).arrays(wanted)
    missing = [late for late in program.late_constants if late.name not in found]
    if missing:
        raise UsageError(_missing(missing, own))
    return found


def _missing(missing: Sequence[Late], own: Mapping[str, Array] | Path | None) -> str:
    first, more = missing[0], f" and {len(missing) - 1} others" if len(missing) > 1 else ""
    where = f"; its weights file '{own}' has none" if isinstance(own, Path) else ""
    if _is_missing(own):
        where = f"; its weights file '{own}' does not exist"
    return f"no value for parameter '{first.name}' ({first.spec}){more}{where}; give params="


def _is_missing(weights: object) -> bool:
    return isinstance(weights, Path) and not weights.exists()
