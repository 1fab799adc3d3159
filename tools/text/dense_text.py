"""
Dense constants, whose numbers are read at once, and of which a splat is stored once.

    dense<[[0.5, -1.0], [2.5, 1.0e-2]]> : tensor<2x2xf32>
          ----------------------------

xDSL's parser makes several objects for each number, and a new constraint for each type. Here an
expression finds all numbers of a list in decimal notation, and what remains without them, brackets
and commas, is compared with those of a list of such a shape. Lists of anything else, and those that
do not fit their type, are left to xDSL's parser, so its errors are the same.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias, cast, get_args

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    RankedStructure,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute

from ...dialects.xdsl_extras.xdsl_internals import HookedParser
from .repeated_text import Aliases

_SPLAT = re.compile(r'<\s*(?:"0x([0-9A-Fa-f]*)"|[^\s\[">])')
"""The start of a constant that may have one value for all elements: a number, or one in hex."""

_LIST = re.compile(r"<(\s*+\[[0-9eE+\-.,\[\]\s]*+)>", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]++")
_FLOAT = re.compile(r"-?[0-9]++\.[0-9]*+(?:[eE][+-]?[0-9]++)?+")
_SPACES = dict.fromkeys(map(ord, " \t\n\r\f\v"))

_RANKED = (TensorType, VectorType, MemRefType)
_FLOATS = frozenset[type[Attribute]](get_args(AnyFloat))
_INTEGERS = frozenset[type[Attribute]]((IntegerType, IndexType))
_ELEMENTS = _FLOATS | _INTEGERS

_MAX_RANK = 16

AnyConstant: TypeAlias = DenseIntOrFPElementsAttr[Any]


def nested(shape: Sequence[int]) -> str:
    """Return a list of this shape with an `n` for each number: `[[n,n],[n,n]]`."""
    text = "n"
    for size in reversed(shape):
        text = f"[{','.join([text] * size)}]"
    return text


def shape_of(text: str) -> tuple[int, ...] | None:
    """Return the shape of which `text` is the nested list; None if it is of none."""
    rank = len(text) - len(text.lstrip("["))
    if rank > _MAX_RANK:
        return None
    # k brackets are closed for the first time after the first inner list of rank k
    ends = [text.find("]" * depth) for depth in range(rank, 0, -1)]
    counts = [text.count("n", 0, end) for end in ends]
    if 0 in counts:
        return None
    shape = tuple(outer // inner for outer, inner in pairwise([*counts, 1]))
    return shape if nested(shape) == text else None


@dataclass
class _Splat:
    """A constant that has one value for all elements, while it is parsed."""

    digits: str | None
    """The value in hexadecimal, if it is written so."""
    type: RankedStructure[Any] | None = None
    """The type of the constant if it has several elements."""


class DenseText:
    """The dense constants that `parser` reads."""

    def __init__(self, parser: HookedParser, aliases: Aliases) -> None:
        self.parser, self.aliases = parser, aliases
        self._splat: _Splat | None = None
        """The splat whose type is parsed next."""

    def constant(self, parse: Callable[[], AnyConstant]) -> AnyConstant:
        """Return the constant that is next, whose type follows it; `parse` parses any other."""
        self._splat = None
        content, at = self.parser.lexer.input.content, self.parser.pos
        if (splat := _SPLAT.match(content, at)) is not None:
            return self._parse_splat(_Splat(splat[1]), parse)
        if (numbers := _LIST.match(content, at)) is not None:
            constant = self._parse_list(numbers[1], numbers.end())
            if constant is not None:
                return constant
        return parse()

    def type(self, parse: Callable[[], RankedStructure[Any]]) -> RankedStructure[Any]:
        """Return the type of a constant; of a splat, one that has one element."""
        splat, self._splat = self._splat, None
        type = self._parse_ranked_type() or parse()
        if splat is None or prod(type.get_shape()) < 2:
            return type
        if splat.digits is not None:
            if len(splat.digits) != 2 * type.element_type.compile_time_size:
                return type
        splat.type = type
        return TensorType(type.element_type, [])

    def _parse_splat(self, splat: _Splat, parse: Callable[[], AnyConstant]) -> AnyConstant:
        """Let the type appear to have one element."""
        self._splat = splat
        constant = parse()
        return (
            constant if splat.type is None else DenseIntOrFPElementsAttr(splat.type, constant.data)
        )

    def _parse_list(self, text: str, end: int) -> DenseIntOrFPElementsAttr[Any] | None:
        """Parse the list `text` and its type; return None, with nothing changed, if it is wrong."""
        has_floats = "." in text
        number = _FLOAT if has_floats else _INTEGER
        shape = shape_of(number.sub("n", text).translate(_SPACES))
        if shape is None:
            return None
        values = list(map(float if has_floats else int, number.findall(text)))
        start, expanded = self.parser.pos, self.aliases.expanded
        self.parser.skip_to(end)
        self.parser.parse_punctuation(":", " in dense attribute")
        type = self.parser.read_dense_type()
        if shape == type.get_shape() and _holds(type.element_type, has_floats, "-" in text):
            return DenseIntOrFPElementsAttr[Any].from_list(type, values)
        self.parser.skip_to(start)
        self.aliases.expanded = expanded
        return None

    def _parse_ranked_type(self) -> RankedStructure[Any] | None:
        """Parse the type of a constant; return None, with nothing changed, if it is wrong."""
        start, expanded = self.parser.pos, self.aliases.expanded
        found = self.parser.parse_optional_type()
        if isinstance(found, _RANKED):
            ranked = cast(RankedStructure[Any], found)
            if type(ranked.element_type) in _ELEMENTS and ranked.has_static_shape():
                return ranked
        self.parser.skip_to(start)
        self.aliases.expanded = expanded
        return None


def _holds(element: Any, floats: bool, negative: bool) -> bool:
    """Test whether a tensor of `element` can have such numbers, apart from their size."""
    if type(element) is IntegerType and negative:
        is_unsigned = cast(Any, element).signedness.data is Signedness.UNSIGNED
        return not floats and not is_unsigned
    return type(element) in (_FLOATS if floats else _INTEGERS)
