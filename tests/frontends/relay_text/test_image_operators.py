"""
Operators on images that Relay text has as several of the dialect's: numbers.

Each agrees in the evaluator, in the machine and in machine code with its definition as loops over
pixels, and where ONNX has the operator, with onnxruntime.
"""

# ruff: noqa: E501 (programs)

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import Array, run_onnxruntime
from helpers.onnx.onnx_small import model_of, node
from helpers.programs.random_settings import share
from helpers.relay.numeric_cases import (
    Case,
    check_case,
    check_machine_code,
    floats,
    ints,
)
from helpers.relay.relay_programs import error_of

RNG = np.random.default_rng(5)


def by_onnxruntime(operator: str, opset: int, **attrs: Any) -> Callable[..., Array]:
    """Return the operator of ONNX as a function."""

    def run(*args: Array) -> Array:
        feeds = {f"x{i}": arg for i, arg in enumerate(args)}
        return run_onnxruntime(
            model_of(node(operator, " ".join(feeds), **attrs), feeds, opset=opset), feeds
        )[0]

    return run


def aligned(mode: str, ratio: int, scale: float) -> Callable[[Array, Array], Array]:
    by = by_onnxruntime(
        "RoiAlign", 16, mode=mode, output_height=3, output_width=2, sampling_ratio=ratio, spatial_scale=scale,
        coordinate_transformation_mode="output_half_pixel",
    )  # fmt: skip
    return lambda x, rois: by(x, rois[:, 1:], rois[:, 0].astype(np.int64))


def greatest_samples(x: Array, rois: Array, ratio: int) -> Array:
    """The greatest sample of 3 x 2 bins; ONNX takes the maximum before it interpolates."""
    height, width = x.shape[2:]
    y = np.zeros((len(rois), x.shape[1], 3, 2), np.float32)

    def sample(image: Array, at: float, to: float) -> Array:
        if not (-1 <= at <= height and -1 <= to <= width):
            return np.zeros(len(image))
        at, to = min(max(at, 0), height - 1), min(max(to, 0), width - 1)
        i, j = int(at), int(to)
        below, right = min(i + 1, height - 1), min(j + 1, width - 1)
        upper = image[:, i, j] * (1 - (to - j)) + image[:, i, right] * (to - j)
        lower = image[:, below, j] * (1 - (to - j)) + image[:, below, right] * (to - j)
        return upper * (1 - (at - i)) + lower * (at - i)

    for r, (batch, left, top, right, bottom) in enumerate(rois):
        bins = max(bottom - top, 1) / 3, max(right - left, 1) / 2
        counts = [ratio if ratio > 0 else ceil(size) for size in bins]
        for p, q in product(range(3), range(2)):
            y[r, :, p, q] = np.max(
                [
                    sample(
                        x[int(batch)],
                        top + bins[0] * (p + (i + 0.5) / counts[0]),
                        left + bins[1] * (q + (j + 0.5) / counts[1]),
                    )
                    for i, j in product(*map(range, counts))
                ],
                axis=0,
            )
    return y


def cropped(x: Array, boxes: Array, batch: Array, rounded: bool = False) -> Array:
    """A crop to 3 x 4 of images with channels last; -1 elsewhere."""
    height, width = x.shape[1:3]
    y = np.full((len(boxes), 3, 4, x.shape[3]), -1, np.float32)
    for r, (top, left, bottom, right) in enumerate(boxes):
        for p, q in product(range(3), range(4)):
            at = (top + (bottom - top) * p / 2) * (height - 1)
            to = (left + (right - left) * q / 3) * (width - 1)
            if 0 <= at <= height - 1 and 0 <= to <= width - 1:
                at, to = (round(at), round(to)) if rounded else (at, to)
                y[r, p, q] = sum(
                    x[batch[r], i, j] * max(0, 1 - abs(at - i)) * max(0, 1 - abs(to - j))
                    for i, j in product(range(height), range(width))
                )
    return y


