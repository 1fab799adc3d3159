"""
The abstract syntax of a Relay program; `at` is where a thing stands in the text.

Names of locals are resolved: a use holds the `Local` that it names. A graph binding `%0 = e` is
no variable but a node that all its uses share; where it is computed is decided later, so each
knows the regions of its uses. A *region* is what may run or not, or several times: a function's
body, a branch, a case of a match. Types are types of the dialects; `_` is `IncompleteType`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects.device import VirtualDeviceAttr
from .errors import Places

if TYPE_CHECKING:
    from .program import Generic
    from .writer import Several


@dataclass(slots=True, eq=False, repr=False)
class Region:
    """What runs as a whole; `owner` is the graph binding in whose value it stands, if any."""

    outer: Region | None
    owner: Binding | None
    refs: list[Binding] = field(default_factory=list["Binding"])
    """The bindings that are needed before what the region is a part of."""
    around: Region | None = None
    """The region that this one is computed in, once that is known."""
    depth: int = 0
    """How many regions are around, once that is known."""
    block: Block | None = None


@dataclass(slots=True, eq=False, repr=False)
class Local:
    """A variable: a parameter, or what a `let`, a `free_var` or a pattern binds."""

    name: str
    at: int
    type: Attribute | None
    region: Region | None
    device: VirtualDeviceAttr | None = None
    value: SSAValue | Several | Generic | None = None
    """What it stands for, while that is in scope."""


@dataclass(slots=True, eq=False, repr=False)
class Binding:
    """A graph binding: a node of the graph, computed where it is first needed."""

    number: str
    at: int
    region: Region
    refs: list[Binding]
    """The bindings that the value uses outside of regions of its own, in order."""
    value: Expr | None = None
    uses: list[tuple[Region, Binding | None]] = field(
        default_factory=list["tuple[Region, Binding | None]"]
    )
    """The region of each use, and the binding that it is in."""
    pure: bool = True
    """Whether it may be computed early: no effects, no calls of functions."""
    place: Region | None = None
    """Where it is computed; None when nothing needs it."""
    result: Any = None
    """What it was computed to."""


@dataclass(slots=True, eq=False, repr=False)
class Use:
    """A variable."""

    at: int
    local: Local


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A use of a graph binding."""

    at: int
    binding: Binding


@dataclass(slots=True, eq=False, repr=False)
class Global:
    """A global function."""

    at: int
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Scalar:
    """A literal number or truth value of a dtype."""

    at: int
    value: int | float
    dtype: str


@dataclass(slots=True, eq=False, repr=False)
class Dense:
    """A constant tensor of the metadata."""

    at: int
    value: DenseIntOrFPElementsAttr[Any]
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Name:
    """An operator or a constructor."""

    at: int
    name: str


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """A call."""

    at: int
    callee: Expr
    args: list[Expr]
    attrs: dict[str, Any]
    end: int
    """Where the text of the call ends."""
    type: Callable[[], Attribute | None] | None = None
    """Finds the type of the result, where the program says it otherwise than in the text."""


@dataclass(slots=True, eq=False, repr=False)
class Tuple:
    """A tuple."""

    at: int
    fields: list[Expr]


@dataclass(slots=True, eq=False, repr=False)
class Projection:
    """A field of a tuple."""

    at: int
    tuple: Expr
    index: int


@dataclass(slots=True, eq=False, repr=False)
class Body:
    """Statements, then the result; a graph binding stands where the text has it."""

    at: int
    statements: list[Statement | Binding]
    result: Expr
    refs: list[Binding]
    """The bindings that the result uses outside of regions of its own, in order."""


def has_lets(body: Body) -> bool:
    """Whether there is a statement before the result."""
    return any(isinstance(s, Statement) for s in body.statements)


@dataclass(slots=True, eq=False, repr=False)
class Statement:
    """`let %x = value`, or `value;`, which is a `let` of no variable."""

    at: int
    local: Local | None
    value: Expr
    refs: list[Binding]


@dataclass(slots=True, eq=False, repr=False)
class If:
    """A choice between two bodies."""

    at: int
    condition: Expr
    then: Body
    then_region: Region
    other: Body
    other_region: Region


@dataclass(slots=True, eq=False, repr=False)
class Function:
    """A function: a closure, or what a `def` defines."""

    at: int
    type_params: list[str]
    params: list[Local]
    attrs: dict[str, Any]
    result: Attribute | None
    device: VirtualDeviceAttr | None
    region: Region
    body: Body
    bindings: list[Binding]
    """Of a `def`: all its graph bindings, in the order in which their values end."""
    branches: bool = False
    """Of a `def`: whether it has regions inside."""


@dataclass(slots=True, eq=False, repr=False)
class Wildcard:
    """Fits all."""

    at: int


@dataclass(slots=True, eq=False, repr=False)
class Variable:
    """Fits all, and names it."""

    at: int
    local: Local


@dataclass(slots=True, eq=False, repr=False)
class Constructed:
    """Fits what a constructor made; `fields` is None when they are left out."""

    at: int
    name: str
    fields: list[Pattern] | None


@dataclass(slots=True, eq=False, repr=False)
class Fields:
    """Fits a tuple."""

    at: int
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

    at: int
    data: Expr
    cases: list[Case]
    complete: bool


@dataclass(slots=True, eq=False, repr=False)
class RefCreate:
    """A new cell."""

    at: int
    value: Expr


@dataclass(slots=True, eq=False, repr=False)
class RefRead:
    """What a cell holds."""

    at: int
    ref: Expr


@dataclass(slots=True, eq=False, repr=False)
class RefWrite:
    """A cell gets a value."""

    at: int
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

    at: int
    name: str
    fields: list[Attribute]


@dataclass(slots=True, eq=False, repr=False)
class TypeData:
    """The definition of a data type."""

    at: int
    name: str
    params: list[str]
    constructors: list[Constructor]
    extern: bool


def is_empty(data: TypeData) -> bool:
    """Whether a data type has neither parameters nor constructors."""
    return not data.params and not data.constructors


@dataclass(slots=True, eq=False, repr=False)
class Definition:
    """`def @name`."""

    at: int
    name: str
    function: Function


@dataclass(slots=True, eq=False, repr=False)
class Module:
    """A program, and the names that it uses: what it does not define may be in the prelude."""

    places: Places
    types: list[TypeData] = field(default_factory=list[TypeData])
    functions: list[Definition] = field(default_factory=list[Definition])
    type_uses: dict[tuple[str, int], int] = field(default_factory=dict["tuple[str, int]", int])
    """Data types by name and number of arguments, and where each is named first."""
    names: dict[str, int] = field(default_factory=dict[str, int])
    """Operators and constructors, and where each is named first."""
    globals: dict[str, int] = field(default_factory=dict[str, int])
    """Global functions, and where each is named first."""
