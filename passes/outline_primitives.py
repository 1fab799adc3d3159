"""
Turn each distinct primitive into a function, and call it.

    %r = relay.primitive(%a = %x : T) -> (U) {…}
    ->
    %r = relay.call_lowered @fused_nn_relu(%x) : (T) -> U
    relay.prim_func @fused_nn_relu(%a: T) -> U {…}

Primitives with equal bodies (ops, attributes, wiring, types without devices) and the same target
share one function; its types carry no device. Functions are named after their operators, in the
order of first use, and inserted at the end of the module. From level `fused` to `lowered`.
"""

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

from ..dialects import relay
from ..dialects.device import device_of
from ..dialects.relay.primitive import kernel_symbol
from .analysis.structure import Key, structural_key
from .support.plain_types import PlainTypes
from .support.rewriting import apply_patterns
from .support.symbols import SymbolNames


def target_of(primitive: relay.PrimitiveOp) -> StringAttr | None:
    """Return the target of the primitive's device, if it has one."""
    for value in (*primitive.results, *primitive.operands):
        device = device_of(value.type)
        if device is not None and isinstance(device.target, StringAttr):
            return device.target
    return None


def function_of(
    primitive: relay.PrimitiveOp, name: str, target: StringAttr | None, plain: PlainTypes
) -> relay.PrimFuncOp:
    """Move the body of `primitive` into a new function, and erase devices from its types."""
    body = primitive.detach_region(primitive.body)
    for value in (*body.block.args, *(r for op in body.block.ops for r in op.results)):
        type = plain(value.type)
        if type != value.type:
            Rewriter.replace_value_with_new_type(value, type)
    terminator = body.block.last_op
    assert terminator is not None
    type = FunctionType.from_lists(body.block.arg_types, [v.type for v in terminator.operands])
    function = relay.PrimFuncOp(name, type, body, target)
    function.location = primitive.location
    return function


@dataclass(frozen=True)
class OutlinePrimitive(RewritePattern):
    """Replace a primitive by a call; the first of its kind becomes the function."""

    names: SymbolNames
    plain: PlainTypes = field(default_factory=PlainTypes)
    callees: dict[Key, SymbolRefAttr] = field(default_factory=dict[Key, SymbolRefAttr])
    functions: list[relay.PrimFuncOp] = field(default_factory=list[relay.PrimFuncOp])

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimitiveOp, rewriter: PatternRewriter, /) -> None:
        target = target_of(op)
        key = (structural_key(op.body.block, self.plain), target)
        callee = self.callees.get(key)
        if callee is None:
            name = self.names.unique(kernel_symbol(op.body.block.ops))
            self.functions.append(function_of(op, name, target, self.plain))
            callee = self.callees[key] = SymbolRefAttr(name)
        call = relay.CallLoweredOp.on(
            callee, op.operands, [r.type for r in op.results], op.reshape_only
        )
        for old, new in zip(op.results, call.results, strict=True):
            new.name_hint = old.name_hint
        rewriter.replace(op, call)


@dataclass(frozen=True)
class OutlinePrimitivesPass(ModulePass):
    """Turn each distinct primitive into a function, and call it."""

    name = "outline-primitives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        outline = OutlinePrimitive(SymbolNames.of(op))
        apply_patterns(op, outline)
        op.body.block.add_ops(outline.functions)
