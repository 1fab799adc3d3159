"""Failing passes: messages, locations and reproducers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Opt = Callable[..., Any]
Write = Callable[[str], Path]

pytestmark = pytest.mark.usefixtures("test_passes")

PROGRAM = """\
%a = "test.op"() : () -> i32
"test.op"(%a) : (i32) -> ()
"""


def lines(ran: Any) -> list[str]:
    return ran.err.rstrip("\n").split("\n")


def test_a_pass_error_points_at_ops(opt: Opt, source: Write):
    path = source(PROGRAM)
    ran = opt(path, "-p", "test-refuse")
    assert (ran.status, ran.out) == (1, "")
    assert lines(ran) == [
        f"{path}:2:1: error: one op is enough",
        '"test.op"(%a) : (i32) -> ()',
        "^",
        f"{path}:1:6: note: this is the first",
        '%a = "test.op"() : () -> i32',
        "     ^",
    ]


def test_an_error_of_an_xdsl_pass_has_its_op(opt: Opt, source: Write):
    path = source(PROGRAM)
    ran = opt(path, "-p", "test-refuse-as-xdsl")
    assert ran.status == 1
    assert lines(ran)[0] == f"{path}:1:6: error: not this one"
    assert "builtin.module" not in ran.err


def test_an_error_without_a_place_has_the_pass(opt: Opt, source: Write):
    ran = opt(source(PROGRAM), "-p", "test-refuse-as-xdsl{placed=false}")
    assert ran.status == 1
    assert lines(ran) == ["error: pass 'test-refuse-as-xdsl' failed: not this one"]


def test_a_broken_module_names_the_pass(opt: Opt, source: Write):
    path = source(PROGRAM)
    ran = opt(path, "-p", "cse,test-break,cse")
    assert (ran.status, ran.out) == (1, "")
    assert lines(ran)[0] == (
        f"{path}:2:1: error: verification failed after pass 'test-break': "
        "'test.op' op operand #0 does not dominate this use"
    )
    assert f"{path}:1:6: note: operand defined here" in ran.err


def test_verify_each_can_be_turned_off(opt: Opt, source: Write):
    ran = opt(source(PROGRAM), "-p", "test-break", "--verify-each=false")
    assert (ran.status, ran.err) == (0, "")
    ran = opt(source(PROGRAM), "-p", "test-break,test-break", "--verify-each=true")
    assert ran.status == 1


def test_remarks_and_warnings_are_shown(opt: Opt, source: Write):
    path = source(PROGRAM)
    ran = opt(path, "-p", "test-talk")
    assert ran.status == 0
    assert f"{path}:1:6: remark: an op\n" in ran.err
    assert f"{path}:2:1: warning: it may be too much\n" in ran.err
    assert "%a" in ran.out


def test_remarks_warnings_and_errors_can_be_expected(opt: Opt, source: Write):
    path = source("""\
        // expected-remark@+3 {{an op}}
        // expected-warning@+2 {{too much}}
        // expected-note@-2 {{in this module}}
        "test.op"() : () -> ()
        """)
    ran = opt(path, "--verify-diagnostics", "-p", "test-talk")
    assert (ran.status, ran.err) == (0, "")
    path = source("""\
        "test.op"() : () -> () // expected-note {{the first}}
        "test.op"() : () -> () // expected-error {{one op}}
        """)
    ran = opt(path, "--verify-diagnostics", "-p", "test-refuse")
    assert (ran.status, ran.err) == (0, "")
    ran = opt(path, "--verify-diagnostics", "-p", "test-talk,test-refuse")
    assert ran.status == 1
    assert f"{path}:1:1: error: unexpected remark: an op" in ran.err


def test_an_internal_error_says_so(opt: Opt, source: Write, monkeypatch: pytest.MonkeyPatch):
    def crash(*_: object) -> None:
        raise KeyError("level 1")

    monkeypatch.setattr("xrelay.passes.infer_types.InferTypesPass.change", crash)
    ran = opt(source(PROGRAM), "-p", "cse,infer-types")
    assert (ran.status, ran.out) == (1, "")
    first, second = lines(ran)
    assert first.startswith("error: internal error in pass 'infer-types': KeyError: 'level 1' (")
    assert second.startswith("note: this is not your mistake; --traceback shows where")


def test_an_internal_error_of_a_plug_in_names_it(opt: Opt, source: Write):
    ran = opt(source(PROGRAM), "-p", "cse,test-crash")
    assert (ran.status, ran.out) == (1, "")
    first, second = lines(ran)
    assert first.startswith(
        "error: internal error in pass 'test-crash': KeyError: 'level 1' (house_test_passes.py:"
    )
    plugin = "plug-in 'house_test_passes' (package house_test_passes)"
    assert second.startswith(f"note: it was raised by {plugin}; --traceback shows where")


def test_traceback_is_shown_when_asked_for(opt: Opt, source: Write):
    for pipeline in ("test-crash", "test-refuse"):
        ran = opt(source(PROGRAM), "-p", pipeline)
        assert "Traceback" not in ran.err
        ran = opt(source(PROGRAM), "-p", pipeline, "--traceback")
        assert ran.status == 1
        assert "Traceback" in ran.err
        assert "house_test_passes.py" in ran.err


def test_a_crash_can_be_repeated(opt: Opt, source: Write, tmp_path: Path):
    saved = tmp_path / "crash.mlir"
    program = PROGRAM + '%same = "test.pureop"() : () -> i32\n'
    pipeline = 'dce,test-crash{level=7 word="x \\"y\\""},cse'
    ran = opt(source(program), "-p", pipeline, f"--crash-reproducer={saved}")
    assert ran.status == 1
    assert f"; a reproducer is in {saved}" in ran.err
    text = saved.read_text()
    assert '// pipeline: test-crash{level=7 word="x \\"y\\""},cse\n' in text
    assert "test.pureop" not in text, "the module is as the pass found it"
    again = opt("--run-reproducer", saved)
    assert again.status == 1
    assert "internal error in pass 'test-crash': KeyError: 'level 7'" in again.err


def test_a_reproducer_keeps_flags(opt: Opt, source: Write, tmp_path: Path):
    saved = tmp_path / "crash.mlir"
    opt(
        source('"unknown.op"() : () -> ()'),
        "-p",
        "test-crash",
        f"--crash-reproducer={saved}",
        "--allow-unregistered-dialect",
        "--verify-each=false",
    )
    assert "// flags: --allow-unregistered-dialect --verify-each=false\n" in saved.read_text()
    assert "internal error in pass 'test-crash'" in opt("--run-reproducer", saved).err


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ((), "#cuda0 = #relay.device<cuda:0>\n"),
        (("--print-local-scope",), "tensor<4xf32, #relay.device<cuda:0>>"),
    ],
)
def test_a_reproducer_abbreviates_devices_as_the_output_does(
    opt: Opt, source: Write, tmp_path: Path, options: tuple[str, ...], printed: str
):
    saved = tmp_path / "crash.mlir"
    program = source("func.func private @f(tensor<4xf32, #relay.device<cuda:0>>)")
    opt(program, "-p", "test-crash", f"--crash-reproducer={saved}", *options)
    assert printed in saved.read_text()
    again = opt("--run-reproducer", saved)
    assert "internal error in pass 'test-crash'" in again.err


def test_a_module_that_a_pass_broke_can_be_repeated(opt: Opt, source: Write, tmp_path: Path):
    saved = tmp_path / "crash.mlir"
    opt(source(PROGRAM), "-p", "cse,test-break,cse", f"--crash-reproducer={saved}")
    assert "// pipeline: test-break,cse\n" in saved.read_text()
    again = opt("--run-reproducer", saved)
    assert "verification failed after pass 'test-break'" in again.err


def test_a_pass_that_fails_is_repeated_as_well(opt: Opt, source: Write, tmp_path: Path):
    saved = tmp_path / "crash.mlir"
    ran = opt(source(PROGRAM), "-p", "cse,test-refuse,cse", f"--crash-reproducer={saved}")
    assert ran.status == 1
    again = opt("--run-reproducer", saved)
    assert again.status == 1
    assert message_in(again.err) == message_in(ran.err)


def message_in(err: str) -> str:
    """The first message, without its location."""
    return err.splitlines()[0].partition("error: ")[2]


def test_what_is_no_reproducer_is_refused(opt: Opt, source: Write):
    path = source(PROGRAM)
    ran = opt("--run-reproducer", path)
    assert (ran.status, ran.out) == (1, "")
    assert lines(ran) == [f"error: '{path}' is not a reproducer: it names no pipeline"]
    ran = opt("--run-reproducer", path, "-p", "cse")
    assert "omit -p" in ran.err


def test_a_failed_pass_can_be_looked_at(opt: Opt, source: Write):
    ran = opt(source(PROGRAM), "-p", "test-break", "--print-ir-after-failure")
    assert ran.status == 1
    dump = ran.err.partition("// -----// IR Dump After test-break Failed //----- //")[2]
    assert dump.index("(%a)") < dump.index("%a =")


def test_options_of_a_choice_are_listed(opt: Opt, source: Write):
    ran = opt(source(PROGRAM), "-p", "test-refuse{mode=third}")
    assert lines(ran) == [
        "pipeline:1:13: error: option 'mode' of pass 'test-refuse' must be one of all, second, "
        'but is "third"',
        "test-refuse{mode=third}",
        "            ^^^^",
    ]


def test_deep_programs_are_told_so(opt: Opt, source: Write):
    deep = '"test.op"() ({\n' * 9000 + '"test.termop"() : () -> ()\n'
    deep += '}) : () -> ()\n"test.termop"() : () -> ()\n' * 9000
    ran = opt(source(deep))
    assert ran.status == 1
    assert "error: the program is nested too deeply" in lines(ran)[0]


def test_a_string_that_is_not_closed_is_found_at_once(opt: Opt, source: Write):
    path = source('"test.op"() {a = "' + "x" * 500 + "} : () -> ()\n")
    ran = opt(path)
    assert ran.status == 1
    assert lines(ran)[0].startswith(f"{path}:1:18: error: ")
