"""The syntax of our modules, which several tests look at: all of it takes seconds to read."""

import ast
from functools import cache
from pathlib import Path


@cache
def syntax(module: Path) -> ast.Module:
    """Return the tree of the file at `module`."""
    return ast.parse(module.read_text(encoding="utf-8"))
