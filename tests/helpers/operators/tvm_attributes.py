"""
The attributes of Relay's operators in TVM (0.10), with their defaults.

Relay text omits attributes that have TVM's default, so our default must be the same, or
`frontends/relay_text/tvm_operators.py` must have a rule; `disagreements` checks this.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from helpers.operators.inferring import FORMULAS, OPERATORS
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.attributes import plain_attributes, properties_of
from xrelay.frontends.relay_text.tvm_operators import InvalidAttribute, convert_attributes


@dataclass(frozen=True)
class Given:
    """An attribute without a default; `value` is an example."""

    value: Any


_NONE: Mapping[str, Any] = {}
_REDUCTION = {"axis": None, "keepdims": False, "exclude": False}
_POSITION = {**_REDUCTION, "select_last_index": False}
_NORM = {"epsilon": 1e-5, "center": True, "scale": True}
_CONV = {
    **{"strides": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1},
    **{"channels": None, "kernel_size": None, "data_layout": "NCHW", "out_layout": ""},
}


def _pool(sides: int, layout: str) -> Mapping[str, Any]:
    return {
        **{"pool_size": Given((2,) * sides), "strides": (1,) * sides, "dilation": (1,) * sides},
        **{"padding": (0,) * sides, "layout": layout, "out_layout": "", "ceil_mode": False},
    }


def _conv(sides: int, **others: Any) -> Mapping[str, Any]:
    return {
        **{"strides": (1,) * sides, "padding": (0,) * sides, "dilation": (1,) * sides},
        **{"groups": 1, "channels": None, "kernel_size": None, "out_layout": "", "out_dtype": ""},
        **others,
    }


_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_FILLED = {"shape": Given((2, 3)), "dtype": Given("float32")}
_DYN_FILLED = {"shape": None, "dtype": Given("float32")}
_DYN_SHAPE = {"shape": None, "dtype": ""}
_TOPK = {"axis": -1, "ret_type": "both", "is_ascend": False, "dtype": Given("int32")}
_ONE_HOT = {"axis": Given(-1), "dtype": Given("float32")}
_RESIZE = {
    **{"layout": "NCHW", "method": "linear", "coordinate_transformation_mode": "half_pixel"},
    **{"rounding_method": "", "cubic_alpha": -0.5, "cubic_exclude": 0},
    **{"extrapolation_value": 0.0, "out_dtype": ""},
}
_TRANSPOSED = {"transpose_a": False, "transpose_b": False}

ATTRIBUTES: dict[str, Mapping[str, Any]] = {
    **dict.fromkeys(
        """abs negative sign ceil floor trunc exp log log2 log10 sqrt rsqrt sigmoid erf
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        isnan isfinite isinf nn.relu copy logical_not nn.batch_flatten
        add subtract multiply divide power maximum minimum mod floor_mod floor_divide
        logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal
        where""".split(),
        _NONE,
    ),
    **dict.fromkeys(("sum", "prod", "mean", "max", "min", "all", "any"), _REDUCTION),
    **dict.fromkeys(("argmax", "argmin"), _POSITION),
    **dict.fromkeys(("zeros", "ones"), _FILLED),
    **dict.fromkeys(("dyn.zeros", "dyn.ones"), _DYN_FILLED),
    **dict.fromkeys(("dyn.full", "dyn.broadcast_to"), _DYN_SHAPE),
    "arange": {"dtype": Given("float32")},
    "argwhere": _NONE,
    "round": _NONE,
    "dyn.expand_dims": {"num_newaxis": 1},
    "dyn.image.resize2d": _RESIZE,
    "dyn.nn.pad": {"pad_mode": "constant"},
    "dyn.one_hot": {"depth": None, **_ONE_HOT},
    "dyn.reshape": {"newshape": None, "allowzero": False},
    "dyn.squeeze": {"axis": None},
    "dyn.strided_slice": {
        **{"begin": None, "end": None, "strides": None, "axes": None, "slice_mode": "end"},
    },
    "dyn.tile": {"reps": None},
    "dyn.topk": {"k": None, **_TOPK},
    "image.resize2d": {"size": Given((6, 8)), "roi": None, **_RESIZE},
    "one_hot": {"depth": Given(4), **_ONE_HOT},
    "shape_of": {"dtype": Given("int32")},
    "argsort": {"axis": -1, "is_ascend": True, "dtype": Given("int32")},
    "sort": {"axis": -1, "is_ascend": True},
    "random.threefry_generate": {"out_shape": Given((4,))},
    "random.threefry_split": {},
    "scatter_elements": {"axis": 0, "reduction": "update"},
    "topk": {"k": Given(1), **_TOPK},
    "unique": {"sorted": True, "return_counts": False},
    "vision.all_class_non_max_suppression": {"output_format": "onnx"},
    "vision.get_valid_counts": {"id_index": 0, "score_index": 1},
    "vision.non_max_suppression": {
        **{"force_suppress": False, "top_k": -1, "coord_start": 2, "score_index": 1},
        **{"id_index": 0, "return_indices": True, "invalid_to_bottom": False},
    },
    "broadcast_to": {"shape": Given((2, 3)), "dtype": ""},
    "cast": {"dtype": Given("int32")},
    "fixed_point_multiply": {"multiplier": Given(1073741824), "shift": Given(-2)},
    "reinterpret": {"dtype": Given("int32")},
    "cast_like": _NONE,
    "clip": {"a_min": Given(0.0), "a_max": Given(6.0)},
    "concatenate": {"axis": 0},
    "cumsum": {"axis": None, "dtype": None, "exclusive": None},
    "expand_dims": {"axis": Given(1), "num_newaxis": 1},
    "full": {"shape": Given((2, 3))},
    "full_like": _NONE,
    "gather": {"axis": Given(1)},
    "gather_nd": {"batch_dims": 0, "index_rank": None},
    "ndarray_size": {"dtype": Given("int32")},
    **{
        f"nn.avg_pool{n}d": {**_pool(n, layout), "count_include_pad": False}
        for n, layout in _LAYOUTS.items()
    },
    **{f"nn.max_pool{n}d": _pool(n, layout) for n, layout in _LAYOUTS.items()},
    **{
        f"nn.adaptive_{kind}_pool{n}d": {"output_size": None, "layout": layout, "out_layout": ""}
        for n, layout in _LAYOUTS.items()
        for kind in ("max", "avg")
    },
    "nn.batch_matmul": {"out_dtype": "", **_TRANSPOSED},
    "nn.batch_norm": {"axis": 1, **_NORM},
    "nn.bias_add": {"axis": 1},
    "nn.conv1d": {
        **{"strides": (1,), "padding": (0, 0), "dilation": (1,), "groups": 1, "channels": None},
        **{"kernel_size": None, "data_layout": "NCW", "kernel_layout": "OIW", "out_layout": ""},
        "out_dtype": "",
    },
    "nn.conv2d": {**_CONV, "kernel_layout": "OIHW", "out_dtype": ""},
    "nn.conv2d_transpose": {
        **_CONV,
        **{"output_padding": (0, 0), "kernel_layout": "IOHW", "out_dtype": ""},
    },
    "nn.instance_norm": {"axis": 1, **_NORM},
    "nn.group_norm": {"num_groups": Given(1), "axis": 1, **_NORM},
    "nn.l2_normalize": {"eps": Given(1e-3), "axis": Given((1,))},
    "nn.nll_loss": {"reduction": "mean", "ignore_index": -100},
    "nn.space_to_batch_nd": {
        **{"block_shape": Given((2,)), "paddings": Given(((0, 0),)), "pad_value": 0.0}
    },
    "nn.batch_to_space_nd": {"block_shape": Given((2,)), "crops": Given(((0, 0),))},
    "nn.mirror_pad": {"mode": "SYMMETRIC", "pad_width": Given(((1, 1),))},
    "nn.conv3d": _conv(3, data_layout="NCDHW", kernel_layout="OIDHW"),
    "nn.conv1d_transpose": _conv(1, data_layout="NCW", kernel_layout="IOW", output_padding=(0,)),
    "nn.conv3d_transpose": _conv(
        3, data_layout="NCDHW", kernel_layout="IODHW", output_padding=(0, 0, 0)
    ),
    "nn.conv2d_backward_weight": {
        **_conv(2, data_layout="NCHW", kernel_layout="NCHW", out_layout="OIHW"),
        "kernel_size": Given((3, 3)),
    },
    "nn.deformable_conv2d": _conv(2, data_layout="NCHW", kernel_layout="OIHW", deformable_groups=1),
    "image.dilation2d": {
        **{"strides": (1, 1), "padding": (0, 0), "dilations": (1, 1)},
        **{"data_layout": "NCHW", "kernel_layout": "IHW"},
    },
    "nn.max_pool2d_grad": _pool(2, "NCHW"),
    "nn.avg_pool2d_grad": {**_pool(2, "NCHW"), "count_include_pad": False},
    "nn.dense": {"units": None, "out_dtype": ""},
    "nn.global_avg_pool2d": {"layout": "NCHW", "out_layout": ""},
    "nn.global_max_pool2d": {"layout": "NCHW", "out_layout": ""},
    "nn.layer_norm": {"axis": -1, **_NORM},
    "nn.leaky_relu": {"alpha": 0.25},
    "nn.log_softmax": {"axis": -1},
    "nn.lrn": {"size": 5, "axis": 1, "bias": 2.0, "alpha": 1e-4, "beta": 0.75},
    "nn.matmul": {"units": None, "out_dtype": "", **_TRANSPOSED},
    "nn.pad": {"pad_width": Given(((1, 2), (0, 1))), "pad_mode": "constant"},
    "nn.prelu": {"axis": 1},
    "nn.softmax": {"axis": -1},
    "nn.upsampling3d": {
        **{f"scale_{side}": Given(2.0) for side in "dhw"},
        **{"layout": "NCDHW", "method": "nearest_neighbor"},
        "coordinate_transformation_mode": "half_pixel",
    },
    "dyn.nn.upsampling": {
        **{"scale_h": 0.0, "scale_w": 0.0, "layout": "NCHW"},
        **{"method": "nearest_neighbor", "align_corners": False},
    },
    "dyn.nn.upsampling3d": {
        **{f"scale_{side}": 0.0 for side in "dhw"},
        **{"layout": "NCDHW", "method": "nearest_neighbor"},
        "coordinate_transformation_mode": "half_pixel",
    },
    "nn.upsampling": {
        **{"scale_h": Given(2.0), "scale_w": Given(2.0), "layout": "NCHW"},
        **{"method": "nearest_neighbor", "align_corners": False},
    },
    # TVM: of the flattened operand when there is no axis, which is not supported here
    "repeat": {"repeats": Given(2), "axis": Given(1)},
    "reshape": {"newshape": Given((6,)), "allowzero": False},
    "reshape_like": {"lhs_begin": 0, "lhs_end": None, "rhs_begin": 0, "rhs_end": None},
    "reverse": {"axis": Given(1)},
    "slice_like": {"axes": None},
    "nn.depth_to_space": {"block_size": Given(2), "layout": "NCHW", "mode": "DCR"},
    "nn.space_to_depth": {"block_size": Given(2), "layout": "NCHW"},
    "nn.dilate": {"strides": Given((1, 2)), "dilation_value": 0.0},
    "split": {"indices_or_sections": Given(2), "axis": 0},
    "squeeze": {"axis": None},
    "stack": {"axis": 0},
    "strided_slice": {
        **{"begin": Given((0,)), "end": Given((1,)), "strides": None, "axes": None},
        "slice_mode": "end",
    },
    "take": {"axis": None, "batch_dims": 0, "mode": "clip"},
    "tile": {"reps": Given((2,))},
    "transpose": {"axes": None},
}

for _name in FORMULAS:
    ATTRIBUTES.setdefault(_name, _NONE)

OURS: Mapping[str, tuple[str, ...]] = {
    "argmax": ("dtype",),
    "argmin": ("dtype",),
    "nn.gelu": ("approximate",),
    "nn.packed_dense": ("out_dtype",),
    "round": ("ties",),
}
"""Operators and attributes that TVM does not have, as listed in `docs/relay_text.md`."""


def _read(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """All attributes of the operator if the text contains these."""
    cls = OPERATORS[name]
    values, _ = convert_attributes(name, given)
    return plain_attributes(cls.create(properties=properties_of(cls, values)))


def disagreements(name: str) -> list[str]:
    """Return the attributes of `name` (without `relay.`) that are read differently than in TVM."""
    attributes = ATTRIBUTES.get(name, {})
    given = {key: v.value for key, v in attributes.items() if isinstance(v, Given)}
    found: list[str] = []
    for key, default in attributes.items():
        if isinstance(default, Given):
            continue
        try:
            absent, written = _read(name, given), _read(name, {**given, key: default})
        except (InvalidAttribute, VerifyException) as error:
            found.append(f"{key}: {error}")
            continue
        if absent != written:
            found.append(f"{key} is {absent.get(key)} when it is not given, in TVM {default}")
    known = {*attributes, *OURS.get(name, ())}
    properties = OPERATORS[name].get_irdl_definition().properties
    found += [f"{key} is not an attribute in TVM" for key in properties if key not in known]
    return found
