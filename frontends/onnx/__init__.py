"""
Convert ONNX models into modules of the `relay` dialect (extra `onnx`).

    data = Path("model.onnx").read_bytes()
    module = load_module(ctx, data, "model.onnx", Path("model.safetensors"))

Each operator is converted by one function (`operators/`). Anything unsupported is an `OnnxError`
that names the node, the operator, the opset and what is supported. `onnx` and NumPy are imported
only when a model is loaded.
"""

import importlib
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr

from ...dialects.relay.constants import PARAMS_FILE
from ...operators.input_bindings import InputBindings
from .errors import OnnxError

__all__ = ["OnnxError", "load_module"]


def load_module(
    ctx: Context,
    data: bytes,
    name: str,
    weights_path: Path | None,
    bindings: InputBindings | None = None,
    folder: Path | None = None,
) -> ModuleOp:
    """
    Convert the model in `data`, the contents of the file `name`, into a module.

    The arguments and results of its function `@main` are the graph's inputs and outputs, with their
    ONNX names in the attribute `relay.name`; `bindings` are sizes for dims of inputs, and `folder`
    is that of files with the model's data. Constants of more than 1 KiB become `relay.param`s,
    written to `weights_path` (`.safetensors`, replaced if it exists); the module's `relay.params`
    is that file's name, without a folder. Without a path they are not written and `relay.params` is
    absent. Raises `OnnxError`, with a location in `name`, for a damaged model, for anything
    unsupported, and when the package `onnx` or the file of the weights is not available.
    """
    try:
        return _load(data, name, weights_path, bindings or InputBindings(), folder)
    except OnnxError as error:
        if error.location is None:
            error.location = FileLineColLoc(StringAttr(name), IntAttr(1), IntAttr(1))
        raise


def _load(
    data: bytes,
    name: str,
    weights_path: Path | None,
    bindings: InputBindings,
    folder: Path | None,
) -> ModuleOp:
    try:
        importlib.import_module("onnx")
    except ImportError as error:
        raise OnnxError(
            f"reading ONNX models needs the package onnx ({error}): pip install onnx"
        ) from None
    from ...runtime.errors import MachineError
    from ...runtime.tensor_file import write_tensors
    from .importer import convert_model
    from .model import read_model

    conversion = convert_model(read_model(data), name, bindings=bindings, folder=folder)
    module, params = conversion.module, conversion.params
    if params and weights_path is not None:
        try:
            write_tensors(weights_path, params)
        except MachineError as error:
            raise OnnxError(str(error)) from None
        module.attributes[PARAMS_FILE] = StringAttr(weights_path.name)
    return module
