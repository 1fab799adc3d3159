"""
Which values a reader would compute where they stand, and which need a `let` to stay there.

    %a = relay.exp %x                     let %a = exp(%x);        a node would come second
    %b = relay.log %x              ->     %0 = log(%x);
    %c = relay.subtract %b, %a            subtract(%0, %a)

A reader computes a node (a graph binding, `%0 = …;`) when it is first needed: before a statement
it goes through what that needs, depth first, left to right. Going backwards through a block with
a stack of what is needed, an op is a node if it is on the stack when it is met, above what was
met before; otherwise it needs a `let`, which begins with an empty stack. Each operand goes on
the stack once, so the time is linear.

A reader also moves a node into the innermost region around its uses: an op outside of that
region needs a `let`. So does an op that binds names inside (a `match`, a branch with `let`s),
unless it is what its block gives: TVM expands a node in each scope that needs it, and refuses a
name that is bound twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ...dialects.memory import AllocStorageOp, AllocTensorOp, KillOp
from ...dialects.relay.closures import CallOp, FnOp
from ...dialects.relay.constants import ConstantOp, ParamOp
from ...dialects.relay.device_ops import OnDeviceOp
from ...dialects.relay.globals import GlobalOp, InvokeOp
from ...dialects.relay.matching import MatchOp
from ...dialects.relay.references import RefCreateOp, RefReadOp, RefWriteOp
from ...dialects.relay.tuples import TupleGetItemOp, TupleOp
from ...dialects.vm import DestinationCall
from .printer_declared import is_declared

ORDERED = (
    *(FuncCallOp, CallOp, InvokeOp, RefCreateOp, RefReadOp, RefWriteOp),
    *(AllocStorageOp, AllocTensorOp, KillOp, DestinationCall),
)
"""Ops that must happen where they stand."""
_LETS = (*ORDERED, FnOp)
LEAVES = (ConstantOp, GlobalOp)
"""Ops whose text stands where their value is used."""


@cache
def _is_kind(op: type[Operation], kinds: tuple[type[Operation], ...]) -> bool:
    """Whether ops of a class are of one of these; asked once for each class, for it takes long."""
    return issubclass(op, kinds)


class Form(Enum):
    """How an op is written."""

    NODE = "a graph binding, or the value of a statement"
    LET = "a let"
    LEAF = "in the place of its use"
    PART = "the tuple that an op with several results is, or that op within the tuple's let"
    HINT = "a graph binding that a let keeps in its place: a let of the hint would change it"


@dataclass
class Order:
    """The forms of ops; lets are the default."""

    forms: dict[Operation, Form] = field(default_factory=dict[Operation, Form])
    has_effects: set[Operation] = field(default_factory=set[Operation])
    """Ops with regions in which something ordered happens."""
    binders: set[Operation] = field(default_factory=set[Operation])
    """Ops with regions in which names are bound."""

    def form(self, op: Operation) -> Form:
        return self.forms.get(op, Form.LET)


def order_of(block: Block) -> Order:
    """The forms of all ops in `block` and in its ops' regions; it is the body of a function."""
    order = Order()
    _scan(block, order, is_function=True)
    return order


def source_of(op: Operation) -> Operation | None:
    """The op with several results whose tuple `op` is, if it is one."""
    if type(op) is not TupleOp or len(op.operands) < 2:
        return None
    first = op.operands[0]
    source = first.op if isinstance(first, OpResult) else None
    if source is None or source.parent is not op.parent or isinstance(source, DestinationCall):
        return None
    return source if tuple(op.operands) == tuple(source.results) else None


# ------------------------------------------------------------------- the scan


@dataclass
class _Scan:
    """One block, gone through backwards."""

    block: Block
    order: Order
    demands: dict[Operation, list[Operation]]
    """What each op with regions needs from this block or from around it, inside the regions."""
    ops: list[Operation]
    """The ops that are written, but for the last; params stand in the signature."""
    stack: list[Operation] = field(default_factory=list[Operation])
    at: int = 0
    """The op at hand."""
    forced: set[Operation] = field(default_factory=set[Operation])


