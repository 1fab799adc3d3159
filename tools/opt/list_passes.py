"""
The text of `--list-passes`: all passes with their descriptions and options.

    infer-types            Fill in the result types of relay ops.
    plan-devices           Give every value a device.
      default              str = "cpu:0"
"""

from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap

from xdsl.passes import ModulePass

from ..api.plugins import PluginError
from ..pass_run.pipeline import Pipelines
from ..registry import UNIVERSE, PassInfo, pass_info, pass_infos

WIDTH = 100
COLUMN = 30


def list_passes(passes: Mapping[str, Callable[[], type[ModulePass]]], pipelines: Pipelines) -> str:
    """List all `passes`, ours first, and the named `pipelines`."""
    ours = {name: passes[name] for name in UNIVERSE.all_passes}
    others = {name: passes[name] for name in passes if name not in ours}
    lines = ["Passes:"]
    for info in pass_infos(ours):
        lines += _pass_lines(info)
    lines += ["", "Pipelines:"]
    for name, cls in pipelines.items():
        lines += _pass_lines(pass_info(name, cls))
        lines += _row("", cls().text.replace(",", ", "))
    lines += ["", "Passes of xDSL and of plug-ins:"]
    for name, factory in others.items():
        try:
            lines += _pass_lines(pass_info(name, factory()))
        except PluginError as error:
            lines += _row(name, str(error))
    return "\n".join(lines) + "\n"


def _pass_lines(info: PassInfo) -> Iterator[str]:
    yield from _row(info.name, info.description)
    for option in info.options:
        default = "(required)" if option.default is None else f"= {option.default}"
        yield from _row(f"  {option.name}", f"{option.type} {default}".rstrip(" ="))


def _row(left: str, right: str) -> list[str]:
    """Put `right` beside `left`, or below it when there is no room."""
    lines = wrap(right, WIDTH - COLUMN - 4, break_on_hyphens=False) or [""]
    indent = " " * (COLUMN + 4)
    if len(left) > COLUMN:
        rows = [f"  {left}", *(indent + line for line in lines)]
    else:
        rows = [f"  {left:<{COLUMN}}  {lines[0]}"]
        rows += [indent + line for line in lines[1:]]
    return [row.rstrip() for row in rows]
