"""
The abstract syntax of a Relay program: an immutable tree that knows no IR.

    %0 = nn.relu(%x);            Binding "0" of Call(Name "nn.relu", [Use of Local "x"])
    add(%0, %0)           ->     Call(Name "add", [Node of that Binding, Node of that Binding])

`offset` is the place of a node in the text (in a saved module: its number). Nodes are compared by
identity, so that what is known of a node is in tables by node: its region and uses in
`build/binding_scopes.py`, its value in `build/build_context.py`. Names of locals are resolved:
a use holds the `Local` that it names. A graph binding `%0 = e` is not a variable but a node that
all its uses share. Types are types of the dialects; `_` is `IncompleteType`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, dataclass_transform

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

from ....dialects.device import VirtualDeviceAttr
from ..errors import SourceMap

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[T]) -> type[T]:
    """Make `cls` a node of the tree: immutable, and compared by identity."""
    return dataclass(slots=True, frozen=True, eq=False, repr=False)(cls)


@node
class Local:
    """A variable: a parameter, or one bound by a `let`, a `free_var` or a pattern."""

    name: str
    offset: int
    type: Attribute | None
    device: VirtualDeviceAttr | None = None


@node
class Binding:
    """A graph binding: a node of the graph, computed where it is first needed."""

    number: str
    offset: int
    value: Expr


@node
class Use:
    """A use of a variable."""

    offset: int
    local: Local


@node
class Node:
    """A use of a graph binding."""

    offset: int
    binding: Binding


@node
class Global:
    """A global function."""

    offset: int
    name: str


@node
class Scalar:
    """A literal number or truth value of a dtype."""

    offset: int
    value: int | float
    dtype: str


@node
class Dense:
    """A constant tensor of the metadata."""

    offset: int
    value: DenseIntOrFPElementsAttr[Any]
    name: str


@node
class Name:
    """An operator or a constructor."""

    offset: int
    name: str


@node
class Call:
    """A call of an operator, a constructor or a function."""

    offset: int
    callee: Expr
    args: tuple[Expr, ...]
    attrs: Mapping[str, Any]
    end: int
    """Offset of the end of the call."""

    @property
    def name(self) -> str:
        """The operator or constructor that is called; "" for a function."""
        return self.callee.name if isinstance(self.callee, Name) else ""


@node
class Tuple:
    """A tuple."""

    offset: int
    fields: tuple[Expr, ...]


@node
class Projection:
    """A field of a tuple."""

    offset: int
    tuple: Expr
    index: int


@node
class Body:
    """Statements, then the result; a graph binding is where the text has it."""

    offset: int
    statements: tuple[Statement | Binding, ...]
    result: Expr


def has_lets(body: Body) -> bool:
    """Return whether there is a statement before the result."""
    return any(isinstance(s, Statement) for s in body.statements)


@node
class Statement:
    """`let %x = value`, or `value;`, which is a `let` without a variable."""

    offset: int
    local: Local | None
    value: Expr


@node
class If:
    """A choice between two bodies."""

    offset: int
    condition: Expr
    then: Body
    other: Body


@node
class Function:
    """A function: a closure, or the function that a `def` defines."""

    offset: int
    type_params: tuple[str, ...]
    params: tuple[Local, ...]
    attrs: Mapping[str, Any]
    result: Attribute | None
    device: VirtualDeviceAttr | None
    body: Body


@node
class Wildcard:
    """A pattern that matches anything."""

    offset: int


@node
class Variable:
    """A pattern that matches anything and binds it."""

    offset: int
    local: Local


@node
class Constructed:
    """A pattern that matches values of a constructor; `fields` is None when omitted."""

    offset: int
    name: str
    fields: tuple[Pattern, ...] | None


@node
class Fields:
    """A pattern that matches a tuple."""

    offset: int
    fields: tuple[Pattern, ...]


Pattern: TypeAlias = Wildcard | Variable | Constructed | Fields


@node
class Case:
    """A case of a match."""

    pattern: Pattern
    body: Body


@node
class Match:
    """A choice by the shape of a value."""

    offset: int
    data: Expr
    cases: tuple[Case, ...]
    complete: bool


@node
class Cell:
    """The creation of a cell (`ref`), or a read (`ref_read`) or a write (`ref_write`) of one."""

    offset: int
    word: str
    operands: tuple[Expr, ...]


Simple: TypeAlias = Use | Node | Global | Scalar | Dense | Name
Expr: TypeAlias = Simple | Call | Tuple | Projection | Body | If | Function | Match | Cell


def operands(expr: Expr) -> Sequence[Expr]:
    """Return the expressions that `expr` needs first, in its own region."""
    match expr:
        case Call():
            return expr.args if isinstance(expr.callee, Name) else (expr.callee, *expr.args)
        case Tuple():
            return expr.fields
        case Projection():
            return (expr.tuple,)
        case If():
            return (expr.condition,)
        case Match():
            return (expr.data,)
        case Cell():
            return expr.operands
        case _:
            return ()


def inner(expr: Expr) -> Sequence[Expr]:
    """Return the expressions that `expr` is made of, except the values of graph bindings."""
    match expr:
        case Body():
            values = (s.value for s in expr.statements if isinstance(s, Statement))
            return (*values, expr.result)
        case Function():
            return (expr.body,)
        case If():
            return (expr.condition, expr.then, expr.other)
        case Match():
            return (expr.data, *(case.body for case in expr.cases))
        case _:
            return operands(expr)


@node
class Constructor:
    """A constructor of a data type."""

    offset: int
    name: str
    fields: tuple[Attribute, ...]


@node
class TypeData:
    """The definition of a data type."""

    offset: int
    name: str
    params: tuple[str, ...]
    constructors: tuple[Constructor, ...]
    extern: bool


def is_empty(data: TypeData) -> bool:
    """Return whether a data type has neither parameters nor constructors."""
    return not data.params and not data.constructors


@node
class Definition:
    """`def @name`."""

    offset: int
    name: str
    function: Function


@dataclass(slots=True, eq=False, repr=False)
class Names:
    """The names that a program uses."""

    types: dict[tuple[str, int], int] = field(default_factory=dict["tuple[str, int]", int])
    """Data types, by name and number of arguments, with the offset of the first use."""
    symbols: set[str] = field(default_factory=set[str])
    """Operators, constructors, and global functions, which have an `@`."""


@node
class Module:
    """A program, and the names that it uses, which the prelude may define."""

    source_map: SourceMap
    types: tuple[TypeData, ...]
    functions: tuple[Definition, ...]
    names: Names
    noted_type: Callable[[Call], Attribute | None]
    """Returns the type that the program notes beside a call: in a comment, or in a saved node."""
    operator: Name | None = None
    """The operator that is the whole program, if it is one."""
