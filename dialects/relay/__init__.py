"""The `relay` dialect: functional tensor programs, by family of operators."""

from xdsl.ir import Dialect

from ..device import VirtualDeviceAttr
from . import (
    broadcast,
    convolution,
    elementwise,
    matmul,
    normalization,
    pooling,
    rearrange,
    reduce,
    reshape,
)
from .constants import ConstantOp, MaterializeConstant, ParamOp
from .control import IfOp, YieldOp
from .placement import DeviceCopyOp, OnDeviceOp
from .primitive import CallLoweredOp, PrimFuncOp, PrimitiveOp
from .tuples import TupleGetItemOp, TupleOp
from .types import IncompleteType

OPERATORS = (
    *elementwise.OPERATORS,
    *broadcast.OPERATORS,
    *reduce.OPERATORS,
    *matmul.OPERATORS,
    *normalization.OPERATORS,
    *convolution.OPERATORS,
    *pooling.OPERATORS,
    *reshape.OPERATORS,
    *rearrange.OPERATORS,
)
"""Every tensor operator of the dialect."""

Relay = Dialect(
    "relay",
    [
        *OPERATORS,
        ConstantOp,
        ParamOp,
        TupleOp,
        TupleGetItemOp,
        IfOp,
        YieldOp,
        OnDeviceOp,
        DeviceCopyOp,
        PrimitiveOp,
        PrimFuncOp,
        CallLoweredOp,
    ],
    [VirtualDeviceAttr, IncompleteType],
    [MaterializeConstant()],
)
