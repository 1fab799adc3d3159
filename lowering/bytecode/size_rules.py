"""
Lowering of size arithmetic to instructions: `arith`, `tensor`, and what `relay` adds to them.

    %n = tensor.extract %s[%c0] : tensor<2xi64>         bytecode.compute r3, "extract"(r1, r2)
    %b = arith.muli %n, %c4 : i64                  ->   bytecode.compute r5, "muli"(r3, r4)
    relay.require eq %n, %m, "…{0}…{1}"                 bytecode.require "eq" r3, r6, "…{0}…{1}"()

The machine computes with 64-bit integers and reports overflow; an `i1` is 0 or 1. A call of a shape
function is replaced by the instructions of its body.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import bytecode, memory, relay
from ...dialects.bytecode.fields import RegisterAttr
from ...dialects.dense import scalar
from ...dialects.integers import i64_array, i64_attribute
from ...dialects.tensors import as_tensor, dtype_name
from ...operators.element_types import NUMBER_TYPES
from ...passes.sizes.size_code import arith_ops
from ...passes.support.diagnostics import PassError
from .bytecode_builder import BytecodeBuilder, Rule

_BITWISE = (arith.AndIOp, arith.OrIOp, arith.XOrIOp)
"""The ops whose operands may be bits, too."""

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""The names of the predicates of `arith.cmpi`, by number."""

_WIDTHS = {name: row.bits for name, row in NUMBER_TYPES.items() if row.mlir.startswith("i")}
"""The width of each integer type that a scalar may have."""


def _width(value: SSAValue) -> int:
    """Return the width of an integer or index; an error if the machine has no such scalars."""
    type: Attribute = value.type
    width = _WIDTHS.get(dtype_name(type) or "")
    if width is None:
        raise PassError(f"the machine has no scalars of type {type}", value)
    return width


def compute(
    builder: BytecodeBuilder, op: Operation, name: str, *args: RegisterAttr
) -> RegisterAttr:
    """Emit an operation on `args`; return the new register of its result."""
    register = builder.new_register()
    builder.emit(
        bytecode.ComputeOp, op, dst=register, operation=StringAttr(name), args=ArrayAttr(args)
    )
    return register


def new_immediate(builder: BytecodeBuilder, op: Operation, value: int) -> RegisterAttr:
    """Load a number into a register that may be written over."""
    register = builder.new_register()
    builder.emit(bytecode.LoadConstiOp, op, dst=register, value=i64_attribute(value))
    return register


def immediate(builder: BytecodeBuilder, op: Operation, value: int) -> RegisterAttr:
    return builder.once(op, (value,), lambda: new_immediate(builder, op, value))


def _operands(builder: BytecodeBuilder, op: Operation) -> list[RegisterAttr]:
    return [builder.registers[operand] for operand in op.operands]


def _instruction(op: Operation) -> str:
    """Return the name of the operation that `op` computes; overflow is an error."""
    return op.name.partition(".")[2]


def computes(name_of: Callable[[Operation], str] = _instruction) -> Rule:
    """Return the rule of an op that is the operation of this name on its operands."""

    def lower(builder: BytecodeBuilder, op: Operation) -> None:
        operands = [builder.registers[operand] for operand in op.operands]
        builder.registers[op.results[0]] = compute(builder, op, name_of(op), *operands)

    return lower


def lower_arithmetic(builder: BytecodeBuilder, op: Operation) -> None:
    (result,) = op.results
    width = _width(result)
    if width == 1:
        raise PassError(f"{op.name} has no instruction for i1", op)
    register = compute(builder, op, _instruction(op), *_operands(builder, op))
    if width < 64:
        register = compute(builder, op, f"trunci_{width}", register)
    builder.registers[result] = register


def _of_numbers(op: Operation) -> str:
    _width(op.results[0])
    return _instruction(op)


def _comparison(op: Operation) -> str:
    assert isinstance(op, arith.CmpiOp)
    predicate = _PREDICATES[op.predicate.value.data]
    if _width(op.lhs) == 1 and predicate not in ("eq", "ne"):
        raise PassError(f"{op.name} {predicate} has no instruction for i1", op)
    return f"cmpi_{predicate}"


def _measure(op: Operation) -> str:
    assert isinstance(op, relay.MeasureOp)
    return op.measure.data


def lower_conversion(builder: BytecodeBuilder, op: Operation) -> None:
    """Convert between widths: a wider integer is the same number, and a narrower one must fit."""
    (operand,), (result,) = op.operands, op.results
    before, after = _width(operand), _width(result)
    register = builder.registers[operand]
    if before > after:
        register = compute(builder, op, f"trunci_{after}", register)
    elif isinstance(op, arith.ExtUIOp):
        if before > 1:
            raise PassError(f"{op.name} has an instruction for i1 only, not {operand.type}", op)
    elif before == 1 < after:  # a signed bit is 0 or -1
        register = compute(builder, op, "subi", immediate(builder, op, 0), register)
    builder.registers[result] = register


