"""The conversion of each ONNX operator: a rule per operator, a file per family."""

from collections.abc import Mapping

from ....runtime.plugin_tables import load_tables
from .activations import RULES as ACTIVATIONS
from .constants import RULES as CONSTANTS
from .control_flow import RULES as CONTROL_FLOW
from .convolution import RULES as CONVOLUTION
from .elementwise import RULES as ELEMENTWISE
from .gathering import RULES as GATHERING
from .indexing import RULES as INDEXING
from .linear import RULES as LINEAR
from .microsoft import RULES as MICROSOFT
from .ml import RULES as ML
from .normalization import RULES as NORMALIZATION
from .pooling import RULES as POOLING
from .quantized import RULES as QUANTIZED
from .recurrent import RULES as RECURRENT
from .reductions import RULES as REDUCTIONS
from .resize import RULES as RESIZE
from .rule import Rules
from .sampling import RULES as SAMPLING
from .scattering import RULES as SCATTERING
from .selection import RULES as SELECTION
from .sequences import RULES as SEQUENCES
from .shapes import RULES as SHAPES
from .signals import RULES as SIGNALS

_DEFAULT: Rules = {
    **ACTIVATIONS,
    **CONSTANTS,
    **CONTROL_FLOW,
    **CONVOLUTION,
    **ELEMENTWISE,
    **GATHERING,
    **INDEXING,
    **LINEAR,
    **NORMALIZATION,
    **POOLING,
    **QUANTIZED,
    **RECURRENT,
    **REDUCTIONS,
    **RESIZE,
    **SAMPLING,
    **SCATTERING,
    **SELECTION,
    **SEQUENCES,
    **SHAPES,
    **SIGNALS,
}


def plugin_rules() -> Mapping[str, Rules]:
    """
    Return the rules that plug-ins have, by domain.

    An entry point of the group `xrelay.onnx` is a table of them. One whose domain is taken is
    skipped with a warning.
    """
    own = {domain: Rules() for domain in RULES}
    words = ("ONNX operators", "table of rules")
    found = load_tables("xrelay.onnx", own, words)
    return {domain: rules for domain, rules in found.items() if domain not in own}


RULES: Mapping[str, Rules] = {"": _DEFAULT, "ai.onnx.ml": ML, "com.microsoft": MICROSOFT}
"""The rules of every supported operator, by the domain of its operator set; "" is ONNX's own."""
