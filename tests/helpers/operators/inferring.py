"""Apply an operator to types written as text; return its result types or its error as text."""

from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.test import Test, TestOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import relay
from xrelay.dialects.attributes import plain_attributes, properties_of
from xrelay.dialects.relay.operator import Operator
from xrelay.operators.all_rules import MEANINGS
from xrelay.operators.meaning.forms import Elementwise

OPERATORS = relay.BY_NAME
"""The operator classes by name, without `relay.`."""

FORMULAS = [
    name
    for name, cls in OPERATORS.items()
    if isinstance(MEANINGS.get(f"relay.{name}"), Elementwise)
    and not cls.get_irdl_definition().properties
]
"""
The operators that are a formula of elements, without attributes.

Samples, random operands, shapes and attributes in TVM follow from that, where tables do not say
more.
"""


def attributes(name: str, **given: Any) -> dict[str, Any]:
    """The attributes that the operator's kernel receives: those `given`, and defaults."""
    return {**plain_attributes(OPERATORS[name].create()), **given}


def context() -> Context:
    """A context with the dialects that tests of operators need."""
    ctx = Context()
    for dialect in (Builtin, Test, relay.Relay):
        ctx.load_dialect(dialect)
    return ctx


def tensor(text: str) -> Attribute:
    """Parse `2x?xf32`, `!…` or `tensor<…>` as a type."""
    text = text if text.startswith(("!", "tensor")) else f"tensor<{text}>"
    return Parser(context(), text).parse_type()


def apply(name: str, operands: str, **attrs: Any) -> Operator:
    """Apply the operator to values of `types`, which are separated by spaces."""
    types = [tensor(text) for text in operands.split()]
    cls = OPERATORS[name]
    op = cls.on(TestOp(result_types=types).results, properties_of(cls, attrs))
    op.verify()
    return op


def infer(name: str, operands: str, **attrs: Any) -> str:
    """The result types, as text like the operands: `2x3xf32 4xi1`."""
    types = [str(result.type) for result in apply(name, operands, **attrs).results]
    return " ".join(type.removeprefix("tensor<").removesuffix(">") for type in types)


def error(name: str, operands: str, **attrs: Any) -> str:
    """The error message of the operator on these types."""
    try:
        op = apply(name, operands, **attrs)
    except VerifyException as e:
        return str(e)
    raise AssertionError(f"no error, but {[str(r.type) for r in op.results]}")
