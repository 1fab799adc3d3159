"""
NumPy kernels of the `relay` operators, one file a family.

`KERNELS` maps an operator's name to its kernel; `loading.load_kernels` adds those of plug-ins.
"""

from collections.abc import Mapping

from ...operators import SIGNATURES
from . import (
    activation,
    binary,
    convolution,
    elementwise,
    gather,
    matmul,
    normalization,
    padding,
    pooling,
    rearrange,
    reduction,
)
from .checked import CheckedKernel

_FAMILIES = (
    activation,
    binary,
    convolution,
    elementwise,
    gather,
    matmul,
    normalization,
    padding,
    pooling,
    rearrange,
    reduction,
)

KERNELS: Mapping[str, CheckedKernel] = {
    name: CheckedKernel(name, SIGNATURES[name], bind)
    for family in _FAMILIES
    for name, bind in family.KERNELS.items()
}
"""The kernel of each operator, bound only to what the operator's signature accepts."""

ELEMENTWISE: frozenset[str] = frozenset(
    {*activation.KERNELS, *binary.KERNELS, *elementwise.KERNELS} - {"relay.full"}
)
"""Operators whose output may be an operand of the same shape and element type."""
RESHAPES: frozenset[str] = frozenset(
    name for name, bind in rearrange.KERNELS.items() if bind is rearrange.reshape
)
"""Operators that copy their operand's bytes as they are."""
