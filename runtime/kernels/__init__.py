"""
NumPy kernels of the `relay` operators, one file per family.

`KERNELS` maps operator names to kernels; `loading.load_kernels` adds the kernels of plug-ins.
"""

from collections.abc import Mapping

from ...operators.all_rules import MEANINGS, RULES
from . import (
    convolution,
    creation,
    elementwise,
    gather,
    matmul,
    padding,
    pooling,
    rearrange,
    reduce,
    resize,
    selection,
    threefry,
    vision,
)
from .bind import Bind
from .checked import CheckedKernel, Reuse
from .meant_kernels import derived

FAST: Mapping[str, Bind] = {
    **convolution.KERNELS,
    **creation.KERNELS,
    **elementwise.KERNELS,
    **gather.KERNELS,
    **matmul.KERNELS,
    **padding.KERNELS,
    **pooling.KERNELS,
    **rearrange.KERNELS,
    **reduce.KERNELS,
    **resize.KERNELS,
    **selection.KERNELS,
    **threefry.KERNELS,
    **vision.KERNELS,
}
"""The kernels that do not follow from meanings, or are faster than those that do."""

_OF_ROWS = ("relay.nn.layer_norm", "relay.nn.log_softmax", "relay.nn.softmax")

_REUSE: Mapping[str, Reuse] = {
    **dict.fromkeys(elementwise.KERNELS, Reuse.SAME_SIZE),
    **dict.fromkeys(_OF_ROWS, Reuse.ELEMENTWISE),
}
"""The permissions of kernels that differ from those of their meanings."""

KERNELS: dict[str, CheckedKernel] = {}
"""
The kernel of each operator, bound only to what the operator's rule accepts.

Quantized operators have none: `lower-qnn` replaces them.
"""

for _name, _rule in RULES.items():
    _bind = FAST.get(_name)
    if _bind is None and _name not in MEANINGS:
        continue
    _bind, _reuse = (_bind, Reuse.NONE) if _bind else derived(MEANINGS[_name], KERNELS)
    KERNELS[_name] = CheckedKernel(_name, _rule, _bind, _REUSE.get(_name, _reuse))
