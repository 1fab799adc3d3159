"""
NumPy kernels of the `relay` operators, one file per family.

`KERNELS` maps operator names to kernels; `loading.load_kernels` adds the kernels of plug-ins.
"""

from collections.abc import Mapping

from ...operators.all_rules import RULES
from . import (
    activation,
    broadcast,
    convolution,
    creation,
    dynamic,
    elementwise,
    gather,
    matmul,
    normalization,
    padding,
    pooling,
    rearrange,
    reduce,
    resize,
    selection,
    vision,
)
from .bind import Bind
from .checked import CheckedKernel, Reuse, with_checked_sizes

_TABLES: tuple[tuple[Mapping[str, Bind], Reuse], ...] = (
    (activation.KERNELS, Reuse.ELEMENTWISE),
    (broadcast.KERNELS, Reuse.ELEMENTWISE),
    (elementwise.KERNELS, Reuse.ELEMENTWISE),
    (convolution.KERNELS, Reuse.NONE),
    (creation.KERNELS, Reuse.NONE),
    (dynamic.KERNELS, Reuse.NONE),
    (dynamic.RESHAPES, Reuse.RESHAPE),
    (gather.KERNELS, Reuse.NONE),
    (matmul.KERNELS, Reuse.NONE),
    (normalization.KERNELS, Reuse.NONE),
    (padding.KERNELS, Reuse.NONE),
    (pooling.KERNELS, Reuse.NONE),
    (rearrange.KERNELS, Reuse.NONE),
    (rearrange.RESHAPES, Reuse.RESHAPE),
    (reduce.KERNELS, Reuse.NONE),
    (resize.KERNELS, Reuse.NONE),
    (selection.KERNELS, Reuse.NONE),
    (vision.KERNELS, Reuse.NONE),
)

_SPECIAL: Mapping[str, Reuse] = {
    **dict.fromkeys((*elementwise.CONVERTING, *broadcast.COMPARISONS), Reuse.SAME_SIZE),
    **dict.fromkeys(normalization.OF_ROWS, Reuse.ELEMENTWISE),
}

KERNELS: Mapping[str, CheckedKernel] = {
    name: CheckedKernel(
        name,
        RULES[name],
        with_checked_sizes(name, bind),
        _SPECIAL.get(name, reuse),
    )
    for table, reuse in _TABLES
    for name, bind in table.items()
}
"""The kernel of each operator, bound only to what the operator's rule accepts."""
