"""Closures with type parameters behave the same at every type at which they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pytest
from helpers.programs.random_settings import exactly
from helpers.relay.relay_programs import DATA, VERSION, body_of, context, error_of, ir_of, read
from hypothesis import given
from hypothesis import strategies as st

from xrelay.dialects.device import VirtualDeviceAttr
from xrelay.frontends.relay_text import RelayTextError, parse_json, parse_module
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes import lambda_lift
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.verifier import verify


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    return np.asarray(value).tolist()


def value_of(text: str) -> Any:
    """Evaluate `@main` for `%y` = 5, also after a round trip through text."""
    module = read(text)
    again = read(module_text(module))
    assert module.is_structurally_equivalent(again)
    args = [np.asarray(5, np.int32)]
    (value,), (printed,) = evaluate(module, args), evaluate(again, args)
    assert plain(value) == plain(printed)
    return plain(value)


# ------------------------------------------------------------------ by example

ID = "fn [A](%x: A) -> A { %x }"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"let %id = {ID}; (%id(1), %id(2f))", (1, 2.0)),
        ("let %id = fn [A](%x: A) { %x }; (%id(1), %id(2f))", (1, 2.0)),
        (f"%0 = {ID}; (%0(1), %0(2f))", (1, 2.0)),
        (f"let %id = {ID}; let %same = %id; (%same(1), %same(2f), %id(3))", (1, 2.0, 3)),
        (f"%0 = {ID}; %1 = %0; (%1(1), %1(2f))", (1, 2.0)),
        (f"let %id: fn [B](B) -> B = {ID}; (%id(1), %id(2f))", (1, 2.0)),
        (f"let %id: fn (_) -> _ = {ID}; (%id(1), %id(2f))", (1, 2.0)),
        (f"let %id: fn (int32) -> int32 = {ID}; %id(1)", 1),
        (f"let %id = {ID}; let %int: fn (int32) -> _ = %id; (%int(1), %id(2f))", (1, 2.0)),
        ("let %k = fn [A](%x: A) -> int32 { %y }; (%k(1), %k(2f))", (5, 5)),
        ("let %p = fn [A](%x: A) { (%x, %y) }; (%p(1), %p((2f, 3)))", ((1, 5), ((2.0, 3), 5))),
        (f"let %id = {ID}; (@twice(%id, 7), %id(2f))", (7, 2.0)),
        ("let %a = fn [A](%n: int32, %x: A) { %n + %y }; (@fold(%a), %a(1, 2f))", (6, 6)),
        (f"let %id = {ID}; %id(%id)(3)", 3),
        (f"let %id = {ID}; if (%id(True)) {{ %id(1) }} else {{ 2 }}", 1),
        (
            "let %f = fn [A](%x: A, %n: int32) -> List[A] "
            "{ if (%n == 0) { Nil } else { Cons(%x, %f(%x, %n - 1)) } };"
            "(@length(%f(1, 2)), @length(%f(2f, %y)))",
            (2, 5),
        ),
        (
            "let %deep = fn [A](%x: A, %n: int32) -> int32 "
            "{ if (%n == 0) { %y } else { 1 + %deep((%x, %x), %n - 1) } }; %deep(1f, 3)",
            8,
        ),
        (
            "let %f = fn [A](%x: A) {"
            "  let %g = fn [B](%z: B) { (%z, %x, %y) }; (%g(1), %g(%x))"
            "}; (%f(2f), %f(True))",
            (((1, 2.0, 5), (2.0, 2.0, 5)), ((1, True, 5), (True, True, 5))),
        ),
        (
            "let %f = fn [A](%x: A, %n: int32) -> int32 {"
            "  let %g = fn [B](%z: B, %m: int32) -> int32 "
            "    { if (%m < %y) { %f((%x, %z), %m + 1) } else { %m * %y } };"
            "  %g(1f, %n) + %g(%x, %n + 1)"
            "}; %f(True, 4)",
            4 * 0 + (25 + 30) + 25,
        ),
        (
            "let %h = fn (%q: int32) {"
            "  let %f = fn [A](%x: A) { let %z = %q + %y; (%x, %z) }; (%f(%q), %f(2f))"
            "}; (%h(1), %h(2))",
            (((1, 6), (2.0, 6)), ((2, 7), (2.0, 7))),
        ),
        (
            "let %loop = fn (%n: int32) -> int32 {"
            "  let %step = fn [A](%x: A) { if (%n <= 0) { %y } else { %loop(%n - 1) + 1 } };"
            "  %step(1f)"
            "}; %loop(3)",
            8,
        ),
        (
            "let %r = ref(0); let %add = fn [A](%x: A) { ref_write(%r, ref_read(%r) + %y); %x };"
            "%add(1); %add(2f); ref_read(%r)",
            10,
        ),
        ("let %x = 1; let %f = fn [A](%a: A) { (%a, %x) }; let %x = 2; %f(%x)", (2, 1)),
    ],
)  # fmt: skip
def test_value(body: str, expected: Any) -> None:
    program = f"""
      def @twice(%f: fn (int32) -> int32, %x: int32) {{ %f(%f(%x)) }}
      def @fold(%f: fn (int32, float32) -> int32) {{ %f(1, 2f) }}
      def @main(%y: int32) {{ {body} }}
    """
    assert value_of(program) == expected


def test_a_call_before_the_definition_whose_result_type_is_omitted() -> None:
    text = """
      def @main(%y: int32) { (@same(%y), @same(2f), @pair(%y)) }
      def @same[A](%x: A) { @pair(%x).0 }
      def @pair[A](%x: A) { (%x, 1) }
    """
    assert value_of(text) == (5, 2.0, (5, 1))


def test_the_type_parameters_of_the_function_around() -> None:
    text = """
      def @both[A](%a: A, %n: int32) {
        let %pair = fn [B](%b: B) { (%b, %a) };
        let %again = fn [A](%x: A) -> (A, int32) { (%x, %n) };
        let %none = fn [B](%b: B) -> List[B] { let %nil: List[A] = Nil; Nil };
        (%pair(1), %pair(%n), %again(%a), %again(True))
      }
      def @main(%y: int32) { (@both(2f, %y), @both((), 3)) }
    """
    assert value_of(text) == (
        ((1, 2.0), (5, 2.0), (2.0, 5), (True, 5)),
        ((1, ()), (3, ()), ((), 3), (True, 3)),
    )
    heads = [line for line in ir_of(text).split("\n") if line.startswith("func.func")]
    params = [line.split("relay.type_params = ")[-1].split("}")[0] for line in heads]
    assert params[:4] == ['["A"]', '["B", "A"]', '["A_1"]', '["B", "A"]']


def test_a_name_of_a_function_that_was_made_is_free_for_the_program() -> None:
    text = f"""
      def @main_id(%y: int32) {{ %y + 1 }}
      def @main(%y: int32) {{ let %id = {ID}; (%id(@main_id(%y)), %id(2f)) }}
    """
    assert value_of(text) == (6, 2.0)
    assert "@main_id_1" in ir_of(text)


def test_a_function_that_is_no_longer_than_its_use_stays_a_closure() -> None:
    body = body_of("def @main(%x: float32) { let %y = fn [A](%a: A) { %a }(%x); %y }")
    assert body == (
        "%0 = relay.fn (%a: tensor<f32>) -> tensor<f32> {\n"
        "  relay.yield %a : tensor<f32>\n"
        "}\n"
        "%y = relay.call %0(%x) : (tensor<f32>) -> tensor<f32>\n"
        "func.return %y : tensor<f32>"
    )


def test_hints_and_devices_are_kept() -> None:
    """A hint on the function applies to each value that refers to it."""
    devices = {"VirtualDevice": [VirtualDeviceAttr("cpu", 0), VirtualDeviceAttr("cuda", 0)]}
    text = """
      def @main() {
        let %f = on_device(
          fn [A](%x {virtual_device=meta[VirtualDevice][0]}: A,
                 virtual_device=meta[VirtualDevice][1], Inline=1) { %x },
          virtual_device=meta[VirtualDevice][1]);
        (%f(1), %f(2f))
      }
    """
    (head,) = (h for h in ir_of(text, devices).split("\n") if h.startswith("func.func @main_f("))
    assert head == (
        "func.func @main_f(%x: !relay.type_var<A> {relay.device = #relay.device<cpu:0>}) "
        "-> (!relay.type_var<A> {relay.device = #relay.device<cuda:0>}) "
        'attributes {relay.attrs = {Inline = 1 : i64}, relay.type_params = ["A"]} {'
    )
    lines = ir_of(text, devices).split("\n")
    body = [line for line in lines if " = relay." in line]
    assert [line.split(" = ")[1].split(" ")[0] for line in body[:8]] == [
        *("relay.global", "relay.on_device", "relay.constant", "relay.call"),
        *("relay.global", "relay.on_device", "relay.constant", "relay.call"),
    ]


def test_what_tvm_saved() -> None:
    """`let %id = fn [A](%x: A) { (%x, %y) }` and `%0 = fn [B](%x: B) { (%x,) }`."""
    text = (DATA / "generics.json").read_text()
    module = parse_json(context(), text, "generics.json")
    verify(module)
    (value,) = evaluate(module, [np.asarray(5, np.int32)])
    assert plain(value) == ((1, 5), (2.0, 5), (1.0,), (5,))


# --------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "def @main[A, B, A](%x: A) { %x }",
            "1:17: duplicate type parameter A",
        ),
        (
            f"def @main() {{ let %f = {ID};\n%f(1, 2) }}",
            "2:1: %f expects 1 arguments, but got 2",
        ),
        (
            "def @main() { let %f = fn [A](%x: A, %z: A) { %x };\n%f(1, 2f) }",
            "2:7: argument 1 of %f must be of type int32, but is of type float32",
        ),
        (
            "def @main() { let %f = fn [A, B](%x: A) { %x };\n%f(1) }",
            "2:1: cannot infer a type argument of %f; add a type annotation",
        ),
        (
            "def @main() { let %f = fn [A](%x: A) {\n%f(%x) }; %f(1) }",
            "1:24: cannot infer the type of %f; add a type annotation",
        ),
        (
            "def @main() {\nlet %r = ref(None); let %f = fn [A](%x: A) "
            "{ ref_write(%r, Some(%x)) }; %f(1); ref_read(%r) }",
            "2:14: the type of this would be Option[A], but the type parameter A is not "
            "in scope here (is the result type of its function missing?)",
        ),
        (
            f"def @main() {{ let %f = {ID};\n@main_f(1) }}",
            "2:1: unknown function @main_f; did you mean '@main'?",
        ),
        (
            f"def @main() {{\nlet %f: int32 = {ID}; 1 }}",
            "2:5: %f must be of type int32, but is of type fn (_) -> _",
        ),
        (
            f"def @main() {{ let %f: fn (float32) -> _ = {ID};\n%f(1) }}",
            "2:4: argument 0 of the function must be of type float32, but is of type int32",
        ),
        (
            "def @main() { let %f = fn [A](%x: A) {\nnn.relu(%x) }; %f(1f) }",
            "2:1: nn.relu: operand 0 of nn.relu must be a tensor, but is !type_var<A>",
        ),
        (
            f"def @main() {{ let %f = {ID};\n%f.0 }}",
            "2:1: expected a tuple, but got a value of type fn (_) -> _",
        ),
        (
            "def @main(%c: bool) { let %f = fn [A](%x: A) { %0 = %f(1); %0 };\n(%0, %f(1)) }",
            "1:53: %f is used in its own definition: only a function can use itself",
        ),
    ],
)
def test_error(text: str, message: str) -> None:
    assert error_of(text) == message


def test_a_function_without_a_name_has_one_type_and_the_error_says_so() -> None:
    text = VERSION + f"def @main() {{\nlet %t = ({ID}, 1);\n(%t.0(1), %t.0(2f)) }}"
    with pytest.raises(RelayTextError) as caught:
        parse_module(context(), text, "test.relay")
    assert caught.value.message == (
        "argument 0 of the function must be of type int32, but is of type float32"
    )
    ((note, location),) = caught.value.notes
    assert (location.line.data, location.column.data) == (3, 11)
    assert note == (
        "the type parameter A of this function is int32: "
        "only a function that a let or a graph binding names can have several types"
    )


# ----------------------------------------------------------------------- bounds


@pytest.mark.ci
def test_many_that_use_each_other_are_read_once_each() -> None:
    """Instantiating each use separately would need 2**200 functions."""
    lines = ["let %f0 = fn [A](%x: A) -> int32 { %y };"]
    for i in range(1, 200):
        lines.append(
            f"let %f{i} = fn [A](%x: A) -> int32 {{ %f{i - 1}(%x) + %f{i - 1}((%x, 1f)) }};"
        )
    text = "def @main(%y: int32) {\n" + "\n".join([*lines, "%f199(1)", "}"])
    assert ir_of(text).count("func.func") == 201


def test_captures_that_grow_without_end_are_a_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lambda_lift, "MAX_CAPTURED", 5000)
    lines = ["let %v0 = %y; let %f0 = fn [A](%x: A) -> int32 { %v0 };"]
    for i in range(1, 120):
        body = f"%v{i} + %f{i - 1}(1)"
        lines.append(f"let %v{i} = %y + {i}; let %f{i} = fn [A](%x: A) -> int32 {{ {body} }};")
    text = "def @main(%y: int32) {\n" + "\n".join([*lines, "%f119(1)", "}"])
    assert error_of(text) == (
        "101:32: closures capture more than 1000000 values in total; pass some of them in a tuple"
    )


def test_too_deep_is_a_diagnostic() -> None:
    text = "1"
    for i in range(2000):
        text = f"let %f{i} = fn [A](%x: A) {{ {text} }}; %f{i}(1)"
    assert "the program is nested too deeply" in error_of(f"def @main() {{ {text} }}")


# ------------------------------------------------------------- random programs

Env: TypeAlias = dict[str, Any]
Run: TypeAlias = Callable[[Env], int]
THINGS = ("1f", "True", "(1, 2f)", "%y")
"""Values of some types."""


class Maker:
    """
    Generates int32 expressions together with equivalent Python functions.

    Generic functions accept a value of any type, which they pass on, and a number.
    """

    def __init__(self, data: st.DataObject):
        self.data = data
        self.made = 0

    def number(self, most: int) -> int:
        return self.data.draw(st.integers(0, most))

    def pick(self, names: Sequence[str]) -> str:
        return names[self.number(len(names) - 1)]

    def expression(self, ints: list[str], functions: list[str], depth: int) -> tuple[str, Run]:
        """An expression of the numbers and functions in scope."""
        kind = self.number(7) if depth else self.number(1)
        if kind == 0:
            value = self.number(9)
            return str(value), lambda env: value
        if kind == 1:
            name = self.pick(ints)
            return f"%{name}", lambda env: env[name]
        if kind > 4:
            return self.let(ints, functions, depth - 1)
        a, run_a = self.expression(ints, functions, depth - 1)
        if kind == 2 or not functions:
            b, run_b = self.expression(ints, functions, depth - 1)
            return f"({a} - {b})", lambda env: run_a(env) - run_b(env)
        name = self.pick(functions)
        text = f"@apply(%{name}, {a})" if kind == 3 else f"%{name}({self.pick(THINGS)}, {a})"
        return text, lambda env: env[name](run_a(env))

    def let(self, ints: list[str], functions: list[str], depth: int) -> tuple[str, Run]:
        """A binding of a number or a function, and an expression after it."""
        self.made += 1
        kind = self.number(3)
        if kind == 0:
            name = f"i{self.made}"
            value, run = self.expression(ints, functions, depth)
            rest, run_rest = self.expression([*ints, name], functions, depth)
            text = f"(let %{name} = {value}; {rest})"
            return text, lambda env: run_rest({**env, name: run(env)})
        name, param = f"f{self.made}", f"n{self.made}"
        body, run = self.expression([*ints, param], functions, depth)
        rest, run_rest = self.expression(ints, [*functions, name], depth)
        if kind == 1:  # calls itself, with 0
            body = f"if (%{param} == 0) {{ {body} }} else {{ %{name}((%x, 1), 0) + 1 }}"

        def call(env: Env, value: int) -> int:
            if kind == 1:
                return run({**env, param: 0}) + (value != 0)
            return run({**env, param: value})

        def run_let(env: Env) -> int:
            return run_rest({**env, name: partial(call, env)})

        function = f"fn [A](%x: A, %{param}: int32) -> int32 {{ {body} }}"
        return f"(let %{name} = {function}; {rest})", run_let


@pytest.mark.ci
@exactly(40)
@given(st.data())
def test_random_programs(data: st.DataObject) -> None:
    text, run = Maker(data).expression(["y"], [], 5)
    program = f"""
      def @apply(%f: fn (float32, int32) -> int32, %n: int32) -> int32 {{ %f(2f, %n) }}
      def @main(%y: int32) -> int32 {{ {text} }}
    """
    assert value_of(program) == run({"y": 5})
