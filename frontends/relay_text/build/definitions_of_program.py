"""The definitions of a program: data types, constructors, signatures of global functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FileLineColLoc, FunctionType
from xdsl.ir import Block, SSAValue

from ....dialects import relay
from ..errors import SourceMap
from ..text.syntax import Call, Definition


@dataclass(eq=False, repr=False)
class Signature:
    """A global function: its definition, its type, and the block of its body."""

    definition: Definition
    source_map: SourceMap
    type: FunctionType
    block: Block
    type_params: Sequence[str]


@dataclass(eq=False, repr=False)
class Generic:
    """A closure with type parameters that a variable names."""

    name: str
    own: Sequence[str]
    """Its type parameters."""
    hint: Call | None
    """The `on_device` that wraps it."""
    value: SSAValue = field(init=False)
    """The closure, or inside of it the closure itself."""

    @property
    def type(self) -> FunctionType:
        """The type, in which the type parameters are variables."""
        assert isinstance(self.value.type, FunctionType)
        return self.value.type


@dataclass(eq=False, repr=False)
class Program:
    """All definitions, by name."""

    types: dict[str, relay.TypeDataOp] = field(default_factory=dict[str, relay.TypeDataOp])
    constructors: dict[str, tuple[relay.TypeDataOp, FileLineColLoc]] = field(
        default_factory=dict[str, "tuple[relay.TypeDataOp, FileLineColLoc]"]
    )
    """The data type of each constructor, and the place of the constructor."""
    functions: dict[str, Signature] = field(default_factory=dict[str, Signature])
