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
dims after the op whose result has them, and sizes that all turns of a loop share before it. A
`relay.require` that always holds is removed, and so is a repeated one; one that never holds is left
for run time. Level `manifest`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from ..dialects import memory, relay, vm
from ..dialects.device import VirtualDeviceAttr, device_of, with_device
from ..dialects.interfaces import AllocatesResults, Bufferizable, ChoosesRegion, ReadsOnlySizes
from ..dialects.tensors import as_tensor
from ..dialects.xdsl_extras.walking import walk
from ..dialects.xdsl_extras.xdsl_internals import set_type
from ..operators.measures import MEASURES
from ..operators.sizes import Check
from ..operators.sizes.holds import holds
from ..operators.sizes.size_expressions import DIM, Expr, Symbol
from .functions.calls import inline_before
from .sizes.available import may_move
from .sizes.scoped_code import ScopedCode
from .support.changes import ReportingPass
from .support.rewriting import apply_patterns, erase_unused, rewrite_each
from .support.walk import outside_primitives


def host_of(module: ModuleOp) -> VirtualDeviceAttr | None:
    """Return the device of the shapes in `module`."""
    for op in walk(module):
        if isinstance(op, vm.ShapeOfOp | vm.ShapeFuncOp):
            for result in op.results:
                return device_of(result.type)
    return None


def place(op: Operation, host: VirtualDeviceAttr | None) -> None:
    """Put the tensors that an op of a shape function computes on `host`."""
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
        Rewriter.replace_op(op, relay.ConstantOp(op.value, host))
        return
    for result in op.results:
        if host is not None and result.type.__class__ is TensorType:
            set_type(result, with_device(result.type, host))


@cache
def is_size_class(kind: type[Operation]) -> bool:
    """Test whether ops of a class only compute a size, a shape or a part of one."""
    return kind.name.startswith(("arith.", "tensor.")) or (
        kind.has_trait(ReadsOnlySizes) or issubclass(kind, relay.MeasureOp)
    )


@cache
def allocates(kind: type[Operation]) -> bool:
    return kind.get_trait(AllocatesResults) is not None


def is_measure(symbol: Symbol | None) -> bool:
    return symbol is not None and symbol.kind in MEASURES