def grid(*shape: int) -> Array:
    """Places in and out of the image, none of them half way between two pixels."""
    return (RNG.integers(-60, 60, shape) / 37 + 0.001).astype(np.float32)


def sampled(
    mode: str, padding: str, aligned: int, opset: int = 20
) -> Callable[[Array, Array], Array]:
    by = by_onnxruntime("GridSample", 20, mode=mode, padding_mode=padding, align_corners=aligned)
    return lambda x, g: by(x, np.moveaxis(g, 1, -1))


IMAGES = floats(2, 3, 6, 7)
ROIS = np.array(
    [[0, 1, 1, 5.5, 4], [1, 0.25, 0, 3.5, 3.75], [1, -9, -7, -4, 2], [0, 2, 2, 2.5, 2.5], [1, 3, 1, 20, 11], [0, -3, -8, 30, 25]],
    np.float32,
)  # fmt: skip
PARAMS = "%x: Tensor[(2, 3, 6, 7), float32], %r: Tensor[(6, 5), float32]"
LAST = "%x: Tensor[(2, 6, 7, 3), float32], %r: Tensor[(6, 5), float32]"
CROPS = "%x: Tensor[(2, 4, 5, 2), float32], %b: Tensor[(3, 4), float32], %i: Tensor[(3), int32]"
BOXES = np.array([[0, 0, 1, 1], [0.2, 0.7, 0.9, 0.1], [-0.5, 0.1, 1.4, 0.8]], np.float32)
CROPPED = [floats(2, 4, 5, 2), BOXES, ints(1, 0, 1, dtype="int32")]
INNER = np.array([[0, 1, 1, 5, 4], [1, 0, 0, 6, 5], [1, 2, 3, 2, 3], [0, 3, 1, 5, 5]], np.float32)
SAMPLES = "%x: Tensor[(2, 3, 6, 7), float32], %g: Tensor[(2, 2, 4, 5), float32]"
VOLUMES = "%x: Tensor[(1, 2, 3, 4, 5), float32], %g: Tensor[(1, 3, 2, 4, 3), float32]"


def _aligned(args: str) -> str:
    return f"vision.roi_align(%x, %r, pooled_size=[3, 2], {args})"


