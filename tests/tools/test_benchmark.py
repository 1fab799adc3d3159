"""`xrelay-run --benchmark N`."""

import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from helpers.programs.compiled_files import compile_file

from xrelay.runtime.executable import executable_of, write_executable
from xrelay.runtime.observe.profile_report import duration
from xrelay.tools.progress import Progress
from xrelay.tools.run import run
from xrelay.tools.run.benchmark import Benchmark, CallTimes, time_calls

EXAMPLES = Path(__file__).parents[2] / "examples"
CLASSIFIER = str(EXAMPLES / "classifier.mlir")


def test_quantiles_are_calls():
    """As NumPy's inverted distribution function: a duration that was measured."""
    durations = [int(d) for d in np.random.default_rng(0).integers(0, 1000, 57)]
    times = CallTimes(durations, 1)
    for share in (0.0, 0.01, 0.5, 0.95, 1.0):
        expected = np.quantile(durations, share, method="inverted_cdf")
        assert times.quantile(share) == expected
    assert times.mean == pytest.approx(np.mean(durations))


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (999, "999 ns"),
        (999.6, "1 us"),
        (1234, "1.23 us"),
        (12_345, "12.3 us"),
        (123_456, "123 us"),
        (1.5e6, "1.5 ms"),
        (61e9, "61 s"),
    ],
)
def test_durations(nanoseconds: float, text: str):
    assert duration(nanoseconds) == text


@pytest.mark.parametrize(("count", "warm_up"), [(1, 1), (50, 5), (1000, 10)])
def test_calls_are_counted(count: int, warm_up: int):
    calls: list[int] = []
    times = time_calls(lambda: calls.append(1), count, Progress(StringIO()))
    assert (len(times.durations), times.warm_up) == (count, warm_up)
    assert len(calls) == count + warm_up


def test_the_report():
    calls = CallTimes([1_000_000, 2_000_000, 3_000_000], 1)
    steps = (("compile", 5e8, ""), ("first call", 4e6, "which prepares"))
    assert list(Benchmark("main", steps, calls, 1024, 8).lines()) == [
        "benchmark of main: 3 calls after 1 to warm up",
        "  compile     500 ms",
        "  first call  4 ms, which prepares",
        "  one call    min 1 ms, median 2 ms, spread 2 ms between quartiles, 95 % within 3 ms",
        "  per second  500 calls",
        "  copied      1,024 B of arguments in and 8 B of results out, in the time of each call",
    ]


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert run.main([CLASSIFIER, "--random-seed", "0", "--benchmark", "3", "--stats"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "benchmark of main: 3 calls after 1 to warm up\n  compile  " in out
    assert "\n  copied      208 B of arguments in and 32 B of results out" in out
    assert re.search(r"memory of cpu:0: 1 allocation,", out)  # those of the run alone

    program = compile_file(CLASSIFIER).program
    write_executable(tmp_path / "classifier.xrx", executable_of(program))
    argv = [str(tmp_path / "classifier.xrx"), "--random-seed", "0", "--benchmark", "1"]
    assert run.main(argv) == 0
    assert "1 call after 1 to warm up\n  load  " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--benchmark", "0"], "--benchmark: must be a positive integer, but is '0'"),
        (["--benchmark", "x"], "--benchmark: must be a positive integer, but is 'x'"),
        (["--benchmark", "1", "--evaluate"], "--benchmark times the machine, but --evaluate"),
        (
            ["--benchmark", "1", "--sanitize"],
            "--sanitize: not allowed with argument --benchmark",
        ),
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], options: list[str], message: str):
    assert run.main([CLASSIFIER, *options]) == 2
    assert message in capsys.readouterr().err
