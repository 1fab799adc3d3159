"""
The elements of operands as sizes that leave behind IR, for rules that depend on data.

    elements.sizes(2)       %0 = tensor.extract %shape[%i0] : tensor<2xi64>, and one more
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import OpResult, SSAValue
from xdsl.traits import ConstantLike

from ...dialects.dense import Dense, numbers
from ...dialects.device import with_device
from ...dialects.tensors import as_tensor
from ...dialects.type_rules import ConstantElements
from ...operators.signature import Data, Elements, Tensor
from ...operators.sizes import UNKNOWN, SignatureError, Size
from ...operators.sizes.size_expressions import Expr
from .rule_code import RuleCode


@dataclass(frozen=True, eq=False)
class RuleElements(Elements):
    """The elements of the host tensor `data()`; `data` is called when the first is read."""

    code: RuleCode
    key: Hashable
    tensor: Tensor
    data: Callable[[], SSAValue]

    def sizes(self, count: int) -> Sequence[Size]:
        dims = [self._dim(axis, count) for axis in range(self.tensor.rank)]
        return [self.code.size(self.data, self.key, at) for at in product(*map(range, dims))]

    def _dim(self, axis: int, count: int) -> int:
        """Return a dim of the tensor of `count` elements, of which one dim may be unknown."""
        dims = self.tensor.dims
        others = [dim for i, dim in enumerate(dims) if i != axis]
        known = [dim for dim in others if isinstance(dim, int)]
        dim = dims[axis]
        if isinstance(dim, int):
            return dim
        if len(known) < len(others) or prod(known) == 0:
            raise SignatureError(f"elements of a {self.tensor} cannot be read as sizes")
        return count // prod(known)

    def measure(self, name: str, args: Sequence[Data]) -> Size:
        return measure_of(self.code, name, args)

    def operand(self) -> Expr | float:
        """Return the operand of a measure: the element of a scalar, or the whole tensor."""
        if not self.tensor.rank:
            return self.code.scalar(self.data, self.key, ())
        return self.code.once(("data", self.key), self.data)


@dataclass(frozen=True, eq=False)
class RuleConstant(ConstantElements):
    """The elements of a constant, measured together with traced ones."""

    code: RuleCode

    def measure(self, name: str, args: Sequence[Data]) -> Size:
        known = super().measure(name, args)
        return measure_of(self.code, name, args) if known is UNKNOWN else known

    def operand(self) -> Expr | float:
        type = as_tensor(self.value.type)
        assert type is not None
        if not type.get_num_dims():
            (number,) = numbers(self.value)
            return Expr.of(number) if isinstance(number, int) else number
        return self.code.once(("constant", self.value), lambda: self._emit(self.value))

    def _emit(self, value: Dense) -> SSAValue:
        type = with_device(value.type, self.code.host)
        return self.code.emit(arith.ConstantOp(value, type))


def constant_elements(code: RuleCode, value: OpResult) -> RuleConstant | None:
    """Return the elements of `value` if it is a constant."""
    if not value.op.has_trait(ConstantLike):
        return None
    dense = value.op.properties.get("value")
    if not isinstance(dense, DenseIntOrFPElementsAttr):
        return None
    return RuleConstant(cast(Dense, dense), code)


@dataclass(frozen=True)
class Unreadable(Elements):
    """Elements that do not exist yet when shapes are computed; reading them is an error."""

    fail: Callable[[], Exception]

    def sizes(self, count: int) -> Sequence[Size]:
        raise self.fail()

    def measure(self, name: str, args: Sequence[Data]) -> Size:
        raise self.fail()


def measure_of(code: RuleCode, name: str, args: Sequence[Data]) -> Size:
    """Return the measure `name` of elements, of which some are known only when it runs."""
    operands: list[Expr | float] = []
    for arg in args:
        if isinstance(arg.elements, Unreadable):
            raise arg.elements.fail()
        if not isinstance(arg.elements, RuleElements | RuleConstant):
            return UNKNOWN
        operands.append(arg.elements.operand())
    return code.as_size(code.measure(name, operands))
