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

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import OptPropertyDef, VarOperandDef, VarResultDef

from ...dialects import qnn, relay
from ...dialects.attributes import ELEMENT_TYPES, lists_of
from ...dialects.relay.operator import Operator
from ...dialects.tensors import Tensor
from .errors import nearest
from .json.node_graph import Unread
from .tvm_weights import WEIGHTS, Weight

BY_NAME: Mapping[str, type[Operator]] = {**relay.BY_NAME, **qnn.BY_NAME}
"""The operators by their names in Relay."""

T = TypeVar("T")

Values: TypeAlias = dict[str, Any]


class InvalidAttribute(Exception):
    """An attribute has a value that its operator does not accept."""


@dataclass(frozen=True)
class Rule:
    """The attributes of an operator in TVM's text, besides what the names say for all operators."""

    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """TVM's defaults where they differ from ours."""
    always: Mapping[str, str] = field(default_factory=dict[str, str])
    """
    Attributes that are printed although they have our default, because TVM has none or prints them
    too, with their text where they are absent; `padding` is one of every operator.
    """
    required: tuple[str, ...] = ()
    """Attributes without a default in TVM, but with one here."""
    dropped: tuple[str, ...] = ()
    """Attributes without meaning here, or that repeat an operand of another name."""


# ------------------------------------------------------------------------------- by name

