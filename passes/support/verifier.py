"""
Verify a module: xDSL's own checks and dominance; errors have a location.

Every op is visited once, with the set of values that it may use:

    %a = "test.op"() : () -> i32             visible: %a
    "test.op"() ({
      %b = "test.op"(%a) : (i32) -> i32      visible: %a, %b
    }) : () -> ()
    "test.op"(%b) : (i32) -> ()              visible: %a      -> error

Inside a region with several blocks, blocks are visited along the dominator tree; what a
block defines is visible in the blocks that it dominates. An op isolated from above starts
with nothing visible. Unreachable blocks are exempt from dominance, not from other checks.

Linear in ops, blocks and operands (xDSL's `verify` counts a region's blocks for every
terminator, and looks symbols up by a walk for every call), without recursion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from xdsl.ir import Block, ErasedSSAValue, Operation, OpTraits, Region, SSAValue
from xdsl.irdl import OpDef
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.symbol_table import get_name_if_symbol

from ...dialects.errors import OpVerifyException
from ...dialects.xdsl_extras.identity import forget_attributes
from ...dialects.xdsl_extras.xdsl_internals import formatted, operands_of, successors_of
from ..analysis.dominance import dominated_by
from .diagnostics import PassError
from .op_definitions import Check, Definition, checks_after_definition, definition_of

if TYPE_CHECKING:
    from ...dialects.interfaces import Lookup


class VerifyError(PassError):
    """An invalid op, with its location."""


class SymbolUser(Protocol):
    """An op that refers to symbols."""

    def verify_symbol_uses(self, lookup: "Lookup") -> None:
        """
        Raise `VerifyException` if a symbol is missing or of the wrong kind.

        The verifier calls it after `verify_`, so that `verify_` need not look symbols up itself
        (xDSL's lookup walks the whole module for each).
        """
        ...


class _Kind(NamedTuple):
    """Properties of an op class that the verifier depends on."""

    is_isolated: bool
    is_table: bool
    uses_symbols: bool
    """True if the ops are each a `SymbolUser`."""
    definition: Definition | None
    """The definition, if `op_definitions` understands it."""
    further: Sequence[Check]
    """The checks after that of the definition."""


@dataclass
class _Visit:
    """The ops of one block that are yet to be visited, and the scope that ends with it."""

    block: Block
    ops: Iterator[Operation]
    dominated: dict[Block, list[Block]]
    reachable: bool
    defined: list[int] = field(default_factory=lambda: [])
    """The ids of the values that stop being visible at the end of this visit."""
    opened: Operation | None = None
    """The op whose regions are being visited: not verified and not defined yet."""
    outside: set[int] | None = None
    """The values visible before `opened`, if it is isolated from above."""
    is_table: bool = False
    """True if `opened` is a symbol table."""


def verify(root: Operation) -> None:
    """Raise `VerifyError` at the first op in or under `root` that is not valid."""
    forget_attributes()
    _Verifier(root).run()


class _Verifier:
    def __init__(self, root: Operation):
        self.root = root
        self.kinds: dict[type[Operation], _Kind] = {}
        self.visible: set[int] = set()
        self.visits: list[_Visit] = []
        self.tables = _tables_around(root)
        """The symbol tables that enclose the current op, the innermost last."""
        self.symbols: dict[Operation, dict[str, Operation]] = {}
        self.call_definition: OpDef | None = None

    def run(self) -> None:
        for region in self.root.regions:
            _check_blocks(self.root, region)
        for i, operand in enumerate(self.root.operands):
            if isinstance(operand, ErasedSSAValue):
                raise VerifyError(_erased(self.root, i), self.root)
        self._open(self.root, True)
        while self.visits:
            visit = self.visits[-1]
            if visit.opened is not None:
                self._close(visit, visit.opened)
            for op in visit.ops:
                operands = operands_of(op)
                if not self.visible.issuperset(map(id, operands)):
                    self._check_invisible(op, operands, visit)
                if successors_of(op):
                    self._check_successors(op, visit)
                if op.regions:
                    self._enter_regions(op, visit)
                    break
                self._check_op(op)
                self._define(visit, op.results)
            else:
                self._leave(visit)
        self._check_op(self.root)

    def _kind_of(self, op: Operation) -> _Kind:
        kind = self.kinds.get(type(op))
        if kind is None:
            kind = self.kinds[type(op)] = _Kind(
                op.has_trait(IsolatedFromAbove, value_if_unregistered=False),
                op.has_trait(SymbolTable, value_if_unregistered=False),
                hasattr(op, "verify_symbol_uses"),
                definition_of(type(op).verify_),
                checks_after_definition(type(op)),
            )
        return kind

    def _open(self, op: Operation, reachable: bool) -> None:
        """Push the visits of the regions of `op`; the first region is on top."""
        for region in reversed(op.regions):
            entry = region.first_block
            if entry is None:
                continue
            if entry.next_block is None:
                self.visits.append(_Visit(entry, self._enter(entry), {}, reachable))
                continue
            tree = dominated_by(entry)
            unreachable = [b for b in region.blocks if b not in tree]
            for block in reversed(unreachable):
                self.visits.append(_Visit(block, self._enter(block), {}, False))
            self.visits.append(_Visit(entry, self._enter(entry), tree, reachable))

    def _enter(self, block: Block) -> Iterator[Operation]:
        """Define the arguments of `block`, then yield its ops."""
        self._define(self.visits[-1], block.args)
        op = block.first_op
        while op is not None:
            yield op
            op = op.next_op

    def _enter_regions(self, op: Operation, visit: _Visit) -> None:
        """Visit the regions of `op` next; `visit` goes on after them."""
        for region in op.regions:
            _check_blocks(op, region)
        visit.opened = op
        kind = self._kind_of(op)
        if kind.is_isolated:
            visit.outside = self.visible
            self.visible = set()
        if kind.is_table:
            visit.is_table = True
            self.tables.append(op)
        self._open(op, visit.reachable)

    def _close(self, visit: _Visit, op: Operation) -> None:
        """Leave the regions of `op`: verify it, and define its results."""
        if visit.outside is not None:
            self.visible = visit.outside
            visit.outside = None
        visit.opened = None
        self._check_op(op)
        if visit.is_table:
            visit.is_table = False
            self.tables.pop()
        self._define(visit, op.results)

    def _leave(self, visit: _Visit) -> None:
        """Visit the next block that this one dominates; if none is left, end its values' scope."""
        below = visit.dominated.get(visit.block)
        if below:
            block = below.pop()
            self.visits.append(_Visit(block, self._enter(block), visit.dominated, visit.reachable))
            return
        self.visible.difference_update(visit.defined)
        self.visits.pop()

    def _define(self, visit: _Visit, values: Sequence[SSAValue]) -> None:
        if values:
            visit.defined += map(id, values)
            self.visible.update(map(id, values))

    def _check_successors(self, op: Operation, visit: _Visit) -> None:
        """Check that `op` ends its block, and branches to blocks of the same region."""
        if visit.block.last_op is not op:
            raise VerifyError(f"'{op.name}' op with successors must end its block", op)
        for successor in op.successors:
            if successor.parent is not visit.block.parent:
                raise VerifyError(f"'{op.name}' op branches to a block of another region", op)

    def _check_invisible(self, op: Operation, operands: Sequence[SSAValue], visit: _Visit) -> None:
        """Check that `op` is unreachable, and isolation holds, if it cannot see an operand."""
        for i, operand in enumerate(operands):
            if id(operand) not in self.visible and (
                visit.reachable
                or isinstance(operand, ErasedSSAValue)
                or _crosses_isolation(op, operand)
            ):
                raise _not_visible(op, i, operand, self.root)

    def _check_op(self, op: Operation) -> None:
        """Check `op` against its definition."""
        try:
            kind = self.kinds.get(type(op)) or self._kind_of(op)
            if op.name == "func.call":
                self._check_call(op)
            elif kind.definition is not None and kind.definition.holds(op):
                for check in kind.further:
                    check(op)
            else:  # as it checks itself
                op.verify_()
            if kind.uses_symbols:
                cast(SymbolUser, op).verify_symbol_uses(self._symbol)
        except PassError:
            raise
        except OpVerifyException as error:
            raise VerifyError(f"'{error.op.name}' op {error}", error.op) from error
        except VerifyException as error:
            twice = _defined_twice(op) if op.has_trait(SymbolTable) else None
            message = f"'{op.name}' op {formatted(str(error), op)}"
            raise twice or VerifyError(message, op) from error
        except Exception as error:
            error.add_note(f"while verifying an op '{op.name}'")
            raise

    def _check_call(self, op: Operation) -> None:
        """Check a `func.call` as it checks itself, with the callee from a table."""
        from xdsl.dialects.func import CallOp, FuncOp

        if not isinstance(op, CallOp) or op.callee.nested_references.data:
            op.verify_()
            return
        if self.call_definition is None:
            self.call_definition = _without_symbol_uses(CallOp.get_irdl_definition())
        self.call_definition.verify(op)
        name = op.callee.string_value()
        callee = self._symbol(name)
        if callee is None:
            raise VerifyException(f"'@{name}' could not be found in symbol table")
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"'@{name}' does not reference a valid function")
        inputs = callee.function_type.inputs.data
        outputs = callee.function_type.outputs.data
        for what, wanted, given in (
            ("operand", inputs, op.arguments.types),
            ("result", outputs, op.res.types),
        ):
            if len(wanted) != len(given):
                raise VerifyException(
                    f"incorrect number of {what}s for callee: '@{name}' has "
                    f"{len(wanted)}, but the call has {len(given)}"
                )
            for i, (expected, actual) in enumerate(zip(wanted, given, strict=True)):
                if expected != actual:
                    raise VerifyException(
                        f"{what} type mismatch: expected {what} type {expected}, "
                        f"but provided {actual} for {what} number {i}"
                    )

    def _symbol(self, name: str) -> Operation | None:
        """Return the symbol `name` of the innermost table that encloses the current op."""
        if not self.tables:
            return None
        table = self.tables[-1]
        if table not in self.symbols:
            self.symbols[table] = dict(_symbols(table))
        return self.symbols[table].get(name)


