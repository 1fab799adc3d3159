"""
What passes ask of an op, so that they never ask which op it is.

Each interface is an xDSL trait. A plug-in's op that carries them takes part in type
inference, device planning, fusion, explicit allocation, liveness and the VM like ours.
"""

from .devices import (
    AnyDevice,
    DeviceConstant,
    DeviceConstraint,
    DeviceRule,
    On,
    OnHost,
    ResultOnHost,
    SameDevice,
    Together,
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
    "CallsKernel",
    "DataDependentShape",
    "DestinationPassing",
    "DeviceConstant",
    "DeviceConstraint",
    "DeviceRule",
    "FreesOperand",
    "Fusible",
    "FusionKind",
    "InferTypes",
    "Lookup",
    "On",
    "OnHost",
    "ReshapesOnly",
    "ResultAliases",
    "ResultOnHost",
    "SameDevice",
    "Together",
    "kernel_attributes",
    "kernel_name",
]
