"""The rules of all operators, by name; importing it imports the files that define them."""

from . import (
    broadcast,
    creation,
    dynamic,
    elementwise,
    matmul,
    normalization,
    rearrange,
    reduce,
    reshape,
    selection,
    slicing,
    vision,
    windows,
)
from .rules import RULES

__all__ = [
    "RULES",
    "broadcast",
    "creation",
    "dynamic",
    "elementwise",
    "matmul",
    "normalization",
    "rearrange",
    "reduce",
    "reshape",
    "selection",
    "slicing",
    "vision",
    "windows",
]