def _scan(block: Block, order: Order, is_function: bool) -> list[Operation]:
    """Find the forms in `block`; what it needs from around it, in the order of a reader."""
    demands: dict[Operation, list[Operation]] = {}
    for op in block.ops:
        if op.regions:
            is_closure = isinstance(op, FnOp)
            needed = [d for r in op.regions for b in r.blocks for d in _scan(b, order, is_closure)]
            demands[op] = needed
            if not is_closure and _has_effects(op, order):
                order.has_effects.add(op)
            if _binds_names(op, order):
                order.binders.add(op)
    ops = [op for op in block.ops if not isinstance(op, ParamOp)]
    if not ops:
        return []
    terminator = ops.pop()
    scan = _Scan(block, order, demands, ops, at=len(ops))
    _need(scan, terminator)
    while scan.at > 0:
        scan.at -= 1
        _place(scan, ops[scan.at])
    if is_function:
        _keep_hint(scan, terminator)
    return _needed_outside(scan, terminator)


def _need(scan: _Scan, op: Operation) -> None:
    """
    Take `op`'s leaves, which stand directly before it, and put its needs on the stack.

    The first need is the lowest; what is needed twice is computed when it is needed first.
    """
    needs: list[Operation] = []
    for operand in reversed(op.operands):
        if not isinstance(operand, OpResult) or operand.op.parent is not scan.block:
            continue
        need = operand.op
        if type(need) is ExtractOp:
            if scan.at > 0 and need is scan.ops[scan.at - 1]:
                scan.at -= 1
            scan.order.forms[need] = Form.LEAF
            if not isinstance(need.tensor, OpResult) or need.tensor.op.parent is not scan.block:
                continue
            need = need.tensor.op
        if not op.regions and scan.at > 0 and need is scan.ops[scan.at - 1] and _is_leaf(need):
            scan.order.forms[need] = Form.LEAF
            scan.at -= 1
        else:
            needs.append(need)
    needs.reverse()
    if op.regions:
        needs += scan.demands[op]
    scan.stack += dict.fromkeys(needs) if len(needs) > 1 else needs


def _is_leaf(op: Operation) -> bool:
    if not _is_kind(type(op), LEAVES) or not op.results[0].has_one_use():
        return False
    (use,) = op.results[0].uses
    # `@f(%x)` is a `func.call`
    return not (isinstance(use.operation, CallOp) and use.index == 0)


def _place(scan: _Scan, op: Operation) -> None:
    """Find the form of `op`, which is the next before what has been placed."""
    if type(op) is ExtractOp:  # the text names the tensor
        scan.order.forms[op] = Form.LEAF
        return
    if _is_needed_now(scan, op):
        source = source_of(op)
        scan.order.forms[op] = Form.NODE if source is None else Form.PART
        if type(op) is TupleOp and op.operands and scan.at > 0:
            before = scan.ops[scan.at - 1]
            if isinstance(before, TupleOp) and before.results[0] not in op.operands:
                scan.forced.add(before)  # a reader makes tuples late, the last one first
        _need(scan, op)
        return
    scan.stack.clear()
    if _would_be_fixed(op) and op.results[0].first_use is not None:
        scan.order.forms[op] = Form.HINT
    source = source_of(op)
    if source is not None and _is_only_tuple(scan, source, op):
        scan.order.forms[source] = Form.PART
        scan.at -= 1
        _need(scan, source)
        return
    _need(scan, op)


def _is_needed_now(scan: _Scan, op: Operation) -> bool:
    """Whether `op` is next on the stack, and may be a node."""
    if op in scan.forced or _must_be_let(scan, op):
        return False
    while scan.stack:
        if scan.stack.pop() is op:
            return True
    return False


def _is_only_tuple(scan: _Scan, source: Operation, op: Operation) -> bool:
    """Whether `op`, the tuple of `source`'s results, is the next op and all that uses them."""
    adjacent = scan.at > 0 and scan.ops[scan.at - 1] is source
    return adjacent and all(u.operation is op for r in source.results for u in r.uses)


