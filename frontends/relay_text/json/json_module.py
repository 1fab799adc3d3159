"""
Read modules saved by `tvm.ir.save_json` into syntax; every node becomes a graph binding.

A node is bound before the statement or result that reaches it first; further references are uses of
the same binding. The line of a location is the number of the node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FileLineColLoc, FunctionType, IntAttr, TupleType
from xdsl.ir import Attribute, TypeAttribute

from ....dialects.device import VirtualDeviceAttr, tensor_type
from ....dialects.memory import StorageType
from ....dialects.relay.language.language_types import AdtType, RefType, TypeVarType, substituted
from ..errors import SourceMap
from ..text import syntax as ast
from ..text.type_grammar import HOLE, MAX_NESTED
from ..type_texts import STORAGE
from .node_graph import Attrs, GraphError, NodeGraph, Shared, Unread
from .saved_arrays import element_type_of


class NodeMap(SourceMap):
    """Maps node numbers to lines."""

    def location(self, at: int) -> FileLineColLoc:
        return FileLineColLoc(self.file, IntAttr(max(1, at)), IntAttr(1))


def module_of(graph: NodeGraph, name: str) -> ast.Module:
    """Read the program whose root is an `IRModule`; raises `GraphError`."""
    return _ModuleReader(graph).read(NodeMap(name, ""))


_OPERANDS: Mapping[str, Sequence[str]] = {
    "Call": ("op", "args"),
    "Tuple": ("fields",),
    "TupleGetItem": ("tuple_value",),
    "If": ("cond",),
    "Function": (),
    "Match": ("data",),
    "RefCreate": ("value",),
    "RefRead": ("ref",),
    "RefWrite": ("ref", "value"),
}
"""The fields of the expressions that become graph bindings with what they use themselves."""
_LISTS = ("args", "fields")
_CELLS = {"RefCreate": "ref", "RefRead": "ref_read", "RefWrite": "ref_write"}


def kind(graph: NodeGraph, number: int) -> str:
    """Return the kind of node `number`, without the prefix that only some kinds have."""
    return graph.key(number).removeprefix("relay.")


class _ModuleReader:
    def __init__(self, graph: NodeGraph):
        self.graph = graph
        self.names = ast.Names()
        self._type_definitions: list[ast.TypeData] = []
        self._type: Callable[[int], Attribute] = Shared(self._read, MAX_NESTED)
        self.locals: dict[int, ast.Local] = {}
        self.bound: dict[int, ast.Binding] = {}
        self.statements: list[ast.Statement | ast.Binding] = []
        """Those of the current body so far."""
        self.open: set[int] = set()
        """The nodes being read; none of them may contain itself."""
        self.opened = 0
        """The number of nodes opened, repetitions included."""

    # ------------------------------------------------------------ declarations

    def read(self, source_map: SourceMap) -> ast.Module:
        graph, root = self.graph, self.graph.root
        functions: list[ast.Definition] = []
        if kind(graph, root) == "Function":
            functions.append(self._definition("main", root))
        elif kind(graph, root) == "IRModule":
            for number in graph.children(root, "type_definitions")[1::2]:
                self._type_definitions.append(self._type_data(number))
            pairs = graph.children(root, "functions")
            if len(pairs) % 2:
                raise GraphError("the functions must be pairs of a name and a function")
            for variable, function in zip(pairs[::2], pairs[1::2], strict=True):
                name = self._hint(variable)
                if kind(graph, function) != "Function":
                    actual = graph.key(function)
                    raise GraphError(
                        f"@{name} is a {actual}; only functions of Relay are supported", variable
                    )
                functions.append(self._definition(name, function))
        else:
            raise GraphError(f"the root must be an IRModule, but is a {graph.key(root)}")
        types = tuple(self._type_definitions)
        return ast.Module(source_map, types, tuple(functions), self.names, self._checked_type)

    def _definition(self, name: str, number: int) -> ast.Definition:
        self.locals, self.bound = {}, {}
        self.opened = 0
        return ast.Definition(number, name, self._function(number))

    def _function(self, number: int) -> ast.Function:
        graph = self.graph
        params = [self._local(n) for n in graph.children(number, "params")]
        return ast.Function(
            number,
            tuple(self._type_params(graph.children(number, "type_params"))),
            tuple(params),
            self._function_attrs(graph.child(number, "attrs")),
            self._optional_type(graph.child(number, "ret_type")),
            self._device(number),
            self._body(graph.child(number, "body")),
        )

    def _function_attrs(self, number: int) -> dict[str, Any]:
        if self.graph.key(number) == "":
            return {}
        entries = self.graph.map(self.graph.child(number, "__dict__"))
        return {key: self.graph.value(value) for key, value in entries.items()}

    def _device(self, number: int) -> VirtualDeviceAttr | None:
        device = self.graph.value(self.graph.child(number, "virtual_device_"))
        if not isinstance(device, VirtualDeviceAttr) or device.is_unconstrained:
            return None
        return device

    def _local(self, number: int) -> ast.Local:
        graph = self.graph
        vid = graph.child(number, "vid")
        name = self._hint(vid)
        type = self._optional_type(graph.child(number, "type_annotation"))
        local = ast.Local(name, number, type, self._device(number))
        self.locals[vid] = local
        return local

    # ------------------------------------------------------------- expressions

    def _body(self, number: int) -> ast.Body:
        """Read the chain of lets that starts at node `number`, then its final expression."""
        graph, start = self.graph, number
        outer, self.statements = self.statements, []
        chain: list[int] = []
        while kind(graph, number) == "Let":
            self._open(number)
            chain.append(number)
            local = self._local(graph.child(number, "var"))
            inner = graph.child(number, "value")
            value: ast.Expr
            if kind(graph, inner) == "Function" and inner not in self.bound:
                self._open(inner)
                value = self._function(inner)
                self.open.discard(inner)
            else:
                value = self._expression(inner)
            self.statements.append(ast.Statement(number, local, value))
            number = graph.child(number, "body")
        result = self._expression(number)
        body = ast.Body(start, tuple(self.statements), result)
        self.statements = outer
        self.open.difference_update(chain)
        return body

    def _open(self, number: int) -> None:
        """Start reading the contents of node `number`."""
        if number in self.open:
            raise GraphError(f"node {number} contains itself")
        self.open.add(number)
        self.opened += 1
        if self.opened > 10 * len(self.graph.nodes):
            raise GraphError(
                f"node {number} is shared too often: lets, functions and patterns are copied"
            )

    def _expression(self, number: int) -> ast.Expr:
        """Read a use of node `number`; the nodes that it depends on are bound first."""
        if kind(self.graph, number) in _OPERANDS:
            self._bind(number)
            return ast.Node(number, self.bound[number])
        if kind(self.graph, number) == "Let":
            return self._body(number)
        return self._leaf(number)

    def _bind(self, root: int) -> None:
        """Bind node `root` and all that it depends on, innermost first."""
        stack = [(root, False)]
        begun: set[int] = set()
        while stack:
            number, ready = stack.pop()
            if number in self.bound:
                continue
            if not ready:
                if number in begun:
                    raise GraphError(f"node {number} contains itself")
                begun.add(number)
                stack.append((number, True))
                inner = [n for n in self._operands(number) if kind(self.graph, n) in _OPERANDS]
                stack += [(n, False) for n in reversed(inner) if n not in self.bound]
                continue
            self._open(number)
            binding = ast.Binding(str(number), number, self._compound(number))
            self.open.discard(number)
            self.bound[number] = binding
            self.statements.append(binding)
            begun.discard(number)

    def _operands(self, number: int) -> list[int]:
        """Return the nodes that node `number` uses in its own region."""
        graph, fields = self.graph, _OPERANDS[kind(self.graph, number)]
        return [
            operand
            for field in fields
            for operand in (
                graph.children(number, field) if field in _LISTS else (graph.child(number, field),)
            )
        ]

    def _compound(self, number: int) -> ast.Expr:
        graph = self.graph
        operands = [self._expression(n) for n in self._operands(number)]
        match kind(graph, number):
            case "Call":
                callee, *args = operands
                value = graph.value(graph.child(number, "attrs"))
                attrs: Mapping[str, Any] = value if isinstance(value, Attrs) else {}
                return ast.Call(number, callee, tuple(args), attrs, 0)
            case "Tuple":
                return ast.Tuple(number, tuple(operands))
            case "TupleGetItem":
                return ast.Projection(number, operands[0], self._index(number))
            case "If":
                then = self._body(graph.child(number, "true_branch"))
                other = self._body(graph.child(number, "false_branch"))
                return ast.If(number, operands[0], then, other)
            case "Match":
                cases = tuple(self._case(n) for n in graph.children(number, "clauses"))
                complete = graph.field(number, "complete") not in ("0", "false")
                return ast.Match(number, operands[0], cases, complete)
            case "Function":
                return self._function(number)
            case cell:
                return ast.Cell(number, _CELLS[cell], tuple(operands))

    def _checked_type(self, call: ast.Call) -> Attribute | None:
        """Return the type that TVM inferred for a call; None if absent or unsupported."""
        try:
            return self._optional_type(self.graph.child(call.offset, "_checked_type_"))
        except GraphError:
            return None

    def _index(self, number: int) -> int:
        text = self.graph.field(number, "index")
        if not text.isdigit() or len(text) > 9:
            raise GraphError(f"index of node {number} must be a number, but is {text!r}")
        return int(text)

    def _leaf(self, number: int) -> ast.Expr:
        graph = self.graph
        match kind(graph, number):
            case "Var":
                local = self.locals.get(graph.child(number, "vid"))
                if local is None:
                    name = self._hint(graph.child(number, "vid"))
                    raise GraphError(f"%{name} (node {number}) is not bound")
                return ast.Use(number, local)
            case "Constant":
                return ast.Dense(number, graph.array(number), f"constant_{number}")
            case "GlobalVar":
                name = self._hint(number)
                self.names.symbols.add(f"@{name}")
                return ast.Global(number, name)
            case "Op" | "Constructor" as key:
                name = graph.text(number) if key == "Op" else self._hint(number)
                self.names.symbols.add(name)
                return ast.Name(number, name)
            case _:
                raise GraphError(f"a {graph.key(number)} (node {number}) is not an expression")

    # ------------------------------------------------------------------- match

    def _case(self, number: int) -> ast.Case:
        pattern = self._pattern(self.graph.child(number, "lhs"))
        return ast.Case(pattern, self._body(self.graph.child(number, "rhs")))

    def _pattern(self, number: int) -> ast.Pattern:
        graph = self.graph
        match kind(graph, number):
            case "PatternWildcard":
                return ast.Wildcard(number)
            case "PatternVar":
                return ast.Variable(number, self._local(graph.child(number, "var")))
            case "PatternConstructor":
                constructor = graph.child(number, "constructor")
                name = self._hint(constructor)
                self.names.symbols.add(name)
                return ast.Constructed(number, name, self._patterns(number))
            case "PatternTuple":
                return ast.Fields(number, self._patterns(number))
            case _:
                raise GraphError(f"a {graph.key(number)} (node {number}) is not a pattern")

    def _patterns(self, number: int) -> tuple[ast.Pattern, ...]:
        self._open(number)
        fields = tuple(self._pattern(n) for n in self.graph.children(number, "patterns"))
        self.open.discard(number)
        return fields

    # ------------------------------------------------------------------- types

    def _optional_type(self, number: int) -> Attribute | None:
        """Read the type of node `number`; None when it is null or unknown."""
        if kind(self.graph, number) in ("", "IncompleteType"):
            return None
        return self._type(number)

    def _read(self, number: int) -> Attribute:
        graph = self.graph
        match kind(graph, number):
            case "" | "IncompleteType":
                return HOLE
            case "TensorType":
                return self._tensor(number)
            case "TupleType":
                fields = tuple(self._type(n) for n in graph.children(number, "fields"))
                return TupleType(cast("tuple[TypeAttribute, ...]", fields))
            case "FuncType":
                params = [self._type(n) for n in graph.children(number, "arg_types")]
                type = FunctionType.from_lists(
                    params, [self._type(graph.child(number, "ret_type"))]
                )
                own = self._type_params(graph.children(number, "type_params"))
                return substituted(type, dict.fromkeys(own, HOLE))
            case "RefType":
                return RefType(self._type(graph.child(number, "value")))
            case "TypeVar":
                return TypeVarType(self._hint(number))
            case "GlobalTypeVar":
                return self._adt(number, self._hint(number), [])
            case "TypeCall":
                name = self._hint(graph.child(number, "func"))
                args = [self._type(n) for n in graph.children(number, "args")]
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
        own = any(t.name == STORAGE and not ast.is_empty(t) for t in self._type_definitions)
        if name == STORAGE and not args and not own:
            return StorageType()
        self.names.types.setdefault((name, len(args)), number)
        return AdtType(name, args)

    def _hint(self, number: int) -> str:
        """Return the name of a variable, a type variable or a constructor."""
        return self.graph.text(self.graph.child(number, "name_hint"))

    def _type_params(self, numbers: list[int]) -> list[str]:
        """Return the names of type parameters."""
        names = [self._hint(n) for n in numbers]
        if len(set(names)) != len(names):
            raise GraphError(f"duplicate type parameter in {', '.join(names)}")
        return names

    def _type_data(self, number: int) -> ast.TypeData:
        graph = self.graph
        constructors = tuple(
            ast.Constructor(n, self._hint(n), tuple(map(self._type, graph.children(n, "inputs"))))
            for n in graph.children(number, "constructors")
        )
        params = self._type_params(graph.children(number, "type_vars"))
        name = self._hint(graph.child(number, "header"))
        return ast.TypeData(number, name, tuple(params), constructors, extern=False)