CASES = {
    **{
        f"means of {ratio} samples, scaled by {scale}": Case(
            PARAMS, _aligned(f"spatial_scale={scale}f, sample_ratio={ratio}"), [IMAGES, ROIS], aligned("avg", ratio, scale))
        for ratio, scale in ((2, 0.5), (0, 1.0), (0, 1.5))
    },
    **{
        f"the greatest of {ratio} samples": Case(
            PARAMS, _aligned(f"spatial_scale=1f, sample_ratio={ratio}, mode=\"max\""), [IMAGES, ROIS],
            lambda x, rois, ratio=ratio: greatest_samples(x, rois, ratio))
        for ratio in (2, -1)
    },
    "means, channels last": Case(
        LAST, _aligned("spatial_scale=1f, sample_ratio=2, layout=\"NHWC\""), [np.moveaxis(IMAGES, 1, -1).copy(), ROIS],
        lambda x, rois: np.moveaxis(aligned("avg", 2, 1.0)(np.moveaxis(x, -1, 1).copy(), rois), 1, -1)),
    "means of an open number of regions": Case(
        PARAMS.replace("(6, 5)", "(?, 5)"), _aligned("spatial_scale=1f, sample_ratio=0"), [IMAGES, ROIS], aligned("avg", 0, 1.0)),
    "the greatest pixels": Case(
        PARAMS.replace("(6, 5)", "(4, 5)"), "vision.roi_pool(%x, %r, pooled_size=[3, 2], spatial_scale=1f)", [IMAGES, INNER],
        by_onnxruntime("MaxRoiPool", 16, pooled_shape=[3, 2], spatial_scale=1.0)),
    "crops": Case(
        CROPS, "image.crop_and_resize(%x, %b, %i, crop_size=[3, 4], layout=\"NHWC\", extrapolation_value=-1f)", CROPPED, cropped),
    "crops of the nearest pixels": Case(
        CROPS, "image.crop_and_resize(%x, %b, %i, crop_size=[3, 4], layout=\"NHWC\", method=\"nearest_neighbor\", extrapolation_value=-1f)", CROPPED,
        lambda x, b, i: cropped(x, b, i, rounded=True)),
    **{
        f"samples, {mode}, {padding}, {is_aligned}": Case(
            SAMPLES, f"image.grid_sample(%x, %g, method=\"{method}\", padding_mode=\"{padding}\", align_corners={is_aligned})",
            [IMAGES, grid(2, 2, 4, 5)], sampled(mode, padding, is_aligned))
        for (method, mode), padding, is_aligned in product(
            (("bilinear", "linear"), ("nearest", "nearest"), ("bicubic", "cubic")), ("zeros", "border", "reflection"), (True, False))
        if method != "bicubic" or is_aligned == (padding == "border")
    },
    **{
        f"samples of volumes, {mode}, {padding}, {is_aligned}": Case(
            VOLUMES, f"image.grid_sample(%x, %g, method=\"{method}\", layout=\"NCDHW\", padding_mode=\"{padding}\", align_corners={is_aligned})",
            [floats(1, 2, 3, 4, 5), grid(1, 3, 2, 4, 3)], sampled(mode, padding, is_aligned))
        for (method, mode), padding, is_aligned in (
            (("bilinear", "linear"), "zeros", True), (("nearest", "nearest"), "reflection", False))
    },
}  # fmt: skip
ALONE = ["the greatest pixels", "samples, cubic, zeros, False"]
"""Those that reach code which no other test reaches."""
SAMPLE = [*dict.fromkeys([*ALONE, *share([*CASES], 3)])]


@pytest.mark.parametrize("case", [CASES[name] for name in SAMPLE], ids=SAMPLE)
def test_numbers_and_text(case: Case) -> None:
    check_case(case, atol=4e-6)


@pytest.mark.ci
def test_numbers_in_machine_code(tmp_path: Path) -> None:
    check_machine_code(CASES, tmp_path)


@pytest.mark.parametrize(
    ("params", "body", "message"),
    [
        (PARAMS, "vision.roi_align(%x, %r, spatial_scale=1f)", "vision.roi_align: pooled_size must be 2 integers, but is None"),
        (PARAMS, _aligned("spatial_scale=\"a\""), "vision.roi_align: spatial_scale must be a number, but is 'a'"),
        (PARAMS, _aligned("sample_ratio=99999999"), "vision.roi_align: sample_ratio must be a number of samples, but is 99999999"),
        (PARAMS, _aligned("mode=\"sum\""), "vision.roi_align: mode must be \"avg\" or \"max\", but is 'sum'"),
        (PARAMS, "vision.roi_pool(%x, %x, pooled_size=[3, 2])", "vision.roi_pool: expected floats of rank 2, but the tensor is of Tensor[(2, 3, 6, 7), float32]"),
        (PARAMS.replace("(6, 5)", "(6, 4)"), "vision.roi_pool(%x, %r, pooled_size=[3, 2])", "vision.roi_pool: expected 5 columns, but the boxes are of Tensor[(6, 4), float32]"),
        (SAMPLES, "image.grid_sample(%x, %x)", "image.grid_sample: expected a grid of 2 x 2 channels, but it has 2 x 3"),
        (SAMPLES, "image.grid_sample(%x, %g, padding_mode=\"wrap\")", "image.grid_sample: padding_mode must be \"zeros\" or \"border\" or \"reflection\", but is 'wrap'"),
    ],
)  # fmt: skip
def test_wrong_operands(params: str, body: str, message: str) -> None:
    assert error_of(f"def @main({params}) {{\n{body} }}").partition(": ")[2].startswith(message)
