"""Operators that find elements: by rank in an order, by value, or by being nonzero."""

from xdsl.irdl import var_result_def

from .incomplete import AnyTensor
from .operator import NotFused, Opaque, operator


@operator("relay.topk")
class TopkOp(NotFused):
    """
    Select the `k` greatest elements of `data` along `axis`, in order, and their indices.

    ```mlir
    %v, %i = relay.topk %x {k = 2 : i64, dtype = i32}
      : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
    %w = relay.topk %x {k = 2 : i64, ret_type = "values", dtype = i32}
      : (tensor<3x4xf32>) -> tensor<3x2xf32>
    ```

    With `is_ascend` the least elements. All of them if `k` is below 1. Of equal elements the first
    comes first. `ret_type` is "both", "values" or "indices"; `dtype` is that of the indices.
    """

    found = var_result_def(AnyTensor)


@operator("relay.argsort")
class ArgsortOp(Opaque):
    """
    Compute the indices of the elements of `data` along `axis`, in ascending order.

    ```mlir
    %i = relay.argsort %x {dtype = i32} : (tensor<3x4xf32>) -> tensor<3x4xi32>
    ```

    Without `is_ascend`, in descending order. Of equal elements the first comes first.
    """


@operator("relay.sort")
class SortOp(Opaque):
    """
    Sort the elements of `data` along `axis`, in ascending order, or without `is_ascend` descending.

    ```mlir
    %y = relay.sort %x {axis = 0 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
    ```
    """


@operator("relay.scatter_elements")
class ScatterElementsOp(Opaque):
    """
    Write `updates` over elements of `data`, at `indices` along `axis`, and at their own place else.

    ```mlir
    %y = relay.scatter_elements %x, %i, %u {axis = 1 : i64}
      : (tensor<3x4xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<3x4xf32>
    ```

    Negative indices count from the end; those out of range are the nearest ones. With `reduction`
    "update", the last of several updates of one element stays; "add", "mul", "min", "max" and
    "mean" reduce it and its updates.
    """


@operator("relay.dyn.topk")
class DynTopkOp(NotFused):
    """
    Select the `k` greatest elements of `data` along `axis`, in order, and their indices.

    ```mlir
    %v, %i = relay.dyn.topk %x, %k {dtype = i32}
      : (tensor<3x4xf32>, tensor<i64>) -> (tensor<3x?xf32>, tensor<3x?xi32>)
    ```

    The attributes mean what those of `relay.topk` mean.
    """

    found = var_result_def(AnyTensor)


@operator("relay.argwhere")
class ArgwhereOp(Opaque):
    """
    List the indices of the elements of `condition` that are not 0, in order, a row for each.

    ```mlir
    %y = relay.argwhere %x : (tensor<2x3xi1>) -> tensor<?x2xi32>
    ```

    The rank of `condition` is 1 to 5.
    """


@operator("relay.unique")
class UniqueOp(NotFused):
    """
    List the distinct elements of the vector `data`, where each is first, and which each element is.

    ```mlir
    %y, %i, %j, %n = relay.unique %x
      : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>)
    %z, %k, %l, %m, %c = relay.unique %x {return_counts = true}
      : (tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<1xi32>, tensor<4xi32>)
    ```

    The results are as long as `data`: the distinct elements, in ascending order or, unless
    `sorted`, that of their first occurrences; the index of the first occurrence of each; for each
    element of `data` the index of its value among the distinct ones; their number `%n`; and, with
    `return_counts`, how often each occurs. What follows the first `%n` in the first two and the
    last is 0.
    """

    found = var_result_def(AnyTensor)
