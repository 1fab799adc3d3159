"""
Load dialects, passes and targets: xDSL's, ours, and those of plug-ins.

A plug-in is a package with an entry point in the group `xdsl.universe`. xDSL's own loader fails as
a whole when one of them does; here each is loaded separately, and one that is broken, or that
defines a name that is defined already, is reported and skipped.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import EntryPoint
from typing import Any, TypeVar, cast

from xdsl.ir import Dialect, TypeAttribute
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from ...dialects.xdsl_extras.late_definitions import late_definitions
from ...runtime.entry_points import entry_points_of
from ..plugin_faults import title_of
from ..registry import UNIVERSE, pass_info

GROUP = "xdsl.universe"
BUILT_IN = ("xdsl.universe:XDSL_UNIVERSE", "xrelay.tools.registry:UNIVERSE")

KINDS = {"dialect": "all_dialects", "pass": "all_passes", "target": "all_targets"}
"""The fields of a universe, by the kind of what they hold."""

_T = TypeVar("_T")


class PluginError(DiagnosticException):
    """An error in a plug-in when a dialect, pass or target of it is loaded."""


def load_universe(warn: Callable[[str], None]) -> Universe:
    """
    Return all dialects, passes and targets that are installed, ours first.

    `warn` is called with a sentence about each plug-in that is skipped.
    """
    everything = Universe()
    _add(everything, UNIVERSE)
    _add(everything, XDSL_UNIVERSE)
    owners = dict.fromkeys(_names(XDSL_UNIVERSE), "xdsl")
    owners |= dict.fromkeys(_names(UNIVERSE), "xrelay")
    plugins = [p for p in entry_points_of(GROUP) if p.value not in BUILT_IN]
    for plugin in sorted(plugins, key=title_of):
        try:
            with _own_output():
                universe = _load(plugin)
            names = _names(universe)
        except (Exception, SystemExit) as error:
            warn(f"{title_of(plugin)} is skipped: {_reason(error)}")
            continue
        taken = next((name for name in names if name in owners), None)
        if taken is not None:
            warn(
                f"{title_of(plugin)} is skipped: it defines {taken}, which {owners[taken]} defines"
            )
            continue
        owners |= dict.fromkeys(names, title_of(plugin))
        _add(everything, universe, title_of(plugin))
    return everything


@contextmanager
def _own_output() -> Generator[None]:
    """Redirect what a plug-in prints to stderr: stdout is the command's."""
    with redirect_stdout(sys.stderr):
        yield


def _reason(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _load(plugin: EntryPoint) -> Universe:
    universe = cast(object, plugin.load())
    if not isinstance(universe, Universe):
        raise TypeError(f"'{plugin.value}' is not an xdsl.universe.Universe")
    for field in KINDS.values():
        if not isinstance(getattr(universe, field), dict):
            raise TypeError(f"{field} of '{plugin.value}' is not a dict of factories by name")
    return universe


def _names(universe: Universe) -> list[str]:
    """Return what `universe` defines, in words: "dialect 'relay'"."""
    return [f"{kind} '{name}'" for kind in KINDS for name in _of(universe, kind)]


def _of(universe: Universe, kind: str) -> dict[str, Callable[[], Any]]:
    return getattr(universe, KINDS[kind])


def _add(everything: Universe, universe: Universe, owner: str | None = None) -> None:
    for kind in KINDS:
        for name, factory in _of(universe, kind).items():
            wrapped = _late(factory) if owner is None else _checked(factory, kind, name, owner)
            _of(everything, kind)[name] = wrapped


def _late(factory: Callable[[], _T]) -> Callable[[], _T]:
    """Wrap `factory` so that its ops, which are known to be right, are defined late."""

    def load() -> _T:
        with late_definitions():
            return factory()

    return load


def _checked(factory: Callable[[], _T], kind: str, name: str, owner: str) -> Callable[[], _T]:
    """Wrap `factory` so that its errors name the plug-in."""

    def load() -> _T:
        try:
            with _own_output():
                value = factory()
            if wrong := _what_is_wrong(value, kind, name):
                raise TypeError(wrong)
        except (Exception, SystemExit) as error:
            reason = _reason(error)
            raise PluginError(f"{owner}: {kind} '{name}' cannot be loaded: {reason}") from error
        return value

    return load


def _what_is_wrong(product: object, kind: str, name: str) -> str | None:
    """Return why `product` is not the dialect, pass or target `name`; None when it is."""
    if kind == "dialect":
        if not isinstance(product, Dialect):
            return f"its factory must return a Dialect, but returns {product!r}"
        if product.name != name:
            return f"its factory returns the dialect '{product.name}'"
        return _wrong_name(product)
    wanted = ModulePass if kind == "pass" else Target
    if not (isinstance(product, type) and issubclass(product, wanted)):
        return f"its factory must return a subclass of {wanted.__name__}, but returns {product!r}"
    if product.name != name:
        return f"its factory returns the {kind} '{product.name}'"
    if issubclass(product, ModulePass):
        pass_info(name, product)  # raises what is wrong with the types of its options
    return None


def _wrong_name(dialect: Dialect) -> str | None:
    """Return what is wrong with the names in `dialect`, before it is loaded."""
    types = [a for a in dialect.attributes if issubclass(a, TypeAttribute)]
    others = [a for a in dialect.attributes if not issubclass(a, TypeAttribute)]
    for kind, classes in (("op", dialect.operations), ("type", types), ("attribute", others)):
        seen: set[str] = set()
        for name in (cls.name for cls in classes):
            if not name.startswith(f"{dialect.name}."):
                return f"its {kind} '{name}' must be called '{dialect.name}.…'"
            if name in seen:
                return f"it has two {kind}s '{name}'"
            seen.add(name)
    return None
