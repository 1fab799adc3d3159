"""Tokens of Relay text, and text that is not a token."""

import pytest

from xrelay.frontends.relay_text.errors import RelayTextError, SourceMap
from xrelay.frontends.relay_text.literals import LiteralError, number, unescaped
from xrelay.frontends.relay_text.text.lexer import tokenize


def tokens(text: str) -> list[tuple[str, str]]:
    found = tokenize(text, SourceMap("t", text))
    assert found.kinds[-2:] == ["end", "end"]
    return list(zip(found.kinds[:-2], found.texts[:-2], strict=True))


def failure(text: str) -> str:
    with pytest.raises(RelayTextError) as caught:
        tokenize(text, SourceMap("t", text))
    at = caught.value.location
    return f"{at.line.data}:{at.column.data}: {caught.value.message}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%x", [("local", "x")]),
        ("%0", [("graph", "0")]),
        ("%0.1", [("graph", "0"), ("proj", ".1")]),
        ("%0.0.1", [("graph", "0"), ("proj", ".0"), ("proj", ".1")]),
        ("@main", [("global", "main")]),
        ("nn.conv2d", [("ident", "nn.conv2d")]),
        ("relay.reshape_only=1", [("ident", "relay.reshape_only"), ("=", "="), ("number", "1")]),
        ("%conv1/7x7_s2_w_0", [("local", "conv1/7x7_s2_w_0")]),
        ("%a-b", [("local", "a-b")]),
        ("%input.1", [("local", "input.1")]),
        ("%data_0:0: T", [("local", "data_0:0"), (":", ":"), ("ident", "T")]),
        ("%aten::x-y::2: T", [("local", "aten::x-y::2"), (":", ":"), ("ident", "T")]),
        ("@93_fused", [("global", "93_fused")]),
        ("%x:T", [("local", "x"), (":", ":"), ("ident", "T")]),
        ("%a/%b", [("local", "a"), ("/", "/"), ("local", "b")]),
        ("%a/*c*//%b", [("local", "a"), ("/", "/"), ("local", "b")]),
        ("%a -%b", [("local", "a"), ("-", "-"), ("local", "b")]),
        ("%a->T", [("local", "a"), ("->", "->"), ("ident", "T")]),
        ("a<=b", [("ident", "a"), ("<=", "<="), ("ident", "b")]),
        ("match? match", [("match?", "match?"), ("match", "match")]),
        ("let lets", [("let", "let"), ("ident", "lets")]),
        ("True _", [("True", "True"), ("ident", "_")]),
        ("meta[relay.Constant][12]", [("meta", "meta[relay.Constant][12]")]),
        ("meta", [("ident", "meta")]),
        ("1e-05f -2i64", [("number", "1e-05f"), ("-", "-"), ("number", "2i64")]),
        ("1-1", [("number", "1"), ("-", "-"), ("number", "1")]),
        ('"a\\"b"', [("string", '"a\\"b"')]),
        ("a // b\nc", [("ident", "a"), ("ident", "c")]),
        ("a /* b */ c", [("ident", "a"), ("ident", "c")]),
        ("a /* /* b */ * / // */ c", [("ident", "a"), ("ident", "c")]),
        ("/* %0 */", []),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert tokens(text) == expected


def test_metadata_ends_the_program() -> None:
    text = '%x\n#[metadata]\n{"root": $}'
    found = tokenize(text, SourceMap("t", text))
    assert found.kinds == ["local", "end", "end"]
    assert found.metadata is not None
    assert text[found.metadata :] == '\n{"root": $}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n  $", "2:3: unexpected character '$'"),
        ("@ main", "1:1: expected a name right after '@'"),
        ("a /* b", "1:3: unterminated comment"),
        ("/* /* */", "1:1: unterminated comment"),
        ('x "abc', "1:3: unterminated string"),
        ("#[meta]", '1:1: expected #[version = "0.0.5"] or #[metadata], but got #[meta]'),
    ],
)
def test_what_is_no_token(text: str, expected: str) -> None:
    assert failure(text) == expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (r'"abc"', "abc"),
        (r'"a\"b\\c"', 'a"b\\c'),
        (r'"a\nb\tc"', "a\nb\tc"),
        (r'"\x41\xc3\xa9"', "Aé"),
        (r'"\101"', "A"),
        (r'"é\q"', "éq"),
        (r'"\xff"', "\ufffd"),
    ],
)
def test_escapes(literal: str, expected: str) -> None:
    assert unescaped(literal) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", (1, "int32")),
        ("2147483648", (2147483648, "int64")),
        ("3i64", (3, "int64")),
        ("3i16", (3, "int16")),
        ("3i", (3, "int32")),
        ("1f", (1.0, "float32")),
        ("1.5f", (1.5, "float32")),
        ("0.1f", (0.10000000149011612, "float32")),
        ("0.1f64", (0.1, "float64")),
        ("1e-05f", (9.999999747378752e-06, "float32")),
        ("2.f16", (2.0, "float16")),
        ("65504f16", (65504.0, "float16")),
    ],
)
def test_numbers(text: str, expected: tuple[float, str]) -> None:
    assert number(text) == expected


def test_the_least_integers_are_numbers() -> None:
    assert number("2147483648", negative=True) == (-2147483648, "int32")
    assert number("9223372036854775808i64", negative=True) == (-(2**63), "int64")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.0", "a number with a point or an exponent must be a float; write 1.0f"),
        ("1e3", "a number with a point or an exponent must be a float; write 1e3f"),
        ("1f8", "a number with suffix 'f' must have a width of 16, 32, 64, but has 8"),
        ("40000i16", "40000 does not fit in an int16"),
        ("9223372036854775808", "9223372036854775808 does not fit in an int64"),
        ("1e39f", "1e39f does not fit in a float32"),
        ("65505f16", "65505f16 does not fit in a float16"),
        ("1" * 5000, "invalid number '" + "1" * 40 + "…'"),
    ],
)
def test_wrong_numbers(text: str, message: str) -> None:
    with pytest.raises(LiteralError) as caught:
        number(text)
    assert str(caught.value) == message
