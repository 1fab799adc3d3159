"""Types and definitions of data types in TVM's JSON."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TupleType
from xdsl.ir import Attribute, TypeAttribute

from ....dialects.device import tensor_type
from ....dialects.memory import StorageType
from ....dialects.relay.language.language_types import AdtType, RefType, TypeVarType, substituted
from ..text import syntax as ast
from ..text.attribute_grammar import MAX_NESTED
from ..text.type_grammar import HOLE, STORAGE
from .node_graph import GraphError, NodeGraph, Parts, Unread
from .saved_arrays import element_type_of


def kind(graph: NodeGraph, number: int) -> str:
    """Return the kind of node `number`, without the prefix that only some kinds have."""
    return graph.key(number).removeprefix("relay.")


class TypeReader:
    """Reads the types of a graph; equal nodes become one type."""

    def __init__(self, graph: NodeGraph):
        self.graph = graph
        self.types: list[ast.TypeData] = []
        self.names = ast.Names()
        self._types: dict[int, Attribute] = {}
        self._reading: set[int] = set()
        self._parts = Parts()

    def optional_type(self, number: int) -> Attribute | None:
        """Read the type of node `number`; None when it is null or unknown."""
        if kind(self.graph, number) in ("", "IncompleteType"):
            return None
        return self.type(number)

    def type(self, number: int) -> Attribute:
        """Read the type of node `number`."""
        known = self._types.get(number)
        if known is None:
            if number in self._reading:
                raise GraphError(f"node {number} contains itself")
            if len(self._reading) == MAX_NESTED:
                raise GraphError(f"types are nested more than {MAX_NESTED} levels deep")
            self._reading.add(number)
            with self._parts.of(number):
                known = self._types[number] = self._read(number)
            self._reading.discard(number)
        self._parts.add(number)
        return known

    def _read(self, number: int) -> Attribute:
        graph = self.graph
        match kind(graph, number):
            case "" | "IncompleteType":
                return HOLE
            case "TensorType":
                return self._tensor(number)
            case "TupleType":
                fields = tuple(self.type(n) for n in graph.children(number, "fields"))
                return TupleType(cast("tuple[TypeAttribute, ...]", fields))
            case "FuncType":
                params = [self.type(n) for n in graph.children(number, "arg_types")]
                type = FunctionType.from_lists(params, [self.type(graph.child(number, "ret_type"))])
                own = self.type_params(graph.children(number, "type_params"))
                return substituted(type, dict.fromkeys(own, HOLE))
            case "RefType":
                return RefType(self.type(graph.child(number, "value")))
            case "TypeVar":
                return TypeVarType(self.name(number))
            case "GlobalTypeVar":
                return self._adt(number, self.name(number), [])
            case "TypeCall":
                name = self.name(graph.child(number, "func"))
                args = [self.type(n) for n in graph.children(number, "args")]
                return self._adt(number, name, args)
            case _:
                raise GraphError(f"a {graph.key(number)} (node {number}) is not a type")

    def _tensor(self, number: int) -> Attribute:
        graph = self.graph
        values: list[Any] = [graph.value(n) for n in graph.children(number, "shape")]
        dims = [DYNAMIC_INDEX if isinstance(d, Unread) and d.is_dim else d for d in values]
        if any(not isinstance(dim, int) or not -(2**63) <= dim < 2**63 for dim in dims):
            raise GraphError(f"the dims of node {number} must be numbers or Any")
        dtype = graph.field(number, "dtype")
        element = element_type_of(dtype)
        if element is None:
            raise GraphError(f"the dtype {dtype} (node {number}) is not supported")
        return tensor_type(element, cast("list[int]", dims))

    def _adt(self, number: int, name: str, args: list[Attribute]) -> Attribute:
        own = any(t.name == STORAGE and not ast.is_empty(t) for t in self.types)
        if name == STORAGE and not args and not own:
            return StorageType()
        self.names.types.setdefault((name, len(args)), number)
        return AdtType(name, args)

    def name(self, number: int) -> str:
        """Return the name of a type variable or a constructor."""
        return self.graph.text(self.graph.child(number, "name_hint"))

    def type_params(self, numbers: list[int]) -> list[str]:
        """Return the names of type parameters."""
        names = [self.name(n) for n in numbers]
        if len(set(names)) != len(names):
            raise GraphError(f"duplicate type parameter in {', '.join(names)}")
        return names

    def type_data(self, number: int) -> ast.TypeData:
        """Read the definition of a data type."""
        graph = self.graph
        constructors = tuple(
            ast.Constructor(n, self.name(n), tuple(map(self.type, graph.children(n, "inputs"))))
            for n in graph.children(number, "constructors")
        )
        params = self.type_params(graph.children(number, "type_vars"))
        name = self.name(graph.child(number, "header"))
        return ast.TypeData(number, name, tuple(params), constructors, extern=False)
