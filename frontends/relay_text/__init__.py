"""
Relay text (format 0.0.5) becomes modules of the `relay` dialect.

    module = parse_module(ctx, text, "model.relay")

What TVM's parser takes is read, and what its printer writes. Types that the text leaves out are
inferred. `docs/relay_text.md` lists where the meaning differs from TVM's, and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from ...dialects.relay.constants import PARAMS_FILE
from .errors import Places, RelayTextError
from .reader import Read, read_json, read_text

__all__ = ["RelayTextError", "load_json", "load_module", "parse_json", "parse_module"]


def parse_module(
    ctx: Context,
    text: str,
    name: str,
    meta_table: Mapping[str, Sequence[Any]] | None = None,
) -> ModuleOp:
    """
    The program in `text`, which stands in the file `name`, as a module.

    Each `def` is a `func.func`; a text that is one expression is `@main`. `meta_table` has
    further entries for `meta[key][n]`, after those of the text: NumPy arrays (or dense
    attributes) for `relay.Constant`, `VirtualDeviceAttr`s for `VirtualDevice`. Every op has the
    place where it stands in the text. Raises `RelayTextError`.
    """
    return read_text(ctx, text, name, meta_table).module


def load_module(
    ctx: Context, text: str, name: str, weights_path: Path, lines_before: int = 0
) -> ModuleOp:
    """
    As `parse_module`, but constants of more than 1 KiB are `relay.param`s.

    They are written to `weights_path` (`.safetensors`, replaced when it is there), whose name
    is the module's `relay.params`; without such constants there is no file. `lines_before` is
    the number of the file's lines that come before `text`.
    """
    read = read_text(ctx, text, name, separate=True, lines_before=lines_before)
    return _with_weights(read, name, weights_path)


def load_json(ctx: Context, text: str, name: str, weights_path: Path) -> ModuleOp:
    """As `load_module`, of a module that `tvm.ir.save_json` wrote; lines are numbers of nodes."""
    return _with_weights(read_json(ctx, text, name, separate=True), name, weights_path)


def parse_json(ctx: Context, text: str, name: str) -> ModuleOp:
    """As `parse_module`, of a module that `tvm.ir.save_json` wrote; lines are numbers of nodes."""
    return read_json(ctx, text, name).module


def _with_weights(read: Read, name: str, path: Path) -> ModuleOp:
    if read.params:
        from .weights import write_weights

        try:
            write_weights(read.params, path)
        except OSError as error:
            message = f"cannot write the weights to {path}: {error}"
            raise Places(name, "").error(message, 0) from None
        read.module.attributes[PARAMS_FILE] = StringAttr(path.name)
    return read.module
