"""
Let the callers of kernels allocate the memory that compiled code needs besides the results.

    %y = relay.call_lowered @f(%x, %u)            %y, %s = relay.call_lowered @f(%x, %u)
    relay.prim_func @f(%a: T, %b: U) -> V {  ->   relay.prim_func @f(%a: T, %b: U) -> (V, S) {
      %c = relay.nn.conv2d %a, %b {…}               %c = relay.nn.conv2d %a, %b {…}
                                                    %s = relay.scratch : S
      relay.yield %c                                relay.yield %c, %s

An op that `NeedsScratch` says how much, for so many `parts`. What nothing reads is dead right after
the call, so the plan places it in bytes that are free at this moment, and its checker knows it like
any result. A kernel with a shape function is left alone. A second run changes nothing. After
`create-shape-functions`, from level `lowered` to the same.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.device import device_of, with_device
from ..dialects.interfaces import Lookup, scratch_types
from ..dialects.xdsl_extras.walking import walk
from .functions.signatures import set_types
from .functions.symbols import symbols_of
from .support.changes import LevelPass
from .support.diagnostics import OptionError
from .support.rewriting import apply_patterns


@dataclass(frozen=True)
class ReturnScratch(RewritePattern):
    """Return the scratch memory of a kernel's ops from the kernel, one of those `called`."""

    called: set[str]
    parts: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        ops = [*op.body.block.ops]
        if op.shape_func is not None or op.sym_name.data not in self.called:
            return
        if any(isinstance(inner, relay.ScratchOp) for inner in ops):
            return
        types = [type for inner in ops for type in scratch_types(inner, self.parts)]
        if not types:
            return
        end = op.body.block.last_op
        assert isinstance(end, relay.YieldOp), "verified: a kernel yields"
        scratch = [relay.ScratchOp.create(result_types=[type]) for type in types]
        values = *end.values, *(s.result for s in scratch)
        rewriter.insert(scratch, InsertPoint.before(end))
        rewriter.replace(end, relay.YieldOp(*values))
        set_types(op, outputs=[*op.function_type.outputs, *types])
        if op.scopes is not None:
            op.scopes = ArrayAttr([*op.scopes, *(StringAttr("") for _ in types)])
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class ReceiveScratch(RewritePattern):
    """Let a call have the results that its kernel returns besides those that it has."""

    lookup: Lookup

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.CallLoweredOp, rewriter: PatternRewriter, /) -> None:
        kernel = self.lookup(op.callee.string_value())
        assert isinstance(kernel, relay.PrimFuncOp), "verified: a kernel is called"
        more = kernel.function_type.outputs.data[len(op.results) :]
        if not more:
            return
        device = device_of(op.results[0].type)
        types = [*op.result_types, *(with_device(type, device) for type in more)]
        call = op.create(operands=op.operands, result_types=types, properties=op.properties)
        for result in call.results[len(op.results) :]:
            result.name_hint = "scratch"
        rewriter.replace(op, call, call.results[: len(op.results)])


@dataclass(frozen=True)
class DeclareScratchPass(LevelPass):
    """Let callers allocate the memory that compiled kernels need besides their results."""

    name = "declare-scratch"
    accepts = "lowered"

    parts: int = 4
    """The threads that may compute a kernel at the same time; each has memory of its own."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.parts < 1:
            raise OptionError(f"parts must be at least 1, but is {self.parts}", "parts")
        calls = [call for call in walk(op) if isinstance(call, relay.CallLoweredOp)]
        called = {call.callee.string_value() for call in calls}
        apply_patterns(op, ReturnScratch(called, self.parts))
        apply_patterns(op, ReceiveScratch(symbols_of(op).get))
