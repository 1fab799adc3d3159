"""
Dims of a kernel that its operators combine, though nothing shows that they are equal.

    %c = relay.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> …      dims 0 of %a and %b

One of them may be 1 and broadcast, so their loops read each operand by an index of its own. Equal
names in `relay.dims`, or a size that both are computed from, would show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from ...dialects import relay
from ...operators.sizes import Check
from ...operators.sizes.holds import holds
from ...operators.sizes.size_expressions import DIM, Expr
from ...passes.sizes.reader import Sizes
from .known_dims import Position


class KernelSizes(Sizes):
    """Reads the operators of a kernel, and notes the dims that they require to be equal."""

    def __init__(self, kernel: relay.PrimFuncOp, equal: Sequence[Sequence[Position]]):
        super().__init__()
        self.pairs: list[tuple[Expr, Expr]] = []
        first = {place: places[0] for places in equal for place in places}
        params = kernel.body.block.args
        for i, param in enumerate(params):
            dims = list(self.dims(param))
            for axis, dim in enumerate(dims):
                number, place = first.get((i, axis), (i, axis))
                if dim.constant is None:
                    hint = params[number].name_hint
                    name = f"dim {place} of {f'%{hint}' if hint else f'parameter {number}'}"
                    dims[axis] = self.algebra.symbol(name, DIM, (number, place))
            self.know_dims(param, tuple(dims))

    def require(self, check: Check, left: Expr, right: Expr, message: str) -> None:
        super().require(check, left, right, message)
        if check in (Check.EQUAL, Check.BROADCAST) and holds(Check.EQUAL, left, right) is None:
            self.pairs.append((left, right))


def unequal_dims(
    kernel: relay.PrimFuncOp, equal: Sequence[Sequence[Position]]
) -> Iterator[tuple[Operation, str]]:
    """Yield each operator whose dims are not shown equal, and a message that names two of them."""
    sizes = KernelSizes(kernel, equal)
    for op in kernel.body.block.ops:
        sizes.pairs.clear()
        for result in op.results:
            sizes.dims(result)
        for left, right in sizes.pairs[:1]:
            yield op, f"{left} and {right} are not shown to be equal, so one may be broadcast"
