"""
The rules of all installed packages: for each operator, the linalg that computes it.

    RULES["relay.nn.relu"](b, op, [x]) -> [y]

A rule appends to the builder what computes the results of `op` from `operands`, and returns them;
it raises `Unsupported` for an op that it does not cover. `op` has its original operand types, which
tell signed integers from unsigned; `operands` are the new values, of which `tensor_of` tells the
upstream type. A result may have fewer or more static dims than that of `op`: the caller casts it.
A plug-in adds a mapping of rules through the entry-point group `xrelay.linalg`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ...operators.all_rules import MEANINGS
from ...operators.meaning.forms import Opaque
from ...passes.support.diagnostics import PassError
from ...runtime.entry_points import load_tables
from ...runtime.errors import described
from ...runtime.kernels.loading import load_definitions
from .builder import Builder, Rule, Unsupported
from .meant_rules import derived
from .rules import convolution, creation, matmul, pooling, rearrange, reduce, resize, slicing

GROUP = "xrelay.linalg"
"""The entry-point group; each entry names a mapping from operator names to rules."""

RULES: dict[str, Rule] = {
    **convolution.RULES,
    **creation.RULES,
    **matmul.RULES,
    **pooling.RULES,
    **rearrange.RULES,
    **reduce.RULES,
    **resize.RULES,
    **slicing.RULES,
}
"""The rules of this package, by the full name of the operator; most are derived from meanings."""
for _name, _meaning in MEANINGS.items():
    if _name not in RULES and not isinstance(_meaning, Opaque):
        RULES[_name] = derived(_meaning, RULES)

RUNTIME_ONLY: Mapping[str, str] = {
    "relay.argsort": "sorts",
    "relay.argwhere": "as many rows as elements are not 0",
    "relay.dyn.topk": "sorts",
    "relay.random.threefry_generate": "keys and counters by cases, over whole blocks",
    "relay.random.threefry_split": "keys and paths by cases",
    "relay.nn.max_pool2d_grad": "adds each number where the maximum of a window is",
    "relay.scatter_elements": "writes elements one after the other, at indices of run time",
    "relay.sort": "sorts",
    "relay.topk": "sorts",
    "relay.unique": "sorts",
    "relay.vision.all_class_non_max_suppression": "as many rows as boxes are selected",
    "relay.vision.get_valid_counts": "moves rows in an order that depends on their elements",
    "relay.vision.non_max_suppression": "selects boxes one after the other",
}
"""The operators without a rule, and why: native programs call their NumPy kernels."""


def load_rules() -> Mapping[str, Rule]:
    """
    Return the rules of this package and of every entry point of `GROUP`.

    An operator of a plug-in that has a definition, but no rule, has the one of its meaning.
    """
    rules = load_tables(GROUP, RULES, ("linalg rules", "rule"))
    for name, definition in load_definitions().items():
        rules.setdefault(name, _of_plugin(name, derived(definition.meaning, rules)))
    return rules


def _of_plugin(name: str, rule: Rule) -> Rule:
    """Return `rule`, whose formula a plug-in has: what is wrong with that is an error at the op."""

    def convert(b: Builder, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        try:
            return rule(b, op, operands)
        except (Unsupported, DiagnosticException):
            raise
        except Exception as error:
            text = f"{name} cannot be written in linalg: {described(error)}"
            raise PassError(text, op) from error

    return convert


def rules_of(operators: Iterable[str]) -> Mapping[str, Rule]:
    """Return rules for these operators: those of plug-ins are loaded only if one needs them."""
    return RULES if all(name in RULES for name in operators) else load_rules()
