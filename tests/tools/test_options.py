"""The names of options, which `docs/options.md` lists, in all commands."""

import re
import subprocess
import sysconfig
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from xrelay.tools import objdump, option_types, plan, versions
from xrelay.tools.commands import guarded
from xrelay.tools.opt import opt, opt_arguments
from xrelay.tools.option_types import ALSO, Parser, size
from xrelay.tools.run import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
MAINS: dict[str, Callable[[list[str]], int]] = {
    "xrelay-opt": opt.main,
    "xrelay-run": run.main,
    "xrelay-plan": lambda argv: guarded(lambda: plan.main(argv)),
    "xrelay-objdump": lambda argv: guarded(lambda: objdump.main(argv)),
}
Err = pytest.CaptureFixture[str]
every_command = pytest.mark.parametrize("command", MAINS)


@pytest.fixture
def parsers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Parser]:
    """The parsers of all commands, by the names of these."""
    made: dict[str, Parser] = {}
    parse = Parser.parse

    def noted(parser: Parser, *given: object, **how: object) -> object:
        made[parser.prog] = parser
        return parse(parser, *given, **how)  # pyright: ignore

    monkeypatch.setattr(Parser, "parse", noted)
    for main in MAINS.values():
        main(["--no-such-option"])
    return made


def options_of(parser: Parser) -> set[str]:
    return {name for action in parser._actions for name in action.option_strings}  # pyright: ignore


def test_the_page_lists_what_there_is(parsers: dict[str, Parser], capsys: Err):
    """In the commands that it says."""
    assert set(parsers) == set(MAINS)
    rows = re.findall(r"^\| .* \| (.*) \| ([a-z, ]+) \|$", PAGE, re.M)[1:]
    assert len(rows) > 25
    for options, commands in rows:
        names = re.findall(r"`(-[\w-]+)", options)
        of = MAINS if commands == "all" else [f"xrelay-{word}" for word in commands.split(", ")]
        if not names:
            continue  # arguments, and options of passes alone
        found = [set(names) & options_of(parsers[command]) for command in of]
        assert set().union(*found) == set(names), (options, commands)
        assert all(found) or "=`" in options, (options, commands)  # or one of passes


def test_one_thing_has_one_name(parsers: dict[str, Parser], capsys: Err):
    """Options of one name mean the same: they have one help, but for what it says of defaults."""
    seen: dict[str, set[str]] = {}
    for parser in parsers.values():
        for action in parser._actions:  # pyright: ignore
            for name in action.option_strings:
                seen.setdefault(name, set()).add(str(action.metavar))
    different = {name: found for name, found in seen.items() if len(found) > 1}
    assert different == {"-o": {"FILE", "NPZ"}}  # what opt and plan write are files, run arrays


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("12", 12),
        ("3K", 3000),
        ("3k", 3000),
        ("500M", 500_000_000),
        ("4G", 4_000_000_000),
        ("1T", 10**12),
        ("2KiB", 2048),
        ("512MiB", 1 << 29),
        ("4gib", 4 << 30),
        ("1TiB", 1 << 40),
    ],
)
def test_sizes(text: str, count: int):
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "K", "1KB", "1.5G", "-1", "1 K", "1iB", "٣"])
def test_what_is_not_a_size(text: str):
    with pytest.raises(option_types.argparse.ArgumentTypeError, match="such as 500M, 4G or 512MiB"):
        size(text)


def parsed(*argv: str) -> dict[str, object]:
    return vars(opt_arguments.parse_arguments(argv))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (["--pass-pipeline=a"], ["-p", "a"]),
        (["-pass-pipeline", "a"], ["-p", "a"]),
        (["--passes", "a"], ["-p", "a"]),
        (["--output-file=x"], ["-o", "x"]),
        (["-split-input-file", "in"], ["--split-input-file", "in"]),
        (["-verify-each=false"], ["--verify-each=false"]),
        (["--mlir-print-ir-after-all"], ["--print-ir-after-all"]),
        (["--print-between-passes"], ["--print-ir-after-all"]),
        (["-mlir-print-ir-tree-dir=d"], ["--print-ir-tree-dir", "d"]),
        (["--time-passes"], ["--timing"]),
        (["--mlir-elide-elementsattrs-if-larger=4"], ["--elide-above", "4"]),
        (["--mlir-pass-pipeline-crash-reproducer=r"], ["--crash-reproducer", "r"]),
        (["--load-pass-plugin=f.py"], ["--load", "f.py"]),
    ],
)
def test_spellings_of_mlir_opt(theirs: list[str], ours: list[str]):
    assert parsed(*theirs) == parsed(*ours)
    assert parsed(*ours) != parsed()


