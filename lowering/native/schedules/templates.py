"""
The files of transform dialect beside this one, with their `$fields` filled in.

`!op` in them is short for `!transform.any_op`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

FOR = '!transform.op<"scf.for">'


def filled(name: str, **fields: str) -> str:
    """Return the ops of `name`.mlir."""
    text = _template(name).substitute(fields)
    return text.replace("!op", "!transform.any_op")


def ops(count: int) -> str:
    """Return the types of `count` handles."""
    return ", ".join(["!op"] * count)


@cache
def _template(name: str) -> Template:
    path = files(__name__.rpartition(".")[0]).joinpath(f"{name}.mlir")
    return Template(path.read_text(encoding="utf-8"))
