"""
The signatures of the operators: what each takes, what it gives.

An operator's signature says its result types for operand types and attributes, or which of them
does not fit. It is plain Python, without xDSL and NumPy, because both sides read it: the dialect
infers and verifies types by it, and the machine holds kernels of a program to it before they
touch memory.
"""

from collections.abc import Mapping

from . import (
    broadcast,
    elementwise,
    matmul,
    normalization,
    rearrange,
    reduce,
    reshape,
    slicing,
    windows,
)
from .signature import Signature

_FAMILIES = (
    elementwise,
    broadcast,
    reduce,
    matmul,
    normalization,
    windows,
    reshape,
    rearrange,
    slicing,
)

SIGNATURES: Mapping[str, Signature] = {
    name: signature for family in _FAMILIES for name, signature in family.SIGNATURES.items()
}
"""The signature of each operator of `relay`, by its full name ("relay.nn.dense")."""
