"""Reading text with locations, and printing it with large constants elided."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.programs.random_settings import rounds
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

import xrelay
from xrelay.operators.spelling import did_you_mean
from xrelay.passes.support.diagnostics import location_of
from xrelay.tools.api.session import Session
from xrelay.tools.api.source import Part, split
from xrelay.tools.messages import Reporter
from xrelay.tools.text.parser import LocatingParser

Opt = Callable[..., Any]
Write = Callable[[str], Path]


def parse(text: str, lines_before: int = 0) -> Operation:
    ctx = Session(Reporter()).context
    return LocatingParser(ctx, text, "f.mlir", lines_before).parse_module()


def line_and_column(at: FileLineColLoc | None) -> tuple[int, int]:
    assert at is not None
    assert at.filename.data == "f.mlir"
    return at.line.data, at.column.data


def test_parts_lie_between_lines_that_are_the_mark():
    text = "a\n// -----\nb\n  // -----\n// ----- \n// -----// c\n// -----"
    assert list(split(text)) == [
        Part("a\n", 0),
        Part("b\n  // -----\n", 2),
        Part("// -----// c\n", 5),
        Part("", 7),
    ]


def test_ops_and_block_arguments_have_the_place_of_their_name():
    module = parse(
        '%a, %b = "test.op"() ({\n^bb0(%c: i32,\n     %d: i32):\n'
        '  "test.termop"() : () -> ()\n}) : () -> (i32, i32)\n',
        lines_before=10,
    )
    (op,) = module.regions[0].block.ops
    assert isinstance(op, TestOp)
    block = op.regions[0].block
    assert line_and_column(location_of(module)) == (11, 1)
    assert line_and_column(location_of(op)) == (11, 10)
    assert [line_and_column(location_of(arg)) for arg in block.args] == [(12, 6), (13, 6)]
    assert block.last_op is not None
    assert line_and_column(location_of(block.last_op)) == (14, 3)


def test_names_of_a_region_end_with_it():
    module = parse(
        '"test.op"() ({\n  %x = "test.op"() : () -> i32\n  "test.termop"() : () -> ()\n}, {\n'
        '  %x = "test.op"() : () -> i64\n  "test.termop"(%x) : (i64) -> ()\n}) : () -> ()\n'
        '%x = "test.op"() : () -> f32\n'
    )
    last = module.regions[0].block.last_op
    assert last is not None
    assert str(last.results[0].type) == "f32"


PROGRAM = """\
#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>
!t = memref<4x4xf32, strided<[4, 1], offset: ?>>
func.func @f(%a: tensor<2x?xf32>, %c: i1) -> (tensor<2x?xf32>) attributes {x = "a\\n"} {
  %r = scf.if %c -> (tensor<2x?xf32>) {
    scf.yield %a : tensor<2x?xf32>
  } else {
    %d = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
    scf.yield %a : tensor<2x?xf32>
  }
  func.return %r : tensor<2x?xf32>
}
%x, %y = "test.op"() ({
^bb0(%z: index):
  cf.br ^bb1(%z : index)
^bb1(%w: index):
  "test.termop"() : () -> ()
}) {p = array<i32: 1, 2>, q = #map} : () -> (i32, !t) loc("a.c":1:2)
"""


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_wrong_is_said_at_a_place(opt: Opt, source: Write, seed: int):
    """Damaged programs either cause an error at a line or are still valid."""
    random = Random(seed)
    words = [*PROGRAM.split(), "%q", "99999999999999999999", '"', "\\", "\0", "é", "loc("]
    for _ in range(rounds(240)):
        text = PROGRAM
        for _ in range(random.randint(1, 3)):
            start = random.randrange(len(text))
            stop = start + random.choice((0, 1, 5))
            text = text[:start] + random.choice([*words, ""]) + text[stop:]
        path = source(text)
        ran = opt(path)
        if ran.status:
            assert re.match(rf"({path}|a\.c):\d+:\d+: error: ", ran.err), ran.err
        else:
            assert ran.err == ""


def test_output_is_written_only_when_all_went_well(opt: Opt, source: Write, tmp_path: Path):
    out = tmp_path / "out.mlir"
    out.write_text("before")
    assert opt(source("nonsense"), "-o", out).status == 1
    assert out.read_text() == "before"
    assert opt(source("func.func private @f()"), "-o", out).status == 0
    assert "@f" in out.read_text()


def test_what_is_printed_can_be_read(opt: Opt, source: Write, tmp_path: Path):
    path = source(PROGRAM)
    for flags in ([], ["--print-op-generic"], ["--print-debuginfo"]):
        printed = opt(path, *flags)
        assert printed.status == 0
        again = tmp_path / "again.mlir"
        again.write_text(printed.out)
        assert opt(again).out == opt(path).out


def test_strings_beyond_ascii_stay_strings(opt: Opt, source: Write):
    """They are printed as escapes, which denote the same bytes as the letters."""
    text = """func.func @main(%x: tensor<4xf32> {relay.name = "é"}) -> tensor<4xf32> {
      %w = relay.param "wé" : tensor<4xf32>
      "test.op"() {bytes = "\\FF", quoted = "\\22ß"} : () -> ()
      func.return %w : tensor<4xf32>
    }"""
    first = opt(source(text))
    assert '"w\\C3\\A9"' in first.out
    second = opt(source(first.out))
    assert (second.status, second.out) == (0, first.out)


def test_long_constants_are_left_out(opt: Opt, source: Write):
    text = '"test.op"() {a = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>, b = dense<1> : tensor<9xi8>}'
    path = source(f"{text} : () -> ()\n")
    whole = "{a = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>"
    elided = "{a = dense_resource<__elided__> : tensor<3xf32>"
    for most, expected in ((0, elided), (2, elided), (3, whole)):
        ran = opt(path, f"--mlir-elide-elementsattrs-if-larger={most}")
        assert expected in ran.out
        assert "b = dense<1> : tensor<9xi8>" in ran.out


def test_the_nearest_name_is_suggested():
    assert did_you_mean("canonicalise", ["cse", "canonicalize"]) == (
        "; did you mean 'canonicalize'?"
    )
    assert did_you_mean("zzz", ["cse"]) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "f.mlir",
            "func.func private @f((f32) -> f32) -> ((f32) -> f32)\n"
            "func.func @g(%x: (f32) -> f32) -> ((f32) -> f32) {\n"
            "  %f = func.call @f(%x) : ((f32) -> f32) -> ((f32) -> f32)\n"
            "  func.return %f : (f32) -> f32\n}\n",
        ),
        ("f.relay", '#[version = "0.0.5"]\ndef @main(%x: float32) { fn (%y: float32) { %x } }\n'),
    ],
)
def test_printed_modules_are_parsed_again(name: str, text: str, tmp_path: Path):
    paths = tmp_path / name, tmp_path / "again.mlir"
    paths[0].write_text(text)
    module = xrelay.parse(paths[0])
    paths[1].write_text(str(module))
    assert "-> ((" in str(module)
    assert xrelay.parse(paths[1]).is_structurally_equivalent(module)