def _crosses_isolation(op: Operation, operand: SSAValue) -> bool:
    """Test whether an op around `op` that is isolated from above does not hold `operand`."""
    around = op.parent_op()
    while around is not None and not around.has_trait(IsolatedFromAbove):
        around = around.parent_op()
    return around is not None and (operand.owner is around or not around.is_ancestor(operand.owner))


def _tables_around(root: Operation) -> list[Operation]:
    """Return the innermost symbol table that is or encloses `root`, if there is one."""
    table: Operation | None = root
    while table is not None and not table.has_trait(SymbolTable, value_if_unregistered=False):
        table = table.parent_op()
    return [] if table is None else [table]


def _symbols(table: Operation) -> Iterator[tuple[str, Operation]]:
    for op in table.regions[0].block.ops:
        if (name := get_name_if_symbol(op)) is not None:
            yield name, op


def _defined_twice(table: Operation) -> VerifyError | None:
    """Return the error for the second of two symbols of one name, if there are two."""
    first: dict[str, Operation] = {}
    for name, op in _symbols(table):
        if name in first:
            note = (first[name], "first defined here")
            return VerifyError(f"symbol '@{name}' is defined twice", op, [note])
        first[name] = op
    return None


def _without_symbol_uses(definition: OpDef) -> OpDef:
    """Return `definition` without the trait that looks symbols up by a walk."""
    others = tuple(t for t in definition.traits if not isinstance(t, SymbolUserOpInterface))
    return replace(definition, traits=OpTraits(lambda: others))


