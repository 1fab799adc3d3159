"""Pieces of C: strings, types and memref descriptors."""

from __future__ import annotations

from ....runtime.program.dtypes import element_type

DL_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
"""The type codes of DLPack, by the kind of NumPy's types."""


def dl_code(dtype: str) -> int:
    """Return the type code of DLPack for an element type."""
    return DL_CODES[element_type(dtype).kind]


def c_type(dtype: str) -> str:
    """Return the type in C of elements; float16 are their bits, bools bytes that are 0 or 1."""
    kind, size = element_type(dtype).kind, element_type(dtype).itemsize
    if kind == "f" and size > 2:
        return "float" if size == 4 else "double"
    return f"int{8 * size}_t" if kind == "i" else f"uint{8 * size}_t"


def c_string(text: str) -> str:
    """Return `text` as a literal, in UTF-8."""
    parts: list[str] = []
    for byte in text.encode("utf-8"):
        char = chr(byte)
        if char in '"\\?':  # two ? may begin a trigraph
            parts.append("\\" + char)
        elif 32 <= byte < 127:
            parts.append(char)
        else:
            parts.append(f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def struct_of(rank: int) -> str:
    """Return the definition of the descriptor of a memref."""
    dims = f" int64_t sizes[{rank}], strides[{rank}];" if rank else ""
    return f"struct memref{rank} {{ char *allocated, *aligned; int64_t offset;{dims} }}"


def comment_text(text: str) -> str:
    """Return `text` as it can be in a comment."""
    return text.replace("*/", "* /").replace("\n", " ")
