"""
The grammar of patterns.

    pattern := '_' | LOCAL (':' type)? | IDENT ('(' pattern,* ')')? | '(' pattern,* ')'
"""

from __future__ import annotations

from .attribute_grammar import MAX_NESTED
from .local_names import LocalNames
from .syntax import Constructed, Fields, Local, Names, Pattern, Variable, Wildcard
from .type_grammar import TypeGrammar


class PatternGrammar:
    """Reads patterns, whose variables it declares."""

    def __init__(self, locals: LocalNames, types: TypeGrammar, used: Names):
        self.tokens = types.tokens
        self._locals = locals
        self._types = types
        self._used = used
        self._open = 0

    def pattern(self, names: dict[str, int]) -> Pattern:
        """Parse a pattern; `names` are those of its variables so far."""
        self._open += 1
        if self._open > MAX_NESTED:
            raise self.tokens.too_deep(MAX_NESTED, "patterns")
        pattern = self._pattern(names)
        self._open -= 1
        return pattern

    def _pattern(self, names: dict[str, int]) -> Pattern:
        tokens = self.tokens
        at = tokens.starts[tokens.position]
        match tokens.kinds[tokens.position]:
            case "local":
                return self._variable(at, names)
            case "(":
                tokens.position += 1
                return Fields(at, tuple(tokens.listed(lambda: self.pattern(names), ")")))
            case "ident":
                name = tokens.take("ident")
                if name == "_":
                    return Wildcard(at)
                self._used.operators.setdefault(name, at)
                if not tokens.take_if("("):
                    return Constructed(at, name, None)
                fields = tokens.listed(lambda: self.pattern(names), ")")
                return Constructed(at, name, tuple(fields))
            case _:
                raise tokens.unexpected("a pattern")

    def _variable(self, at: int, names: dict[str, int]) -> Pattern:
        name = self.tokens.take("local")
        if name in names and name != "_":
            raise self.tokens.error(f"duplicate variable %{name} in the pattern", at, len(name) + 1)
        names[name] = at
        local = Local(name, at, self._types.annotation())
        self._locals.names.declare(name, local)
        return Variable(at, local)
