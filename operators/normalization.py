"""Signatures of operators that normalise a tensor."""

from collections.abc import Sequence

from .attributes import flag_of, float_of, int_from, int_of
from .operands import (
    normalized_axis,
    require_dim,
    require_float,
    require_rank,
    require_same_element,
)
from .signature import Call, Signature, Tensor


def softmax(call: Call) -> Sequence[Tensor]:
    """Infer the type of the float `data`, which must have axis `axis`."""
    (data,) = call.tensors(1)
    require_float(data.element, f"the operand of {call.name}")
    normalized_axis(int_of(call, "axis"), data.rank)
    return (data,)


def _normalized(call: Call, names: Sequence[str]) -> list[Tensor]:
    """Return the operands: `data`, and vectors `names` with one element per index of `axis`."""
    data, *vectors = operands = call.tensors(1 + len(names))
    element = require_same_element(operands, call)
    require_float(element, f"operands of {call.name}")
    axis = normalized_axis(int_of(call, "axis"), data.rank)
    for name, vector in zip(names, vectors, strict=True):
        require_rank(vector, 1, name)
        require_dim(vector.dims[0], data.dims[axis], f"the dim of {name}")
    float_of(call, "epsilon")
    flag_of(call, "center")
    flag_of(call, "scale")
    return operands


def layer_norm(call: Call) -> Sequence[Tensor]:
    """Infer the type of `data` from it, `gamma` and `beta`."""
    return _normalized(call, ("gamma", "beta"))[:1]


def batch_norm(call: Call) -> Sequence[Tensor]:
    """Infer the types of `data`, `moving_mean` and `moving_var`."""
    data, _, _, mean, var = _normalized(call, ("gamma", "beta", "moving_mean", "moving_var"))
    return (data, mean, var)


def lrn(call: Call) -> Sequence[Tensor]:
    """Infer the type of the float `data`, which must have axis `axis`."""
    for name in ("alpha", "beta", "bias"):
        float_of(call, name)
    (data,) = call.tensors(1)
    require_float(data.element, f"the operand of {call.name}")
    normalized_axis(int_of(call, "axis"), data.rank)
    int_from(call, "size", 1)
    return (data,)


SIGNATURES: dict[str, Signature] = {
    "relay.nn.softmax": softmax,
    "relay.nn.log_softmax": softmax,
    "relay.nn.layer_norm": layer_norm,
    "relay.nn.batch_norm": batch_norm,
    "relay.nn.lrn": lrn,
}
