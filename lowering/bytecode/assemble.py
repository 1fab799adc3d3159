"""
Assemble `bytecode` IR into a program for the machine.

    program = assemble(module)

The fields of an instruction op are the fields of the instruction; its location is kept.
`tests/helpers/machine/disassemble.py` is the inverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...dialects import bytecode, memory
from ...dialects.attributes import bounds_by_name, plain_values
from ...dialects.device import VirtualDeviceAttr, device_of
from ...dialects.integers import integers_of
from ...dialects.tensors import Tensor, as_tensor, dtype_name
from ...operators.element_types import ELEMENT_TABLE
from ...passes.analysis.arrays import array_of
from ...passes.support.diagnostics import PassError, location_of
from ...runtime.errors import Location, MachineError
from ...runtime.memory.limits import MAX_RANK
from ...runtime.program.dtypes import element_type
from ...runtime.program.instructions import Instruction, InvokePacked, Kind
from ...runtime.program.program import (
    Cache,
    Constant,
    Function,
    Kernel,
    Late,
    Param,
    Pool,
    Program,
    Step,
    TensorSpec,
)


def spec_of(type: Attribute, op: Operation) -> TensorSpec:
    """Return a tensor type for the machine; an error at `op` if it has none."""
    tensor = as_tensor(type)
    spec = None if tensor is None else machine_type(tensor)
    if spec is None:
        raise PassError(f"the machine has no tensors of type {type}", op)
    return spec


def machine_type(tensor: Tensor) -> TensorSpec | None:
    """Return a tensor type as the machine has it; None if it has not such elements or dims."""
    dtype = dtype_name(tensor.element_type)
    shape = tuple(None if d == DYNAMIC_INDEX else d for d in tensor.get_shape())
    return None if dtype is None or len(shape) > MAX_RANK else TensorSpec(dtype, shape)


@dataclass
class Symbols:
    """The index of each function, kernel, constant and device."""

    named: Mapping[Kind, Mapping[str, int]]
    device: Mapping[VirtualDeviceAttr, int]

    def index(self, kind: Kind, value: Attribute) -> int:
        """Return the index of the function, kernel, constant or device that `value` names."""
        if isinstance(value, VirtualDeviceAttr):
            found = self.device.get(value)
            if found is None:
                raise VerifyException(f"{value} is not among the module's {bytecode.DEVICES}")
            return found
        name = cast(SymbolRefAttr, value).string_value()
        found = self.named[kind].get(name)
        if found is None:
            raise VerifyException(f"@{name} is not a {kind.name.lower()} of this program")
        return found


def _location(op: Operation) -> Location | None:
    place = location_of(op)
    if place is None:
        return None
    return Location(place.filename.data, place.line.data, place.column.data)


def _instruction(op: Operation, symbols: Symbols) -> Instruction:
    if not isinstance(op, bytecode.Instruction):
        raise PassError(f"{op.name} is not a bytecode instruction", op)
    try:
        return op.for_machine(symbols.index)
    except VerifyException as error:
        raise PassError(str(error), op) from error


def _param(
    op: bytecode.FuncOp, symbols: Symbols, name: StringAttr, type: Attribute, *dims: StringAttr
) -> Param:
    """Return a parameter or a result of the function `op`."""
    device = device_of(type)
    index = 0 if device is None else symbols.device.get(device)
    if index is None:
        raise PassError(f"{device} is not among the module's {bytecode.DEVICES}", op)
    spec = spec_of(type, op) if as_tensor(type) is not None else None
    return Param(name.data, spec, index, tuple(dim.data for dim in dims))


def _function(op: bytecode.FuncOp, symbols: Symbols) -> Function:
    params = zip(op.param_names, op.param_types, op.dims, strict=True)
    results = op.outputs
    ops = list(op.body.block.ops)
    return Function(
        op.sym_name.data,
        tuple(_param(op, symbols, name, type, *dims) for name, type, dims in params),
        op.register_count.value.data,
        tuple(_instruction(o, symbols) for o in ops),
        tuple(map(_location, ops)),
        bounds_by_name(op.dim_bounds),
        None
        if results is None
        else tuple(_param(op, symbols, name, type, *dims) for name, type, dims in results),
        tuple(Cache(*numbers) for numbers in op.cache_numbers),
    )


def assemble_kernel(op: bytecode.KernelOp, located: bool) -> Kernel:
    """Assemble a kernel; `located` if each of its steps has a location of its own."""
    constants: list[Any] = []
    steps: list[Step] = []
    locals: list[TensorSpec] = []
    for inner in op.body.block.ops:
        if isinstance(inner, bytecode.KernelConstantOp):
            constants.append(_array(inner.value, inner))
        else:
            assert isinstance(inner, bytecode.StepOp)
            try:
                attrs = plain_values({} if inner.attrs is None else inner.attrs.data, inner.op.data)
            except VerifyException as error:
                raise PassError(str(error), inner) from error
            ins, outs = integers_of(inner.inputs), integers_of(inner.outputs)
            location = _location(inner) if located else None
            steps.append(Step(inner.op.data, attrs, ins, outs, location))
            locals.extend(spec_of(type, inner) for type in inner.types)
    return Kernel(
        op.sym_name.data,
        tuple(spec_of(type, op) for type in op.types),
        tuple(constants),
        tuple(locals),
        tuple(steps),
        integers_of(op.outputs),
        () if op.host_inputs is None else integers_of(op.host_inputs),
    )


def _array(value: Any, op: Operation) -> Any:
    array, name = array_of(value), dtype_name(value.get_element_type())
    row = None if name is None else ELEMENT_TABLE.get(name)
    if array is None and row is not None and row.package:
        try:
            array = array_of(value, element_type(row.dtype))
        except MachineError as error:
            raise PassError(str(error), op) from None
    if array is None:
        raise PassError(f"the machine has no tensors of type {value.type}", op)
    return array


def _constant(op: Operation) -> Constant:
    if isinstance(op, bytecode.LateConstantOp):
        return Late(op.param.data, spec_of(op.type, op))
    assert isinstance(op, bytecode.ConstantOp)
    return _array(op.value, op)


Declaration: TypeAlias = "type[Operation] | tuple[type[Operation], ...]"


def _named(module: ModuleOp, kinds: Declaration) -> dict[str, Operation]:
    return {
        cast(StringAttr, op.properties["sym_name"]).data: op
        for op in module.ops
        if isinstance(op, kinds)
    }


def assemble(module: ModuleOp) -> Program:
    """
    Return the program of a `bytecode` module.

    Raises `PassError` for ops of other dialects, unknown symbols and tensor types that the machine
    does not have.
    """
    functions = _named(module, bytecode.FuncOp)
    kernels = _named(module, bytecode.KernelOp)
    constants = _named(module, (bytecode.ConstantOp, bytecode.LateConstantOp))
    for op in module.ops:
        if op.name.partition(".")[0] != "bytecode":
            raise PassError(f"{op.name} is not bytecode; run lower-to-bytecode first", op)
    listed = module.attributes.get(bytecode.DEVICES)
    devices = list(cast(ArrayAttr[VirtualDeviceAttr], listed)) if listed is not None else []
    symbols = Symbols(
        {
            kind: {name: i for i, name in enumerate(table)}
            for kind, table in (
                (Kind.FUNCTION, functions),
                (Kind.KERNEL, kernels),
                (Kind.CONSTANT, constants),
            )
        },
        device={device: i for i, device in enumerate(devices)},
    )
    code = tuple(_function(cast(bytecode.FuncOp, op), symbols) for op in functions.values())
    calls = Counter(
        instruction.kernel
        for function in code
        for instruction in function.instructions
        if isinstance(instruction, InvokePacked)
    )
    return Program(
        code,
        tuple(_constant(op) for op in constants.values()),
        tuple(  # the steps of a kernel with several calls have no location: the call has it
            assemble_kernel(cast(bytecode.KernelOp, op), calls[i] == 1)
            for i, op in enumerate(kernels.values())
        ),
        tuple(map(memory.place_of, devices)) or ("cpu:0",),
        pools=tuple(_pools(module, devices)),
    )


def _pools(module: ModuleOp, devices: Sequence[VirtualDeviceAttr]) -> Iterator[Pool]:
    """Yield the pools that the program allocates storages in."""
    numbers = {memory.place_of(device): number for number, device in enumerate(devices)}
    for place, pool in memory.pools_of(module).items():
        if place in numbers:
            yield Pool(numbers[place], numbers[pool.device.spec], pool.capacity)
