"""The operators of `demo` as linalg, for native code."""

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from xrelay.lowering.linalg.builder import Builder, Rule
from xrelay.lowering.linalg.elementwise import elementwise

from .dialect import ScaledTanhOp


def scaled_tanh(b: Builder, op: Operation, x: Sequence[SSAValue]) -> SSAValue:
    """Compute tanh(scale * x) of one element."""
    assert isinstance(op, ScaledTanhOp)
    scale = b.constant(op.scale.value.data, x[0].type)
    return b.insert(math.TanhOp(b.insert(arith.MulfOp(x[0], scale))))


RULES: Mapping[str, Rule] = {"demo.scaled_tanh": elementwise(scaled_tanh)}
