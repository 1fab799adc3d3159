"""The prelude: which definitions are loaded, and the results of its functions."""

from typing import Any

import numpy as np
import pytest
from helpers.relay.relay_programs import VERSION, error_of, ir_of, read

from xrelay.frontends.relay_text.prelude import needed_by
from xrelay.passes.evaluation.evaluator import evaluate


def value_of(expr: str, params: str = "", *args: Any) -> Any:
    """Evaluate `expr`; return Python numbers and tuples."""
    (value,) = evaluate(read(f"def @main({params}) {{ {expr} }}"), list(args))
    return plain(value)


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    return np.asarray(value).tolist()


LIST = "Cons(3, Cons(1, Cons(2, Nil)))"


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (f"@hd({LIST})", 3),
        (f"@hd(@tl({LIST}))", 1),
        (f"@nth({LIST}, 2)", 2),
        (f"@nth(@update({LIST}, 1, 9), 1)", 9),
        (f"@length({LIST})", 3),
        (f"@sum({LIST})", 6),
        (f"@sum(@map(fn (%a) {{ %a * %a }}, {LIST}))", 14),
        (f"@foldl(subtract, 10, {LIST})", 4),
        (f"@foldr(subtract, 10, {LIST})", -6),
        (f"@foldr1(subtract, {LIST})", 4),
        (f"@sum(@concat({LIST}, {LIST}))", 12),
        (f"@length(@filter(fn (%a) {{ %a > 1 }}, {LIST}))", 2),
        (f"@hd(@rev({LIST}))", 2),
        (f"@hd(@tl(@zip({LIST}, {LIST})))", (1, 1)),
        (f"@length(@zip({LIST}, Cons(1f, Nil)))", 1),
        (f"@map_accuml(fn (%s, %a) {{ (%s + %a, %s) }}, 0, {LIST}).0", 6),
        (f"@hd(@map_accuml(fn (%s, %a) {{ (%s + %a, %s) }}, 0, {LIST}).1)", 0),
        (f"@hd(@map_accumr(fn (%s, %a) {{ (%s + %a, %s) }}, 0, {LIST}).1)", 3),
        ("@hd(@unfoldr(fn (%k) { if (%k > 2) { None } else { Some((%k + 1, %k)) } }, 0))", 0),
        ("@hd(@unfoldl(fn (%k) { if (%k > 2) { None } else { Some((%k + 1, %k)) } }, 0))", 2),
        (f"(@sequence_length({LIST}), @place({LIST}, -1i64), @place({LIST}, 1i64))", (3, 2, 1)),
        (f"(@sequence_at({LIST}, 0i64), @sequence_at({LIST}, -2i64))", (3, 1)),
        (f"@nth(@sequence_insert({LIST}, 3i64, 7), 3)", 7),
        (f"@hd(@sequence_insert({LIST}, -3i64, 7))", 7),
        (f"@hd(@tl(@sequence_erase({LIST}, -2i64)))", 2),
        ("@sum(@tabulate(fn (%i) { cast(%i, dtype=\"int32\") }, 5i64, Cons(100, Nil)))", 110),
        ("(@is_some(Some(1)), @is_some(Some(2)), @get(Some(3)))", (True, True, 3)),
        ("@iterate(fn (%y) { %y * 2 }, 10)(1)", 1024),
        ("@compose(negative, fn (%y) { %y * 2 })(3)", -6),
        ("@flip(subtract)(1, 10)", 9),
        ("(@fst((1, 2)), @snd((1, 2)), @id(7))", (1, 2, 7)),
        ("@size(Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Nil), Nil))))", 3),
        ("match (@tmap(negative, Rose(4, Nil))) { Rose(%x, _) => %x }", -4),
        ("@nat_iterate(fn (%y) { %y + 1 }, @nat_add(s(z), @nat_double(s(s(z)))))(0)", 5),
    ],
)  # fmt: skip
def test_function(expr: str, expected: Any) -> None:
    assert value_of(expr) == expected


@pytest.mark.ci
def test_every_function_of_the_prelude_can_be_read() -> None:
    from xrelay.frontends.relay_text import prelude

    names = sorted(
        name[1:]
        for name in prelude._entries()  # pyright: ignore[reportPrivateUsage]
        if name.startswith("@")
    )
    assert len(names) >= 28
    for name in names:
        text = ir_of(f"def @main() {{ let %unused = 1; () }}\ndef @other() {{ {USES[name]} }}")
        assert f"func.func @{name}(" in text


