"""Errors about ONNX models that cannot be read or converted."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.utils.exceptions import DiagnosticException


class OnnxError(DiagnosticException):
    """
    A model is damaged, or uses something that is not supported.

    `location` is the node: the model's file with the node's name, or its number (from 1, in the
    order of the graph) as the line if it has none. An error without a node gets the location of the
    file from `load_module`.
    """

    def __init__(
        self,
        message: str,
        location: FileLineColLoc | None = None,
        notes: Sequence[tuple[str, FileLineColLoc | None]] = (),
    ):
        super().__init__(message)
        self.message = message
        self.location = location
        self.notes = notes


class Refused(OnnxError):
    """Nodes of a graph or of a body cannot be converted, for reasons that are recorded."""

    def __init__(self):
        super().__init__("the model cannot be converted")
