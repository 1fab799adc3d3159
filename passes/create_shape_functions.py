"""
Give each kernel with results of dynamic shape a function that computes their shapes.

    relay.prim_func @fused_nn_relu(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {…}
    ->
    relay.prim_func @fused_nn_relu(%x: tensor<?x4xf32>) -> tensor<?x4xf32>
        attributes {shape_func = @shape_func_nn_relu, shape_inputs = array<i64: 2>} {…}
    relay.shape_func @shape_func_nn_relu(%x_shape: tensor<2xi64>) -> tensor<2xi64> {
      relay.yield %x_shape : tensor<2xi64>
    }

The function is composed of the rules of the kernel's operators, in order: integers are folded,
equal sizes are computed once, checks become `relay.require`. It has a parameter for the shape of an
argument if it needs one of its unknown dims, and one for its data if it reads its elements. An
operator that reads elements computed in the same kernel is an error; `fuse-ops` puts none there.
With `checks`, a kernel whose results are static gets a function, too, if its operators require
something of sizes known only at run time: compiled kernels do not check their operands. So does,
in any case, a kernel that becomes a view, if the type of its result says what dims must be.
Equal functions are shared. A kernel that has a shape function keeps it. From level `lowered` to
`lowered`.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from ..dialects.dense import constant_tensor
from ..dialects.relay.language.primitive import kernel_symbol
from ..dialects.relay.operator import infer_result_types
from ..dialects.relay.properties import ints
from ..dialects.relay.reshape import ReshapingInterface
from ..dialects.relay.shapes import shape_type
from ..dialects.tensors import has_dynamic
from ..dialects.type_rules import data_operands
from ..operators.signature import Elements, ReadElements, Tensor
from .analysis.structural_keys import Key, StructuralKeys
from .functions.symbols import SymbolNames
from .sizes.rule_code import RuleCode
from .support.changes import ReportingPass
from .support.diagnostics import PassError
from .support.rewriting import apply_patterns

DATA, SHAPE = 1, 2
"""The two bits of an entry of `shape_inputs`."""

_CHECKS = (relay.RequireOp, relay.MeasureOp)
"""The ops that stop a program."""


@dataclass
class Parameters:
    """The parameters of a shape function for the kernel `kernel`, each made when it is needed."""

    kernel: relay.PrimFuncOp
    block: Block = field(default_factory=Block)
    made: list[tuple[int, int]] = field(default_factory=lambda: [])
    """The parameters of `block`: an index into those of the kernel, and `DATA` or `SHAPE`."""

    def __call__(self, index: int, part: int) -> SSAValue:
        """Return the parameter for the data or the shape of parameter `index` of the kernel."""
        at = bisect_left(self.made, (index, part))
        if self.made[at : at + 1] == [(index, part)]:
            return self.block.args[at]
        self.made.insert(at, (index, part))
        source = self.kernel.body.block.args[index]
        type = source.type if part == DATA else shape_type(source.type)
        made = self.block.insert_arg(type, at)
        if source.name_hint is not None:
            made.name_hint = source.name_hint if part == DATA else f"{source.name_hint}_shape"
        return made

    @property
    def inputs(self) -> list[int]:
        """The entries of `shape_inputs`."""
        entries = [0] * len(self.kernel.body.block.args)
        for index, part in self.made:
            entries[index] |= part
        return entries


def has_dynamic_results(kernel: relay.PrimFuncOp) -> bool:
    return any(map(has_dynamic, kernel.function_type.outputs))


def reads_unknown_sizes(kernel: relay.PrimFuncOp) -> bool:
    """Test whether `kernel` has an operand of unknown shape, or an operator that reads sizes."""
    return any(map(has_dynamic, kernel.function_type.inputs)) or any(
        map(data_operands, kernel.body.block.ops)
    )


def declares_dims_of_views(kernel: relay.PrimFuncOp) -> bool:
    """
    Test whether a kernel only reshapes, and the type of a result says more than can be inferred.

    The view that becomes of it keeps the number of elements, and checks nothing else.
    """
    ops = [op for op in kernel.body.block.ops if not isinstance(op, relay.YieldOp)]
    return all(isinstance(op, ReshapingInterface) for op in ops) and any(
        not has_dynamic(op.results[0].type) and any(map(has_dynamic, infer_result_types(op) or ()))
        for op in ops
    )


class KernelCode(RuleCode):
    """The body of a shape function, for the operators of a kernel."""

    def __init__(self, kernel: relay.PrimFuncOp):
        super().__init__()
        self.parameters = Parameters(kernel)
        self.tensors: dict[SSAValue, Tensor] = {}
        """Those that operators of the kernel compute."""
        for argument in kernel.body.block.args:
            self.operand(argument)

    def shape_of(self, value: SSAValue) -> SSAValue:
        assert isinstance(value, BlockArgument), "computed shapes are known"
        return self.parameters(value.index, SHAPE)

    def data_of(self, value: SSAValue) -> SSAValue:
        assert isinstance(value, BlockArgument), "computed data is unreadable"
        return self.parameters(value.index, DATA)

    def operand(self, value: SSAValue) -> Tensor | str:
        return self.tensors.get(value) or super().operand(value)

    def elements_of(self, op: Operation, index: int) -> Elements:
        value = op.operands[index]
        if isinstance(value, BlockArgument) or constant_tensor(value) is not None:
            return super().elements_of(op, index)
        assert isinstance(value, OpResult)
        computed = value.op

        def read(*_: object) -> NoReturn:
            raise PassError(
                f"the result shape of {op.name} depends on the elements of its operand {index}, "
                f"but {computed.name} computes them in the same kernel",
                op,
                [(computed, f"{computed.name} is here")],
            )

        return ReadElements(read, read)


def shape_function_body(kernel: relay.PrimFuncOp) -> Parameters:
    """Return the parameters, and in their block the body, of the shape function of `kernel`."""
    code, body = KernelCode(kernel), kernel.body.block
    terminator = body.last_op
    assert isinstance(terminator, relay.YieldOp), "verified: a kernel's body yields"
    for op in body.ops:
        if op is not terminator:
            code.tensors.update(zip(op.results, code.results(op), strict=True))
    yielded = map(code.operand, terminator.operands)
    shapes = [code.shape(tensor.dims) for tensor in yielded if isinstance(tensor, Tensor)]
    block = code.parameters.block
    block.add_ops(code.ops)
    block.add_op(relay.YieldOp.create(operands=shapes, location=terminator.location))
    return code.parameters


@dataclass(frozen=True)
class CreateShapeFunction(RewritePattern):
    """Give a kernel with results of dynamic shape a shape function, the first of its kind."""

    names: SymbolNames
    keys: StructuralKeys
    created: dict[Key, SymbolRefAttr]
    checks: bool
    functions: list[relay.ShapeFuncOp] = field(default_factory=lambda: [])

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        if op.shape_func is not None:
            return
        is_dynamic = has_dynamic_results(op)
        is_checked = (self.checks and reads_unknown_sizes(op)) or declares_dims_of_views(op)
        if not is_dynamic and not is_checked:
            return
        parameters = shape_function_body(op)
        block = parameters.block
        if not is_dynamic and not any(isinstance(o, _CHECKS) for o in block.ops):
            return
        key = self.keys.key(block)
        callee = self.created.get(key)
        if callee is None:
            callee = self.created[key] = self._create(op, block)
        op.shape_func = callee
        op.shape_inputs = ints(parameters.inputs)
        rewriter.notify_op_modified(op)

    def _create(self, kernel: relay.PrimFuncOp, block: Block) -> SymbolRefAttr:
        name = self.names.unique(kernel_symbol(kernel.body.block.ops, "shape_func"))
        outputs: Sequence[Attribute] = [shape_type(t) for t in kernel.function_type.outputs]
        type = FunctionType.from_lists(block.arg_types, outputs)
        function = relay.ShapeFuncOp(name, type, Region(block))
        function.location = kernel.location
        self.functions.append(function)
        return SymbolRefAttr(name)


@dataclass(frozen=True)
class CreateShapeFunctionsPass(ReportingPass):
    name = "create-shape-functions"
    accepts = "lowered"

    checks: bool = False
    """Give kernels with static results functions for what they require, too."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        kernels = [kernel for kernel in op.ops if isinstance(kernel, relay.PrimFuncOp)]
        keys = StructuralKeys()
        existing = {
            keys.key(f.body.block): SymbolRefAttr(f.sym_name.data)
            for f in op.ops
            if isinstance(f, relay.ShapeFuncOp)
        }
        create = CreateShapeFunction(SymbolNames.of(op), keys, existing, self.checks)
        changed = apply_patterns(op, create, only=kernels)
        op.body.block.add_ops(create.functions)
        return changed
