"""The rules and meanings of all operators, by name; importing it imports the families."""

# pyright: reportUnusedImport=false

from . import (
    broadcast,
    convolution,
    creation,
    dynamic,
    elementwise,
    matmul,
    normalization,
    pooling,
    quantized,
    rearrange,
    reduce,
    reshape,
    selection,
    slicing,
    spreading,
    transposed_convolution,
    upsampling,
    vision,
    windows,
)
from .meaning import own_code
from .meaning.forms import MEANINGS
from .rules import RULES
