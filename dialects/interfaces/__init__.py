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
    DestinationPassing,
    FreesOperand,
    ResultAliases,
    WantsStorage,
)
from .operators import (
    CallsKernel,
    Fusible,
    FusionKind,
    InferTypes,
    NeedsData,
    ReshapesOnly,
    kernel_attributes,
    kernel_name,
)
from .symbols import Lookup

__all__ = [
    "Aliasing",
    "AllocatesResults",
    "AnyDevice",
    "CalleeDevices",
    "CallsKernel",
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
    "NeedsData",
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
    "WantsStorage",
    "kernel_attributes",
    "kernel_name",
]