def test_all_other_spellings_are_of_options():
    assert not [ours for ours in ALSO.values() if f"{ours[2:].replace('-', '_')}" not in parsed()]


def test_files_that_look_like_options_stay():
    assert parsed("-o", "x", "--", "-passes")["input_file"] == "-passes"


@pytest.mark.parametrize(
    ("argv", "cure"),
    [
        (["--spilt-input-file"], "did you mean '--split-input-file'?"),
        (["--pass-pipline=cse"], "did you mean '--pass-pipeline'?"),
        (["--infer-types"], "a pass is named after -p: -p infer-types"),
        (["-infer-types"], "a pass is named after -p: -p infer-types"),
        (
            ["--nothing-like-it"],
            "unrecognized arguments: --nothing-like-it (see xrelay-opt --help)",
        ),
    ],
)
def test_unknown_options_name_the_nearest(argv: list[str], cure: str, capsys: Err):
    assert opt.main(argv) == 2
    assert cure in capsys.readouterr().err


@every_command
def test_statuses_are_the_same(command: str, tmp_path: Path, capsys: Err):
    main = MAINS[command]
    assert main(["--nothing-like-it"]) == 2
    assert main([str(tmp_path / "missing")]) == 1
    assert main(["--help"]) == 0
    said = capsys.readouterr().err
    assert said.count("error: ") == 2


@every_command
def test_versions(command: str, capsys: Err):
    assert MAINS[command](["--version"]) == 0
    printed = capsys.readouterr().out
    commit = r"(?: \(commit [0-9a-f]{7,}\))?"
    ours, theirs = (re.escape(version(name)) for name in ("xrelay", "xdsl"))
    assert re.fullmatch(rf"{command} {ours}{commit}, xdsl {theirs}, numpy [\d.]+\n", printed)


def test_the_commit_that_a_wheel_was_built_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "commit.txt").write_text("1a2b3c4d\n")
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    monkeypatch.setattr(versions, "BUILT_FROM", tmp_path / "commit.txt")
    assert versions.versions().startswith(f"{version('xrelay')} (commit 1a2b3c4d), xdsl ")


@pytest.mark.ci
@every_command
def test_completion(command: str):
    """Bash accepts the script, and completes a part of an option to all of it."""
    script = f'''
eval "$({command} --print-completion bash)"
COMP_WORDS=({command} --max) COMP_CWORD=1 COMP_LINE="{command} --max" COMP_POINT=99
$(complete -p {command} | sed 's/.*-F \\([^ ]*\\).*/\\1/') {command} --max {command}
printf '%s\\n' "${{COMPREPLY[@]}}"
'''
    path = f"{sysconfig.get_path('scripts')}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-c", script], env={"PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert "--max-input" in done.stdout.split(), done.stderr


def test_quiet(tmp_path: Path, capsys: Err):
    """Notes and warnings are left out, errors are not."""
    program = str(ROOT / "examples" / "mlp.mlir")
    argv = [program, "--random-seed", "0", "--random-weights"]
    assert run.main(argv) == 0
    assert "xrelay-run: the weight 'w1' and 5 more are random" in capsys.readouterr().err
    assert run.main([*argv, "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert run.main([*argv, "-q", "--dim", "x=1"]) == 1
    assert "error: " in capsys.readouterr().err
    assert run.main(argv) == 0  # the next run in this process
    assert capsys.readouterr().err != ""


def test_passes_are_listed_in_lines_and_described_alone(capsys: Err):
    assert opt.main(["--list-passes"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert max(map(len, listed)) <= 100
    assert [line for line in listed if line.startswith("  fuse-ops ")]
    assert opt.main(["--help-pass", "fuse-ops"]) == 0
    described = capsys.readouterr().out
    assert "    level: int = 1\n" in described
    assert "relay.primitive" in described
    assert opt.main(["--help-pass", "vm"]) == 0
    assert '\n    default: str = "cpu:0"\n' in (text := capsys.readouterr().out)
    assert "\n  Passes:\n    infer-types, widen-narrow-types," in text
    assert opt.main(["--help-pass", "fuse-op"]) == 2
    assert "did you mean 'fuse-ops'?" in capsys.readouterr().err
    assert opt.main(["--show-dialects"]) == 0
    assert {"relay", "memory", "vm", "bytecode", "linalg"} <= set(capsys.readouterr().out.split())
