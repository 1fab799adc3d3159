"""Shape rules read with expressions for dims: by a reader of IR, and by one that emits it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects.type_rules import call_of, data_operands, rule_of
from ...operators.signature import Elements, Tensor
from ...operators.sizes import UNKNOWN, Check, Dim, SignatureError, Size, SizeOp
from ...operators.sizes.algebra import Algebra
from ...operators.sizes.size_expressions import Expr
from ..support.diagnostics import PassError


class RuleDim(Dim):
    """A size of a shape rule that is an expression; of a reader, equal ones are one object."""

    __slots__ = ("expr", "reader")

    def __init__(self, reader: RuleReader, expr: Expr):
        self.reader = reader
        self.expr = expr

    def binary(self, op: SizeOp, left: Size, right: Size) -> Size:
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        return self.reader.as_size(self.reader.binary(op, as_expr(left), as_expr(right)))

    def require(self, check: Check, left: Size, right: Size, message: str) -> None:
        if left is not UNKNOWN and right is not UNKNOWN:
            self.reader.require(check, as_expr(left), as_expr(right), message)

    def measure(self, name: str, args: Sequence[Size | float]) -> Size:
        if UNKNOWN in args:
            return UNKNOWN
        sizes = [as_expr(arg) if isinstance(arg, int | Dim) else arg for arg in args]
        return self.reader.as_size(self.reader.measure(name, sizes))

    def __repr__(self) -> str:
        return str(self.expr)


def as_expr(size: Size) -> Expr:
    """Return a size of a rule as an expression."""
    if isinstance(size, RuleDim):
        return size.expr
    assert isinstance(size, int), "a dim that no rule computes"
    return Expr.of(size)


class RuleReader(ABC):
    """Reads shape rules with expressions for dims."""

    def __init__(self, algebra: Algebra | None = None):
        self.algebra = algebra or Algebra()
        self.op: Operation | None = None
        """The op whose rule is read."""
        self.operands: Sequence[Tensor | str] = ()
        self._rule_dims: dict[Expr, RuleDim] = {}

    def as_size(self, expr: Expr) -> Size:
        """Return an expression as a size of rules: an integer if it is constant."""
        constant = expr.constant
        return self.dim(expr) if constant is None else constant

    def dim(self, expr: Expr) -> RuleDim:
        """Return an expression that is not constant as a dim of rules."""
        dim = self._rule_dims.get(expr)
        if dim is None:
            dim = self._rule_dims[expr] = RuleDim(self, expr)
        return dim

    def enter(self, op: Operation) -> Sequence[Tensor | str]:
        """Begin the rule of `op`, and return its operands."""
        self.op = op
        self.operands = [self.operand(value) for value in op.operands]
        return self.operands

    def results(self, op: Operation) -> Sequence[Tensor] | None:
        """Return the results of `op` by its rule, with dims of rules, if it has one."""
        rule = rule_of(op)
        if rule is None:
            return None
        operands = self.enter(op)
        read = ((i, self.elements_of(op, i)) for i in data_operands(op))
        elements = {i: elements for i, elements in read if elements is not None}
        call = call_of(op.name, op.properties, ())
        try:
            return rule(call._replace(operands=operands, elements=elements))
        except SignatureError as error:
            raise PassError(str(error), op) from error

    @abstractmethod
    def operand(self, value: SSAValue) -> Tensor | str:
        """Return `value` as the operand of a rule, with dims of rules; a type in words."""

    @abstractmethod
    def elements_of(self, op: Operation, index: int) -> Elements | None:
        """Return the elements of operand `index`, as far as they are known."""

    @abstractmethod
    def binary(self, op: SizeOp, left: Expr, right: Expr) -> Expr:
        """Return `left op right`."""

    @abstractmethod
    def measure(self, name: str, args: Sequence[Expr | float]) -> Expr:
        """Return the measure `name`."""

    @abstractmethod
    def require(self, check: Check, left: Expr, right: Expr, message: str) -> None:
        """Require the relation `check`."""
