"""
A file that reproduces a crash: the module before the pass that failed, and the remaining passes.

    // Written by xrelay-opt when it failed. To reproduce: xrelay-opt --run-reproducer FILE
    // pipeline: fuse-ops{level=3},outline-primitives
    // flags: --allow-unregistered-dialect
    "builtin.module"() ({ …
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..text.printing import PrintOptions, module_text

HEADING = (
    "// Written by xrelay-opt when it failed. To reproduce: xrelay-opt --run-reproducer FILE\n"
)
LINE = re.compile(r"// (pipeline|flags): ?(.*)")


@dataclass(frozen=True)
class Recipe:
    """The pipeline and the flags of a reproducer."""

    pipeline: str
    flags: tuple[str, ...]


def write(path: str, text: str, pipeline: str, flags: Sequence[str]) -> None:
    """Write a reproducer for the module `text`; `MachineError` when that fails."""
    from ...runtime.files import replace

    head = f"{HEADING}// pipeline: {pipeline}\n// flags: {' '.join(flags)}\n"
    replace(path, [head.encode(), text.encode()])


def text_of(ctx: Context, module: ModuleOp, aliases: bool) -> str:
    """Print the module in generic form, which does not run the dialects' printers."""
    return module_text(ctx, module, PrintOptions(generic=True, aliases=aliases))


def read(text: str) -> Recipe | None:
    """Parse the first lines of a reproducer; None if `text` is not one."""
    found: dict[str, str] = {}
    for line in text.split("\n", 4)[:4]:
        match = LINE.match(line)
        if match is not None:
            found[match[1]] = match[2].strip()
    if "pipeline" not in found:
        return None
    return Recipe(found["pipeline"], tuple(found.get("flags", "").split()))