def _check_blocks(op: Operation, region: Region) -> None:
    """Check that the blocks of `region` end with a terminator, if `op` requires one."""
    first = region.first_block
    if first is None:
        if op.has_trait(SymbolTable, value_if_unregistered=False):
            raise VerifyError(f"'{op.name}' op must have one block, but has 0", op)
        return
    several = first.next_block is not None
    if several and op.has_trait(SymbolTable, value_if_unregistered=False):
        count = len(region.blocks)
        raise VerifyError(f"'{op.name}' op must have one block, but has {count}", op)
    free = not several and op.has_trait(NoTerminator, value_if_unregistered=True)
    for block in region.blocks:
        last = block.last_op
        if free:
            continue
        if last is None:
            raise VerifyError(
                f"'{op.name}' op has an empty block; it needs at least a terminator",
                op,
            )
        if not last.has_trait(IsTerminator, value_if_unregistered=True):
            raise VerifyError(
                f"'{last.name}' op ends a block, but is not a terminator",
                last,
                [(op, f"of this '{op.name}' op")],
            )


def _erased(op: Operation, index: int) -> str:
    return f"'{op.name}' op operand #{index} has been erased"


def _not_visible(op: Operation, index: int, operand: SSAValue, root: Operation) -> VerifyError:
    """Return the error that says why `op` may not use `operand`."""
    which = f"'{op.name}' op operand #{index}"
    if isinstance(operand, ErasedSSAValue):
        return VerifyError(_erased(op, index), op)
    owner = operand.owner
    if not root.is_ancestor(owner):
        return VerifyError(f"{which} is defined by an op that is not in the IR", op)
    here = [(operand, "operand defined here")]
    scope = owner.parent_region() if isinstance(owner, Operation) else owner.parent
    crossed: list[Operation] = []
    around: Operation | None = op
    while around is not None and around.parent_region() is not scope:
        around = around.parent_op()
        if around is not None:
            crossed.append(around)
    if around is None:
        return VerifyError(
            f"{which} is defined in a region that does not enclose this use", op, here
        )
    for wall in crossed:
        if wall.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            return VerifyError(
                f"{which} is defined outside of '{wall.name}', which is isolated from above",
                op,
                [*here, (wall, "isolated by this op")],
            )
    return VerifyError(f"{which} does not dominate this use", op, here)
