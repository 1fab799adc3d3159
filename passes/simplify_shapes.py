"""
Reduce the computation of shapes to arithmetic on the dims of parameters, each size computed once.

    %s = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
    %o = memory.alloc_tensor … : tensor<2xi64>                   %s = vm.shape_of %x : …
    %d = vm.shape_func @f ins(%s) outs(%o) -> tensor<2xi64>  ->  %n = tensor.extract %s[%c0]
    %a = tensor.extract %d[%c0]                                  %size = arith.muli %n, %c16
    %b = tensor.extract %d[%c1]                                  %d = tensor.from_elements %n, %c4
    %e = arith.muli %a, %b
    %size = arith.muli %e, %c4

Shape functions are inlined. The shape of a result is what it was allocated with, an element of a
shape is the size that it was made of, and sizes are expressions (`sizes.reader`): an equal one
that dominates is used instead. Dims of parameters are read at the start of the function, other
dims after the op whose result has them. A `relay.require` that always holds is removed, and so is
a repeated one; one that never holds is left for run time. Level `manifest`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import is_side_effect_free

from ..dialects import memory, relay, vm
from ..dialects.device import VirtualDeviceAttr, device_of, with_device
from ..dialects.interfaces import AllocatesResults, Bufferizable, ChoosesRegion, ReadsOnlySizes
from ..dialects.tensors import as_tensor
from ..dialects.xdsl_extras.walking import walk
from ..dialects.xdsl_extras.xdsl_internals import set_type
from ..operators.measures import MEASURES
from ..operators.sizes import Check
from ..operators.sizes.holds import holds
from ..operators.sizes.size_expressions import Expr, Symbol
from .sizes.reader import Sizes
from .sizes.scoped_code import ScopedCode
from .support.changes import ReportingPass
from .support.levels import Level
from .support.rewriting import apply_patterns
from .support.walk import is_kernel, outside_primitives


def host_of(module: ModuleOp) -> VirtualDeviceAttr | None:
    """Return the device of the shapes in `module`."""
    for op in walk(module):
        if isinstance(op, vm.ShapeOfOp | vm.ShapeFuncOp):
            for result in op.results:
                return device_of(result.type)
    return None


Constants: TypeAlias = dict[tuple[Operation, Block], SSAValue]
"""The copy of a constant of a shape function in a block that calls it."""


def inlined(
    op: vm.ShapeFuncOp, function: relay.ShapeFuncOp, constants: Constants
) -> tuple[list[Operation], list[SSAValue]]:
    """Return the ops of `function` applied to the operands of `op`, and their results."""
    block = function.body.block
    last = block.last_op
    assert last is not None, "verified: a shape function ends in relay.yield"
    mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, op.ins, strict=True))
    host = device_of(op.results[0].type) if op.results else None
    ops: list[Operation] = []
    assert op.parent is not None, "the walk visits ops in blocks"
    for inner in block.ops:
        if inner is last:
            break
        if isinstance(inner, arith.ConstantOp):
            key = inner, op.parent
            if key in constants:
                mapping[inner.result] = constants[key]
                continue
            ops.append(copied(inner, mapping, host))
            constants[key] = mapping[inner.result]
        else:
            ops.append(copied(inner, mapping, host))
    return ops, [mapping.get(value, value) for value in last.operands]


def copied(
    op: Operation, mapping: dict[SSAValue, SSAValue], host: VirtualDeviceAttr | None
) -> Operation:
    """Return `op` on the values that `mapping` has for its operands, with tensors on `host`."""
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
        made: Operation = relay.ConstantOp(op.value, host)
        made.location = op.location
        mapping[op.result] = made.results[0]
        return made
    if op.regions:
        made = op.clone(mapping)
    else:
        made = op.create(
            operands=[mapping.get(operand, operand) for operand in op.operands],
            result_types=op.result_types,
            properties=op.properties.copy(),
            attributes=op.attributes.copy(),
            location=op.location,
        )
    for old, new in zip(op.results, made.results, strict=True):
        mapping[old] = new
        new.name_hint = old.name_hint
        if host is not None and new.type.__class__ is TensorType:
            set_type(new, with_device(new.type, host))
    return made


@cache
def is_size_class(kind: type[Operation]) -> bool:
    """Test whether ops of a class only compute a size, a shape or a part of one."""
    return kind.name.startswith(("arith.", "tensor.")) or (
        kind.has_trait(ReadsOnlySizes) or issubclass(kind, relay.MeasureOp)
    )


@cache
def allocates(kind: type[Operation]) -> bool:
    return kind.get_trait(AllocatesResults) is not None


def is_size_op(op: Operation) -> bool:
    """Test whether `op` only computes a size, a shape or a part of one."""
    return is_size_class(type(op))


def is_measure(symbol: Symbol | None) -> bool:
    return symbol is not None and symbol.kind in MEASURES


@dataclass(frozen=True)
class InlineShapeFunction(RewritePattern):
    """Replace a call of a shape function by its body, and remove the tensors that it wrote."""

    functions: dict[str, relay.ShapeFuncOp]
    constants: Constants = field(default_factory=Constants)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vm.ShapeFuncOp, rewriter: PatternRewriter, /) -> None:
        function = self.functions.get(op.callee.string_value())
        if function is None:
            return
        ops, results = inlined(op, function, self.constants)
        outs = tuple(op.outs)
        rewriter.replace(op, ops, results)
        for out in outs:
            made = out.owner
            if isinstance(made, memory.AllocTensorOp) and not made.tensor.uses:
                rewriter.erase(made)


@dataclass(frozen=True)
class ShareConstant(RewritePattern):
    """Use one constant for all equal ones of a function."""

    code: ScopedCode

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op.value, IntegerAttr):
            return
        self.code.enter(op)
        rewriter.replace(op, [], [self.code.constant_at(op.value, rewriter)])


@dataclass(frozen=True)
class SimplifySize(RewritePattern):
    """
    Replace a size by an equal one: a constant, one that dominates it, or a dim.

    Of one that differs from a known size by a constant, keep only that difference.
    """

    code: ScopedCode

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if len(op.results) != 1 or op.results[0].type != i64 or not is_size_op(op):
            return
        code, result = self.code, op.results[0]
        code.enter(op)
        size = code.sizes.size(result)
        symbol = size.symbol
        if symbol is not None and symbol.args == (result,):
            return
        if (
            size.constant is not None
            or code.find(size) is not None
            or (symbol is not None and symbol.kind == "dim")
            or (isinstance(op, relay.MeasureOp) and not is_measure(symbol))
        ):
            found = code.write_at(size, op, rewriter)
            if found.name_hint is None:
                found.name_hint = result.name_hint
            rewriter.replace(op, [], [found])
            return
        shorter = self._shorter(op, size, rewriter)
        if shorter is None:
            code.add(size, result)
            return
        shorter.results[0].name_hint = result.name_hint
        rewriter.replace(op, shorter)
        code.add(size, shorter.results[0])

    def _shorter(self, op: Operation, size: Expr, rewriter: PatternRewriter) -> Operation | None:
        """Return an op on a known size and a constant that computes `size`, unless `op` is it."""
        for base, constant, kind in (
            (size - size.offset, size.offset, arith.AddiOp),
            (size.quotient(Expr.of(size.content)), size.content, arith.MuliOp),
        ):
            if base is None or base == size:
                continue
            known = self.code.find(base)
            if known is not None:
                operands = [known, self.code.constant_at(IntegerAttr(constant, i64), rewriter)]
                if isinstance(op, kind) and list(op.operands) == operands:
                    return None
                return kind.create(operands=operands, result_types=[i64])
        return None


@dataclass(frozen=True)
class ForwardShape(RewritePattern):
    """Replace the shape of a tensor by the sizes that it is made of."""

    code: ScopedCode

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vm.ShapeOfOp, rewriter: PatternRewriter, /) -> None:
        if all(isinstance(use.operation, tensor.ExtractOp) for use in op.result.uses):
            return
        self.code.enter(op)
        dims = self.code.sizes.dims(op.data)
        shape = self.code.shape_at(dims, op.result.type, op, rewriter)
        rewriter.replace(op, [], [shape])


@dataclass(frozen=True)
class ShareShape(RewritePattern):
    """Use one tensor for all shapes of equal dims."""

    code: ScopedCode

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.FromElementsOp, rewriter: PatternRewriter, /) -> None:
        dims = self.code.sizes.shape(op.result)
        if dims is None:
            return
        code, key = self.code, (dims, op.result.type)
        code.enter(op)
        found = code.scopes.find(key)
        if found is None:
            code.scopes.add(key, op.result)
        else:
            rewriter.replace(op, [], [found])


@dataclass(frozen=True)
class ShareComputation(RewritePattern):
    """Use the result of an equal op that dominates, for what is not a known size."""

    code: ScopedCode

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if len(op.results) != 1 or not is_size_op(op) or not is_side_effect_free(op):
            return
        code, result = self.code, op.results[0]
        if result.type == i64:
            symbol = code.sizes.size(result).symbol
            if symbol is None or symbol.args != (result,):
                return
        code.enter(op)
        key: Hashable = op.name, tuple(op.operands), *op.properties.items(), result.type
        found = code.scopes.find(key)
        if found is None:
            code.scopes.add(key, result)
        else:
            rewriter.replace(op, [], [found])


@dataclass(frozen=True)
class RemoveRequire(RewritePattern):
    """Remove a requirement that always holds, or that was made before."""

    code: ScopedCode

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.RequireOp, rewriter: PatternRewriter, /) -> None:
        check, sizes = Check(op.check.data), self.code.sizes
        left, right = sizes.size(op.lhs), sizes.size(op.rhs)
        certain = holds(check, left, right)
        if certain is False:
            return
        self.code.enter(op)
        scopes = self.code.scopes
        symmetric = check in (Check.EQUAL, Check.BROADCAST)
        keys = [("require", check, left, right)]
        if symmetric:
            keys.append(("require", check, right, left))
        if certain or scopes.find(keys[0]) is not None:
            rewriter.erase(op)
            return
        for key in keys:
            scopes.add(key, op.lhs, op.parent)


@dataclass(frozen=True)
class ReadYielded(RewritePattern):
    """Read the dims that a branch yields, those of inner branches first; change nothing."""

    sizes: Sizes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.YieldOp, rewriter: PatternRewriter, /) -> None:
        parent = op.parent_op()
        if parent is not None and parent.has_trait(ChoosesRegion):
            for value in op.values:
                if as_tensor(value.type):
                    self.sizes.dims(value)


def is_removable(op: Operation) -> bool:
    """Test whether `op` computes a size, or a tensor for a shape, and nothing else."""
    return is_size_op(op) or isinstance(op, relay.ConstantOp) or allocates(type(op))


class RemoveUnusedSize(RewritePattern):
    """Remove what computes a size, or a tensor for a shape, that nothing uses."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not is_removable(op):
            return
        if any(result.uses for result in op.results):
            return
        if op.has_trait(AllocatesResults) or is_side_effect_free(op):
            rewriter.erase(op)


