"""Operators that change the shape of a tensor, but not its elements."""

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, traits_def
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ..interfaces import ReshapesOnly, has_effects, only_reshapes
from ..tensors import as_tensor, is_static
from ..xdsl_extras.trait_patterns import Patterns, erase_if_unused, op_trait_rewrite_pattern
from .incomplete import AnyTensor
from .operator import Injective, is_in_kernel, operator
from .properties import bool_prop, ints, ints_prop


class ReshapingInterface(HasCanonicalizationPatternsInterface, ABC):
    """An operator that only reshapes its operand 0: two of them in a row are one."""

    traits = traits_def(ReshapesOnly())

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (MergeReshapes(),)


class Reshaping(Injective, ReshapingInterface, ABC):
    """An operator whose result has the elements of `data` in the same order."""

    data = operand_def(AnyTensor)


@operator("relay.reshape")
class ReshapeOp(Reshaping):
    """
    Reshape `data` to the shape that `newshape` describes.

    ```mlir
    %y = relay.reshape %x {newshape = array<i64: 0, -1>} : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```

    Entries are read from left to right: a positive entry is a dim; 0 copies the dim at its index
    (with `allowzero` it is a dim of 0); -1, allowed once, is inferred from the others; -2 copies
    all remaining dims; -3 merges the next two dims; -4 splits the next dim into the two entries
    that follow.
    """

    newshape = ints_prop()
    allowzero = bool_prop(False)

    @classmethod
    def to(
        cls,
        data: SSAValue,
        shape: Sequence[int],
        type: Attribute,
        allowzero: BoolAttr | None = None,
    ) -> "ReshapeOp":
        """Return the reshape of `data` to a `type`; by default, a 0 in `shape` is a dim of 0."""
        zero = BoolAttr.from_bool(0 in shape) if allowzero is None else allowzero
        return cls.create(
            operands=[data],
            result_types=[type],
            properties={"newshape": ints(shape), "allowzero": zero},
        )


class MergeReshapes(RewritePattern):
    """Replace two reshapes by one, and remove one that keeps the shape; but not in kernels."""

    @op_trait_rewrite_pattern(ReshapesOnly)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        data, result = op.operands[0], op.results[0]
        type, before = as_tensor(result.type), data.owner
        if type is None or not is_static(type) or has_effects(op) or is_in_kernel(op):
            return
        if data.type == result.type:
            rewriter.replace(op, [], [data])
            return
        if not isinstance(before, Operation) or not only_reshapes(before):
            return
        source = before.operands[0]
        if source.type == result.type:
            rewriter.replace(op, [], [source])
        else:
            rewriter.replace(op, ReshapeOp.to(source, type.get_shape(), result.type))
        erase_if_unused(before, rewriter)


@operator("relay.nn.batch_flatten")
class BatchFlattenOp(Reshaping):
    """
    Flatten all but the first dim of `data`.

    ```mlir
    %y = relay.nn.batch_flatten %x : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
    """


@operator("relay.expand_dims")
class ExpandDimsOp(Reshaping):
    """
    Insert `num_newaxis` dims of 1 at `axis` of `data`.

    ```mlir
    %y = relay.expand_dims %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    ```

    An `axis` of -1 is after the last dim.
    """


@operator("relay.squeeze")
class SqueezeOp(Reshaping):
    """
    Remove the dims `axis` of `data`, which must be 1; without `axis`, all dims of 1.

    ```mlir
    %y = relay.squeeze %x {axis = array<i64: 0>} : (tensor<1x2x1xf32>) -> tensor<2x1xf32>
    ```
    """


@operator("relay.reshape_like")
class ReshapeLikeOp(Injective):
    """
    Replace the dims `lhs_begin` to `lhs_end` of `data` by those of `shape_like`, from `rhs_begin`.

    ```mlir
    %y = relay.reshape_like %x, %t : (tensor<6x4xf32>, tensor<2x12xi1>) -> tensor<2x12xf32>
    ```

    An end that is absent is that of the dims; a negative one counts from there.
    """
