"""Aliases are shared, and the size of their expansion is limited."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xrelay.tools.text import parser
from xrelay.tools.text.repeated_text import AT_LEAST

Opt = Callable[..., Any]
Write = Callable[[str], Path]

FAULTS = Path(__file__).parents[1] / "data" / "faults"


def chain(first: str, step: str, last: str, count: int) -> str:
    """`count` aliases, each defined by the previous one: `P` in `step` and `last`."""
    lines = [f"{first[0]}a0 = {first}"]
    lines += [
        f"{first[0]}a{i} = {step.replace('P', f'{first[0]}a{i - 1}')}" for i in range(1, count)
    ]
    return "\n".join((*lines, last.replace("P", f"{first[0]}a{count - 1}"), ""))


BOMBS = {
    "arrays": ("#test<a>", "[P, P]", '"test.op"() {a = P} : () -> ()'),
    "dictionaries": ("#test<a>", "{x = P, y = P}", '"unknown.op"() <{a = P}> : () -> ()'),
    "tuples": ("!test<a>", "tuple<P, P>", '"test.op"() : () -> P'),
    "functions": ("!test<a>", "(P, P) -> P", '"test.op"() : () -> (P)'),
}


def test_a_bomb_is_refused_where_it_is_too_much(opt: Opt):
    path = FAULTS / "alias_bomb.mlir"
    ran = opt(path)
    assert (ran.status, ran.out) == (1, "")
    first, line, caret, *_ = ran.err.split("\n")
    assert first.startswith(f"{path}:18:9: error: the uses of aliases up to here expand to ")
    assert first.endswith(f", but the limit for this text is {AT_LEAST}")
    assert (line, caret) == ("#a17 = [#a16, #a16]", "        ^^^^")


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_of_all_kinds(opt: Opt, source: Write, bomb: str):
    ran = opt(source(chain(*BOMBS[bomb], 60)), "--allow-unregistered-dialect")
    assert (ran.status, ran.out) == (1, "")
    assert "error: the uses of aliases up to here expand to " in ran.err


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_is_not_too_much_is_written_out(opt: Opt, source: Write, bomb: str):
    ran = opt(source(chain(*BOMBS[bomb], 5)), "--allow-unregistered-dialect")
    assert (ran.status, ran.err) == (0, "")
    leaves = 3 if bomb == "functions" else 2
    assert ran.out.count("test<a>") == leaves**4


@pytest.mark.ci
def test_many_uses_of_a_large_alias(opt: Opt, source: Write):
    use = '"test.op"() {a = #large} : () -> ()\n'
    large = f"#large = [{', '.join(['unit'] * 1000)}]\n"
    assert opt(source(large + use * 100)).status == 0
    ran = opt(source(large + use * 2000))
    assert ran.status == 1
    assert "error: the uses of aliases up to here expand to " in ran.err


def test_the_limit_grows_with_the_text(opt: Opt, source: Write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parser, "AT_LEAST", 0)
    short = '!t = tensor<4xf32>\n"test.op"() : () -> (!t, !t, !t)\n'
    assert opt(source(short)).status == 0


def test_types_that_double_with_every_op(opt: Opt, source: Write):
    lines = [
        "func.func @f(%x0: !relay.incomplete, %y: tensor<i32>) {",
        "%x1 = relay.tuple %y, %y : ",
    ]
    lines[1] += "(tensor<i32>, tensor<i32>) -> !relay.incomplete"
    for i in range(2, 60):
        lines.append(
            f"%x{i} = relay.tuple %x{i - 1}, %x{i - 1} : "
            "(!relay.incomplete, !relay.incomplete) -> !relay.incomplete"
        )
    ran = opt(source("\n".join((*lines, "func.return", "}"))), "-p", "infer-types")
    assert (ran.status, ran.out) == (1, "")
    assert "error: a result of relay.tuple has a type of more than 100000 parts" in ran.err
