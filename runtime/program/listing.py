"""Print programs for human readers, with each instruction as the `bytecode` dialect has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import index
from typing import Any

from ...operators.element_types import ELEMENT_TABLE
from . import instructions as vm
from .instruction_table import jumps, pieces_of
from .instructions import Kind, Reg
from .program import Function, Kernel, Late, Param, Program, spec_of

_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


def _escaped(byte: int) -> str:
    if byte == ord("\\"):
        return r"\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != ord('"') else f"\\{byte:02X}"


def _quoted(text: str) -> str:
    """Return `text` as a string of MLIR."""
    return f'"{"".join(map(_escaped, text.encode()))}"'


def _symbol(name: str) -> str:
    return f"@{name if _IDENTIFIER.fullmatch(name) else _quoted(name)}"


def _element_type(dtype: str) -> str:
    """Return the name of an element type in MLIR."""
    return ELEMENT_TABLE[dtype].mlir if dtype in ELEMENT_TABLE else dtype


def _value(value: Any, kind: Kind, program: Program) -> str:
    """Return a field's value as text."""
    match kind:
        case Kind.FUNCTION:
            return _symbol(program.functions[index(value)].name)
        case Kind.KERNEL:
            return _symbol(program.kernels[index(value)].name)
        case Kind.CONSTANT:
            return f"@const_{value}"
        case Kind.DEVICE:
            device, slash, scope = program.devices[index(value)].partition("/")
            return f"#relay.device<{device}{f', scope = {_quoted(scope)}' if slash else ''}>"
        case Kind.READ | Kind.WRITE:
            return f"r{value}"
        case Kind.READS | Kind.WRITES:
            return f"({', '.join(f'r{register}' for register in value)})"
        case Kind.READS_OR_INTEGERS:
            return f"({', '.join(map(str, value))})"
        case Kind.READ_OR_DIMS | Kind.INTEGERS:
            return str(value) if isinstance(value, Reg) else str(list(value))
        case Kind.READ_OR_INTEGER | Kind.JUMP | Kind.INTEGER:
            return str(value)
        case Kind.SHAPE:
            return "".join(f"{dim}x" for dim in value)
        case Kind.DTYPE:
            return _element_type(value)
        case Kind.TEXT:
            return _quoted(value)


def text_of(instruction: vm.Instruction, program: Program) -> str:
    """Return `instruction` in the syntax of the `bytecode` dialect, without `bytecode.`."""
    text = f"{instruction.mnemonic} "
    for piece in pieces_of(type(instruction)):
        if piece.field is None:
            text += piece.words
            continue
        value = getattr(instruction, piece.field.name)
        if not piece.optional or value != piece.field.absent:
            text += piece.words + _value(value, piece.field.kind, program)
    return text.rstrip()


def _dims(param: Param) -> str:
    return f" dims ({', '.join(name or '_' for name in param.dims)})" if param.dims else ""


def function_lines(function: Function, program: Program) -> Iterator[str]:
    """Yield the signature of a function and its numbered instructions."""
    params = ", ".join(
        f"{p.name}: {'any' if p.spec is None else p.spec} @{program.devices[p.device]}{_dims(p)}"
        for p in function.params
    )
    bounds = "; ".join(f"{name} {limits}" for name, limits in function.dim_bounds.items())
    limited = f" where {bounds}" if bounds else ""
    yield f"function {function.name}({params}){limited}  # {function.register_count} registers"
    for pc, instruction in enumerate(function.instructions):
        targets = " or ".join(str(pc + offset) for offset in jumps(instruction))
        note = f"  // to {targets}" if targets else ""
        yield f"{pc:5}: {text_of(instruction, program)}{note}"


def kernel_lines(kernel: Kernel) -> Iterator[str]:
    """Yield the signature of a kernel, its constants and its steps."""
    ins = ", ".join(f"%{value}: {spec}" for value, spec in enumerate(kernel.ins))
    on_host = ", ".join(f"%{value}" for value in kernel.host_ins)
    yield f"kernel {kernel.name}({ins})" + (f" host: {on_host}" if on_host else "")
    for value, array in enumerate(kernel.constants, len(kernel.ins)):
        elements = str(array.tolist()) if array.size <= 8 else "…"
        yield f"    %{value} = {spec_of(array)} {elements}"
    for step in kernel.steps:
        outs = ", ".join(f"%{value}" for value in step.outs)
        operands = ", ".join(f"%{value}" for value in step.ins)
        attrs = ", ".join(f"{name}={value}" for name, value in step.attrs.items())
        types = ", ".join(str(kernel.spec(value)) for value in step.outs)
        braces = f" {{{attrs}}}" if attrs else ""
        yield f"    {outs} = {step.op}({operands}){braces}: {types}"
    yield f"    return {', '.join(f'%{value}' for value in kernel.results)}"


def listing(program: Program) -> str:
    """
    Return a well-formed `program` as text: devices, constants, kernels, functions.

    Instructions are numbered, and the numbers of those that one may jump to follow it.
    """
    lines = [f"device {i}: {name}" for i, name in enumerate(program.devices)]
    for i, constant in enumerate(program.constants):
        if isinstance(constant, Late):
            lines.append(f"constant {i}: {constant.spec} '{constant.name}'")
        else:
            lines.append(f"constant {i}: {spec_of(constant)}")
    for kernel in program.kernels:
        lines += ["", *kernel_lines(kernel)]
    for function in program.functions:
        lines += ["", *function_lines(function, program)]
    return "\n".join(lines) + "\n"
