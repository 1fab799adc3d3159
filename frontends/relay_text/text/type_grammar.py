"""
The grammar of types, of attribute values, and of references to the metadata.

    type := 'Tensor' '[' '(' dim,* ')' ',' DTYPE ']' | DTYPE | '(' type,* ')' | '_'
          | 'fn' typeParams? '(' type,* ')' '->' type | 'ref' '(' type ')' | IDENT ('[' type,* ']')?
          | meta[IncompleteType][n]
    value := NUMBER | 'True' | 'False' | STRING | META | '[' value,* ']' | '(' value ')' | 'None'
           | '{' (key '=' value),* '}' | QUOTED | '?'

Types become types of the dialects at once, `_` is `!relay.incomplete`; values become Python values.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TupleType
from xdsl.ir import Attribute, TypeAttribute

from ....dialects import relay
from ....dialects.device import tensor_type
from ....dialects.memory import StorageType
from ..errors import nearest
from ..json.node_graph import GraphError, Metadata, Unread
from ..json.saved_arrays import element_type_of
from ..type_texts import STORAGE
from .local_names import NameScopes
from .token_stream import TokenStream

MAX_NESTED = 200
"""Maximum nesting depth of types, patterns and attribute values."""


class AttributeGrammar:
    """Reads attributes from `tokens`."""

    def __init__(self, tokens: TokenStream, metadata: Metadata):
        self.tokens = tokens
        self._metadata = metadata
        self._open = 0

    def meta(self) -> Any:
        """Resolve the current `meta[key][n]`."""
        at = self.tokens.starts[self.tokens.position]
        text = self.tokens.take("meta")
        try:
            return self._metadata.resolve(text)
        except GraphError as error:
            raise self.tokens.error(str(error), at, len(text)) from None

    def at_attribute(self) -> bool:
        """Return whether `key = value` comes next."""
        tokens = self.tokens
        return tokens.kinds[tokens.position + 1] == "=" and (
            tokens.kinds[tokens.position] == "ident" or tokens.texts[tokens.position].isidentifier()
        )

    def attribute(self, attrs: dict[str, Any]) -> None:
        """Parse `key = value` into `attrs`."""
        tokens = self.tokens
        position = tokens.position
        name = tokens.texts[position]
        if not self.at_attribute():
            raise tokens.unexpected("an attribute: a name and '='")
        tokens.position += 2
        if name in attrs:
            raise tokens.error(f"duplicate attribute {name}", tokens.starts[position], len(name))
        attrs[name] = self.attribute_value()

    def attribute_value(self) -> Any:
        """Parse a Python value: numbers, strings, None, tuples, dicts, devices, dense constants."""
        tokens = self.tokens
        self._open += 1
        if self._open > MAX_NESTED:
            raise tokens.too_deep(MAX_NESTED, "values")
        value = self._attribute_value()
        self._open -= 1
        return value

    def _attribute_value(self) -> Any:
        tokens = self.tokens
        position = tokens.position
        kind = tokens.kinds[position]
        match kind:
            case "number":
                return tokens.number(rounded=False)[0]
            case "-":
                return tokens.negative(rounded=False)[0]
            case "True" | "False":
                tokens.position += 1
                return kind == "True"
            case "string":
                return tokens.string()
            case "meta":
                return self.meta()
            case "[":
                tokens.position += 1
                return tuple(tokens.listed(self.attribute_value, "]"))
            case "(":
                tokens.position += 1
                value = self.attribute_value()
                tokens.take(")")
                return value
            case "{":
                tokens.position += 1
                return dict(tokens.listed(self._entry, "}"))
            case "quoted":
                return tokens.take("quoted")[1:-1]
            case "?":
                tokens.position += 1
                return DYNAMIC_INDEX
            case "ident":
                word = tokens.texts[position]
                if word in ("None", "nullptr"):
                    tokens.position += 1
                    return None
                if word == "inff":
                    tokens.position += 1
                    return float("inf")
            case _:
                pass
        raise tokens.unexpected("the value of an attribute")

    def _entry(self) -> tuple[str, Any]:
        """Parse `"key" = value`, an entry of a map as TVM's printer writes it."""
        tokens = self.tokens
        is_text = tokens.kinds[tokens.position] == "string"
        key = tokens.string() if is_text else tokens.take("ident", "a key: a string or a name")
        tokens.take("=")
        return key, self.attribute_value()


HOLE = relay.IncompleteType()
"""`_`: a type to be inferred."""


