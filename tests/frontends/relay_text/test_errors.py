"""Each error message of the reader, and its location."""

import pytest
from helpers.relay.relay_programs import VERSION, context, error_of

from xrelay.frontends.relay_text import RelayTextError, parse_module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # syntax
        ("def @main() { 1", "1:16: expected '}', but got the end of the program"),
        ("def @main( { 1 }", "1:12: expected an attribute: a name and '=', but got '{'"),
        ("def main() { 1 }", "1:5: expected a global name, but got 'main'"),
        ("def @main() -> { 1 }", "1:16: expected a type, but got '{'"),
        ("def @main() { }", "1:15: expected an expression, but got '}'"),
        ("def @main() { let %x = 1 }", "1:26: expected ';' after a let, but got '}'"),
        ("def @main() { let %x = 1; }", "1:27: expected an expression after a let, but got '}'"),
        ("def @main() { %0 = 1 %0 }", "1:22: expected ';' after a graph binding, but got '%0'"),
        (
            "def @main(%c: bool) { if (%c) { 1 } }",
            "1:37: expected 'else', as an if always has a value, but got '}'",
        ),
        ("def @main(%x: int32) { add(%x %x) }", "1:31: expected ',' or ')', but got '%x'"),
        ("def @main(%x: int32) { %x - }", "1:29: expected an expression, but got '}'"),
        (
            "def @main(%x: int32) { sum(%x, axis=) }",
            "1:37: expected the value of an attribute, but got ')'",
        ),
        (
            "def @main(%x: int32) { sum(%x, axis=[0], %x) }",
            "1:42: expected an attribute: a name and '=', but got '%x'",
        ),
        ("def @main(%x: int32) { sum(%x, axis=0, axis=1) }", "1:40: duplicate attribute axis"),
        ("def @main(%x: Tensor[3, int32]) { %x }", "1:22: expected '(', but got '3'"),
        (
            "def @main(%x: Tensor[(x), int32]) { %x }",
            "1:23: expected a dim: a number or '?', but got 'x'",
        ),
        ("let %x = 1; %x def", "1:16: expected the end of the program, but got 'def'"),
        ("type { A }", "1:6: expected the name of a data type, but got '{'"),
        (
            "def @f() { 1.5 }",
            "1:12: a number with a point or an exponent must be a float; write 1.5f",
        ),
        (
            "def @f() { 3i8 }",
            "1:12: a number with suffix 'i' must have a width of 16, 32, 64, but has 8",
        ),
        (
            "def @f = meta[tir.PrimFunc][0]",
            "1:5: @f is an external function; these are not supported",
        ),
        # names
        ("def @main(%xs: int32) { %x }", "1:25: unknown variable %x; did you mean '%xs'?"),
        (
            "def @main(%n: int32) { %n-1 }",
            "1:24: unknown variable %n-1 ('-' is part of the name; "
            "put blanks around it to compute with %n)",
        ),
        ("def @main() { %0 }", "1:15: %0 is used before it is bound"),
        ("def @main() { %0 = %0; 1 }", "1:20: %0 is used before it is bound"),
        ("def @main() { %0 = 1; %0 = 2; %0 }", "1:23: %0 is bound twice"),
        ("def @main() { %0 = 1; %0 } def @f() { %0 }", "1:39: %0 is used before it is bound"),
        ("def @main(%x: int32, %x: int32) { %x }", "1:22: duplicate parameter %x"),
        ("def @main() { @man() }", "1:15: unknown function @man; did you mean '@main'?"),
        ("def @f() { 1 } def @f() { 2 }", "1:20: redefinition of @f"),
        ("type T { A } type T { B }", "1:19: redefinition of the type T"),
        ("type T { A } type U { A }", "1:23: redefinition of the constructor A"),
        ("def @main(%x: Lsit[int32]) { %x }", "1:15: unknown type Lsit"),
        (
            "type T[A] { C(A) } def @main(%x: T) { %x }",
            "1:34: T has 1 type parameters, but 0 type arguments are given",
        ),
        (
            "def @main(%x: float32) { nn.rleu(%x) }",
            "1:26: unknown operator or constructor nn.rleu; "
            "did you mean 'nn.relu', 'nn.prelu' or 'nn.gelu'?",
        ),
        (
            "def @main(%x: Tensor[(2), flaot32]) { %x }",
            "1:27: the dtype flaot32 is not supported; did you mean 'float32'?",
        ),
        (
            "def @main() { let %x = %x; %x }",
            "1:24: %x is used in its own definition: only a function can use itself",
        ),
        (
            "def @main() { free_var %x: int32; %x }",
            "1:15: a global function cannot have free variables",
        ),
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
            "1:23: both branches must have the same type, but the first is of type int32 and the "
            "second of float32",
        ),
        (
            "def @main(%x: int32) { %x.0 }",
            "1:24: expected a tuple, but got a value of type int32",
        ),
        ("def @main(%x: (int32,)) { %x.1 }", "1:27: the tuple has 1 fields, but field 1 is used"),
        (
            "def @main(%x: int32) { %x(1) }",
            "1:24: expected a function, but got a value of type int32",
        ),
        (
            "def @f(%x: int32) { %x } def @main() { @f(1, 2) }",
            "1:40: @f expects 1 arguments, but got 2",
        ),
        (
            "def @f(%x: int32) { %x } def @main() { @f(2f) }",
            "1:43: argument 0 of @f must be of type int32, but is of type float32",
        ),
        ("def @main(%f) { 1 }", "1:11: cannot infer the type of %f; add a type annotation"),
        (
            "def @main() { fn (%x) { nn.relu(%x) } }",
            "1:19: cannot infer the type of %x; add a type annotation",
        ),
        (
            "def @f[A](%x: int32) { %x } def @main() { @f(1) }",
            "1:43: cannot infer a type argument of @f; add a type annotation",
        ),
        (
            "def @main() { let %f = fn (%x) { %x(%x) }; 1 }",
            "1:34: infinite type: this function takes itself as an argument",
        ),
        (
            "def @f(%a: bool) { Cons(@f(%a), Nil) } def @main() { 1 }",
            "1:20: infinite type: this would be of a type _ that is List[_]",
        ),
        (
            "def @f(%a: bool) { @f(%a) } def @main() { 1 }",
            "1:20: cannot infer the type of this; add a type annotation",
        ),
        (
            "def @main(%x: Tensr[(4), float32]) { %x }",
            "1:15: only a Tensor has a shape, not a Tensr; did you mean 'Tensor'?",
        ),
        (
            "def @main(%x: Tensor[(4), float32]) { sum(%x, [0]) }",
            "1:47: expected an expression or an attribute, as axis=[0] is, but got '['",
        ),
        (
            "def @main(%r: ref(int32)) { ref_write(%r, 1f) }",
            "1:43: the value written must be of type int32, but is of type float32",
        ),
        # data types
        (
            "type T { A(int32) } def @main() { A() }",
            "1:35: A expects 1 arguments, but got 0",
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
            "1:50: A makes values of type T, but the matched value is of type int32",
        ),
        ("def @main(%t: int32) { match (%t) { Q => 1 } }", "1:37: unknown constructor Q"),
        (
            "def @main(%t: (int32, int32)) { match (%t) { (%x, %x) => 1 } }",
            "1:51: duplicate variable %x in the pattern",
        ),
        # metadata
        (
            "def @main() { meta[relay.Constant][0] }",
            "1:15: meta[relay.Constant][0] does not exist: the program has no metadata",
        ),
        (
            'def @main() { 1 }\n#[metadata]\n{"root": 1}',
            '2:1: invalid metadata: the JSON object has no list "nodes"',
        ),
        (
            "def @main() { 1 }\n#[metadata]\n{",
            "3:2: invalid metadata: invalid JSON: Expecting "
            "property name enclosed in double quotes",
        ),
        (
            f"def @main() {{ 1 }}\n#[metadata]\n{'[' * 100_000}",
            "2:1: invalid metadata: invalid JSON: the program is nested too deeply",
        ),
        (
            'def @main() { meta[A][1] }\n#[metadata]\n{"root": 0, "nodes": [{"type_key": "Map", '
            '"keys": ["A"], "data": [1]}, {"type_key": "Array", "data": [0]}]}',
            "1:15: meta[A][1] does not exist: A has 1 entry",
        ),
    ],
)
def test_error(text: str, expected: str) -> None:
    assert error_of(text) == expected


