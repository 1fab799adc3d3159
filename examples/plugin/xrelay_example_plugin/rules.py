"""The rules of the operators of `demo`: plain Python, without xDSL and NumPy."""

from collections.abc import Mapping

from xrelay.operators.meaning.forms import Definition, Elementwise
from xrelay.operators.meaning.number import Number
from xrelay.operators.operands import normalized_axes, require_float, require_number
from xrelay.operators.rules import Ints, Rule, Work
from xrelay.operators.signature import Tensor
from xrelay.operators.sizes import SignatureError, product, require_at_least


@Rule
def swish(data: Tensor) -> Tensor:
    """Accept float `data`; the result has its type."""
    require_float(data.element, "the operand of {op}")
    return data


@Rule.with_work(Work.LINEAR)
def scaled_tanh(data: Tensor, *, scale: float) -> Tensor:
    """Accept float `data` and a float `scale`; the result has the type of `data`."""
    require_float(data.element, "the operand of {op}")
    return data


@Rule.with_work(Work.LINEAR)
def as_rows(data: Tensor) -> Tensor:
    """Return `data` of shape (…, n) as (product of the other dims, n)."""
    if not data.dims:
        raise SignatureError("{op} needs a tensor of rank 1 or more, but has rank 0")
    *leading, last = data.dims
    return Tensor(data.element, (product(leading), last))


@Rule.with_work(Work.LINEAR)
def squareplus(data: Tensor, *, bend: float) -> Tensor:
    """Accept float `data` and a float `bend`; the result has the type of `data`."""
    require_float(data.element, "the operand of {op}")
    return data


def smooth_maximum(x: Number, *, bend: float) -> Number:
    """(x + sqrt(x x + bend)) / 2"""
    wide = x.widened()
    return ((wide + (wide * wide + bend).math("sqrt")) * 0.5).converted(x.element)


@Rule
def min_max(data: Tensor, *, axes: Ints | None) -> tuple[Tensor, Tensor]:
    """Return two tensors of numbers: `data` without the dims `axes` (default: all)."""
    require_number(data.element, "the operand of {op}")
    reduced = normalized_axes(range(data.rank) if axes is None else axes, data.rank)
    for axis in reduced:
        message = f"dim {axis} of {{op}} must be at least 1, but is {{0}}"
        require_at_least(data.dims[axis], 1, message)
    kept = tuple(dim for axis, dim in enumerate(data.dims) if axis not in reduced)
    result = Tensor(data.element, kept)
    return result, result


DEFINITIONS: Mapping[str, Definition] = {
    "demo.squareplus": Definition(squareplus, Elementwise(smooth_maximum)),
}
