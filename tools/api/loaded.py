"""A program after its pipeline, with what bytecode does not keep; and how it is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.builtin import TupleType as BuiltinTupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...dialects import relay
from ...dialects.device import device_of
from ...dialects.relay.language.adt import TypeDataOp
from ...dialects.relay.language.dims_attributes import result_names
from ...dialects.relay.language.language_types import AdtType, TypeVarType
from ...dialects.tensors import as_tensor
from ...dialects.xdsl_extras.walking import walk
from ...lowering.bytecode.assemble import assemble, machine_type, spec_of
from ...lowering.pipelines import quoted
from ...passes.memory_report.model import MemoryUse
from ...passes.memory_report.read import memory_of
from ...passes.memory_report.report import Amount, report_of
from ...passes.remove_unused_functions import is_public
from ...passes.sizes.result_dims import dims_of_results
from ...passes.support.diagnostics import PassError, ReportingContext, emit_remark
from ...passes.support.verifier import verify
from ...runtime.memory.limits import Memory
from ...runtime.program.data_types import (
    Constructor,
    DataType,
    DataTypes,
    Definition,
    OpaqueType,
    TensorType,
    TupleType,
    TypeParameter,
    ValueType,
)
from ...runtime.program.named_results import unique_names
from ...runtime.program.planned_memory import PlannedMemory
from ...runtime.program.program import Function, Late, Param, Program
from ...runtime.python.memory_summary import Pictures
from ..pass_run.pipeline_steps import report_index
from ..pass_run.runner import Runner
from ..progress import Progress, no_progress
from .session import Given, Session, is_bytecode

if TYPE_CHECKING:
    from ...runtime.native.compiled_kernels import NativeLibrary
    from ...runtime.program.program import Array


NO_PLAN = "the memory of a program is reported before it becomes bytecode"
NO_KERNELS = "kernels are compiled before they become bytecode: it is bytecode already"


@dataclass(frozen=True)
class Loaded:
    """
    A module after its pipeline, its weights, and the names and types of its functions' results.
    """

    module: ModuleOp
    weights: Mapping[str, Array] | Path | None
    names: Mapping[str, tuple[str | None, ...]]
    types: DataTypes
    results: Mapping[str, Sequence[tuple[Param, str | None]]]
    """
    Those of the functions that are called from outside, as they were before bytecode, each with its
    device.
    """
    params: Mapping[str, Sequence[int | None]]
    """The types of their parameters in `types`, of those that are tuples or data."""
    memory: MemoryUse | None = None
    """The memory that it uses, if that was read."""
    kernels: ModuleOp | None = None
    """Its kernels as they were before bytecode, if they were kept."""

    @property
    def program(self) -> Program:
        """The program for the machine; the module must be bytecode."""
        program = assemble(self.module)
        functions = (self._typed(f, program.devices) for f in program.functions)
        return replace(program, functions=tuple(functions), data=self.types)

    def _typed(self, function: Function, devices: Sequence[str]) -> Function:
        """Return `function` with the types of its parameters, and its results."""
        if function.name not in self.results:
            return function
        types = self.params[function.name]
        params = (replace(p, type=t) for p, t in zip(function.params, types, strict=True))
        results = self.results[function.name]
        names = self.output_names(function.name, len(results))
        named = (
            replace(result, name=name, device=devices.index(device) if device in devices else 0)
            for name, (result, device) in zip(names, results, strict=True)
        )
        return replace(function, params=tuple(params), results=tuple(named))

    @property
    def plans(self) -> tuple[PlannedMemory, ...]:
        """The memory planned for each function and device, if it was read."""
        reports = [] if self.memory is None else report_of(self.memory, {})
        return tuple(
            PlannedMemory(
                *(report.function.removeprefix("@"), report.device),
                *(report.tensors, report.allocations),
                *map(_amount, (report.sum, report.lower_bound, report.planned)),
            )
            for report in reports
        )

    def pictures(self, title: str) -> Callable[[], Pictures] | None:
        """Return a function that imports what draws the memory, if it was read."""
        memory = self.memory
        if memory is None:
            return None

        def found() -> Pictures:
            from ..plan_pictures.page import PlanPictures

            return PlanPictures(memory, title)

        return found

    def output_names(self, function: str, count: int) -> list[str]:
        """Return unique names for `function`'s `count` results, `output_<number>` by default."""
        given = self.names.get(function, ())
        given = given if len(given) == count else (None,) * count
        return unique_names(given)


