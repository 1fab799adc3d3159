"""The definitions of a program: data types, constructors, signatures of global functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Block

from ....dialects import relay
from ..errors import SourceMap
from ..text.syntax import Call, Constructor, Definition, Local, TypeData


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
    uses: list[relay.InvokeOp | relay.GlobalOp] = field(
        default_factory=list["relay.InvokeOp | relay.GlobalOp"]
    )

    @property
    def symbol(self) -> str:
        """The name of the global function."""
        return self.signature.definition.name


@dataclass(eq=False, repr=False)
class DataType:
    """A data type and where it is defined."""

    definition: TypeData
    source_map: SourceMap

    def type(self) -> relay.AdtType:
        """Return the type applied to its own parameters."""
        return relay.AdtType(
            self.definition.name, [relay.TypeVarType(p) for p in self.definition.params]
        )


@dataclass(eq=False, repr=False)
class ConstructorInfo:
    """A constructor and its data type."""

    definition: Constructor
    source_map: SourceMap
    of: DataType

    @property
    def fields(self) -> Sequence[Attribute]:
        return self.definition.fields


@dataclass(eq=False, repr=False)
class Program:
    """All definitions, by name."""

    types: dict[str, DataType] = field(default_factory=dict[str, DataType])
    constructors: dict[str, ConstructorInfo] = field(default_factory=dict[str, ConstructorInfo])
    functions: dict[str, Signature] = field(default_factory=dict[str, Signature])
    _type_ops: dict[str, relay.TypeDataOp] = field(default_factory=dict[str, relay.TypeDataOp])

    def type_op(self, name: str) -> relay.TypeDataOp | None:
        """Return the definition of a data type as an op without a parent."""
        data, op = self.types.get(name), self._type_ops.get(name)
        if op is None and data is not None:
            definition = data.definition
            constructors = [(c.name, c.fields) for c in definition.constructors]
            op = relay.TypeDataOp(name, definition.params, constructors, definition.extern)
            op.location = data.source_map.location(definition.offset)
            self._type_ops[name] = op
        return op
