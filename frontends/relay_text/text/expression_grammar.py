"""
The grammar of expressions, bodies and functions; names of locals are resolved here.

    binary   := call (OP call)*         all left associative: * / before + - before < … before == !=
    call     := atom ('.' INT | '(' argument,* ')')*
    body     := (item ';')* expression ';'?
    item     := binding | expression
    binding  := 'let' LOCAL (':' type)? '=' expression | GRAPH '=' expression
    operand  := (binding ';')+ expression       a body as an operand, without the ';' after it
    pattern  := '_' | LOCAL (':' type)? | IDENT ('(' pattern,* ')')? | '(' pattern,* ')'
    function := ('[' IDENT,* ']')? '(' param,* attribute,* ')' ('->' type)? '{' body '}'

Chains of infix operators and sequences of items are read by loops, so that they can have any
length; nesting is read by recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from ....dialects.device import VirtualDeviceAttr
from ..json.node_graph import Attrs, Metadata
from . import syntax as ast
from .local_names import LocalNames, NameScopes, projected
from .token_stream import TokenStream
from .type_grammar import MAX_NESTED, AttributeGrammar, TypeGrammar

INFIX = {
    "*": (4, "multiply"),
    "/": (4, "divide"),
    "+": (3, "add"),
    "-": (3, "subtract"),
    "<": (2, "less"),
    "<=": (2, "less_equal"),
    ">": (2, "greater"),
    ">=": (2, "greater_equal"),
    "==": (1, "equal"),
    "!=": (1, "not_equal"),
}
"""The precedence of each infix operator, and its operator name."""

MAX_OPEN = 1000
"""Maximum nesting depth of expressions, not counting those read by loops."""

_CLOSERS = frozenset((")", "}", "]", ",", "end"))


class ExpressionGrammar:
    """Reads the expressions of one definition after another."""

    def __init__(self, tokens: TokenStream, metadata: Metadata, used: ast.Names):
        self.tokens = tokens
        self._attributes = AttributeGrammar(tokens, metadata)
        self.types = TypeGrammar(self._attributes, NameScopes(), used.types)
        self._locals = LocalNames(tokens)
        self._used = used
        self._open = 0
        self._open_patterns = 0
        self._free: dict[str, ast.Local] | None = None
        self._bindings: dict[str, ast.Binding] = {}

    def start_definition(self, free: dict[str, ast.Local] | None) -> None:
        """Forget the graph bindings; `free` gets free variables, None where none are allowed."""
        self._bindings = {}
        self._free = free

    # -------------------------------------------------------------- functions

    def function(self, at: int) -> ast.Function:
        """Parse `[A](params) -> type { body }`."""
        tokens = self.tokens
        marks = self.types.names.open(), self._locals.names.open()
        type_params = self.types.type_params()
        tokens.take("(")
        params: list[ast.Local] = []
        attrs: dict[str, Any] = {}
        while tokens.kinds[tokens.position] != ")":
            if tokens.kinds[tokens.position] == "local" and not attrs:
                params.append(self._param())
            else:
                self._attributes.attribute(attrs)
            if not tokens.take_if(","):
                break
        if not tokens.take_if(")"):
            raise tokens.unexpected("',' or ')'")
        self._require_distinct(params)
        result = self.types.type() if tokens.take_if("->") else None
        device = self._device_in(attrs, at)
        body = self._braces()
        self.types.names.close(marks[0])
        self._locals.names.close(marks[1])
        return ast.Function(at, tuple(type_params), tuple(params), attrs, result, device, body)

    def _require_distinct(self, params: list[ast.Local]) -> None:
        names: set[str] = set()
        for param in params:
            if param.name in names:
                raise self._locals.error(f"duplicate parameter %{param.name}", param)
            names.add(param.name)

    def _param(self) -> ast.Local:
        tokens = self.tokens
        at = tokens.starts[tokens.position]
        name = tokens.take("local")
        device = None
        if tokens.take_if("{"):
            attrs: dict[str, Any] = {}
            self._attributes.attribute(attrs)
            device = self._device_in(attrs, at)
            if attrs:
                key = next(iter(attrs))
                raise tokens.error(
                    f"unknown parameter attribute {key}; expected virtual_device", at
                )
            tokens.take("}")
        local = ast.Local(name, at, self.types.annotation(), device)
        self._locals.names.declare(name, local)
        return local

    def _device_in(self, attrs: dict[str, Any], at: int) -> VirtualDeviceAttr | None:
        """Remove the pseudo attribute `virtual_device` from `attrs` and return it."""
        if "virtual_device" not in attrs:
            return None
        device = attrs.pop("virtual_device")
        if not isinstance(device, VirtualDeviceAttr):
            raise self.tokens.error("virtual_device must be a meta[VirtualDevice] entry", at)
        return None if device.is_unconstrained else device

    # ----------------------------------------------------------------- bodies

    def body(self, is_operand: bool = False) -> ast.Body:
        """
        Parse items and a result, up to the closing token.

        A body that `is_operand` ends with the first expression that is not bound, as in
        `let %a = let %b = 1; %b; %a`, where TVM's printer writes no brackets.
        """
        tokens = self.tokens
        start = tokens.starts[tokens.position]
        mark = self._locals.names.open()
        statements: list[ast.Statement | ast.Binding] = []
        kinds = tokens.kinds
        while True:
            kind = kinds[tokens.position]
            if kind == "graph" and kinds[tokens.position + 1] == "=":
                statements.append(self._bind())
                self._require_semicolon("a graph binding")
                continue
            if kind == "let":
                statements.append(self._let())
                self._require_semicolon("a let")
                continue
            if kind == "free_var":
                self._free_var()
                self._require_semicolon("a free variable")
                continue
            at = tokens.starts[tokens.position]
            value = self._value()
            if not is_operand and tokens.take_if(";") and kinds[tokens.position] not in _CLOSERS:
                statements.append(ast.Statement(at, None, value))
                continue
            self._locals.names.close(mark)
            return ast.Body(start, tuple(statements), value)

    def _value(self) -> ast.Expr:
        tokens = self.tokens
        return self._braces() if tokens.kinds[tokens.position] == "{" else self._binary(0)

    def _braces(self) -> ast.Body:
        self.tokens.take("{")
        body = self.body()
        self.tokens.take("}")
        return body

    def _require_semicolon(self, what: str) -> None:
        tokens = self.tokens
        if not tokens.take_if(";"):
            raise tokens.unexpected(f"';' after {what}")
        if tokens.kinds[tokens.position] in _CLOSERS:
            raise tokens.unexpected(f"an expression after {what}")

    def _typed_local(self) -> ast.Local:
        at = self.tokens.starts[self.tokens.position]
        name = self.tokens.take("local")
        return ast.Local(name, at, self.types.annotation())

    def _let(self) -> ast.Statement:
        self.tokens.take("let")
        local = self._typed_local()
        self.tokens.take("=")
        self._locals.names.declare(local.name, local)
        return ast.Statement(local.offset, local, self._value())

    def _free_var(self) -> None:
        tokens = self.tokens
        at = tokens.starts[tokens.position]
        tokens.take("free_var")
        local = self._typed_local()
        if self._free is None:
            raise tokens.error("a global function cannot have free variables", at, len("free_var"))
        if local.name in self._free:
            raise self._locals.error(f"%{local.name} is declared twice", local)
        self._free[local.name] = local
        self._locals.names.declare_everywhere(local.name, local)

    def _bind(self) -> ast.Binding:
        tokens = self.tokens
        at = tokens.starts[tokens.position]
        number = tokens.take("graph")
        tokens.position += 1
        before = self._bindings.get(number)
        if before is not None:
            raise tokens.source_map.error(
                f"%{number} is bound twice",
                at,
                len(number) + 1,
                [("first bound here", before.offset)],
            )
        binding = self._bindings[number] = ast.Binding(number, at, self._value())
        return binding

    # ------------------------------------------------------------ expressions

    def _expression(self) -> ast.Expr:
        """Parse an expression in brackets, which may begin with items."""
        tokens = self.tokens
        kind = tokens.kinds[tokens.position]
        if kind in ("let", "{", "free_var") or (
            kind == "graph" and tokens.kinds[tokens.position + 1] == "="
        ):
            return self.body()
        value = self._binary(0)
        if not tokens.take_if(";"):
            return value
        remainder = self.body()
        first = ast.Statement(value.offset, None, value)
        return ast.Body(remainder.offset, (first, *remainder.statements), remainder.result)

    def _binary(self, tightest: int) -> ast.Expr:
        """Parse an expression of infix operators that bind tighter than `tightest`."""
        tokens = self.tokens
        self._open += 1
        if self._open > MAX_OPEN:
            raise tokens.too_deep(MAX_OPEN, "expressions")
        value = self._postfix()
        while True:
            position = tokens.position
            infix = INFIX.get(tokens.kinds[position])
            if infix is None or infix[0] <= tightest:
                self._open -= 1
                return value
            tokens.position = position + 1
            right = self._binary(infix[0])
            at = tokens.starts[position]
            value = ast.Call(at, self._name(at, infix[1]), (value, right), {}, self._end())

    def _end(self) -> int:
        """Return the end of the last token read."""
        position = self.tokens.position - 1
        return self.tokens.starts[position] + self.tokens.width(position)

    def _postfix(self) -> ast.Expr:
        tokens = self.tokens
        value = self._atom()
        while True:
            kind = tokens.kinds[tokens.position]
            if kind == "(":
                value = self._call(value)
            elif kind == "proj":
                value = self._projection(value)
            else:
                return value

    def _projection(self, value: ast.Expr) -> ast.Expr:
        at = self.tokens.starts[self.tokens.position]
        return projected(value, self.tokens.take("proj"), at, self.tokens)

    def _call(self, callee: ast.Expr) -> ast.Expr:
        tokens = self.tokens
        tokens.position += 1
        kinds = tokens.kinds
        args: list[ast.Expr] = []
        attrs: Mapping[str, Any] = {}
        while kinds[tokens.position] != ")":
            if kinds[tokens.position + 1] == "=" and self._attributes.at_attribute():
                attrs = {**attrs}
                self._attributes.attribute(attrs)
            elif attrs:
                raise tokens.unexpected("an attribute: a name and '='")
            elif kinds[tokens.position] == "meta" and tokens.texts[tokens.position].startswith(
                "meta[relay.attrs."
            ):
                attrs = self._attrs_object()
            else:
                args.append(self._expression())
            if kinds[tokens.position] != ",":
                break
            tokens.position += 1
        if kinds[tokens.position] != ")":
            raise tokens.unexpected("',' or ')'")
        tokens.position += 1
        return ast.Call(callee.offset, callee, tuple(args), attrs, self._end())

    def _attrs_object(self) -> Mapping[str, Any]:
        position = self.tokens.position
        attrs = self._attributes.meta()
        if not isinstance(attrs, Attrs):
            self.tokens.position = position
            raise self.tokens.unexpected("attributes")
        return attrs

    # ------------------------------------------------------------------ atoms

    def _atom(self) -> ast.Expr:
        tokens = self.tokens
        position = tokens.position
        at = tokens.starts[position]
        match tokens.kinds[position]:
            case "local":
                return self._locals.use(at)
            case "graph":
                return self._graph_use(at)
            case "ident":
                tokens.position += 1
                return self._name(at, tokens.texts[position])
            case "global":
                tokens.position += 1
                self._used.symbols.add(f"@{tokens.texts[position]}")
                return ast.Global(at, tokens.texts[position])
            case "number":
                return ast.Scalar(at, *tokens.number())
            case "-":
                return ast.Scalar(at, *tokens.negative())
            case "True" | "False" as word:
                tokens.position += 1
                return ast.Scalar(at, int(word == "True"), "bool")
            case "meta":
                return self._constant(at)
            case "(":
                return self._brackets(at)
            case "fn":
                tokens.position += 1
                return self.function(at)
            case "let":
                return self.body(is_operand=True)
            case "if":
                return self._if(at)
            case "match" | "match?":
                return self._match(at)
            case "ref" | "ref_read" | "ref_write":
                return self._cell(at)
            case "[":
                raise tokens.unexpected("an expression or an attribute, as axis=[0] is")
            case _:
                raise tokens.unexpected("an expression")

    def _name(self, at: int, name: str) -> ast.Expr:
        if name == "inff":
            return ast.Scalar(at, float("inf"), "float32")
        self._used.symbols.add(name)
        return ast.Name(at, name)

    def _graph_use(self, at: int) -> ast.Expr:
        number = self.tokens.take("graph")
        binding = self._bindings.get(number)
        if binding is None:
            raise self.tokens.error(f"%{number} is used before it is bound", at, len(number) + 1)
        return ast.Node(at, binding)

    def _constant(self, at: int) -> ast.Expr:
        position = self.tokens.position
        value = self._attributes.meta()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            self.tokens.position = position
            raise self.tokens.unexpected("an expression, such as a meta[relay.Constant] entry")
        return ast.Dense(at, value, self.tokens.texts[position])  # pyright: ignore[reportUnknownArgumentType]

    def _brackets(self, at: int) -> ast.Expr:
        tokens = self.tokens
        tokens.position += 1
        if tokens.take_if(")"):
            return ast.Tuple(at, ())
        first = self._expression()
        if tokens.take_if(")"):
            return first
        if not tokens.take_if(","):
            raise tokens.unexpected("',' or ')'")
        return ast.Tuple(at, (first, *tokens.listed(self._expression, ")")))

    def _if(self, at: int) -> ast.Expr:
        tokens = self.tokens
        tokens.take("if")
        tokens.take("(")
        condition = self._expression()
        tokens.take(")")
        then = self._braces()
        tokens.take("else", "'else', as an if always has a value")
        return ast.If(at, condition, then, self._braces())

    def _cell(self, at: int) -> ast.Expr:
        tokens = self.tokens
        kind = tokens.kinds[tokens.position]
        tokens.position += 1
        tokens.take("(")
        operands = [self._expression()]
        if kind == "ref_write":
            tokens.take(",")
            operands.append(self._expression())
        tokens.take_if(",")
        tokens.take(")")
        return ast.Cell(at, kind, tuple(operands))

    def _match(self, at: int) -> ast.Expr:
        tokens = self.tokens
        complete = tokens.kinds[tokens.position] == "match"
        tokens.position += 1
        data = self._atom()
        while tokens.kinds[tokens.position] == "proj":
            data = self._projection(data)
        tokens.take("{")
        return ast.Match(at, data, tuple(tokens.listed(self._case, "}")), complete)

    def _case(self) -> ast.Case:
        mark = self._locals.names.open()
        pattern = self._pattern({})
        self.tokens.take("=>")
        body = self.body()
        self._locals.names.close(mark)
        return ast.Case(pattern, body)

    # --------------------------------------------------------------- patterns

    def _pattern(self, names: dict[str, int]) -> ast.Pattern:
        """Parse a pattern; `names` are those of its variables so far."""
        self._open_patterns += 1
        if self._open_patterns > MAX_NESTED:
            raise self.tokens.too_deep(MAX_NESTED, "patterns")
        pattern = self._bare_pattern(names)
        self._open_patterns -= 1
        return pattern

    def _bare_pattern(self, names: dict[str, int]) -> ast.Pattern:
        tokens = self.tokens
        at = tokens.starts[tokens.position]
        match tokens.kinds[tokens.position]:
            case "local":
                return self._variable(at, names)
            case "(":
                tokens.position += 1
                return ast.Fields(at, tuple(tokens.listed(lambda: self._pattern(names), ")")))
            case "ident":
                name = tokens.take("ident")
                if name == "_":
                    return ast.Wildcard(at)
                self._used.symbols.add(name)
                if not tokens.take_if("("):
                    return ast.Constructed(at, name, None)
                fields = tokens.listed(lambda: self._pattern(names), ")")
                return ast.Constructed(at, name, tuple(fields))
            case _:
                raise tokens.unexpected("a pattern")

    def _variable(self, at: int, names: dict[str, int]) -> ast.Pattern:
        name = self.tokens.take("local")
        if name in names and name != "_":
            raise self.tokens.error(f"duplicate variable %{name} in the pattern", at, len(name) + 1)
        names[name] = at
        local = ast.Local(name, at, self.types.annotation())
        self._locals.names.declare(name, local)
        return ast.Variable(at, local)
