"""Operators whose elements depend on those before them: rules and meanings."""

from .meaning.forms import Sums, define
from .operands import normalized_axis, require_number, require_ordered
from .rules import rule
from .signature import ELEMENTS, Element, ElementKind, Tensor, ranked
from .sizes import product


@rule("relay.cumsum")
def cumsum(data: Tensor, *, axis: int | None, dtype: Element | None, exclusive: bool) -> Tensor:
    """Infer `data`, flattened without `axis`, of `dtype`; by default that of `data`, of i1 i32."""
    of_bools = data.element.kind is ElementKind.BOOL
    element = dtype or (ELEMENTS["int32"] if of_bools else data.element)
    require_ordered(data.element, "the operand of {op}")
    require_number(element, "the result of {op}")
    if axis is None:
        return ranked(element, (product(data.dims),))
    normalized_axis(axis, data.rank)
    return Tensor(element, data.dims)


define("relay.cumsum", means=Sums())
