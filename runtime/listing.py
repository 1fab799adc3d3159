"""Print programs for human readers: one line per instruction, destinations first."""

from __future__ import annotations

import json
from collections.abc import Iterator

from . import instructions as vm
from .program import Function, Kernel, Late, Param, Program, spec_of


def _list(registers: tuple[int, ...]) -> str:
    return ", ".join(f"${register}" for register in registers)


def _jump(pc: int, offset: int) -> str:
    return str(pc + offset)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _operands(i: vm.Instruction, pc: int, program: Program) -> str:
    match i:
        case vm.Move():
            return f"${i.dst}, ${i.src}"
        case vm.Ret():
            return f"${i.result}"
        case vm.Invoke():
            return f"${i.dst}, {program.functions[i.function].name}({_list(i.args)})"
        case vm.InvokeClosure():
            return f"${i.dst}, ${i.closure}({_list(i.args)})"
        case vm.InvokePacked():
            return f"{program.kernels[i.kernel].name} in: {_list(i.ins)} out: {_list(i.outs)}"
        case vm.AllocTensor():
            return f"${i.dst}, ${i.storage}[{i.offset}], {i.dtype}{list(i.shape)}"
        case vm.AllocTensorReg():
            return f"${i.dst}, ${i.storage}[{i.offset}], {i.dtype} ${i.shape}"
        case vm.AllocADT():
            return f"${i.dst}, tag {i.tag}({_list(i.fields)})"
        case vm.AllocClosure():
            return f"${i.dst}, {program.functions[i.function].name}({_list(i.captured)})"
        case vm.AllocRef():
            return f"${i.dst}, ${i.src}"
        case vm.ReadRef():
            return f"${i.dst}, ${i.ref}"
        case vm.WriteRef():
            return f"${i.ref}, ${i.src}"
        case vm.GetField():
            return f"${i.dst}, ${i.data}.{i.field}"
        case vm.If():
            test = f"${i.test}" if i.target is None else f"${i.test} == ${i.target}"
            return f"{test}, {_jump(pc, i.true_offset)}, {_jump(pc, i.false_offset)}"
        case vm.LoadConst():
            return f"${i.dst}, const {i.constant}, {program.devices[i.device]}"
        case vm.Goto():
            return _jump(pc, i.offset)
        case vm.GetTag():
            return f"${i.dst}, ${i.data}"
        case vm.LoadConsti():
            return f"${i.dst}, {i.value}"
        case vm.Fatal():
            return ""
        case vm.AllocStorage():
            return f"${i.dst}, {i.size}, align {i.alignment}, {program.devices[i.device]}"
        case vm.SliceStorage():
            return f"${i.dst}, ${i.storage}[{i.offset}], {i.size}, align {i.alignment}"
        case vm.ShapeOf():
            return f"${i.dst}, ${i.tensor}"
        case vm.Compute():
            return f"${i.dst}, {i.operation}({_list(i.args)})"
        case vm.Require():
            values = f" ({_list(i.values)})" if i.values else ""
            return f"${i.lhs} {i.check} ${i.rhs}, {_quoted(i.message)}{values}"
        case vm.Pack():
            return f"${i.total}, {_list(i.offsets)}, align {i.alignment}, {_slices(i)}"
        case vm.ReshapeTensor():
            shape = str(i.shape) if isinstance(i.shape, vm.Reg) else str(list(i.shape))
            return f"${i.dst}, ${i.tensor}, {shape}"
        case vm.DeviceCopy():
            source, target = program.devices[i.src_device], program.devices[i.dst_device]
            return f"${i.out}, ${i.src}, {source} to {target}"
        case vm.KillRegister():
            return f"${i.register}"


def _slices(pack: vm.Pack) -> str:
    """Return the slices of a pack, each with its lifetime, its size and its arms."""
    arms: dict[int, list[str]] = {}
    for number, branch, arm in zip(pack.arms[::3], pack.arms[1::3], pack.arms[2::3], strict=True):
        arms.setdefault(number, []).append(f"{branch}:{arm}")
    bounds = zip(pack.lifetimes[::2], pack.lifetimes[1::2], pack.sizes, strict=True)
    return " ".join(
        f"[{start}, {stop}) {size}" + (f" in ({', '.join(arms[number])})" if number in arms else "")
        for number, (start, stop, size) in enumerate(bounds)
    )


def _dims(param: Param) -> str:
    return f" dims ({', '.join(name or '_' for name in param.dims)})" if param.dims else ""


def _function(function: Function, program: Program) -> Iterator[str]:
    params = ", ".join(
        f"{p.name}: {'any' if p.spec is None else p.spec} @{program.devices[p.device]}{_dims(p)}"
        for p in function.params
    )
    bounds = "; ".join(f"{name} {limits}" for name, limits in function.dim_bounds.items())
    limited = f" where {bounds}" if bounds else ""
    yield f"function {function.name}({params}){limited}  # {function.register_count} registers"
    for pc, instruction in enumerate(function.instructions):
        text = f"{vm.mnemonic(instruction)} {_operands(instruction, pc, program)}"
        yield f"{pc:5}: {text}".rstrip()


def _kernel(kernel: Kernel) -> Iterator[str]:
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

    Jump targets are shown as absolute instruction numbers.
    """
    lines = [f"device {i}: {name}" for i, name in enumerate(program.devices)]
    for i, constant in enumerate(program.constants):
        if isinstance(constant, Late):
            lines.append(f"constant {i}: {constant.spec} '{constant.name}'")
        else:
            lines.append(f"constant {i}: {spec_of(constant)}")
    for kernel in program.kernels:
        lines += ["", *_kernel(kernel)]
    for function in program.functions:
        lines += ["", *_function(function, program)]
    return "\n".join(lines) + "\n"
