"""
Decide which values are printed as graph bindings and which need a `let`.

    %a = relay.exp %x                     %0 = exp(%x);
    %r = relay.ref_create %a              let %r = ref(%0);
    %b = relay.log %x              ->     %1 = log(%x);
    %c = relay.subtract %b, %a            subtract(%1, %0)

A reader computes a node (a graph binding, `%0 = …;`) where the text has it, if it has no effects
and its uses are not all in one inner region: it would move into that. So an op is a node if that is
where it is, and something uses it; any other op needs a `let`. As TVM computes a node when it is
needed, so does an op that is first used after a later one has written or freed memory; and so does
one that binds names inside (a `match`, a branch with `let`s), unless it is the result of its block:
TVM expands a node in each scope that needs it, and rejects a name that is bound twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Attribute, Block, Operation, OpResult
from xdsl.utils.exceptions import VerifyException

from ....dialects import relay
from ....dialects.device import with_device
from ....dialects.interfaces import InferTypes
from ....dialects.memory import AllocStorageOp, AllocTensorOp, KillOp
from ....dialects.relay.operator import infer_result_types
from ....dialects.tensors import as_tensor, is_static
from ....dialects.vm import DestinationCall

_MEMORY = (AllocStorageOp, AllocTensorOp, KillOp, DestinationCall)
ORDERED = (
    *(
        FuncCallOp,
        relay.CallOp,
        relay.InvokeOp,
        relay.RefCreateOp,
        relay.RefReadOp,
        relay.RefWriteOp,
    ),
    *_MEMORY,
)
"""Ops that must execute in their place."""
_LETS = (*ORDERED, relay.FnOp, relay.ClosureOp)
LEAVES = (relay.ConstantOp, relay.GlobalOp)
"""Ops whose text is printed where their value is used."""


@cache
def _is_kind(op: type[Operation], kinds: tuple[type[Operation], ...]) -> bool:
    """Return whether a class of ops is one of `kinds`; cached, as the test is slow."""
    return issubclass(op, kinds)


class Form(Enum):
    """The way an op is printed."""

    NODE = "a graph binding, or the value of a statement"
    LET = "a let"
    LEAF = "in the place of its use"
    PART = "the tuple that an op with several results is, or that op within the tuple's let"
    HINT = "a graph binding that a let keeps in its place: a let of the hint would change it"


@dataclass
class Order:
    """The forms of ops; the default is a `let`."""

    forms: dict[Operation, Form] = field(default_factory=dict[Operation, Form])
    has_effects: set[Operation] = field(default_factory=set[Operation])
    """Ops with regions in which something ordered happens."""
    binders: set[Operation] = field(default_factory=set[Operation])
    """Ops with regions in which names are bound."""

    def form(self, op: Operation) -> Form:
        return self.forms.get(op, Form.LET)


def order_of(block: Block) -> Order:
    """Return the forms of all ops in the function body `block`, regions included."""
    order = Order()
    _scan(block, order, is_function=True)
    return order


def source_of(op: Operation) -> Operation | None:
    """Return the op with several results whose tuple `op` is, or None."""
    if type(op) is not relay.TupleOp or len(op.operands) < 2:
        return None
    first = op.operands[0]
    source = first.op if isinstance(first, OpResult) else None
    if source is None or source.parent is not op.parent or isinstance(source, DestinationCall):
        return None
    return source if tuple(op.operands) == tuple(source.results) else None


# ------------------------------------------------------------------- the scan


@dataclass
class _Scan:
    """State of the backward walk through one block."""

    block: Block
    order: Order
    ops: list[Operation]
    """The ops that are printed, without the terminator; params are in the signature."""
    position: int
    """The index of the current op."""
    needed: set[Operation | Block] | None = None
    """The ops needed between the current op and the next that writes or frees memory, if any."""


def _scan(block: Block, order: Order, is_function: bool) -> None:
    """Find the forms in `block`, inner blocks first."""
    for op in block.ops:
        if op.regions:
            is_closure = isinstance(op, relay.FnOp)
            for region in op.regions:
                for inner in region.blocks:
                    _scan(inner, order, is_closure)
            if not is_closure and _has_effects(op, order):
                order.has_effects.add(op)
            if _binds_names(op, order):
                order.binders.add(op)
    ops = [op for op in block.ops if not isinstance(op, relay.ParamOp)]
    if not ops:
        return
    terminator = ops.pop()
    scan = _Scan(block, order, ops, len(ops))
    _take_leaves(scan, terminator)
    while scan.position > 0:
        scan.position -= 1
        _place(scan, ops[scan.position])
    if is_function:
        _keep_hint(scan, terminator)


def _take_leaves(scan: _Scan, op: Operation) -> None:
    """Print those of `op`'s leaves that are directly before it in their place; note its needs."""
    for operand in reversed(op.operands):
        need = operand.owner
        if type(need) is ExtractOp:
            _take_leaf(scan, need)
            need = need.tensor.owner
        if scan.needed is not None:
            scan.needed.add(need)
        if isinstance(need, Operation) and not op.regions and _is_leaf(need):
            _take_leaf(scan, need)


def _take_leaf(scan: _Scan, leaf: Operation) -> None:
    if scan.position > 0 and leaf is scan.ops[scan.position - 1]:
        scan.order.forms[leaf] = Form.LEAF
        scan.position -= 1


def _is_leaf(op: Operation) -> bool:
    if not _is_kind(type(op), LEAVES) or not op.results[0].has_one_use():
        return False
    (use,) = op.results[0].uses
    # `@f(%x)` is a `func.call`
    return not (isinstance(use.operation, relay.CallOp) and use.index == 0)


