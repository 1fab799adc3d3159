"""
Overwrite the bytes of each tensor before it is written, and when it is dead.

    %t = memory.alloc_tensor %s[0]              %u = memory.alloc_tensor %s[0]
    %y = vm.invoke_tvm_op @f … outs(%t)         %v = vm.invoke_tvm_op @overwrite outs(%u)
    …                                     ->    memory.kill %v
    memory.kill %y                              %t = memory.alloc_tensor %s[0]
                                                %y = vm.invoke_tvm_op @f … outs(%t)
                                                …
                                                memory.kill %y
                                                %w = memory.alloc_tensor %s[0]
                                                %x = vm.invoke_tvm_op @overwrite outs(%w)
                                                memory.kill %x

For tests of memory plans: inside of one arena, no sanitizer sees that two tensors overlap, but a
program that still needs what the plan says is dead computes something else then. What is written
has all bits set: NaN, -1, true. A kernel writes it, so the bytes are overwritten wherever programs
run: in the machine, also along recorded paths, and in native code; and `verify-memory-plan` checks
these writes as all others.

A tensor that is written over an operand is not overwritten before, one that outlives its shape not
after it. Bytes that a branch hands over to its result are overwritten when the next tensor is
allocated there. From level `memory-planned` to the same; right after `plan-memory`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    ModuleOp,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ..dialects import memory, relay, vm
from ..dialects.dense import dense
from ..dialects.device import plain_types, tensor_type
from ..dialects.integers import i64_array
from ..dialects.relay.creation import DynFullOp
from ..dialects.relay.elementwise import FullOp
from ..dialects.tensors import as_tensor, dtype_name, element_size
from .analysis.arrays import numpy_dtype
from .bytes.aliases import AliasClasses, bodies_of
from .functions.symbols import SymbolNames
from .support.changes import LevelPass
from .support.rewriting import rewrite_each


@dataclass(frozen=True)
class Places:
    """The tensors whose bytes are overwritten before an op, and after it."""

    before: dict[Operation, list[memory.AllocTensorOp]] = field(default_factory=lambda: {})
    after: dict[Operation, list[memory.AllocTensorOp]] = field(default_factory=lambda: {})

    def read(self, classes: AliasClasses) -> None:
        """Add those of a body."""
        started: set[int] = set()
        freed: set[int] = set()
        tensors: dict[int, list[tuple[memory.AllocTensorOp, set[int]]]] = {}
        for row in classes.body.rows:
            numbers = {classes.class_of[number] for number in (*row.uses, *row.results)}
            if isinstance(row.op, memory.AllocTensorOp) and can_overwrite(row.op):
                number = classes.class_of[row.results[0]]
                if number not in started:
                    self.before[row.op] = [row.op]
                needed = {classes.class_of[use] for use in row.uses}
                tensors.setdefault(number, []).append((row.op, needed))
            elif row.facts.frees:
                freed.add(number := classes.class_of[row.uses[0]])
                self.after[row.op] = [
                    op
                    for op, needed in tensors.get(number, ())
                    if is_visible(op, row.op) and freed.isdisjoint(needed)
                ]
            started |= numbers


def can_overwrite(op: memory.AllocTensorOp) -> bool:
    """Test whether there is a kernel that writes tensors of this type."""
    type = as_tensor(op.tensor.type)
    return type is not None and numpy_dtype(type) is not None


def is_visible(value: Operation, at: Operation) -> bool:
    """Test whether the results of one op are defined at a later one."""
    return value.parent is not None and value.parent.find_ancestor_op_in_block(at) is not None


def kernel(name: str, type: TensorType[Attribute]) -> relay.PrimFuncOp:
    """Return a kernel that sets all bits of a tensor of `type`."""
    is_open = DYNAMIC_INDEX in type.get_shape()
    shape = tensor_type(i64, [type.get_num_dims()])
    block = Block(arg_types=[shape] if is_open else [])
    ones = b"\1" if dtype_name(type.element_type) == "bool" else b"\xff"
    scalar = tensor_type(type.element_type, [])
    value = relay.ConstantOp(dense(scalar, ones * element_size(type.element_type)))
    operands: Sequence[SSAValue] = (*value.results, *block.args)
    filled = (
        DynFullOp.create(operands=operands, result_types=[type])
        if is_open
        else FullOp.create(
            operands=operands,
            result_types=[type],
            properties={"shape": i64_array(type.get_shape())},
        )
    )
    block.add_ops([value, filled, relay.YieldOp.create(operands=filled.results)])
    function = FunctionType.from_lists(block.arg_types, [type])
    return relay.PrimFuncOp(name, function, Region(block))


@dataclass(frozen=True)
class Overwriter:
    """Calls kernels that overwrite tensors before an op, and after it."""

    places: Places
    names: SymbolNames
    plain: Callable[[Attribute], Attribute] = field(default_factory=plain_types)
    kernels: dict[Attribute, relay.PrimFuncOp] = field(default_factory=lambda: {})

    def overwrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        for tensor in self.places.before.get(op, ()):
            rewriter.insert([*self.overwritten(tensor)], InsertPoint.before(op))
        for tensor in self.places.after.get(op, ()):
            rewriter.insert([*self.overwritten(tensor)], InsertPoint.after(op))

    def overwritten(self, tensor: memory.AllocTensorOp) -> Iterator[Operation]:
        """Yield ops that overwrite the bytes of `tensor`."""
        type = as_tensor(self.plain(tensor.tensor.type))
        assert type is not None, "a tensor is allocated"
        if type not in self.kernels:
            self.kernels[type] = kernel(self.names.unique("overwrite"), type)
        callee = SymbolRefAttr(self.kernels[type].sym_name.data)
        yield (place := tensor.clone())
        place.tensor.name_hint = None
        shapes = () if tensor.shape is None else (tensor.shape,)
        yield (call := vm.InvokeTvmOp.on(callee, shapes, [place.tensor]))
        yield memory.KillOp.create(operands=call.results)


class OverwriteDeadBytesPass(LevelPass):
    name = "overwrite-dead-bytes"
    accepts = "manifest"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        places = Places()
        for classes in bodies_of(op):
            places.read(classes)
        overwriter = Overwriter(places, SymbolNames.of(op))
        rewrite_each([*places.before, *places.after], overwriter.overwrite)
        op.body.block.add_ops(overwriter.kernels.values())