def lower_arith_constant(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, arith.ConstantOp)
    value: Attribute = op.value
    match value:
        case IntegerAttr():
            number = value.value.data & 1 if _width(op.result) == 1 else value.value.data
            builder.registers[op.result] = immediate(builder, op, number)
        case FloatAttr():
            constant = scalar(value.value.data, dtype_name(value.type) or "")
            if constant is None:
                raise PassError(f"the machine has no constants of type {value.type}", op)
            _load(builder, op, constant)
        case DenseIntOrFPElementsAttr() if as_tensor(value.type) is not None:
            _load(builder, op, value)
        case _:
            raise PassError(f"the machine has no constants of type {op.result.type}", op)


def _load(builder: BytecodeBuilder, op: Operation, value: Attribute) -> None:
    name = builder.constants.named(value, op)
    dst = builder.define(op.results[0])
    builder.emit(bytecode.LoadConstOp, op, dst=dst, constant=name, device=builder.devices.host)


def lower_from_elements(builder: BytecodeBuilder, op: Operation) -> None:
    (result,) = op.results
    type = as_tensor(result.type)
    if type is None or type.get_num_dims() > 1 or type.element_type not in (i64, IndexType()):
        raise PassError(
            f"{op.name} has an instruction for scalars and vectors of i64 only, not {result.type}",
            op,
        )
    if type.get_num_dims() == 0:  # a size and a tensor of one are the same value
        builder.share(result, op.operands[0])
    else:
        computes()(builder, op)


def lower_dim(builder: BytecodeBuilder, op: Operation) -> None:
    (result,) = op.results
    data, index = _operands(builder, op)
    shape = builder.new_register()
    builder.emit(bytecode.ShapeOfOp, op, dst=shape, tensor=data)
    builder.registers[result] = compute(builder, op, "extract", shape, index)


def lower_require(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.RequireOp)
    builder.emit(
        bytecode.RequireOp,
        op,
        check=op.check,
        lhs=builder.registers[op.lhs],
        rhs=builder.registers[op.rhs],
        message=op.message,
        values=builder.registers_of(op.values),
    )


def lower_nothing(builder: BytecodeBuilder, op: Operation) -> None:
    """Leave the instruction to the total of the pack, which is after its slices."""


def lower_total(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, memory.TotalOp)
    pack = op.pack.owner
    assert isinstance(pack, memory.PackOp)
    packing = memory.Packing(pack)
    if op is not packing.total:
        return
    sizes = [
        i64_attribute(size) if isinstance(size, int) else builder.registers[size]
        for size in packing.sizes
    ]
    slices = packing.slices
    arms = [n for i, slice in enumerate(slices) for arm in slice.arms for n in (i, *arm)]
    lifetimes = [time for slice in slices for time in slice.lifetime.get_values()]
    total, *offsets = [builder.new_register() for _ in range(len(slices) + 1)]
    builder.registers.update((other.total, total) for other in packing.totals)
    builder.registers.update(zip((s.offset for s in slices), offsets, strict=True))
    builder.emit(
        bytecode.PackOp,
        op,
        total=total,
        offsets=ArrayAttr(offsets),
        alignment=pack.alignment,
        lifetimes=i64_array(lifetimes),
        sizes=ArrayAttr(sizes),
        **({"arms": i64_array(arms)} if arms else {}),
    )


SIZE_RULES: Mapping[type[Operation], Rule] = {
    **dict.fromkeys(arith_ops(), lower_arithmetic),
    **dict.fromkeys(_BITWISE, computes(_of_numbers)),
    arith.CmpiOp: computes(_comparison),
    arith.SelectOp: computes(_of_numbers),
    arith.ExtSIOp: lower_conversion,
    arith.ExtUIOp: lower_conversion,
    arith.TruncIOp: lower_conversion,
    arith.IndexCastOp: lower_conversion,
    arith.ConstantOp: lower_arith_constant,
    tensor.ExtractOp: computes(),
    tensor.FromElementsOp: lower_from_elements,
    tensor.DimOp: lower_dim,
    relay.MeasureOp: computes(_measure),
    relay.RequireOp: lower_require,
    memory.PackOp: lower_nothing,
    memory.SliceOp: lower_nothing,
    memory.TotalOp: lower_total,
}
"""The rule of each op on sizes."""
