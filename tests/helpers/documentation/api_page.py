"""The page of the Python API: the names that `xrelay` exports, with their docstrings."""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from types import FunctionType
from typing import Any, cast

PACKAGE = "xrelay"


def parts() -> Iterator[str]:
    """Yield the text of the page: functions first, then classes."""
    package = import_module(PACKAGE)
    named = {name: getattr(package, name) for name in package.__all__}
    yield inspect.cleandoc(package.__doc__ or "")
    for name, thing in named.items():
        if isinstance(thing, FunctionType):
            yield _function(f"## `{PACKAGE}.{name}`", f"{PACKAGE}.{name}", thing)
    for name, thing in named.items():
        if isinstance(thing, type):
            yield from _class(name, thing)


def _class(name: str, cls: type[Any]) -> Iterator[str]:
    bases = [base.__name__ for base in cls.__bases__ if base.__name__ in _ERRORS]
    derived = f"\n\nDerived from `{bases[0]}`." if bases else ""
    yield f"## `{PACKAGE}.{name}`\n\n{inspect.getdoc(cls) or ''}{derived}"
    bases = [base for base in cls.__mro__ if base is not cls and base in _shared()]
    for member, value in {k: v for c in (cls, *bases) for k, v in vars(c).items()}.items():
        if member.startswith("_") and member != "__call__":
            continue
        if isinstance(value, property | cached_property):
            doc = inspect.getdoc(cast(Any, value)) or ""
            yield f"### `{name}.{member}`\n\n{doc}"
        elif isinstance(value, FunctionType):
            instance = _INSTANCES.get(name, name)
            shown = instance if member == "__call__" else f"{instance}.{member}"
            yield _function(f"### `{name}.{member}`", shown, value)


def _shared() -> tuple[type, ...]:
    """Return the bases whose members are those of exported classes."""
    return (import_module(f"{PACKAGE}.runtime.python.callables").Callables,)


_INSTANCES = {"Executable": "exe", "NativeExecutable": "exe", "CompiledFunction": "function"}
"""The names of instances in the signatures of methods."""

_ALIASES = {
    "_Params": "_Path | Mapping[str, Array]",
    "_Path": "str | PathLike[str]",
    "_Shapes": "Mapping[str, Sequence[int | None]]",
    "_Inputs": "Mapping[str, float | Sequence[Any] | Array]",
}
"""The private names in signatures, and their meanings."""

_ERRORS = ("Exception", "Error", "MachineError")
"""The bases that are shown."""


def _function(heading: str, shown: str, function: FunctionType) -> str:
    return (
        f"{heading}\n\n```python\n{_signature(shown, function)}\n```\n\n{inspect.getdoc(function)}"
    )


def _signature(name: str, function: FunctionType) -> str:
    """Return the signature on one line, or with a line for each parameter."""
    signature = inspect.signature(function)
    found = [str(p) for p in signature.parameters.values() if p.name != "self"]
    kinds = [p.kind for p in signature.parameters.values() if p.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        found.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    result = f" -> {_plain(str(signature.return_annotation))}"
    found = [_plain(text) for text in found]
    line = f"{name}({', '.join(found)}){result}"
    if len(line) <= 100:
        return line
    return "\n".join((f"{name}(", *(f"    {text}," for text in found), f"){result}"))


def _plain(annotated: str) -> str:
    """Return `annotated` without quotes and private names."""
    text = re.sub(r": '(.*?)'", r": \1", annotated)
    for name, meant in _ALIASES.items():
        text = text.replace(name, meant)
    return text
