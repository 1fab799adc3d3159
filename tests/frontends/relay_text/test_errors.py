"""Each error message of the reader, and its location."""

import pytest
from relay_programs import VERSION, context, error_of

from xrelay.frontends.relay_text import RelayTextError, parse_module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # syntax
        ("def @main() { 1", "1:16: expected '}', but found the end of the program"),
        ("def @main( { 1 }", "1:12: expected an attribute: a name and '=', but found '{'"),
        ("def main() { 1 }", "1:5: expected a global name, but found 'main'"),
        ("def @main() -> { 1 }", "1:16: expected a type, but found '{'"),
        ("def @main() { }", "1:15: expected an expression, but found '}'"),
        ("def @main() { let %x = 1 }", "1:26: expected ';' behind a let, but found '}'"),
        ("def @main() { let %x = 1; }", "1:27: expected an expression behind a let, but found '}'"),
        ("def @main() { %0 = 1 %0 }", "1:22: expected ';' behind a graph binding, but found '%0'"),
        (
            "def @main(%c: bool) { if (%c) { 1 } }",
            "1:37: expected 'else': a value is needed either way, but found '}'",
        ),
        ("def @main(%x: int32) { add(%x %x) }", "1:31: expected ',' or ')', but found '%x'"),
        ("def @main(%x: int32) { %x - }", "1:29: expected an expression, but found '}'"),
        (
            "def @main(%x: int32) { sum(%x, axis=) }",
            "1:37: expected the value of an attribute, but found ')'",
        ),
        (
            "def @main(%x: int32) { sum(%x, axis=[0], %x) }",
            "1:42: expected an attribute: a name and '=', but found '%x'",
        ),
        ("def @main(%x: int32) { sum(%x, axis=0, axis=1) }", "1:40: axis is given twice"),
        ("def @main(%x: Tensor[3, int32]) { %x }", "1:22: expected '(', but found '3'"),
        (
            "def @main(%x: Tensor[(x), int32]) { %x }",
            "1:23: expected a dim: a number or '?', but found 'x'",
        ),
        ("let %x = 1; %x def", "1:16: expected the end of the program, but found 'def'"),
        ("type { A }", "1:6: expected the name of a data type, but found '{'"),
        ("def @f() { 1.5 }", "1:12: a number with a point or an exponent is a float: write 1.5f"),
        (
            "def @f() { 3i8 }",
            "1:12: a number of kind 'i' has a width of 16, 32, 64, but here it is 8",
        ),
        (
            "def @f = meta[tir.PrimFunc][0]",
            "1:5: @f is an external function, which is not supported",
        ),
        # names
        ("def @main(%xs: int32) { %x }", "1:25: there is no variable %x; did you mean '%xs'?"),
        (
            "def @main(%n: int32) { %n-1 }",
            "1:24: there is no variable %n-1 ('-' belongs to the name; to compute with %n, "
            "write blanks around it)",
        ),
        ("def @main() { %0 }", "1:15: %0 is not bound before it is used"),
        ("def @main() { %0 = %0; 1 }", "1:20: %0 is not bound before it is used"),
        ("def @main() { %0 = 1; %0 = 2; %0 }", "1:23: %0 is bound twice"),
        ("def @main() { %0 = 1; %0 } def @f() { %0 }", "1:39: %0 is not bound before it is used"),
        ("def @main(%x: int32, %x: int32) { %x }", "1:22: two parameters are called %x"),
        ("def @main() { @man() }", "1:15: there is no function @man; did you mean '@main'?"),
        ("def @f() { 1 } def @f() { 2 }", "1:20: @f is defined twice"),
        ("type T { A } type T { B }", "1:19: the type T is defined twice"),
        ("type T { A } type U { A }", "1:23: the constructor A is defined twice"),
        ("def @main(%x: Lsit[int32]) { %x }", "1:15: there is no type Lsit"),
        (
            "type T[A] { C(A) } def @main(%x: T) { %x }",
            "1:34: T has 1 type parameters, but 0 type arguments are given",
        ),
        (
            "def @main(%x: float32) { nn.rleu(%x) }",
            "1:26: there is no operator or constructor nn.rleu; "
            "did you mean 'nn.relu', 'nn.prelu' or 'nn.gelu'?",
        ),
        (
            "def @main(%x: Tensor[(2), flaot32]) { %x }",
            "1:27: the dtype flaot32 is not supported; did you mean 'float32'?",
        ),
        (
            "def @main() { let %x = %x; %x }",
            "1:24: %x is what this let binds: only a function can use itself",
        ),
        ("def @main() { free_var %x: int32; %x }", "1:15: a global function has no free variables"),
        # types
        (
            "def @main(%x: float32) -> int32 { %x }",
            "1:35: the result of @main must be of type int32, but is of type float32",
        ),
        (
            "def @main(%x: float32) { let %y: Tensor[(2), float32] = %x; %y }",
            "1:30: %y must be of type Tensor[(2), float32], but is of type float32",
        ),
        (
            "def @main(%x: int32) { if (%x) { 1 } else { 2 } }",
            "1:28: the condition must be of type bool, but is of type int32",
        ),
        (
            "def @main(%c: bool) { if (%c) { 1 } else { 2f } }",
            "1:23: both branches must give one type, but the first gives int32 and the second "
            "float32",
        ),
        (
            "def @main(%x: int32) { %x.0 }",
            "1:24: only a tuple has fields, but this is of type int32",
        ),
        ("def @main(%x: (int32,)) { %x.1 }", "1:27: the tuple has 1 fields: there is no field 1"),
        (
            "def @main(%x: int32) { %x(1) }",
            "1:24: only a function can be called, but this is of type int32",
        ),
        (
            "def @f(%x: int32) { %x } def @main() { @f(1, 2) }",
            "1:40: @f takes 1 arguments, but 2 are given",
        ),
        (
            "def @f(%x: int32) { %x } def @main() { @f(2f) }",
            "1:43: argument 0 of @f must be of type int32, but is of type float32",
        ),
        ("def @main(%f) { 1 }", "1:11: the type of %f cannot be inferred: write it"),
        (
            "def @main() { fn (%x) { nn.relu(%x) } }",
            "1:19: the type of %x cannot be inferred: write it",
        ),
        (
            "def @f[A](%x: int32) { %x } def @main() { @f(1) }",
            "1:43: a type argument of @f cannot be inferred: write its type",
        ),
        (
            "def @main() { let %f = fn (%x) { %x(%x) }; 1 }",
            "1:34: only a function can be called, but this takes itself",
        ),
        (
            "def @main(%r: ref(int32)) { ref_write(%r, 1f) }",
            "1:43: what is written must be of type int32, but is of type float32",
        ),
        # data types
        (
            "type T { A(int32) } def @main() { A() }",
            "1:35: A takes 1 arguments, but 0 are given",
        ),
        (
            "type T { A(int32) } def @main() { A(1f) }",
            "1:37: argument 0 of A must be of type int32, but is of type float32",
        ),
        (
            "type T { A(int32) } def @main(%t: T) { match (%t) { A(%x, %y) => 1 } }",
            "1:53: A has 1 fields, but the pattern has 2",
        ),
        (
            "type T { A } def @main(%t: int32) { match (%t) { A => 1 } }",
            "1:50: A makes values of type T, but what is matched is of type int32",
        ),
        ("def @main(%t: int32) { match (%t) { Q => 1 } }", "1:37: there is no constructor Q"),
        (
            "def @main(%t: (int32, int32)) { match (%t) { (%x, %x) => 1 } }",
            "1:51: two parts of the pattern are called %x",
        ),
        # metadata
        (
            "def @main() { meta[relay.Constant][0] }",
            "1:15: meta[relay.Constant][0] does not exist: the program has no metadata",
        ),
        (
            'def @main() { 1 }\n#[metadata]\n{"root": 1}',
            '2:1: the metadata: this JSON has no list "nodes"',
        ),
        (
            "def @main() { 1 }\n#[metadata]\n{",
            "2:1: the metadata: this is not JSON: Expecting "
            "property name enclosed in double quotes: line 2 column 2 (char 2)",
        ),
    ],
)
def test_error(text: str, expected: str) -> None:
    assert error_of(text) == expected


