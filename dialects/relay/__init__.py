"""The `relay` dialect: functional tensor programs, by family of operators."""

from collections.abc import Mapping

from xdsl.ir import Dialect

from .. import upstream
from ..device import VirtualDeviceAttr
from . import (
    broadcast,
    convolution,
    creation,
    dynamic,
    elementwise,
    matmul,
    named_dims,
    normalization,
    pooling,
    rearrange,
    reduce,
    repetition,
    reshape,
    selection,
    trigonometry,
    vision,
)
from .adt import ConstructOp, ConstructorAttr, TypeDataOp
from .closures import CallOp, FnOp
from .constants import ConstantOp as ConstantOp  # for plug-ins
from .constants import MaterializeConstant, ParamOp
from .control import IfOp, YieldOp
from .device_ops import DeviceCopyOp, OnDeviceOp
from .globals import ClosureOp, GlobalOp, InvokeOp
from .incomplete import IncompleteType
from .language_types import AdtType, RefType, TypeVarType
from .matching import MatchOp
from .opaque import CallOpaqueOp
from .operator import Operator
from .patterns import ConstructorPattern, TuplePattern, VarPattern, WildcardPattern
from .primitive import CallLoweredOp, PrimFuncOp, PrimitiveOp
from .references import RefCreateOp, RefReadOp, RefWriteOp
from .shapes import MeasureOp, RequireOp, ShapeFuncOp
from .tuples import TupleGetItemOp, TupleOp

_FAMILIES = (
    elementwise,
    trigonometry,
    broadcast,
    repetition,
    reduce,
    matmul,
    normalization,
    convolution,
    pooling,
    reshape,
    rearrange,
    creation,
    dynamic,
    selection,
    vision,
)

OPERATORS: tuple[type[Operator], ...] = tuple(
    op
    for family in _FAMILIES
    for op in vars(family).values()
    if isinstance(op, type)
    and issubclass(op, Operator)
    and op.__module__ == family.__name__
    and "name" in vars(op)
)
"""Every tensor operator of the dialect: the classes of the families that have a name."""

BY_NAME: Mapping[str, type[Operator]] = {op.name.removeprefix("relay."): op for op in OPERATORS}
"""The operators by Relay's names of them: `nn.conv2d`."""

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
        ShapeFuncOp,
        RequireOp,
        MeasureOp,
        CallOpaqueOp,
        FnOp,
        CallOp,
        GlobalOp,
        ClosureOp,
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

upstream.attach_interfaces()
named_dims.attach()
