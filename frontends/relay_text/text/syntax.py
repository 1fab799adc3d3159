"""
The abstract syntax of a Relay program; `offset` is the position of a node in the text.

Names of locals are resolved: a use holds the `Local` that it names. A graph binding `%0 = e` is
not a variable but a node shared by all its uses. Where it is computed is decided later, so each
binding records the regions of its uses. A *region* is code that may run once, several times or
not at all: a function's body, a branch, a case of a match. Types are types of the dialects; `_`
is `IncompleteType`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Block

from ....dialects.device import VirtualDeviceAttr
from ..errors import SourceMap

if TYPE_CHECKING:
    pass


@dataclass(slots=True, eq=False, repr=False)
class Region:
    """
    A region that executes as a unit.

    `owner` is the graph binding whose value contains it, or None.
    """

    outer: Region | None
    owner: Binding | None
    refs: list[Binding] = field(default_factory=list["Binding"])
    """The bindings that must be computed before what contains the region."""
    parent: Region | None = None
    """The region that encloses this one in the IR, once known."""
    depth: int = 0
    """The number of enclosing regions, once known."""
    block: Block | None = None


@dataclass(slots=True, eq=False, repr=False)
class Local:
    """A variable: a parameter, or one bound by a `let`, a `free_var` or a pattern."""

    name: str
    offset: int
    type: Attribute | None
    region: Region | None
    device: VirtualDeviceAttr | None = None
    value: Any = None
    """The value bound to the variable while it is in scope: a `Value`, or a `program.Generic`."""


@dataclass(slots=True, eq=False, repr=False)
class Binding:
    """A graph binding: a node of the graph, computed where it is first needed."""

    number: str
    offset: int
    region: Region
    refs: list[Binding]
    """The bindings that the value uses outside its own regions, in order."""
    value: Expr | None = None
    uses: list[tuple[Region, Binding | None]] = field(
        default_factory=list["tuple[Region, Binding | None]"]
    )
    """For each use, its region and the binding that contains it."""
    pure: bool = True
    """True if it may be computed early: it has no effects and calls no functions."""
    place: Region | None = None
    """The region that computes it; None when it is not needed."""
    result: Any = None
    """The value computed."""


@dataclass(slots=True, eq=False, repr=False)
class Use:
    """A use of a variable."""

    offset: int
    local: Local


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A use of a graph binding."""

    offset: int
    binding: Binding


@dataclass(slots=True, eq=False, repr=False)
class Global:
    """A global function."""

    offset: int
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Scalar:
    """A literal number or truth value of a dtype."""

    offset: int
    value: int | float
    dtype: str


@dataclass(slots=True, eq=False, repr=False)
class Dense:
    """A constant tensor of the metadata."""

    offset: int
    value: DenseIntOrFPElementsAttr[Any]
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Name:
    """An operator or a constructor."""

    offset: int
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """A call of an operator, a constructor or a function."""

    offset: int
    callee: Expr
    args: list[Expr]
    attrs: dict[str, Any]
    end_offset: int
    """Offset of the end of the call."""
    type: Callable[[], Attribute | None] | None = None
    """Returns the type of the result, if the program states it other than in the text."""


@dataclass(slots=True, eq=False, repr=False)
class Tuple:
    """A tuple."""

    offset: int
    fields: list[Expr]


@dataclass(slots=True, eq=False, repr=False)
class Projection:
    """A field of a tuple."""

    offset: int
    tuple: Expr
    index: int


@dataclass(slots=True, eq=False, repr=False)
class Body:
    """Statements, then the result; a graph binding is where the text has it."""

    offset: int
    statements: list[Statement | Binding]
    result: Expr
    refs: list[Binding]
    """The bindings that the result uses outside its own regions, in order."""


def has_lets(body: Body) -> bool:
    """Return whether there is a statement before the result."""
    return any(isinstance(s, Statement) for s in body.statements)


