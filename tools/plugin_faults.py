"""
Name the plug-in in whose code an unexpected error was raised.

    ZeroDivisionError in expand_swish.py    ->    plug-in 'demo' (package xrelay-example-plugin)

A plug-in is known by its entry points: its code is in the packages that they name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..runtime.entry_points import entry_points_of
from ..runtime.errors import Error, MachineError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUPS = ("xdsl.universe", "xrelay.kernels", "xrelay.linalg")
"""The groups of entry points by which plug-ins are found."""

OURS = ("xrelay", "xdsl")
"""The packages that have entry points in these groups, but are not plug-ins."""

SHOWN = "--traceback shows where it was raised"


def title_of(plugin: EntryPoint) -> str:
    """Return the plug-in's name for users: its entry point and package."""
    package = f" (package {plugin.dist.name})" if plugin.dist is not None else ""
    return f"plug-in '{plugin.name}'{package}"


def plugin_of(error: BaseException) -> str | None:
    """Return the title of the plug-in in whose code, or in a call of which, `error` was raised."""
    plugins = _packages()
    for module in modules_of(error):
        if (plugin := plugins.get(module.partition(".")[0])) is not None:
            return title_of(plugin)
    return None


def blame(error: BaseException) -> str:
    """Return the sentence that tells users of an internal error whose mistake it is not."""
    plugin = plugin_of(error)
    return "this is not your mistake" if plugin is None else f"it was raised by {plugin}"


def blame_of_cause(error: BaseException) -> str | None:
    """Return the sentence for an error of the machine that a plug-in's kernel caused."""
    chain = [*_causes(error)]
    if not isinstance(error, MachineError) or isinstance(chain[-1], Error):
        return None
    plugin = plugin_of(error)
    return None if plugin is None else f"it was raised by {plugin}"


def _packages() -> dict[str, EntryPoint]:
    """Return the plug-ins by the top-level package of their code."""
    plugins = (plugin for group in GROUPS for plugin in entry_points_of(group))
    packages: dict[str, EntryPoint] = {}
    for plugin in plugins:
        packages.setdefault(plugin.module.partition(".")[0], plugin)
    return {package: plugin for package, plugin in packages.items() if package not in OURS}


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error`, the error that it reports, and so on."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__


def modules_of(error: BaseException) -> Iterator[str]:
    """Yield the modules that were executed as `error` was raised, the innermost first."""
    for cause in reversed([*_causes(error)]):
        modules: list[str] = []
        trace = cause.__traceback__
        while trace is not None:
            modules.append(str(trace.tb_frame.f_globals.get("__name__", "")))
            trace = trace.tb_next
        yield from reversed(modules)
