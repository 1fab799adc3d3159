"""Shape rules read with expressions for dims: by a reader of IR, and by one that emits it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from xdsl.ir import Operation

from ...dialects.type_rules import call_of, rule_of
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

    def results(
        self, op: Operation, operands: Sequence[Tensor | str], elements: Mapping[int, Elements]
    ) -> Sequence[Tensor] | None:
        """Return the results of `op` by its rule, if it has one, on operands with dims of rules."""
        rule = rule_of(op)
        if rule is None:
            return None
        call = call_of(op.name, op.properties, ())
        try:
            return rule(call._replace(operands=operands, elements=elements))
        except SignatureError as error:
            raise PassError(str(error), op) from error

    @abstractmethod
    def binary(self, op: SizeOp, left: Expr, right: Expr) -> Expr:
        """Return `left op right`."""

    @abstractmethod
    def measure(self, name: str, args: Sequence[Expr | float]) -> Expr:
        """Return the measure `name`."""

    @abstractmethod
    def require(self, check: Check, left: Expr, right: Expr, message: str) -> None:
        """Require the relation `check`."""
