"""
Programs as Python callables.

    exe = Executable(program, weights)
    y = exe(x)                       its only function, or `main`
    a, b = exe["f"](x, mask=m)       any function, by position or name
    exe.step(x, out=y)               into memory of the caller

Errors are `MachineError`s whose text is what the commands print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, cast, overload

import numpy as np

from ..errors import MachineError, Sources, render, with_cause
from ..files import streams_kept
from ..machine.machine import Machine
from ..plain_text import Text
from ..program.planned_memory import PlannedMemory, storages_of
from ..program.program import Array, Function, Program
from .python_arguments import converted, in_order
from .saving import load, save

OVERLAP_WORK = 10_000
"""Candidates that NumPy tries before two arrays count as overlapping."""


def _overlap(a: Array, b: Array) -> bool:
    """Test whether the arrays have bytes in common; in doubt, they do."""
    overlap: Any = np.shares_memory
    try:
        return overlap(a, b, max_work=OVERLAP_WORK)
    except np.exceptions.TooHardError:
        return True


def require_disjoint(out: object) -> None:
    """Raise `MachineError` if two elements of the arrays in `out` have bytes in common."""
    if type(out) is np.ndarray and 0 not in out.strides:
        return
    arrays: list[Array] = []
    pending = [out]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple | list):
            pending.extend(cast("Sequence[object]", item))
        elif isinstance(item, np.ndarray):
            arrays.append(cast(Array, item))
    for i, array in enumerate(arrays):
        if any(n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True)):
            raise MachineError("out has an array whose elements overlap")
        if any(_overlap(array, other) for other in arrays[:i]):
            raise MachineError("out has arrays that overlap")


if TYPE_CHECKING:
    from ..native.compiled_kernels import NativeLibrary
    from ..observe.profiler import Profile
    from .call_signature import Signature, Value
    from .memory_summary import MemoryUse, Pictures

MAIN = "main"

_Out = TypeVar("_Out")
"""Memory for results, which is what is returned then; else type checkers see `Array | Any`."""


class NoFunction(MachineError, KeyError):
    """A function that the program does not have."""


class Evaluates(Protocol):
    """The runner of functions: the machine, or machine code."""

    @property
    def program(self) -> Program:
        """The types of the functions."""
        ...

    def evaluate(self, name: str, /, *args: object, out: Any = None) -> Any:
        """Call the function `name`, and return its result, or write it to `out`."""
        ...


class CompiledFunction:
    """
    A function of an executable; several threads may call it at the same time.

    Arguments are given by position or name: NumPy arrays, anything with `__dlpack__`, Python's
    numbers for scalars, tuples, and `Tagged` data. Element types and shapes must be those of the
    signature. The result is an array, a tuple or `Tagged` data of its own memory, or written to the
    array, or tuple of arrays, `out`, which is then returned.

    Raises `MachineError` for arguments that do not fit, naming the parameter, and for faults of the
    program, at their place in its source.
    """

    def __init__(
        self,
        machine: Evaluates,
        function: Function,
        sources: Sources,
        bound: Mapping[str, Array] | None = None,
    ) -> None:
        bound = bound or {}
        self._machine = machine
        self._bound = [(i, bound[p.name]) for i, p in enumerate(function.params) if p.name in bound]
        params = tuple(param for param in function.params if param.name not in bound)
        self._function = replace(function, params=params) if self._bound else function
        self._sources = sources
        self._count = len(params)
        self.name = function.name

    @overload
    def __call__(self, *args: object, out: None = None, **named: object) -> Array | Any: ...

    @overload
    def __call__(self, *args: object, out: _Out, **named: object) -> _Out: ...

    def __call__(self, *args: object, out: Any = None, **named: object) -> Any:
        """Call the function."""
        try:
            if named or len(args) != self._count:
                args = in_order(self._function, args, named)
            for arg in args:
                if type(arg) is not np.ndarray:
                    args = converted(self._function, args)
                    break
            if self._bound:
                args = self._with_bound(args)
            if out is None:
                return self._machine.evaluate(self.name, *args)
            require_disjoint(out)
            return self._machine.evaluate(self.name, *args, out=out)
        except MachineError as error:
            fail(error, self._sources)

    def _with_bound(self, args: Sequence[object]) -> tuple[object, ...]:
        every = list(args)
        for i, value in self._bound:
            every.insert(i, value)
        return tuple(every)

    @cached_property
    def signature(self) -> Signature:
        """Names, types, dims and devices of parameters and results."""
        from .call_signature import signature_of  # on demand, as those below: fast start-up

        return signature_of(self._function, self._machine.program)

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The parameters: their names, element types, shapes with names of dims, and devices."""
        return self.signature.params

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The results, as `inputs`; none if the program does not record them."""
        return self.signature.results or ()

    def __repr__(self) -> str:
        return f"<function {self.signature}>"


class Callables:
    """
    The functions of a program, by name.

    Its call is that of its function `main`, or of its only one. A function is an attribute of its
    name, unless that is taken, and an item; `functions` are all by name.
    """

    def __init__(
        self,
        machine: Evaluates,
        functions: Iterable[Function],
        sources: Sources,
        bound: Mapping[str, Array] | None = None,
        pictures: Callable[[], Pictures] | None = None,
    ) -> None:
        bound = bound or {}
        self._pictures = pictures
        self.functions: Mapping[str, CompiledFunction] = MappingProxyType(
            {
                f.name: CompiledFunction(machine, f, sources, bound if f.name == MAIN else None)
                for f in functions
            }
        )
        """The functions that can be called, by name."""
        self.__dict__ |= {n: f for n, f in self.functions.items() if not hasattr(type(self), n)}
        only = next(iter(self.functions.values())) if len(self.functions) == 1 else None
        self._main = self.functions.get(MAIN, only)

    @overload
    def __call__(self, *args: object, out: None = None, **named: object) -> Array | Any: ...

    @overload
    def __call__(self, *args: object, out: _Out, **named: object) -> _Out: ...

    def __call__(self, *args: object, out: Any = None, **named: object) -> Any:
        """Call the function `main`, or the only one; see `CompiledFunction`."""
        return (self._main or self._required)(*args, out=out, **named)

    @property
    def _required(self) -> CompiledFunction:
        if self._main is None:
            raise MachineError(f"the program has no function main; {self._defined()}")
        return self._main

    def __getitem__(self, name: str) -> CompiledFunction:
        function = self.functions.get(name)
        if function is None:
            raise NoFunction(f"the program has no function {name}; {self._defined()}")
        return function

    def __getattr__(self, name: str) -> CompiledFunction:
        text = f"the executable has no attribute or function '{name}'"
        raise AttributeError(f"{text}; {self._defined()}", name=name, obj=self)

    def _defined(self) -> str:
        return f"its functions are: {', '.join(self.__dict__.get('functions', ())) or 'none'}"

    @property
    def signature(self) -> str:
        """The signatures of all functions, one a line."""
        return Text("\n".join(str(function.signature) for function in self.functions.values()))

    @property
    def inputs(self) -> tuple[Value, ...]:
        """The parameters of `main`, or of the only function; see `CompiledFunction.inputs`."""
        return self._required.inputs

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The results of `main`, or of the only function."""
        return self._required.outputs

    def plan_html(self, dims: Mapping[str, int] | None = None) -> str:
        """
        Return a page about the memory plan, as `xrelay-opt -t memory-plan-html` writes it.

        It begins with the values `dims` of open dims. Raises `MachineError` for a program that was
        loaded: a file has the figures of its plan alone.
        """
        if self._pictures is None:
            raise MachineError(
                "the file of a program has the figures of its plan, which .memory shows, but no "
                "picture: xrelay.compile(model).plan_html() has one"
            )
        return self._pictures().html(dims or {})

    def __repr__(self) -> str:
        return f"<executable {'; '.join(str(f.signature) for f in self.functions.values())}>"


