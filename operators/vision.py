"""Rules of operators on images and on boxes in them."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from .operands import require_float, require_integer, require_rank
from .rules import Ints, Work, rule
from .selection import INT32
from .signature import ELEMENTS, Data, Element, ElementKind, Tensor, ranked
from .sizes import SignatureError, Size, product, require_at_least, require_equal
from .windows import Layout, spatial

INT64 = ELEMENTS["int64"]

Method = Literal["nearest_neighbor", "linear", "cubic"]
Coordinates = Literal[
    "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn"
]
Rounding = Literal["", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


class Resizing(NamedTuple):
    """The attributes of a resize."""

    layout: Layout
    method: Method
    coordinate_transformation_mode: Coordinates
    rounding_method: Rounding
    cubic_alpha: float
    cubic_exclude: int
    extrapolation_value: float
    out_dtype: Element | None


@rule("relay.image.resize2d", work=Work.LINEAR)
def resize2d(data: Tensor, *, size: Ints, how: Resizing) -> Tensor:
    """Infer images of `size`, height and width."""
    return _resized(data, size, how)


@rule("relay.dyn.image.resize2d")
def dyn_resize2d(data: Tensor, size: Data, roi: Tensor, *, how: Resizing) -> Tensor:
    """Infer images of `size`, height and width; of floats, truncated."""
    require_rank(roi, 1, "roi")
    require_float(roi.element, "roi")
    return _resized(data, size.sizes("size", of_floats=True), how)


def _resized(data: Tensor, size: Sequence[Size], how: Resizing) -> Tensor:
    require_rank(data, 4, "data")
    if data.element.kind is ElementKind.OPAQUE:
        raise SignatureError(f"data must have numbers as elements, but has {data.element}")
    if how.method != "nearest_neighbor":
        require_float(data.element, f"data, with method {how.method},")
    if how.out_dtype not in (None, data.element):
        text = f"out_dtype must be {data.element}, that of data, but is {how.out_dtype}"
        raise SignatureError(text)
    if len(size) != 2:
        raise SignatureError(f"size must have 2 entries, but has {len(size)}")
    dims = list(data.dims)
    for axis, target in zip(spatial(how.layout), size, strict=True):
        require_at_least(dims[axis], 1, f"dim {axis} of data must be at least 1, but is {{0}}")
        dims[axis] = require_at_least(target, 1, "size must be at least 1, but is {0}")
    return ranked(data.element, tuple(dims))


def _column(name: str, index: int, width: Size, least: int) -> None:
    """Check that a row of `width` numbers has one at `index`, which may be -1 if `least` is."""
    require_at_least(index, least, f"{name} must be at least {least}, but is {{0}}")
    message = f"{name} is {index}, but a row of data has {{0}} numbers"
    require_at_least(width, index + 1, message)


@rule("relay.vision.get_valid_counts")
def get_valid_counts(
    data: Tensor, score_threshold: Tensor, *, id_index: int = 0, score_index: int = 1
) -> Sequence[Tensor]:
    """Infer the number of valid rows, the rows, and their indices."""
    require_rank(data, 3, "data")
    require_float(data.element, "data")
    require_rank(score_threshold, 0, "score_threshold")
    require_float(score_threshold.element, "score_threshold")
    batch, rows, width = data.dims
    _column("id_index", id_index, width, -1)
    _column("score_index", score_index, width, 0)
    return Tensor(INT32, (batch,)), data, Tensor(INT32, (batch, rows))


@rule("relay.vision.non_max_suppression")
def non_max_suppression(
    data: Tensor,
    valid_count: Tensor,
    indices: Tensor,
    max_output_size: Tensor,
    iou_threshold: Tensor,
    *,
    force_suppress: bool,
    top_k: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = 0,
    return_indices: bool = True,
    invalid_to_bottom: bool,
) -> Sequence[Tensor]:
    """Infer the rows that remain; with `return_indices` their indices, and how many they are."""
    require_rank(data, 3, "data")
    require_float(data.element, "data")
    batch, rows, width = data.dims
    _column("coord_start", coord_start, width - 3, 0)
    _column("score_index", score_index, width, 0)
    _column("id_index", id_index, width, -1)
    for name, operand, dims in (
        ("valid_count", valid_count, (batch,)),
        ("indices", indices, (batch, rows)),
    ):
        require_rank(operand, len(dims), name)
        if operand.element is not INT32:
            raise SignatureError(f"{name} must have i32 elements, but has {operand.element}")
        for axis, (dim, expected) in enumerate(zip(operand.dims, dims, strict=True)):
            message = f"dim {axis} of {name} must be {{1}}, that of data, but is {{0}}"
            require_equal(dim, expected, message)
    require_rank(max_output_size, 0, "max_output_size")
    require_integer(max_output_size.element, "max_output_size")
    require_rank(iou_threshold, 0, "iou_threshold")
    require_float(iou_threshold.element, "iou_threshold")
    if return_indices:
        return Tensor(INT32, (batch, rows)), Tensor(INT32, (batch, 1))
    return (data,)


@rule("relay.vision.all_class_non_max_suppression")
def all_class_non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor,
    iou_threshold: Tensor,
    score_threshold: Tensor,
    *,
    output_format: Literal["onnx"],
) -> Sequence[Tensor]:
    """Infer rows of (batch, class, box), as many as could remain, and how many do."""
    for name, operand in (("boxes", boxes), ("scores", scores)):
        require_rank(operand, 3, name)
        require_float(operand.element, name)
    for axis, place, size in ((0, 0, scores.dims[0]), (1, 1, scores.dims[2]), (2, 2, 4)):
        message = f"dim {axis} of boxes must be {{1}}, but is {{0}}"
        require_equal(boxes.dims[place], size, message)
    require_rank(max_output_boxes_per_class, 0, "max_output_boxes_per_class")
    require_integer(max_output_boxes_per_class.element, "max_output_boxes_per_class")
    for name, operand in (("iou_threshold", iou_threshold), ("score_threshold", score_threshold)):
        require_rank(operand, 0, name)
        require_float(operand.element, name)
    return ranked(INT64, (product(scores.dims), 3)), Tensor(INT64, (1,))
