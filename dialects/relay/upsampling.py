"""Operators that scale images and volumes."""

from abc import ABC

from .operator import Injective, operator


@operator("relay.nn.upsampling")
class UpsamplingOp(Injective):
    """
    Scale height and width of `data` by `scale_h` and `scale_w`, repeating pixels.

    ```mlir
    %y = relay.nn.upsampling %x {scale_h = 2.0, scale_w = 2.0}
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
    ```

    The new sizes are rounded, halves to even. With `method` "bilinear", floats are interpolated
    between pixels; `align_corners` keeps those at the corners.
    """


@operator("relay.dyn.nn.upsampling")
class DynUpsamplingOp(Injective):
    """
    Scale height and width of `data` by the scalars `scale_h` and `scale_w`, repeating pixels.

    ```mlir
    %y = relay.dyn.nn.upsampling %x, %h, %w
      : (tensor<1x3x8x8xf32>, tensor<f32>, tensor<f32>) -> tensor<1x3x?x?xf32>
    ```

    The attributes are those of `relay.nn.upsampling`.
    """


class UpsamplingOfVolumes(Injective, ABC):
    """
    An operator that scales depth, height and width of `data`.

    `coordinate_transformation_mode` is "half_pixel", "align_corners" or "asymmetric"; `method` is
    "nearest_neighbor" or, for floats, "trilinear".
    """


@operator("relay.nn.upsampling3d")
class Upsampling3dOp(UpsamplingOfVolumes):
    """
    Scale depth, height and width of `data` by `scale_d`, `scale_h` and `scale_w`.

    ```mlir
    %y = relay.nn.upsampling3d %x {scale_d = 2.0, scale_h = 2.0, scale_w = 2.0}
      : (tensor<1x3x4x4x4xf32>) -> tensor<1x3x8x8x8xf32>
    ```

    The new sizes are rounded, halves to even.
    """


@operator("relay.dyn.nn.upsampling3d")
class DynUpsampling3dOp(UpsamplingOfVolumes):
    """
    Scale depth, height and width of `data` by the scalars `scale_d`, `scale_h` and `scale_w`.

    ```mlir
    %y = relay.dyn.nn.upsampling3d %x, %d, %h, %w
      : (tensor<1x3x4x4x4xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1x3x?x?x?xf32>
    ```

    The new sizes are rounded, halves to even.
    """