@dataclass(frozen=True)
class RemoveShapeFunction(RewritePattern):
    """Remove the shape functions, and their names in the kernels that had them."""

    called: frozenset[str]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, relay.ShapeFuncOp) and op.sym_name.data not in self.called:
            rewriter.erase(op)
        if isinstance(op, relay.PrimFuncOp) and op.shape_func is not None:
            if op.shape_func.string_value() not in self.called:
                op.shape_func = op.shape_inputs = None
                rewriter.notify_op_modified(op)


def called_shape_functions(module: ModuleOp) -> frozenset[str] | None:
    """
    Return the shape functions that `module` calls; None if it has kernels that are yet to be
    allocated for, which may need any.
    """
    called: set[str] = set()
    for op in outside_primitives(module):
        if op.has_trait(Bufferizable):
            return None
        if isinstance(op, vm.ShapeFuncOp):
            called.add(op.callee.string_value())
    return frozenset(called)


def in_functions(module: ModuleOp) -> list[Operation]:
    """Return the ops of `module`, in program order, that are not in kernels or shape functions."""
    return list(walk(module.body, enters=is_function_level))


def concerns_sizes(op: Operation) -> bool:
    """Test whether the pass may change something because of `op`."""
    return is_size_op(op) or isinstance(op, vm.ShapeFuncOp | relay.ShapeFuncOp | relay.RequireOp)


