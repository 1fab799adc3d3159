"""Pieces of C: strings, arrays and comments."""

from __future__ import annotations

from collections.abc import Iterable


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


def array(declaration: str, rows: Iterable[str]) -> str:
    """Return the definition of an array, a row a line."""
    lines = "".join(f"    {row},\n" for row in rows)
    return f"{declaration}[] = {{\n{lines}}};"


def comment_text(text: str) -> str:
    """Return `text` as it can be in a comment."""
    return text.replace("*/", "* /").replace("\n", " ")