@dataclass(frozen=True)
class Numbering:
    """Value numbering: visits ops in program order, and replaces those that compute known sizes."""

    code: ScopedCode

    def visit(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Replace `op` by what is equal, or note what it computes."""
        self.code.enter(op)
        if isinstance(op, relay.YieldOp):
            self.read_yielded(op)
        elif isinstance(op, relay.RequireOp):
            self.check(op, rewriter)
        elif len(op.results) == 1 and is_size_class(type(op)):
            equal = self.equal(op, op.results[0], rewriter)
            if equal is not None:
                rewriter.replace(op, [], [equal])

    def read_yielded(self, op: relay.YieldOp) -> None:
        """Read the dims that a branch yields, before those of the branches that hold it."""
        parent = op.parent_op()
        if parent is not None and parent.has_trait(ChoosesRegion):
            for value in op.values:
                if as_tensor(value.type):
                    self.code.sizes.dims(value)

    def check(self, op: relay.RequireOp, rewriter: PatternRewriter) -> None:
        """Remove a requirement that always holds, or that was made before."""
        check, sizes, scopes = Check(op.check.data), self.code.sizes, self.code.scopes
        left, right = sizes.size(op.lhs), sizes.size(op.rhs)
        certain = holds(check, left, right)
        if certain is False:
            return
        symmetric = check in (Check.EQUAL, Check.BROADCAST)
        keys = [("require", check, left, right), ("require", check, right, left)][: 1 + symmetric]
        if certain or scopes.find(keys[0]) is not None:
            rewriter.erase(op)
            return
        for key in keys:
            scopes.add(key, op.lhs, op.parent)

    def equal(self, op: Operation, result: SSAValue, rewriter: PatternRewriter) -> SSAValue | None:
        """Return a value that is equal to `result`, written here if need be."""
        code = self.code
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            return code.constant_at(op.value, rewriter)
        if isinstance(op, vm.ShapeOfOp) and not only_extracted(op):
            return code.shape_at(code.sizes.dims(op.data), result.type, op, rewriter)
        key: Hashable = op.name, tuple(op.operands), *op.properties.items(), result.type
        if result.type == i64:
            size = code.sizes.size(result)
            if size.symbol is None or size.symbol.args != (result,):
                return self.equal_size(op, size, rewriter)
        elif (
            isinstance(op, tensor.FromElementsOp) and (dims := code.sizes.shape(result)) is not None
        ):
            key = dims, result.type
        if not is_side_effect_free(op):
            return None
        known = code.scopes.find(key)
        if known is None:
            code.scopes.add(key, result)
        return known

    def equal_size(self, op: Operation, size: Expr, rewriter: PatternRewriter) -> SSAValue | None:
        """
        Return a value that holds `size`: a constant, one that dominates, or a dim.

        Of one that differs from a known size by a constant, only that difference is computed.
        """
        code, (result,), symbol = self.code, op.results, size.symbol
        if (
            size.constant is not None
            or code.find(size) is not None
            or (symbol is not None and symbol.kind == DIM)
            or (isinstance(op, relay.MeasureOp) and not is_measure(symbol))
        ):
            return code.write_at(size, op, rewriter)
        shorter = self.difference(op, size, rewriter)
        if shorter is not None:
            rewriter.insert(shorter, InsertPoint.before(op))
            shorter.results[0].name_hint = result.name_hint
            result = shorter.results[0]
        code.add(size, result)
        return None if shorter is None else result

    def difference(self, op: Operation, size: Expr, rewriter: PatternRewriter) -> Operation | None:
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


def only_extracted(op: vm.ShapeOfOp) -> bool:
    """Test whether elements are all that is read of a shape."""
    return all(isinstance(use.operation, tensor.ExtractOp) for use in op.result.uses)


def is_removable(op: Operation) -> bool:
    """Test whether `op` computes a size, or a tensor for a shape, and nothing else."""
    is_part = is_size_class(type(op)) or isinstance(op, relay.ConstantOp) or allocates(type(op))
    return is_part and is_trivially_dead(op)


def remove_shape_functions(module: ModuleOp, called: frozenset[str]) -> None:
    """Remove the shape functions that are not `called`, and their names in kernels."""
    functions = [op for op in module.ops if isinstance(op, relay.ShapeFuncOp)]
    unused = [op for op in functions if op.sym_name.data not in called]
    rewrite_each(unused, lambda function, rewriter: rewriter.erase(function))
    for op in module.ops:
        if isinstance(op, relay.PrimFuncOp) and op.shape_func is not None:
            if op.shape_func.string_value() not in called:
                op.shape_func = op.shape_inputs = None


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


def hoist(start: relay.LoopOp) -> None:
    """Compute the sizes and checks that all turns of a loop share before it."""
    own, op, end = {*start.results}, start.next_op, start.end
    while op is not None and op is not end:
        following = op.next_op
        is_size = is_size_class(type(op)) or isinstance(op, relay.RequireOp)
        if is_size and may_move(op) and own.isdisjoint(op.operands):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(start))
        elif isinstance(op, relay.RequireOp):
            return
        else:
            own |= {*op.results}
        op = following


@cache
def concerns_sizes(kind: type[Operation]) -> bool:
    """Test whether the pass may change something because of an op of class `kind`."""
    other = vm.ShapeFuncOp, relay.ShapeFuncOp, relay.RequireOp
    return is_size_class(kind) or issubclass(kind, other)


def is_numbered(op: Operation) -> bool:
    """Test whether value numbering may replace `op`, or reads sizes at it."""
    return is_size_class(type(op)) or isinstance(op, relay.RequireOp | relay.YieldOp)


class SimplifyShapesPass(ReportingPass):
    """Reduce the computation of shapes to arithmetic on the dims of parameters."""

    name = "simplify-shapes"
    accepts = "manifest"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        ops = [*outside_primitives(op.body)]
        if not any(concerns_sizes(type(inside)) for inside in ops):
            return False
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, relay.ShapeFuncOp)}
        host = host_of(op)

        def inline(call: vm.ShapeFuncOp, rewriter: PatternRewriter) -> None:
            if (function := functions.get(call.callee.string_value())) is not None:
                body = function.body.clone()
                for inner in body.block.ops:
                    place(inner, host)
                rewriter.replace(call, [], inline_before(call, body, call.ins, rewriter))

        rewrite_each([o for o in ops if isinstance(o, vm.ShapeFuncOp)], inline)
        numbering = Numbering(ScopedCode(host))
        rewrite_each([o for o in outside_primitives(op.body) if is_numbered(o)], numbering.visit)
        apply_patterns(op, *memory.AllocStorageOp.get_canonicalization_patterns())
        erase_unused(outside_primitives(op.body), is_removable)
        for start in [op for op in ops if isinstance(op, relay.LoopOp)]:
            hoist(start)
        called = called_shape_functions(op)
        if called is not None:
            remove_shape_functions(op, called)
        return True
