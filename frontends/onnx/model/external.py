"""
Data of initializers in files beside the model, as models of more than 2 GB have them.

The files are mapped into memory: their bytes are read when they are used. A model is not trusted:
it names only regular files in its own folder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from onnx import TensorProto

from ....runtime.errors import MachineError
from ....runtime.files import inside, mapped
from ..errors import OnnxError
from .wire import Malformed, decoded


@dataclass(frozen=True)
class ExternalData:
    """
    The files in `folder`, that of the model; None if it did not come from a file.

    Further ones are in memory, by their location; those `encoded` have varints.
    """

    folder: Path | None = None
    files: dict[str, memoryview] = field(default_factory=dict[str, memoryview])
    encoded: dict[str, memoryview] = field(default_factory=dict[str, memoryview])

    def bytes_of(self, tensor: TensorProto, size: int, width: int) -> memoryview:
        """
        Return the `size` bytes of `tensor`, whose elements are of `width` bytes.

        Raises `OnnxError` if it has others, or none.
        """
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        start, length = _number(entries, "offset", 0), _number(entries, "length", size)
        if location in self.encoded:
            data = self.encoded[location][start : start + length]
            try:
                return decoded(data, size // width, width).data.cast("B")
            except Malformed as error:
                raise OnnxError(f"its data are damaged: {error}") from None
        data = self._file(location)
        if length != size:
            raise OnnxError(f'it needs {size} bytes, but has {length} in the file "{location}"')
        if start + size > len(data):
            raise OnnxError(
                f'its bytes {start} to {start + size} are not in the file "{location}" of '
                f"{len(data)} bytes"
            )
        return data[start : start + size]

    def _file(self, location: str) -> memoryview:
        if location not in self.files:
            self.files[location] = self._mapped(location)
        return self.files[location]

    def _mapped(self, location: str) -> memoryview:
        if self.folder is None:
            raise OnnxError(
                f'its data are in the file "{location}" beside the model; supported then: a model '
                "that is given as a file"
            )
        try:
            path = inside(self.folder, location)
        except ValueError as error:
            raise OnnxError(f"the location of its data is not a path: {error}") from None
        if path is None:
            raise OnnxError(
                f'its data are in "{location}"; supported: files in the model\'s folder'
            )
        try:
            return mapped(path)
        except MachineError as error:
            raise OnnxError(f"its data are in another file: {error}") from None


def _number(entries: dict[str, str], name: str, default: int) -> int:
    text = entries.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise OnnxError(f'the {name} of its data is "{text}"; supported: a whole number')
    return int(text)
