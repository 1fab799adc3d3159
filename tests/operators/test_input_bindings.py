"""Sizes that a user gives to dims of parameters."""

import pytest

from xrelay.runtime.calls.input_bindings import (
    BindingError,
    Dim,
    InputBindings,
    parse_dim,
    parse_shape,
)

PARAMETERS: list[tuple[str, list[Dim] | None]] = [
    ("x", ["n", 3, "n"]),
    ("y", ["m", "", "t"]),
    ("data", None),
    ("z", ["n"]),
]


@pytest.mark.parametrize(
    ("bindings", "expected"),
    [
        (InputBindings(), [["n", 3, "n"], ["m", "", "t"], [], ["n"]]),
        (InputBindings(dims={"n": 2}), [[2, 3, 2], ["m", "", "t"], [], [2]]),
        (InputBindings(dims={"y:1": 0, "m": 8}), [["n", 3, "n"], [8, 0, "t"], [], ["n"]]),
        (InputBindings(dims={"x:0": 2}), [[2, 3, 2], ["m", "", "t"], [], [2]]),
        (InputBindings({"x": (2, None, None)}), [[2, 3, 2], ["m", "", "t"], [], [2]]),
        # names in ONNX models are not reliable: a shape is what the user knows
        (InputBindings({"x": (2, 3, 4)}), [[2, 3, 4], ["m", "", "t"], [], [2]]),
        (InputBindings({"x": (2, 3, 2), "z": (5,)}), [[2, 3, 2], ["m", "", "t"], [], [5]]),
    ],
)
def test_dims_are_bound(bindings: InputBindings, expected: list[list[Dim]]):
    assert bindings.bind(PARAMETERS) == expected


@pytest.mark.parametrize(
    ("bindings", "message"),
    [
        (InputBindings({"w": ()}), "unknown input 'w'; the inputs are: x, y, z"),
        (InputBindings({"data": ()}), "unknown input 'data';"),
        (
            InputBindings({"x": (1, 3)}),
            r"has 3 dims, \[n, 3, n\], but its shape is .* \[1, 3\]",
        ),
        (InputBindings({"x": (1, 4, 1)}), "dim 1 of input 'x' is 3, and cannot be 4"),
        (InputBindings(dims={"k": 1}), "'k' is not an open dim; the open dims are: n, m, y:1, t"),
        (InputBindings(dims={"x:3": 1}), "'x:3' is not an open dim;"),
        (InputBindings(dims={"x:-1": 1}), "'x:-1' is not an open dim;"),
        (InputBindings({"x": (2, 3, 2)}, {"n": 3}), "given as 3, but the shape of 'x' as"),
        (InputBindings({"y": (1, 1, 1)}, {"y:1": 3}), "dim 1 of input 'y' is given as 1 and as 3"),
        (InputBindings(dims={"n": -1}), "dim n must be a size of at least 0, but is -1"),
    ],
)
def test_sizes_that_do_not_fit(bindings: InputBindings, message: str):
    with pytest.raises(BindingError, match=message):
        bindings.bind(PARAMETERS)


def test_texts():
    assert parse_shape("x=1x3x?") == ("x", (1, 3, None))
    assert parse_shape("a=b=") == ("a=b", ())
    assert parse_dim("x:0=3") == ("x:0", 3)
    for text in ("x", "=1", "x=1x", "x=-1", "x=" + 19 * "9", "x=٣"):
        with pytest.raises(ValueError, match="must be a parameter and its shape"):
            parse_shape(text)
    for text in ("x", "=1", "x=", "x=-1", "x=٣"):
        with pytest.raises(ValueError, match="must be a dim and its size"):
            parse_dim(text)
    with pytest.raises(ValueError, match="at most 18 digits"):
        parse_dim("x=" + 19 * "9")
