"""
Disassemble a program into `bytecode` IR: the inverse of `lowering.assemble`.

    assemble(disassemble(program)) == program

A program does not keep locations, the names of constants, the types of parameters other than
tensors, the bit widths of an operator's attributes, or costs and alignments of pools.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region

from xrelay.dialects import bytecode
from xrelay.dialects.attributes import ELEMENT_TYPES, attribute_of, bounds_attr
from xrelay.dialects.bytecode.fields import ObjectType, RegisterAttr
from xrelay.dialects.device import VirtualDeviceAttr, tensor_type
from xrelay.dialects.integers import i64_array
from xrelay.dialects.memory.storage_ops import POOLS, PoolAttr
from xrelay.passes.analysis.arrays import dense_of
from xrelay.runtime.program.instruction_table import fields_of
from xrelay.runtime.program.instructions import Instruction, Kind, Reg
from xrelay.runtime.program.named_results import output_names
from xrelay.runtime.program.program import (
    Array,
    AttrValue,
    Function,
    Kernel,
    Late,
    Param,
    Program,
    Step,
    TensorSpec,
    spec_of,
)


def _type(spec: TensorSpec, device: VirtualDeviceAttr | None = None) -> Any:
    shape = [DYNAMIC_INDEX if dim is None else dim for dim in spec.shape]
    return tensor_type(ELEMENT_TYPES[spec.dtype], shape, device)


def _device(spec: str) -> VirtualDeviceAttr:
    name, _, scope = spec.partition("/")
    device = VirtualDeviceAttr.parse_spec(name)
    assert device is not None, f"{spec} is not a device"
    return VirtualDeviceAttr(device.device_type, device.device_id, scope=scope or None)


def _register(value: int | Reg) -> Attribute:
    """Return an operand that is a `Reg` or an immediate."""
    return RegisterAttr(value.index) if isinstance(value, Reg) else IntegerAttr(value, i64)


def _attribute(kind: Kind, value: Any, program: Program) -> Attribute:
    """Return the property for a field of an instruction."""
    match kind:
        case Kind.READ | Kind.WRITE:
            return RegisterAttr(value)
        case Kind.READS | Kind.WRITES:
            return ArrayAttr([RegisterAttr(register) for register in value])
        case Kind.READ_OR_INTEGER:
            return _register(value)
        case Kind.READS_OR_INTEGERS:
            return ArrayAttr([_register(item) for item in value])
        case Kind.READ_OR_DIMS if isinstance(value, Reg):
            return _register(value)
        case Kind.READ_OR_DIMS | Kind.INTEGERS | Kind.SHAPE:
            return i64_array(value)
        case Kind.JUMP | Kind.INTEGER:
            return IntegerAttr(cast(int, value), i64)
        case Kind.FUNCTION:
            return SymbolRefAttr(program.functions[cast(int, value)].name)
        case Kind.KERNEL:
            return SymbolRefAttr(program.kernels[cast(int, value)].name)
        case Kind.CONSTANT:
            return SymbolRefAttr(f"const_{value}")
        case Kind.DEVICE:
            return _device(program.devices[cast(int, value)])
        case Kind.DTYPE:
            return ELEMENT_TYPES[value]
        case Kind.TEXT:
            return StringAttr(value)


def _instruction(instruction: Instruction, program: Program) -> Operation:
    properties: dict[str, Attribute] = {}
    for name, kind, optional in fields_of(type(instruction)):
        value = getattr(instruction, name)
        if not optional or value not in (None, ()):
            properties[name] = _attribute(kind, value, program)
    return bytecode.INSTRUCTIONS[type(instruction)].create(properties=properties)


def _param_type(param: Param, program: Program) -> Attribute:
    """Return the type of a parameter or a result."""
    device = _device(program.devices[param.device])
    return ObjectType(device) if param.spec is None else _type(param.spec, device)


def _function(function: Function, program: Program) -> Operation:
    code = [_instruction(instruction, program) for instruction in function.instructions]
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(function.name),
        "param_names": ArrayAttr([StringAttr(param.name) for param in function.params]),
        "param_types": ArrayAttr([_param_type(param, program) for param in function.params]),
        "register_count": IntegerAttr(function.register_count, i64),
    }
    if any(param.dims for param in function.params):
        properties["param_dims"] = ArrayAttr(
            [ArrayAttr(map(StringAttr, param.dims)) for param in function.params]
        )
    if function.results is not None:
        names = output_names(function, len(function.results))
        properties["output_names"] = ArrayAttr(map(StringAttr, names))
        properties["output_types"] = ArrayAttr(
            [_param_type(result, program) for result in function.results]
        )
        if any(result.dims for result in function.results):
            properties["output_dims"] = ArrayAttr(
                [ArrayAttr(map(StringAttr, result.dims)) for result in function.results]
            )
    if function.dim_bounds:
        properties["dim_bounds"] = bounds_attr(function.dim_bounds)
    return bytecode.FuncOp.create(properties=properties, regions=[Region(Block(code))])


def _operator_attribute(value: AttrValue) -> Attribute:
    """An operator's attribute, in the form of the `relay` dialect."""
    attr = ELEMENT_TYPES.get(value) if isinstance(value, str) else None
    attr = attr or attribute_of(value)
    assert attr is not None, f"{value!r} is not an attribute of an operator"
    return attr


def _step(step: Step, kernel: Kernel) -> Operation:
    properties: dict[str, Attribute] = {
        "op": StringAttr(step.op),
        "inputs": i64_array(step.ins),
        "outputs": i64_array(step.outs),
        "types": ArrayAttr([_type(kernel.spec(value)) for value in step.outs]),
    }
    if step.attrs:
        properties["attrs"] = DictionaryAttr(
            {k: _operator_attribute(v) for k, v in step.attrs.items()}
        )
    return bytecode.StepOp.create(properties=properties)


def _dense(array: Array) -> Attribute:
    return dense_of(array, _type(spec_of(array)))


def _kernel(kernel: Kernel) -> Operation:
    body: list[Operation] = [
        bytecode.KernelConstantOp.create(properties={"value": _dense(c)}) for c in kernel.constants
    ]
    body += [_step(step, kernel) for step in kernel.steps]
    properties: dict[str, Attribute] = {
        "sym_name": StringAttr(kernel.name),
        "types": ArrayAttr([_type(spec) for spec in kernel.ins]),
        "outputs": i64_array(kernel.results),
    }
    if kernel.host_ins:
        properties["host_inputs"] = i64_array(kernel.host_ins)
    return bytecode.KernelOp.create(properties=properties, regions=[Region(Block(body))])


def _constant(index: int, constant: Array | Late) -> Operation:
    name = StringAttr(f"const_{index}")
    if isinstance(constant, Late):
        return bytecode.LateConstantOp.create(
            properties={
                "sym_name": name,
                "param": StringAttr(constant.name),
                "type": _type(constant.spec),
            }
        )
    return bytecode.ConstantOp.create(properties={"sym_name": name, "value": _dense(constant)})


def disassemble(program: Program) -> ModuleOp:
    """Return the `bytecode` module that assembles to `program`."""
    module = ModuleOp(
        [
            *(_constant(i, c) for i, c in enumerate(program.constants)),
            *(_function(f, program) for f in program.functions),
            *(_kernel(k) for k in program.kernels),
        ]
    )
    devices = [_device(d) for d in program.devices]
    module.attributes[bytecode.DEVICES] = ArrayAttr(devices)
    if program.pools:
        pools = [PoolAttr.of(devices[p.device], p.capacity, 1, 1) for p in program.pools]
        module.attributes[POOLS] = ArrayAttr(pools)
    return module