def test_the_version_must_be_there() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), "def @main() { 1 }", "t")
    assert caught.value.message == (
        """expected #[version = "0.0.5"] at the start of a module, but got 'def'"""
    )


def test_the_version_must_be_known() -> None:
    assert error_of('#[version = "0.0.4"]\n') == "1:1: the version must be 0.0.5, but is 0.0.4"


def test_notes_point_at_other_places() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), VERSION + "def @main() { %0 = 1;\n %0 = 2; %0 }", "t")
    ((text, at),) = caught.value.notes
    assert (text, at.line.data, at.column.data) == ("first bound here", 2, 15)


def test_the_width_is_that_of_what_is_wrong() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), VERSION + "def @main() { nn.conv7d() }", "t")
    assert caught.value.width == len("nn.conv7d")


@pytest.mark.parametrize("opened", ["(", "nn.relu(", "if (True) { ", "fn () { ", "(1, ", "ref("])
def test_too_much_nesting_is_an_error(opened: str) -> None:
    message = error_of("def @main() { " + opened * 100_000)
    assert "the program is nested too deeply" in message


def test_a_function_and_a_type_have_names_of_their_own() -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), VERSION + "type T { A }\ndef @T() { A }", "t")
    assert caught.value.message == ("redefinition of T: it already names a data type")
    ((text, at),) = caught.value.notes
    assert (text, at.line.data, at.column.data) == ("the type is defined here", 2, 6)
