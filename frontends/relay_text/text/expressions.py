"""
The grammar of expressions.

    binary  := call (OP call)*          all left associative: * / before + - before < … before == !=
    call    := atom ('.' INT | '(' argument,* ')')*

Chains of infix operators are read by loops, nesting by recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from ..errors import SourceMap, nearest
from ..json.metadata_section import Metadata
from ..json.node_graph import Attrs
from .bodies import BodyGrammar
from .lexer import Tokens
from .syntax import (
    Call,
    Case,
    Constructed,
    Dense,
    Expr,
    Fields,
    Global,
    If,
    Match,
    Name,
    Pattern,
    Projection,
    RefCreate,
    RefRead,
    RefWrite,
    Region,
    Scalar,
    Statement,
    Tuple,
    Use,
    Variable,
    Wildcard,
)
from .type_grammar import MAX_TYPES

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

EFFECTS = frozenset(
    (
        *("memory.alloc_storage", "memory.alloc_tensor", "memory.kill"),
        *("vm.invoke_tvm_op", "vm.shape_func"),
    )
)
"""Operators that may not be computed anywhere but where they appear in the text."""


MAX_OPEN = 1000
"""Maximum nesting depth of expressions, not counting those read by loops."""


_LONG = 1000
"""Length from which a name is handled without quadratic work."""


class ExpressionGrammar(BodyGrammar):
    """Reads expressions."""

    def __init__(self, tokens: Tokens, source_map: SourceMap, metadata: Metadata):
        super().__init__(tokens, source_map, metadata)
        self._open = 0
        self._patterns_open = 0

    # ------------------------------------------------------------ expressions

    def expression(self) -> Expr:
        """Parse an expression in brackets, which may begin with items."""
        kind = self.kinds[self.position]
        if kind in ("let", "{", "free_var") or (
            kind == "graph" and self.kinds[self.position + 1] == "="
        ):
            return self.body()
        value = self.binary(0)
        if self.kinds[self.position] != ";":
            return value
        self.position += 1
        first = Statement(value.offset, None, value, [])
        rest = self.body()
        rest.statements.insert(0, first)
        return rest

    def binary(self, tightest: int) -> Expr:
        self._open += 1
        if self._open > MAX_OPEN:
            raise self.too_deep(MAX_OPEN, "expressions")
        value = self._postfix()
        while True:
            position = self.position
            infix = INFIX.get(self.kinds[position])
            if infix is None or infix[0] <= tightest:
                self._open -= 1
                return value
            self.position = position + 1
            right = self.binary(infix[0])
            at = self.starts[position]
            value = Call(at, self._name(at, infix[1]), [value, right], {}, self._end())

    def _end(self) -> int:
        """Return the end of the last token read."""
        position = self.position - 1
        return self.starts[position] + self.width(position)

    def _postfix(self) -> Expr:
        value = self._atom()
        while True:
            kind = self.kinds[self.position]
            if kind == "(":
                value = self._call(value)
            elif kind == "proj":
                value = self._projection(value)
            else:
                return value

    def _projection(self, value: Expr) -> Expr:
        at = self.starts[self.position]
        return Projection(at, value, self._index(self.take("proj")[1:], at))

    def _index(self, digits: str, at: int) -> int:
        if len(digits) > 9:
            raise self.error(f"the field index {digits[:20]} is too large", at)
        return int(digits)

    def _call(self, callee: Expr) -> Expr:
        self.position += 1
        if not isinstance(callee, Name) or callee.name in EFFECTS:
            self.has_effect()
        kinds = self.kinds
        args: list[Expr] = []
        attrs: dict[str, Any] = {}
        while kinds[self.position] != ")":
            if kinds[self.position + 1] == "=" and self.at_attribute():
                self.attribute(attrs)
            elif attrs:
                raise self.unexpected("an attribute: a name and '='")
            elif kinds[self.position] == "meta" and self.texts[self.position].startswith(
                "meta[relay.attrs."
            ):
                attrs = self._attrs_object()
            else:
                args.append(self.expression())
            if kinds[self.position] != ",":
                break
            self.position += 1
        if kinds[self.position] != ")":
            raise self.unexpected("',' or ')'")
        self.position += 1
        return Call(callee.offset, callee, args, attrs, self._end())

    def _attrs_object(self) -> dict[str, Any]:
        position = self.position
        attrs = self.meta()
        if not isinstance(attrs, Attrs):
            self.position = position
            raise self.unexpected("attributes")
        return attrs

    # ------------------------------------------------------------------ atoms

    def _atom(self) -> Expr:
        position = self.position
        at = self.starts[position]
        match self.kinds[position]:
            case "local":
                return self._local(at)
            case "graph":
                return self.graph_use(at)
            case "ident":
                self.position += 1
                return self._name(at, self.texts[position])
            case "global":
                self.position += 1
                self.module.globals.setdefault(self.texts[position], at)
                return Global(at, self.texts[position])
            case "number":
                return Scalar(at, *self.number())
            case "-":
                return Scalar(at, *self.negative())
            case "True" | "False" as word:
                self.position += 1
                return Scalar(at, int(word == "True"), "bool")
            case "meta":
                return self._constant(at)
            case "(":
                return self._brackets(at)
            case "fn":
                self.position += 1
                return self.closure(at)
            case "let":
                return self.body(is_operand=True)
            case "if":
                return self._if(at)
            case "match" | "match?":
                return self._match(at)
            case "ref" | "ref_read" | "ref_write":
                return self._cell(at)
            case _:
                raise self.unexpected("an expression")

    def _name(self, at: int, name: str) -> Expr:
        if name == "inff":
            return Scalar(at, float("inf"), "float32")
        self.module.names.setdefault(name, at)
        return Name(at, name)

    def _local(self, at: int) -> Expr:
        name = self.take("local")
        local = self.locals.get(name)
        if local is not None:
            return Use(at, local)
        for end in self._ends(name, _fields_of(name)):
            local = self.locals.get(name[:end])
            if local is not None:
                value: Expr = Use(at, local)
                for digits in name[end + 1 :].split("."):
                    value = Projection(at, value, self._index(digits, at))
                return value
        raise self._unknown_local(name, at)

    def _ends(self, name: str, start: int) -> Iterator[int]:
        """
        Yield the possible ends of `name`, last first: before each `-`, `.`, `/` or `:` from `start`
        on.
        """
        last = len(name) - 1
        if last > _LONG:  # lengths beyond the longest name need not be tried
            last = min(last, max(map(len, self.locals), default=0))
        return (end for end in range(last, max(start, 1) - 1, -1) if name[end] in "-./:")

    def _unknown_local(self, name: str, at: int) -> Exception:
        ends = self._ends(name, 0)
        before = next((name[:e] for e in ends if self.locals.get(name[:e]) is not None), None)
        if before is not None:
            hint = (
                f" ('{name[len(before)]}' is part of the name; "
                f"put blanks around it to compute with %{before})"
            )
        else:
            known = [n for n, local in self.locals.items() if local is not None]
            hint = nearest(name, known, "%")
        return self.error(f"unknown variable %{name}{hint}", at, len(name) + 1)

    def _constant(self, at: int) -> Expr:
        position = self.position
        value = self.meta()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            self.position = position
            raise self.unexpected("an expression, such as a meta[relay.Constant] entry")
        return Dense(at, value, self.texts[position])  # pyright: ignore[reportUnknownArgumentType]

    def _brackets(self, at: int) -> Expr:
        self.position += 1
        if self.take_if(")"):
            return Tuple(at, [])
        first = self.expression()
        if self.take_if(")"):
            return first
        if not self.take_if(","):
            raise self.unexpected("',' or ')'")
        return Tuple(at, [first, *self.listed(self.expression, ")")])

    def _if(self, at: int) -> Expr:
        self.take("if")
        self.take("(")
        condition = self.expression()
        self.take(")")
        self.take("{")
        then_region = self.new_region()
        then = self.region_body(then_region)
        self.take("}")
        self.take("else", "'else', as an if always has a value")
        self.take("{")
        other_region = self.new_region()
        other = self.region_body(other_region)
        self.take("}")
        return If(at, condition, then, then_region, other, other_region)

    def _cell(self, at: int) -> Expr:
        kind = self.kinds[self.position]
        self.has_effect()
        self.position += 1
        self.take("(")
        value = self.expression()
        made: Expr
        if kind == "ref_write":
            self.take(",")
            made = RefWrite(at, value, self.expression())
        else:
            made = RefCreate(at, value) if kind == "ref" else RefRead(at, value)
        self.take_if(",")
        self.take(")")
        return made

    # ------------------------------------------------------------------ match

    def _match(self, at: int) -> Expr:
        complete = self.kinds[self.position] == "match"
        self.position += 1
        data = self._atom()
        while self.kinds[self.position] == "proj":
            data = self._projection(data)
        self.take("{")
        cases = self.listed(self._case, "}")
        return Match(at, data, cases, complete)

    def _case(self) -> Case:
        region = self.new_region()
        mark = self.open_scope()
        pattern = self._pattern(region, {})
        self.take("=>")
        body = self.region_body(region)
        self.close_scope(mark)
        return Case(pattern, region, body)

    def _pattern(self, region: Region, names: dict[str, int]) -> Pattern:
        """Parse a pattern; `names` are those of its variables so far."""
        self._patterns_open += 1
        if self._patterns_open > MAX_TYPES:
            raise self.too_deep(MAX_TYPES, "patterns")
        pattern = self._open_pattern(region, names)
        self._patterns_open -= 1
        return pattern

    def _open_pattern(self, region: Region, names: dict[str, int]) -> Pattern:
        at = self.starts[self.position]
        match self.kinds[self.position]:
            case "local":
                local = self.new_local(region)
                if local.name in names and local.name != "_":
                    raise self.error(
                        f"duplicate variable %{local.name} in the pattern",
                        at,
                        len(local.name) + 1,
                    )
                names[local.name] = at
                if self.take_if(":"):
                    local.type = self.type()
                self.declare_local(local)
                return Variable(at, local)
            case "(":
                self.position += 1
                return Fields(at, self.listed(lambda: self._pattern(region, names), ")"))
            case "ident":
                name = self.take("ident")
                if name == "_":
                    return Wildcard(at)
                self.module.names.setdefault(name, at)
                fields = None
                if self.take_if("("):
                    fields = self.listed(lambda: self._pattern(region, names), ")")
                return Constructed(at, name, fields)
            case _:
                raise self.unexpected("a pattern")


def _fields_of(name: str) -> int:
    """Return where the trailing `.0.1` of `name` begins: its length if there is none."""
    start = end = len(name)
    while True:
        while end and name[end - 1].isdigit():
            end -= 1
        if end == start or not end or name[end - 1] != ".":
            return start
        start = end = end - 1
