"""
The operators of `relay` by their TVM names, and their attributes in TVM's text.

    nn.conv2d(%x, %w, padding=[1, 1], channels=64, kernel_size=[3, 3])
    ->
    relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}

Names are the same but for the prefix, and so are most attributes and their defaults (TVM's text
omits defaults). A `Rule` states the differences, for the reader and the printer: defaults, other
spellings, and attributes that only repeat what the operands' types say, which the reader checks and
drops, and the printer adds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import VarOperandDef, VarResultDef

from ...dialects import qnn, relay
from ...dialects.attributes import ELEMENT_TYPES
from ...dialects.relay.operator import Operator
from ...dialects.tensors import Tensor
from .json.node_graph import Unread

BY_NAME: Mapping[str, type[Operator]] = {**relay.BY_NAME, **qnn.BY_NAME}
"""The operators by their names in Relay."""

T = TypeVar("T")

Values: TypeAlias = dict[str, Any]


class InvalidAttribute(Exception):
    """An attribute has a value that its operator does not accept."""


Convert: TypeAlias = Callable[[Values], None]
"""Converts attributes from TVM's form to ours, in place."""

Implied: TypeAlias = Callable[[Mapping[str, Any], Sequence[int]], Values]
"""Returns what the shape of the weight says of attributes that only repeat it."""

IMPLYING = frozenset(("groups", "kernel_layout", "transpose_b"))
"""The attributes that an `Implied` reads."""


def _keep(values: Values) -> None:
    pass


@dataclass(frozen=True)
class Rule:
    """The attributes of an operator in TVM's text."""

    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """TVM's defaults where they differ from ours."""
    convert: Convert = _keep
    """Converts what is read."""
    always: Mapping[str, str] = field(default_factory=dict[str, str])
    """
    Attributes that are printed although they have our default, because TVM has none or prints them
    too, with their text where they are absent.
    """
    repeated: tuple[str, ...] = ()
    """Attributes that repeat what the operands' types say."""
    implied: Implied | None = None
    printed_before: str = ""
    """The attribute before which the repeated ones are printed."""
    unknown: str | None = None
    """The text of a repeated attribute whose value is unknown; None where it is omitted."""
    is_reduction: bool = False
    """True if no axes at all mean all axes in TVM, but none here."""
    weight: int = 1
    """The operand whose shape the repeated attributes repeat."""


