"""Operators that permute, join, split, pad, select or repeat elements."""

from abc import ABC
from collections.abc import Sequence

from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.irdl import operand_def, traits_def, var_operand_def, var_result_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..interfaces import ReadsElementwise
from ..tensors import as_tensor, is_static
from ..xdsl_extras.trait_patterns import Patterns, erase_if_unused
from .incomplete import AnyTensor
from .operator import INJECTIVE, Broadcasting, Injective, RelayOperator, is_in_kernel, operator
from .properties import (
    int_prop,
    ints,
    ints_prop,
    optional_ints_prop,
    string_prop,
)


@operator("relay.transpose")
class TransposeOp(Injective, HasCanonicalizationPatternsInterface):
    """
    Permute the dims of `data`: dim i of the result is dim `axes[i]`; by default, reversed.

    ```mlir
    %y = relay.transpose %x {axes = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
    ```
    """

    data = operand_def(AnyTensor)
    axes = optional_ints_prop()

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (MergeTransposes(),)

    @property
    def permutation(self) -> Sequence[int] | None:
        """The dim of `data` that each dim of the result is; None if the rank is unknown."""
        type = as_tensor(self.data.type)
        if type is None:
            return None
        rank = type.get_num_dims()
        if self.axes is None:
            return range(rank)[::-1]
        return [axis % rank for axis in self.axes.get_values()]


class MergeTransposes(RewritePattern):
    """Replace two transpositions by one, and remove one that moves nothing; but not in kernels."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter, /) -> None:
        axes, before = op.permutation, op.data.owner
        if axes is None or is_in_kernel(op):
            return
        if [*axes] == [*range(len(axes))] and op.data.type == op.result.type:
            rewriter.replace(op, [], [op.data])
            return
        if not isinstance(before, TransposeOp) or (first := before.permutation) is None:
            return
        both = [first[axis] for axis in axes]
        if both == [*range(len(both))] and before.data.type == op.result.type:
            rewriter.replace(op, [], [before.data])
        else:
            merged = TransposeOp.create(
                operands=[before.data],
                result_types=op.result_types,
                properties={"axes": ints(both)},
            )
            rewriter.replace(op, merged)
        erase_if_unused(before, rewriter)


@operator("relay.reverse")
class ReverseOp(Injective):
    """
    Reverse the order of the slices of `data` along `axis`.

    ```mlir
    %y = relay.reverse %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    """


@operator("relay.slice_like")
class SliceLikeOp(Injective):
    """
    Take the first elements of `data`, along `axes` as many as `shape_like` has, along others all.

    ```mlir
    %y = relay.slice_like %x, %s {axes = array<i64: 1>}
      : (tensor<2x3xf32>, tensor<5x2xi32>) -> tensor<2x2xf32>
    ```

    Without `axes`, it is along all that both have. The elements of `shape_like` are not read.
    """


# -------------------------------------------------------------------- joining


class Joining(Injective, ABC):
    """An operator on one or more tensors of one element type."""

    tensors = var_operand_def(AnyTensor)
    axis = int_prop(0)


@operator("relay.concatenate")
class ConcatenateOp(Joining):
    """
    Join `tensors`, at least one, along `axis`; their other dims are equal.

    ```mlir
    %y = relay.concatenate %a, %b {axis = 1}
      : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    ```
    """


@operator("relay.stack")
class StackOp(Joining):
    """
    Join `tensors`, at least one, of one shape, along a new `axis`.

    ```mlir
    %y = relay.stack %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """


@operator("relay.split")
class SplitOp(RelayOperator):
    """
    Split `data` along `axis`.

    ```mlir
    %a, %b = relay.split %x {indices_or_sections = 2}
      : (tensor<6xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %a, %b = relay.split %x {indices_or_sections = array<i64: 2>}
      : (tensor<6xf32>) -> (tensor<2xf32>, tensor<4xf32>)
    ```

    An integer is the number of equal parts; an array lists ascending indices to split at.
    """

    data = operand_def(AnyTensor)
    parts = var_result_def(AnyTensor)
    axis = int_prop(0)

    traits = traits_def(*INJECTIVE)


@operator("relay.nn.pad")
class PadOp(Injective):
    """
    Surround `data` with `pad_width` (before 0, after 0, before 1, …) more elements on each axis.

    ```mlir
    %y = relay.nn.pad %x, %v {pad_width = array<i64: 0, 0, 1, 1>}
      : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x5xf32>
    ```

    `pad_mode` determines their values: "constant" (the scalar `pad_value`), "edge" (the nearest
    element) or "reflect" (mirrored at the first and last element, which are not repeated).
    """

    data = operand_def(AnyTensor)
    pad_value = operand_def(AnyTensor)
    pad_width = ints_prop()
    pad_mode = string_prop("constant")


# -------------------------------------------------------------------- picking


@operator("relay.strided_slice")
class StridedSliceOp(Injective, HasCanonicalizationPatternsInterface):
    """
    Take every `strides`-th slice of `data` from `begin` up to `end` along `axes`.

    ```mlir
    %y = relay.strided_slice %x {begin = array<i64: 1>, end = array<i64: -1>, axes = array<i64: 1>}
      : (tensor<2x4xf32>) -> tensor<2x2xf32>
    ```

    Without `axes` the entries apply to the leading dims. As in NumPy, negative indices count from
    the end and indices out of range are clamped; missing strides are 1. With `slice_mode` "size",
    `end` holds the sizes of the slices, -1 for all remaining elements; strides are ignored.
    """

    data = operand_def(AnyTensor)
    begin = ints_prop()
    end = ints_prop()
    strides = optional_ints_prop()
    axes = optional_ints_prop()
    slice_mode = string_prop("end")

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (RemoveWholeSlice(),)


class RemoveWholeSlice(RewritePattern):
    """Remove a slice of all elements, in their order; but not in kernels."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StridedSliceOp, rewriter: PatternRewriter, /) -> None:
        type = as_tensor(op.data.type)
        if type is None or op.data.type != op.result.type or not is_static(type):
            return
        strides = () if op.strides is None else op.strides.get_values()
        may_reverse = op.slice_mode.data == "end" and any(stride < 0 for stride in strides)
        if not may_reverse and not is_in_kernel(op):
            rewriter.replace(op, [], [op.data])


