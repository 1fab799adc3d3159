"""Pipeline text: its meaning, and its errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.lowering.pipelines import Pipeline
from xrelay.tools.messages import SourceError
from xrelay.tools.pass_run.pipeline import build, parse, pass_names
from xrelay.tools.pass_run.pipeline_steps import Step, pipeline_text


@dataclass(frozen=True)
class Empty(ModulePass):
    name = "empty"

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class Rich(Empty):
    name = "rich"

    must_be: int
    flag: bool = False
    word: str = "w"
    words: tuple[str, ...] = ()
    maybe: int | None = None
    number: float = 0.5
    mode: Literal["fast", "small"] = "fast"
    hidden: int = field(default=0, init=False)


@dataclass(frozen=True)
class Picky(Empty):
    name = "picky"

    size: int = 1

    def __post_init__(self):
        if self.size <= 0:
            raise ValueError(f"size must be positive, but is {self.size}")


PASSES = {cls.name: (lambda cls=cls: cls) for cls in (Empty, Rich, Picky)}


@dataclass(frozen=True)
class Two(Pipeline):
    name = "two"

    size: int = 2
    mode: Literal["fast", "small"] = "fast"

    @property
    def text(self) -> str:
        tail = ",empty" if self.mode == "small" else ""
        return f"empty,picky{{size={self.size}}}{tail}"


def fixed(title: str, inner: str) -> type[Pipeline]:
    """A pipeline without options."""

    @dataclass(frozen=True)
    class Fixed(Pipeline):
        name = title

        @property
        def text(self) -> str:
            return inner

    return Fixed


PIPELINES: Mapping[str, type[Pipeline]] = {
    "two": Two,
    "four": fixed("four", "two , two"),
    "loop": fixed("loop", "empty,pool"),
    "pool": fixed("pool", "loop"),
}


def steps(text: str) -> list[Step]:
    return build(text, PASSES, lambda: PIPELINES)


def one(text: str) -> ModulePass:
    (step,) = steps(text)
    return step.run


def failure(text: str) -> tuple[int, str]:
    with pytest.raises(SourceError) as raised:
        steps(text)
    at = raised.value.shown.location
    assert at is not None
    return at.column.data, raised.value.shown.message


def test_passes_in_order():
    assert [step.run for step in steps("empty,picky{size=3},empty")] == [
        Empty(),
        Picky(3),
        Empty(),
    ]
    assert steps("") == steps("  ") == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("must-be=1", Rich(1)),
        ("must_be=-7 flag", Rich(-7, flag=True)),
        ("must-be=1 flag=false", Rich(1, flag=False)),
        ("flag must-be=1", Rich(1, flag=True)),
        ("must-be=1 word=cuda:0", Rich(1, word="cuda:0")),
        ("must-be=1 word=3", Rich(1, word="3")),
        ("must-be=1 word=true", Rich(1, word="true")),
        (r'must-be=1 word="a, b} \"c\"\n"', Rich(1, word='a, b} "c"\n')),
        ("must-be=1 words=a,b", Rich(1, words=("a", "b"))),
        ("must-be=1 words=a , 2", Rich(1, words=("a", "2"))),
        ("must-be=1 words=a", Rich(1, words=("a",))),
        ("must-be=1 maybe=4", Rich(1, maybe=4)),
        ("must-be=1 maybe", Rich(1, maybe=None)),
        ("must-be=1 number=1.5e3", Rich(1, number=1500.0)),
        ("must-be=1 number=2", Rich(1, number=2.0)),
        ("must-be=1 mode=small", Rich(1, mode="small")),
        ("\n  must-be = 1\n  mode = small\n", Rich(1, mode="small")),
    ],
)
def test_options(options: str, expected: Rich):
    got = one(f"rich{{{options}}}")
    if expected.words == ("a",):  # a tuple of one value: xDSL keeps just the value
        assert isinstance(got, Rich)
        assert tuple(got.words) == ("a",)
    else:
        assert got == expected


def test_named_pipelines_stand_for_their_passes():
    assert [(s.run, s.groups) for s in steps("empty,four")] == [
        (Empty(), ()),
        (Empty(), ("four", "two")),
        (Picky(2), ("four", "two")),
        (Empty(), ("four", "two")),
        (Picky(2), ("four", "two")),
    ]


def test_pipelines_take_options():
    assert [s.run for s in steps("two{size = 5 mode=small},two{}")] == [
        Empty(),
        Picky(5),
        Empty(),
        Empty(),
        Picky(2),
    ]
    assert pipeline_text(steps("two{size=5}")) == "empty,picky{size=5}"


def test_pass_names_need_no_options_of_passes():
    found = pass_names("rich,two{mode=small}", PASSES, lambda: PIPELINES)
    assert list(found) == ["rich", "empty", "picky", "empty"]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("emtpy", 1, "unknown pass or pipeline 'emtpy'; did you mean 'empty'?"),
        ("empty,fuor", 7, "unknown pass or pipeline 'fuor'; did you mean 'four'?"),
        ("zzzzzzz", 1, "unknown pass or pipeline 'zzzzzzz'; xrelay-opt --list-passes lists all"),
        ("builtin.module(empty", 1,
         "unknown pass or pipeline 'builtin.module(empty': expected ')' at its end"),
        ("empty{a=1}", 7, "pass 'empty' has no option 'a' (it accepts none)"),
        (
            "picky{sise=1}",
            7,
            "pass 'picky' has no option 'sise' (it accepts: size); did you mean 'size'?",
        ),
        ("rich", 1, "pass 'rich' needs option 'must-be'"),
        ("rich{hidden=1}", 6, "pass 'rich' has no option 'hidden' (it accepts: must-be, flag, "
         "word, words, maybe, number, mode)"),
        ("picky{size=1 size=2}", 14, "option 'size' is given twice"),
        ("picky{size=big}", 7, "option 'size' of pass 'picky' must be an integer, but is \"big\""),
        ("picky{size=1,2}", 7, "option 'size' of pass 'picky' must be an integer, but is 1,2"),
        ("picky{size=true}", 7, "option 'size' of pass 'picky' must be an integer, but is true"),
        ("picky{size}", 7, "option 'size' of pass 'picky' needs a value"),
        ("rich{must-be=1 maybe=a,b}", 16,
         "option 'maybe' of pass 'rich' must be an integer, but is \"a\",\"b\""),
        (
            "rich{must-be=1 mode=huge}",
            16,
            "option 'mode' of pass 'rich' must be one of fast, small, but is \"huge\"",
        ),
        ("empty,picky{size=0}", 7, "pass 'picky': size must be positive, but is 0"),
        ("four{size=1}", 6, "pipeline 'four' has no option 'size' (it accepts none)"),
        ("two{sise=1}", 5,
         "pipeline 'two' has no option 'sise' (it accepts: size, mode); did you mean 'size'?"),
        ("two{size=big}", 5, "option 'size' of pipeline 'two' must be an integer, but is \"big\""),
        ("two{size}", 5, "option 'size' of pipeline 'two' needs a value"),
        ("two{size=1 size=1}", 12, "option 'size' is given twice"),
        ("empty,two{mode=huge}", 11,
         "option 'mode' of pipeline 'two' must be one of fast, small, but is \"huge\""),
        ("empty,", 7, "expected the name of a pass, but got the end"),
        ("empty;picky", 1, "unknown pass or pipeline 'empty;picky'; did you mean 'picky'?"),
        ("empty picky", 7, "expected ',' before the next pass, but got 'picky'"),
        ("picky{size=", 12, "expected the value of the option, but got the end"),
        ('picky{size="', 12, "unfinished string or bracket"),
        ("picky[x]", 1, "'picky' takes no [pipeline]; only 'mlir-opt' does"),
    ],
)  # fmt: skip
def test_mistakes(text: str, column: int, message: str):
    assert failure(text) == (column, message)


def test_pipelines_in_a_circle():
    with pytest.raises(SourceError, match="contain each other: loop -> pool -> loop"):
        steps("loop")


def test_line_and_column_of_long_text():
    with pytest.raises(SourceError) as raised:
        steps("empty,\n  picky,\n  emty")
    at = raised.value.shown.location
    assert at is not None
    assert (at.line.data, at.column.data) == (3, 3)


def test_brackets_of_mlir_opt():
    (element,) = parse("mlir-opt[canonicalize, cse]")
    assert (element.name, element.mlir) == ("mlir-opt", "canonicalize, cse")


@pytest.mark.parametrize(
    "run",
    [
        Empty(),
        Rich(1),
        Rich(-3, True, 'a "b" \\ c\n', ("x", "y, z"), 4, 2.5, "small"),
        Picky(9),
    ],
)
def test_dumped_text_means_the_same(run: ModulePass):
    assert one(pipeline_text([Step(run)])) == run
