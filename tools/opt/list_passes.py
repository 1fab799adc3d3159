"""
The texts of `--list-passes` and `--help-pass NAME`.

    infer-types            Fill in the result types of relay ops.
    plan-devices           Give every value a device.

    plan-devices
      Give every value a device.
      …
      default              str = "cpu:0"
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import getdoc
from textwrap import indent, wrap

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpecConvertible

from ..api.plugins import PluginError
from ..errors import CommandLineError
from ..pass_run.pipeline import Pipelines, unknown_pass
from ..registry import UNIVERSE, pass_info

WIDTH = 100
COLUMN = 30

Passes = Mapping[str, Callable[[], type[ModulePass]]]


def list_passes(passes: Passes, pipelines: Pipelines) -> str:
    """List all `passes`, ours first, and the named `pipelines`, each in a line."""
    ours = {name: passes[name] for name in UNIVERSE.all_passes}
    others = {name: passes[name] for name in passes if name not in ours}
    lines = ["Passes:"]
    for name, factory in ours.items():
        lines += _row(name, pass_info(name, factory()).description)
    lines += ["", "Pipelines:"]
    for name, cls in pipelines.items():
        lines += _row(name, pass_info(name, cls).description)
    lines += ["", "Passes of xDSL and of plug-ins:"]
    for name, factory in others.items():
        try:
            lines += _row(name, pass_info(name, factory()).description)
        except PluginError as error:
            lines.append(f"  {name:<{COLUMN}}  {error}")
    lines += ["", "--help-pass NAME says all about one."]
    return "\n".join(lines) + "\n"


def help_pass(name: str, passes: Passes, pipelines: Pipelines) -> str:
    """Describe one pass or pipeline; `CommandLineError` for a name that none has."""
    if name in passes:
        return "\n".join(_described(name, passes[name]())) + "\n"
    if name in pipelines:
        cls = pipelines[name]
        text = wrap(cls().text.replace(",", ", "), WIDTH - 4, break_on_hyphens=False)
        return "\n".join((*_described(name, cls), "", "  Passes:", *(f"    {t}" for t in text), ""))
    raise CommandLineError(unknown_pass(name, [*passes, *pipelines]))


def _described(name: str, cls: type[ArgSpecConvertible]) -> Iterator[str]:
    """Yield the name, the docstrings of the class or its module, and the options."""
    info = pass_info(name, cls)
    yield name
    yield f"  {info.description}"
    if issubclass(cls, ModulePass):  # the module is about this pass alone
        more = (getdoc(import_module(cls.__module__)) or "").partition("\n\n")[2]
        yield indent(f"\n{more.strip()}" if more else "", "  ")
    if info.options:
        yield "\n  Options:"
    for option in info.options:
        default = "(required)" if option.default is None else f"= {option.default}"
        yield f"    {option.name}: {option.type} {default}".rstrip(" =")


def _row(left: str, right: str) -> list[str]:
    """Put `right`, which is cut to the width, beside `left`."""
    room = WIDTH - max(COLUMN, len(left)) - 4
    short = right if len(right) <= room else f"{right[: room - 1]}…"
    return [f"  {left:<{COLUMN}}  {short}".rstrip()]
