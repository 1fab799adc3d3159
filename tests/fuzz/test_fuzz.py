"""
Tests of the fuzzer, and a few mutants of each kind: accepted, or rejected with a reason.

`python tests/fuzz` runs any number of them.
"""

import sys
from collections.abc import Callable, Generator
from random import Random

import pytest
from fuzz.campaign import Finding, fuzz, minimised
from fuzz.checks import FindingError, call
from fuzz.dying import dying
from fuzz.kinds import KINDS, Kind
from fuzz.worker import Verdict, Worker
from helpers.programs.random_settings import OTHER, ROUNDS, rounds

COUNT, COMPILED = OTHER or rounds(40, 16), OTHER or rounds(20, 20)
"""Inputs per kind, the first ones in each run; fewer where each is compiled as a whole."""


@pytest.fixture(scope="module")
def worker() -> Generator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_mutant_does_harm(kind: Kind, worker: Worker):
    count = COMPILED if kind.name.startswith(("ir-", "program")) else COUNT
    summary = fuzz(kind, count, worker=worker)
    assert {cause: f.data for cause, f in summary.findings.items()} == {}
    if ROUNDS < 4:
        return  # too few to say how many are refused
    assert summary.accepted > 0.02 * count, "mutants that are all refused at once show nothing"
    assert summary.refused > 0.02 * count, "mutants that are all accepted show no errors"


def test_a_process_that_dies_is_a_finding_and_starts_again():
    worker = Worker(dying)
    causes = [worker.check("", data).cause for data in (b"x", b"27", b"x", b"11", b"x")]
    worker.close()
    assert causes == ["", "more than 10 s", "", "the process died: SIGSEGV", ""]


def says(text: str, status: int) -> Callable[[list[str]], int]:
    def main(argv: list[str]) -> int:
        print(text, file=sys.stderr)
        return status

    return main


def raises(argv: list[str]) -> int:
    raise KeyError("x")


@pytest.mark.parametrize(
    ("main", "cause"),
    [
        (says("a.mlir: error: internal error: KeyError: 'x' (a.py:3)", 1), "internal error: Key"),
        (says("Traceback (most recent call last):", 1), "traceback"),
        (says("a.mlir:1:1: error: ", 1), "exit status 1 without a message"),
        (says("", 2), "exit status 2 without a message"),
        (says("a.mlir:1:1: error: no", 3), "exit status 3"),
        (raises, "exception: KeyError (test_fuzz.py:"),
    ],
)
def test_what_a_command_must_not_say_is_a_finding(main: Callable[[list[str]], int], cause: str):
    with pytest.raises(FindingError) as found:
        call(main, [])
    assert found.value.cause.startswith(cause)


def test_a_refusal_with_a_reason_is_not():
    assert call(says("a.mlir:1:1: error: no", 1), []).status == 1


def test_findings_are_made_small(monkeypatch: pytest.MonkeyPatch):
    def has_x_and_y(worker: Worker, kind: str, data: bytes) -> Verdict:
        return (
            Verdict("finding", "x and y") if b"x" in data and b"y" in data else Verdict("refused")
        )

    monkeypatch.setattr(Worker, "check", has_x_and_y)
    finding = Finding(b"a x b\nc\nd\ny e\n", Verdict("finding", "x and y"), 0)
    assert minimised(Worker(), KINDS["csv"], finding) in (b"xy", b"x\ny")


@pytest.mark.ci
def test_input_n_is_always_the_same():
    kind = KINDS["csv"]
    assert [kind.mutant(Random(str(n))) for n in range(20)] == [
        kind.mutant(Random(str(n))) for n in range(20)
    ]
