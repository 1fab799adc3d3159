"""Random changes to text and bytes, shared by all kinds of input."""

import re
from collections.abc import Sequence
from random import Random

NUMBERS = (
    0,
    1,
    2,
    -1,
    3,
    7,
    64,
    1000,
    2**31 - 1,
    2**31,
    10**12,
    10**18,
    2**63 - 1,
    -(2**63),
    2**64,
)
"""Small numbers, and those that overflow arithmetic or make sizes impossible."""

TOKEN = re.compile(r'\s+|"(?:[^"\\\n]|\\.)*"|[%@!#^$&]?[A-Za-z_][\w.$-]*|\d+|.', re.DOTALL)
_NUMBER = re.compile(r"(?<![\w%@#$])-?\d+|(?<=x)\d+(?=x)|(?<=[<x])\d+(?=x)|\b\d+\b")


def mutate_text(random: Random, text: str, other: str, words: Sequence[str] = ()) -> str:
    """Make one to three changes to `text`; `other` is text of the same kind to copy pieces from."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        text = random.choice(_TEXT)(random, text, other, words)
    return text


def _number(random: Random, text: str, other: str, words: Sequence[str]) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return _token(random, text, other, words)
    at = random.choice(found)
    near = int(at[0]) + random.choice((-1, 1)) if len(at[0]) < 40 else 0
    new = random.choice(
        (near, near, int(random.choice(found)[0][:40] or 0), random.choice(NUMBERS))
    )
    return text[: at.start()] + str(new) + text[at.end() :]


def _token(random: Random, text: str, other: str, words: Sequence[str]) -> str:
    """Drop, replace, repeat or swap a token; a replacement looks similar."""
    tokens = TOKEN.findall(text)
    if not tokens:
        return text + random.choice([*words, "x"])
    at, to = random.randrange(len(tokens)), random.randrange(len(tokens))
    match random.randrange(6):
        case 0:
            del tokens[at : at + random.choice((1, 1, 2, 8))]
        case 1:
            tokens[at:at] = tokens[to : to + random.choice((1, 2, 8))]
        case 2:
            tokens[at], tokens[to] = tokens[to], tokens[at]
        case 3 if words:
            tokens[at] = random.choice(words)
        case _:
            # A similar token (a name for a name) is not rejected by the parser at once.
            alike = [
                t for t in (*tokens, *TOKEN.findall(other)[:2000]) if _look(t) == _look(tokens[at])
            ]
            tokens[at] = random.choice(alike)
    return "".join(tokens)


def _look(token: str) -> tuple[str, bool]:
    first = token[0]
    return ("a" if first.isalpha() else "0" if first.isdigit() else first), "." in token


def _line(random: Random, text: str, other: str, words: Sequence[str]) -> str:
    lines = text.split("\n")
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[at : at + random.choice((1, 1, 3))]
        case 1:
            lines.insert(at, lines[to])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case _:
            foreign = other.split("\n")
            start = random.randrange(len(foreign))
            lines[at:at] = foreign[start : start + random.choice((1, 3))]
    return "\n".join(lines)


def _splice(random: Random, text: str, other: str, words: Sequence[str]) -> str:
    lines, foreign = text.split("\n"), other.split("\n")
    cut = random.randrange(len(lines) + 1)
    return "\n".join(lines[:cut] + foreign[min(cut, len(foreign)) :])


def _character(random: Random, text: str, other: str, words: Sequence[str]) -> str:
    at = random.randrange(len(text) + 1)
    new = random.choice(("", *'"\\%@#!()[]{}<>:,;=-0x?\0\n', "\ufeff", "\u00e9", "\U0001f600"))
    return text[:at] + new + text[at + random.choice((0, 1)) :]


_TEXT = (_number, _number, _number, _token, _token, _token, _line, _line, _splice, _character)


def mutate_bytes(random: Random, data: bytes, other: bytes) -> bytes:
    """Change, move, truncate `data`, or replace bytes by extreme integers."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(out) + 1)
        size = random.choice((1, 2, 4, 8))
        match random.randrange(7):
            case 0 if at < len(out):
                out[at] ^= 1 << random.randrange(8)
            case 1 if at < len(out):
                out[at] = random.randrange(256)
            case 2:
                number = random.choice(NUMBERS) % (1 << 8 * size)
                out[at : at + size] = number.to_bytes(size, "little")
            case 3:
                del out[at : at + random.choice((1, 4, 32))]
            case 4:
                start = random.randrange(len(out) + 1)
                out[at:at] = out[start : start + random.choice((1, 8, 64))]
            case 5:
                del out[at:]
            case _:
                out[at:] = other[at:]
    return bytes(out)
