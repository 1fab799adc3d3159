"""
Lower functions with explicit memory to instructions on registers.

    %s = memory.alloc_storage 140 align 64 : …         bytecode.alloc_storage r1, 140 align 64 on …
    %t = memory.alloc_tensor %s[0] : T           ->    bytecode.alloc_tensor r2, r1[0] : T
    %y = vm.invoke_tvm_op @f ins(%x : …) …             bytecode.invoke_packed @f(r0) -> (r2)
    func.return %y : T                                 bytecode.ret r2

Every value has a register of its own, except that a result shares the register of the `outs` that
it is written into. A `memory.kill` clears the registers of all names of its bytes that are not used
after it; in a function with kills, that of a storage is cleared after the last allocation in it. In
a function without branches, storages of several tensors end as a whole, with the last kill in them.
A function that returns no value or several returns a tuple. A block loads a constant once; equal
ones are shared, params by name; kernels become `bytecode.kernel`s. If one of the functions for
callers from outside names results, all of them record theirs. The module lists its devices, the
host first. From level `manifest` (or `memory-planned`) to `bytecode`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TupleType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import bytecode, memory, relay
from ..dialects.attributes import bounds_attr
from ..dialects.bytecode.fields import ObjectType
from ..dialects.device import VirtualDeviceAttr, device_of, plain_types, with_device
from ..dialects.integers import i64_array, i64_attribute
from ..dialects.interfaces import kernel_attributes, kernel_name
from ..dialects.relay.cache_attributes import cached_results
from ..dialects.relay.language.dims_attributes import (
    dim_bounds,
    dim_names,
    parameter_names,
    result_names,
)
from ..dialects.tensors import as_tensor
from ..dialects.type_algebra import parts
from ..dialects.type_rules import rule_of
from ..passes.devices.options import device_option
from ..passes.remove_unused_functions import is_public
from ..passes.sizes.result_dims import dims_of_results
from ..passes.support.changes import LevelPass
from ..passes.support.rewriting import apply_patterns
from ..passes.support.walk import only_block
from ..runtime.program.named_results import unique_names
from .bytecode.bytecode_builder import BytecodeBuilder, Constants, Devices, device_at
from .bytecode.bytecode_rules import RULES, lower_return
from .bytecode.decision_trees import Constructors
from .bytecode.register_lifetimes import RegisterLifetimes, register_lifetimes
from .bytecode.shape_functions import shape_functions_in


def is_empty(type: Attribute) -> bool:
    """Test whether no leaf of `type` can have a device: it is made of empty tuples alone."""
    rest = [type]
    while rest:
        type = rest.pop()
        if not isinstance(type, TupleType | FunctionType | relay.RefType):
            return False
        rest += parts(type)
    return True


def parameter_type(value: SSAValue, devices: Devices) -> Attribute:
    """
    Return the type of a parameter: a tensor on a device of type and id, or an object on one.

    An object without parts, such as the empty tuple, is on the host.
    """
    if is_empty(value.type):
        return ObjectType(devices.host)
    return machine_type(value.type, devices.use(device_at(value)))


def result_type(type: Attribute, devices: Devices) -> Attribute:
    """Return the type of a result; what is on no device counts as on the host."""
    device = device_of(type)
    return machine_type(type, devices.host if device is None else devices.use(device))


def machine_type(type: Attribute, device: VirtualDeviceAttr) -> Attribute:
    """Return `type` as the machine knows it: a tensor or an object on `device`."""
    tensor = as_tensor(type)
    return ObjectType(device) if tensor is None else with_device(tensor, device)


@dataclass(frozen=True)
class LowerFunction(RewritePattern):
    """Lower a function to its instructions."""

    constants: Constants
    devices: Devices
    constructors: Constructors
    shape_functions: Mapping[str, relay.ShapeFuncOp]
    lifetimes: Mapping[Block, RegisterLifetimes]
    """By the block of a function; none for those without kills."""
    result_dims: Mapping[str, Sequence[tuple[str, ...]]] = field(
        default_factory=dict[str, Sequence[tuple[str, ...]]]
    )
    """The names of dims of results, for functions that record their results."""
    plain: Callable[[Attribute], Attribute] = field(default_factory=plain_types)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        block = only_block(op)
        builder = BytecodeBuilder(
            self.constants, self.devices, self.plain, self.constructors, RULES, self.shape_functions
        )
        builder.lifetimes = self.lifetimes.get(block)
        types = [parameter_type(argument, self.devices) for argument in op.args]
        for argument in op.args:
            builder.define(argument)
        lower_return(builder, builder.lower_block(block))
        properties: dict[str, Attribute] = {
            "sym_name": op.sym_name,
            "param_names": ArrayAttr(parameter_names(op)),
            "param_types": ArrayAttr(types),
            "register_count": i64_attribute(builder.register_count),
        }
        if op.sym_name.data in self.result_dims:
            types = [result_type(type, self.devices) for type in op.function_type.outputs]
            properties["output_types"] = ArrayAttr(types)
            properties["output_names"] = ArrayAttr(map(StringAttr, unique_names(result_names(op))))
            named = self.result_dims[op.sym_name.data]
            if any(named):
                properties["output_dims"] = ArrayAttr(ArrayAttr(map(StringAttr, n)) for n in named)
        named = dim_names(op)
        if any(map(any, named)):
            properties["param_dims"] = ArrayAttr(
                [ArrayAttr([StringAttr(name or "") for name in names]) for names in named]
            )
        bounds = dim_bounds(op)
        if bounds:
            properties["dim_bounds"] = bounds_attr(bounds)
        caches = [ArrayAttr(map(i64_attribute, cached)) for cached in cached_results(op)]
        if caches:
            properties["caches"] = ArrayAttr(caches)
        function = bytecode.FuncOp.create(
            properties=properties, regions=[Region(Block(builder.code))]
        )
        rewriter.replace(op, function, [])


class LowerKernel(RewritePattern):
    """Lower a kernel to the list of its steps."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        rewriter.replace(op, kernel_steps(op), [])


