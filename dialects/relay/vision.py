"""Operators on images and on boxes in them."""

from abc import ABC

from xdsl.irdl import operand_def, result_def, traits_def, var_result_def

from .incomplete import AnyTensor
from .operator import INJECTIVE, NotFused, RelayOperator, operator
from .properties import float_prop, int_prop, ints_prop, optional_dtype_prop, string_prop


class Resizing(RelayOperator, ABC):
    """
    An operator that resizes images.

    `method` is "nearest_neighbor", "linear" or "cubic"; the latter two need floats.
    `coordinate_transformation_mode` ("half_pixel", "align_corners", "asymmetric",
    "pytorch_half_pixel" or "tf_half_pixel_for_nn") maps pixels of the result to the image;
    `rounding_method` ("round", "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil")
    chooses the nearest pixel: by default "round" if corners are aligned, otherwise "floor". Cubic
    interpolation has the coefficient `cubic_alpha`; it ignores pixels out of the image if
    `cubic_exclude` is not 0, and otherwise repeats those at the edge.
    """

    layout = string_prop("NCHW")
    method = string_prop("linear")
    coordinate_transformation_mode = string_prop("half_pixel")
    rounding_method = string_prop("")
    cubic_alpha = float_prop(-0.5)
    cubic_exclude = int_prop(0)
    extrapolation_value = float_prop(0.0)
    out_dtype = optional_dtype_prop()

    traits = traits_def(*INJECTIVE)


@operator("relay.image.resize2d")
class Resize2dOp(Resizing):
    """
    Resize the images `data` to `size`, height and width.

    ```mlir
    %y = relay.image.resize2d %x {size = array<i64: 6, 8>}
      : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x8xf32>
    ```
    """

    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    size = ints_prop()


@operator("relay.dyn.image.resize2d")
class DynResize2dOp(Resizing):
    """
    Resize the images `data` to `size`, height and width.

    ```mlir
    %y = relay.dyn.image.resize2d %x, %s, %r
      : (tensor<1x2x3x4xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x2x?x?xf32>
    ```

    A size of floats scales by fractions: the result has as many rows as its whole part, but
    positions as if it had all. `roi`, a region of interest, is not used by any mode supported.
    """

    result = result_def(AnyTensor)


# ---------------------------------------------------------------------- boxes


@operator("relay.vision.get_valid_counts")
class GetValidCountsOp(NotFused):
    """
    Move the rows of `data` whose score is above the scalar `score_threshold` to the front.

    ```mlir
    %n, %y, %i = relay.vision.get_valid_counts %x, %t
      : (tensor<1x5x6xf32>, tensor<f32>) -> (tensor<1xi32>, tensor<1x5x6xf32>, tensor<1x5xi32>)
    ```

    A row has its score at `score_index` and its class at `id_index`, which is -1 if rows have
    none; a row of a negative class is not valid either. The results are the number of valid rows,
    the rows in order, and their indices; what follows the valid ones is -1.
    """

    valid_count = result_def(AnyTensor)
    rows = result_def(AnyTensor)
    indices = result_def(AnyTensor)


@operator("relay.vision.non_max_suppression")
class NonMaxSuppressionOp(NotFused):
    """
    Remove the boxes of `data` that overlap a box of a higher score.

    ```mlir
    %i, %n = relay.vision.non_max_suppression %x, %c, %k, %m, %t
      : (tensor<1x5x6xf32>, tensor<1xi32>, tensor<1x5xi32>, tensor<i32>, tensor<f32>)
      -> (tensor<1x5xi32>, tensor<1x1xi32>)
    %y = relay.vision.non_max_suppression %x, %c, %k, %m, %t {return_indices = false}
      : (tensor<1x5x6xf32>, tensor<1xi32>, tensor<1x5xi32>, tensor<i32>, tensor<f32>)
      -> tensor<1x5x6xf32>
    ```

    The operands are those that `relay.vision.get_valid_counts` computes (`data`, `valid_count`,
    `indices`) and the scalars `max_output_size` and `iou_threshold`. A row has a box (left, top,
    right, bottom) at `coord_start`, its score at `score_index`, and its class at `id_index`, -1 if
    rows have none. The first `valid_count` rows, of a class that is not negative, are considered by
    descending score, only `top_k` of them if that is above 0. A row is removed if the intersection
    of its box with that of a row that remains, of the same class unless `force_suppress`, is at
    least `iou_threshold` of their union; and so are all after the first `max_output_size` that
    remain, if that is above 0. An `iou_threshold` of 0 or less removes and orders nothing.

    The result has the rows in the order considered, or with `invalid_to_bottom` first those that
    remain; all numbers of the others are -1. With `return_indices` the results are the `indices`
    of the rows that remain, followed by -1, and how many they are.
    """

    found = var_result_def(AnyTensor)


@operator("relay.vision.all_class_non_max_suppression")
class AllClassNonMaxSuppressionOp(NotFused):
    """
    Select for each class the boxes that do not overlap one with a higher score in that class.

    ```mlir
    %y, %n = relay.vision.all_class_non_max_suppression %b, %s, %m, %t, %u
      : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>)
      -> (tensor<12x3xi64>, tensor<1xi64>)
    ```

    `boxes` are two opposite corners (y, x, y, x) for each batch and box, `scores` numbers for each
    batch, class and box. For each batch and class, boxes whose score is above the scalar
    `score_threshold` are considered by descending score, and selected unless the intersection with
    a selected box is more than `iou_threshold` of their union, or `max_output_boxes_per_class` are
    selected. The results are rows (batch, class, box), followed by rows of 0, and the number of
    boxes selected. `output_format` is "onnx".
    """

    rows = result_def(AnyTensor)
    count = result_def(AnyTensor)
