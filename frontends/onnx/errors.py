"""What is said to the user about an ONNX model that cannot be read or converted."""

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.utils.exceptions import DiagnosticException


class OnnxError(DiagnosticException):
    """
    A model is damaged, or uses something that is not supported.

    `location` is the place of the node: the model's file, with the node's number (from 1, in
    the order of the graph) for a line. An error that is about no single node has none until
    `load_module` gives it that of the file.
    """

    def __init__(self, message: str, location: FileLineColLoc | None = None):
        super().__init__(message)
        self.message = message
        self.location = location
