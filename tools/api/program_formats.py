"""The formats of programs that the commands read, each by a frontend of this name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from xdsl.context import Context

    from ...frontends.conversion import Conversion
    from ...runtime.calls.input_bindings import InputBindings
    from .source import Part, Source

RELAY_JSON = "relay-json"
"""The frontend of modules saved by `tvm.ir.save_json`."""

Frontend: TypeAlias = Literal["mlir", "onnx", "relay", "rly", "relay-json"]

FRONTENDS: tuple[str, ...] = get_args(Frontend)
"""Each is the extension of its files, too, but for those in `EXTENSION`."""

EXTENSION = {RELAY_JSON: "json"}


def frontend_of(extension: str) -> str:
    """Return the frontend that reads files with `extension`, or `extension` if there is none."""
    return next((name for name, known in EXTENSION.items() if known == extension), extension)


def load_relay(ctx: Context, frontend: str, part: Part, name: str) -> Conversion:
    """Read a Relay program; constants of more than 1 KiB become weights."""
    from ...frontends.relay_text import load_json, load_module

    if frontend == RELAY_JSON:
        return load_json(ctx, part.text, name)
    return load_module(ctx, part.text, name, part.lines_before)


def load_onnx(ctx: Context, source: Source, bindings: InputBindings | None = None) -> Conversion:
    """Convert an ONNX model with dims that are bound."""
    from ...frontends.onnx import load_module

    folder = Path(source.name).parent if source.is_file else None
    return load_module(ctx, source.data, source.name, bindings, folder)