def compile_program(
    session: Session,
    program: Given,
    pipeline: str | None = None,
    entry: str | None = None,
    reads_memory: bool = False,
    keeps_kernels: bool = False,
) -> Loaded:
    """
    Run `pipeline` on a program, in place, unless it is bytecode.

    By default it is `vm`, for a program of which only the function `entry` is called if it is
    given, and for compiled kernels with `keeps_kernels`. With `reads_memory`, the memory that the
    program uses is read right before it becomes bytecode, and with `keeps_kernels`, its kernels are
    kept.
    """
    module = program.module
    if is_bytecode(module):
        if reads_memory:
            raise PassError(f"{NO_PLAN}: it is bytecode already", module)
        if keeps_kernels:
            raise PassError(NO_KERNELS, module)
        verify(module)
        return Loaded(module, program.weights, {}, DataTypes(), {}, {})
    if pipeline is None:
        names = [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]
        options = ["kernels=native"] if keeps_kernels else []
        options += [f"entries={quoted(entry)}"] if entry in names and entry else []
        pipeline = f"vm{{{' '.join(options)}}}" if options else "vm"
    session.runner.steps = session.steps(pipeline)
    return lower(session.runner, session.context, program, reads_memory, keeps_kernels)


def lower(
    runner: Runner,
    context: Context,
    program: Given,
    reads_memory: bool,
    keeps_kernels: bool = False,
) -> Loaded:
    """
    Run the steps of `runner`, and read what bytecode does not keep.

    The types of results, with `reads_memory` the memory that the program uses, and with
    `keeps_kernels` its kernels are read right before `expand-packs`, or at the end.
    """
    module, steps = program.module, list(runner.steps)
    names = {op.sym_name.data: result_names(op) for op in module.ops if isinstance(op, FuncOp)}
    passes = [step.run.name for step in steps]
    last = report_index(passes)
    runner.steps = steps[:last]
    runner.run(context, module)
    table = TypeTable(module)
    public = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and is_public(op)}
    results = {
        name: [
            _result(type, dims, op, table)
            for type, dims in zip(op.function_type.outputs, dims_of_results(op), strict=True)
        ]
        for name, op in public.items()
    }
    params = {
        name: [table.of(type) for type in op.function_type.inputs] for name, op in public.items()
    }
    memory = memory_of(module) if reads_memory else None
    kernels = None
    if keeps_kernels:
        kernels = ModuleOp([op.clone() for op in module.ops if isinstance(op, relay.PrimFuncOp)])
    runner.steps, runner.verify_first = steps[last:], False
    runner.run(context, module)
    return Loaded(module, program.weights, names, table.data, results, params, memory, kernels)


def _amount(amount: Amount) -> tuple[int | None, str]:
    return amount.bytes, amount.formula or ""


def with_random_weights(
    program: Given, say: Callable[[str], object], seed: int = 0, memory: Memory | None = None
) -> Given:
    """
    Return a program with random values for the weights that it names but lacks.

    `say` gets a sentence about them, and `memory` their bytes.
    """
    from ...runtime.calls.random_inputs import random_parameters, random_weights_text
    from ...runtime.weights.derived_weights import weights_in

    ops = [op for op in walk(program.module) if isinstance(op, relay.ParamOp)]
    wanted = [Late(name, spec_of(op.result.type, op)) for op in ops for name in [op.param.data]]
    has_file = isinstance(program.weights, Path) and not program.weights.exists()
    source = weights_in({} if program.weights is None or has_file else program.weights)
    weights = {late.name: source.array(late.name) for late in wanted if late.name in source}
    missing = {late.name: late for late in wanted if late.name not in weights}
    if missing:
        say(random_weights_text(list(missing), seed))
    return replace(program, weights=weights | random_parameters(missing.values(), seed, memory))


