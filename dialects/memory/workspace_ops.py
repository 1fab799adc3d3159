"""
Storages that callers lend to functions.

    func.func private @f(%x: tensor<?xf32>,
        %w: !memory.storage {memory.workspace = array<i64: 0>, memory.alignment = 64 : i64},
        %r: !memory.storage {memory.result = 0 : i64, memory.alignment = 64 : i64}) -> tensor<?xf32>

`%w` is a workspace: what `@f` computes on the way is in it. The bytes that it must have depend on
the shapes of the parameters that `memory.workspace` lists (of none: the size is static), and
`memory.workspace_size` returns them. `%r` is for the tensor of that number among those returned,
fields of tuples included, which lies in it at byte 0. Both have the alignment that
`memory.alignment` says; `memory.pool` is the pool of a workspace, if it is in one. When the size of
a workspace is static and known, `memory.size` says it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..interfaces import AllOnHost, Lookup
from ..memrefs import as_memref
from ..tensors import as_tensor
from .static_or_dynamic import verify_shape
from .storage_ops import StorageType

WORKSPACE = "memory.workspace"
"""The parameters whose shapes the size of a workspace, a parameter, depends on."""
RESULT = "memory.result"
"""The number of the tensor, of those returned, whose storage a parameter is."""
SIZES_OF = "memory.sizes_of"
"""The function whose storages and results a function computes the sizes of."""
ALLOCATED = "memory.allocated"
"""Marks a result that an entry allocates, as its size is known only after the run."""
LENT = "memory.lent"
"""Marks a copy of a parameter to a result whose memory may be that of the parameter."""
ALIGNMENT = "memory.alignment"
"""The alignment of a storage that is a parameter."""
POOL = "memory.pool"
"""The pool of a workspace, if it is in a memory scope of its device: `cpu:0/dtcm`."""
SIZE = "memory.size"
"""The bytes of a workspace, if they are static and known."""


def parameter_attributes(function: Operation, index: int) -> Mapping[str, Attribute]:
    """Return the attributes of parameter `index` of `function`."""
    attributes = function.properties.get("arg_attrs")
    entries = cast("ArrayAttr[Attribute]", attributes) if isinstance(attributes, ArrayAttr) else ()
    entry = next(islice(entries, index, None), None)
    return entry.data if isinstance(entry, DictionaryAttr) else {}


def shapes_of_workspace(function: Operation, index: int) -> tuple[int, ...] | None:
    """Return the parameters whose shapes the workspace `index` depends on; None if it is none."""
    listed_shapes = parameter_attributes(function, index).get(WORKSPACE)
    if not isinstance(listed_shapes, DenseArrayBase):
        return None
    listed = cast("DenseArrayBase[I64]", listed_shapes)
    return tuple(listed.get_values()) if listed.elt_type == i64 else None


def alignment_of_parameter(function: Operation, index: int) -> int:
    """Return the alignment of the storage that is parameter `index` of `function`."""
    number = parameter_attributes(function, index).get(ALIGNMENT)
    return cast("IntegerAttr[I64]", number).value.data if isinstance(number, IntegerAttr) else 1


def result_in_parameter(function: Operation, index: int) -> int | None:
    """Return the number of the result whose storage parameter `index` is; None if it is none."""
    number = parameter_attributes(function, index).get(RESULT)
    return cast("IntegerAttr[I64]", number).value.data if isinstance(number, IntegerAttr) else None


def shape_operands(type: Attribute) -> Sequence[int]:
    """Return the axes of a memref whose dims are operands; of a tensor, one for all of them."""
    memref = as_memref(type)
    shape = (DYNAMIC_INDEX,) if memref is None else memref.get_shape()
    return [axis for axis, dim in enumerate(shape) if dim == DYNAMIC_INDEX]


@irdl_op_definition
class WorkspaceSizeOp(IRDLOperation):
    """
    Compute the bytes that workspace `param` of `function` must have for arguments of `shapes`.

    ```mlir
    %n = memory.workspace_size @f[2]
    %d = memory.workspace_size @f[2](%s : tensor<2xi64>)
    ```

    `param` is the number of the parameter; `shapes` are those of the parameters that its attribute
    `memory.workspace` lists: of a tensor its shape, of a memref each dynamic dim, as an index.
    `layout-slices` computes it where it has chosen the offsets in the workspace.
    """

    name = "memory.workspace_size"

    function = prop_def(SymbolRefAttr)
    param = prop_def(IntegerAttr[I64])
    shapes = var_operand_def(TensorType | IndexType)
    bytes = result_def(i64)

    traits = traits_def(Pure(), AllOnHost())
    assembly_format = "$function `[` $param `]` (`` `(` $shapes^ `:` type($shapes) `)`)? attr-dict"

    def __init__(self, function: str, param: int, shapes: Sequence[SSAValue] = ()):
        super().__init__(
            operands=[shapes],
            properties={"function": SymbolRefAttr(function), "param": IntegerAttr(param, i64)},
            result_types=[i64],
        )

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        name, param = self.function.string_value(), self.param.value.data
        function = lookup(name)
        if not isinstance(function, func.FuncOp):
            actual = "is not defined in the module" if function is None else f"is a {function.name}"
            raise VerifyException(f"@{name} must be a function, but {actual}")
        inputs = function.function_type.inputs.data
        if not 0 <= param < len(inputs):
            raise VerifyException(
                f"parameter {param} of @{name} is out of range [0, {len(inputs)})"
            )
        listed = shapes_of_workspace(function, param)
        if listed is None or not isinstance(inputs[param], StorageType):
            raise VerifyException(
                f"parameter {param} of @{name} must be a !memory.storage with attribute {WORKSPACE}"
            )
        for i in listed:
            if not (0 <= i < len(inputs) and (as_tensor(inputs[i]) or as_memref(inputs[i]))):
                raise VerifyException(
                    f"{WORKSPACE} must list tensors or memrefs among the {len(inputs)} parameters "
                    f"of @{name}, but has {i}"
                )
        expected = sum(len(shape_operands(inputs[i])) for i in listed)
        if expected != len(self.shapes):
            raise VerifyException(
                f"workspace {param} of @{name} depends on the shapes of {len(listed)} parameters, "
                f"of {expected} values, but got {len(self.shapes)}"
            )
        for i, shapes in self.shapes_by_parameter(function):
            type = as_tensor(inputs[i])
            if type is not None:
                verify_shape(shapes[0], type.get_num_dims())
            elif any(not isinstance(dim.type, IndexType) for dim in shapes):
                raise VerifyException("the dims of a memref must be of type index")

    def shapes_by_parameter(self, function: Operation) -> Iterator[tuple[int, Sequence[SSAValue]]]:
        """Yield each parameter of `function` that the size depends on, and what its shape is."""
        assert isinstance(function, func.FuncOp), "verified: a function"
        inputs, values = function.function_type.inputs.data, iter(self.shapes)
        for i in shapes_of_workspace(function, self.param.value.data) or ():
            yield i, [*islice(values, len(shape_operands(inputs[i])))]