# ---------------------------------------------------------------- conversions


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _expand_padding(values: Values, sides: int) -> None:
    """Expand padding, of one entry or one for each side, to both ends: first all starts."""
    padding = values.get("padding")
    if padding is None:
        return
    given = _as_tuple(padding)
    if len(given) not in (1, sides, 2 * sides):
        counts = "1 or 2" if sides == 1 else f"1, {sides} or {2 * sides}"
        raise InvalidAttribute(f"padding must have {counts} entries, but has {len(given)}")
    values["padding"] = given * (2 * sides // len(given))


def _same_layout(values: Values, layout: str, default: str = "NCHW") -> None:
    """Remove `out_layout`, which may be omitted or repeat the layout of the data."""
    out, data = values.pop("out_layout", ""), values.get(layout, default)
    if out not in ("", None, data):
        raise InvalidAttribute(
            f'out_layout must be "{data}", the layout of the data, but is "{out}"'
        )


_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
"""The default layout for a number of sides."""


def _window(*names: str, layout: str, sides: int = 2) -> Convert:
    def convert(values: Values) -> None:
        _expand_padding(values, sides)
        _same_layout(values, layout, _LAYOUTS[sides])
        for name in names:
            given = values.get(name)
            if given is not None and len(_as_tuple(given)) == 1:
                values[name] = _as_tuple(given) * sides

    return convert


def _as_list(*names: str) -> Convert:
    """Return a conversion that lets a single number stand for a list of one."""

    def convert(values: Values) -> None:
        for name in names:
            if name in values and not isinstance(values[name], tuple):
                values[name] = (values[name],)

    return convert


def _reduction(values: Values) -> None:
    _as_list("axis")(values)
    if values.get("axis") == ():  # in TVM an empty list reduces all axes
        del values["axis"]


def _empty_is_absent(*names: str) -> Convert:
    def convert(values: Values) -> None:
        _as_list(*names)(values)
        for name in names:
            if values.get(name) == ():
                del values[name]

    return convert


PAIRS = frozenset(("pad_width", "paddings", "crops"))
"""Attributes that are pairs of widths before and after, for each dimension."""


def _flat_pairs(values: Values) -> None:
    """Flatten pairs of widths."""
    for name in PAIRS & values.keys():
        if isinstance(values[name], tuple):
            flat: list[Any] = []
            for pair in cast("tuple[Any, ...]", values[name]):
                flat += _as_tuple(pair)
            values[name] = tuple(flat)


def pairs_of(widths: Sequence[int]) -> list[list[int]]:
    """Return pairs of widths as TVM prints them: the inverse of what the reader does."""
    return [list(pair) for pair in zip(widths[::2], widths[1::2], strict=False)]


def _equally_many_bounds(values: Values) -> None:
    """Complete the shorter of `begin` and `end` of a slice without `axes`."""
    begin, end = values.get("begin"), values.get("end")
    if isinstance(begin, tuple) and isinstance(end, tuple) and "axes" not in values:
        begin, end = cast("tuple[Any, ...]", begin), cast("tuple[Any, ...]", end)
        missing = len(end) - len(begin)
        values["begin"] = begin + (0,) * missing
        values["end"] = end + (2**31 - 1,) * -missing


def _require(name: str) -> Convert:
    def convert(values: Values) -> None:
        if name not in values:
            raise InvalidAttribute(f"{name} is required")

    return convert


def _default_is_absent(name: str) -> Convert:
    """Return a conversion that drops a word by which TVM says that its default holds."""

    def convert(values: Values) -> None:
        if values.get(name) == "None":
            del values[name]

    return convert


def _by_default(name: str, value: Any) -> Convert:
    """Return a conversion that adds an attribute that TVM's text always has."""

    def convert(values: Values) -> None:
        values.setdefault(name, value)

    return convert


def _drop(*names: str) -> Convert:
    """Return a conversion that drops attributes without meaning here, such as scheduler hints."""

    def convert(values: Values) -> None:
        for name in names:
            values.pop(name, None)

    return convert


# ------------------------------------------------- what only repeats the types


def verify_repeated(name: str, values: Mapping[str, Any], operands: Sequence[Tensor]) -> None:
    """Check attributes that repeat the weight's shape; raises `InvalidAttribute`."""
    rule = rule_of(name)
    if rule.implied is None:
        return
    for key, wanted in rule.implied(values, operands[rule.weight].get_shape()).items():
        given, entries = values.get(key), _as_tuple(wanted)
        if given is None:
            continue
        if len(_as_tuple(given)) != len(entries):
            count = len(_as_tuple(given))
            raise InvalidAttribute(f"{key} must have {len(entries)} entries, but has {count}")
        if any(
            mine != theirs and DYNAMIC_INDEX not in (mine, theirs)
            for mine, theirs in zip(_as_tuple(given), entries, strict=True)
        ):
            given = list(_as_tuple(given)) if isinstance(wanted, tuple) else given
            wanted = list(entries) if isinstance(wanted, tuple) else wanted
            raise InvalidAttribute(f"{key} is {given}, but the weight implies {wanted}")


def _conv(values: Mapping[str, Any], weight: Sequence[int]) -> Values:
    """Return what the weight of a convolution says; by default, its layout is that of its rank."""
    sides = "DHW"[5 - len(weight) :]
    order = values.get("kernel_layout") or f"OI{sides}"
    if sorted(order) != sorted(f"OI{sides}"):
        return {}
    channels, *sizes = (weight[order.index(side)] for side in f"O{sides}")
    return {"channels": channels, "kernel_size": tuple(sizes)}


def _conv_transpose(values: Mapping[str, Any], weight: Sequence[int]) -> Values:
    if not 3 <= len(weight) <= 5 or DYNAMIC_INDEX in weight:
        return {}
    channels = weight[1] * int(values.get("groups") or 1)  # the weight has those of one group
    return {"channels": channels, "kernel_size": tuple(weight[2:])}


def _dense(values: Mapping[str, Any], weight: Sequence[int]) -> Values:
    return {"units": weight[0]} if len(weight) == 2 else {}


def _matmul(values: Mapping[str, Any], weight: Sequence[int]) -> Values:
    return {"units": weight[0 if values.get("transpose_b") else 1]} if len(weight) == 2 else {}


# ---------------------------------------------------------------------- table

_SCHEDULING = ("auto_scheduler_rewritten_layout", "meta_schedule_original_shape")


def _chain(*converts: Convert) -> Convert:
    def convert(values: Values) -> None:
        for each in converts:
            each(values)

    return convert


_IMAGES = _window("strides", "dilation", layout="data_layout")
_VOLUMES = _window("strides", "dilation", layout="data_layout", sides=3)
_SPREAD = {
    sides: _window("strides", "dilation", "output_padding", layout="data_layout", sides=sides)
    for sides in _LAYOUTS
}
_SPREAD_IMAGES = _SPREAD[2]
_LINES = _window("strides", "dilation", layout="data_layout", sides=1)
_POOLS = {
    sides: _window("pool_size", "strides", "dilation", layout="layout", sides=sides)
    for sides in _LAYOUTS
}
_PADDED = {"padding": ""}
_GLOBAL_POOL = Rule(convert=lambda values: _same_layout(values, "layout"))
_REDUCTION = Rule(convert=_reduction, is_reduction=True)
_FILLED = Rule(convert=_chain(_as_list("shape"), _by_default("dtype", "float32")))
_SIZES = ("channels", "kernel_size")

RULES: Mapping[str, Rule] = {
    "nn.conv1d": Rule({}, _LINES, _PADDED, _SIZES, _conv, "data_layout"),
    "nn.conv2d": Rule(
        {}, _chain(_IMAGES, _drop(*_SCHEDULING)), _PADDED, _SIZES, _conv, "data_layout"
    ),
    "nn.conv2d_transpose": Rule(
        {},
        _chain(_SPREAD_IMAGES, _drop("out_dtype")),
        _PADDED,
        _SIZES,
        _conv_transpose,
        "data_layout",
    ),
    "nn.conv3d": Rule({}, _VOLUMES, _PADDED, _SIZES, _conv, "data_layout"),
    **{
        f"nn.conv{sides}d_transpose": Rule(
            {}, _SPREAD[sides], _PADDED, _SIZES, _conv_transpose, "data_layout"
        )
        for sides in (1, 3)
    },
    "nn.conv2d_backward_weight": Rule(
        {},
        _chain(
            _window("strides", "dilation", "kernel_size", layout=""),
            _drop("channels", "data_layout"),
        ),
        _PADDED,
        ("kernel_layout", "out_layout"),
        lambda values, data: {"kernel_layout": "NCHW", "out_layout": "OIHW"},
        "out_dtype",
    ),
    "nn.deformable_conv2d": Rule({}, _IMAGES, _PADDED, _SIZES, _conv, "data_layout", weight=2),
    "image.dilation2d": Rule(
        convert=_window("strides", "dilations", layout="data_layout"), always=_PADDED
    ),
    **{
        f"nn.{kind}_pool2d_grad": Rule(convert=_chain(_POOLS[2], _drop("dilation")), always=_PADDED)
        for kind in ("max", "avg")
    },
    "nn.dense": Rule({}, _drop(*_SCHEDULING), {}, ("units",), _dense, "out_dtype"),
    "nn.matmul": Rule({}, _drop(*_SCHEDULING), {}, ("units",), _matmul, "out_dtype", "None"),
    "nn.batch_matmul": Rule({"transpose_b": False}, _drop(*_SCHEDULING)),
    "nn.leaky_relu": Rule({"alpha": 0.25}),
    "nn.lrn": Rule({"alpha": 1e-4}),
    **{
        f"nn.{kind}_pool{sides}d": Rule(convert=convert, always=_PADDED)
        for sides, convert in _POOLS.items()
        for kind in ("max", "avg")
    },
    **{
        f"nn.adaptive_{kind}_pool{sides}d": Rule(
            convert=_chain(
                _window("output_size", layout="layout", sides=sides),
                _empty_is_absent("output_size"),
            )
        )
        for sides in _LAYOUTS
        for kind in ("max", "avg")
    },
    "nn.global_avg_pool2d": _GLOBAL_POOL,
    "nn.global_max_pool2d": _GLOBAL_POOL,
    **dict.fromkeys(("nn.pad", "nn.mirror_pad"), Rule(convert=_flat_pairs)),
    **dict.fromkeys(
        ("nn.space_to_batch_nd", "nn.batch_to_space_nd"),
        Rule(convert=_chain(_flat_pairs, _as_list("block_shape"))),
    ),
    "nn.l2_normalize": Rule(convert=_as_list("axis")),
    "nn.space_to_depth": Rule(convert=_drop("mode")),  # TVM has one mode
    **dict.fromkeys(("sum", "mean", "max", "min", "prod", "all", "any"), _REDUCTION),
    **dict.fromkeys(("argmax", "argmin"), _REDUCTION),
    "qnn.batch_matmul": Rule({"transpose_b": False}),
    "qnn.conv2d": Rule({}, _IMAGES, _PADDED, _SIZES, _conv, "data_layout"),
    "qnn.conv2d_transpose": Rule(
        {}, _SPREAD_IMAGES, _PADDED, _SIZES, _conv_transpose, "data_layout"
    ),
    "qnn.dense": Rule({}, _keep, {}, ("units",), _dense, "out_dtype"),
    "qnn.requantize": Rule(convert=_default_is_absent("rounding")),
    "reshape": Rule(convert=_as_list("newshape")),
    "transpose": Rule(convert=_empty_is_absent("axes"), always={"axes": "None"}),
    "squeeze": Rule(convert=_as_list("axis")),
    "strided_slice": Rule(
        convert=_chain(
            _as_list("begin", "end"), _empty_is_absent("strides", "axes"), _equally_many_bounds
        ),
        always={"strides": "[]", "axes": "None"},
    ),
    "tile": Rule(convert=_as_list("reps")),
    "nn.upsampling": Rule(always={"scale_h": "", "scale_w": ""}),
    "nn.upsampling3d": Rule(always={"scale_d": "", "scale_h": "", "scale_w": ""}),
    **dict.fromkeys(
        ("dyn.nn.upsampling", "dyn.nn.upsampling3d"),
        Rule(convert=_drop("scale_d", "scale_h", "scale_w")),
    ),
    "repeat": Rule(convert=_require("axis"), always={"axis": ""}),
    "reverse": Rule(convert=_require("axis"), always={"axis": ""}),
    "broadcast_to": Rule(convert=_chain(_drop("dtype"), _as_list("shape"))),
    "arange": Rule(convert=_drop("start", "stop", "step")),  # repeats the operands
    "dyn.broadcast_to": Rule(convert=_drop("shape", "dtype")),
    "dyn.full": Rule(convert=_drop("shape", "dtype")),
    "dyn.image.resize2d": Rule(convert=_drop("size", "roi")),
    "dyn.nn.pad": Rule(convert=_drop("pad_width")),
    "dyn.one_hot": Rule({"axis": -1}, _drop("depth")),
    "dyn.ones": Rule(convert=_drop("shape")),
    "dyn.reshape": Rule(convert=_drop("newshape")),
    "dyn.squeeze": Rule(convert=_drop("axis")),
    "dyn.strided_slice": Rule(
        convert=_chain(_drop("begin", "end", "strides"), _empty_is_absent("axes"))
    ),
    "dyn.tile": Rule(convert=_drop("reps")),
    "dyn.topk": Rule(convert=_drop("k")),
    "dyn.zeros": Rule(convert=_drop("shape")),
    "image.resize2d": Rule(convert=_chain(_as_list("size"), _drop("roi"))),
    "one_hot": Rule({"axis": -1}),
    "ones": _FILLED,
    "round": Rule({"ties": "away"}),
    "shape_of": Rule(convert=_by_default("dtype", "int32")),
    "vision.get_valid_counts": Rule(convert=_drop("score_threshold")),  # repeats the operand
    "zeros": _FILLED,
}

_PLAIN = ("topk", "dyn.topk", "vision.non_max_suppression")
"""Operators whose results are a tuple only if there are several."""

_NO_RULE = Rule()


@cache
def is_variadic(name: str) -> bool:
    """Return whether the operator takes its operands as one tuple in Relay."""
    return any(
        isinstance(definition, VarOperandDef)
        for _, definition in BY_NAME[name].get_irdl_definition().operands
    )


@cache
def returns_tuple(name: str, count: int) -> bool:
    """Return whether the operator's `count` results are a tuple in Relay, even of one field."""
    results = BY_NAME[name].get_irdl_definition().results
    return count != 1 or (isinstance(results[0][1], VarResultDef) and name not in _PLAIN)


_TUPLES = {"qnn.concatenate": (3, 2)}
"""Of operators that take several tuples, their number, and that of the operands after them."""


def operand_count(name: str) -> int:
    """Return the number of operands in Relay, where those of a variadic operator form tuples."""
    if is_variadic(name):
        return sum(_TUPLES.get(name, (1, 0)))
    return len(BY_NAME[name].get_irdl_definition().operands)


def tuples_of(name: str, args: Sequence[T], as_tuple: Callable[[Sequence[T]], T]) -> list[T]:
    """Return a variadic operator's operands in Relay, where tuples have equally many fields."""
    tuples, others = _TUPLES.get(name, (1, 0))
    count, end = (len(args) - others) // tuples, len(args) - others
    parts = [as_tuple(args[i * count : (i + 1) * count]) for i in range(tuples)]
    return [*parts, *args[end:]]


def rule_of(name: str) -> Rule:
    """Return the rule for the attributes of the operator."""
    return RULES.get(name, _NO_RULE)


def convert_attributes(name: str, given: Mapping[str, Any]) -> tuple[Values, Values]:
    """
    Convert the attributes of operator `name`; return ours, and those to check, if any.

    Raises `InvalidAttribute`.
    """
    rule = rule_of(name)
    values: Values = dict(rule.defaults)
    for key, value in given.items():
        if value is None or (key.endswith("dtype") and value in ("", "void", "None")):
            values.pop(key, None)
            continue
        if key.endswith("dtype") and value not in ELEMENT_TYPES:
            raise InvalidAttribute(f'{key} must be a dtype, but is "{value}"')
        values[key] = value
    dropped = {key: values.pop(key) for key in rule.repeated if key in values}
    rule.convert(values)
    for key, value in values.items():
        if any(isinstance(part, Unread) for part in (value, *_as_tuple(value))):
            raise InvalidAttribute(f"{key} must be a value, but is an expression")
    return values, {**values, **dropped} if dropped else {}
