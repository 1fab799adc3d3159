"""Plug-ins are loaded one by one; what is wrong with one hurts nobody else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
        "warning: plug-in 'housebroken' (package housebroken) is left out: "
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'\n"
    )


def test_one_that_exits_is_named(opt: Opt, install: Install, source: Write):
    install("houseexit", "raise SystemExit(3)")
    ran = opt(source("func.func private @f()"))
    assert ran.status == 0
    assert "plug-in 'houseexit' (package houseexit) is left out: SystemExit: 3" in ran.err


def test_one_that_has_no_universe_is_named(opt: Opt, install: Install, source: Write):
    install("housewrong", "UNIVERSE = {}")
    install("houseless", "")
    ran = opt(source("func.func private @f()"))
    assert ran.status == 0
    assert "'housewrong:UNIVERSE' is not an xdsl.universe.Universe" in ran.err
    assert "plug-in 'houseless' (package houseless) is left out: AttributeError" in ran.err


def test_names_that_are_taken_stay_what_they_are(opt: Opt, install: Install, source: Write):
    install("houseclash", DIALECT.format(name="arith"))
    install("houserelay", DIALECT.format(name="relay"))
    install("houseplug", DIALECT.format(name="houseplug"))
    install("houseplug2", DIALECT.format(name="houseplug"))
    ran = opt(source("%c = arith.constant 1 : i32\n" + PROGRAM))
    assert ran.status == 0
    for line in (
        "plug-in 'houseclash' (package houseclash) is left out: it defines dialect 'arith', "
        "which xdsl defines",
        "plug-in 'houserelay' (package houserelay) is left out: it defines dialect 'relay', "
        "which xrelay defines",
        "plug-in 'houseplug2' (package houseplug2) is left out: it defines dialect "
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
