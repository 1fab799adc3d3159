"""
Operators that create tensors, including random ones.

Shapes and ranges that are operands are on the host.
"""

from abc import ABC

from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from ..interfaces import Fusible, FusionKind, ReadsElementwise, ReadsOnlySizes, ResultOnHost
from .incomplete import AnyTensor
from .operator import ELEMWISE, Injective, NotFused, OutFusable, RelayOperator, like, operator
from .properties import dtype_prop


class Filled(RelayOperator, ABC):
    """
    A tensor of one repeated number.

    ```mlir
    %y = relay.zeros {shape = array<i64: 2, 3>, dtype = f32} : tensor<2x3xf32>
    ```
    """

    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE)
    assembly_format = "attr-dict `:` type($result)"


ZerosOp = like(Filled, "relay.zeros", "Fill a tensor of `shape` with 0.")
OnesOp = like(Filled, "relay.ones", "Fill a tensor of `shape` with 1.")


class DynFilled(RelayOperator, ABC):
    """
    A tensor of one repeated number, in a shape that is computed.

    ```mlir
    %y = relay.dyn.zeros %s {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
    ```
    """

    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE)


DynZerosOp = like(DynFilled, "relay.dyn.zeros", "Fill a tensor of `shape` with 0.")
DynOnesOp = like(DynFilled, "relay.dyn.ones", "Fill a tensor of `shape` with 1.")


@operator("relay.dyn.full")
class DynFullOp(RelayOperator):
    """
    Fill a tensor of `shape` with the scalar `fill_value`.

    ```mlir
    %y = relay.dyn.full %v, %s : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
    """

    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE)


@operator("relay.arange")
class ArangeOp(Injective):
    """
    Count from `start` up to `stop` (exclusive) in steps of `step`.

    ```mlir
    %y = relay.arange %a, %b, %c {dtype = i32}
      : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>
    ```

    Element i is `start + i * step`. The operands are scalars of `dtype`.
    """


@operator("relay.one_hot")
class OneHotOp(OutFusable):
    """
    Set `on_value` at each of `indices` in a new dim of `depth` at `axis`, `off_value` elsewhere.

    ```mlir
    %y = relay.one_hot %i, %on, %off {depth = 4 : i64, axis = -1 : i64, dtype = f32}
      : (tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
    ```

    An index outside of [0, depth) sets nothing. The values are scalars of `dtype`.
    """


@operator("relay.dyn.one_hot")
class DynOneHotOp(OutFusable):
    """
    Set `on_value` at each of `indices` in a new dim of `depth` at `axis`, `off_value` elsewhere.

    ```mlir
    %y = relay.dyn.one_hot %i, %on, %off, %n {axis = -1 : i64, dtype = f32}
      : (tensor<3xi32>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<3x?xf32>
    ```

    An index outside of [0, depth) sets nothing. `depth` is a scalar; the values are scalars of
    `dtype`.
    """


@operator("relay.shape_of")
class ShapeOfOp(RelayOperator):
    """
    Get the shape of `data`, a vector of integers on the host.

    ```mlir
    %s = relay.shape_of %x {dtype = i64} : (tensor<?x3xf32>) -> tensor<2xi64>
    ```
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    dtype = dtype_prop()

    traits = traits_def(Pure(), ReadsOnlySizes(), ResultOnHost(), Fusible(FusionKind.OPAQUE))


@operator("relay.ndarray_size")
class NdarraySizeOp(RelayOperator):
    """
    Count the elements of `data`: a scalar on the host.

    ```mlir
    %n = relay.ndarray_size %x {dtype = i64} : (tensor<?x3xf32>) -> tensor<i64>
    ```
    """

    result = result_def(AnyTensor)

    traits = traits_def(Pure(), ResultOnHost(), Fusible(FusionKind.OPAQUE))


@operator("relay.cast_like")
class CastLikeOp(RelayOperator):
    """
    Convert the elements of `data` to the element type of `dtype_like`.

    ```mlir
    %y = relay.cast_like %x, %t : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xi32>
    ```

    Elements are converted as by `relay.cast`.
    """

    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE, ReadsElementwise((0,)))


@operator("relay.full_like")
class FullLikeOp(RelayOperator):
    """
    Fill a tensor of the type of `data` with the scalar `fill_value`.

    ```mlir
    %y = relay.full_like %x, %v : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
    """

    result = result_def(AnyTensor)

    traits = traits_def(*ELEMWISE, ReadsElementwise((1,)))


@operator("relay.random.threefry_generate")
class ThreefryGenerateOp(NotFused):
    """
    Compute random words of `out_shape` from the generator `gen`, and the next generator.

    ```mlir
    %g, %y = relay.random.threefry_generate %x {out_shape = array<i64: 2, 3>}
      : (tensor<10xui64>) -> (tensor<10xui64>, tensor<2x3xui64>)
    ```

    The words are a counter after 20 rounds of Threefry-4x64, bit for bit as in TVM. A generator is
    its key (4 words), the path of splits (2), the counter (2), and the bit after the path (2).
    """

    next_gen = result_def(AnyTensor)
    words = result_def(AnyTensor)


@operator("relay.random.threefry_split")
class ThreefrySplitOp(NotFused):
    """
    Compute two generators of independent random numbers from the generator `gen`.

    ```mlir
    %l, %r = relay.random.threefry_split %x
      : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>)
    ```

    Their paths are that of `gen` and one more bit. If the path is full, they get new keys.
    """

    left = result_def(AnyTensor)
    right = result_def(AnyTensor)