class Executable(Callables):
    """
    A compiled program that can be called.

    `weights` are the values of its late-bound constants; they are not copied and must not change.
    `bound` are values of parameters of its function `main`, whose calls do not give them.
    `plans` are the memory planned for its functions, and `pictures` draw it, if that is known.
    `sources` are the lines of the files that it was compiled from, which errors quote.
    `memory_limit` (bytes; default: half of the available memory) bounds everything that it holds,
    and `max_instructions` each call. With `sanitize`, wrong uses of memory by the compiler or
    kernels are errors; calls take several times as long. The compiled kernels of `native` run in
    place of NumPy's.

    It can be pickled, without the compiled kernels and pictures; a copy shares everything that does
    not change.

    The call of an executable is that of its function `main`, or of its only one. A function is an
    attribute of its name, unless that is taken, and an item; `functions` are all by name. Raises
    `MachineError` if the program is not well-formed or a weight is missing.
    """

    def __init__(
        self,
        program: Program,
        weights: Mapping[str, Array] | None = None,
        *,
        plans: Iterable[PlannedMemory] = (),
        sources: Sources | None = None,
        memory_limit: int | None = None,
        max_instructions: int | None = None,
        sanitize: bool = False,
        native: NativeLibrary | None = None,
        bound: Mapping[str, Array] | None = None,
        pictures: Callable[[], Pictures] | None = None,
    ) -> None:
        self.program = program
        """The program as plain data."""
        self._sources = sources or {}
        self._weights = dict(weights or {})
        self._plans = tuple(plans)
        limits: dict[str, Any] = {
            "memory_limit": memory_limit,
            "max_instructions": max_instructions,
            "sanitize": sanitize,
        }
        self._options = {"plans": self._plans, "sources": self._sources, "bound": bound, **limits}
        self._native = native
        try:
            self._machine = Machine(program, self._weights, native=native, **limits)
        except MachineError as error:
            fail(error, self._sources)
        super().__init__(self._machine, program.entries, self._sources, bound, pictures)

    def __deepcopy__(self, memo: object) -> Executable:
        own: dict[str, Any] = {"native": self._native, "pictures": self._pictures}
        return Executable(self.program, self._weights, **self._options, **own)

    def __reduce__(self) -> tuple[Callable[..., Executable], tuple[object, ...]]:
        from ..executable import executable_of
        from ..executable.executable_files import pieces_of

        file = b"".join(pieces_of(executable_of(self.program)))
        return _restored, (file, self._weights, self._options)

    @property
    def memory(self) -> MemoryUse:
        """The memory that functions plan, and that calls have used so far."""
        from .memory_summary import memory_use

        memory, counters = self._machine.memory, self._machine.counters
        plans = self._plans or tuple(storages_of(self.program))
        entries = list(self.functions)
        use = memory.used, memory.limit
        return memory_use(self.program, entries, plans, counters, *use, self._pictures)

    @property
    def listing(self) -> str:
        """The instructions of all functions and the steps of all kernels, as text."""
        from ..program.listing import listing

        return Text(listing(self.program))

    def profile(self) -> AbstractContextManager[Profile]:
        """
        Measure the calls that begin within the context, in any thread.

            with exe.profile() as profile:
                exe(x)
            print(profile)                      tables by operator and by source line
            profile.save_trace("trace.json")    for ui.perfetto.dev

        The first of them prepares its memory anew. Raises `MachineError` if another profile is
        active.
        """
        return self._machine.profile()

    def save(
        self, path: str | PathLike[str], *, embed: bool = False, overwrite: bool = False
    ) -> None:
        """
        Write the program to a file that `load` reads, `model.xrx`; its extension must be that.

        Its weights are written to `model.safetensors` beside it; with `embed`, they are part of
        the file. Both are replaced as a whole if they exist and are an earlier version: a file of
        another kind, or weights of another program, only with `overwrite`. Raises `MachineError`.
        """
        try:
            save(self.program, self._weights, self._plans, path, embed, overwrite)
        except MachineError as error:
            fail(error, {})


