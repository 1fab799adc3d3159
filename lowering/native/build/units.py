"""
Divide a module at level `memref` into its kernels and the program that calls them.

    func.func @main(…) { func.call @add(%x, %t) … }      @main calls @xk_3f…
    func.func private @add(…) {xrelay.kernel} { … }   ->  and a kernel of its own: @xk_3f…

The name of a kernel is a hash of all that its code depends on: its text, its schedule, the
processor, the level and the tools. So equal kernels of any two programs have the same name, and the
linker, which keeps one of all functions of a name, may keep any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

from typing_extensions import override
from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer

from ....passes.functions.call_graph import symbols_in
from ..kernel_pass import is_kernel
from ..schedules import steps_of
from ..schedules.scheduling import SCHEDULED, Schedule
from ..toolchain.stages import KERNELS, tools_key
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
    schedule: Schedule | None = None
    globals: tuple[memref.GlobalOp, ...] = ()
    """The constants that it reads."""
    declarations: tuple[func.FuncOp, ...] = ()
    """The functions that it calls."""


@dataclass(frozen=True)
class Units:
    """The parts of a module that are compiled by themselves."""

    kernels: tuple[Kernel, ...]
    """In the order of the module; several may have the same symbol."""
    program: ModuleOp


def units_of(module: ModuleOp, settings: Settings = DEFAULT) -> Units:
    """Divide `module`, which stays as it is, and whose kernels the pipeline `kernels` prepared."""
    constants = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, memref.GlobalOp) and not isinstance(op.initial_value, UnitAttr)
    }
    kernels = tuple(
        _kernel(op, constants, settings)
        for op in module.ops
        if isinstance(op, func.FuncOp) and is_kernel(op)
    )
    symbols = {kernel.name: kernel.symbol for kernel in kernels}
    return Units(kernels, _program(module, symbols))


def _kernel(op: func.FuncOp, constants: dict[str, memref.GlobalOp], settings: Settings) -> Kernel:
    named = dict.fromkeys(name for inner in op.walk() for name in symbols_in(inner))
    function = op.clone()
    function.properties["sym_name"] = StringAttr("kernel")
    function.properties.pop("sym_visibility", None)
    function.attributes["llvm.linkage"] = llvm.LinkageAttr("weak_odr")
    globals = tuple(constants[name] for name in named if name in constants)
    text = "".join(map(_hashed_text, (function, *globals)))
    schedule = steps_of(function)
    passes = KERNELS if schedule is None else (*SCHEDULED, schedule.key)
    how = [tools_key(), settings.machine.key, str(settings.level)]
    symbol = PREFIX + key_of("kernel", text, *how, *passes)[:32]
    function.properties["sym_name"] = StringAttr(symbol)
    function.attributes[NAME] = op.sym_name
    calls = tuple(_declarations(function))
    return Kernel(op.sym_name.data, symbol, function, schedule, globals, calls)


def _declarations(function: func.FuncOp) -> Iterator[func.FuncOp]:
    for op in function.walk():
        if isinstance(op, func.CallOp):
            inputs, outputs = ([value.type for value in row] for row in (op.operands, op.results))
            yield func.FuncOp.external(op.callee.string_value(), inputs, outputs)


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


def _program(module: ModuleOp, symbols: dict[str, str]) -> ModuleOp:
    """Return `module` with kernels only declared, by their symbols."""
    program = ModuleOp([], dict(module.attributes))
    declared: set[str] = set()
    for op in module.ops:
        if not (isinstance(op, func.FuncOp) and is_kernel(op)):
            program.body.block.add_op(op.clone())
            continue
        symbol = symbols[op.sym_name.data]
        if symbol not in declared:
            declared.add(symbol)
            type = op.function_type
            external = func.FuncOp.external(symbol, list(type.inputs), list(type.outputs))
            program.body.block.add_op(external)
    for call in program.walk():
        if isinstance(call, func.CallOp) and call.callee.string_value() in symbols:
            name = symbols[call.callee.string_value()]
            call.properties["callee"] = SymbolRefAttr(name)
    return program
