"""
The grammar of attribute values, and references to the metadata.

    value := NUMBER | 'True' | 'False' | STRING | META | '[' value,* ']' | '(' value ')' | 'None'
           | '{' (key '=' value),* '}' | QUOTED | '?'

Values become Python values.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ..json.metadata_section import Metadata
from ..json.node_graph import GraphError
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
