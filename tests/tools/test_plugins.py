"""Plug-ins are loaded one by one; a broken one does not affect the others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xrelay.tools.run import run

Opt = Callable[..., Any]
Install = Callable[..., None]
Write = Callable[[str], Path]

DIALECT = """
from xdsl.dialects.builtin import i32
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def
from xdsl.universe import Universe


@irdl_op_definition
class AnswerOp(IRDLOperation):
    name = "{name}.answer"
    result = result_def(i32)
    assembly_format = "attr-dict"


UNIVERSE = Universe(all_dialects={{"{name}": lambda: Dialect("{name}", [AnswerOp], [])}})
"""
PROGRAM = "%x = houseplug.answer\n"


def test_a_good_one_is_there(opt: Opt, install: Install, source: Write):
    install("houseplug", DIALECT.format(name="houseplug"))
    ran = opt(source(PROGRAM))
    assert (ran.status, ran.err) == (0, "")
    assert "%x = houseplug.answer" in ran.out


def test_one_that_cannot_be_imported_is_named(opt: Opt, install: Install, source: Write):
    install("housebroken", "import no_such_module_anywhere")
    install("houseplug", DIALECT.format(name="houseplug"))
    ran = opt(source(PROGRAM))
    assert ran.status == 0
    assert ran.err == (
        "warning: plug-in 'housebroken' (package housebroken) is skipped: "
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'\n"
    )


def test_one_that_exits_is_named(opt: Opt, install: Install, source: Write):
    install("houseexit", "raise SystemExit(3)")
    ran = opt(source("func.func private @f()"))
    assert ran.status == 0
    assert "plug-in 'houseexit' (package houseexit) is skipped: SystemExit: 3" in ran.err


def test_one_that_has_no_universe_is_named(opt: Opt, install: Install, source: Write):
    install("housewrong", "UNIVERSE = {}")
    install("houseless", "")
    ran = opt(source("func.func private @f()"))
    assert ran.status == 0
    assert "'housewrong:UNIVERSE' is not an xdsl.universe.Universe" in ran.err
    assert "plug-in 'houseless' (package houseless) is skipped: AttributeError" in ran.err


def test_names_that_are_taken_stay_what_they_are(opt: Opt, install: Install, source: Write):
    install("houseclash", DIALECT.format(name="arith"))
    install("houserelay", DIALECT.format(name="relay"))
    install("houseplug", DIALECT.format(name="houseplug"))
    install("houseplug2", DIALECT.format(name="houseplug"))
    ran = opt(source("%c = arith.constant 1 : i32\n" + PROGRAM))
    assert ran.status == 0
    for line in (
        "plug-in 'houseclash' (package houseclash) is skipped: it defines dialect 'arith', "
        "which xdsl defines",
        "plug-in 'houserelay' (package houserelay) is skipped: it defines dialect 'relay', "
        "which xrelay defines",
        "plug-in 'houseplug2' (package houseplug2) is skipped: it defines dialect "
        "'houseplug', which plug-in 'houseplug' (package houseplug) defines",
    ):
        assert f"warning: {line}\n" in ran.err


def test_a_dialect_that_cannot_be_made_is_the_plugins_fault(
    opt: Opt, install: Install, source: Write
):
    install(
        "houselate",
        """
        from xdsl.universe import Universe

        def late():
            import no_such_module_anywhere

        UNIVERSE = Universe(all_dialects={"houselate": late}, all_passes={"house-late": late})
        """,
    )
    ran = opt(source("houselate.op"))
    assert ran.status == 1
    assert (
        "plug-in 'houselate' (package houselate): dialect 'houselate' cannot be loaded: "
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'"
    ) in ran.err
    assert "Traceback" not in ran.err
    ran = opt(source("func.func private @f()"), "-p", "house-late")
    assert ran.status == 1
    assert "pass 'house-late' cannot be loaded" in ran.err


FACTORIES = """
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.passes import ModulePass
from xdsl.universe import Universe


@irdl_op_definition
class One(IRDLOperation):
    name = "housefactory.one"


@irdl_op_definition
class Again(IRDLOperation):
    name = "housefactory.one"


class Unknown(ModulePass):
    name = "house-unknown"
    option: "NoSuchType" = 0


class Named(ModulePass):
    name = "house-other"