def test_the_version_must_be_there() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), "def @main() { 1 }", "t")
    assert caught.value.message == """expected #[version = "0.0.5"], but found 'def'"""


def test_the_version_must_be_known() -> None:
    assert error_of('#[version = "0.0.4"]\n') == "1:1: the version must be 0.0.5, but is 0.0.4"


def test_notes_point_at_other_places() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), VERSION + "def @main() { %0 = 1;\n %0 = 2; %0 }", "t")
    ((text, at),) = caught.value.notes
    assert (text, at.line.data, at.column.data) == ("it is bound here", 2, 15)


def test_the_width_is_that_of_what_is_wrong() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), VERSION + "def @main() { nn.conv7d() }", "t")
    assert caught.value.width == len("nn.conv7d")


@pytest.mark.parametrize("opened", ["(", "nn.relu(", "if (True) { ", "fn () { ", "(1, ", "ref("])
def test_too_much_nesting_is_an_error(opened: str) -> None:
    message = error_of("def @main() { " + opened * 100_000)
    assert message.endswith("the program is nested too deeply")


def test_a_function_and_a_type_have_names_of_their_own() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), VERSION + "type T { A }\ndef @T() { A }", "t")
    assert caught.value.message == (
        "@T is called as the data type T is: symbols have one name each"
    )
    ((text, at),) = caught.value.notes
    assert (text, at.line.data, at.column.data) == ("the type is defined here", 2, 6)
