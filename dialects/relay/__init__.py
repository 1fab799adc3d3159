"""The `relay` dialect: functional tensor programs, by family of operators."""

from xdsl.ir import Dialect

from .. import upstream
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
    repetition,
    reshape,
    trigonometry,
)
from .adt import ConstructOp, ConstructorAttr, TypeDataOp
from .closures import CallOp, FnOp
from .constants import ConstantOp, MaterializeConstant, ParamOp
from .control import IfOp, YieldOp
from .device_ops import DeviceCopyOp, OnDeviceOp
from .globals import GlobalOp, InvokeOp
from .incomplete import IncompleteType
from .language_types import AdtType, RefType, TypeVarType
from .matching import MatchOp
from .opaque import CallOpaqueOp
from .patterns import ConstructorPattern, TuplePattern, VarPattern, WildcardPattern
from .primitive import CallLoweredOp, PrimFuncOp, PrimitiveOp
from .references import RefCreateOp, RefReadOp, RefWriteOp
from .tuples import TupleGetItemOp, TupleOp

OPERATORS = (
    *elementwise.OPERATORS,
    *trigonometry.OPERATORS,
    *broadcast.OPERATORS,
    *repetition.OPERATORS,
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
        CallOpaqueOp,
        FnOp,
        CallOp,
        GlobalOp,
        InvokeOp,
        TypeDataOp,
        ConstructOp,
        MatchOp,
        RefCreateOp,
        RefReadOp,
        RefWriteOp,
    ],
    [
        VirtualDeviceAttr,
        IncompleteType,
        RefType,
        AdtType,
        TypeVarType,
        ConstructorAttr,
        WildcardPattern,
        VarPattern,
        ConstructorPattern,
        TuplePattern,
    ],
    [MaterializeConstant()],
)

upstream.attach_device_rules()
