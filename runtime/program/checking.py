"""
Check that a program is well-formed before it is prepared: every index is in range.

The kinds of objects that registers hold are checked while a function is recorded.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sized
from functools import cache
from operator import attrgetter

from ...operators.all_rules import RULES
from ...operators.signature import Call, SignatureError, check
from ..errors import MachineError
from ..kernels.checked import tensor_of
from . import instructions as vm
from .dtypes import element_type, has_element_type
from .instruction_table import Field, fields_of, jumps, registers
from .instructions import Kind
from .program import Function, Kernel, Late, Param, Program, Step, TensorSpec
from .size_operations import SCALARS

_INDEXED: Mapping[Kind, tuple[str, Callable[[Program], Sized]]] = {
    Kind.FUNCTION: ("function", attrgetter("functions")),
    Kind.KERNEL: ("kernel", attrgetter("kernels")),
    Kind.CONSTANT: ("constant", attrgetter("constants")),
    Kind.DEVICE: ("device", attrgetter("devices")),
}
"""The tables of a program that fields refer to by index."""


@cache
def _index_fields(kind: type[vm.Instruction]) -> tuple[Field, ...]:
    return tuple(field for field in fields_of(kind) if field.kind in _INDEXED)


def _instruction_faults(
    instruction: vm.Instruction, pc: int, function: Function, program: Program
) -> Iterator[str]:
    for register in registers(instruction):
        if not 0 <= register < function.register_count:
            yield f"register r{register} is out of range [0, {function.register_count})"
    for field in _index_fields(type(instruction)):
        what, table = _INDEXED[field.kind]
        number, count = getattr(instruction, field.name), len(table(program))
        if not 0 <= number < count:
            yield f"{what} {number} is out of range [0, {count})"
    length = len(function.instructions)
    for offset in jumps(instruction):
        if not 0 <= pc + offset < length:
            yield f"jump target {pc + offset} is out of range [0, {length})"
    yield from instruction.faults()
    if isinstance(instruction, vm.Compute):
        yield from _operation_faults(instruction)


def _operation_faults(instruction: vm.Compute) -> Iterator[str]:
    scalar = SCALARS.get(instruction.operation)
    given = len(instruction.args)
    if scalar is None:
        yield f"unknown operation {instruction.operation!r} (known: {', '.join(SCALARS)})"
    elif scalar.count not in (None, given):
        operands = "operand" if scalar.count == 1 else "operands"
        yield f"{scalar.name} expects {scalar.count} {operands}, but got {given}"


def _values(function: Function) -> Iterator[tuple[str, Param]]:
    """Yield the parameters and results of `function`, each with its name in messages."""
    for param in function.params:
        yield f"parameter '{param.name}' of {function.name}", param
    for result in function.results or ():
        yield f"result '{result.name}' of {function.name}", result


def _function_faults(function: Function, program: Program) -> Iterator[str | MachineError]:
    if len(function.params) > function.register_count:
        yield (
            f"{function.name}: needs at least {len(function.params)} registers for its "
            f"parameters, but has {function.register_count}"
        )
    for what, param in _values(function):
        if not 0 <= param.device < len(program.devices):
            yield f"{what}: device {param.device} is out of range [0, {len(program.devices)})"
        rank = 0 if param.spec is None else len(param.spec.shape)
        if param.dims and len(param.dims) != rank:
            yield f"{what}: {len(param.dims)} dims are named, but there are {rank}"
        if param.type is not None and not 0 <= param.type < len(program.data.types):
            yield f"{what}: type {param.type} is out of range [0, {len(program.data.types)})"
    named = {name for param in function.params for name in param.dims if name}
    for name, bounds in function.dim_bounds.items():
        if name not in named:
            yield f"{function.name}: no dim is named '{name}', which has bounds"
        if not bounds.are_in_order:
            yield f"{function.name}: '{name}' cannot be at least 0 and {bounds}"
    for lent in function.caches:
        if not 0 <= lent.parameter < len(function.params) or min(lent.result, lent.maximum) < 0:
            yield f"{function.name}: parameter {lent.parameter} cannot be a cache"
    for pc, instruction in enumerate(function.instructions):
        for fault in _instruction_faults(instruction, pc, function, program):
            yield MachineError(f"{function.where(pc)}: {fault}", function.location(pc))
    last = function.instructions[-1] if function.instructions else None
    if not isinstance(last, vm.Ret | vm.Goto | vm.If | vm.Fatal):
        yield f"{function.name}: the last instruction must return or jump"


def _rule_fault(kernel: Kernel, step: Step) -> str | None:
    """Return why the operator of `step` rejects its operands, attributes or results, or None."""
    rule = RULES.get(step.op)
    if rule is None:
        return None  # a plug-in's: its kernel checks them when it is bound
    try:
        call = Call(step.op, step.attrs, [tensor_of(kernel.spec(value)) for value in step.ins])
        check(rule, call, [tensor_of(kernel.spec(value)) for value in step.outs])
    except SignatureError as error:
        return str(error)
    return None


def _kernel_faults(kernel: Kernel) -> Iterator[str]:
    first_local = len(kernel.ins) + len(kernel.constants)
    known = set(range(first_local))
    every = range(first_local + len(kernel.locals))
    for number, step in enumerate(kernel.steps):
        for value in step.ins:
            if value not in known:
                yield f"step {number} ({step.op}) reads value {value} before it is computed"
        for value in step.outs:
            if value not in every[first_local:] or value in known:
                yield f"step {number} ({step.op}) must write a new local, but writes value {value}"
            known.add(value)
        fault = _rule_fault(kernel, step)
        if fault is not None:
            yield f"step {number} ({step.op}): {fault}"
    for value in kernel.host_ins:
        if not 0 <= value < len(kernel.ins):
            yield f"host input {value} is out of range [0, {len(kernel.ins)})"
    for value in kernel.results:
        if value not in known or value not in every:
            yield f"result value {value} is never computed"
    for array in kernel.constants:
        if not has_element_type(array.dtype):
            yield f"a constant has unsupported element type {array.dtype}"


def _specs(program: Program) -> Iterator[tuple[str, TensorSpec]]:
    for function in program.functions:
        for what, param in _values(function):
            if param.spec is not None:
                yield what, param.spec
    for kernel in program.kernels:
        for spec in (*kernel.ins, *kernel.locals):
            yield f"kernel {kernel.name}", spec
    for constant in program.constants:
        if isinstance(constant, Late):
            yield f"constant '{constant.name}'", constant.spec


def _faults(program: Program) -> Iterator[str | MachineError]:
    if not program.devices:
        yield "a program must have at least one device, the host"
    for pool in program.pools:
        for device in (pool.device, pool.home):
            if not 0 <= device < len(program.devices):
                yield f"a pool: device {device} is out of range [0, {len(program.devices)})"
        if pool.capacity is not None and pool.capacity < 0:
            yield f"a pool: capacity must be at least 0, but is {pool.capacity}"
    names = Counter(function.name for function in program.functions)
    for name, count in names.items():
        if count > 1:
            yield f"duplicate function name {name}"
    for what, spec in _specs(program):
        if any(dim is not None and dim < 0 for dim in spec.shape):
            yield f"{what}: negative dimension in {spec}"
        try:
            element_type(spec.dtype)
        except MachineError as error:
            yield f"{what}: {error}"
    yield from program.data.faults()
    for function in program.functions:
        yield from _function_faults(function, program)
    for kernel in program.kernels:
        for fault in _kernel_faults(kernel):
            yield f"kernel {kernel.name}: {fault}"


def check_kernel(kernel: Kernel, what: str) -> None:
    """Raise `MachineError` for the first fault of a kernel of the weight `what`, if any."""
    for fault in _kernel_faults(kernel):
        raise MachineError(f"weight {what}: {fault}")


def check_program(program: Program) -> None:
    """Raise `MachineError` for the first fault of `program`, if any."""
    for fault in _faults(program):
        raise fault if isinstance(fault, MachineError) else MachineError(fault)
