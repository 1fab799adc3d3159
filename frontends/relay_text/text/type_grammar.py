"""
The grammar of types and attribute values.

    type := 'Tensor' '[' '(' dim,* ')' ',' DTYPE ']' | DTYPE | '(' type,* ')' | '_'
          | 'fn' typeParams? '(' type,* ')' '->' type | 'ref' '(' type ')' | IDENT ('[' type,* ']')?
          | meta[IncompleteType][n]

Types become types of the dialects at once; `_` is `!relay.incomplete`.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TupleType
from xdsl.ir import Attribute, TypeAttribute

from ....dialects.device import tensor_type
from ....dialects.memory import StorageType
from ....dialects.relay.incomplete import IncompleteType
from ....dialects.relay.language.language_types import AdtType, RefType, TypeVarType
from ..errors import SourceMap, nearest
from ..json.metadata_section import Metadata
from ..json.node_graph import GraphError, Unread
from ..json.saved_arrays import element_type_of
from .lexer import Tokens
from .syntax import Local, Module
from .token_stream import TokenStream

STORAGE = "Storage"
"""TVM's name of the type of a storage."""
HOLE = IncompleteType()
"""`_`: a type to be inferred."""


MAX_TYPES = 200
"""Maximum nesting depth of types and attribute values."""


