"""
The bounds of operators' rounding errors, and the page that states them.

An operator without a bound is *exact*: all levels return the same bits, which are those of its
definition, but for the bits of a NaN. A bound is in units in the last place of the exact result
(`UNITS` says which operators are measured otherwise). `observed.csv` has the greatest errors that
`python tests/record_numbers.py` found; `tests/test_numbers.py` holds every level to the bounds.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.attributes import ELEMENT_TYPES, properties_of
from xrelay.dialects.device import tensor_type
from xrelay.dialects.relay import BY_NAME, broadcast, elementwise, reduce
from xrelay.lowering.linalg.rule_registry import RULES as LINALG
from xrelay.operators.element_types import NUMBER_TYPES
from xrelay.passes.sizes.shape_tensors import ELEMENTWISE, MOVES, REDUCTIONS

FOLLOWED = {*MOVES, *ELEMENTWISE, *REDUCTIONS}
"""The operators whose results shape evaluation may know."""

FAMILIES: Sequence[ModuleType] = (elementwise, broadcast, reduce)
"""The modules that define the operators compared."""

LEVELS: Mapping[str, str] = {
    "machine": "the kernel that the machine runs (`xrelay-run`)",
    "evaluator": "the reference evaluator, which `fold-constants` uses, too",
    "native": "machine code (`--kernels native`, `-t native`)",
    "linalg": "linalg on tensors (`-p linalg`), compiled by upstream passes alone",
    "shapes": "shape evaluation: the elements of integer tensors as sizes, where these are known",
}
FLOAT_LEVELS = ("machine", "evaluator", "native", "linalg")
"""The levels that compute with floats."""

DTYPES = tuple(NUMBER_TYPES)
FLOATS = tuple(name for name in DTYPES if NUMBER_TYPES[name].precision)

ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "cast": {"dtype": "bool"},
    "clip": {"a_min": -1.7, "a_max": 2.3},
    "full": {"shape": (5,)},
    "nn.bias_add": {"axis": 0},
    "nn.gelu": {"approximate": "none"},
    "nn.leaky_relu": {"alpha": 0.3},
    "nn.prelu": {"axis": 0},
    "round": {"ties": "away"},
    **{
        name: {"axis": (1,)}
        for name in ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "sum")
    },
}
"""The attributes of the operators as they are compared."""

_FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "log"),
    *("log10", "log2", "nn.gelu", "power", "sigmoid", "sin", "sinh", "tan", "tanh"),
)

BOUNDS: Mapping[str, tuple[float, float, float]] = {
    **dict.fromkeys(_FUNCTIONS, (0.6, 4, 4)),  # what NumPy promises for vectors on any processor
    "floor_divide": (0, 2, 2),  # the quotient of what the remainder leaves, as NumPy computes it
    "mean": (0.6, 4, 4),
    "prod": (0.6, 20, 20),  # ELEMENTS - 1 products, each rounded
    "rsqrt": (1.5, 1.5, 1.5),  # two roundings
    "sum": (0.6, 4, 4),
}
"""The greatest error for float16, float32 and float64, of the operators that are not exact."""

ELEMENTS = 37
"""The greatest number of elements that reductions combine here."""

MAY_UNDERFLOW = frozenset({"sigmoid"})
"""Operators whose units are at least the least normal number: results below it may be 0."""

UNITS: Mapping[str, str] = {
    "mean": "the mean of the magnitudes",
    "nn.gelu": "the operand",
    "sum": "the sum of the magnitudes",
}
"""The size whose last place is the unit of a bound, where it is not the exact result."""


class Observed(NamedTuple):
    """The greatest error of an operator on elements of a type, by level."""

    operator: str
    dtype: str
    errors: Mapping[str, float]


SCANS = {"cumsum"}
"""Operators that are beside reductions, and have other tests."""


def operators() -> list[str]:
    """Return the names of the operators compared, without `relay.`."""
    modules = {module.__name__ for module in FAMILIES}
    families = {name for name, cls in BY_NAME.items() if cls.__module__ in modules}
    return [name for name in BY_NAME if name in families - SCANS]


def dtypes_of(name: str) -> list[str]:
    """Return the element types that an operator accepts, by NumPy's names."""
    return [dtype for dtype in DTYPES if applied(name, dtype) is not None]


def applied(
    name: str, dtype: str, attrs: Mapping[str, Any] = {}, dims: Sequence[int] = ()
) -> Operation | None:
    """
    Return an operator on the arguments of a block: vectors, or a matrix, of elements of `dtype`.

    They have the dims `dims`, or unknown ones.

    None if it does not accept them. `attrs` take precedence over `ATTRIBUTES`.
    """
    if not dims and name != "full":
        dims = [DYNAMIC_INDEX] * (2 if is_reduction(name) else 1)
    types = [tensor_type(ELEMENT_TYPES[d], list(dims)) for d in operand_dtypes(name, dtype)]
    block, cls = Block(arg_types=types), BY_NAME[name]
    try:
        op = cls.on(block.args, properties_of(cls, {**ATTRIBUTES.get(name, {}), **attrs}))
    except VerifyException:
        return None
    block.add_op(op)
    return op


