"""Check many inputs of a kind, count the outcomes, and minimise and save the findings."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from .kinds import Kind
from .worker import Verdict, Worker

TRIES = 300
"""The maximum number of smaller inputs tried per finding."""


@dataclass
class Finding:
    """The smallest input found for a cause, and the number of inputs with that cause."""

    data: bytes
    verdict: Verdict
    number: int
    count: int = 1


@dataclass
class Summary:
    """The outcomes of the inputs of a kind."""

    kind: str
    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0
    findings: dict[str, Finding] = field(default_factory=dict[str, Finding])

    def __str__(self) -> str:
        found = sum(finding.count for finding in self.findings.values())
        total = self.accepted + self.refused + found
        return (
            f"{self.kind}: {total} inputs, {self.accepted} accepted, {self.refused} refused, "
            f"{found} findings of {len(self.findings)} causes, {self.seconds:.1f} s"
        )


def fuzz(kind: Kind, count: int, worker: Worker, seed: int = 0, first: int = 0) -> Summary:
    """Check `count` mutants in `worker`; input n of a seed is deterministic."""
    summary, began = Summary(kind.name), time.monotonic()
    for number in range(first, first + count):
        data = kind.mutant(Random(f"{seed}/{kind.name}/{number}"))
        verdict = worker.check(kind.name, data)
        if verdict.outcome == "accepted":
            summary.accepted += 1
        elif verdict.outcome == "refused":
            summary.refused += 1
        elif verdict.cause in summary.findings:
            summary.findings[verdict.cause].count += 1
        else:
            summary.findings[verdict.cause] = Finding(data, verdict, number)
    for finding in summary.findings.values():
        finding.data = minimised(worker, kind, finding)
    summary.seconds = time.monotonic() - began
    return summary


def minimised(worker: Worker, kind: Kind, finding: Finding) -> bytes:
    """Return the smallest input found with the same cause."""
    best, tries = finding.data, TRIES
    if "the process died" in finding.verdict.cause or "more than" in finding.verdict.cause:
        tries //= 15  # each takes seconds and a new process
    is_smaller = True
    while is_smaller and tries > 0:
        is_smaller = False
        for smaller in kind.reduced(best):
            if tries <= 0:
                break
            tries -= 1
            if (
                len(smaller) < len(best)
                and worker.check(kind.name, smaller).cause == finding.verdict.cause
            ):
                best, is_smaller = smaller, True
                break
    return best


def write(summary: Summary, kind: Kind, folder: Path) -> None:
    """Write a file per finding, with a report beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, (cause, finding) in enumerate(summary.findings.items()):
        path = folder / f"{kind.name}-{i}.{kind.extension}"
        path.write_bytes(finding.data)
        command = kind.command.replace("FILE", str(path))
        report = (
            f"{cause}\n{finding.count} inputs, the first is number {finding.number}\n{command}\n"
        )
        path.with_name(path.name + ".report").write_text(f"{report}\n{finding.verdict.detail}\n")