def native_kernels(
    loaded: Loaded, context: ReportingContext, progress: Progress | None = None
) -> NativeLibrary | None:
    """Return the compiled kernels of a program, if its kernels were kept. Raises `Error`."""
    if loaded.kernels is None:
        return None
    from ...lowering.native.build.machine_kernels import machine_kernels
    from ...lowering.native.build.settings import Cache, Settings
    from ...lowering.native.toolchain.target_machine import Machine

    context.remarks = True
    settings = Settings(
        machine=Machine(cpu="native"),
        cache=Cache.of_user(),
        remark=lambda op, message: emit_remark(context, op, message),
        progress=(progress or no_progress()).count("LLVM has compiled {} of {} kernels"),
    )
    return machine_kernels(context, loaded.kernels, settings)


def _result(
    type: Attribute, dims: tuple[str, ...], function: FuncOp, table: TypeTable
) -> tuple[Param, str | None]:
    device = device_of(type)
    spec = None if as_tensor(type) is None else spec_of(type, function)
    param = Param("", spec, dims=dims, type=table.of(type))
    return param, None if device is None else device.spec


class TypeTable:
    """Collects types of a module that is not bytecode yet, and the definitions that they use."""

    def __init__(self, module: ModuleOp) -> None:
        self._ops = {op.sym_name.data: op for op in module.ops if isinstance(op, TypeDataOp)}
        self._numbers: dict[str, int] = {}
        self._definitions: list[Definition] = []
        self._types: dict[ValueType, int] = {}

    @property
    def data(self) -> DataTypes:
        """The types collected so far."""
        return DataTypes(tuple(self._definitions), tuple(self._types))

    def of(self, type: Attribute) -> int | None:
        """Return the index of a tuple or data, with those that it uses; None of any other type."""
        if not isinstance(type, BuiltinTupleType) and not self._is_data(type):
            return None
        number = self._add(type, ())
        while len(self._definitions) < len(self._numbers):
            self._define(self._ops[list(self._numbers)[len(self._definitions)]])
        return number

    def _is_data(self, type: Attribute) -> bool:
        return isinstance(type, AdtType) and type.adt.string_value() in self._ops

    def _define(self, op: TypeDataOp) -> None:
        params = tuple(param.data for param in op.params)
        constructors = tuple(
            Constructor(
                constructor.constructor.data,
                tuple(self._add(field, params) for field in constructor.fields),
            )
            for constructor in op.constructors
        )
        self._definitions.append(Definition(op.sym_name.data, len(params), constructors))

    def _add(self, type: Attribute, params: Sequence[str]) -> int:
        """Return the index of a type in a definition with these parameters."""
        made: ValueType = OpaqueType()
        if isinstance(type, BuiltinTupleType):
            made = TupleType(tuple(self._add(part, params) for part in type.types))
        elif isinstance(type, TypeVarType) and type.parameter.data in params:
            made = TypeParameter(params.index(type.parameter.data))
        elif isinstance(type, AdtType) and type.adt.string_value() in self._ops:
            args = tuple(self._add(arg, params) for arg in type.args)
            name = type.adt.string_value()
            made = DataType(self._numbers.setdefault(name, len(self._numbers)), args)
        elif (tensor := as_tensor(type)) is not None and (spec := machine_type(tensor)) is not None:
            made = TensorType(spec.dtype, spec.shape)
        return self._types.setdefault(made, len(self._types))
