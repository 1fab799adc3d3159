"""
Rules: typed functions from operands and attributes to results.

    @rule("relay.nn.dense")
    def dense(data: Tensor, weight: Tensor, *, out_dtype: Element | None) -> Tensor: ...

Positional parameters are the operands: `Tensor`, or `Data` if the result shape depends on the
elements of the operand, which are sizes (or `Measured`, for a measure of them).
Keyword-only parameters are the attributes: `int`, `bool`, `float`, `str`,
a `Literal` of strings, `Ints`, `int | Ints`, `Element`; optional as `… | None`, bounded
by `Annotated` (`AtLeast`, `Length`). Attributes that several functions have in common may be one
parameter, a `NamedTuple` of them. A rule checks their kinds, as a program may contain anything.

Operands and attributes of an op are those of its rule, so a parameter has the default that text
omits: of a `Literal` it is the first word, of `bool` false, unless another is stated.

    @rule("mine.firsts")
    @rule("mine.dyn.firsts", types={"k": Data})
    def firsts(data: Tensor, *, k: int | Data, …) -> Sequence[Tensor]: ...

An attribute that is `Data` in another operator is an operand there, after the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from functools import cache, cached_property, partial
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from .records import record
from .signature import ALL_ELEMENTS, Call, Data, Element, ElementKind, Elements, Measured, Tensor
from .sizes import SignatureError

Ints: TypeAlias = tuple[int, ...]
"""An array of integers."""


@record
class AtLeast:
    """The integer, or each integer of the array, is at least `bound`."""

    bound: int


@record
class Length:
    """The array has `count` entries."""

    count: int


@record
class Default:
    """The attribute is `value` unless it is stated."""

    value: object


Decode: TypeAlias = Callable[[str, object], Any]
"""Checks the value of the attribute of a name, and returns it."""


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _wrong(name: str, value: object, kind: str) -> SignatureError:
    if value is None:
        return SignatureError(f"{{op}} needs {name}, {kind}")
    return SignatureError(f"{name} of {{op}} must be {kind}, but is {_shown(value)}")


def _int(name: str, value: object) -> int:
    if not isinstance(value, int):
        raise _wrong(name, value, "an integer")
    return value


def _bool(name: str, value: object) -> bool:
    return _int(name, value) != 0


def _float(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(name, value, "a float")
    return float(value)


def _str(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(name, value, "a string")
    return value


def _ints(name: str, value: object) -> Ints:
    if isinstance(value, tuple):
        entries = cast("tuple[object, ...]", value)
        if all(isinstance(entry, int) for entry in entries):
            return cast(Ints, entries)
    raise _wrong(name, cast(object, value), "an array of integers")


def _int_or_ints(name: str, value: object) -> int | Ints:
    if isinstance(value, int):
        return value
    if isinstance(value, tuple):
        return _ints(name, cast(object, value))
    raise _wrong(name, value, "an integer or an array of integers")


def _element(name: str, value: object) -> Element:
    if value is None:
        raise _wrong(name, value, "an element type")
    found = ALL_ELEMENTS.get(value) if isinstance(value, str) else value
    if not isinstance(found, Element) or found.kind is ElementKind.OPAQUE:
        raise SignatureError(
            f"{name} must be an integer, index or float type, but is {_shown(value)}"
        )
    return found


def _word(words: Sequence[str]) -> Decode:
    allowed = " or ".join(f'"{word}"' for word in words)

    def decode(name: str, value: object) -> str:
        if _str(name, value) not in words:
            raise SignatureError(f'{name} must be {allowed}, but is "{value}"')
        return cast(str, value)

    return decode


def _optional(decode: Decode) -> Decode:
    return lambda name, value: None if value is None else decode(name, value)


def _bounded(decode: Decode, bounds: Sequence[object]) -> Decode:
    length = next((b.count for b in bounds if isinstance(b, Length)), None)
    least = next((b.bound for b in bounds if isinstance(b, AtLeast)), None)

    def bounded(name: str, value: object) -> Any:
        found = decode(name, value)
        entries: Ints = (found,) if isinstance(found, int) else found
        if length is not None and len(entries) != length:
            raise SignatureError(f"{name} must have {length} entries, but has {len(entries)}")
        if least is not None and min(entries, default=least) < least:
            raise SignatureError(f"{name} must be at least {least}, but is {min(entries)}")
        return found

    return bounded


_DECODE: Mapping[object, Decode] = {
    int: _int,
    bool: _bool,
    float: _float,
    str: _str,
    Ints: _ints,
    Element: _element,
}


def _decoder(annotation: object) -> Decode:
    """Return the check of an attribute annotated so."""
    found = _DECODE.get(annotation)
    if found is not None:
        return found
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bounded(_decoder(args[0]), args[1:])
    if origin is Literal:
        return _word(args)
    if origin in (Union, UnionType):
        decode = _of_any([arg for arg in args if arg not in (NoneType, Data)])
        return _optional(decode) if NoneType in args else decode
    raise TypeError(f"a rule cannot have an attribute of type {annotation}")


def _of_any(annotations: Sequence[object]) -> Decode:
    """Return the check of an attribute that may be of any of these types."""
    if len(annotations) == 1:
        return _decoder(annotations[0])
    if set(annotations) == {int, Ints}:
        return _int_or_ints
    raise TypeError(f"a rule cannot have an attribute of these types: {annotations}")


SCRATCH = "relay.scratch"
"""The operator whose result has no contents: memory that compiled code of a kernel may use."""

LEAST_DIVIDED = 600_000
"""The multiplications for which a second thread pays: twice XRELAY_PART of threads.c."""


class Work(Enum):
    """The work of an operator's kernel, whatever its operands and attributes."""

    LINEAR = auto()
    """
    Moves elements or computes each by itself, in time linear in the operands and the result.

    Only weights that such operators derive from others may be computed when they are read.
    """
    PRODUCTS = auto()
    """Sums products of elements, for which NumPy calls a BLAS library."""
    ANY = auto()
    """Anything else. The product of two matrices of n elements takes n ^ 1.5 steps, for example."""


