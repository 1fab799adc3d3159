"""Generated CHECK blocks: their contents, and that they pass."""

from collections.abc import Callable
from pathlib import Path

import pytest

from xrelay.tools.testing.update_checks import (
    Block,
    LeftAlone,
    Printed,
    blocks,
    check_lines,
    main,
    updated,
)

CONFIG = Path(__file__).parent.parent.parent / "lit_tests" / "lit.cfg.py"


@pytest.fixture
def suite(tmp_path: Path) -> Callable[[str], Path]:
    """Write a test into a separate lit suite."""
    (tmp_path / "lit.cfg.py").write_text(CONFIG.read_text())

    def write(text: str) -> Path:
        path = tmp_path / "test.mlir"
        path.write_text(text)
        return path

    return write


TEST = """\
// RUN: xrelay-opt --split-input-file -p canonicalize,cse %s | filecheck %s

// Adding is done once.
//
// CHECK: stale
func.func @once(%a: i32, %0: i32) -> i32 {
  %x = arith.addi %a, %0 : i32
  %y = arith.addi %a, %0 : i32
  %z = arith.addi %x, %y : i32
  func.return %z : i32
}

// -----

// Brackets are escaped.
"test.op"() {a = [[1, 2]]} : () -> ()
"""
UPDATED = """\
// RUN: xrelay-opt --split-input-file -p canonicalize,cse %s | filecheck %s

// Adding is done once.
//
// CHECK-LABEL:   func.func @once(
// CHECK-SAME:      %[[A:.*]]: i32, %[[V0:.*]]: i32) -> i32 {
// CHECK-NEXT:      %[[X:.*]] = arith.addi %[[A]], %[[V0]] : i32
// CHECK-NEXT:      %[[Z:.*]] = arith.addi %[[X]], %[[X]] : i32
// CHECK-NEXT:      func.return %[[Z]] : i32
// CHECK-NEXT:    }
func.func @once(%a: i32, %0: i32) -> i32 {
  %x = arith.addi %a, %0 : i32
  %y = arith.addi %a, %0 : i32
  %z = arith.addi %x, %y : i32
  func.return %z : i32
}

// -----

// Brackets are escaped.
// CHECK:         "test.op"() {a = {{\\[\\[}}1 : i64, 2 : i64]]} : () -> ()
"test.op"() {a = [[1, 2]]} : () -> ()
"""


def test_checks_are_written_where_they_belong(suite: Callable[[str], Path]):
    path = suite(TEST)
    assert main([str(path)]) == 0
    assert path.read_text() == UPDATED


def test_what_is_up_to_date_stays(suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]):
    path = suite(UPDATED)
    assert main([str(path)]) == 0
    assert path.read_text() == UPDATED
    assert capsys.readouterr().out == ""


def test_lines_in_messages_are_those_of_the_new_file(suite: Callable[[str], Path]):
    path = suite('// RUN: not xrelay-opt %s 2>&1 | filecheck %s\n"test.op"( : () -> ()\n')
    assert main([str(path)]) == 0
    text = path.read_text()
    lines = text.split("\n")
    assert lines[-2] == '"test.op"( : () -> ()'
    assert f"// CHECK:      {{{{.*}}}}test.mlir:{len(lines) - 1}:12: error:" in text


def test_hand_written_directives_are_left_alone(
    suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
):
    text = TEST.replace("CHECK: stale", "CHECK-NOT: stale")
    path = suite(text)
    assert main([str(path)]) == 1
    assert path.read_text() == text
    assert "left alone: it uses CHECK-NOT" in capsys.readouterr().err
    assert main(["--force", str(path)]) == 0
    assert path.read_text() == UPDATED


@pytest.mark.parametrize(
    ("run", "why"),
    [
        ("xrelay-opt %s", "none of its RUN lines ends in filecheck"),
        ("xrelay-opt %s -p nothing | filecheck %s", "a RUN line fails"),
        ("xrelay-opt %s | grep func | filecheck %s", "its RUN lines need a shell"),
    ],
)
def test_what_cannot_be_run_is_left_alone(
    suite: Callable[[str], Path], capsys: pytest.CaptureFixture[str], run: str, why: str
):
    text = TEST.replace(TEST.split("RUN: ")[1].split("\n")[0], run)
    path = suite(text)
    assert main([str(path)]) == 1
    assert path.read_text() == text
    assert f"left alone: {why}" in capsys.readouterr().err


def test_prefixes_are_kept_apart():
    runs = [
        Printed("A", "builtin.module {\n  func.func private @f()\n}\n"),
        Printed("B", "builtin.module {\n  func.func private @g()\n}\n"),
    ]
    text = updated("// B: old\nfunc.func private @f()\n", runs, "x")
    assert text == (
        "// A-LABEL:   func.func private @f(\n"
        "// A-SAME:      )\n"
        "// B-LABEL:   func.func private @g(\n"
        "// B-SAME:      )\n"
        "func.func private @f()\n"
    )
    with pytest.raises(LeftAlone, match="different text for A"):
        updated("", [runs[0], Printed("A", "other")], "x")


def test_blocks_of_a_module():
    text = """\
builtin.module {
  %a = "test.op"() : () -> i32
  "test.op"(%a) : (i32) -> ()
  func.func @f() {
    cf.br ^bb1
  ^bb1:
    func.return
  }
}
"""
    assert [(b.symbol, len(b.lines)) for b in blocks(text, True)] == [(None, 2), ("f", 5)]
    assert [(b.symbol, len(b.lines)) for b in blocks(text, False)] == [(None, 9)]


def test_captures_of_like_names_differ():
    block = Block(None, ("%x_1, %X_1, %0, %v0 = op %x_1#0, %y.",))
    assert check_lines(block, "C") == [
        "// C:         %[[X_1:.*]], %[[X_1_2:.*]], %[[V0:.*]], %[[V0_2:.*]] = op "
        "%[[X_1]]#0, %[[Y:.*]]."
    ]


def test_definitions_of_aliases_are_not_checked(suite: Callable[[str], Path]):
    """Tests of other subjects need not mention the devices of a text."""
    run = "// RUN: xrelay-opt %s | filecheck %s\n\n"
    program = "func.func private @f(tensor<4xf32, #relay.device<cuda:0>>)\n"
    path = suite(run + program)
    assert main([str(path)]) == 0
    assert path.read_text() == (
        f"{run}// CHECK-LABEL:   func.func private @f(\n"
        f"// CHECK-SAME:      tensor<4xf32, #cuda0>) -> ()\n{program}"
    )
