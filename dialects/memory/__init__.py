"""The `memory` dialect: storage, the tensors allocated in it, and their lifetimes."""

from xdsl.ir import Dialect

from .destinations import CopyOp, ResultIsOuts, verify_destinations
from .operands import verify_shape
from .pack import Arm, PackOp, Slice
from .storage import AllocStorageOp, StorageType
from .tensors import AllocTensorOp, KillOp

Memory = Dialect(
    "memory",
    [AllocStorageOp, AllocTensorOp, CopyOp, KillOp, PackOp],
    [StorageType],
)

__all__ = [
    "AllocStorageOp",
    "AllocTensorOp",
    "Arm",
    "CopyOp",
    "KillOp",
    "Memory",
    "PackOp",
    "ResultIsOuts",
    "Slice",
    "StorageType",
    "verify_destinations",
    "verify_shape",
]
