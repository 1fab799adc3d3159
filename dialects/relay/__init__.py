"""The `relay` dialect: functional tensor programs, by family of operators."""

from collections.abc import Mapping

from xdsl.ir import Dialect

from ..device import VirtualDeviceAttr
from ..xdsl_extras import upstream
from ..xdsl_extras.late_definitions import late_definitions

with late_definitions():
    from . import (
        broadcast,
        cache_attributes,
        convolution,
        creation,
        dynamic,
        elementwise,
        matmul,
        normalization,
        pooling,
        rearrange,
        reduce,
        reshape,
        selection,
        spreading,
        upsampling,
        vision,
    )
    from .constants import ConstantOp as ConstantOp  # for plug-ins
    from .constants import MaterializeConstant, ParamOp
    from .device_ops import DeviceCopyOp, OnDeviceOp
    from .incomplete import IncompleteType
    from .language import dims_attributes
    from .language.adt import ConstructOp, ConstructorAttr, TypeDataOp
    from .language.closures import CallOp, FnOp
    from .language.control import IfOp, YieldOp
    from .language.globals import ClosureOp, GlobalOp, InstantiateOp, InvokeOp
    from .language.language_types import AdtType, RefType, TypeVarType
    from .language.match_patterns import (
        ConstructorPattern,
        TuplePattern,
        VarPattern,
        WildcardPattern,
    )
    from .language.matching import MatchOp
    from .language.primitive import CallLoweredOp, PrimFuncOp, PrimitiveOp, ScratchOp
    from .language.references import RefCreateOp, RefReadOp, RefWriteOp
    from .language.tuples import TupleGetItemOp, TupleOp
    from .loops import EndLoopOp, FillRowsOp, LoopOp, ReadRowsOp, WriteRowsOp
    from .opaque import CallOpaqueOp
    from .operator import Operator
    from .shapes import MeasureOp, RequireOp, ShapeFuncOp

_FAMILIES = (
    *(elementwise, broadcast, reduce, matmul, normalization, convolution, pooling),
    *(upsampling, reshape, rearrange, spreading, creation, dynamic, selection, vision),
)

OPERATORS: tuple[type[Operator], ...] = tuple(
    op
    for family in _FAMILIES
    for op in vars(family).values()
    if isinstance(op, type)
    and op.__module__ == family.__name__  # first: a class that is not one takes ABC long to refuse
    and issubclass(op, Operator)
    and "name" in vars(op)
)
"""Every tensor operator of the dialect: the classes of the families that have a name."""

BY_NAME: Mapping[str, type[Operator]] = {op.name.removeprefix("relay."): op for op in OPERATORS}
"""The operators by Relay's names of them: `nn.conv2d`."""

Relay = Dialect(
    "relay",
    [
        *OPERATORS,
        *(ConstantOp, ParamOp, TupleOp, TupleGetItemOp, IfOp, YieldOp, OnDeviceOp, DeviceCopyOp),
        *(PrimitiveOp, PrimFuncOp, CallLoweredOp, ScratchOp, ShapeFuncOp),
        *(RequireOp, MeasureOp, CallOpaqueOp),
        *(FnOp, CallOp, GlobalOp, ClosureOp, InvokeOp, InstantiateOp),
        *(TypeDataOp, ConstructOp, MatchOp),
        *(RefCreateOp, RefReadOp, RefWriteOp),
        *(LoopOp, EndLoopOp, ReadRowsOp, WriteRowsOp, FillRowsOp),
    ],
    [
        *(VirtualDeviceAttr, IncompleteType, RefType, AdtType, TypeVarType, ConstructorAttr),
        *(WildcardPattern, VarPattern, ConstructorPattern, TuplePattern),
    ],
    [MaterializeConstant()],
)

upstream.attach_interfaces()
cache_attributes.attach()
dims_attributes.attach()