def kernel_steps(kernel: relay.PrimFuncOp) -> bytecode.KernelOp:
    """Return the list of the steps of `kernel`, which stays as it is."""
    block = kernel.body.block
    constants = [o for o in block.ops if isinstance(o, relay.ConstantOp)]
    number: dict[SSAValue, int] = {}
    for value in (*block.args, *(c.result for c in constants)):
        number[value] = len(number)
    body: list[Operation] = [
        bytecode.KernelConstantOp.create(properties={"value": c.value}) for c in constants
    ]
    outputs: Sequence[SSAValue] = ()
    for inner in block.ops:
        if isinstance(inner, relay.YieldOp):
            outputs = inner.values
        elif not isinstance(inner, relay.ConstantOp):
            body.append(_step(inner, number))
    properties: dict[str, Attribute] = {
        "sym_name": kernel.sym_name,
        "types": kernel.function_type.inputs,
        "outputs": i64_array([number[v] for v in outputs]),
    }
    on_host = [i for i, argument in enumerate(block.args) if is_read_as_sizes(argument)]
    if on_host:
        properties["host_inputs"] = i64_array(on_host)
    return bytecode.KernelOp.create(properties=properties, regions=[Region(Block(body))])


def is_read_as_sizes(argument: SSAValue) -> bool:
    """Test whether operators read `argument` only as sizes."""
    read = [(rule_of(use.operation), use.index) for use in argument.uses]
    return bool(read) and all(rule is not None and i in rule.size_operands for rule, i in read)


def _step(op: Operation, number: dict[SSAValue, int]) -> Operation:
    inputs = [number[operand] for operand in op.operands]
    for result in op.results:
        number[result] = len(number)
    properties: dict[str, Attribute] = {
        "op": StringAttr(kernel_name(op)),
        "inputs": i64_array(inputs),
        "outputs": i64_array([number[r] for r in op.results]),
        "types": ArrayAttr([r.type for r in op.results]),
    }
    attributes = kernel_attributes(op)
    if attributes:
        properties["attrs"] = DictionaryAttr(attributes)
    return bytecode.StepOp.create(properties=properties, location=op.location)


class EraseTypeData(RewritePattern):
    """Erase the definition of a data type: the machine knows constructors by their tags."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.TypeDataOp, rewriter: PatternRewriter, /) -> None:
        rewriter.erase(op)


def add_declarations(module: ModuleOp, constants: Constants, devices: Devices) -> None:
    """Insert the constants before the functions, and list the devices on the module."""
    module.attributes[bytecode.DEVICES] = ArrayAttr(list(devices.listed))
    block = module.body.block
    first = block.first_op
    if first is None:
        block.add_ops(constants.ops)
    else:
        block.insert_ops_before(constants.ops, first)


@dataclass(frozen=True)
class LowerToBytecodePass(LevelPass):
    name = "lower-to-bytecode"
    accepts = "expanded"

    host: str = "cpu:0"
    """The device on which sizes and shapes are computed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        host = device_option(self.host, "host")
        constants, devices = Constants(), Devices({host: None}, memory.pools_of(op))
        shapes = shape_functions_in(op)
        public = [f for f in op.ops if isinstance(f, func.FuncOp) and is_public(f)]
        dims = {f.sym_name.data: dims_of_results(f) for f in public}
        if not any(any(result_names(f)) or any(dims[f.sym_name.data]) for f in public):
            dims = {}
        lower_function = LowerFunction(
            constants, devices, Constructors.of(op), shapes, register_lifetimes(op), dims
        )
        patterns = lower_function, LowerKernel(), EraseTypeData()
        apply_patterns(op, *patterns, only=list(op.ops))
        for function in shapes.values():
            function.detach()
            function.erase()
        add_declarations(op, constants, devices)