Function = TypeVar("Function", bound=Callable[..., Tensor | Sequence[Tensor]])


class Parameters(NamedTuple):
    """The operands and attributes of a rule, as its function is typed."""

    operands: tuple[str, ...]
    """The operands in order; of a variadic one the last name is that of all further ones."""
    variadic: bool
    named: tuple[str, ...]
    """The operands that are passed by name, after the others."""
    data_operands: tuple[int, ...]
    size_operands: tuple[int, ...]
    types: Mapping[str, object]
    """The annotation of each attribute."""
    decoders: tuple[tuple[str, Decode], ...]
    groups: Mapping[str, Any]
    """The parameters that are several attributes, with the class of each."""
    unread: tuple[str, ...]
    """The attributes that only the formula reads."""
    defaults: Mapping[str, object]
    """The values that attributes have by default."""


class Rule:
    """
    The rule of an operator, made of a typed function.

        @Rule                                   @Rule.with_work(Work.LINEAR)
        def area(box: Tensor) -> Tensor: ...    def clamp(data: Tensor) -> Tensor: ...

    `attributes` are the names of its attributes; `data_operands` the indices of the operands
    whose elements it reads, and `size_operands` of those among them whose elements are sizes.
    """

    def __init__(
        self,
        function: Callable[..., Tensor | Sequence[Tensor]],
        work: Work = Work.ANY,
        types: Mapping[str, object] = {},
        formula: Callable[..., Any] | None = None,
    ) -> None:
        """
        Make the rule of a function; `types` are those that differ between operators of it.

        `formula` may read other attributes, which are checked, too.
        """
        self.function = function
        self.work = work
        self.types = types
        self.formula = formula

    @cached_property
    def parameters(self) -> Parameters:  # late: most programs use few operators
        operands, named, data, sizes = list[str](), list[str](), list[int](), list[int]()
        variadic = False
        types, groups, defaults = dict[str, object](), dict[str, Any](), dict[str, object]()
        for parameter in signature(self.function, eval_str=True).parameters.values():
            name = parameter.name
            annotation: Any = self.types.get(name, parameter.annotation)
            defaults |= _defaults(parameter)
            if parameter.kind is Parameter.VAR_POSITIONAL:
                variadic = True
                operands.append(name)
            elif parameter.kind is Parameter.KEYWORD_ONLY and annotation is not Data:
                types |= attribute_types(name, annotation)
                groups |= {name: annotation} if hasattr(annotation, "_fields") else {}
            else:
                named += [name] if parameter.kind is Parameter.KEYWORD_ONLY else []
                data += [len(operands)] if annotation in (Data, Measured) else []
                sizes += [len(operands)] if annotation is Data else []
                operands.append(name)
        unread = dict[str, object]()
        for parameter in _keywords(self.formula):
            unread |= attribute_types(parameter.name, parameter.annotation)
            defaults |= _defaults(parameter)
        unread = {name: annotation for name, annotation in unread.items() if name not in types}
        types |= {name: self.types[name] for name in types if name in self.types}
        types |= unread
        decoders = tuple((name, _decoder(annotation)) for name, annotation in types.items())
        of_operands = tuple(operands), variadic, tuple(named), tuple(data), tuple(sizes)
        return Parameters(*of_operands, types, decoders, groups, tuple(unread), defaults)

    @classmethod
    def with_work(cls, work: Work) -> Callable[[Callable[..., Tensor | Sequence[Tensor]]], Rule]:
        """Return a decorator that makes the rule of an operator whose kernel does `work`."""
        return partial(cls, work=work)

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self.parameters.types)

    def words(self, attribute: str) -> tuple[str, ...]:
        """Return the words that an attribute accepts, those of its `Literal`."""
        return get_args(self.parameters.types[attribute])

    @property
    def data_operands(self) -> tuple[int, ...]:
        return self.parameters.data_operands

    @property
    def size_operands(self) -> tuple[int, ...]:
        return self.parameters.size_operands

    def __call__(self, call: Call) -> Sequence[Tensor]:
        """Return the results of `call`; raise `SignatureError` if it is not valid."""
        name, attributes, operands, elements = call
        names, variadic, named, data, _, _, decoders, groups, unread, _ = self.parameters
        try:
            if len(operands) != len(names) or variadic:
                self._check_count(len(operands))
            for operand in operands:
                if isinstance(operand, str):
                    raise self._not_a_tensor(operands)
            given = {key: decode(key, attributes.get(key)) for key, decode in decoders}
            for key in unread:
                del given[key]
            for key, group in groups.items():
                given[key] = group(*(given.pop(field) for field in group._fields))
            args = self._with_data(operands, elements) if data else operands
            if named:
                given |= zip(named, args[-len(named) :], strict=True)
                args = args[: -len(named)]
            result = self.function(*args, **given)
        except SignatureError as error:
            raise SignatureError(str(error).replace("{op}", name)) from None
        return (result,) if isinstance(result, Tensor) else result

    def _check_count(self, given: int) -> None:
        names, variadic, *_ = self.parameters
        count = len(names) - variadic
        if given < count or (given > count and not variadic):
            at_least = "at least " if variadic else ""
            operands = "operand" if count == 1 else "operands"
            raise SignatureError(f"{{op}} expects {at_least}{count} {operands}, but got {given}")

    def _with_data(
        self, operands: Sequence[Tensor | str], elements: Mapping[int, Elements]
    ) -> Sequence[Tensor | Data | str]:
        args: list[Tensor | Data | str] = list(operands)
        for i in self.data_operands:
            operand = operands[i]
            assert isinstance(operand, Tensor)
            args[i] = Measured(operand, elements.get(i))
        return args

    @staticmethod
    def _not_a_tensor(operands: Sequence[Tensor | str]) -> SignatureError:
        i, operand = next((i, o) for i, o in enumerate(operands) if isinstance(o, str))
        return SignatureError(f"operand {i} of {{op}} must be a tensor, but is {operand}")


