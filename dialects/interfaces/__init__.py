"""
Interfaces through which passes query ops, so that they need not know any op by name.

Each interface is an xDSL trait. A plug-in's op with these traits takes part in type inference,
device planning, fusion, explicit allocation, liveness and the VM like the built-in ones.
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
