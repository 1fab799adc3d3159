"""
The operators of `relay` by their TVM names, and their attributes as TVM's text gives them.

    nn.conv2d(%x, %w, padding=[1, 1], channels=64, kernel_size=[3, 3])
    ->
    relay.nn.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}

Names are the same but for the prefix, and so are most attributes and their defaults (TVM's text
leaves out what has its default). A `Rule` says what differs: defaults, other spellings, and
attributes that only repeat what the operands' types say, which are checked and dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.irdl import VarOperandDef, VarResultDef

from ...dialects.attributes import ELEMENT_TYPES
from ...dialects.relay import BY_NAME
from ...dialects.tensors import Tensor

Values: TypeAlias = dict[str, Any]


class AttributeProblem(Exception):
    """An attribute has a value that its operator does not take."""


Convert: TypeAlias = Callable[[Values], None]
"""Change attributes from TVM's to ours, in place."""

Check: TypeAlias = Callable[[Mapping[str, Any], Sequence[Tensor]], None]
"""Hold the attributes that are dropped against the operands' types."""


def _nothing(values: Values) -> None:
    pass


@dataclass(frozen=True)
class Rule:
    """How the text's attributes of an operator become ours."""

    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """TVM's defaults where they differ from ours."""
    convert: Convert = _nothing
    checked: tuple[str, ...] = ()
    """Attributes that repeat what types say."""
    check: Check | None = None


# ---------------------------------------------------------------- conversions


