"""
The grammar of Relay text 0.0.5: declarations and attributes; names of locals are resolved here.

    module     := version? (def | type)* metadata?          or one expression
    def        := 'def' GLOBAL function
    type       := 'extern'? 'type' IDENT ('[' IDENT,* ']')? ('{' constructor,* '}')?

The reader accepts what TVM's parser accepts, with the same meaning, and what TVM's printer writes.
Expressions are in `expressions.py`, types in `type_grammar.py`.
"""

from __future__ import annotations

from xdsl.ir import Attribute

from .expressions import ExpressionGrammar
from .syntax import Constructor, Definition, Local, Module, Name, TypeData

VERSION = "0.0.5"


class Grammar(ExpressionGrammar):
    """Reads one program."""

    def read_module(self) -> Module:
        """Parse the program; raises `RelayTextError`."""
        self._read_version()
        return self.read_definitions()

    def read_definitions(self) -> Module:
        """Parse the program after the version."""
        if self.kinds[self.position] not in ("def", "type", "extern", "end"):
            self.module.functions.append(self._lone_expression())
        while not self.kinds[self.position] == "end":
            match self.kinds[self.position]:
                case "def":
                    self.module.functions.append(self._definition())
                case "type" | "extern":
                    self.module.types.append(self._type_data())
                case _:
                    raise self.unexpected("'def' or 'type'")
        return self.module

    def _read_version(self) -> None:
        if self.kinds[self.position] != "version":
            if self.kinds[self.position] in ("def", "type", "extern", "end"):
                raise self.unexpected(f'#[version = "{VERSION}"]')
            return
        version = self.texts[self.position].split('"')[1]
        if version != VERSION:
            raise self.error(
                f"the version must be {VERSION}, but is {version}",
                self.starts[self.position],
                self.width(self.position),
            )
        self.position += 1

    # ------------------------------------------------------------ declarations

    def _lone_expression(self) -> Definition:
        """
        Parse a single expression: the body of `@main`, whose parameters are its free variables.
        """
        at = self.starts[self.position]
        self.free = free = list[Local]()
        if self.kinds[self.position] == "fn":
            self.position += 1
            function = self.definition_tail(at)
            self.take_if(";")
        else:
            function = self.definition_of_expression(at)
            function.params = free
            if isinstance(function.body.result, Name) and not function.body.statements:
                self.module.operator = function.body.result
        if self.kinds[self.position] != "end":
            raise self.unexpected("the end of the program")
        return Definition(at, "main", function)

    def _definition(self) -> Definition:
        self.take("def")
        at = self.starts[self.position]
        name = self.take("global")
        if self.kinds[self.position] == "=":
            raise self.error(
                f"@{name} is an external function; these are not supported", at, len(name) + 1
            )
        self.free = None
        return Definition(at, name, self.definition_tail(at))

    def _type_data(self) -> TypeData:
        extern = self.take_if("extern")
        self.take("type")
        at = self.starts[self.position]
        name = self.take("ident", "the name of a data type")
        marks = self.open_scope()
        params = self.type_params()
        constructors: list[Constructor] = []
        if not extern and self.take_if("{"):
            constructors = self.listed(self._constructor, "}")
        self.close_scope(marks)
        return TypeData(at, name, params, constructors, extern)

    def _constructor(self) -> Constructor:
        at = self.starts[self.position]
        name = self.take("ident", "the name of a constructor")
        fields: list[Attribute] = []
        if self.take_if("("):
            fields = self.listed(self.type, ")")
        return Constructor(at, name, fields)
