"""
Read modules saved by `tvm.ir.save_json` into syntax; every node becomes a graph binding.

A node is bound where it is first reached; further references are uses of the same binding.
Bindings shared between branches are placed as for text (`binding_scopes.py`). The line of a
location is the number of the node.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, IntAttr
from xdsl.ir import Attribute

from ....dialects.device import VirtualDeviceAttr
from ..errors import SourceMap
from ..text import syntax as ast
from .json_types import TypeReader, kind
from .node_graph import Attrs, GraphError, NodeGraph


class NodeMap(SourceMap):
    """Maps node numbers to lines."""

    def location(self, at: int) -> FileLineColLoc:
        return FileLineColLoc(self.file, IntAttr(max(1, at)), IntAttr(1))


def module_of(graph: NodeGraph, name: str) -> ast.Module:
    """Read the program whose root is an `IRModule`; raises `GraphError`."""
    return _ModuleReader(graph, ast.Module(NodeMap(name, ""))).read()


_COMPOUND = frozenset(
    ("Call", "Tuple", "TupleGetItem", "If", "Function", "Match", "RefCreate", "RefRead", "RefWrite")
)


class _ModuleReader(TypeReader):
    def __init__(self, graph: NodeGraph, module: ast.Module):
        super().__init__(graph, module)
        self.locals: dict[int, ast.Local] = {}
        self.bound: dict[int, ast.Binding] = {}
        self.finished: list[ast.Binding] = []
        self.branches = False
        self.open: set[int] = set()
        """The nodes being read; none of them may contain itself."""
        self.opened = 0
        """The number of nodes opened, repetitions included."""

    # ------------------------------------------------------------ declarations

    def read(self) -> ast.Module:
        graph, root = self.graph, self.graph.root
        if kind(graph, root) == "Function":
            self.module.functions.append(self._definition("main", root))
            return self.module
        if kind(graph, root) != "IRModule":
            raise GraphError(f"the root must be an IRModule, but is a {graph.key(root)}")
        types = graph.children(root, "type_definitions")
        for number in types[1::2]:
            self.module.types.append(self.type_data(number))
        pairs = graph.children(root, "functions")
        if len(pairs) % 2:
            raise GraphError("the functions must be pairs of a name and a function")
        for variable, function in zip(pairs[::2], pairs[1::2], strict=True):
            name = graph.text(graph.child(variable, "name_hint"))
            if kind(graph, function) != "Function":
                raise GraphError(f"@{name} is a {graph.key(function)}, which is not supported")
            self.module.functions.append(self._definition(name, function))
        return self.module

    def _definition(self, name: str, number: int) -> ast.Definition:
        self.locals, self.bound, self.finished, self.branches = {}, {}, [], False
        self.opened = 0
        function = self._function(number, None, None, [])
        function.bindings, function.branches = self.finished, self.branches
        return ast.Definition(number, name, function)

    def _function(
        self,
        number: int,
        outer: ast.Region | None,
        owner: ast.Binding | None,
        refs: list[ast.Binding],
    ) -> ast.Function:
        graph = self.graph
        region = ast.Region(outer, owner, refs)
        params = [self._local(n, region) for n in graph.children(number, "params")]
        attrs = self._function_attrs(graph.child(number, "attrs"))
        return ast.Function(
            number,
            self.type_params(graph.children(number, "type_params")),
            params,
            attrs,
            self.optional_type(graph.child(number, "ret_type")),
            self._device(number),
            region,
            self._body(graph.child(number, "body"), region, None, []),
            [],
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

    def _local(self, number: int, region: ast.Region) -> ast.Local:
        graph = self.graph
        vid = graph.child(number, "vid")
        name = graph.text(graph.child(vid, "name_hint"))
        type = self.optional_type(graph.child(number, "type_annotation"))
        local = ast.Local(name, number, type, region, self._device(number))
        self.locals[vid] = local
        return local

    # ------------------------------------------------------------- expressions

    def _body(
        self,
        number: int,
        region: ast.Region,
        owner: ast.Binding | None,
        outer_refs: list[ast.Binding],
    ) -> ast.Body:
        """Read the chain of lets that starts at node `number`, then its final expression."""
        graph, start = self.graph, number
        statements: list[ast.Statement | ast.Binding] = []
        chain: list[int] = []
        while kind(graph, number) == "Let":
            self._open(number)
            chain.append(number)
            local = self._local(graph.child(number, "var"), region)
            value_number = graph.child(number, "value")
            refs: list[ast.Binding] = []
            value: ast.Expr
            if kind(graph, value_number) == "Function" and value_number not in self.bound:
                self.branches = True
                self._open(value_number)
                value = self._function(value_number, region, owner, refs)
                self.open.discard(value_number)
            else:
                value = self._expression(value_number, region, owner, refs)
            statements.append(ast.Statement(number, local, value, refs))
            number = graph.child(number, "body")
        refs = []
        body = ast.Body(start, statements, self._expression(number, region, owner, refs), refs)
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

    def _expression(
        self,
        number: int,
        region: ast.Region,
        owner: ast.Binding | None,
        refs: list[ast.Binding],
    ) -> ast.Expr:
        """Read a use of node `number`; the nodes that it depends on are bound first."""
        if kind(self.graph, number) in _COMPOUND:
            self._bind(number, region)
            binding = self.bound[number]
            binding.uses.append((region, owner))
            refs.append(binding)
            return ast.Node(number, binding)
        if kind(self.graph, number) == "Let":
            return self._body(number, region, owner, refs)
        return self._leaf(number)

    def _bind(self, root: int, region: ast.Region) -> None:
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
                inner = [n for n in self._operands(number) if kind(self.graph, n) in _COMPOUND]
                stack += [(n, False) for n in reversed(inner) if n not in self.bound]
                continue
            binding = ast.Binding(str(number), number, region, [])
            self._open(number)
            binding.value = self._compound(number, region, binding)
            self.open.discard(number)
            self.bound[number] = binding
            self.finished.append(binding)
            begun.discard(number)

    def _operands(self, number: int) -> list[int]:
        """Return the nodes that node `number` uses in its own region."""
        graph = self.graph
        match kind(graph, number):
            case "Call":
                return [graph.child(number, "op"), *graph.children(number, "args")]
            case "Tuple":
                return graph.children(number, "fields")
            case "TupleGetItem":
                return [graph.child(number, "tuple_value")]
            case "If":
                return [graph.child(number, "cond")]
            case "Match":
                return [graph.child(number, "data")]
            case "RefCreate":
                return [graph.child(number, "value")]
            case "RefRead":
                return [graph.child(number, "ref")]
            case "RefWrite":
                return [graph.child(number, "ref"), graph.child(number, "value")]
            case _:
                return []

    def _compound(self, number: int, region: ast.Region, binding: ast.Binding) -> ast.Expr:
        graph = self.graph
        operands = [
            self._expression(n, region, binding, binding.refs) for n in self._operands(number)
        ]
        match kind(graph, number):
            case "Call":
                callee, *args = operands
                attrs = self._attrs(number)
                return ast.Call(number, callee, args, attrs, 0, lambda: self._checked_type(number))
            case "Tuple":
                return ast.Tuple(number, operands)
            case "TupleGetItem":
                return ast.Projection(number, operands[0], self._index(number))
            case "If":
                self.branches = True
                then, other = (
                    ast.Region(region, binding, binding.refs),
                    ast.Region(region, binding, binding.refs),
                )
                return ast.If(
                    number,
                    operands[0],
                    self._body(graph.child(number, "true_branch"), then, None, []),
                    then,
                    self._body(graph.child(number, "false_branch"), other, None, []),
                    other,
                )
            case "Match":
                self.branches = True
                clauses = graph.children(number, "clauses")
                cases = [self._case(n, ast.Region(region, binding, binding.refs)) for n in clauses]
                complete = graph.field(number, "complete") not in ("0", "false")
                return ast.Match(number, operands[0], cases, complete)
            case "RefCreate":
                return ast.RefCreate(number, operands[0])
            case "RefRead":
                return ast.RefRead(number, operands[0])
            case "RefWrite":
                return ast.RefWrite(number, operands[0], operands[1])
            case _:
                self.branches = True
                return self._function(number, region, binding, binding.refs)

    def _attrs(self, number: int) -> dict[str, Any]:
        attrs = self.graph.value(self.graph.child(number, "attrs"))
        return attrs if isinstance(attrs, Attrs) else {}

    def _checked_type(self, number: int) -> Attribute | None:
        """Return the type that TVM inferred for node `number`; None if absent or unsupported."""
        try:
            return self.optional_type(self.graph.child(number, "_checked_type_"))
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
                    name = graph.text(graph.child(graph.child(number, "vid"), "name_hint"))
                    raise GraphError(f"%{name} (node {number}) is not bound")
                return ast.Use(number, local)
            case "Constant":
                return ast.Dense(number, graph.array(number), f"constant_{number}")
            case "GlobalVar":
                name = graph.text(graph.child(number, "name_hint"))
                self.module.globals.setdefault(name, number)
                return ast.Global(number, name)
            case "Op":
                return self._named(number, graph.text(number))
            case "Constructor":
                return self._named(number, graph.text(graph.child(number, "name_hint")))
            case _:
                raise GraphError(f"a {graph.key(number)} (node {number}) is not an expression")

    def _named(self, number: int, name: str) -> ast.Expr:
        self.module.names.setdefault(name, number)
        return ast.Name(number, name)

    # ------------------------------------------------------------------- match

    def _case(self, number: int, region: ast.Region) -> ast.Case:
        pattern = self._pattern(self.graph.child(number, "lhs"), region)
        return ast.Case(
            pattern, region, self._body(self.graph.child(number, "rhs"), region, None, [])
        )

    def _pattern(self, number: int, region: ast.Region) -> ast.Pattern:
        graph = self.graph
        match kind(graph, number):
            case "PatternWildcard":
                return ast.Wildcard(number)
            case "PatternVar":
                return ast.Variable(number, self._local(graph.child(number, "var"), region))
            case "PatternConstructor":
                constructor = graph.child(number, "constructor")
                name = graph.text(graph.child(constructor, "name_hint"))
                self.module.names.setdefault(name, number)
                return ast.Constructed(number, name, self._patterns(number, region))
            case "PatternTuple":
                return ast.Fields(number, self._patterns(number, region))
            case _:
                raise GraphError(f"a {graph.key(number)} (node {number}) is not a pattern")

    def _patterns(self, number: int, region: ast.Region) -> list[ast.Pattern]:
        self._open(number)
        found = [self._pattern(n, region) for n in self.graph.children(number, "patterns")]
        self.open.discard(number)
        return found