class TypeGrammar:
    """Reads types from the tokens of `attributes`; `names` are the type parameters in scope."""

    def __init__(
        self,
        attributes: AttributeGrammar,
        names: NameScopes[Attribute],
        used: dict[tuple[str, int], int],
    ):
        self.tokens = attributes.tokens
        self._attributes = attributes
        self.names = names
        """The type parameters in scope."""
        self._used = used
        self._tensors: dict[tuple[Any, ...], Attribute] = {}
        self._open = 0
        self._own_storage: bool | None = None

    def type_params(self) -> list[str]:
        """Parse `[A, B]`, if present; the names are types in the current scope."""
        tokens = self.tokens
        if not tokens.take_if("["):
            return []
        names: dict[str, None] = {}

        def type_param() -> None:
            position = tokens.position
            name = tokens.take("ident", "the name of a type parameter")
            if name in names:
                at = tokens.starts[position]
                raise tokens.error(f"duplicate type parameter {name}", at, len(name))
            names[name] = None

        tokens.listed(type_param, "]")
        for name in names:
            self.names.declare(name, relay.TypeVarType(name))
        return [*names]

    # ------------------------------------------------------------------- types

    def annotation(self) -> Attribute | None:
        """Parse `: type`, if present."""
        return self.type() if self.tokens.take_if(":") else None

    def type(self) -> Attribute:
        tokens = self.tokens
        self._open += 1
        if self._open > MAX_NESTED:
            raise tokens.too_deep(MAX_NESTED, "types")
        type = self._type()
        self._open -= 1
        return type

    def _type(self) -> Attribute:
        tokens = self.tokens
        position = tokens.position
        match tokens.kinds[position]:
            case "ident":
                return self._named_type()
            case "(":
                tokens.position += 1
                fields = tuple(tokens.listed(self.type, ")"))
                return TupleType(cast("tuple[TypeAttribute, ...]", fields))
            case "fn":
                return self._function_type()
            case "ref":
                tokens.position += 1
                tokens.take("(")
                contents = self.type()
                tokens.take(")")
                return relay.RefType(contents)
            case "meta" if self._attributes.meta() == Unread("IncompleteType"):
                return HOLE
            case _:
                tokens.position = position
                raise tokens.unexpected("a type")

    def _function_type(self) -> Attribute:
        tokens = self.tokens
        tokens.take("fn")
        mark = self.names.open()
        for name in self.type_params():
            self.names.declare(name, HOLE)  # one type, to be inferred
        tokens.take("(")
        params = tokens.listed(self.type, ")")
        tokens.take("->")
        result = self.type()
        self.names.close(mark)
        return FunctionType.from_lists(params, [result])

    def _named_type(self) -> Attribute:
        tokens = self.tokens
        position = tokens.position
        name = tokens.take("ident")
        if name == "_":
            return HOLE
        known = self.names.get(name)
        if known is not None:
            return known
        if name == "Tensor":
            return self._tensor()
        scalar = element_type_of(name)
        if scalar is not None:
            return self.tensor_of(scalar, ())
        args: list[Attribute] = []
        if tokens.take_if("["):
            args = tokens.listed(self.type, "]")
        if name == STORAGE and not args and not self._defines_storage():
            return StorageType()
        self._used.setdefault((name, len(args)), tokens.starts[position])
        return relay.AdtType(name, args)

    def _defines_storage(self) -> bool:
        """Return whether the program defines a data type with the name of TVM's storage."""
        tokens = self.tokens
        if self._own_storage is None:
            kinds, texts = tokens.kinds, tokens.texts
            self._own_storage = any(
                kinds[i] == "type" and texts[i + 1] == STORAGE and self._has_parts(i + 2)
                for i in range(len(kinds) - 1)
            )
        return self._own_storage

    def _has_parts(self, position: int) -> bool:
        """Return whether the definition of a type goes on with parameters or constructors."""
        tokens = self.tokens
        kind = tokens.kinds[position]
        return kind == "[" or (kind == "{" and tokens.kinds[position + 1] != "}")

    def _tensor(self) -> Attribute:
        tokens = self.tokens
        tokens.take("[")
        tokens.take("(")
        dims = tuple(tokens.listed(self._dim, ")"))
        tokens.take(",")
        position = tokens.position
        dtype = tokens.take("ident", "a dtype")
        element = element_type_of(dtype)
        if element is None:
            from ....dialects.attributes import ELEMENT_TYPES

            raise tokens.error(
                f"the dtype {dtype} is not supported{nearest(dtype, ELEMENT_TYPES)}",
                tokens.starts[position],
                len(dtype),
            )
        tokens.take("]")
        return self.tensor_of(element, dims)

    def tensor_of(self, element: Attribute, dims: tuple[int, ...]) -> Attribute:
        """Return the tensor type; equal ones are one object."""
        key = (element, dims)
        type = self._tensors.get(key)
        if type is None:
            type = self._tensors[key] = tensor_type(element, list(dims))
        return type

    def _dim(self) -> int:
        tokens = self.tokens
        if tokens.take_if("?"):
            return DYNAMIC_INDEX
        position = tokens.position
        if tokens.kinds[position] == "meta":
            dim = self._attributes.meta()
            if isinstance(dim, Unread) and dim.is_dim:
                return DYNAMIC_INDEX
            if isinstance(dim, int):
                return dim
            tokens.position = position
            raise tokens.unexpected("a dim")
        dim = tokens.integer("a dim: a number or '?'")
        if dim >= 2**63:
            raise tokens.error(
                f"a dim must be below 2^63, but is {dim}",
                tokens.starts[position],
                tokens.width(position),
            )
        return dim
