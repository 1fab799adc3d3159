"""
Convert ONNX models into modules of the `relay` dialect (extra `onnx`).

    converted = load_module(ctx, mapped("model.onnx"), "model.onnx")

Each operator is converted by one function (`operators/`). Anything unsupported is an `OnnxError`
that names the node, the operator, the opset and what is supported. `onnx` and NumPy are imported
only when a model is loaded.
"""

from __future__ import annotations

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from ...runtime.calls.input_bindings import InputBindings
from ..conversion import Conversion
from .errors import OnnxError

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["OnnxError", "load_module", "reading"]


def load_module(
    ctx: Context,
    data: bytes | memoryview | ModelProto,
    name: str,
    bindings: InputBindings | None = None,
    folder: Path | None = None,
) -> Conversion:
    """
    Convert the model in `data`, the contents of the file `name`, into a module.

    The arguments and results of its function `@main` are the graph's inputs and outputs, with their
    ONNX names in the attribute `relay.name`; `bindings` are sizes for dims of inputs, and `folder`
    is that of files with the model's data. Constants of more than 1 KiB become `relay.param`s. They
    are views of `data` and of those files. Raises `OnnxError`, with a location in `name`, for a
    damaged model, for anything unsupported, and when the package `onnx` is not available.
    """
    with reading(name):
        from .convert.importer import convert_model
        from .model.external import ExternalData
        from .model.onnx_model import read_model

        external = ExternalData(folder)
        model = read_model(data, external)
        return convert_model(model, name, bindings=bindings or InputBindings(), external=external)


@contextmanager
def reading(name: str) -> Generator[None]:
    """Locate errors without a place in the file `name`; an error if `onnx` is not installed."""
    try:
        try:
            importlib.import_module("onnx")
        except ImportError as error:
            raise OnnxError(
                f"reading ONNX models needs the package onnx ({error}): pip install onnx"
            ) from None
        yield
    except OnnxError as error:
        if error.location is None:
            error.location = FileLineColLoc(StringAttr(name), IntAttr(1), IntAttr(1))
        raise
