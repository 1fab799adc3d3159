"""
The `bytecode` dialect: the virtual machine's instructions as ops on registers.

Registers are numbers, not SSA values, and a function is a flat list of instructions; jump offsets
count from the instruction itself. Each instruction declares its custom syntax in `SYNTAX`; a
field's name determines how it is parsed and printed (`FIELDS`). Fields are named as in
`runtime.instructions`.
"""

from xdsl.ir import Dialect

from .definitions import ConstantOp, LateConstantOp
from .fields import Dims, ObjectType, RegisterAttr
from .functions import FuncOp
from .instructions import (
    INSTRUCTIONS,
    AllocADTOp,
    AllocClosureOp,
    AllocRefOp,
    AllocStorageOp,
    AllocTensorOp,
    AllocTensorRegOp,
    ComputeOp,
    DeviceCopyOp,
    FatalOp,
    GetFieldOp,
    GetTagOp,
    GotoOp,
    IfOp,
    Instruction,
    InvokeClosureOp,
    InvokeOp,
    InvokePackedOp,
    KillRegisterOp,
    LoadConstiOp,
    LoadConstOp,
    MoveOp,
    PackOp,
    ReadRefOp,
    RequireOp,
    ReshapeTensorOp,
    RetOp,
    ShapeOfOp,
    SliceStorageOp,
    WriteRefOp,
)
from .kernels import KernelConstantOp, KernelOp, StepOp

DEVICES = "bytecode.devices"
"""The name of the module attribute that lists its devices, host first."""

Bytecode = Dialect(
    "bytecode",
    [ConstantOp, LateConstantOp, KernelOp, KernelConstantOp, StepOp, FuncOp, *INSTRUCTIONS],
    [RegisterAttr, ObjectType],
)

__all__ = [
    "DEVICES",
    "INSTRUCTIONS",
    "AllocADTOp",
    "AllocClosureOp",
    "AllocRefOp",
    "AllocStorageOp",
    "AllocTensorOp",
    "AllocTensorRegOp",
    "Bytecode",
    "ComputeOp",
    "ConstantOp",
    "DeviceCopyOp",
    "Dims",
    "FatalOp",
    "FuncOp",
    "GetFieldOp",
    "GetTagOp",
    "GotoOp",
    "IfOp",
    "Instruction",
    "InvokeClosureOp",
    "InvokeOp",
    "InvokePackedOp",
    "KernelConstantOp",
    "KernelOp",
    "KillRegisterOp",
    "LateConstantOp",
    "LoadConstOp",
    "LoadConstiOp",
    "MoveOp",
    "ObjectType",
    "PackOp",
    "ReadRefOp",
    "RegisterAttr",
    "RequireOp",
    "ReshapeTensorOp",
    "RetOp",
    "ShapeOfOp",
    "SliceStorageOp",
    "StepOp",
    "WriteRefOp",
]
