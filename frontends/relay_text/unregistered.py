"""
Operators that the dialect does not have, where `--allow-unregistered-dialect` permits them.

    nn.fancy(%x, depth=3) /* ty=Tensor[(4), float32] */
    ->
    %y = "relay.nn.fancy"(%x) {depth = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>

The type of the result is what TVM's printer notes behind the call, or what its use demands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, SSAValue

from . import syntax as ast
from .writer import Value

if TYPE_CHECKING:
    from .emit import Emitter

_NOTED = re.compile(r"\s*/\*\s*ty=(.*?)(?:\s+span=.*?)?\s*\*/", re.DOTALL)


def opaque_call(emitter: Emitter, name: str, args: Sequence[SSAValue], call: ast.Call) -> Value:
    """A call of an operator about which nothing is known but its name."""
    from .functions import attributes_of

    attributes = attributes_of(emitter, call.attrs, call.at)
    type = noted_type(emitter, call) or emitter.solver.fresh()
    op = UnregisteredOp.with_name(f"relay.{name}").create(
        operands=args,
        result_types=[type],
        attributes={} if attributes is None else attributes.data,
    )
    return emitter.value(op, call.at)


def noted_type(emitter: Emitter, call: ast.Call) -> Attribute | None:
    """The type in the comment `/* ty=… */` behind `call`, if there is one that can be read."""
    from .errors import Places, RelayTextError
    from .lexer import tokenize
    from .metadata import Metadata
    from .type_grammar import TypeGrammar

    match = _NOTED.match(emitter.source, call.end)
    if match is None:
        return None
    places = Places("", match[1])
    try:
        grammar = TypeGrammar(tokenize(match[1], places), places, Metadata(None))
        type = grammar.type()
        grammar.take("end")
    except RelayTextError:
        return None
    return emitter.annotation(type)
