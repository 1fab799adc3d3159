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

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute, Region
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from ..dialects.device import device_of, plain_types
from ..dialects.relay.language.primitive import kernel_symbol
from ..dialects.xdsl_extras.identity import by_identity
from ..dialects.xdsl_extras.xdsl_internals import operands_of, set_type
from .analysis.structural_keys import Key, StructuralKeys
from .functions.symbols import SymbolNames
from .support.changes import LevelPass
from .support.rewriting import apply_patterns, replace_by_equal


def target_of(type: Attribute) -> StringAttr | None:
    """Return the target of the type's device, if it has one."""
    device = device_of(type)
    return device.target if device is not None and isinstance(device.target, StringAttr) else None


def function_of(
    body: Region, name: str, target: StringAttr | None, plain: Callable[[Attribute], Attribute]
) -> relay.PrimFuncOp:
    """Return a new function with the body of a primitive; erase devices from its types."""
    for value in (*body.block.args, *(r for op in body.block.ops for r in op.results)):
        set_type(value, plain(value.type))
    terminator = body.block.last_op
    assert terminator is not None
    type = FunctionType.from_lists(body.block.arg_types, [v.type for v in terminator.operands])
    return relay.PrimFuncOp(name, type, body, target)


class Callee(NamedTuple):
    """The name of a function, and the mark of one with effects."""

    name: SymbolRefAttr
    impure: UnitAttr | None


@dataclass(frozen=True)
class OutlinePrimitive(RewritePattern):
    """Replace a primitive by a call; the first of its kind becomes the function."""

    names: SymbolNames
    plain: Callable[[Attribute], Attribute]
    keys: StructuralKeys
    callees: dict[tuple[Key, StringAttr | None], Callee] = field(default_factory=lambda: {})
    functions: list[relay.PrimFuncOp] = field(default_factory=lambda: [])
    target_of: Callable[[Attribute], StringAttr | None] = field(
        default_factory=lambda: by_identity(target_of, {})
    )

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimitiveOp, rewriter: PatternRewriter, /) -> None:
        operands, view = operands_of(op), op.reshape_only
        values = (*op.results, *operands)
        target = next(filter(None, [self.target_of(value.type) for value in values]), None)
        # The body uses nothing from above, so that erasing the primitive need not take it apart.
        body = op.detach_region(op.body)
        key = self.keys.key(body.block), target
        callee = self.callees.get(key)
        if callee is None:
            name = self.names.unique(kernel_symbol(body.block.ops))
            function = function_of(body, name, target, self.plain)
            function.location = op.location
            self.functions.append(function)
            callee = self.callees[key] = Callee(SymbolRefAttr(name), function.impure)
        types = [result.type for result in op.results]
        call = relay.CallLoweredOp.on(callee.name, operands, types, view, callee.impure)
        call.turns = op.turns
        replace_by_equal(op, [call], rewriter)


class OutlinePrimitivesPass(LevelPass):
    name = "outline-primitives"
    accepts = "fused"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        plain = plain_types()
        outline = OutlinePrimitive(SymbolNames.of(op), plain, StructuralKeys(plain))
        apply_patterns(op, outline)
        op.body.block.add_ops(outline.functions)
