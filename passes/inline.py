"""
Replace calls of functions by their bodies.

    func.func @double(%a: T) -> T                   %s = relay.add %x, %x : …
        attributes {relay.inline} {                 %y = relay.exp %s : …
      %s = relay.add %a, %a : …              ->
      func.return %s : T
    }
    %d = func.call @double(%x) : (T) -> T
    %y = relay.exp %d : …

A function is inlined if it is marked (`relay.inline`, or `Inline` in Relay's attributes); with
`max-ops` also if its body, after inlining in it, has at most so many ops; with `once` also if it is
private and its one use is the call. A function that Relay's attribute `Compiler` gives to another
compiler stays a function. Recursion is never unrolled. Calls of function values become
direct first. A call stays where it knows more dims than the function, or less. Bodies are copied,
and functions stay for `remove-unused-functions`, except that with `once` a body is moved. Devices
that a signature requires before planning become hints. (TVM: Inline.) From level `relay` to
`lowered`; the level stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ..dialects import relay
from ..dialects.device import DEVICE, VirtualDeviceAttr
from ..dialects.relay.language.annotations import ATTRS, INLINE, type_params_of
from ..dialects.relay.language.language_types import substitute, substituted
from ..dialects.xdsl_extras.walking import walk
from .functions.calls import call_directly, inline_before
from .functions.symbols import CallGraph
from .support.changes import ReportingPass
from .support.diagnostics import OptionError, PassError, emit_remark
from .support.rewriting import apply_patterns, rewrite_each
from .support.walk import outside_primitives

MAX_COPIED = 1_000_000
"""The maximum number of ops that inlining may copy in a module."""


def relay_attribute(function: func.FuncOp, name: str) -> Attribute | None:
    """Return Relay's attribute `name` of `function`."""
    attrs = function.attributes.get(ATTRS)
    return attrs.data.get(name) if isinstance(attrs, DictionaryAttr) else None


def is_marked(function: func.FuncOp) -> bool:
    """Test whether `function` is marked for inlining."""
    relays = relay_attribute(function, "Inline")
    is_set = isinstance(relays, IntegerAttr) and relays.value.data != 0
    return is_set or INLINE in function.attributes


def body_of(function: func.FuncOp) -> Block | None:
    """
    Return the block that is the body of `function`, if it can be inlined; None if it has none, or
    several blocks, or is for another compiler.
    """
    block = function.body.first_block
    is_external = relay_attribute(function, "Compiler") is not None
    if block is None or block.next_block is not None or is_external:
        return None
    return block if isinstance(block.last_op, func.ReturnOp) else None


def size_of(block: Block) -> int:
    """Return the number of ops in `block`, nested ones included, without terminators."""
    return sum(1 for op in walk(block) if not isinstance(op, func.ReturnOp | relay.YieldOp))


def callee_of(call: Operation) -> str | None:
    """Return the name of the function that `call` calls; None if it is not a direct call."""
    if not isinstance(call, func.CallOp | relay.InvokeOp):
        return None
    return call.callee.string_value()


def type_arguments(call: Operation, function: func.FuncOp) -> dict[str, Attribute]:
    """Return the type argument for each type parameter of the function that `call` calls."""
    names = type_params_of(function)
    if not names or not isinstance(call, relay.InvokeOp):
        return {}
    return dict(zip(names, call.type_args, strict=True))


def fits(call: Operation, function: func.FuncOp, given: Mapping[str, Attribute]) -> bool:
    """Test whether the types in `call` are those of `function`."""
    type = function.function_type
    return all(
        value.type == substituted(declared, given)
        for values, types in ((call.operands, type.inputs), (call.results, type.outputs))
        for value, declared in zip(values, types, strict=True)
    )


@dataclass
class Criteria:
    """Decides which functions are copied into their callers: each once, after inlining in it."""

    graph: CallGraph
    max_ops: int
    recursive: set[str] = field(init=False)
    known: dict[str, func.FuncOp | None] = field(default_factory=lambda: {})
    sizes: dict[str, int] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        self.recursive = self.graph.recursive()

    def function(self, name: str) -> func.FuncOp | None:
        """Return the function `name` if its calls are to be inlined."""
        if name not in self.known:
            self.known[name] = self._decide(name)
        return self.known[name]

    def size(self, name: str) -> int:
        """Return the number of ops in the body of the function `name`."""
        if name not in self.sizes:
            self.sizes[name] = size_of(self.graph.symbols[name].regions[0].block)
        return self.sizes[name]

    def _decide(self, name: str) -> func.FuncOp | None:
        op = self.graph.symbols.get(name)
        if not isinstance(op, func.FuncOp) or name in self.recursive or body_of(op) is None:
            return None
        if is_marked(op):
            return op
        return op if self.max_ops and self.size(name) <= self.max_ops else None


