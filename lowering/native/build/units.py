"""
Divide a module at level `memref` into its kernels and the program that calls them.

    func.func @main(…) { func.call @add(%x, %t) … }      @main calls @xk_3f…
    func.func private @add(…) {xrelay.kernel} { … }   ->  and a kernel of its own: @xk_3f…

The name of a kernel is a hash of all that its code depends on: its text, its schedule, the
processor, the level and the tools. So equal kernels of any two programs have the same name, and the
linker, which keeps one of all functions of a name, may keep any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import cast

from typing_extensions import override
from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ModuleOp,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ....passes.functions.symbols import symbols_in
from ...entries.descriptions import METADATA
from ..kernel_pass import COPIES, CPU, is_kernel, kernels_of
from ..kernels.divide_between_threads import WORK
from ..schedules import prefetches, steps_of
from ..schedules.scheduling import SCHEDULED, Schedule
from ..schedules.tiles import vectors_of
from ..toolchain.stages import KERNELS, Tuning, tools_key
from ..toolchain.target_machine import Machine
from .settings import Settings, key_of

PREFIX = "xk_"

NAME = "xrelay.name"
"""The name of a kernel in its program, for who reads its module."""

DEFAULT = Settings()


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name in the module, its symbol in objects, its code, and its schedule."""

    name: str
    symbol: str
    function: func.FuncOp
    """Named by `symbol`, in no module."""
    machine: Machine = field(default_factory=Machine)
    schedule: Schedule | None = None
    tuning: Tuning = field(default_factory=Tuning)
    used: tuple[memref.GlobalOp | func.FuncOp, ...] = ()
    """The constants that it reads, and declarations of the functions that it calls."""

    @property
    def calls_library(self) -> bool:
        """True if it calls a library, without which it cannot be linked."""
        functions = (op.sym_name.data for op in self.used if isinstance(op, func.FuncOp))
        return any(name != WORK for name in functions)


@dataclass(frozen=True)
class Units:
    """The parts of a module that are compiled by themselves."""

    kernels: tuple[Kernel, ...]
    """In the order of the module; several may have the same symbol."""
    choices: Mapping[str, Sequence[str]]
    """Symbols that the program calls: the symbols of the copies that each chooses from."""
    program: ModuleOp


def units_of(module: ModuleOp, settings: Settings = DEFAULT) -> Units:
    """Divide `module`, which stays as it is, and whose kernels the pipeline `kernels` prepared."""
    symbols = {
        op.sym_name.data: op
        for op in module.ops
        if (isinstance(op, memref.GlobalOp) and not isinstance(op.initial_value, UnitAttr))
        or (isinstance(op, func.FuncOp) and op.is_declaration)
    }
    kernels = tuple(_kernel(op, symbols, settings) for op in kernels_of(module))
    by_name = {kernel.name: kernel for kernel in kernels}
    called = {name: kernel.symbol for name, kernel in by_name.items()}
    choices: dict[str, Sequence[str]] = {}
    for kernel in kernels:
        if copies := _copies(kernel, by_name):
            called[kernel.name] = PREFIX + key_of("levels", *copies)[:32]
            choices[called[kernel.name]] = copies
    return Units(kernels, choices, _program(module, by_name, called))


def _copies(kernel: Kernel, by_name: Mapping[str, Kernel]) -> Sequence[str]:
    """Return the symbols of `kernel` and its copies for other processors, if it has any."""
    copies = kernel.function.attributes.get(COPIES)
    if not isinstance(copies, ArrayAttr):
        return ()
    refs = cast("ArrayAttr[Attribute]", copies)
    names = [ref.string_value() for ref in refs if isinstance(ref, SymbolRefAttr)]
    return [kernel.symbol, *(by_name[name].symbol for name in names)]


def _kernel(
    op: func.FuncOp, symbols: Mapping[str, memref.GlobalOp | func.FuncOp], settings: Settings
) -> Kernel:
    named = dict.fromkeys(name for inner in op.walk() for name in symbols_in(inner))
    function = op.clone()
    function.properties["sym_name"] = StringAttr("kernel")
    function.properties.pop("sym_visibility", None)
    cpu = function.attributes.get(CPU)
    machine = settings.machine
    if isinstance(cpu, StringAttr):
        machine = replace(machine, cpu=cpu.data)
    function.attributes["llvm.linkage"] = llvm.LinkageAttr("weak_odr")
    used = tuple(symbols[name] for name in named if name in symbols)
    hashed = function.clone()
    hashed.attributes.pop(COPIES, None)
    text = "".join(map(_hashed_text, (hashed, *used)))
    schedule = steps_of(function)
    passes = KERNELS if schedule is None else (*SCHEDULED, schedule.key)
    types = (type for type in op.function_type.inputs if isinstance(type, ShapedType))
    is_open = any(DYNAMIC_INDEX in type.get_shape() for type in types)
    tuning = Tuning(prefetches(function), is_open and vectors_of(machine).count > 16)
    how = [tools_key(), machine.key, str(settings.level), *tuning.options]
    symbol = PREFIX + key_of("kernel", text, *how, *passes)[:32]
    function.properties["sym_name"] = StringAttr(symbol)
    function.attributes[NAME] = op.sym_name
    return Kernel(op.sym_name.data, symbol, function, machine, schedule, tuning, used)


class _Nameless(Printer):
    """Prints numbers for the names of values, which do not change code."""

    def __init__(self, stream: StringIO) -> None:
        super().__init__(stream=stream)
        self.numbers: dict[SSAValue, int] = {}

    @override
    def print_ssa_value(self, value: SSAValue) -> str:
        name = str(self.numbers.setdefault(value, len(self.numbers)))
        self.print_string(f"%{name}")
        return name


def _hashed_text(op: Operation) -> str:
    """Return the text of `op` without what does not change its code."""
    text = StringIO()
    _Nameless(text).print_op(op)
    return text.getvalue()


def _program(
    module: ModuleOp, kernels: Mapping[str, Kernel], called: Mapping[str, str]
) -> ModuleOp:
    """Return `module` with kernels only declared, as they are `called`, and no interface."""
    types = {called[name]: kernel.function.function_type for name, kernel in kernels.items()}
    declared = [func.FuncOp.external(s, [*t.inputs], [*t.outputs]) for s, t in types.items()]
    others = (op.clone() for op in module.ops if not is_kernel(op))
    attributes = {name: a for name, a in module.attributes.items() if name != METADATA}
    program = ModuleOp([*declared, *others], attributes)
    for call in program.walk():
        if isinstance(call, func.CallOp) and call.callee.string_value() in kernels:
            call.properties["callee"] = SymbolRefAttr(called[call.callee.string_value()])
    return program