@dataclass(slots=True, eq=False, repr=False)
class Statement:
    """`let %x = value`, or `value;`, which is a `let` without a variable."""

    offset: int
    local: Local | None
    value: Expr
    refs: list[Binding]


@dataclass(slots=True, eq=False, repr=False)
class If:
    """A choice between two bodies."""

    offset: int
    condition: Expr
    then: Body
    then_region: Region
    other: Body
    other_region: Region


@dataclass(slots=True, eq=False, repr=False)
class Function:
    """A function: a closure, or the function that a `def` defines."""

    offset: int
    type_params: list[str]
    params: list[Local]
    attrs: dict[str, Any]
    result: Attribute | None
    device: VirtualDeviceAttr | None
    region: Region
    body: Body
    bindings: list[Binding]
    """For a `def`: all its graph bindings, in the order in which their values end."""
    branches: bool = False
    """For a `def`: whether it contains regions."""


@dataclass(slots=True, eq=False, repr=False)
class Wildcard:
    """A pattern that matches anything."""

    offset: int


@dataclass(slots=True, eq=False, repr=False)
class Variable:
    """A pattern that matches anything and binds it."""

    offset: int
    local: Local


@dataclass(slots=True, eq=False, repr=False)
class Constructed:
    """A pattern that matches values of a constructor; `fields` is None when omitted."""

    offset: int
    name: str
    fields: list[Pattern] | None


@dataclass(slots=True, eq=False, repr=False)
class Fields:
    """A pattern that matches a tuple."""

    offset: int
    fields: list[Pattern]


Pattern: TypeAlias = Wildcard | Variable | Constructed | Fields


@dataclass(slots=True, eq=False, repr=False)
class Case:
    """A case of a match."""

    pattern: Pattern
    region: Region
    body: Body


@dataclass(slots=True, eq=False, repr=False)
class Match:
    """A choice by the shape of a value."""

    offset: int
    data: Expr
    cases: list[Case]
    complete: bool


@dataclass(slots=True, eq=False, repr=False)
class RefCreate:
    """The creation of a cell."""

    offset: int
    value: Expr


@dataclass(slots=True, eq=False, repr=False)
class RefRead:
    """A read of a cell."""

    offset: int
    ref: Expr


@dataclass(slots=True, eq=False, repr=False)
class RefWrite:
    """A write to a cell."""

    offset: int
    ref: Expr
    value: Expr


Expr: TypeAlias = (
    Use
    | Node
    | Global
    | Scalar
    | Dense
    | Name
    | Call
    | Tuple
    | Projection
    | Body
    | If
    | Function
    | Match
    | RefCreate
    | RefRead
    | RefWrite
)


@dataclass(slots=True, eq=False, repr=False)
class Constructor:
    """A constructor of a data type."""

    offset: int
    name: str
    fields: list[Attribute]


@dataclass(slots=True, eq=False, repr=False)
class TypeData:
    """The definition of a data type."""

    offset: int
    name: str
    params: list[str]
    constructors: list[Constructor]
    extern: bool


def is_empty(data: TypeData) -> bool:
    """Return whether a data type has neither parameters nor constructors."""
    return not data.params and not data.constructors


@dataclass(slots=True, eq=False, repr=False)
class Definition:
    """`def @name`."""

    offset: int
    name: str
    function: Function


@dataclass(slots=True, eq=False, repr=False)
class Module:
    """A program, and the names that it uses, which the prelude may define."""

    source_map: SourceMap
    types: list[TypeData] = field(default_factory=list[TypeData])
    functions: list[Definition] = field(default_factory=list[Definition])
    type_uses: dict[tuple[str, int], int] = field(default_factory=dict["tuple[str, int]", int])
    """Data types by name and number of arguments, with the offset of their first use."""
    names: dict[str, int] = field(default_factory=dict[str, int])
    """Operators and constructors, with the offset of their first use."""
    globals: dict[str, int] = field(default_factory=dict[str, int])
    """Global functions, with the offset of their first use."""
    operator: Name | None = None
    """The operator that is the whole program, if it is one."""
