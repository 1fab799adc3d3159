"""
The grammar of Relay text 0.0.5: definitions. Expressions are in `expression_grammar.py`, types in
`type_grammar.py`, with attributes.

    module     := version? (def | type)* metadata?          or one expression
    def        := 'def' GLOBAL function
    type       := 'extern'? 'type' IDENT ('[' IDENT,* ']')? ('{' constructor,* '}')?

The reader accepts what TVM's parser accepts, with the same meaning, and what TVM's printer writes.
"""

from __future__ import annotations

import re

from xdsl.ir import Attribute

from ..errors import RelayTextError, SourceMap
from ..json.node_graph import Metadata
from .expression_grammar import ExpressionGrammar
from .lexer import VERSION, Tokens, tokenize
from .local_names import NameScopes
from .syntax import Call, Constructor, Definition, Function, Local, Module, Name, Names, TypeData
from .token_stream import TokenStream
from .type_grammar import AttributeGrammar, TypeGrammar

_NOTED = re.compile(r"\s*/\*\s*ty=(.*?)(?:\s+span=.*?)?\s*\*/", re.DOTALL)


class Grammar:
    """Reads one program."""

    def __init__(self, tokens: Tokens, source_map: SourceMap, metadata: Metadata, text: str):
        self.tokens = TokenStream(tokens, source_map)
        self._text = text
        self._names = Names()
        self._expressions = ExpressionGrammar(self.tokens, metadata, self._names)
        self._types: list[TypeData] = []
        self._functions: list[Definition] = []
        self._operator: Name | None = None

    def read_module(self) -> Module:
        """Parse the program; raises `RelayTextError`."""
        self._read_version()
        return self.read_definitions()

    def read_definitions(self) -> Module:
        """Parse the program after the version."""
        tokens = self.tokens
        if tokens.kinds[tokens.position] not in ("def", "type", "extern", "end"):
            self._functions.append(self._lone_expression())
        while tokens.kinds[tokens.position] != "end":
            match tokens.kinds[tokens.position]:
                case "def":
                    self._functions.append(self._definition())
                case "type" | "extern":
                    self._types.append(self._type_data())
                case _:
                    raise tokens.unexpected("'def' or 'type'")
        types, functions = tuple(self._types), tuple(self._functions)
        text = self._text
        return Module(
            *(tokens.source_map, types, functions, self._names),
            lambda call: noted_type(text, call),
            self._operator,
        )

    def _read_version(self) -> None:
        tokens = self.tokens
        if tokens.kinds[tokens.position] != "version":
            if tokens.kinds[tokens.position] in ("def", "type", "extern", "end"):
                raise tokens.unexpected(f'#[version = "{VERSION}"] at the start of a module')
            return
        version = tokens.texts[tokens.position].split('"')[1]
        if version != VERSION:
            raise tokens.error(
                f"the version must be {VERSION}, but is {version}",
                tokens.starts[tokens.position],
                tokens.width(tokens.position),
            )
        tokens.position += 1

    def _lone_expression(self) -> Definition:
        """Parse an expression: the body of `@main`, whose parameters are its free variables."""
        tokens = self.tokens
        at = tokens.starts[tokens.position]
        free: dict[str, Local] = {}
        self._expressions.start_definition(free)
        if tokens.take_if("fn"):
            function = self._expressions.function(at)
            tokens.take_if(";")
        else:
            body = self._expressions.body()
            function = Function(at, (), tuple(free.values()), {}, None, None, body)
            if isinstance(body.result, Name) and not body.statements:
                self._operator = body.result
        if tokens.kinds[tokens.position] != "end":
            raise tokens.unexpected("the end of the program")
        return Definition(at, "main", function)

    def _definition(self) -> Definition:
        tokens = self.tokens
        tokens.take("def")
        at = tokens.starts[tokens.position]
        name = tokens.take("global")
        if tokens.kinds[tokens.position] == "=":
            raise tokens.error(
                f"@{name} is an external function; these are not supported", at, len(name) + 1
            )
        self._expressions.start_definition(None)
        return Definition(at, name, self._expressions.function(at))

    def _type_data(self) -> TypeData:
        tokens, types = self.tokens, self._expressions.types
        extern = tokens.take_if("extern")
        tokens.take("type")
        at = tokens.starts[tokens.position]
        name = tokens.take("ident", "the name of a data type")
        mark = types.names.open()
        params = types.type_params()
        constructors: list[Constructor] = []
        if not extern and tokens.take_if("{"):
            constructors = tokens.listed(self._constructor, "}")
        types.names.close(mark)
        return TypeData(at, name, tuple(params), tuple(constructors), extern)

    def _constructor(self) -> Constructor:
        tokens = self.tokens
        at = tokens.starts[tokens.position]
        name = tokens.take("ident", "the name of a constructor")
        fields: list[Attribute] = []
        if tokens.take_if("("):
            fields = tokens.listed(self._expressions.types.type, ")")
        return Constructor(at, name, tuple(fields))


def noted_type(text: str, call: Call) -> Attribute | None:
    """Return the type in the comment `/* ty=… */` after `call`, if there is a readable one."""
    match = _NOTED.match(text, call.end)
    if match is None:
        return None
    source_map = SourceMap("", match[1])
    try:
        tokens = TokenStream(tokenize(match[1], source_map), source_map)
        attributes = AttributeGrammar(tokens, Metadata(None))
        type = TypeGrammar(attributes, NameScopes(), {}).type()
        tokens.take("end")
    except RelayTextError:
        return None
    return type