def operand_dtypes(name: str, dtype: str) -> list[str]:
    """Return the element type of each operand, where that of the numbers is `dtype`."""
    count = len(BY_NAME[name].get_irdl_definition().operands)
    return ["bool", dtype, dtype] if name == "where" else [dtype] * count


def is_reduction(name: str) -> bool:
    """Test whether an operator reduces a matrix to a vector here."""
    return BY_NAME[name].__module__ == reduce.__name__


def may_return_either_zero(name: str) -> bool:
    """Test whether the documentation of an operator leaves the sign of a zero result open."""
    text = " ".join((BY_NAME[name].__doc__ or "").split())
    return "sign of a zero result is unspecified" in text


def bound_of(name: str, dtype: str) -> float | None:
    """Return the bound of an operator on elements of a type; None if it is exact there."""
    return BOUNDS[name][FLOATS.index(dtype)] if name in BOUNDS and dtype in FLOATS else None


# ---------------------------------------------------------------------- the page


def observed() -> list[Observed]:
    """Return the errors that were recorded."""
    text = Path(__file__).with_name("observed.csv").read_text(encoding="utf-8")
    return [
        Observed(
            row["operator"],
            row["dtype"],
            {level: float(row[level]) for level in FLOAT_LEVELS},
        )
        for row in csv.DictReader(text.splitlines())
    ]


def parts() -> Iterator[str | tuple[Sequence[str], Sequence[Sequence[str]]]]:
    """Yield the paragraphs and the tables of the page: columns and rows."""
    yield (
        "What elementwise operators, comparisons, casts and reductions compute, at every level, "
        "compared with definitions that are not ours: Python's integers and fractions, the C "
        "library's `fmod` and `sqrt`, NumPy in 80-bit floats for float16 and float32, and mpmath "
        "for float64. The operands are the edges of each element type (least and greatest "
        "numbers, zeros of both signs, subnormals, NaN, infinities, the bounds of other types, "
        "halves), all pairs of them, and random numbers, in arrays of many elements, one and none."
    )
    yield "\n".join(f"- *{level}*: {text}" for level, text in LEVELS.items())
    either = _names(filter(may_return_either_zero, operators()))
    yield "## Exact"
    yield (
        "The results are those of the definition, bit for bit. Any NaN equals any other; "
        f"{either} may return a zero of either sign for a zero. Casts of floats to integers "
        "truncate and saturate, and NaN is 0. An element that shape evaluation does not know is "
        "computed when the program runs."
    )
    exact: list[Sequence[str]] = []
    for name in sorted(operators()):
        dtypes = [dtype for dtype in dtypes_of(name) if bound_of(name, dtype) is None]
        if dtypes:
            exact.append([f"`{name}`", _listed(dtypes), *(_exact(name, level) for level in LEVELS)])
    yield ("operator", "elements", *LEVELS), exact
    yield "## Rounded"
    yield (
        "Errors are in units in the last place (ulp) of the exact result, or of what the last "
        "column names; rounding the exact result takes up to half a unit. The bound holds at every "
        "level. The errors are the greatest that `python tests/record_numbers.py` found: for "
        "float16 over all numbers, if there is one operand. Reductions combine up to "
        f"{ELEMENTS} elements. Results are infinite or NaN where those of the definition are, but "
        "for errors within the bound beyond the greatest number. Results of "
        f"{_names(MAY_UNDERFLOW)} below the least normal number may be 0."
    )
    rounded: list[Sequence[str]] = []
    for name, dtype, errors in observed():
        shown = [f"{errors[level]:.3g}" for level in errors]
        unit = UNITS.get(name, "the result")
        rounded.append([f"`{name}`", dtype, f"{bound_of(name, dtype):g}", *shown, unit])
    yield ("operator", "elements", "bound", *FLOAT_LEVELS, "units of"), rounded


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _exact(name: str, level: str) -> str:
    """Return whether a level computes an operator, in a word."""
    known = {"native": LINALG, "linalg": LINALG, "shapes": FOLLOWED}.get(level)
    return "exact" if known is None or f"relay.{name}" in known else ""


def _listed(dtypes: Sequence[str]) -> str:
    kinds = {
        "any": list(DTYPES),
        "integers and floats": [dtype for dtype in DTYPES if dtype != "bool"],
        "integers": [dtype for dtype in DTYPES if "int" in dtype],
        "floats": list(FLOATS),
    }
    return next((kind for kind, all in kinds.items() if all == dtypes), ", ".join(dtypes))
