"""`layout_transform`: every element is where the layout says."""

import re
from itertools import product

import numpy as np
import pytest
from helpers.relay.relay_programs import body_of, error_of, read

from xrelay.passes.evaluation.evaluator import evaluate

SIZES = {"N": 2, "C": 12, "H": 3, "W": 4, "D": 2}


def axes_of(layout: str) -> list[tuple[str, int]]:
    """Each axis with its block size; 0 for a whole one."""
    return [(letter, int(size or 0)) for size, letter in re.findall(r"(\d*)(\w)", layout)]


def shape_of(layout: str) -> tuple[int, ...]:
    blocks = {letter: size for letter, size in axes_of(layout) if size}
    return tuple(size or SIZES[a] // blocks.get(a.lower(), 1) for a, size in axes_of(layout))


def place_of(layout: str, index: dict[str, int]) -> tuple[int, ...]:
    """Return the position of the element with these logical indices."""
    blocks = {letter: size for letter, size in axes_of(layout) if size}
    return tuple(
        index[a.upper()] % size if size else index[a] // blocks.get(a.lower(), 1)
        for a, size in axes_of(layout)
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("NCHW", "NCHW"),
        ("NCHW", "NHWC"),
        ("NHWC", "NCHW"),
        ("NCHW", "NCHW4c"),
        ("NCHW4c", "NCHW"),
        ("NCHW4c", "NHWC"),
        ("NHWC", "NCHW6c"),
        ("NCHW4c", "NCHW6c"),
        ("NCHW4c", "4cNHWC"),
        ("NCHW4c2n", "N2nCHW4c"),
        ("NCHW", "NCHW4c2n"),
        ("NCHW2n4c", "WHCN"),
        ("NCDHW3c", "NDHWC"),
        ("CN", "NC12c"),
    ],
)
def test_elements_are_where_the_layout_says(source: str, target: str) -> None:
    dims = ", ".join(map(str, shape_of(source)))
    module = read(
        f"def @main(%x: Tensor[({dims}), float32]) "
        f'{{ layout_transform(%x, src_layout="{source}", dst_layout="{target}") }}'
    )
    letters = sorted({a for a, size in axes_of(source) if not size})
    x, wanted = np.zeros(shape_of(source), np.float32), np.zeros(shape_of(target), np.float32)
    for value, indices in enumerate(product(*(range(SIZES[a]) for a in letters))):
        index = dict(zip(letters, indices, strict=True))
        x[place_of(source, index)] = wanted[place_of(target, index)] = value
    (found,) = evaluate(module, [x])
    np.testing.assert_array_equal(found, wanted)


def text(source: str, target: str, dims: str = "1, 8, 5, 5") -> str:
    return (
        f"def @main(%x: Tensor[({dims}), float32]) "
        f'{{\nlayout_transform(%x, src_layout="{source}", dst_layout="{target}") }}'
    )


def test_what_it_becomes() -> None:
    assert body_of(text("NCHW", "NHWC4c")).split("\n")[:-1] == [
        "%0 = relay.reshape %x {newshape = array<i64: 1, 2, 4, 5, 5>} : "
        "(tensor<1x8x5x5xf32>) -> tensor<1x2x4x5x5xf32>",
        "%1 = relay.transpose %0 {axes = array<i64: 0, 3, 4, 1, 2>} : "
        "(tensor<1x2x4x5x5xf32>) -> tensor<1x5x5x2x4xf32>",
    ]
    assert body_of(text("NCHW", "NCHW")) == "func.return %x : tensor<1x8x5x5xf32>"


def test_an_order_needs_no_static_shape() -> None:
    assert "tensor<?x5x5x8xf32>" in body_of(text("NCHW", "NHWC", "?, 8, 5, 5"))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (text("NCHW", "NCHWc"), "dst_layout must be a layout such as \"NCHW\", but is 'NCHWc'"),
        (text("NCCW", "NCHW"), "src_layout must be a layout such as \"NCHW\", but is 'NCCW'"),
        (text("NHW4c", "NCHW"), "src_layout must be a layout such as \"NCHW\", but is 'NHW4c'"),
        (text("", "NCHW"), "src_layout must be a layout such as \"NCHW\", but is ''"),
        (text("NCHW", "NCDW"), "src_layout and dst_layout must have the same axes"),
        (text("NCH", "NHC"), "src_layout has 3 axes, but the tensor has rank 4"),
        (text("NCHW", "NCHW3c"), "axis C must be a multiple of 3, but is 8"),
        (text("NCW4c", "NCW"), "axis c must be 4, but is 5"),
    ],
)
def test_wrong_layouts(program: str, message: str) -> None:
    assert error_of(program).startswith(f"2:1: layout_transform: {message}")