def may_change(op: Operation) -> bool:
    """Test whether the pass may change `op`, or reads sizes at it."""
    return concerns_sizes(op) or isinstance(op, memory.AllocStorageOp | relay.YieldOp)


def is_function_level(op: Operation) -> bool:
    return not is_kernel(op) and not isinstance(op, relay.ShapeFuncOp)


@dataclass(frozen=True)
class SimplifyShapesPass(ReportingPass):
    """Reduce the computation of shapes to arithmetic on the dims of parameters."""

    name = "simplify-shapes"
    accepts: ClassVar[Level] = "manifest"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        ops = in_functions(op)
        if not any(map(concerns_sizes, ops)):
            return False
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, relay.ShapeFuncOp)}
        code = ScopedCode(host_of(op))
        if functions:
            calls = [o for o in ops if isinstance(o, vm.ShapeFuncOp)]
            apply_patterns(op, InlineShapeFunction(functions), only=calls)
        apply_patterns(
            op,
            ShareConstant(code),
            SimplifySize(code),
            ForwardShape(code),
            ShareShape(code),
            ShareComputation(code),
            RemoveRequire(code),
            *memory.AllocStorageOp.get_canonicalization_patterns(),
            ReadYielded(code.sizes),
            only=[o for o in in_functions(op) if may_change(o)],
        )
        removable = [o for o in in_functions(op) if is_removable(o)]
        apply_patterns(op, RemoveUnusedSize(), only=removable[::-1])
        called = called_shape_functions(op)
        if called is not None:
            named = [o for o in op.ops if isinstance(o, relay.ShapeFuncOp | relay.PrimFuncOp)]
            apply_patterns(op, RemoveShapeFunction(called), only=named)
        return True
