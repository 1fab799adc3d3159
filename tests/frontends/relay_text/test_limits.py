"""Programs of any size and depth are read, or rejected at once with a location."""

import sys
from collections.abc import Generator

import pytest
from helpers.relay.relay_programs import VERSION, context, error_of, read
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay import unification
from xrelay.frontends.relay_text import RelayTextError, parse_module
from xrelay.tools.pass_run.process import settings

N = 8_000
"""More than any limit on nesting."""
LONG = 3_000
IN_MAIN = "def @main(%x: int32) {{ {} }}"


@pytest.fixture(autouse=True)
def as_the_driver_does() -> Generator[None]:
    """Run with the process settings of `xrelay-opt`, such as its recursion limit."""
    with settings():
        yield


def nested(opening: str, closing: str, middle: str = "%x", count: int = N) -> str:
    return IN_MAIN.format(opening * count + middle + closing * count)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (nested("(", ")"), "1000 expressions"),
        (nested("(", ",)"), "1000 expressions"),
        (nested("negative(", ")"), "1000 expressions"),
        (nested("add(%x, ", ")"), "1000 expressions"),
        (nested("%x + (", ")"), "1000 expressions"),
        (nested("if (True) { ", " } else { %x }"), "1000 expressions"),
        (nested("if (True) { %x } else { ", " }"), "1000 expressions"),
        (nested("if (", ") { True } else { False }", "True"), "1000 expressions"),
        (nested("fn () { ", " }"), "1000 expressions"),
        (nested("let %f = fn () { ", " }; %f()"), "1000 expressions"),
        (nested("match (Nil) { _ => ", " }"), "1000 expressions"),
        (nested("match (", ") { _ => Nil }", "Nil"), "1000 expressions"),
        (nested("ref(", ")"), "1000 expressions"),
        (IN_MAIN.format("(" * N), "1000 expressions"),
        (nested("sum(%x, axis=" + "[" * N, "]" * N, "1", 1), "200 values"),
        (nested("sum(%x, axis=" + '{"a"=' * N, "}" * N, "1", 1), "200 values"),
        (nested("match (Nil) { " + "Cons(_, " * N, ")" * N + " => 1 }", "_", 1), "200 patterns"),
        (nested("match (Nil) { " + "(" * N, ",)" * N + " => 1 }", "_", 1), "200 patterns"),
        (f"def @main(%x: {'(' * N}", "200 types"),
        (f"def @main(%x: {'(' * N}int32{')' * N}) {{ %x }}", "200 types"),
        (f"def @main(%x: {'List[' * N}int32{']' * N}) {{ %x }}", "200 types"),
        (f"def @main(%x: {'ref(' * N}int32{')' * N}) {{ %x }}", "200 types"),
        (f"def @main(%x: {'fn (' * N}int32{') -> int32' * N}) {{ %x }}", "200 types"),
        (f"def @main(%x: {'fn () -> ' * N}int32) {{ %x }}", "200 types"),
    ],
)
def test_what_is_nested_has_a_limit(program: str, what: str) -> None:
    message = error_of(program)
    assert f"the program is nested too deeply: more than {what} inside each other" in message


@pytest.mark.parametrize(("opening", "closing"), [("{ ", " }"), ("%0 = { ", " }; %0")])
def test_braces_are_nested_as_deeply_as_the_stack_allows(opening: str, closing: str) -> None:
    assert error_of(nested(opening, closing)).endswith("the program is nested too deeply")


NODES = [f"%{i} = (%{i - 1}, %{i - 1});" for i in range(1, 64)]
LETS = [f"let %b{i} = (%a, %a); let %a = (%b{i}, %b{i});" for i in range(32)]


@pytest.mark.parametrize(
    "body", [f"%0 = (%x, %x); {' '.join(NODES)} %63", f"let %a = (%x, %x); {' '.join(LETS)} %a"]
)
def test_types_that_double_have_a_limit(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a tree, the last type would have 2^64 parts."""
    monkeypatch.setattr(unification, "MAX_PARTS", 5_000)
    assert error_of(IN_MAIN.format(body)).endswith("a type has more than 5000 parts")


def test_long_things_are_shown_in_part() -> None:
    for text in (f"%{'a' * N}", f"%a{'.b' * N}", f"%a{'.0' * N}", f"{'9' * N}", f"@{'a/' * N}b()"):
        message = error_of(IN_MAIN.format(text))
        assert len(message) < 400
        assert "…" in message


@pytest.mark.parametrize(
    "program",
    [
        IN_MAIN.format("/* " + "/" * LONG + " " + "*" * LONG + " */ %x"),
        IN_MAIN.format("/*" * LONG + "*/" * LONG + "%x"),
        IN_MAIN.format("/* a */" * LONG + "%x"),
        IN_MAIN.format("-" * LONG + "1"),
        IN_MAIN.format("%x; " * LONG + "%x"),
        IN_MAIN.format("".join(f"let %x{i} = %x; " for i in range(LONG)) + "%x"),
        "".join(f"free_var %v{i}: int32; " for i in range(LONG)) + "%v0",
        f"def @main({''.join(f'%p{i}: int32, ' for i in range(LONG))}) {{ 1 }}",
        f"type T {{ {''.join(f'C{i}, ' for i in range(LONG))} }} def @main() {{ C0 }}",
        "def @main(%x: int32) {\r\n  // a\r\n  %x\r\n}\r\n",
    ],
)
def test_long_programs_are_read(program: str) -> None:
    sys.setrecursionlimit(LONG // 2)  # no call for each thing, in each other
    functions = [op.sym_name.data for op in read(program).ops if isinstance(op, FuncOp)]
    assert functions == ["main"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/* a /* b */", "1:24: unterminated comment"),
        ("/*" * N, "1:24: unterminated comment"),
        ('"a\\"', "1:24: unterminated string"),
        ('"' + "\\" * N, "1:24: unterminated string"),
        ("\0", r"1:24: unexpected character '\x00'"),
        ("\x1b[0m", r"1:24: unexpected character '\x1b'"),
        ("\u00e9", "1:24: unexpected character 'é'"),
        ("9" * 30, f"1:24: {'9' * 30} does not fit in an int64"),
        ("%" + "9" * 5000, "1:24: %9999"),
        ("%x." + "9" * 5000, "1:24: the field index 9999"),
        ("meta[relay.Constant][" + "9" * 5000 + "]", "1:24: meta[relay.Constant]["),
        ("1i" + "9" * 5000, "1:24: invalid number '1i9999"),
    ],
)
def test_tokens_that_are_none(text: str, message: str) -> None:
    assert error_of(IN_MAIN.format(text)).startswith(message)


@pytest.mark.ci
def test_an_unknown_name_among_many() -> None:
    text = "".join(f"let %name{i} = %x; " for i in range(LONG)) + "%nme7"
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), VERSION + IN_MAIN.format(text), "test.relay")
    assert "unknown variable %nme7; did you mean '%name7'" in caught.value.message
