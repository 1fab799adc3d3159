"""
Sequences of words: signed 64-bit little-endian integers, of which most sections consist.

A string is the index of an entry of the table of strings; a float its bits; bytes are padded.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from .errors import ExecutableError, damaged

WORD = 8
_FLOAT = struct.Struct("<d")
_INTEGER = struct.Struct("<q")

TEXT_PER_BYTE = 64
"""Limit on the length of all strings that a file refers to, for each of its bytes."""


class Strings:
    """The table of strings that is written: each string once, in order of first use."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}

    def of(self, text: str) -> int:
        """Return the index of `text`."""
        return self.index.setdefault(text, len(self.index))

    def pieces(self) -> list[memoryview]:
        """Return the section: their number, the end of each, and their UTF-8 bytes."""
        try:
            encoded = [text.encode() for text in self.index]
        except UnicodeEncodeError as error:
            raise ExecutableError(f"cannot write {error.object!r}: it is not Unicode") from None
        ends = np.cumsum([len(text) for text in encoded], dtype="<i8")
        head = np.array([len(encoded)], "<i8").tobytes() + ends.tobytes()
        return [memoryview(head), memoryview(b"".join(encoded))]


class WordWriter:
    """Collects the words of a section."""

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self.words: list[int] = []

    def put(self, *values: int) -> None:
        """Append words."""
        self.words += values

    def put_text(self, text: str) -> None:
        """Append the index of a string."""
        self.words.append(self.strings.of(text))

    def put_float(self, value: float) -> None:
        """Append the bits of a float."""
        self.words += _INTEGER.unpack(_FLOAT.pack(value))

    def put_many(self, values: Sequence[int]) -> None:
        """Append the number of `values`, and the values."""
        self.words.append(len(values))
        self.words += values

    def put_bytes(self, data: bytes) -> None:
        """Append bytes, padded to words; the reader must know their number."""
        padded = data + bytes(-len(data) % WORD)
        self.words += np.frombuffer(padded, "<i8").tolist()

    def pieces(self) -> list[memoryview]:
        """Return the section; `ExecutableError` if a number needs more than 64 bits."""
        try:
            return [memoryview(np.array(self.words, "<i8").tobytes())]
        except OverflowError:
            wide = next(word for word in self.words if not -(1 << 63) <= word < 1 << 63)
            raise ExecutableError(f"cannot write {wide}: it needs more than 64 bits") from None


def read_strings(data: memoryview, section: str, offset: int) -> list[str]:
    """Read the table of strings, which begins at byte `offset` of the file."""
    if len(data) < WORD:
        raise damaged(section, offset, "the number of strings is missing")
    (count,) = _INTEGER.unpack_from(data)
    start = WORD * (count + 1)
    if count < 0 or start > len(data):
        raise damaged(section, offset, f"{count} strings do not fit in {len(data)} bytes")
    ends: list[int] = np.frombuffer(data[WORD:start], "<i8").tolist()
    text, begin, found = data[start:], 0, list[str]()
    for i, end in enumerate(ends):
        if not begin <= end <= len(text):
            at = offset + WORD * (i + 1)
            raise damaged(section, at, f"a string ends at {end}, outside [{begin}, {len(text)}]")
        try:
            found.append(str(text[begin:end], "utf-8"))
        except UnicodeDecodeError:
            raise damaged(section, offset + start + begin, "a string is not UTF-8") from None
        begin = end
    if begin != len(text):
        at = offset + start + begin
        raise damaged(section, at, f"{len(text) - begin} bytes follow the last string")
    return found


class TextBudget:
    """The length of text to which a file may still refer: it may refer to a string often."""

    def __init__(self, size: int) -> None:
        self.left = TEXT_PER_BYTE * size


class WordReader:
    """
    Reads the words of a section, and checks each before it is used.

    Raises `ExecutableError` with the section and the byte in the file.
    """

    def __init__(
        self,
        section: str,
        offset: int,
        data: memoryview,
        strings: Sequence[str],
        budget: TextBudget,
    ) -> None:
        self.section = section
        self.offset = offset
        self.data = data
        self.strings = strings
        self.budget = budget
        if len(data) % WORD:
            raise damaged(section, offset, f"its length {len(data)} must be a multiple of {WORD}")
        self.words: list[int] = np.frombuffer(data, "<i8").tolist()
        self.at = 0

    def fault(self, message: str, back: int = 1) -> ExecutableError:
        """Return the error `message` at the word that is `back` before the next one."""
        return damaged(self.section, self.offset + WORD * max(0, self.at - back), message)

    def take(self) -> int:
        """Return the next word."""
        at = self.at
        if at >= len(self.words):
            raise self.fault("the section ends too early", 0)
        self.at = at + 1
        return self.words[at]

    def below(self, limit: int, what: str) -> int:
        """Return the next word, an index below `limit`."""
        value = self.take()
        if not 0 <= value < limit:
            raise self.fault(f"{what} {value} is out of range [0, {limit})")
        return value

    def count(self, what: str, least: int = 1) -> int:
        """Return the number of items that follow, of at least `least` words each."""
        value = self.take()
        most = (len(self.words) - self.at) // least
        if not 0 <= value <= most:
            raise self.fault(f"{value} {what} do not fit in the section, which has room for {most}")
        return value

    def take_many(self, what: str) -> tuple[int, ...]:
        """Return numbers that are preceded by their count."""
        count = self.count(what)
        self.at += count
        return tuple(self.words[self.at - count : self.at])

    def text(self, what: str = "string") -> str:
        """Return the next string."""
        text = self.strings[self.below(len(self.strings), what)]
        self.budget.left -= len(text)
        if self.budget.left < 0:
            raise self.fault("the file refers to more text than is allowed for its length")
        return text

    def real(self) -> float:
        """Return the next word as a float."""
        (value,) = _FLOAT.unpack(_INTEGER.pack(self.take()))
        return value

    def raw(self, size: int, what: str) -> memoryview:
        """Return the next `size` bytes, and skip their padding."""
        words = -(-size // WORD)
        left = len(self.words) - self.at
        if words > left:
            raise self.fault(f"{what} has {size} bytes, but {WORD * left} bytes are left")
        start = WORD * self.at
        self.at += words
        if any(self.data[start + size : WORD * self.at]):
            raise self.fault(f"the bytes after {what} are not zero")
        return self.data[start : start + size]

    def end(self) -> None:
        """Check that all words were read."""
        if self.at != len(self.words):
            raise self.fault(f"{len(self.words) - self.at} words follow the last item", 0)
