"""
The signatures of the operators: their type rules.

A signature computes an operator's result types from its operand types and attributes, or raises
an error that names the one that does not fit. Signatures are plain Python, without xDSL and
NumPy, because both sides use them: the dialect infers and verifies types, and the machine checks
the kernels of a program before they touch memory.
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
from .rules import RULES
from .signature import Signature

_FAMILIES = (
    reduce,
    matmul,
    normalization,
    windows,
    reshape,
    rearrange,
    slicing,
)

SIGNATURES: Mapping[str, Signature] = {
    **{name: signature for family in _FAMILIES for name, signature in family.SIGNATURES.items()},
    **RULES,
}
"""The signature of each operator of `relay`, by its full name ("relay.nn.dense")."""

__all__ = ["SIGNATURES", "broadcast", "elementwise"]
