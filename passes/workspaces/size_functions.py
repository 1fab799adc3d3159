"""
Functions that compute what callers from outside allocate for a call: storages and results.

    func.func @main(%x: tensor<?x8xf32>, %y: tensor<4xf32>,
        %r: !memory.storage {memory.result = 0, …}, %w: !memory.storage {memory.workspace = [0], …})
      -> tensor<?x4xf32>

    func.func @main.sizes(%x_dim0: i64) -> (i64, i64, i64) attributes {memory.sizes_of = @main} {
      %x_shape = tensor.from_elements %x_dim0, %c8 : tensor<2xi64>
      …
      %w_bytes = memory.workspace_size @main[3](%x_shape : tensor<2xi64>)
      func.return %r_bytes, %w_bytes, %y_dim0
    }

The parameters are the dynamic dims of all tensors among those of the function, in order. Results
are the bytes of each storage that is lent, then the dynamic dims of each result, in order. A result
whose size depends on more, such as the data of an argument, is omitted: the function allocates it,
and marks it with the attribute `memory.allocated`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, SymbolRefAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from ...dialects import memory
from ...dialects.tensors import dynamic_axes, tensor_of
from ...operators.sizes.size_expressions import Symbol
from ..functions.signatures import marked
from ..functions.symbols import SymbolNames
from ..sizes.size_code import SizeCode
from .caller_sizes import Origin
from .lending import Lenders, Lent, returned_values


class SizeFunctionCode(SizeCode):
    """The body of a size function."""

    def __init__(self, function: func.FuncOp):
        self.function = function
        self.block = Block()
        super().__init__(self.block.add_op)
        self.dims: dict[tuple[int, int], SSAValue] = {}
        """The dynamic dims, by parameter and axis."""

    def add_dims(self) -> None:
        """Make a parameter of each dynamic dim."""
        for param in self.function.body.block.args:
            for axis in dynamic_axes(param.type):
                dim = self.block.insert_arg(i64, len(self.block.args))
                dim.name_hint = f"{param.name_hint or f'arg{param.index}'}_dim{axis}"
                self.dims[param.index, axis] = dim

    def dim(self, param: BlockArgument, axis: int) -> SSAValue:
        """Return a dim of a parameter of the function."""
        size = tensor_of(param).get_shape()[axis]
        return self.dims[param.index, axis] if size == DYNAMIC_INDEX else self.value(size)

    def shape(self, param: BlockArgument, type: Attribute) -> SSAValue:
        """Return the shape of a parameter of the function as a tensor of `type`."""
        key = param, type
        shape = self.find(key)
        if shape is None:
            dims = [self.dim(param, axis) for axis in range(tensor_of(param).get_num_dims())]
            hint = f"{param.name_hint or f'arg{param.index}'}_shape"
            shape = self.vector(dims, type, hint)
            self.add(key, shape)
        return shape

    def leaf(self, symbol: Symbol) -> SSAValue:
        return self.dim(*cast("tuple[BlockArgument, int]", symbol.args))

    def named(self, origin: Origin) -> SSAValue:
        """Write a size, with the name that it has in the function."""
        size = self.write(origin.dims[0])
        size.name_hint = size.name_hint or origin.value.name_hint
        return size

    def storages(self, lent: Lent) -> list[SSAValue]:
        """Compute the bytes of the storages that are lent."""
        args = self.function.body.block.args
        sizes = [
            self.value(result.size) if result.origin is None else self.named(result.origin)
            for result in lent.results
        ]
        first = len(args) - len(lent.workspaces)
        for i, workspace in enumerate(lent.workspaces, first):
            shapes = [self.shape(param, type) for param, type in workspace.shapes.items()]
            name = self.function.sym_name.data
            sizes.append(self.emit(memory.WorkspaceSizeOp(name, i, shapes)))
        return sizes

    def dims_of(self, value: SSAValue, origin: Origin | None) -> list[SSAValue]:
        """Compute the dynamic dims of the result `value`, whose shape has this origin."""
        axes = dynamic_axes(value.type)
        if not axes:
            return []
        if isinstance(value, BlockArgument):
            return [self.dim(value, axis) for axis in axes]
        assert origin is not None, "the function allocates results of unknown size"
        return [self.write(origin.dims[axis]) for axis in axes]


def mark_allocated(function: func.FuncOp, lenders: Lenders) -> None:
    """Mark the results that callers cannot allocate, as their size is known only after the run."""
    allocated = {memory.ALLOCATED: UnitAttr()}
    have_shapes = [lenders.knows_shape(value) for value in returned_values(function)]
    if not all(have_shapes):
        marks = [{} if has_shape else allocated for has_shape in have_shapes]
        function.res_attrs = marked(function.res_attrs, marks)


def size_function(lent: Lent, lenders: Lenders, names: SymbolNames) -> func.FuncOp | None:
    """Return the size function of an entry; None if all its parameters are of static size."""
    function = lent.function
    code = SizeFunctionCode(function)
    code.add_dims()
    if not code.dims:
        return None
    dims = [
        dim
        for value in returned_values(function)
        if lenders.knows_shape(value)
        for dim in code.dims_of(value, lenders.shape_origin(value, function.body.block))
    ]
    results: Sequence[SSAValue] = [*code.storages(lent), *dims]
    code.block.add_op(func.ReturnOp(*results))
    type = FunctionType.from_lists(code.block.arg_types, [i64] * len(results))
    name = function.sym_name.data
    made = func.FuncOp(names.unique(f"{name}.sizes"), type, Region(code.block))
    made.attributes[memory.SIZES_OF] = SymbolRefAttr(name)
    made.location = function.location
    return made
