"""Reductions of a tensor along some of its axes, and scans along one."""

from abc import ABC

from xdsl.dialects.builtin import i32
from xdsl.irdl import operand_def, result_def, traits_def

from .incomplete import AnyTensor
from .operator import COMM_REDUCE, Opaque, RelayOperator, like, operator
from .properties import (
    bool_prop,
    dtype_prop,
    optional_ints_prop,
)


class Reduction(RelayOperator, ABC):
    """
    An operator that reduces `data` along `axis`.

    ```mlir
    %y = relay.sum %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
    ```

    Without `axis` all axes are reduced; an empty `axis` reduces none. With `exclude` the axes not
    in `axis` are reduced. With `keepdims` a reduced axis is kept as a dim of 1.
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axis = optional_ints_prop()
    keepdims = bool_prop(False)
    exclude = bool_prop(False)

    traits = traits_def(*COMM_REDUCE)


@operator("relay.sum")
class SumOp(Reduction):
    """
    Sum `data` along `axis`; integers wrap around.

    The order of the sum is not specified: where it overflows on the way, a float may be infinite.
    """


@operator("relay.prod")
class ProdOp(Reduction):
    """
    Multiply the elements of `data` along `axis`; integers wrap around.

    The order of the product is not specified: where it overflows or underflows on the way, a float
    may be infinite, 0 or NaN.
    """


MeanOp = like(
    Reduction,
    "relay.mean",
    "Take the mean of `data`, of floats, along `axis`, which must not be empty.",
)


@operator("relay.max")
class MaxOp(Reduction):
    """
    Take the greatest element of `data` along `axis`, which must not be empty.

    ```mlir
    %y = relay.max %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
    ```

    NaN if there is one. The sign of a zero result is unspecified.
    """


@operator("relay.min")
class MinOp(Reduction):
    """
    Take the least element of `data` along `axis`, which must not be empty.

    ```mlir
    %y = relay.min %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
    ```

    NaN if there is one. The sign of a zero result is unspecified.
    """


AllOp = like(
    Reduction, "relay.all", "Test whether all elements of `data`, of i1, are true along `axis`."
)
AnyOp = like(
    Reduction, "relay.any", "Test whether any element of `data`, of i1, is true along `axis`."
)


class ArgReduction(Reduction, ABC):
    """
    An operator that finds the index of an element along one axis, or in flattened `data`.

    ```mlir
    %y = relay.argmax %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xi32>
    ```

    Of several such indices it returns the first, or the last with `select_last_index`; a NaN is
    better than any number. The axis must not be empty.
    """

    select_last_index = bool_prop(False)
    dtype = dtype_prop(i32)


ArgMaxOp = like(
    ArgReduction, "relay.argmax", "Find the index of the greatest element of `data` along `axis`."
)
ArgMinOp = like(
    ArgReduction, "relay.argmin", "Find the index of the least element of `data` along `axis`."
)


@operator("relay.cumsum")
class CumsumOp(Opaque):
    """
    Sum the elements of `data` up to each place along `axis`; without `axis`, of flattened `data`.

    ```mlir
    %y = relay.cumsum %x {axis = 1} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    ```

    With `exclusive` the element at the place does not count. Elements are added in order, as
    numbers of type `dtype` (default: that of `data`, i32 for i1), but f32 for narrower floats.
    """
