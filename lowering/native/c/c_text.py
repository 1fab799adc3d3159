"""Pieces of C: strings, types and memref descriptors."""

from __future__ import annotations


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
