"""The conversion of each ONNX operator: a rule per operator, a file per family."""

from collections.abc import Mapping

from ....runtime.entry_points import load_tables
from . import (
    activations,
    constants,
    control_flow,
    convolution,
    elementwise,
    gathering,
    indexing,
    linear,
    microsoft,
    ml,
    normalization,
    pooling,
    quantized,
    recurrent,
    reductions,
    resize,
    sampling,
    selection,
    sequences,
    shapes,
    signals,
)
from .rule import Rules

_FAMILIES = (
    *(activations, constants, control_flow, convolution, elementwise, gathering, indexing, linear),
    *(normalization, pooling, quantized, recurrent, reductions, resize, sampling),
    *(selection, sequences, shapes, signals),
)


def plugin_rules() -> Mapping[str, Rules]:
    """
    Return the rules that plug-ins have, by domain.

    An entry point of the group `xrelay.onnx` is a table of them. One whose domain is taken is
    skipped with a warning.
    """
    own = {domain: Rules() for domain in RULES}
    words = ("ONNX operators", "table of rules")
    tables = load_tables("xrelay.onnx", own, words)
    return {domain: rules for domain, rules in tables.items() if domain not in own}


RULES: Mapping[str, Rules] = {
    "": {
        **{name: rules for family in _FAMILIES for name, rules in family.RULES.items()},
        **microsoft.ONNX_RULES,
    },
    "ai.onnx.ml": ml.RULES,
    "com.microsoft": microsoft.RULES,
}
"""The rules of every supported operator, by the domain of its operator set; "" is ONNX's own."""
