"""
What passes ask of an op, so that they never ask which op it is.

Each interface is an xDSL trait. A plug-in's op that carries them takes part in type
inference, device planning, fusion, explicit allocation, liveness and the VM like ours.
"""

from .devices import (
    AnyDevice,
    CalleeDevices,
    DeviceAnnotated,
    DeviceConstraint,
    DeviceRule,
    FunctionDeviceConstraint,
    FunctionDeviceRule,
    FunctionParameter,
    FunctionResult,
    OnHost,
    Operand,
    PartPinned,
    PartsMatch,
    Pinned,
    PreferSameDomain,
    Rematerializable,
    ResultOnHost,
    ReturnDevices,
    SameDevice,
    SameDomain,
)
from .memory import (
    Aliasing,
    AllocatesResults,
    Bufferizable,
    DestinationPassing,
    FreesOperand,
    ResultAliases,
)
from .operators import (
    CallsKernel,
    DataDependentShape,
    Fusible,
    FusionKind,
    InferTypes,
    ReshapesOnly,
    kernel_attributes,
    kernel_name,
)
from .symbols import Lookup

__all__ = [
    "Aliasing",
    "AllocatesResults",
    "AnyDevice",
    "Bufferizable",
    "CalleeDevices",
    "CallsKernel",
    "DataDependentShape",
    "DestinationPassing",
    "DeviceAnnotated",
    "DeviceConstraint",
    "DeviceRule",
    "FreesOperand",
    "FunctionDeviceConstraint",
    "FunctionDeviceRule",
    "FunctionParameter",
    "FunctionResult",
    "Fusible",
    "FusionKind",
    "InferTypes",
    "Lookup",
    "OnHost",
    "Operand",
    "PartPinned",
    "PartsMatch",
    "Pinned",
    "PreferSameDomain",
    "Rematerializable",
    "ReshapesOnly",
    "ResultAliases",
    "ResultOnHost",
    "ReturnDevices",
    "SameDevice",
    "SameDomain",
    "kernel_attributes",
    "kernel_name",
]