def used_once(graph: CallGraph, recursive: set[str]) -> dict[Operation, func.FuncOp]:
    """
    Return the private functions whose one use is a call, by that call; callers before callees.
    """
    callees: dict[Operation, func.FuncOp] = {}
    for name in chain.from_iterable(reversed(graph.components())):
        op, users = graph.symbols[name], graph.users[name]
        if not isinstance(op, func.FuncOp) or op.sym_visibility != StringAttr("private"):
            continue
        is_free = name not in recursive and name not in graph.roots and body_of(op) is not None
        if is_free and len(users) == 1 and callee_of(users[0]) == name:
            callees[users[0]] = op
    return callees


def hinted(
    value: SSAValue, attrs: ArrayAttr[DictionaryAttr] | None, index: int, made: list[Operation]
) -> SSAValue:
    """Return `value` on the device that entry `index` of `attrs` names, by a new op in `made`."""
    device = None if attrs is None else attrs.data[index].data.get(DEVICE)
    if not isinstance(device, VirtualDeviceAttr):
        return value
    hint = relay.OnDeviceOp(value, device, constrain_body=True, constrain_result=True)
    made.append(hint)
    hint.result.name_hint = value.name_hint
    return hint.result


def inline_body(
    call: Operation,
    function: func.FuncOp,
    body: Region,
    given: Mapping[str, Attribute],
    rewriter: PatternRewriter,
) -> None:
    """Replace `call` by the ops of `body`, the body of `function` or a copy of it."""
    if given:
        substitute(body, given)
    here = InsertPoint.before(call)
    before: list[Operation] = []
    args = [hinted(v, function.arg_attrs, i, before) for i, v in enumerate(call.operands)]
    rewriter.insert(before, here)
    results = inline_before(call, body, args, rewriter)
    after: list[Operation] = []
    values = [hinted(v, function.res_attrs, i, after) for i, v in enumerate(results)]
    rewriter.insert(after, here)
    rewriter.replace(call, [], values)


@dataclass
class CopyBody(RewritePattern):
    """Replace a call by a copy of the function's body."""

    criteria: Criteria
    copied: int = 0
    """The number of ops that were copied."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        name = callee_of(op)
        function = None if name is None else self.criteria.function(name)
        if function is None:
            return
        given = type_arguments(op, function)
        if not fits(op, function, given):
            return
        self.count(op, function)
        inline_body(op, function, function.body.clone(), given, rewriter)

    def count(self, call: Operation, function: func.FuncOp) -> None:
        """Count the ops that are copied for `call`; an error if there are too many."""
        self.copied += self.criteria.size(function.sym_name.data)
        if self.copied > MAX_COPIED:
            raise PassError(
                f"inlining copies more than {MAX_COPIED} ops; "
                f"do not inline @{function.sym_name.data}, or call it less often",
                call,
            )


def move_body(call: Operation, function: func.FuncOp, rewriter: PatternRewriter) -> None:
    """Replace the one call of a function by its body, and remove the function."""
    given = type_arguments(call, function)
    if fits(call, function, given):
        inline_body(call, function, function.detach_region(function.body), given, rewriter)
        rewriter.erase(function)


def remark_recursion(ctx: Context, criteria: Criteria) -> None:
    """Tell the user which marked functions are not inlined."""
    for name, op in criteria.graph.symbols.items():
        if name in criteria.recursive and isinstance(op, func.FuncOp) and is_marked(op):
            emit_remark(ctx, op, f"@{name} is recursive, so its calls are not inlined")


@dataclass(frozen=True)
class InlinePass(ReportingPass):
    name = "inline"
    accepts = "relay"

    max_ops: int = 0
    """Inline functions of at most so many ops, besides marked ones."""

    once: bool = False
    """Inline private functions with a single use, besides marked ones."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        if self.max_ops < 0:
            raise OptionError(f"max-ops must be at least 0, but is {self.max_ops}", "max-ops")
        functions = [function for function in op.ops if isinstance(function, func.FuncOp)]
        if not (self.max_ops or self.once or any(map(is_marked, functions))):
            return False
        call_directly(op)
        graph = CallGraph.of(op)
        criteria = Criteria(graph, self.max_ops)
        remark_recursion(ctx, criteria)
        copy = CopyBody(criteria)
        for name in graph.callees_first():  # whose bodies are complete
            calls = calls_in(graph.symbols[name])
            if calls:
                apply_patterns(op, copy, only=calls)
        if self.once:
            # Callers first: an op moves only once.
            moved = used_once(CallGraph.of(op), criteria.recursive)
            rewrite_each(moved, lambda call, rewriter: move_body(call, moved[call], rewriter))
        return True


def calls_in(function: Operation) -> Sequence[Operation]:
    """Return the direct calls in `function`."""
    return [op for op in outside_primitives(function) if callee_of(op) is not None]
