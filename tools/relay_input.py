"""Relay programs as inputs: text (`.relay`, `.rly`), and modules that TVM saved as JSON."""

from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

TEXT = frozenset(("relay", "rly"))
"""The extensions of files with Relay text, which are also names of frontends."""

JSON = "relay-json"
"""The frontend of modules saved by `tvm.ir.save_json`."""

EXTENSION = {JSON: "json"}
"""The extensions of files whose frontends have other names."""


def frontend_of(extension: str) -> str:
    """The frontend that reads files with `extension`: as a rule it has that name."""
    return next((name for name, known in EXTENSION.items() if known == extension), extension)


def load_relay(
    ctx: Context, frontend: str, text: str, name: str, weights: Path, lines_before: int = 0
) -> ModuleOp:
    """The program in `text`; constants of more than 1 KiB go to the file `weights`."""
    from ..frontends.relay_text import load_json, load_module

    if frontend == JSON:
        return load_json(ctx, text, name, weights)
    return load_module(ctx, text, name, weights, lines_before)
