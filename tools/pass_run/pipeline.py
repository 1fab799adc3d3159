"""
Parse pipelines such as `vm,canonicalize{…}`, with errors that name the cure.

    pipeline ::= element (`,` element)*
    element  ::= name options? | `mlir-opt` `[` text `]`
    options  ::= `{` (name (`=` value (`,` value)*)?)* `}`
    value    ::= string-literal | any text without space , { } = "

This is xDSL's syntax, and in addition: mlir-opt's `builtin.module(…)` may enclose it; a name may be
that of a pipeline, which has options like a pass; a bare boolean option is true; white space is
allowed between any two tokens; the value of a string option need not be quoted
(`plan-devices{default=cuda:0}`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache, partial
from inspect import signature
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, ParameterListType, ParameterType
from xdsl.utils.hints import isa, type_repr

from ...operators.records import record
from ...operators.spelling import did_you_mean
from ...passes.support.diagnostics import Message, OptionError, Severity
from ..errors import CommandLineError
from ..messages import PipelineError, place
from ..registry import alternatives, option_text, type_text
from .pipeline_steps import Fail, Step, shown

if TYPE_CHECKING:  # loaded only if a pipeline is named
    from ...lowering.pipelines import Pipeline

PIPELINE = "pipeline"
"""The file name in messages about the text of a pipeline on the command line."""

TARGET = "target"
"""The file name in messages about the text of a target on the command line."""

Passes: TypeAlias = Mapping[str, Callable[[], type[ModulePass]]]
Pipelines: TypeAlias = "Mapping[str, type[Pipeline]]"

TOKEN = re.compile(
    r"""\s*(?: (?P<string> "(?:[^"\\\n]|\\.)*" )
         | (?P<mlir> \[ [^\]]* \] )
         | (?P<mark> [{}=,] )
         | (?P<word> [^\s,{}="\[\]]+ )
         | (?P<end> $ ) )""",
    re.VERBOSE,
)
WHOLE_MODULE = re.compile(r"(\s*builtin\.module\s*\()(.*)\)\s*", re.S)
"""The pipeline of a module, as mlir-opt has it."""

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


def unknown_pass(name: str, known: Iterable[str]) -> str:
    """Return the message for a name that is not one of the `known` passes and pipelines."""
    if name.count("(") > name.count(")"):
        cure = ": expected ')' at its end"
    elif "(" in name:
        cure = ": passes run on the whole module, not on ops in it"
    else:
        cure = did_you_mean(name, known) or "; xrelay-opt --list-passes lists all"
    return f"unknown pass or pipeline '{name}'{cure}"


@record
class Value:
    """One value of an option, as written."""

    text: str
    quoted: bool

    def typed(self) -> ParameterType:
        """Convert the text to a boolean or a number if it looks like one; else to a string."""
        if self.quoted:
            return self.text
        if self.text in ("true", "false"):
            return self.text == "true"
        if re.fullmatch(r"[-+]?[0-9]+", self.text):
            return int(self.text)
        if re.fullmatch(r"[-+]?[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?", self.text):
            return float(self.text)
        return self.text


@record
class Option:
    """One option of an element: its position and its values."""

    name: str
    at: int
    values: tuple[Value, ...]


@record
class Element:
    """The name of a pass or pipeline, with its options."""

    name: str
    at: int
    options: tuple[Option, ...] | None = None
    """None when there were no braces."""
    mlir: str | None = None
    """The text in the brackets of `mlir-opt[…]`."""


@dataclass
class _Text:
    """Pipeline text, read from left to right."""

    text: str
    name: str
    next: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if match := WHOLE_MODULE.fullmatch(self.text):  # in place, for the places of errors
            self.text = " " * len(match[1]) + match[2]

    def fail(self, message: str, at: int, width: int = 1) -> PipelineError:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        where = place(self.name, line, column)
        return PipelineError(Message(Severity.ERROR, message, where), width)

    def peek(self) -> tuple[str, str, int]:
        """Return kind, text and position of the next token."""
        match = TOKEN.match(self.text, self.next)
        if match is None or match.lastgroup is None:
            at = self.next + len(self.text[self.next :]) - len(self.text[self.next :].lstrip())
            raise self.fail("unfinished string or bracket", at)
        return match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)

    def take(self) -> tuple[str, str, int]:
        token = self.peek()
        self.next = token[2] + len(token[1])
        return token

    def take_if(self, mark: str) -> bool:
        if self.peek()[:2] != ("mark", mark):
            return False
        self.take()
        return True

    def word(self, what: str) -> tuple[str, int]:
        kind, text, at = self.take()
        if kind != "word":
            shown = f"'{text}'" if text else "the end"
            raise self.fail(f"expected {what}, but got {shown}", at, len(text))
        return text, at


def parse(text: str, name: str = PIPELINE) -> list[Element]:
    """Parse the elements of pipeline `text`; `PipelineError` with a place in `name`."""
    return list(_elements(_Text(text, name)))


def _elements(text: _Text) -> Iterator[Element]:
    if text.peek()[0] == "end":
        return
    while True:
        word, at = text.word("the name of a pass")
        kind, token, _ = text.peek()
        if kind == "mlir":
            text.take()
            if word != "mlir-opt":
                message = f"'{word}' takes no [pipeline]; only 'mlir-opt' does"
                raise text.fail(message, at, len(word))
            yield Element(word, at, None, token[1:-1])
        elif text.take_if("{"):
            yield Element(word, at, tuple(_options(text)))
        else:
            yield Element(word, at)
        kind, token, at = text.take()
        if kind == "end":
            return
        if token != ",":
            raise text.fail(f"expected ',' before the next pass, but got '{token}'", at, len(token))


def _options(text: _Text) -> Iterator[Option]:
    while not text.take_if("}"):
        name, at = text.word("the name of an option or '}'")
        values: list[Value] = []
        if text.take_if("="):
            values.append(_value(text))
            while text.take_if(","):
                values.append(_value(text))
        yield Option(name, at, tuple(values))


def _value(text: _Text) -> Value:
    kind, token, _ = text.peek()
    if kind == "string":
        text.take()
        unescaped = re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), token[1:-1])
        return Value(unescaped, True)
    return Value(text.word("the value of the option")[0], False)


def build(
    text: str, passes: Passes, pipelines: Callable[[], Pipelines], name: str = PIPELINE
) -> list[Step]:
    """
    Return the passes that `text` names, in order.

    `pipelines` is called only for a name that is not that of a pass. Raises `PipelineError`.
    """
    return list(_Known(passes, pipelines).steps(_Text(text, name)))


def pass_names(text: str, passes: Passes, pipelines: Callable[[], Pipelines]) -> Iterator[str]:
    """Yield the names of the passes that `text` names; options of passes need not be right."""
    read, known = _Text(text, PIPELINE), _Known(passes, pipelines)
    for element in list(_elements(read)):
        if element.name in passes:
            yield element.name
        else:
            yield from (step.run.name for step in known.expanded(read, element))


@record
class _Known:
    """The passes and pipelines that names are of, and the ones that are being expanded."""

    passes: Passes
    pipelines: Callable[[], Pipelines]
    groups: tuple[str, ...] = ()
    fail: Fail | None = None
    """Of the outermost of the pipelines that are being expanded."""

    def steps(self, text: _Text) -> Iterator[Step]:
        for element in list(_elements(text)):
            if element.name in self.passes:
                run = _pass(text, element, self.passes[element.name]())
                yield Step(run, self.groups, self.fail or partial(_at_option, text, element))
            else:
                yield from self.expanded(text, element)

    def expanded(self, text: _Text, element: Element) -> Iterator[Step]:
        """Yield the passes of the pipeline that `element` names."""
        named, width = self.pipelines(), len(element.name)
        if element.name not in named:
            message = unknown_pass(element.name, [*named, *self.passes])
            raise text.fail(message, element.at, width)
        groups = (*self.groups, element.name)
        if element.name in self.groups:
            path = " -> ".join(groups)
            raise text.fail(f"pipelines contain each other: {path}", element.at, width)
        inner = _instance(text, element, named[element.name], "pipeline").text
        fail = self.fail or partial(_at_option, text, element)
        inside = replace(self, groups=groups, fail=fail)
        yield from inside.steps(_Text(inner, f"pipeline '{element.name}'"))


def _at_option(text: _Text, element: Element, error: OptionError) -> PipelineError:
    """Return `error` at the option of `element` that it is about, or at the name."""
    at, name = element.at, element.name
    for option in element.options or ():
        if option.name == shown(error.option):
            at, name = option.at, option.name
    return text.fail(error.message, at, len(name))


def _pass(text: _Text, element: Element, cls: type[ModulePass]) -> ModulePass:
    if element.mlir is not None:
        arguments = (
            "--mlir-print-op-generic",
            "--allow-unregistered-dialect",
            "-p",
            f"builtin.module({element.mlir})",
        )
        return cls.from_spec(ArgSpec(element.name, {"arguments": arguments}))
    return _instance(text, element, cls, "pass")


_Named = TypeVar("_Named", bound=ArgSpecConvertible)


@cache
def _option_types(cls: type[ArgSpecConvertible]) -> Mapping[str, Any]:
    return get_type_hints(cls)


def _instance(text: _Text, element: Element, cls: type[_Named], kind: str) -> _Named:
    """Make a pass, pipeline or target, by `kind`, with its options, each of which is checked."""
    title = f"{kind} '{element.name}'"
    known = {f.name: f for f in fields(cls) if f.name != "name" and f.init}
    types = _option_types(cls)
    given: dict[str, ParameterListType] = {}
    for option in element.options or ():
        key = option.name.replace("-", "_")
        if key not in known:
            raise text.fail(_no_option(title, option.name, known), option.at, len(option.name))
        if key in given:
            message = f"option '{option.name}' is given twice"
            raise text.fail(message, option.at, len(option.name))
        try:
            given[key] = _convert(option.values, types[key])
        except ValueError as error:
            message = f"option '{option.name}' of {title} {error}"
            raise text.fail(message, option.at, len(option.name)) from None
    missing = [shown(f.name) for f in known.values() if _is_required(f, types)]
    missing = [name for name in missing if name.replace("-", "_") not in given]
    if missing:
        message = f"{title} needs option '{missing[0]}'"
        raise text.fail(message, element.at, len(element.name))
    if not given and cls.name == element.name:
        return cls()  # `from_spec` evaluates the types of all options
    try:
        return cls.from_spec(ArgSpec(element.name, given))
    except ValueError as error:
        message = f"{title}: {error}"
        raise text.fail(message, element.at, len(element.name)) from error


def build_target(text: str, targets: Mapping[str, Callable[..., Any]]) -> tuple[str, Any]:
    """
    Return the name and the target that follow `-t`, in the syntax of a pass: `native{cpu=native}`.

    An old target of a plug-in is a function. Raises `CommandLineError` for an unknown one, and
    `PipelineError` for text that is wrong, and options that it lacks.
    """
    read = _Text(text, TARGET)
    name, start = read.word("the name of a target")
    element = Element(name, start, tuple(_options(read)) if read.take_if("{") else None)
    kind, token, at = read.take()
    if kind != "end":
        raise read.fail(f"expected the end of the target, but got '{token}'", at, len(token))
    entry = targets.get(name)
    if entry is None:
        message = f"argument -t/--target: invalid choice: '{name}' (choose from "
        raise CommandLineError(f"{message}{', '.join(targets)})")
    is_function = bool(signature(entry).parameters)
    return name, entry if is_function else _instance(read, element, entry(), "target")


def _no_option(title: str, option: str, known: Mapping[str, Field[Any]]) -> str:
    names = [shown(name) for name in known]
    message = f"{title} has no option '{option}'"
    if not names:
        return f"{message} (it accepts none)"
    near = did_you_mean(shown(option), names)
    return f"{message} (it accepts: {', '.join(names)}){near}"


def _is_required(option: Field[Any], types: Mapping[str, Any]) -> bool:
    return (
        option.default is MISSING
        and option.default_factory is MISSING
        and NoneType not in alternatives(types[option.name])
    )


_EXPECTED = {str: "a string", int: "an integer", float: "a number", bool: "true or false"}


def _expected(type_: Any) -> str:
    """Return the values that an option takes: `an integer`, `one of fast, small`."""
    members = [member for member in alternatives(type_) if member is not NoneType]
    texts = [_EXPECTED.get(member) for member in members]
    known = [text for text in texts if text is not None]
    return " or ".join(known) if len(known) == len(texts) else type_text(type_)


def _convert(values: tuple[Value, ...], type_: Any) -> ParameterListType:
    """Convert values for `ModulePass.from_spec` to `type_`; ValueError if impossible."""
    if not values:
        if bool in alternatives(type_):
            return (True,)
        if NoneType in alternatives(type_) or isa((), type_):
            return ()
        raise ValueError("needs a value")
    typed = tuple(value.typed() for value in values)
    if float in alternatives(type_):
        typed = tuple(float(value) if type(value) is int else value for value in typed)
    as_text = tuple(value.text for value in values)
    for candidate in (typed, as_text):
        is_bool = any(isinstance(value, bool) for value in candidate)
        if is_bool and "bool" not in type_repr(type_):  # to Python, true is a number
            continue
        if (len(candidate) == 1 and isa(candidate[0], type_)) or isa(candidate, type_):
            return candidate
    given = ",".join(option_text(value) for value in typed)
    raise ValueError(f"must be {_expected(type_)}, but is {given}")