USES = {
    name: f"let %f: {type} = @{name}; ()"
    for name, type in {
        "id": "fn (int32) -> int32",
        "compose": "fn (fn (int32) -> int32, fn (int32) -> int32) -> fn (int32) -> int32",
        "flip": "fn (fn (int32, int32) -> int32) -> fn (int32, int32) -> int32",
        "fst": "fn ((int32, int32)) -> int32",
        "snd": "fn ((int32, int32)) -> int32",
        "iterate": "fn (fn (int32) -> int32, int32) -> fn (int32) -> int32",
        "hd": "fn (List[int32]) -> int32",
        "tl": "fn (List[int32]) -> List[int32]",
        "nth": "fn (List[int32], int32) -> int32",
        "update": "fn (List[int32], int32, int32) -> List[int32]",
        "length": "fn (List[int32]) -> int32",
        "map": "fn (fn (int32) -> bool, List[int32]) -> List[bool]",
        "foldl": "fn (fn (bool, int32) -> bool, bool, List[int32]) -> bool",
        "foldr": "fn (fn (int32, bool) -> bool, bool, List[int32]) -> bool",
        "foldr1": "fn (fn (int32, int32) -> int32, List[int32]) -> int32",
        "sum": "fn (List[int32]) -> int32",
        "concat": "fn (List[int32], List[int32]) -> List[int32]",
        "filter": "fn (fn (int32) -> bool, List[int32]) -> List[int32]",
        "zip": "fn (List[int32], List[bool]) -> List[(int32, bool)]",
        "rev": "fn (List[int32]) -> List[int32]",
        "map_accumr": "fn (fn (bool, int32) -> (bool, int8), bool, List[int32]) "
        "-> (bool, List[int8])",
        "map_accuml": "fn (fn (bool, int32) -> (bool, int8), bool, List[int32]) "
        "-> (bool, List[int8])",
        "unfoldr": "fn (fn (int32) -> Option[(int32, bool)], int32) -> List[bool]",
        "unfoldl": "fn (fn (int32) -> Option[(int32, bool)], int32) -> List[bool]",
        "sequence_length": "fn (List[int32]) -> int64",
        "place": "fn (List[int32], int64) -> int64",
        "drop": "fn (List[int32], int64) -> List[int32]",
        "after": "fn (fn (List[bool]) -> List[bool], List[bool], int64) -> List[bool]",
        "sequence_at": "fn (List[int32], int64) -> int32",
        "sequence_insert": "fn (List[int32], int64, int32) -> List[int32]",
        "sequence_erase": "fn (List[int32], int64) -> List[int32]",
        "tabulate": "fn (fn (int64) -> int32, int64, List[int32]) -> List[int32]",
        "is_some": "fn (Option[int32]) -> bool",
        "get": "fn (Option[int32]) -> int32",
        "tmap": "fn (fn (int32) -> bool, Tree[int32]) -> Tree[bool]",
        "size": "fn (Tree[int32]) -> int32",
        "nat_add": "fn (nat, nat) -> nat",
        "nat_double": "fn (nat) -> nat",
        "nat_iterate": "fn (fn (int32) -> int32, nat) -> fn (int32) -> int32",
    }.items()
}


def test_only_what_is_used_is_loaded() -> None:
    text = ir_of("def @main(%l: List[int32]) { @length(%l) }")
    heads = [line.partition("(")[0] for line in text.split("\n") if not line.startswith((" ", "}"))]
    assert heads == [
        'relay.type_data @List<["A"]> [@Cons',
        "func.func @length",
        "func.func @foldl",
        "func.func @main",
    ]


def test_what_the_program_defines_is_its_own() -> None:
    text = """
      type List[A] { End, More(A, List[A]) }
      def @length[A](%l: List[A]) -> int32 { 7 }
      def @main(%l: List[int32]) { @length(%l) }
    """
    assert "@foldl" not in ir_of(text)


def test_a_program_without_names_of_the_prelude_needs_none() -> None:
    from xrelay.frontends.relay_text.errors import SourceMap
    from xrelay.frontends.relay_text.json.node_graph import Metadata
    from xrelay.frontends.relay_text.text.grammar import Grammar
    from xrelay.frontends.relay_text.text.lexer import tokenize

    text = VERSION + "def @main(%x: int32) { nn.relu(%x) }"
    places = SourceMap("t", text)
    assert (
        needed_by(Grammar(tokenize(text, places), places, Metadata(None), text).read_module()) == []
    )


def test_a_list_of_another_length_is_an_error_at_the_call() -> None:
    assert error_of("def @main() {\n  @length(1) }") == (
        "2:11: argument 0 of @length must be of type List[_], but is of type int32"
    )


@pytest.mark.ci
def test_deep_recursion() -> None:
    text = """
      def @upto(%n: int32) -> List[int32] {
        if (%n == 0) { Nil } else { Cons(%n, @upto(%n - 1)) }
      }
      def @main(%n: int32) { @length(@map(fn (%a) { %a + 1 }, @upto(%n))) }
    """
    (found,) = evaluate(read(text), [np.asarray(1200, np.int32)])
    assert plain(found) == 1200
