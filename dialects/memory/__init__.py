"""The `memory` dialect: storage, the tensors allocated in it, and their lifetimes."""

from xdsl.ir import Dialect

from .destination_ops import CopyOp, CopyRowsOp, ResultIsOuts, verify_destinations
from .pack import Arm, Packing, PackOp, PackType, Slice, SliceOp, TotalOp
from .slice_ops import SliceStorageOp
from .static_or_dynamic import verify_shape
from .storage_ops import (
    POOLS,
    AllocStorageOp,
    PoolAttr,
    StorageType,
    is_pool_of,
    place_of,
    pools_of,
)
from .tensor_ops import AllocTensorOp, BufferOp, KillOp, PlacedOp
from .workspace_ops import (
    ALIGNMENT,
    ALLOCATED,
    LENT,
    POOL,
    RESULT,
    SIZE,
    SIZES_OF,
    WORKSPACE,
    WorkspaceSizeOp,
    alignment_of_parameter,
    parameter_attributes,
    result_in_parameter,
    shape_operands,
    shapes_of_workspace,
)

__all__ = [
    "ALIGNMENT",
    "ALLOCATED",
    "LENT",
    "POOL",
    "POOLS",
    "RESULT",
    "SIZE",
    "SIZES_OF",
    "WORKSPACE",
    "AllocStorageOp",
    "AllocTensorOp",
    "Arm",
    "BufferOp",
    "CopyOp",
    "CopyRowsOp",
    "KillOp",
    "Memory",
    "PackOp",
    "PackType",
    "Packing",
    "PlacedOp",
    "PoolAttr",
    "ResultIsOuts",
    "Slice",
    "SliceOp",
    "SliceStorageOp",
    "StorageType",
    "TotalOp",
    "WorkspaceSizeOp",
    "alignment_of_parameter",
    "is_pool_of",
    "parameter_attributes",
    "place_of",
    "pools_of",
    "result_in_parameter",
    "shape_operands",
    "shapes_of_workspace",
    "verify_destinations",
    "verify_shape",
]

Memory = Dialect(
    "memory",
    [
        AllocStorageOp,
        AllocTensorOp,
        BufferOp,
        CopyOp,
        CopyRowsOp,
        KillOp,
        PackOp,
        SliceOp,
        SliceStorageOp,
        TotalOp,
        WorkspaceSizeOp,
    ],
    [PackType, PoolAttr, StorageType],
)