PAIRS = frozenset(("pad_width", "paddings", "crops"))
"""Attributes that are pairs of widths before and after, for each dimension."""
_SPREAD = (
    *("strides", "dilation", "dilations", "kernel_size", "pool_size"),
    *("output_padding", "output_size"),
)
"""Attributes of windows of which one number stands for all sides."""
_SIDES = re.compile(r"([123])d(?:_|$)", re.ASCII)
_SCHEDULING = ("auto_scheduler_rewritten_layout", "meta_schedule_original_shape")
_REPEATING = ("arange", "vision.get_valid_counts")
"""Operators that repeat their operands as attributes, as those of `dyn` do."""


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _expanded_padding(padding: Any, sides: int) -> tuple[Any, ...]:
    """Expand padding, of one entry or one for each side, to both ends: first all starts."""
    given = _as_tuple(padding)
    if len(given) not in (1, sides, 2 * sides):
        counts = "1 or 2" if sides == 1 else f"1, {sides} or {2 * sides}"
        raise InvalidAttribute(f"padding must have {counts} entries, but has {len(given)}")
    return given * (2 * sides // len(given))


def _convert_by_name(name: str, values: Values) -> None:
    """Convert attributes of any operator from TVM's form to ours."""
    definition = BY_NAME[name].get_irdl_definition()
    match = _SIDES.search(name)
    if match is not None:
        sides = int(match[1])
        if "padding" in values:
            values["padding"] = _expanded_padding(values["padding"], sides)
        for key in _SPREAD:
            if key in values and len(_as_tuple(values[key])) == 1:
                values[key] = _as_tuple(values[key]) * sides
    for key in PAIRS & values.keys():
        if isinstance(values[key], tuple):
            values[key] = tuple(chain.from_iterable(map(_as_tuple, values[key])))
    for key in lists_of(BY_NAME[name]) & values.keys():
        values[key] = _as_tuple(values[key])
    if "out_layout" in values and "out_layout" not in definition.properties:
        _verify_same_layout(values, definition.properties)


def _verify_same_layout(values: Values, properties: Mapping[str, Any]) -> None:
    """Remove `out_layout`, which may be omitted or repeat the layout of the data."""
    key = next((key for key in ("data_layout", "layout") if key in properties), None)
    if key is None:
        return
    out, layout = values.pop("out_layout"), values.get(key) or properties[key].default_value.data
    if out not in ("", layout):
        raise InvalidAttribute(
            f'out_layout must be "{layout}", the layout of the data, but is "{out}"'
        )


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


def verify_repeated(name: str, values: Mapping[str, Any], operands: Sequence[Tensor]) -> None:
    """Check attributes that repeat the weight's shape; raises `InvalidAttribute`."""
    weight = WEIGHTS[name]
    for key, wanted in weight.implied(values, operands[weight.operand].get_shape()).items():
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


# ---------------------------------------------------------------------- table

RULES: Mapping[str, Rule] = {
    "nn.conv2d_transpose": Rule(dropped=("out_dtype",)),
    "nn.conv2d_backward_weight": Rule(dropped=("channels", "data_layout")),
    **dict.fromkeys(("nn.max_pool2d_grad", "nn.avg_pool2d_grad"), Rule(dropped=("dilation",))),
    **dict.fromkeys(("nn.batch_matmul", "qnn.batch_matmul"), Rule({"transpose_b": False})),
    "nn.leaky_relu": Rule({"alpha": 0.25}),
    "nn.lrn": Rule({"alpha": 1e-4}),
    "nn.space_to_depth": Rule(dropped=("mode",)),  # TVM has one mode
    "transpose": Rule(always={"axes": "None"}),
    "strided_slice": Rule(always={"strides": "[]", "axes": "None"}),
    "nn.upsampling": Rule(always={"scale_h": "", "scale_w": ""}),
    "nn.upsampling3d": Rule(always={"scale_d": "", "scale_h": "", "scale_w": ""}),
    **dict.fromkeys(("repeat", "reverse"), Rule(required=("axis",), always={"axis": ""})),
    **dict.fromkeys(("broadcast_to", "dyn.broadcast_to", "dyn.full"), Rule(dropped=("dtype",))),
    "dyn.reshape": Rule(dropped=("newshape",)),
    "image.resize2d": Rule(dropped=("roi",)),
    **dict.fromkeys(("one_hot", "dyn.one_hot"), Rule({"axis": -1})),
    "round": Rule({"ties": "away"}),
    "shape_of": Rule({"dtype": "int32"}, {"dtype": ""}),
    **dict.fromkeys(("ones", "zeros"), Rule({"dtype": "float32"}, {"dtype": ""})),
}

_PLAIN = ("topk", "dyn.topk", "vision.non_max_suppression")
"""Operators whose results are a tuple only if there are several."""

_NO_RULE, _NO_WEIGHT = Rule(), Weight()


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


@cache
def _optional_lists(name: str) -> Sequence[str]:
    """Return the lists that are absent if they are empty: no axes of a reduction mean all axes."""
    properties = BY_NAME[name].get_irdl_definition().properties
    return [n for n in lists_of(BY_NAME[name]) if isinstance(properties[n], OptPropertyDef)]


@cache
def is_reduction(name: str) -> bool:
    """Return whether no axes at all mean all axes in TVM, but none here."""
    return "exclude" in BY_NAME[name].get_irdl_definition().properties


_UNSET = ("", "void", "None")
"""Texts by which TVM says that the default of a dtype, or of a rounding, holds."""


def convert_attributes(name: str, given: Mapping[str, Any]) -> tuple[Values, Values]:
    """
    Convert the attributes of operator `name`; return ours, and those to check, if any.

    Raises `InvalidAttribute`.
    """
    rule, values = rule_of(name), Values()
    ignored = {*rule.dropped, *_SCHEDULING}
    if name.startswith("dyn.") or name in _REPEATING:
        ignored.update(operand for operand, _ in BY_NAME[name].get_irdl_definition().operands)
    for key, value in given.items():
        is_dtype = key.endswith("dtype")
        if key in ignored or value is None or (value in _UNSET and (is_dtype or key == "rounding")):
            continue
        if is_dtype and value not in ELEMENT_TYPES:
            hint = nearest(str(value), ELEMENT_TYPES)
            raise InvalidAttribute(f'{key} must be a dtype like "float32", but is "{value}"{hint}')
        values[key] = value
    names = WEIGHTS.get(name, _NO_WEIGHT).names
    repeated = {key: values.pop(key) for key in names if key in values}
    _convert_by_name(name, values)
    if name != "squeeze":
        for key in _optional_lists(name):
            if values.get(key) == ():
                del values[key]
    if name == "strided_slice":
        _equally_many_bounds(values)
    missing = next((key for key in rule.required if key not in values), None)
    if missing is not None:
        raise InvalidAttribute(f"{missing} is required")
    for key, value in values.items():
        if any(isinstance(part, Unread) for part in (value, *_as_tuple(value))):
            raise InvalidAttribute(f"{key} must be a value, but is an expression")
    values = {**rule.defaults, **values}
    return values, {**values, **repeated} if repeated else {}
