"""
What the operators of `demo` take and give.

Plain Python, read from both sides: `dialect.py` infers and verifies types by it, `kernels.py` holds
kernels to it. It must import neither xDSL nor NumPy.
"""

from collections.abc import Sequence

from xrelay.operators.attributes import float_of
from xrelay.operators.operands import product, require_float
from xrelay.operators.signature import Call, SignatureError, Tensor


def scaled_tanh(call: Call) -> Sequence[Tensor]:
    """Float `data` and a float `scale`; the result is like `data`."""
    (data,) = call.tensors(1)
    require_float(data.element, f"the operand of {call.name}")
    float_of(call, "scale")
    return (data,)


def as_rows(call: Call) -> Sequence[Tensor]:
    """`data` (…, n) as (product of the other dims, n)."""
    (data,) = call.tensors(1)
    if not data.dims:
        raise SignatureError(f"{call.name} needs a tensor of rank 1 or more, but has rank 0")
    *leading, last = data.dims
    return (Tensor(data.element, (product(leading), last)),)