class TypeGrammar(TokenStream):
    """Reads types and attribute values; knows the names in scope."""

    def __init__(self, tokens: Tokens, source_map: SourceMap, metadata: Metadata):
        super().__init__(tokens, source_map)
        self.metadata = metadata
        self.locals: dict[str, Local | None] = {}
        self._undo: list[tuple[dict[str, Any], str, Any]] = []
        self._type_names: dict[str, Attribute | None] = {}
        self.module = Module(source_map)
        self._tensors: dict[tuple[Any, ...], Attribute] = {}
        self._types_open = 0
        self._values_open = 0
        self._own_storage: bool | None = None

    # ------------------------------------------------------------------ scopes

    def open_scope(self) -> int:
        """Open a scope; `close_scope` of the returned mark ends it."""
        return len(self._undo)

    def close_scope(self, mark: int) -> None:
        """Forget the names declared since `mark`."""
        while len(self._undo) > mark:
            table, name, before = self._undo.pop()
            table[name] = before

    def _declare(self, table: dict[str, Any], name: str, value: Any) -> None:
        self._undo.append((table, name, table.get(name)))
        table[name] = value

    def declare_local(self, local: Local) -> None:
        """Declare `local` under its name."""
        self._declare(self.locals, local.name, local)

    def type_params(self) -> list[str]:
        """Parse `[A, B]`, if present; the names are types in the current scope."""
        if not self.take_if("["):
            return []
        names: list[str] = []
        self.listed(lambda: self._type_param(names), "]")
        for name in names:
            self._declare(self._type_names, name, TypeVarType(name))
        return names

    def _type_param(self, names: list[str]) -> None:
        position = self.position
        name = self.take("ident", "the name of a type parameter")
        if name in names:
            raise self.error(f"duplicate type parameter {name}", self.starts[position], len(name))
        names.append(name)

    # ------------------------------------------------------------------- types

    def type(self) -> Attribute:
        """Parse a type."""
        self._types_open += 1
        if self._types_open > MAX_TYPES:
            raise self.too_deep(MAX_TYPES, "types")
        type = self._type()
        self._types_open -= 1
        return type

    def _type(self) -> Attribute:
        position = self.position
        match self.kinds[position]:
            case "ident":
                return self._named_type()
            case "(":
                self.position += 1
                return TupleType(cast("tuple[TypeAttribute, ...]", tuple(self._types(")"))))
            case "fn":
                return self._function_type()
            case "ref":
                self.position += 1
                self.take("(")
                contents = self.type()
                self.take(")")
                return RefType(contents)
            case "meta" if self.meta() == Unread("IncompleteType"):
                return HOLE
            case _:
                self.position = position
                raise self.unexpected("a type")

    def _types(self, close: str) -> list[Attribute]:
        return self.listed(self.type, close)

    def _function_type(self) -> Attribute:
        self.take("fn")
        mark = self.open_scope()
        for name in self.type_params():
            self._declare(self._type_names, name, HOLE)  # one type, to be inferred
        self.take("(")
        params = self._types(")")
        self.take("->")
        result = self.type()
        self.close_scope(mark)
        return FunctionType.from_lists(params, [result])

    def _named_type(self) -> Attribute:
        position = self.position
        name = self.take("ident")
        if name == "_":
            return HOLE
        known = self._type_names.get(name)
        if known is not None:
            return known
        if name == "Tensor":
            return self._tensor()
        scalar = element_type_of(name)
        if scalar is not None:
            return self.tensor_of(scalar, ())
        args: list[Attribute] = []
        if self.take_if("["):
            args = self._types("]")
        if name == STORAGE and not args and not self._defines_storage():
            return StorageType()
        self.module.type_uses.setdefault((name, len(args)), self.starts[position])
        return AdtType(name, args)

    def _defines_storage(self) -> bool:
        """Return whether the program defines a data type with the name of TVM's storage."""
        if self._own_storage is None:
            kinds, texts = self.kinds, self.texts
            self._own_storage = any(
                kinds[i] == "type" and texts[i + 1] == STORAGE and self._has_parts(i + 2)
                for i in range(len(kinds) - 1)
            )
        return self._own_storage

    def _has_parts(self, position: int) -> bool:
        """
        Return whether the definition of a data type continues with parameters or constructors.
        """
        kind = self.kinds[position]
        return kind == "[" or (kind == "{" and self.kinds[position + 1] != "}")

    def _tensor(self) -> Attribute:
        self.take("[")
        self.take("(")
        dims = tuple(self.listed(self._dim, ")"))
        self.take(",")
        position = self.position
        dtype = self.take("ident", "a dtype")
        element = element_type_of(dtype)
        if element is None:
            from ....dialects.attributes import ELEMENT_TYPES

            raise self.error(
                f"the dtype {dtype} is not supported{nearest(dtype, ELEMENT_TYPES)}",
                self.starts[position],
                len(dtype),
            )
        self.take("]")
        return self.tensor_of(element, dims)

    def tensor_of(self, element: Attribute, dims: tuple[int, ...]) -> Attribute:
        """Return the tensor type; equal ones are one object."""
        key = (element, dims)
        type = self._tensors.get(key)
        if type is None:
            type = self._tensors[key] = tensor_type(element, list(dims))
        return type

    def _dim(self) -> int:
        if self.take_if("?"):
            return DYNAMIC_INDEX
        position = self.position
        if self.kinds[position] == "meta":
            dim = self.meta()
            if isinstance(dim, Unread) and dim.is_dim:
                return DYNAMIC_INDEX
            if isinstance(dim, int):
                return dim
            self.position = position
            raise self.unexpected("a dim")
        dim = self.integer("a dim: a number or '?'")
        if dim >= 2**63:
            raise self.error(
                f"a dim must be below 2^63, but is {dim}",
                self.starts[position],
                self.width(position),
            )
        return dim

    # -------------------------------------------------------------- attributes

    def meta(self) -> Any:
        """Resolve the current `meta[key][n]`."""
        position = self.position
        text = self.take("meta")
        key, _, number = text[5:-1].partition("][")
        at, width = self.starts[position], len(text)
        size = self.metadata.size(key)
        if len(number) > 9 or int(number) >= size:
            known = self.metadata.keys()
            if size:
                why = f"{key} has {size} entries"
            elif known:
                why = f"the metadata has only {', '.join(known)}"
            else:
                why = "the program has no metadata"
            raise self.error(f"{text} does not exist: {why}", at, width)
        try:
            return self.metadata.value(key, int(number))
        except GraphError as error:
            raise self.error(f"{text}: {error}", at, width) from None

    def at_attribute(self) -> bool:
        """Return whether `key = value` comes next."""
        return self.kinds[self.position + 1] == "=" and (
            self.kinds[self.position] == "ident" or self.texts[self.position].isidentifier()
        )

    def attribute(self, attrs: dict[str, Any]) -> None:
        """Parse `key = value` into `attrs`."""
        position = self.position
        name = self.texts[position]
        if not self.at_attribute():
            raise self.unexpected("an attribute: a name and '='")
        self.position += 2
        if name in attrs:
            raise self.error(f"duplicate attribute {name}", self.starts[position], len(name))
        attrs[name] = self.attribute_value()

    def attribute_value(self) -> Any:
        """Parse a Python value: numbers, strings, None, tuples, dicts, devices, dense constants."""
        self._values_open += 1
        if self._values_open > MAX_TYPES:
            raise self.too_deep(MAX_TYPES, "values")
        value = self._attribute_value()
        self._values_open -= 1
        return value

    def _attribute_value(self) -> Any:
        position = self.position
        kind = self.kinds[position]
        match kind:
            case "number":
                return self.number(rounded=False)[0]
            case "-":
                return self.negative(rounded=False)[0]
            case "True" | "False":
                self.position += 1
                return kind == "True"
            case "string":
                return self.string()
            case "meta":
                return self.meta()
            case "[":
                self.position += 1
                return tuple(self.listed(self.attribute_value, "]"))
            case "(":
                self.position += 1
                value = self.attribute_value()
                self.take(")")
                return value
            case "{":
                self.position += 1
                return dict(self.listed(self._entry, "}"))
            case "quoted":
                return self.take("quoted")[1:-1]
            case "?":
                self.position += 1
                return DYNAMIC_INDEX
            case "ident":
                word = self.texts[position]
                if word in ("None", "nullptr"):
                    self.position += 1
                    return None
                if word == "inff":
                    self.position += 1
                    return float("inf")
            case _:
                pass
        raise self.unexpected("the value of an attribute")

    def _entry(self) -> tuple[str, Any]:
        """Parse `"key" = value`, an entry of a map as TVM's printer writes it."""
        is_text = self.kinds[self.position] == "string"
        key = self.string() if is_text else self.take("ident", "a key: a string or a name")
        self.take("=")
        return key, self.attribute_value()

    def negative(self, rounded: bool = True) -> tuple[int | float, str]:
        """Parse a number preceded by one or more adjacent minus signs."""
        negative = False
        start = self.position
        while self.kinds[self.position] == "-":
            negative = not negative
            self.position += 1
            if self.starts[self.position] != self.starts[self.position - 1] + 1:
                self.position = start
                raise self.unexpected("an expression")
        if self.kinds[self.position] == "ident" and self.texts[self.position] == "inff":
            self.position += 1
            return (-float("inf") if negative else float("inf")), "float32"
        if self.kinds[self.position] != "number":
            self.position = start
            raise self.unexpected("an expression")
        return self.number(negative, rounded)
