"""The operators of `dyn`: the operands after the data are sizes, on the host."""

from collections.abc import Mapping

from xdsl.irdl import operand_def

from ...operators.records import record
from .incomplete import AnyTensor
from .operator import Broadcasting, Injective, operator
from .properties import bool_prop, optional_ints_prop, string_prop
from .reshape import ReshapingInterface


@operator("relay.dyn.reshape")
class DynReshapeOp(Injective, ReshapingInterface):
    """
    Reshape `data` to `shape`.

    ```mlir
    %y = relay.dyn.reshape %x, %s : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```

    A 0 in `shape` copies the dim at its index (with `allowzero` it is a dim of 0); -1, allowed
    once, is inferred from the others.
    """

    data = operand_def(AnyTensor)
    shape = operand_def(AnyTensor)
    allowzero = bool_prop(False)


@operator("relay.dyn.squeeze")
class DynSqueezeOp(Injective, ReshapingInterface):
    """
    Remove the dims `axis` of `data`, which must be 1.

    ```mlir
    %y = relay.dyn.squeeze %x, %a : (tensor<1x2x1xf32>, tensor<1xi64>) -> tensor<?x?xf32>
    ```
    """


@operator("relay.dyn.expand_dims")
class DynExpandDimsOp(Injective, ReshapingInterface):
    """
    Insert `num_newaxis` dims of 1 at the scalar `axis` of `data`.

    ```mlir
    %y = relay.dyn.expand_dims %x, %a : (tensor<2x3xf32>, tensor<i64>) -> tensor<?x?x?xf32>
    ```

    An `axis` of -1 is after the last dim.
    """


@operator("relay.dyn.broadcast_to")
class DynBroadcastToOp(Broadcasting):
    """
    Broadcast `data` to `shape`.

    ```mlir
    %y = relay.dyn.broadcast_to %x, %s : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
    """

    data = operand_def(AnyTensor)
    shape = operand_def(AnyTensor)


@operator("relay.dyn.tile")
class DynTileOp(Broadcasting):
    """
    Tile `data` `reps[i]` times along axis i; dims and `reps` are aligned at the last axis.

    ```mlir
    %y = relay.dyn.tile %x, %n : (tensor<3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    ```
    """


@operator("relay.dyn.strided_slice")
class DynStridedSliceOp(Injective):
    """
    Take every `strides`-th slice of `data` from `begin` up to `end` along `axes`.

    ```mlir
    %y = relay.dyn.strided_slice %x, %b, %e, %s {axes = array<i64: 1>}
      : (tensor<2x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x?xf32>
    ```

    The operands and `slice_mode` mean what the attributes of `relay.strided_slice` mean.
    """

    axes = optional_ints_prop()
    slice_mode = string_prop("end")


@operator("relay.dyn.nn.pad")
class DynPadOp(Injective):
    """
    Surround `data` with `pad_width[i]` (before, after) more elements on axis i.

    ```mlir
    %y = relay.dyn.nn.pad %x, %w, %v
      : (tensor<2x3xf32>, tensor<2x2xi64>, tensor<f32>) -> tensor<?x?xf32>
    ```

    `pad_mode` determines their values, as that of `relay.nn.pad`; `pad_value` is a scalar.
    """

    pad_mode = string_prop("constant")


@record
class StaticForm:
    """The operator that has as attributes what a dynamic one reads from operands."""

    operator: str
    operands: tuple[int, ...]
    """The operands that it keeps."""
    read: Mapping[str, int]
    """The operand for each attribute."""
    scalars: tuple[str, ...] = ()
    """The attributes that are one integer."""


STATIC_FORMS: Mapping[str, StaticForm] = {
    "relay.dyn.squeeze": StaticForm("squeeze", (0,), {"axis": 1}),
    "relay.dyn.expand_dims": StaticForm("expand_dims", (0,), {"axis": 1}, ("axis",)),
    "relay.dyn.broadcast_to": StaticForm("broadcast_to", (0,), {"shape": 1}),
    "relay.dyn.tile": StaticForm("tile", (0,), {"reps": 1}),
    "relay.dyn.strided_slice": StaticForm(
        "strided_slice", (0,), {"begin": 1, "end": 2, "strides": 3}
    ),
    "relay.dyn.nn.pad": StaticForm("nn.pad", (0, 2), {"pad_width": 1}),
    "relay.dyn.zeros": StaticForm("zeros", (), {"shape": 0}),
    "relay.dyn.ones": StaticForm("ones", (), {"shape": 0}),
    "relay.dyn.full": StaticForm("full", (0,), {"shape": 1}),
    "relay.dyn.one_hot": StaticForm("one_hot", (0, 1, 2), {"depth": 3}, ("depth",)),
    "relay.dyn.topk": StaticForm("topk", (0,), {"k": 1}, ("k",)),
    "relay.dyn.image.resize2d": StaticForm("image.resize2d", (0,), {"size": 1}),
}