UNIVERSE = Universe(
    all_dialects={
        "housefactory": lambda: Dialect("housefactory", [One, Again]),
        "houseforeign": lambda: Dialect("houseforeign", [TestOp]),
        "housenothing": lambda: None,
    },
    all_passes={
        "house-number": lambda: 5,
        "house-instance": lambda: Named(),
        "house-exit": lambda: exit(3),
        "house-unknown": lambda: Unknown,
        "house-named": lambda: Named,
        "house-class": lambda: dict,
    },
    all_targets={"house-target": lambda: None},
)
"""
OWNER = "plug-in 'housefactory' (package housefactory): "


def test_factories_that_are_wrong_do_not_hide_the_other_passes(opt: Opt, install: Install):
    install("housefactory", FACTORIES)
    ran = opt("--list-passes")
    assert (ran.status, ran.err) == (0, "")
    assert "infer-types" in ran.out
    assert "canonicalize" in ran.out
    listed = " ".join(ran.out.split())
    for name, reason in (
        ("number", "TypeError: its factory must return a subclass of ModulePass, but returns 5"),
        ("instance", "TypeError: Can't instantiate abstract class Named"),
        ("exit", "SystemExit: 3"),
        ("unknown", "NameError: name 'NoSuchType' is not defined"),
        ("named", "TypeError: its factory returns the pass 'house-other'"),
        ("class", "TypeError: its factory must return a subclass of ModulePass, but returns "),
    ):
        row = f"house-{name} {OWNER}pass 'house-{name}' cannot be loaded: {reason}"
        assert row in listed


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("housefactory.one", "it has two ops 'housefactory.one'"),
        ("houseforeign.op", "its op 'test.op' must be called 'houseforeign.…'"),
        ("housenothing.op", "its factory must return a Dialect, but returns None"),
    ],
)
def test_dialects_that_are_wrong_name_their_plug_in(
    opt: Opt, install: Install, source: Write, op: str, reason: str
):
    install("housefactory", FACTORIES)
    dialect = op.partition(".")[0]
    ran = opt(source(op))
    assert ran.status == 1
    said = f"{OWNER}dialect '{dialect}' cannot be loaded: TypeError: {reason}\n"
    assert said in ran.err


def test_a_target_that_is_wrong_names_its_plug_in(opt: Opt, install: Install, source: Write):
    install("housefactory", FACTORIES)
    ran = opt(source("func.func private @f()"), "-t", "house-target")
    assert (ran.status, ran.out) == (1, "")
    assert f"{OWNER}target 'house-target' cannot be loaded: TypeError: its factory" in ran.err


def test_a_wrong_format_is_found_when_the_dialect_is_loaded(
    opt: Opt, install: Install, source: Write
):
    install("houseform", DIALECT.format(name="houseform").replace("attr-dict", "$y attr-dict"))
    ran = opt(source("%x = houseform.answer"))
    assert ran.status == 1
    assert "plug-in 'houseform' (package houseform) is skipped: PyRDLOpDefinition" in ran.err


def test_a_universe_of_lists_is_left_out(opt: Opt, install: Install, source: Write):
    universe = "from xdsl.universe import Universe\nUNIVERSE = Universe(all_passes=['x'])"
    install("houselists", universe)
    ran = opt(source("func.func private @f()"))
    assert ran.status == 0
    assert "is skipped: TypeError: all_passes of 'houselists:UNIVERSE' is not a dict" in ran.err


def test_what_a_plug_in_prints_is_not_output(opt: Opt, install: Install, source: Write):
    code = DIALECT.format(name="housetalk").replace("lambda:", "lambda: print('made') or")
    install("housetalk", f"print('imported')\n{code}")
    ran = opt(source("%x = housetalk.answer"))
    assert ran.status == 0
    assert ran.err == "imported\nmade\n"
    assert ran.out == "builtin.module {\n  %x = housetalk.answer\n}\n"


KERNELS = """
print("imported")
KERNELS = {"relay.add": None}
"""


def test_trouble_with_kernels_is_a_diagnostic(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    install("housekernels", KERNELS)
    info = tmp_path / "site" / "housekernels-1.0.dist-info" / "entry_points.txt"
    info.write_text("[xrelay.kernels]\nhousekernels = housekernels:KERNELS\n")
    path = tmp_path / "in.mlir"
    path.write_text(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %c = relay.constant dense<1.0> : tensor<f32>\n"
        "  %t = relay.tanh %c : (tensor<f32>) -> tensor<f32>\n"
        "  %y = relay.add %x, %t : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
        "  func.return %y : tensor<f32>\n}\n"
    )
    np.savez(tmp_path / "in.npz", x=np.float32(0))
    assert run.main([str(path), "--inputs", str(tmp_path / "in.npz")]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("output_0: float32[]\n")
    assert said.err == (
        "imported\nwarning: kernels of plug-in 'housekernels' are skipped: relay.add already has "
        "a kernel from xrelay\n"
    )
