"""The tree of times: nesting, sums and output."""

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

from xrelay.tools.pass_run.ir_dumps import Span, Timer

Opt = Callable[..., Any]
Write = Callable[[str], Path]


def names(span: Span) -> list[Any]:
    return [span.name, *(names(part) for part in span.parts)]


def test_spans_nest_and_neighbours_of_one_name_add_up():
    timer = Timer()
    for name in ("a", "a", "b", "a"):
        with timer.span("outer"), timer.span(name):
            pass
    with timer.span("last"):
        pass
    assert names(timer.root) == ["total", ["outer", ["a"], ["b"], ["a"]], ["last"]]
    outer = timer.root.parts[0]
    assert sum(part.seconds for part in outer.parts) <= outer.seconds


def test_a_span_ends_with_an_error():
    timer = Timer()
    try:
        with timer.span("a"):
            raise KeyError
    except KeyError:
        pass
    with timer.span("b"):
        pass
    assert names(timer.root) == ["total", ["a"], ["b"]]


def test_rows_have_shares_of_the_total():
    timer = Timer()
    timer.root.parts = [Span("x", 3.0, [Span("y", 1.0)]), Span("z", 1.0)]
    out = StringIO()
    timer.print(out)
    rows = out.getvalue().split("\n")[-5:]
    assert rows == [
        "     3.0000 ( 75.0%)  x",
        "     1.0000 ( 25.0%)    y",
        "     1.0000 ( 25.0%)  z",
        "     4.0000 (100.0%)  Total",
        "",
    ]


def test_a_named_pipeline_is_a_branch(opt: Opt, source: Write):
    path = source(
        "func.func @f(%a: tensor<f32>) -> tensor<f32> {\n  func.return %a : tensor<f32>\n}"
    )
    ran = opt(path, "-p", "cse,vm,cse", "--timing")
    assert ran.status == 0
    rows = re.findall(r"%\)( +)(\S.*)", ran.err)
    top = [name for indent, name in rows if len(indent) == 2]
    assert [name for name in top if name != "verify"] == [
        "read", "parse", "cse", "pipeline 'vm'", "cse", "output", "Total",
    ]  # fmt: skip
    inner = [name for indent, name in rows if len(indent) == 4]
    assert inner[0] == "infer-types"
    assert "lower-to-bytecode" in inner
