"""Shapes, indexing, padding and resizing against onnxruntime, and which of it is folded."""

import numpy as np
import pytest
from helpers.onnx.onnx_small import agree, node, operators_of, random_array
from onnx import helper, numpy_helper

X = random_array(2, 3, 4, 5)


def ints(*numbers: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def test_reshape_with_copied_and_inferred_dims():
    made = agree(node("Reshape", "x s"), {"x": X}, {"s": ints(0, -1, 5)})
    assert operators_of(made) == ["reshape"]


def test_reshape_to_the_same_shape_vanishes():
    assert operators_of(agree(node("Reshape", "x s"), {"x": X}, {"s": ints(2, 3, -1, 5)})) == []


def test_shape_arithmetic_leaves_one_reshape():
    """PyTorch exports `view` as Shape, Gather, Mul, Unsqueeze, Concat, Reshape."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape first", "batch"),
        node("Slice", "shape one three", "middle"),
        node("ReduceProd", "middle", "count", keepdims=0),
        node("Mul", "batch count", "total"),
        node("Unsqueeze", "total zero", "total1"),
        node("Cast", "minus", "minus1", to=7),
        node("Concat", "total1 minus1", "wanted", axis=0),
        node("Reshape", "x wanted"),
    ]
    constants = {
        "first": np.array(0),
        "zero": ints(0),
        "one": ints(1),
        "three": ints(3),
        "minus": np.array([-1], np.int32),
    }
    assert operators_of(agree(nodes, {"x": X}, constants)) == ["reshape"]


def test_constants_of_nodes_are_folded():
    shape = numpy_helper.from_array(ints(-1, 10))
    nodes = [node("Constant", "", "s", value=shape), node("Reshape", "x s")]
    assert operators_of(agree(nodes, {"x": X})) == ["reshape"]


def test_expanded_shape_of_ones():
    """PyTorch exports `expand` as ConstantOfShape, Mul, Equal, Where, Expand."""
    one = helper.make_tensor("one", 7, [1], [1])
    nodes = [
        node("ConstantOfShape", "four", "ones", value=one),
        node("Mul", "ones minus", "negative"),
        node("Equal", "wanted negative", "same"),
        node("Where", "same ones wanted", "shape"),
        node("Expand", "x shape"),
    ]
    constants = {"four": ints(4), "minus": ints(-1), "wanted": ints(2, -1, 4, 5)}
    made = agree(nodes, {"x": random_array(1, 3, 1, 5)}, constants)
    assert operators_of(made) == ["broadcast_to"]


@pytest.mark.parametrize("axis", range(-4, 5))
def test_flatten(axis: int):
    agree(node("Flatten", "x", axis=axis), {"x": X})


@pytest.mark.parametrize("opset", [11, 13])
def test_squeeze_and_unsqueeze(opset: int):
    old = opset < 13
    x = random_array(1, 3, 1, 4)
    squeeze = node("Squeeze", "x", axes=[0, -2]) if old else node("Squeeze", "x a")
    agree(squeeze, {"x": x}, {} if old else {"a": ints(0, -2)}, opset=opset)
    agree(node("Squeeze", "x"), {"x": x}, opset=opset)
    unsqueeze = node("Unsqueeze", "x", axes=[4, 0]) if old else node("Unsqueeze", "x a")
    agree(unsqueeze, {"x": random_array(3, 4, 5)}, {} if old else {"a": ints(4, 0)}, opset=opset)


@pytest.mark.parametrize("perm", [None, [0, 2, 3, 1], [3, 0, 1, 2], [0, 1, 2, 3]])
def test_transpose(perm: list[int] | None):
    transpose = node("Transpose", "x", **({} if perm is None else {"perm": perm}))
    made = agree(transpose, {"x": X})
    assert operators_of(made) == ([] if perm == [0, 1, 2, 3] else ["transpose"])


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (6, 1, 4, 1), (4, 5), (1,)])
def test_expand(shape: tuple[int, ...]):
    agree(node("Expand", "x s"), {"x": random_array(1, 4, 5)}, {"s": ints(*shape)})


def test_tile():
    agree(node("Tile", "x r"), {"x": X}, {"r": ints(1, 2, 1, 3)})


def test_concat():
    agree(node("Concat", "x z x", axis=-1), {"x": X, "z": random_array(2, 3, 4, 1)})


class Test_split:
    @pytest.mark.parametrize("opset", [11, 13])
    def test_equal_parts(self, opset: int):
        split = node("Split", "x", "a b", axis=2)
        agree(split, {"x": X}, outputs="a b", opset=opset)

    def test_named_sizes(self):
        old = node("Split", "x", "a b c", axis=-1, split=[1, 3, 1])
        agree(old, {"x": X}, outputs="a b c", opset=11)
        new = node("Split", "x s", "a b c", axis=-1)
        agree(new, {"x": X}, {"s": ints(1, 3, 1)}, outputs="a b c")

    def test_a_smaller_last_part(self):
        split = node("Split", "x", "a b c", axis=3, num_outputs=3)
        agree(split, {"x": X}, outputs="a b c", opset=18)


SLICES = [
    ([0, 1], [2, 3], None, None),
    ([1], [-1], [2], None),
    ([-3, 0], [2**63 - 1, 1000], [3, 1], None),
    ([0], [5], [3], [2]),
    ([4], [0], [3], [-1]),
    ([-1], [-(2**63)], [3], [-2]),
    ([100, 0], [-100, 100], [3, 2], [-1, 3]),
]


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES)
def test_slice(starts: list[int], ends: list[int], axes: list[int] | None, steps: list[int] | None):
    names, constants = "x s e", {"s": ints(*starts), "e": ints(*ends)}
    if axes is not None:
        names, constants["a"] = names + " a", ints(*axes)
    if steps is not None:
        names, constants["p"] = names + " p", ints(*steps)
    agree(node("Slice", names), {"x": X}, constants)
    if steps is None:
        attributes = {} if axes is None else {"axes": axes}
        agree(node("Slice", "x", starts=starts, ends=ends, **attributes), {"x": X}, opset=9)


@pytest.mark.ci
@pytest.mark.parametrize("constant", [False, True], ids=["run", "folded"])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_slices_begin_and_end_anywhere(dim: int, constant: bool):
    """Test bounds on both sides of both ends, with steps of both signs."""
    bounds = range(-dim - 2, dim + 3)
    steps = (-3, -2, -1, 1, 2, 3)
    cases = [(start, end, step) for start in bounds for end in bounds for step in steps]
    name = {n: f"below{-n}" if n < 0 else f"at{n}" for n in {*bounds, *steps}}
    numbers = {name[n]: ints(n) for n in name}
    nodes = [
        node("Slice", f"x {name[start]} {name[end]} {name[0]} {name[step]}", f"y{i}")
        for i, (start, end, step) in enumerate(cases)
    ]
    for i, one in enumerate(nodes):
        one.name = f"slice{i}"
    outputs = " ".join(f"y{i}" for i in range(len(cases)))
    x = {"x": random_array(dim)}
    agree(nodes, {} if constant else x, {**numbers, **(x if constant else {})}, outputs)


class Test_gather:
    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_constant_indices(self, axis: int):
        agree(node("Gather", "x i", axis=axis), {"x": X}, {"i": ints(1, -1, 0, -2)})

    def test_indices_of_the_run(self):
        agree(node("Gather", "x i", axis=2), {"x": X, "i": np.array([[3, -1], [-4, 0]])})

    def test_one_index(self):
        agree(node("Gather", "x i", axis=2), {"x": X}, {"i": np.array(-1)})


class Test_pad:
    @pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
    @pytest.mark.parametrize("opset", [10, 13])
    def test_mode(self, mode: str, opset: int):
        pads = [0, 0, 1, 2, 0, 0, 2, 1]
        if opset < 11:
            agree(node("Pad", "x", mode=mode, pads=pads, value=0.5), {"x": X}, opset=opset)
        else:
            constants = {"p": ints(*pads), "v": np.array(0.5, np.float32)}
            agree(node("Pad", "x p v", mode=mode), {"x": X}, constants, opset=opset)

    def test_pads_below_zero_take_away(self):
        agree(node("Pad", "x p"), {"x": X}, {"p": ints(0, 0, -1, 2, 0, 0, 1, -2)})

    def test_some_axes(self):
        constants = {"p": ints(1, 2, 3, 4), "a": ints(-1, 1)}
        agree(node("Pad", "x p - a"), {"x": X}, constants, opset=18)

    def test_elements_of_the_other_end(self):
        constants = {"p": ints(0, 1, 2, 0, 0, 0, 1, 3)}
        agree(node("Pad", "x p", mode="wrap"), {"x": X}, constants, opset=19)


class Test_resize:
    @pytest.mark.parametrize("opset", [7, 9])
    def test_upsample(self, opset: int):
        scales = np.array([1, 1, 2, 3], np.float32)
        if opset < 9:
            made = agree(node("Upsample", "x", scales=scales.tolist()), {"x": X}, opset=opset)
        else:
            made = agree(node("Upsample", "x s"), {"x": X}, {"s": scales}, opset=opset)
        assert operators_of(made) == ["nn.upsampling"]

    def test_resize_10(self):
        scales = np.array([1, 1, 0.6, 1.7], np.float32)
        agree(node("Resize", "x s"), {"x": X}, {"s": scales}, opset=10)

    @pytest.mark.parametrize(
        "transformation", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    )
    @pytest.mark.parametrize(
        "rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
    )
    @pytest.mark.parametrize("scales", [(2, 2), (3, 2), (0.5, 0.6), (1.3, 2.6)])
    def test_scales(self, transformation: str, rounding: str, scales: tuple[float, float]):
        resize = node(
            "Resize",
            "x - s",
            coordinate_transformation_mode=transformation,
            nearest_mode=rounding,
        )
        agree(resize, {"x": X}, {"s": np.array([1, 1, *scales], np.float32)}, opset=13)

    def test_sizes(self):
        agree(node("Resize", "x - - s"), {"x": X}, {"s": ints(2, 3, 7, 11)})

    @pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
    def test_sizes_that_keep_the_ratio(self, policy: str):
        resize = node("Resize", "x - - s", axes=[2, 3], keep_aspect_ratio_policy=policy)
        agree(resize, {"x": X}, {"s": ints(7, 11)}, opset=18)

    def test_whole_scales_are_an_upsampling(self):
        constants = {"s": np.array([1, 1, 2, 2], np.float32)}
        assert operators_of(agree(node("Resize", "x - s"), {"x": X}, constants)) == [
            "nn.upsampling"
        ]


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode: str):
    x = random_array(2, 8, 3, 2)
    agree(node("DepthToSpace", "x", blocksize=2, mode=mode), {"x": x})


def test_space_to_depth():
    agree(node("SpaceToDepth", "x", blocksize=2), {"x": random_array(2, 3, 4, 6)})


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [None, -1, 2])
def test_trilu(upper: int, k: int | None):
    names = "x" if k is None else "x k"
    constants = {} if k is None else {"k": np.array(k)}
    agree(node("Trilu", names, upper=upper), {"x": random_array(2, 4, 5)}, constants, opset=14)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int):
    feeds = {"i": np.array([[0, 2], [-1, 1]])}
    constants = {"d": np.array(3), "v": np.array([0.5, 2.0], np.float32)}
    agree(node("OneHot", "i d v", axis=axis), feeds, constants)


def test_range_and_eye_are_constants():
    constants = {"a": np.array(1.0, np.float32), "b": np.array(4.0, np.float32)}
    nodes = [node("Range", "a b a", "r"), node("Add", "x r")]
    assert operators_of(agree(nodes, {"x": random_array(3)}, constants)) == ["add"]
    nodes = [node("EyeLike", "x", "e", k=1), node("Add", "x e")]
    assert operators_of(agree(nodes, {"x": random_array(3, 4)}, opset=9)) == ["add"]


def test_dropout_and_identity_vanish():
    nodes = [node("Dropout", "x", "d mask"), node("Identity", "d")]
    assert operators_of(agree(nodes, {"x": X})) == []


def test_the_mask_of_a_dropout():
    agree(node("Dropout", "x", "d y"), {"x": X}, dtype=np.bool_)


def test_big_repeated_constants_take_no_memory():
    nodes = [node("ConstantOfShape", "s", "zeros"), node("Add", "x zeros")]
    made = agree(nodes, {"x": random_array(64, 64)}, {"s": ints(64, 64)})
    assert operators_of(made) == ["full", "add"]
    assert not made.params