def _must_be_let(scan: _Scan, op: Operation) -> bool:
    """Whether something else than its place says that `op` needs a `let`."""
    if _is_kind(type(op), _LETS) or op in scan.order.has_effects:
        return True
    if is_declared(op):
        return True
    if not isinstance(op, GlobalOp):
        for result in op.results:
            if isinstance(result.type, FunctionType):
                return True
    source = source_of(op)
    if source is not None and (
        scan.at == 0
        or scan.ops[scan.at - 1] is not source
        or any(isinstance(u.operation, TupleGetItemOp) for u in op.results[0].uses)
    ):
        return True
    if op in scan.order.binders and not _is_given(op):
        return True
    return _is_used_inside_only(op, scan.block)


def _binds_names(op: Operation, order: Order) -> bool:
    """Whether patterns or statements in the regions of `op` bind variables."""
    if isinstance(op, MatchOp):
        return True
    inner = (o for region in op.regions for block in region.blocks for o in block.ops)
    return any(o.results and (_is_statement(order, o) or o in order.binders) for o in inner)


def _is_given(op: Operation) -> bool:
    """Whether the block of `op` ends in giving what `op` computes, which nothing else needs."""
    after = op.next_op
    return after is not None and after.next_op is None and op.results[0].has_one_use()


def _is_used_inside_only(op: Operation, block: Block) -> bool:
    """Whether all uses of `op` are in one region of one op of its block."""
    where: Block | None = None
    for result in op.results:
        for use in result.uses:
            user = use.operation
            if user.parent is block:
                return False
            inner = user.parent
            while inner is not None:
                around = inner.parent_op()
                if around is None or around.parent is block:
                    break
                inner = around.parent
            if where is not None and inner is not where:
                return False
            where = inner
    return where is not None


def _has_effects(op: Operation, order: Order) -> bool:
    """Whether something ordered happens in the regions of `op` when it is run."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if _is_kind(type(inner), ORDERED) or inner in order.has_effects:
                    return True
    return False


def _keep_hint(scan: _Scan, terminator: Operation) -> None:
    """A function's result that is a hint, with no `let` before it, would be read as a fixed one."""
    for value in terminator.operands:
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not scan.block or not _would_be_fixed(op):
            continue
        if any(_is_statement(scan.order, o) for o in scan.ops):
            continue
        before = op.prev_op
        if (
            before is not None
            and before is op.operands[0].owner
            and scan.order.form(before) is Form.NODE
        ):
            scan.order.forms[before] = Form.LET
        else:
            scan.order.forms[op] = Form.HINT


def _would_be_fixed(op: Operation) -> bool:
    """Whether a `let` of `op` would be read as a hint that constrains its result too."""
    return type(op) is OnDeviceOp and op.constrain_body and not op.constrain_result


# ------------------------------------------------------- needs from further out


def _needed_outside(scan: _Scan, terminator: Operation) -> list[Operation]:
    """The ops around the block that it needs, in the order in which a reader meets them."""
    needed: dict[Operation, None] = {}
    seen: set[Operation] = set()
    statements = [op for op in scan.ops if _is_statement(scan.order, op)]
    for statement in (*statements, terminator):
        stack: list[tuple[Operation, bool]] = [(statement, False)]
        while stack:
            op, emitting = stack.pop()
            if op.parent is not scan.block:
                needed.setdefault(op)
            elif emitting:
                stack += [(need, False) for need in reversed(scan.demands.get(op, ()))]
            elif op not in seen and (op is statement or not _is_statement(scan.order, op)):
                seen.add(op)
                stack.append((op, True))
                stack += [(need, False) for need in reversed(_defining(op.operands))]
    return list(needed)


def _is_statement(order: Order, op: Operation) -> bool:
    return order.form(op) in (Form.LET, Form.HINT)


def _defining(operands: Sequence[SSAValue]) -> list[Operation]:
    return [operand.op for operand in operands if isinstance(operand, OpResult)]