def attribute_types(name: str, annotation: Any) -> Mapping[str, object]:
    """Return the types of the attributes that a parameter stands for."""
    is_group = hasattr(annotation, "_fields")
    return get_type_hints(annotation, include_extras=True) if is_group else {name: annotation}


def _defaults(parameter: Parameter) -> Mapping[str, object]:
    """Return the defaults of the attributes that a parameter stands for, as far as it has some."""
    if parameter.default is not Parameter.empty:
        return {parameter.name: parameter.default}
    return getattr(parameter.annotation, "_field_defaults", {})


def _keywords(function: Callable[..., Any] | None) -> Sequence[Parameter]:
    """Return the keyword-only parameters of a function, if there is one."""
    parameters = () if function is None else signature(function, eval_str=True).parameters.values()
    return [each for each in parameters if each.kind is Parameter.KEYWORD_ONLY]


RULES: dict[str, Rule] = {}
"""The rule of each operator of `relay`, by its full name ("relay.nn.dense")."""


@cache
def _rule_of(function: Callable[..., Tensor | Sequence[Tensor]], work: Work) -> Rule:
    return Rule(function, work)


def rule(
    *names: str,
    work: Work = Work.ANY,
    types: Mapping[str, object] | None = None,
    formula: Callable[..., Any] | None = None,
) -> Callable[[Function], Function]:
    """Register a typed function as the rule of the operators called `names`; see `Rule`."""
    is_shared = types is None and formula is None

    def register(function: Function) -> Function:
        made = _rule_of(function, work) if is_shared else Rule(function, work, types or {}, formula)
        for name in names:
            assert name not in RULES, f"{name} has two rules"
            RULES[name] = made
        return function

    return register