@operator("relay.take")
class TakeOp(Injective):
    """
    Take the slices of `data` at `indices` along `axis`; without `axis`, of flattened `data`.

    ```mlir
    %y = relay.take %x, %i {axis = 0} : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```

    The first `batch_dims` dims are shared by both. An index out of range is clamped ("clip"),
    wrapped around ("wrap") or not allowed ("fast").
    """


@operator("relay.gather")
class GatherOp(Injective):
    """
    Take from each line of `data` along `axis` the elements at `indices`, at the same place.

    ```mlir
    %y = relay.gather %x, %i {axis = 1} : (tensor<3x9xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
    ```

    An index out of range is clamped.
    """


@operator("relay.gather_nd")
class GatherNdOp(Injective):
    """
    Take the slices of `data` at the columns of `indices`, which index its first axes.

    ```mlir
    %y = relay.gather_nd %x, %i : (tensor<4x5x6xf32>, tensor<2x7xi64>) -> tensor<7x6xf32>
    ```

    The indexed axes follow the first `batch_dims`, which both have. An index out of range is
    clamped. `index_rank` repeats dim 0 of `indices`.
    """


@operator("relay.broadcast_to")
class BroadcastToOp(Broadcasting):
    """
    Broadcast `data` to `shape`.

    ```mlir
    %y = relay.broadcast_to %x {shape = array<i64: 2, 3>} : (tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """

    traits = traits_def(ReadsElementwise())


@operator("relay.tile")
class TileOp(Broadcasting):
    """
    Tile `data` `reps[i]` times along axis i; dims and `reps` are aligned at the last axis.

    ```mlir
    %y = relay.tile %x {reps = array<i64: 2, 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
    ```
    """


@operator("relay.repeat")
class RepeatOp(Broadcasting):
    """
    Repeat each slice of `data` along `axis` `repeats` times.

    ```mlir
    %y = relay.repeat %x {repeats = 2} : (tensor<3xf32>) -> tensor<6xf32>
    ```
    """
