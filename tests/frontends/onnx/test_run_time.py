"""
Arguments that are computed at run time, and dims that are not known before, against onnxruntime.

Every input is a graph input with dynamic dims, unless a test says otherwise. Models run at level
relay and in the VM.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.onnx.onnx_models import Array
from helpers.onnx.onnx_programs import agree as agree_on
from helpers.onnx.onnx_small import model_of, node, operators_of, random_array
from helpers.programs.random_settings import share
from helpers.programs.transformer import encoder
from onnx import NodeProto
from xdsl.dialects.func import FuncOp

from xrelay import Error, MachineError
from xrelay import compile as compile_model
from xrelay.dialects.relay.language.dims_attributes import dim_names
from xrelay.frontends.onnx.convert.importer import Conversion, convert_model
from xrelay.passes.sizes.reader import Sizes

Feeds = Mapping[str, Array]


def ints(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


def agree(
    nodes: NodeProto | Sequence[NodeProto],
    *feeds: Feeds,
    dynamic: str = "",
    outputs: str = "y",
    opset: int = 21,
    dtype: type = np.float32,
    rank: int = 0,
) -> Conversion:
    """
    Compare a model's results on each of `feeds` with onnxruntime's; return its conversion.

    The dims of the inputs named in `dynamic` are dynamic; the first output is declared to be of
    `rank`, if it is given.
    """
    model = model_of(nodes, feeds[0], outputs=outputs, opset=opset, dtype=dtype)
    for _ in range(rank):
        model.graph.output[0].type.tensor_type.shape.dim.add()
    for info in model.graph.input:
        if info.name in dynamic.split():
            for i, dim in enumerate(info.type.tensor_type.shape.dim):
                dim.dim_param = f"{info.name}{i}"
    return agree_on(model, *feeds)


REDUCTIONS = [f"Reduce{name}" for name in ("Sum", "Max", "Mean", "L2", "LogSumExp", "Prod", "Min")]
X, Z = random_array(2, 3, 4), random_array(3, 5, 2, seed=1)


def test_dims_keep_their_names():
    model = model_of(node("Relu", "x"), {"x": X})
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param = "batch"
    dims[2].Clear()
    conversion = convert_model(model, "small.onnx")
    (main,) = conversion.module.ops
    assert isinstance(main, FuncOp)
    assert dim_names(main) == [("batch", None, None)]
    assert 'relay.dims = ["batch", 3 : i64, ""]' in str(conversion.module)


def test_a_transformer_of_any_batch_and_length():
    model = encoder(1)
    random = np.random.default_rng(0)
    feeds = [{"ids": random.integers(0, 50, shape)} for shape in ((1, 3), (2, 7), (4, 1))]
    agree_on(model, *feeds, in_machine=False)  # tests/test_dynamic_models.py compiles it


# -------------------------------------------------------------------- arguments


@pytest.mark.parametrize("dynamic", ["", "x"])
def test_reshape(dynamic: str):
    made = agree(
        node("Reshape", "x s"),
        {"x": X, "s": ints(0, -1)},
        {"x": X, "s": ints(4, 6)},
        dynamic=dynamic,
    )
    assert operators_of(made) == ["dyn.reshape"]
    agree(node("Reshape", "x s"), {"x": X, "s": ints(0, -1)}, {"x": Z, "s": ints(3, 10)},
          dynamic="x")  # fmt: skip


def test_a_known_shape_of_an_unknown_operand():
    nodes = [node("Constant", "", "s", value_ints=[0, -1, 2]), node("Reshape", "x s")]
    made = agree(nodes, {"x": X}, {"x": Z}, dynamic="x")
    assert operators_of(made) == ["reshape"]


@pytest.mark.parametrize("dynamic", ["", "x"])
def test_slice(dynamic: str):
    feed = {"x": X, "s": ints(1, -1), "e": ints(2**63 - 1, -9), "a": ints(2, 0), "t": ints(2, -1)}
    other = {"x": X, "s": ints(-9, -9), "e": ints(-1, 2), "a": ints(-1, 1), "t": ints(1, -2)}
    agree(node("Slice", "x s e a t"), feed, other, dynamic=dynamic)
    agree(node("Slice", "x s e"), {"x": X, "s": ints(1), "e": ints(2)},
          {"x": X, "s": ints(-1), "e": ints(9)}, dynamic=dynamic)  # fmt: skip


def test_slice_of_unknown_dims_by_known_numbers():
    numbers = {"s": [-1, 1], "e": [-(2**62), 2**62], "a": [0, 2], "t": [-1, 2]}
    nodes = [node("Constant", "", name, value_ints=value) for name, value in numbers.items()]
    agree([*nodes, node("Slice", "x s e a t")], {"x": X}, {"x": Z}, dynamic="x")


@pytest.mark.parametrize("dynamic", ["", "x"])
def test_expand(dynamic: str):
    x = random_array(3, 1)
    feeds = [{"x": x, "s": ints(2, 1, 4)}, {"x": x, "s": ints(1, 3, 1)}]
    agree(node("Expand", "x s"), *feeds, dynamic=dynamic)
    agree(node("Expand", "x s"), {"x": X, "s": ints(1)}, dynamic=dynamic)


@pytest.mark.ci
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("axes", ["-", "a"])
def test_pad(mode: str, axes: str):
    pads = (ints(1, 0, 2, 0), ints(0, 2, 1, 1)) if axes == "a" else (
        ints(0, 1, 0, 0, 2, 1), ints(1, 0, 0, 0, 0, 3))  # fmt: skip
    extra = {"a": ints(1, -1)} if axes == "a" else {}
    feeds = [{"x": X, "p": p, "v": np.array(7, np.float32), **extra} for p in pads]
    agree(node("Pad", f"x p v {axes}", mode=mode), *feeds, dynamic="x")


def test_pad_that_crops():
    agree(node("Pad", "x p"), {"x": X, "p": ints(0, -1, 1, 0, 2, -2)}, dynamic="x")


def test_tile():
    agree(node("Tile", "x r"), {"x": X, "r": ints(2, 1, 0)}, {"x": X, "r": ints(1, 3, 1)})


def test_constant_of_shape():
    agree(node("ConstantOfShape", "s"), {"s": ints(2, 3)}, {"s": ints(0, 4)})


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_range(dtype: type):
    feeds: list[Feeds] = [
        {name: np.array(n, dtype) for name, n in zip("sld", numbers, strict=True)}
        for numbers in ((0, 5, 1), (7, -2, -2), (3, 3, 1), (1, 10, 4))
    ]
    agree(node("Range", "s l d"), *feeds, dtype=dtype)


def test_squeeze_and_unsqueeze():
    x = random_array(1, 3, 1, 4)
    agree(node("Squeeze", "x a"), {"x": x, "a": ints(0, -2)}, dynamic="x")
    agree(node("Squeeze", "x a"), {"x": x, "a": ints(0)}, {"x": x, "a": ints(2)})
    agree(node("Unsqueeze", "x a"), {"x": X, "a": ints(0)}, {"x": X, "a": ints(-1)})
    agree(node("Unsqueeze", "x a"), {"x": X, "a": ints(-1, 1)}, {"x": X, "a": ints(4, 0)},
          dynamic="x")  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize(("keepdims", "op"), share([*product([0, 1], REDUCTIONS)], 2))
def test_reductions(op: str, keepdims: int):
    feeds = [{"x": X, "a": ints(0, -1)}, {"x": X, "a": ints(2, 1)}]
    agree(node(op, "x a", keepdims=keepdims), *feeds, dynamic="x")


@pytest.mark.parametrize("dynamic", ["", "x"])
def test_shape_and_size(dynamic: str):
    agree(node("Shape", "x", start=1), {"x": X}, dynamic=dynamic, dtype=np.int64)
    agree(node("Size", "x"), {"x": X}, dynamic=dynamic, dtype=np.int64)


RESIZE = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]


NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]


@pytest.mark.ci
@pytest.mark.parametrize(("rounding", "mode"), share([*product(NEAREST, RESIZE)]))
def test_resize(rounding: str, mode: str):
    x = random_array(1, 2, 3, 5)
    attributes = {"coordinate_transformation_mode": mode, "nearest_mode": rounding}
    scales = [np.array(s, np.float32) for s in ([1, 1, 2, 2.6], [1, 1, 0.5, 3])]
    agree(node("Resize", "x - s", **attributes), *({"x": x, "s": s} for s in scales))
    agree(node("Resize", "x - - s", **attributes),
          *({"x": x, "s": s} for s in (ints(1, 2, 6, 5), ints(1, 2, 2, 9))))  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize(
    ("mode", "transformation"),
    share([*product(["linear", "cubic"], ["half_pixel", "align_corners", "asymmetric"])], 2),
)
def test_interpolation_of_images_of_any_size(mode: str, transformation: str):
    resizing = node(
        "Resize", "x - - s", mode=mode, coordinate_transformation_mode=transformation, axes=[2, 3]
    )
    feeds = [
        {"x": random_array(1, 2, 3, 5), "s": ints(6, 4)},
        {"x": random_array(2, 1, 4, 3), "s": ints(2, 9)},
    ]
    agree(resizing, *feeds, dynamic="x", opset=18)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_resize_of_images_of_any_size(policy: str):
    nodes = [
        node("Constant", "", "s", value_ints=[7, 8]),
        node("Resize", "x - - s", axes=[2, 3], keep_aspect_ratio_policy=policy),
    ]
    feeds = [{"x": random_array(1, 2, 3, 5)}, {"x": random_array(2, 1, 4, 3)}]
    agree(nodes, *feeds, dynamic="x")


@pytest.mark.parametrize(
    ("mode", "exclude"), [("linear", 0), ("cubic", 0), ("cubic", 1)], ids=lambda v: str(v)
)
def test_resize_by_filters_whose_width_is_computed(mode: str, exclude: int):
    resize = node("Resize", "x - - s", mode=mode, antialias=1, exclude_outside=exclude)
    feeds = [
        {"x": random_array(1, 2, 8, 9), "s": ints(1, 2, 3, 14)},
        {"x": random_array(1, 2, 17, 4), "s": ints(1, 2, 4, 4)},
    ]
    agree(resize, *feeds, dynamic="x")


SCALES = [[1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.5, 0.25], [1.0, 1.0, 2.6, 0.7], [2.0, 1.0, 1.0, 1.0]]


@pytest.mark.ci
@pytest.mark.parametrize(("mode", "scales"), share([*product(RESIZE, SCALES)], 3))
def test_resize_by_known_scales(mode: str, scales: list[float]):
    nodes = [
        node("Constant", "", "s", value_floats=scales),
        node("Resize", "x - s", coordinate_transformation_mode=mode),
    ]
    feeds = [{"x": random_array(1, 2, 6, 5)}, {"x": random_array(2, 1, 9, 13)}]
    agree(nodes, *feeds, dynamic="x")


@pytest.mark.parametrize(
    ("scales", "sizes"),
    [
        ([1.0, 1.0, 2.0, 4.0], ["x0", "x1", "2*x2", "4*x3"]),
        ([1.0, 1.0, 0.5, 1.0], ["x0", "x1", "floordiv(x2, 2)", "x3"]),
    ],
)
def test_sizes_of_a_resize_are_functions_of_dims(scales: list[float], sizes: list[str]):
    nodes = [
        node("Constant", "", "s", value_floats=scales),
        node("Resize", "x - s", mode="nearest"),
    ]
    module = agree(nodes, {"x": random_array(1, 2, 6, 5)}, dynamic="x").module
    run_passes(module, "infer-types,fold-constants,dynamic-to-static,infer-types")
    (main,) = (op for op in module.ops if isinstance(op, FuncOp))
    last, found = main.body.block.last_op, Sizes()
    found.read(main)
    assert last is not None
    assert [str(dim) for dim in found.dims(last.operands[0])] == sizes


# -------------------------------------------------------------------- results of unknown size


def test_non_zero():
    x = np.array([[1, 0, 2], [0, 0, 3]], np.float32)
    agree(node("NonZero", "x"), {"x": x}, {"x": 0 * x}, {"x": x + 1}, dtype=np.int64)


@pytest.mark.parametrize("ordered", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_unique(axis: int | None, ordered: int):
    """Of slices, their number is open."""
    how = {} if axis is None else {"axis": axis}
    unique = node("Unique", "x", "y f i c", sorted=ordered, **how)
    drawn = (np.random.default_rng(n).integers(0, 2, (n, 3)) for n in (9, 1, 30))
    feeds = [{"x": (x.T if axis == -1 else x).astype(np.float32)} for x in drawn]
    model = model_of(unique, feeds[0], outputs="y", opset=21)
    model.graph.input[0].type.tensor_type.shape.dim[axis or 0].dim_param = "n"
    for output in "fic":
        model.graph.output.append(model.graph.output[0])
        model.graph.output[-1].name = output
        model.graph.output[-1].type.tensor_type.elem_type = 7
    agree_on(model, *feeds)


def test_unique_of_long_slices_is_refused():
    """Each of their elements is sorted by operators of its own."""
    model = model_of(node("Unique", "x", axis=0), {"x": np.zeros((2, 1025), np.float32)})
    with pytest.raises(Error, match="a slice has 1025 elements; supported: up to"):
        compile_model(model)


@pytest.mark.parametrize("center", [0, 1])
def test_non_max_suppression(center: int):
    random = np.random.default_rng(3)
    boxes = random.random((2, 8, 4)).astype(np.float32)
    feed = {
        "b": boxes,
        "s": random.random((2, 3, 8)).astype(np.float32),
        "m": ints(3),
        "i": np.array([0.3], np.float32),
        "t": np.array([0.2], np.float32),
    }
    other = {**feed, "m": ints(8), "i": np.array([0.8], np.float32)}
    names = " ".join(feed)
    suppress = node("NonMaxSuppression", names, center_point_box=center)
    agree(suppress, feed, other, dtype=np.int64)
    agree(node("NonMaxSuppression", "b s m"), {k: feed[k] for k in "bsm"}, dtype=np.int64)


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("axis", [0, -1])
def test_topk(largest: int, axis: int):
    feeds = [{"x": X, "k": ints(1)}, {"x": X, "k": ints(2)}]
    agree(node("TopK", "x k", "y i", axis=axis, largest=largest), *feeds, dynamic="x")


def test_topk_of_none():
    model = model_of(node("TopK", "x k", "y i"), {"x": X, "k": ints(1)}, outputs="y")
    exe = compile_model(model)
    assert exe(X, ints(1)).shape == (2, 3, 1)
    with pytest.raises(MachineError, match="k is 0; supported: 1 and more"):
        exe(X, ints(0))


@pytest.mark.parametrize("dynamic", ["", "x", "x c"])
def test_conditions_that_are_longer_than_the_axis(dynamic: str):
    feeds = [{"x": X[:, :n], "c": np.arange(5) % 3 > 0} for n in ((3, 1) if dynamic else (3,))]
    agree(node("Compress", "x c", axis=1), *feeds, dynamic=dynamic)


def test_one_hot():
    feeds = [
        {"i": ints(0, -1, 2), "d": np.array(d), "v": np.array([5, 7], np.float32)} for d in (3, 4)
    ]
    for axis in (0, -1):
        agree(node("OneHot", "i d v", axis=axis), *feeds)


# -------------------------------------------------------------------- dims


OPERATORS = [
    node("Flatten", "x", axis=2),
    node("Flatten", "x", axis=0),
    node("Softmax", "x", axis=1),
    node("Transpose", "x", perm=[2, 0, 1]),
    node("Trilu", "x", upper=0),
    node("ArgMax", "x", axis=1),
    node("ReduceLogSumExp", "x", keepdims=0),
    node("Split", "x", "y z", axis=0, num_outputs=2),
    node("Concat", "x x", axis=1),
    node("LpNormalization", "x", axis=1),
]


@pytest.mark.parametrize("tested", OPERATORS, ids=lambda n: n.op_type)
def test_operators_on_unknown_dims(tested: NodeProto):
    dtype = np.int64 if tested.op_type == "ArgMax" else np.float32
    feeds = [{"x": random_array(*shape)} for shape in ((2, 4, 4), (6, 3, 5))]
    agree(tested, *feeds, dynamic="x", dtype=dtype, opset=18)


@pytest.mark.parametrize(("parts", "groups"), [(1, 1), (2, 2)])
def test_deformed_windows_of_images_of_any_size(parts: int, groups: int):
    how = {"pads": [1, 0, 1, 1], "strides": [1, 2], "group": groups, "offset_group": parts}
    cells, weight = 6, random_array(4, 4 // groups, 3, 2, seed=1)
    feeds = [
        {
            "x": random_array(n, 4, h, w),
            "o": random_array(n, parts * 2 * cells, h, (w + 1) // 2, seed=2),
            "m": random_array(n, parts * cells, h, (w + 1) // 2, seed=3),
        }
        for n, h, w in ((1, 5, 6), (2, 4, 7), (3, 1, 2))
    ]
    deformed = node("DeformConv", "x w o - m", kernel_shape=[3, 2], **how)
    model = model_of(deformed, feeds[0], {"w": weight}, opset=22)
    for info in model.graph.input:
        for axis in (0, 2, 3):
            info.type.tensor_type.shape.dim[axis].dim_param = f"{info.name}{axis}"
    agree_on(model, *feeds)


def test_gather_on_unknown_dims():
    feeds = [{"x": random_array(*shape), "i": ints(1, -1)} for shape in ((2, 4, 4), (6, 3, 5))]
    agree(node("Gather", "x i", axis=1), *feeds, dynamic="x i")


BY_INDICES = [
    node("GatherElements", "x i", axis=1),
    node("GatherND", "x j", batch_dims=1),
    node("ScatterElements", "x i u", axis=1, reduction="add"),
    node("ScatterND", "x k v", reduction="max"),
]


@pytest.mark.parametrize("tested", BY_INDICES, ids=lambda n: n.op_type)
def test_indices_of_run_time(tested: NodeProto):
    """All of unknown dims; the length of vectors follows from declared ranks."""
    feeds: list[Feeds] = []
    for rows, columns in ((2, 4), (3, 5)):
        arrays = {
            "x": random_array(rows, columns),
            "i": np.resize(ints(-1, 0, 2), (rows, 3)),
            "u": random_array(rows, 3, seed=1),
            "j": np.resize(ints(-2, 0, 3), (rows, 2, 1)),
            "k": ints(0, -1, 1).reshape(3, 1),
            "v": random_array(3, columns, seed=2),
        }
        feeds.append({name: arrays[name] for name in tested.input})
    agree(tested, *feeds, dynamic=" ".join(tested.input), opset=18, rank=2)


def test_axes_of_unknown_number():
    """None are all; the rank of a result that does not keep them is the declared one."""
    feeds = [{"x": X, "a": ints(*axes)} for axes in ((1,), (-1, 0), ())]
    agree(node("ReduceMean", "x a"), *feeds, dynamic="x a", opset=18)
    agree(node("Slice", "x s e"), {"x": X, "s": ints(1), "e": ints(2)},
          {"x": X, "s": ints(0, -2), "e": ints(9, -1)}, dynamic="x s e")  # fmt: skip
    padded = [{"x": X, "p": ints(*p), "v": np.array(1, np.float32), "a": ints(*a)}
              for p, a in (((1, 2), (1,)), ((0, 1, 2, -1), (2, 0)))]  # fmt: skip
    agree(node("Pad", "x p v a"), *padded, dynamic="x p a", opset=18)


@pytest.mark.parametrize("op", ["LayerNormalization", "InstanceNormalization", "BatchNormalization",
                                "GroupNormalization"])  # fmt: skip
def test_normalizations_of_any_batch(op: str):
    vectors = {name: np.abs(random_array(4, seed=i)) for i, name in enumerate("abcd")}
    names = "x a b c d" if op.startswith("Batch") else "x a b"
    attributes = {"num_groups": 2} if op.startswith("Group") else {}
    feeds = [{"x": random_array(*shape)} for shape in ((2, 4, 4), (5, 4, 4))]
    model = model_of(node(op, names, **attributes), feeds[0], vectors, opset=21)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    agree_on(model, *feeds)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([(2, 3, 4), (5, 1, 4)], [(4, 6), (4, 6)]),
        ([(2, 3, 4), (1, 2, 4)], [(2, 4, 5), (1, 4, 5)]),
        ([(2, 3, 5, 4), (1, 2, 3, 4)], [(2, 3, 4, 5), (1, 2, 4, 1)]),
        ([(4,), (3,)], [(4, 2), (3, 5)]),
        ([(2, 3, 4), (5, 3, 4)], [(4,), (4,)]),
    ],
)
def test_matmul(left: list[tuple[int, ...]], right: list[tuple[int, ...]]):
    feeds = [
        {"a": random_array(*a), "b": random_array(*b, seed=1)}
        for a, b in zip(left, right, strict=True)
    ]
    agree(node("MatMul", "a b"), *feeds, dynamic="a b")


def test_networks_of_images_of_any_size():
    weight = random_array(2, 3, 3, 3, seed=2)
    nodes = [
        node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
        node("MaxPool", "c", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", "p", "g"),
        node("Flatten", "g"),
    ]
    feeds = [{"x": random_array(*shape)} for shape in ((1, 3, 8, 8), (2, 3, 6, 10))]
    model = model_of(nodes, feeds[0], {"w": weight})
    for i in (0, 2, 3):
        model.graph.input[0].type.tensor_type.shape.dim[i].dim_param = f"d{i}"
    agree_on(model, *feeds)


def test_depth_to_space_of_images_of_any_size():
    model = model_of(node("DepthToSpace", "x", blocksize=2), {"x": random_array(1, 8, 3, 5)})
    for i in (0, 2, 3):
        model.graph.input[0].type.tensor_type.shape.dim[i].dim_param = f"d{i}"
    agree_on(model, *({"x": random_array(*shape)} for shape in ((1, 8, 3, 5), (2, 8, 1, 4))))
