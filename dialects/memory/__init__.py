"""The `memory` dialect: storage, the tensors allocated in it, and their lifetimes."""

from xdsl.ir import Dialect

from .destination_ops import CopyOp as CopyOp
from .destination_ops import CopyRowsOp as CopyRowsOp
from .destination_ops import ResultIsOuts as ResultIsOuts
from .destination_ops import clips as clips
from .destination_ops import first_row as first_row
from .destination_ops import verify_destinations as verify_destinations
from .pack import Arm as Arm
from .pack import Packing as Packing
from .pack import PackOp as PackOp
from .pack import PackType as PackType
from .pack import Slice as Slice
from .pack import SliceOp as SliceOp
from .pack import TotalOp as TotalOp
from .slice_ops import SliceStorageOp as SliceStorageOp
from .static_or_dynamic import verify_shape as verify_shape
from .storage_ops import POOLS as POOLS
from .storage_ops import AllocStorageOp as AllocStorageOp
from .storage_ops import PoolAttr as PoolAttr
from .storage_ops import StorageType as StorageType
from .storage_ops import is_pool_of as is_pool_of
from .storage_ops import place_of as place_of
from .storage_ops import pools_of as pools_of
from .tensor_ops import AllocTensorOp as AllocTensorOp
from .tensor_ops import BufferOp as BufferOp
from .tensor_ops import KillOp as KillOp
from .tensor_ops import PlacedOp as PlacedOp
from .workspace_ops import ALIGNMENT as ALIGNMENT
from .workspace_ops import ALLOCATED as ALLOCATED
from .workspace_ops import LENT as LENT
from .workspace_ops import POOL as POOL
from .workspace_ops import RESULT as RESULT
from .workspace_ops import SIZE as SIZE
from .workspace_ops import SIZES_OF as SIZES_OF
from .workspace_ops import WORKSPACE as WORKSPACE
from .workspace_ops import WorkspaceSizeOp as WorkspaceSizeOp
from .workspace_ops import alignment_of_parameter as alignment_of_parameter
from .workspace_ops import parameter_attributes as parameter_attributes
from .workspace_ops import result_in_parameter as result_in_parameter
from .workspace_ops import shape_operands as shape_operands
from .workspace_ops import shapes_of_workspace as shapes_of_workspace

Memory = Dialect(
    "memory",
    [
        *(AllocStorageOp, AllocTensorOp, BufferOp, CopyOp, CopyRowsOp, KillOp, PackOp, SliceOp),
        *(SliceStorageOp, TotalOp, WorkspaceSizeOp),
    ],
    [PackType, PoolAttr, StorageType],
)
