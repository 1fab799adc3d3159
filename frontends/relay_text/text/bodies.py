"""
The grammar of bodies: statements, graph bindings, functions, and the uses of each binding.

    body     := (item ';')* expression ';'?
    item     := binding | expression
    binding  := 'let' LOCAL (':' type)? '=' expression | GRAPH '=' expression
    operand  := (binding ';')+ expression       a body as an operand, without the ';' after it
    function := ('[' IDENT,* ']')? '(' param,* attribute,* ')' ('->' type)? '{' body '}'

Sequences of items are read by loops, so that they can have any length.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ....dialects.device import VirtualDeviceAttr
from ..errors import SourceMap
from ..json.metadata_section import Metadata
from .lexer import Tokens
from .syntax import Binding, Body, Expr, Function, Local, Node, Region, Statement
from .type_grammar import TypeGrammar

_CLOSERS = frozenset((")", "}", "]", ",", "end"))


class BodyGrammar(TypeGrammar):
    """Reads the bodies of one definition after another."""

    def __init__(self, tokens: Tokens, source_map: SourceMap, metadata: Metadata):
        super().__init__(tokens, source_map, metadata)
        self.free: list[Local] | None = None
        """The free variables so far; None where none are allowed."""
        self._free_names: set[str] = set()
        self._region = Region(None, None)
        self._owner: Binding | None = None
        self._refs: list[Binding] = []
        self._bindings: dict[str, Binding] = {}
        self._finished: list[Binding] = []
        self._branches = False
        self._effects = 0
        """The number of expressions read so far that may not be computed early."""

    @abstractmethod
    def binary(self, tightest: int) -> Expr:
        """Parse an expression of infix operators that bind tighter than `tightest`."""

    # -------------------------------------------------------------- functions

    def _start_definition(self) -> None:
        self._region = Region(None, None)
        self._owner = None
        self._bindings = {}
        self._finished = []
        self._branches = False

    def definition_tail(self, at: int) -> Function:
        """Parse `[A](params) -> type { body }` of a `def` or a lone `fn`."""
        self._start_definition()
        function = self._function(at)
        function.bindings, function.branches = self._finished, self._branches
        return function

    def definition_of_expression(self, at: int) -> Function:
        """Parse the remainder of the program as a body without parameters."""
        self._start_definition()
        region = self._region
        body = self.body()
        function = Function(at, [], [], {}, None, None, region, body, self._finished)
        function.branches = self._branches
        return function

    def _function(self, at: int) -> Function:
        mark = self.open_scope()
        type_params = self.type_params()
        self.take("(")
        region = Region(self._region, self._owner, self._refs)
        params: list[Local] = []
        attrs: dict[str, Any] = {}
        while self.kinds[self.position] != ")":
            if self.kinds[self.position] == "local" and not attrs:
                params.append(self._param(region))
            else:
                self.attribute(attrs)
            if not self.take_if(","):
                break
        if not self.take_if(")"):
            raise self.unexpected("',' or ')'")
        self._require_distinct(params)
        result = self.type() if self.take_if("->") else None
        device = self._device_in(attrs, at)
        self.take("{")
        body = self.region_body(region)
        self.take("}")
        self.close_scope(mark)
        return Function(at, type_params, params, attrs, result, device, region, body, [])

    def _require_distinct(self, params: list[Local]) -> None:
        names: set[str] = set()
        for param in params:
            if param.name in names:
                raise self.error(
                    f"duplicate parameter %{param.name}", param.offset, len(param.name) + 1
                )
            names.add(param.name)

    def _param(self, region: Region) -> Local:
        local = self.new_local(region)
        if self.take_if("{"):
            attrs: dict[str, Any] = {}
            self.attribute(attrs)
            local.device = self._device_in(attrs, local.offset)
            if attrs:
                raise self.error(
                    f"unknown parameter attribute {next(iter(attrs))}; expected virtual_device",
                    local.offset,
                )
            self.take("}")
        if self.take_if(":"):
            local.type = self.type()
        self.declare_local(local)
        return local

    def _device_in(self, attrs: dict[str, Any], at: int) -> VirtualDeviceAttr | None:
        """Remove the pseudo attribute `virtual_device` from `attrs` and return it."""
        if "virtual_device" not in attrs:
            return None
        device = attrs.pop("virtual_device")
        if not isinstance(device, VirtualDeviceAttr):
            raise self.error("virtual_device must be a meta[VirtualDevice] entry", at)
        return None if device.is_unconstrained else device

    def has_effect(self) -> None:
        """Note that the current expression may not be computed earlier than where it is needed."""
        self._effects += 1

    def new_local(self, region: Region | None) -> Local:
        at = self.starts[self.position]
        return Local(self.take("local"), at, None, region)

    def region_body(self, region: Region) -> Body:
        """Parse a body that is computed in `region`."""
        saved = self._region, self._owner, self._refs
        self._region, self._owner, self._refs = region, None, []
        body = self.body()
        self._region, self._owner, self._refs = saved
        return body

    def new_region(self) -> Region:
        self._branches = True
        return Region(self._region, self._owner, self._refs)

    def closure(self, at: int) -> Function:
        self._branches = True
        return self._function(at)

    # ----------------------------------------------------------------- bodies

    def body(self, is_operand: bool = False) -> Body:
        """
        Parse items and a result, up to the closing token.

        A body that `is_operand` ends with the first expression that is not bound, as in
        `let %a = let %b = 1; %b; %a`, where TVM's printer writes no brackets.
        """
        start = self.starts[self.position]
        mark = self.open_scope()
        statements: list[Statement | Binding] = []
        kinds = self.kinds
        outer_refs = self._refs
        while True:
            kind = kinds[self.position]
            if kind == "graph" and kinds[self.position + 1] == "=":
                statements.append(self._bind())
                self._require_semicolon("a graph binding")
                continue
            self._refs = []
            if kind == "let":
                statements.append(self._let())
                self._require_semicolon("a let")
                continue
            if kind == "free_var":
                self._free_var()
                self._require_semicolon("a free variable")
                continue
            at = self.starts[self.position]
            value = self.braces() if kind == "{" else self.binary(0)
            if not is_operand and self.take_if(";") and kinds[self.position] not in _CLOSERS:
                statements.append(Statement(at, None, value, self._refs))
                continue
            body = Body(start, statements, value, self._refs)
            self._refs = outer_refs
            self.close_scope(mark)
            return body

    def braces(self) -> Body:
        self.take("{")
        body = self.body()
        self.take("}")
        return body

    def _require_semicolon(self, what: str) -> None:
        if not self.take_if(";"):
            raise self.unexpected(f"';' after {what}")
        if self.kinds[self.position] in _CLOSERS:
            raise self.unexpected(f"an expression after {what}")

    def _let(self) -> Statement:
        self.take("let")
        local = self.new_local(self._region)
        if self.take_if(":"):
            local.type = self.type()
        self.take("=")
        self.declare_local(local)
        value = self.braces() if self.kinds[self.position] == "{" else self.binary(0)
        return Statement(local.offset, local, value, self._refs)

    def _free_var(self) -> None:
        at = self.starts[self.position]
        self.take("free_var")
        local = self.new_local(self._region)
        if self.take_if(":"):
            local.type = self.type()
        if self.free is None:
            raise self.error("a global function cannot have free variables", at, len("free_var"))
        if local.name in self._free_names:
            raise self.error(f"%{local.name} is declared twice", local.offset, len(local.name) + 1)
        self._free_names.add(local.name)
        self.free.append(local)
        self.locals[local.name] = local

    def _bind(self) -> Binding:
        at = self.starts[self.position]
        number = self.take("graph")
        self.position += 1
        before = self._bindings.get(number)
        if before is not None:
            raise self.source_map.error(
                f"%{number} is bound twice",
                at,
                len(number) + 1,
                [("first bound here", before.offset)],
            )
        binding = Binding(number, at, self._region, [])
        owner, refs, effects = self._owner, self._refs, self._effects
        self._owner, self._refs = binding, binding.refs
        binding.value = self.braces() if self.kinds[self.position] == "{" else self.binary(0)
        self._owner, self._refs = owner, refs
        binding.pure = self._effects == effects
        self._bindings[number] = binding
        self._finished.append(binding)
        return binding

    def graph_use(self, at: int) -> Expr:
        number = self.take("graph")
        binding = self._bindings.get(number)
        if binding is None:
            raise self.error(f"%{number} is used before it is bound", at, len(number) + 1)
        if not binding.pure:
            self._effects += 1
        binding.uses.append((self._region, self._owner))
        self._refs.append(binding)
        return Node(at, binding)