def _tuple_of(value: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _sides(values: Values) -> None:
    """1, 2 or 4 numbers of padding become 4: top, left, bottom, right."""
    padding = values.get("padding")
    if padding is None:
        return
    given = _tuple_of(padding)
    if len(given) not in (1, 2, 4):
        raise AttributeProblem(f"padding has 1, 2 or 4 numbers, but here {len(given)}")
    values["padding"] = given * 4 if len(given) == 1 else given * 2 if len(given) == 2 else given


def _same_layout(values: Values, layout: str) -> None:
    """`out_layout` may be left out or repeat the layout of the data."""
    out, data = values.pop("out_layout", ""), values.get(layout, "NCHW")
    if out not in ("", None, data):
        raise AttributeProblem(f'out_layout must be that of the data, "{data}", but is "{out}"')


def _window(*names: str, layout: str) -> Convert:
    def convert(values: Values) -> None:
        _sides(values)
        _same_layout(values, layout)
        for name in names:
            given = values.get(name)
            if given is not None and len(_tuple_of(given)) == 1:
                values[name] = _tuple_of(given) * 2

    return convert


def _listed(*names: str) -> Convert:
    """A single number may stand for a list of one."""

    def convert(values: Values) -> None:
        for name in names:
            if name in values and not isinstance(values[name], tuple):
                values[name] = (values[name],)

    return convert


def _reduction(values: Values) -> None:
    _listed("axis")(values)
    if values.get("axis") == ():  # TVM: no axes named, all reduced
        del values["axis"]


def _empty_is_absent(*names: str) -> Convert:
    def convert(values: Values) -> None:
        _listed(*names)(values)
        for name in names:
            if values.get(name) == ():
                del values[name]

    return convert


def _pad(values: Values) -> None:
    width = values.get("pad_width")
    if isinstance(width, tuple):
        flat: list[Any] = []
        for pair in cast("tuple[Any, ...]", width):
            flat += _tuple_of(pair)
        values["pad_width"] = tuple(flat)


def _needs(name: str) -> Convert:
    def convert(values: Values) -> None:
        if name not in values:
            raise AttributeProblem(f"{name} must be given")

    return convert


def _without(*names: str) -> Convert:
    """Attributes that say nothing here: hints to TVM's schedulers."""

    def convert(values: Values) -> None:
        for name in names:
            values.pop(name, None)

    return convert


# --------------------------------------------------------------------- checks


def _require(name: str, given: Any, wanted: Any) -> None:
    if given is not None and given != wanted and DYNAMIC_INDEX not in (given, wanted):
        raise AttributeProblem(f"{name} is {given}, but the weight says {wanted}")


def _conv2d_repeats(dropped: Mapping[str, Any], operands: Sequence[Tensor]) -> None:
    """`channels` and `kernel_size` against the weight."""
    dims = operands[1].get_shape()
    if len(dims) != 4:
        return
    order = dropped.get("kernel_layout") or "OIHW"
    if sorted(order) != sorted("OIHW"):
        return
    _require("channels", dropped.get("channels"), dims[order.index("O")])
    sizes = dropped.get("kernel_size")
    if sizes is not None:
        sizes = _tuple_of(sizes)
        if len(sizes) != 2:
            raise AttributeProblem(f"kernel_size has 2 numbers, but here {len(sizes)}")
        for given, side in zip(sizes, "HW", strict=True):
            wanted = dims[order.index(side)]
            if given != wanted and DYNAMIC_INDEX not in (given, wanted):
                wanteds = [dims[order.index(s)] for s in "HW"]
                raise AttributeProblem(
                    f"kernel_size is {list(sizes)}, but the weight says {wanteds}"
                )


def _transposed_repeats(dropped: Mapping[str, Any], operands: Sequence[Tensor]) -> None:
    """`channels` and `kernel_size` against the weight, which holds the channels of one group."""
    dims = operands[1].get_shape()
    if len(dims) != 4:
        return
    if DYNAMIC_INDEX not in dims:
        _require("channels", dropped.get("channels"), dims[1] * int(dropped.get("groups") or 1))
    sizes = dropped.get("kernel_size")
    if sizes is not None and list(_tuple_of(sizes)) != list(dims[2:]) and -1 not in dims:
        raise AttributeProblem(
            f"kernel_size is {list(_tuple_of(sizes))}, but the weight says {list(dims[2:])}"
        )


def _units_are_rows(dropped: Mapping[str, Any], operands: Sequence[Tensor]) -> None:
    dims = operands[1].get_shape()
    if len(dims) == 2:
        _require("units", dropped.get("units"), dims[0])


def _units_are_columns(dropped: Mapping[str, Any], operands: Sequence[Tensor]) -> None:
    dims = operands[1].get_shape()
    if len(dims) == 2:
        _require("units", dropped.get("units"), dims[0 if dropped.get("transpose_b") else 1])


# ---------------------------------------------------------------------- table

_SCHEDULING = ("auto_scheduler_rewritten_layout", "meta_schedule_original_shape")


def _both(*converts: Convert) -> Convert:
    def convert(values: Values) -> None:
        for each in converts:
            each(values)

    return convert


_POOL = Rule(convert=_window("pool_size", "strides", "dilation", layout="layout"))
_GLOBAL_POOL = Rule(convert=lambda values: _same_layout(values, "layout"))
_REDUCTION = Rule(convert=_reduction)

RULES: Mapping[str, Rule] = {
    "nn.conv2d": Rule(
        convert=_both(_window("strides", "dilation", layout="data_layout"), _without(*_SCHEDULING)),
        checked=("channels", "kernel_size"),
        check=_conv2d_repeats,
    ),
    "nn.conv2d_transpose": Rule(
        convert=_both(
            _window("strides", "dilation", "output_padding", layout="data_layout"),
            _without("out_dtype"),
        ),
        checked=("channels", "kernel_size"),
        check=_transposed_repeats,
    ),
    "nn.dense": Rule(convert=_without(*_SCHEDULING), checked=("units",), check=_units_are_rows),
    "nn.matmul": Rule(convert=_without(*_SCHEDULING), checked=("units",), check=_units_are_columns),
    "nn.batch_matmul": Rule({"transpose_b": False}, _without(*_SCHEDULING)),
    "nn.leaky_relu": Rule({"alpha": 0.25}),
    "nn.lrn": Rule({"alpha": 1e-4}),
    "nn.max_pool2d": _POOL,
    "nn.avg_pool2d": _POOL,
    "nn.global_avg_pool2d": _GLOBAL_POOL,
    "nn.global_max_pool2d": _GLOBAL_POOL,
    "nn.pad": Rule(convert=_pad),
    **dict.fromkeys(("sum", "mean", "max", "min", "prod", "all", "any"), _REDUCTION),
    **dict.fromkeys(("argmax", "argmin"), _REDUCTION),
    "reshape": Rule(convert=_listed("newshape")),
    "transpose": Rule(convert=_empty_is_absent("axes")),
    "squeeze": Rule(convert=_listed("axis")),
    "strided_slice": Rule(
        convert=_both(_listed("begin", "end"), _empty_is_absent("strides", "axes"))
    ),
    "tile": Rule(convert=_listed("reps")),
    "repeat": Rule(convert=_needs("axis")),
    "reverse": Rule(convert=_needs("axis")),
    "broadcast_to": Rule(convert=_both(_without("dtype"), _listed("shape"))),
}

_NO_RULE = Rule()


@cache
def is_variadic(name: str) -> bool:
    """Whether the operator takes its operands as one tuple in Relay."""
    return any(
        isinstance(definition, VarOperandDef)
        for _, definition in BY_NAME[name].get_irdl_definition().operands
    )


@cache
def gives_tuple(name: str) -> bool:
    """Whether the operator's result is a tuple in Relay, even of one field."""
    results = BY_NAME[name].get_irdl_definition().results
    return len(results) != 1 or isinstance(results[0][1], VarResultDef)


@cache
def operand_count(name: str) -> int | None:
    """How many operands the operator takes; None for one tuple of them."""
    return None if is_variadic(name) else len(BY_NAME[name].get_irdl_definition().operands)


def rule_of(name: str) -> Rule:
    """What is special about the attributes of the operator."""
    return RULES.get(name, _NO_RULE)


def converted(name: str, given: Mapping[str, Any]) -> tuple[Values, Values]:
    """
    The attributes of operator `name` as ours, and those to check: dropped ones and what they need.

    Raises `AttributeProblem`.
    """
    rule = rule_of(name)
    values: Values = dict(rule.defaults)
    for key, value in given.items():
        if value is None or (key.endswith("dtype") and value in ("", "void")):
            values.pop(key, None)
            continue
        if key.endswith("dtype") and value not in ELEMENT_TYPES:
            raise AttributeProblem(f'{key} must be a dtype, but is "{value}"')
        values[key] = value
    dropped = {key: values.pop(key) for key in rule.checked if key in values}
    rule.convert(values)
    return values, {**values, **dropped} if dropped else {}