def _place(scan: _Scan, op: Operation) -> None:
    """Find the form of `op`, the last op that has none yet."""
    if isinstance(op, ExtractOp | relay.InstantiateOp):  # the text names the tensor, or closure
        scan.order.forms[op] = Form.LEAF
        return
    source = source_of(op)
    if not _must_be_let(scan, op):
        scan.order.forms[op] = Form.NODE if source is None else Form.PART
    elif _would_become_fixed(op) and op.results[0].first_use is not None:
        scan.order.forms[op] = Form.HINT
    elif source is not None and _is_only_tuple(scan, source, op):
        scan.order.forms[source] = Form.PART
        scan.position -= 1
        op = source
    if _is_kind(type(op), _MEMORY) or op in scan.order.has_effects:
        scan.needed = set()
    _take_leaves(scan, op)


def _is_only_tuple(scan: _Scan, source: Operation, op: Operation) -> bool:
    """Return whether `op`, the tuple of `source`'s results, follows it as its only user."""
    adjacent = scan.position > 0 and scan.ops[scan.position - 1] is source
    return adjacent and all(u.operation is op for r in source.results for u in r.uses)


def _must_be_let(scan: _Scan, op: Operation) -> bool:
    """Return whether `op` needs a `let`."""
    if _is_kind(type(op), _LETS) or op in scan.order.has_effects or is_declared(op):
        return True
    if scan.needed is not None and op not in scan.needed:
        return True
    if not isinstance(op, relay.GlobalOp):
        if any(isinstance(result.type, FunctionType) for result in op.results):
            return True
    source = source_of(op)
    if source is not None and (
        scan.position == 0
        or scan.ops[scan.position - 1] is not source
        or any(isinstance(u.operation, relay.TupleGetItemOp) for u in op.results[0].uses)
    ):
        return True
    if op in scan.order.binders and not _is_block_result(op):
        return True
    return _is_used_inside_only(op, scan.block)


def _binds_names(op: Operation, order: Order) -> bool:
    """Return whether patterns or statements in the regions of `op` bind variables."""
    if isinstance(op, relay.MatchOp):
        return True
    return any(
        o.results and (_is_statement(order, o) or o in order.binders) for o in _ops_inside(op)
    )


def _ops_inside(op: Operation) -> Iterator[Operation]:
    """Yield the ops of the blocks of `op`."""
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


def _is_block_result(op: Operation) -> bool:
    """Return whether the block of `op` ends in returning its result, which has no other use."""
    after = op.next_op
    return after is not None and after.next_op is None and op.results[0].has_one_use()


def _is_used_inside_only(op: Operation, block: Block) -> bool:
    """Return whether no use of `op` is outside one region of one op of its block."""
    inside: set[Block | None] = set()
    for result in op.results:
        for use in result.uses:
            user = use.operation
            at = user.parent
            if at is block:
                if type(user) is ExtractOp and user.result.first_use is None:
                    continue  # not in the text
                return False
            while at is not None and (outer := at.parent_op()) and outer.parent is not block:
                at = outer.parent
            inside.add(at)
    return len(inside) < 2


def _has_effects(op: Operation, order: Order) -> bool:
    """Return whether something ordered happens in the regions of `op` when it executes."""
    return any(_is_kind(type(o), ORDERED) or o in order.has_effects for o in _ops_inside(op))


def _keep_hint(scan: _Scan, terminator: Operation) -> None:
    """Bind a hint that is a function's result and would otherwise be read as a fixed one."""
    owners = (v.owner for v in terminator.operands)
    ops = (op for op in owners if isinstance(op, Operation) and op.parent is scan.block)
    op = next(filter(_would_become_fixed, ops), None)
    if op is None or any(_is_statement(scan.order, other) for other in scan.ops):
        return
    hinted, is_before = op.operands[0].owner, op.operands[0].owner is op.prev_op
    if is_before and isinstance(hinted, Operation) and scan.order.form(hinted) is Form.NODE:
        scan.order.forms[hinted] = Form.LET
    else:
        scan.order.forms[op] = Form.HINT


def _would_become_fixed(op: Operation) -> bool:
    """Return whether a `let` of `op` would be read as a hint that constrains its result too."""
    return type(op) is relay.OnDeviceOp and op.constrain_body and not op.constrain_result


def _is_statement(order: Order, op: Operation) -> bool:
    return order.form(op) in (Form.LET, Form.HINT)


# ------------------------------------------------------------- types to declare


def is_declared(op: Operation) -> bool:
    """Return whether the type of `op`'s one result must be printed: operands do not imply it."""
    if type(op) is relay.InvokeOp:  # built where dims are known on one side only
        return not op.type_args.data
    if type(op) is relay.MatchOp and not op.cases:
        return True
    if len(op.results) != 1 or not _infers(type(op)):
        return False
    if op.operands and not op.regions and all(_is_static(o.type) for o in op.operands):
        return False
    try:
        inferred = infer_result_types(op)
    except VerifyException:
        return True
    if inferred is None:
        return False
    return with_device(inferred[0], None) != with_device(op.results[0].type, None)


@cache
def _infers(kind: type[Operation]) -> bool:
    """Return whether operand types imply result types; a closure states all its types."""
    return kind is not relay.FnOp and kind.has_trait(InferTypes)


def _is_static(type: Attribute) -> bool:
    tensor = as_tensor(type)
    return tensor is not None and is_static(tensor)
