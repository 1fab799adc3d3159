"""The command `xrelay-plan`."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from xrelay.tools.plan import main

DATA = Path(__file__).parents[1] / "data" / "planning"
SMALL = "id,lower,upper,size\na,0,2,8\nb,1,3,4\nc,2,4,8\n"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text(SMALL)
    return path


def test_a_plan_is_written_and_summed_up(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    plan = tmp_path / "plan.csv"
    assert main([str(small), "-o", str(plan)]) == 0
    assert plan.read_text() == ("id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,4,8\nc,2,4,8,0\n")
    out = capsys.readouterr().out
    assert out.startswith(
        f"{small}: 3 buffers, height 12, bound 12, ratio 1.0000, proved smallest; "
        "auto (greedy-by-size), 0 nodes, "
    )
    assert out.endswith(" s CPU\n")
    assert out.count("\n") == 1


def test_a_plan_on_stdout_has_its_summary_on_stderr(
    small: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([str(small), "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("id,lower,upper,size,offset\na,0,2,8,0\n")
    assert "height 12" in captured.err


def test_the_summary_as_json(small: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(small), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts.pop("seconds") >= 0
    assert facts == {
        "fits": True,
        "buffers": 3,
        "height": 12,
        "lower_bound": 12,
        "strategy": "auto (greedy-by-size)",
        "nodes": 0,
        "gap": 0,
        "ratio": 1.0,
        "proved": True,
        "heights": {"arena": 12},
    }


def test_a_capacity_that_cannot_be_met_is_status_1_with_the_shortfall(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    plan = tmp_path / "plan.csv"
    assert main([str(small), "--capacity", "10", "-o", str(plan)]) == 1
    out = capsys.readouterr().out
    assert "does not fit: 2 bytes short (best height 12, bound 12), proved impossible" in out
    assert not plan.exists()
    assert main([str(small), "--capacity", "10", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert (facts["fits"], facts["proved"], facts["shortfall"]) == (False, True, 2)


def test_what_is_not_proved_is_said_so(capsys: pytest.CaptureFixture[str]):
    # J has a plan of 1,048,576, but not by sorting alone.
    file = str(DATA / "J.1048576.csv")
    assert main([file, "--strategy", "greedy-by-size", "--capacity", "1048576"]) == 1
    assert "not proved impossible" in capsys.readouterr().out


def test_a_capacity_that_needs_a_search_is_met(capsys: pytest.CaptureFixture[str]):
    assert main([str(DATA / "A.1048576.csv"), "--capacity", "1048576"]) == 0
    assert "height 1048576, bound 1048576" in capsys.readouterr().out


def test_plans_are_checked(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plan = tmp_path / "plan.csv"
    assert main([str(small), "-o", str(plan)]) == 0
    capsys.readouterr()
    assert main(["--check", str(small), str(plan)]) == 0
    assert capsys.readouterr().out == f"{plan}: valid: 3 buffers, height 12\n"
    plan.write_text(plan.read_text().replace("b,1,3,4,8", "b,1,3,4,6"))
    assert main(["--check", str(small), str(plan)]) == 1
    assert capsys.readouterr().out == (
        f"{plan}: buffers 'a' and 'b' are both alive from 1 and share 2 bytes from 6 of pool "
        f"'arena'\n{plan}: buffers 'b' and 'c' are both alive from 2 and share 2 bytes from 6 "
        f"of pool 'arena'\n"
    )


def test_pools_are_declared_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    problem, plan = tmp_path / "p.csv", tmp_path / "plan.csv"
    problem.write_text("id,lower,upper,size,pools\na,0,2,8,fast slow\nb,0,2,6,fast slow\n")
    arguments = [str(problem), "--pool", "fast=8", "--pool", "slow"]
    assert main([*arguments, "-o", str(plan)]) == 0
    assert "height 14 (fast 8, slow 6)" in capsys.readouterr().out
    assert plan.read_text().splitlines()[1:] == [
        "a,0,2,8,fast slow,fast,0",
        "b,0,2,6,fast slow,slow,0",
    ]
    assert main(["--check", *arguments, str(plan)]) == 0


TRAFFIC = "id,lower,upper,size,reads,writes\na,0,2,8,1,1\nb,0,2,8,4,1\n"
"""Two buffers, of which `b` is read more often."""


def test_the_least_cost_puts_what_is_read_most_into_the_cheapest_pool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    problem, plan, picture = (tmp_path / name for name in ("p.csv", "plan.csv", "plan.svg"))
    problem.write_text(TRAFFIC)
    arguments = [str(problem), "--pool", "fast=8:1,slow=:10", "--minimize", "cost"]
    assert main([*arguments, "-o", str(plan), "--svg", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "height 16 (fast 8, slow 8), cost 200, bound 200, ratio 1.0000, proved smallest" in out
    assert plan.read_text().splitlines()[1:] == ["a,0,2,8,1,1,slow,0", "b,0,2,8,4,1,fast,0"]
    texts = picture.read_text()
    assert "8 of 8 bytes" in texts
    assert texts.count('class="peak"') == 2


def test_what_does_not_fit_in_pools_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    problem = tmp_path / "p.csv"
    problem.write_text(TRAFFIC)
    arguments = [str(problem), "--pool", "fast=8:1,slow=5:10", "--minimize", "cost"]
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "does not fit: 3 bytes short" in out
    assert "proved impossible" in out
    assert out.endswith("  alive at 0: a (8), b (8)\n  it would fit with fast=16\n")
    assert main([*arguments, "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert (facts["moment"], facts["alive"]) == (0, ["a", "b"])
    assert facts["enough"] == ["fast=16:1", "slow=5:10"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id,lower,upper,size\na,0,x,8\n", ":2: error: upper must be an integer, but is 'x'"),
        (b"id,lower,upper,size\na,0,1,8\n\xff\n", ":3: error: byte 0xff is not valid UTF-8"),
        (b"", ":1: error: missing header"),
    ],
)
def test_malformed_files_are_diagnostics(
    tmp_path: Path, content: bytes, words: str, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert main([str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"{path}{words}")
    assert captured.out == ""


def test_missing_and_unwritable_files_are_diagnostics(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main([str(tmp_path / "none.csv")]) == 1
    assert "none.csv': No such file" in capsys.readouterr().err
    assert main([str(small), "-o", str(tmp_path / "no" / "plan.csv")]) == 1
    assert "plan.csv: error: cannot write " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--strategy", "magic"], "invalid choice: 'magic'"),
        (["--capacity", "-1"], "must be a size such as 500M, 4G or 512MiB, but is '-1'"),
        (["--nodes", "many"], "must be a non-negative integer, but is 'many'"),
        (["--check"], "--check needs a problem and a plan"),
        (["other.csv"], "unexpected argument 'other.csv'"),
        (["--pool", "=4"], "a pool must be NAME=[CAPACITY][:COST[:ALIGNMENT]]"),
    ],
)
def test_wrong_usage_is_status_2(
    small: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
):
    assert main([str(small), *arguments]) == 2
    assert words in capsys.readouterr().err


def boxes_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    """Return the rectangle of each box of a picture."""
    space = "{http://www.w3.org/2000/svg}"
    groups = [g for g in root.iter(f"{space}g") if g.get("class", "").startswith("box ")]
    return [rect for g in groups for rect in g.findall(f"{space}rect")]


@pytest.mark.parametrize("name", ["input.12", "slanet_plus.h224", "K.1048576"])
def test_the_picture_is_svg_with_a_box_for_each_buffer_and_the_peak(name: str, tmp_path: Path):
    picture = tmp_path / "plan.svg"
    problem = DATA / f"{name}.csv"
    arguments = [str(problem), "--strategy", "greedy-by-size", "--svg", str(picture)]
    assert main(arguments) == 0
    root = ElementTree.fromstring(picture.read_text())
    space = "{http://www.w3.org/2000/svg}"
    boxes = boxes_of(root)
    assert len(boxes) == len(problem.read_text().splitlines()) - 1
    assert [r for r in root.iter(f"{space}rect") if r.get("class") == "peak"]
    texts = [text.text or "" for text in root.iter(f"{space}text")]
    assert any(text.startswith("peak: ") for text in texts)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for box in boxes:
        x, y, w, h = (float(box.get(key, "nan")) for key in ("x", "y", "width", "height"))
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
        assert w > 0


def test_boxes_do_not_overlap_in_the_picture(tmp_path: Path):
    picture = tmp_path / "plan.svg"
    assert main([str(DATA / "input.12.csv"), "--svg", str(picture)]) == 0
    root = ElementTree.fromstring(picture.read_text())
    boxes = [
        [float(rect.get(key, "nan")) for key in ("x", "y", "width", "height")]
        for rect in boxes_of(root)
    ]
    for i, (x, y, w, h) in enumerate(boxes):
        for u, v, p, q in boxes[:i]:
            apart = x + w <= u + 0.02 or u + p <= x + 0.02 or y + h <= v + 0.02 or v + q <= y + 0.02
            assert apart


def test_planning_and_its_command_import_neither_xdsl_nor_anything_heavy():
    code = (
        "import sys\n"
        "import xrelay.tools.plan\n"
        "from xrelay.planning import Buffer, Interval, Problem, solve\n"
        "solve(Problem((Buffer('a', Interval(0, 1), 4), Buffer('b', Interval(0, 1), 4))))\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(roots & {'xdsl', 'onnx', 'scipy', 'safetensors', 'json', 'xml'}))\n"
        "print(sorted(n for n in sys.modules if n in ('numpy.ma', 'numpy.random')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


def test_it_runs_as_a_program(small: Path):
    done = subprocess.run(
        [sys.executable, "-m", "xrelay.tools.plan", str(small)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "height 12" in done.stdout
    assert done.stderr == ""


def test_a_timeout_is_a_number_of_seconds(small: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(small), "--timeout", "0.5", "--strategy", "exact"]) == 0
    assert "height 12, bound 12" in capsys.readouterr().out
    for text in ("soon", "-1", "inf", "nan"):
        assert main([str(small), f"--timeout={text}"]) == 2
        assert f"must be a non-negative number, but is '{text}'" in capsys.readouterr().err