def _restored(file: bytes, weights: Mapping[str, Array], options: Mapping[str, Any]) -> Executable:
    """Return the executable that was pickled."""
    from ..executable import read_executable

    return Executable(read_executable(file).program, weights, **options)


def load_executable(
    path: str | PathLike[str],
    params: str | PathLike[str] | Mapping[str, Array] | None = None,
    *,
    verify: bool = False,
    **limits: Any,
) -> Executable:
    """
    Load the program that was saved at `path`, with its weights, for an `Executable` of `limits`.

    `params` are the weights by name, or their file, by default the one beside it that the program
    names. The files are mapped into memory and must not be changed while the program is used. Small
    weights and samples of large ones are compared with checksums; all bytes with `verify`. Raises
    `MachineError`, and its subclass `ExecutableError` for files that cannot be used.
    """
    try:
        with streams_kept():
            file, weights, bound = load(path, params, verify)
        return Executable(file.program, weights, bound=bound, plans=file.memory, **limits)
    except MachineError as error:
        fail(error, {})


def fail(error: MachineError, sources: Sources) -> NoReturn:
    """
    Raise `error` again, with the text that the commands print, and without our own frames.

    It is the error of the system that caused it, too.
    """
    error.diagnostic = render(error, sources)
    raise with_cause(error).with_traceback(None) from None
