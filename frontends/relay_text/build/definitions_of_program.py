"""The definitions of a program: data types, constructors, signatures of global functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FileLineColLoc, FunctionType
from xdsl.ir import Block

from ....dialects import relay
from ..errors import SourceMap
from ..text.syntax import Binding, Call, Definition, Local


@dataclass(eq=False, repr=False)
class Signature:
    """A global function: its definition, its type, and the block of its body."""

    definition: Definition
    source_map: SourceMap
    type: FunctionType
    block: Block
    type_params: Sequence[str]
    params: Sequence[Local]
    """With those added for captured values."""


@dataclass(eq=False, repr=False)
class Generic:
    """
    A function with type parameters that a variable names; it is lifted to a global function.

    `own` are its type parameters; its signature also has those of the enclosing functions.
    """

    name: str
    signature: Signature
    own: Sequence[str]
    origin: Signature
    """The function of the program that contains it."""
    hint: Call | None
    """The `on_device` that wraps it."""
    captured: Sequence[Local | Binding]
    """The variables and bindings from outside that it uses: its last parameters."""
    uses: list[relay.InvokeOp | relay.GlobalOp] = field(
        default_factory=list["relay.InvokeOp | relay.GlobalOp"]
    )

    @property
    def type(self) -> FunctionType:
        """The type without what is captured."""
        inputs = self.signature.type.inputs.data
        own = inputs[: len(inputs) - len(self.captured)]
        return FunctionType.from_lists(own, self.signature.type.outputs.data)

    @property
    def symbol(self) -> str:
        """The name of the global function."""
        return self.signature.definition.name


@dataclass(eq=False, repr=False)
class Program:
    """All definitions, by name."""

    types: dict[str, relay.TypeDataOp] = field(default_factory=dict[str, relay.TypeDataOp])
    constructors: dict[str, tuple[relay.TypeDataOp, FileLineColLoc]] = field(
        default_factory=dict[str, "tuple[relay.TypeDataOp, FileLineColLoc]"]
    )
    """The data type of each constructor, and the place of the constructor."""
    functions: dict[str, Signature] = field(default_factory=dict[str, Signature])
