"""The registry: names match the files, and descriptions come from the passes."""

from dataclasses import dataclass, field
from typing import Literal

import pytest
from helpers.programs.every_case import every
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.lowering.pipelines import AotPipeline, Pipeline, VmPipeline
from xrelay.tools.api.plugins import load_universe
from xrelay.tools.opt.list_passes import help_pass, list_passes
from xrelay.tools.opt.opt import main
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import (
    DIALECTS,
    PASSES,
    UNIVERSE,
    OptionInfo,
    named_pipelines,
    pass_info,
    pass_infos,
)


@dataclass(frozen=True)
class Documented(ModulePass):
    """
    Do one thing,
    and do it well.

    More about it.
    """

    name = "documented"

    must_be: int
    word: str = 'a "b"'
    words: tuple[str, ...] = ("x", "y")
    flag: bool = False
    mode: Literal["fast", "small"] | None = None
    hidden: int = field(default=0, init=False)

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class DescribedByItsModule(Documented):
    name = "described-by-its-module"


@dataclass(frozen=True)
class TwoPasses(Pipeline):
    """Do one, then the other."""

    name = "p"

    fast: bool = False

    @property
    def text(self) -> str:
        return "a,b"


def test_description_and_options():
    info = pass_info("documented", Documented)
    assert info.description == "Do one thing, and do it well."
    assert info.options == (
        OptionInfo("must-be", "int", None),
        OptionInfo("word", "str", '"a \\"b\\""'),
        OptionInfo("words", "tuple[str, ...]", '"x","y"'),
        OptionInfo("flag", "bool", "false"),
        OptionInfo("mode", "one of fast, small", "None"),
    )


def test_without_a_docstring_the_modules_is_taken():
    info = pass_info("x", DescribedByItsModule)
    assert info.description.startswith("The registry: names match the files")


@every("name", PASSES)
def test_passes_are_what_they_are_called(name: str):
    cls = UNIVERSE.all_passes[name]()
    assert issubclass(cls, ModulePass)
    assert cls.name == name


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_what_they_are_called(name: str):
    assert UNIVERSE.all_dialects[name]().name == name


def test_every_pass_describes_itself():
    for info in pass_infos():
        assert info.description, info.name


def test_pipelines_are_made_of_passes_and_take_no_ones_name():
    passes = load_universe(pytest.fail).all_passes
    for name, cls in named_pipelines().items():
        assert name == cls.name
        assert name not in passes
        assert build(name, passes, named_pipelines)


@pytest.mark.parametrize("memory", ["none", "coalesce", "plan"])
def test_the_vm_pipeline_plans_memory_as_told(memory: Literal["none", "coalesce", "plan"]):
    passes = [
        step.run.name
        for step in build(f"vm{{memory={memory}}}", UNIVERSE.all_passes, named_pipelines)
    ]
    for name, users in (
        ("plan-memory", ("plan",)),
        ("coalesce-storage", ("coalesce",)),
        ("verify-memory-plan", ("coalesce",)),
        ("manifest-lifetimes", ("none", "coalesce")),
    ):
        assert (name in passes) == (memory in users)
    assert VmPipeline(memory).text.split(",")[-1] == "verify-stage{stage=bytecode}"


@pytest.mark.parametrize("entries", [("main",), ("f", "g"), ('a "b}, \\\n',)])
@pytest.mark.parametrize("pipeline", [VmPipeline, AotPipeline])
def test_pipelines_pass_entries_on(
    pipeline: type[VmPipeline | AotPipeline], entries: tuple[str, ...]
):
    text = pipeline(entries=entries).text
    found = {
        step.run.name: "".join(map(str, given))
        for step in build(text, UNIVERSE.all_passes, named_pipelines)
        if (given := step.run.spec().parameters.get("entries"))
    }
    names = ["remove-unused-functions", "plan-memory"]
    if pipeline is AotPipeline:
        names.append("describe-entries")
    assert found == dict.fromkeys(names, "".join(entries))


def test_ours_are_listed_first(capsys: pytest.CaptureFixture[str]):
    assert main(["--list-passes"]) == 0
    text = capsys.readouterr().out
    lines = text.split("\n")
    assert lines[0] == "Passes:"
    assert lines[1].startswith(f"  {next(iter(PASSES))} ")
    order = ["Passes:", "Pipelines:", "  vm ", "Passes of xDSL", "  canonicalize "]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_listing_has_lines_and_help_has_options():
    passes = {name: UNIVERSE.all_passes[name] for name in PASSES}
    passes["documented"], pipelines = lambda: Documented, {"p": TwoPasses}
    text = list_passes(passes, pipelines)
    assert "\n  documented                      Do one thing, and do it well.\n" in text
    assert "\n  p                               Do one, then the other.\n" in text
    assert help_pass("documented", passes, pipelines).endswith("""
  Options:
    must-be: int (required)
    word: str = "a \\"b\\""
    words: tuple[str, ...] = "x","y"
    flag: bool = false
    mode: one of fast, small = None
""")
    assert (
        help_pass("p", passes, pipelines)
        == """p
  Do one, then the other.

  Options:
    fast: bool = false

  Passes:
    a, b
"""
    )
    assert all(len(line) <= 100 for line in text.split("\n"))
