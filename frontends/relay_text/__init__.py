"""
Read Relay text (format 0.0.5) into modules of the `relay` dialect.

    module = parse_module(ctx, text, "model.relay")

The reader accepts what TVM's parser accepts, and what TVM's printer writes. Types that the text
omits are inferred. `docs/relay_text.md` lists where the meaning differs from TVM's, and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.dense import elements
from ...dialects.tensors import as_tensor, dtype_name
from ..conversion import Conversion
from . import prelude
from .errors import RelayTextError as RelayTextError
from .text_reader import Read, read_json, read_module, read_text

if TYPE_CHECKING:
    from ..conversion import Array


def parse_module(
    ctx: Context, text: str, name: str, meta_table: Mapping[str, Sequence[Any]] | None = None
) -> ModuleOp:
    """
    Parse `text`, the contents of the file `name`, into a module.

    Each `def` becomes a `func.func`; a text that is a single expression becomes `@main`.
    `meta_table` adds entries for `meta[key][n]` after those of the text: NumPy arrays (or dense
    attributes) for `relay.Constant`, `VirtualDeviceAttr`s for `VirtualDevice`. Every op has the
    location of its text. Raises `RelayTextError`.
    """
    return read_text(ctx, text, name, meta_table).module


def load_module(ctx: Context, text: str, name: str, lines_before: int = 0) -> Conversion:
    """
    Parse as `parse_module` does, but turn constants of more than 1 KiB into `relay.param`s.

    `lines_before` is the number of lines of the file that precede `text`.
    """
    return _converted(read_text(ctx, text, name, separate=True, lines_before=lines_before))


def prelude_module(names: Collection[str]) -> ModuleOp:
    """Return the prelude's functions and constructors `names`, and what they need."""
    return read_module(Context(), prelude.program_of(names), separate=False).module


def load_json(ctx: Context, text: str, name: str) -> Conversion:
    """Load a module saved by `tvm.ir.save_json` as `load_module` does; lines are node numbers."""
    return _converted(read_json(ctx, text, name, separate=True))


def parse_json(ctx: Context, text: str, name: str) -> ModuleOp:
    """Parse a module saved by `tvm.ir.save_json` as `parse_module` does; lines are node numbers."""
    return read_json(ctx, text, name).module


def _converted(read: Read) -> Conversion:
    """Return the program, and its large constants as arrays, which are views of their bytes."""
    arrays: dict[str, Array] = {}
    for name, value in read.params.items():
        import numpy as np

        type = as_tensor(value.type)
        assert type is not None, "a constant is a tensor"
        flat = np.frombuffer(elements(value), dtype_name(type.element_type))
        arrays[name] = flat.reshape(type.get_shape())
    return Conversion(read.module, arrays)
